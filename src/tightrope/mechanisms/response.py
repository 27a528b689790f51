"""Randomized response over k answers, and the leaky mechanisms of the lecture notes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tightrope.curves.approximate import Approximate
from tightrope.curves.concentrated import ZeroConcentrated
from tightrope.curves.finite_pair import FinitePair
from tightrope.curves.loss import Loss
from tightrope.curves.pure import Pure
from tightrope.curves.randomized import leaky_law
from tightrope.errors import BadParameter
from tightrope.mechanisms.base import Leaf
from tightrope.numerics.balls import Ball, ball, precision
from tightrope.numerics.exact import Number, count, nonnegative, probability
from tightrope.numerics.real import UNBOUNDED, ZERO, Real, real
from tightrope.numerics.sums.finite import FiniteLaw, on_lattice
from tightrope.numerics.supremum import ratio_supremum
from tightrope.theorems import Source, theorem


@dataclass(frozen=True, init=False, repr=False)
class RandomizedResponse(Leaf):
    """Give the true one of ``k`` answers with chance p, otherwise one of the other k − 1, all equally likely.

    State either ``p``, or ``epsilon``, which means p = e^ε/(e^ε + k − 1).

    >>> print(RandomizedResponse(epsilon=1), RandomizedResponse(p=0.75, k=4))
    randomized_response(epsilon=1) randomized_response(p=0.75, k=4)
    """

    epsilon: Fraction | None
    p: Fraction | None
    k: int
    text_name = "randomized_response"

    def __init__(self, epsilon: Number | None = None, p: Number | None = None, k: Number = 2) -> None:
        if (epsilon is None) == (p is None):
            raise BadParameter(
                "epsilon", epsilon, "exactly one of epsilon and p must be given", "p is the chance of the true answer."
            )
        self._set(
            epsilon=None if epsilon is None else nonnegative("epsilon", epsilon),
            p=None if p is None else probability("p", p),
            k=count("k", k, 2),
        )

    @property
    def defaults(self) -> Mapping[str, Any]:
        """Two answers, and the parameter that was not given, are not printed."""
        return {"epsilon": None, "p": None, "k": 2}

    def loss_unit(self) -> Real:
        """|ln(p/q)|: the size of the loss when the answer is informative."""
        if self.epsilon is not None:
            return real(self.epsilon)
        truth, other = self._chances()
        if truth == other:
            return ZERO
        if 0 in (truth, other):
            return UNBOUNDED
        return Real(None, lambda: abs(ball(truth / other).log()))

    def _chances(self) -> tuple[Fraction, Fraction]:
        assert self.p is not None
        return self.p, (1 - self.p) / (self.k - 1)

    def law(self) -> FiniteLaw:
        """The loss between two different true answers."""
        if self.epsilon is not None:
            return self._law_from_epsilon(self.epsilon)
        truth, other = self._chances()
        rest = (self.k - 2) * other
        if truth == other:
            return on_lattice(real(1), {0: real(1)})
        if other == 0:
            return on_lattice(real(1), {0: ZERO}, infinite=real(1))
        if truth == 0:
            return on_lattice(real(1), {0: real(rest)}, infinite=real(other))
        up = 1 if truth > other else -1
        return on_lattice(self.loss_unit(), {up: real(truth), 0: real(rest), -up: real(other)})

    def _law_from_epsilon(self, epsilon: Fraction) -> FiniteLaw:
        if epsilon == 0:
            return on_lattice(real(1), {0: real(1)})

        def other() -> Ball:
            return 1 / (ball(epsilon).exp() + self.k - 1)

        masses = {1: Real(None, lambda: 1 / (1 + (self.k - 1) * (-ball(epsilon)).exp())), -1: Real(None, other)}
        if self.k > 2:
            masses[0] = Real(None, lambda: other() * (self.k - 2))
        return on_lattice(real(epsilon), masses)


@theorem(
    of=RandomizedResponse, gives=Pure, kind="equal", role="analysis", source=Source("warner1965randomized", "design")
)
def randomized_response_is_pure(m: RandomizedResponse) -> Pure:
    """Randomized response is |ln(p(k−1)/(1−p))|-DP, and no better."""
    return Pure(m.loss_unit())


@theorem(
    of=RandomizedResponse, gives=Loss, kind="equal", role="analysis", source=Source("kairouz2015composition", "Sec. 3")
)
def randomized_response_loss(m: RandomizedResponse) -> Loss:
    """The loss is ε with the chance of the true answer, −ε with that of the neighbour's answer, 0 otherwise."""
    # a response to a response is one with a smaller ε
    ladder = None if m.epsilon is None else (("response", m.k), (m.epsilon,))
    return Loss(((FinitePair(m, m.law(), ladder=ladder), 1),))


