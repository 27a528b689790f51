"""Reports of many users, shuffled: the analyst sees which reports there are, not whose they are."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from tightrope.curves.loss import Loss
from tightrope.curves.pair import Pair
from tightrope.curves.pure import Pure
from tightrope.curves.sampled.clones import ClonesPair, blanket, clone_chance, pure_is_shuffled
from tightrope.mechanisms.base import Mechanism, Relation
from tightrope.mechanisms.composed import Wrapped
from tightrope.mechanisms.response import RandomizedResponse
from tightrope.mechanisms.sampled import unbound
from tightrope.numerics.balls import Ball, precision
from tightrope.numerics.exact import Number, count
from tightrope.numerics.real import Real, real
from tightrope.theorems import Source, theorem


@dataclass(frozen=True, init=False, repr=False)
class Shuffled(Wrapped):
    """``part`` run by each of ``users`` users on their own datum, and the reports shuffled.

    >>> from tightrope.mechanisms.response import RandomizedResponse
    >>> print(RandomizedResponse(epsilon=1).shuffled(1000))
    randomized_response(epsilon=1).shuffled(1000)
    """

    users: int

    def __init__(self, part: Mechanism, users: Number) -> None:
        object.__setattr__(self, "part", unbound(part, "shuffled"))
        object.__setattr__(self, "users", count("users", users, 1, "It is the number of reports that are shuffled."))

    @property
    def relation(self) -> Relation:
        """One user's datum is exchanged; the number of users is public."""
        return "replace"

    def __str__(self) -> str:
        return f"{self.factor}.shuffled({self.users})"


@theorem(
    of=RandomizedResponse,
    gives=Loss,
    kind="upper",
    role="sampling",
    relation="replace",
    source=Source("feldman2021hiding", "k-ary response; docs/theorems.md"),
)
def response_is_shuffled(m: RandomizedResponse, c: Pure, users: int, base: Pair | None) -> Loss | None:
    """A k-ary response is uniform with chance k/(e^{ε₀} + k − 1), so each other report is one of the two answers in
    question, equally likely, with chance 2/(e^{ε₀} + k − 1); the user's own is one with chance (e^{ε₀} + 1)/(e^{ε₀} +
    k − 1), and otherwise tells nothing. The general clones may be better for large k; the better is taken at each
    ε."""
    general = pure_is_shuffled(c, users, base)
    chances = _chances(m, c)
    if general is None or chances is None:
        return general
    ((pair, _),) = general.remove
    assert isinstance(pair, ClonesPair)
    own = blanket(users, *chances)
    with precision(64):  # with more clones, and a weight of at most 1, they are better at every ε
        better = bool(chances[0].ball() >= clone_chance(c.epsilon).ball())
    clones = (own,) if better else (*pair.clones, own)
    return Loss(((ClonesPair(("response", m, users), c.epsilon, clones, base), 1),))


def _chances(m: RandomizedResponse, c: Pure) -> tuple[Real, Real] | None:
    """The chance that another report is a clone, and that the user's own tells the two answers apart."""
    k = m.k
    if m.p is None:

        def least() -> Ball:
            return 1 / (c.epsilon.ball().exp() + k - 1)

        return Real(None, lambda: 2 * least()), Real(None, lambda: 1 - (k - 2) * least())
    other = min(m.p, 1 - m.p) if k == 2 else (1 - m.p) / (k - 1)
    if other > m.p and k > 2:
        return None  # the true answer is the rarest: not a uniform report and a true one
    return real(2 * other), real(1 - (k - 2) * Fraction(other))