@theorem(
    of=RandomizedResponse,
    gives=ZeroConcentrated,
    kind="equal",
    role="analysis",
    source=Source("harrison2025exact", "k-ary response"),
)
def randomized_response_is_concentrated(m: RandomizedResponse) -> ZeroConcentrated | None:
    """For 3 ≤ k ≤ 6 the tight ρ is the KL divergence ε(e^ε − 1)/(e^ε + k − 1); for larger k the supremum of D_α/α is
    enclosed."""
    if m.k == 2 or m.loss_unit().infinite or m.loss_unit().rational == 0:
        return None
    pair = FinitePair(m, m.law())
    if m.k <= 6 and (m.p is None or m.p * m.k > 1):
        return ZeroConcentrated(Real(None, pair.mean))
    with precision(128):
        return ZeroConcentrated(_enclosed(largest_ratio(pair, m.loss_unit())))


def _enclosed(value: Ball) -> Real:
    return Real(None, lambda: value)


def largest_ratio(pair: FinitePair, largest: Real) -> Ball:
    """sup of D_α/α over all orders, for losses bounded by ε: beyond α = ε/KL it is below its limit KL at 1."""
    mean = pair.mean()
    top = largest.ball() / mean
    high = Fraction(int((top.upper() + 2).floor().unique_fmpz() or 2))
    found = ratio_supremum(lambda lam: pair.cumulant(lam), Fraction(1, 2**20), high, head=True)
    return found.max(mean)


@dataclass(frozen=True, init=False, repr=False)
class LeakyInput(Leaf):
    """Reveal the input with chance ``delta``, otherwise nothing: the mechanism that (0, δ)-DP cannot exclude.

    >>> print(LeakyInput(delta=1e-6))
    leaky_input(delta=1e-6)
    """

    delta: Fraction
    text_name = "leaky_input"

    def __init__(self, delta: Number) -> None:
        self._set(delta=probability("delta", delta))


@theorem(of=LeakyInput, gives=Loss, kind="equal", role="analysis", source=Source("kairouz2015composition", "Sec. 3"))
def leaky_input_loss(m: LeakyInput) -> Loss:
    """The loss is ∞ with chance δ and 0 otherwise."""
    return Loss(((FinitePair(m, leaky_law(ZERO, real(m.delta))), 1),))


@theorem(
    of=LeakyInput, gives=Approximate, kind="equal", role="analysis", source=Source("kairouz2015composition", "Sec. 3")
)
def leaky_input_is_approximate(m: LeakyInput) -> Approximate:
    """Leaking the input with chance δ is (0, δ)-DP, and no better."""
    return Approximate(ZERO, real(m.delta))


@dataclass(frozen=True, init=False, repr=False)
class LeakyRandomizedResponse(Leaf):
    """Reveal the input with chance ``delta``, otherwise run binary randomized response with ``epsilon``.

    >>> print(LeakyRandomizedResponse(epsilon=1, delta=0.001))
    leaky_randomized_response(epsilon=1, delta=0.001)
    """

    epsilon: Fraction
    delta: Fraction
    text_name = "leaky_randomized_response"

    def __init__(self, epsilon: Number, delta: Number) -> None:
        self._set(epsilon=nonnegative("epsilon", epsilon), delta=probability("delta", delta))


@theorem(
    of=LeakyRandomizedResponse,
    gives=Loss,
    kind="equal",
    role="analysis",
    source=Source("kairouz2015composition", "Thm 3.2"),
)
def leaky_randomized_response_loss(m: LeakyRandomizedResponse) -> Loss:
    """The loss is ∞ with chance δ, and ±ε with the chances of randomized response otherwise."""
    return Loss(((FinitePair(m, leaky_law(real(m.epsilon), real(m.delta))), 1),))


@theorem(
    of=LeakyRandomizedResponse,
    gives=Approximate,
    kind="equal",
    role="analysis",
    source=Source("kairouz2015composition", "Thm 3.2"),
)
def leaky_randomized_response_is_approximate(m: LeakyRandomizedResponse) -> Approximate:
    """Leaky randomized response is (ε, δ)-DP, and no better."""
    return Approximate(real(m.epsilon), real(m.delta))
