"""A mechanism with finitely many outcomes, given by its two rows of probabilities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from tightrope.curves.finite_pair import FinitePair
from tightrope.curves.loss import Loss
from tightrope.curves.pure import Pure
from tightrope.errors import BadParameter
from tightrope.mechanisms.base import Leaf
from tightrope.numerics.balls import ball
from tightrope.numerics.exact import Number, probability, shortest
from tightrope.numerics.real import UNBOUNDED, ZERO, Real, real
from tightrope.numerics.sums.finite import FiniteLaw, scattered
from tightrope.theorems import Source, theorem

MOST_OUTCOMES = 100_000


@dataclass(frozen=True, init=False, repr=False)
class Table(Leaf):
    """Outcome i has chance p[i] with the record and q[i] without it.

    >>> print(Table([0.75, 0.25], [0.25, 0.75]))
    table(p=[0.75, 0.25], q=[0.25, 0.75])
    """

    p: tuple[Fraction, ...]
    q: tuple[Fraction, ...]
    text_name = "table"

    def __init__(self, p: Sequence[Number], q: Sequence[Number]) -> None:
        self._set(p=_row("p", p), q=_row("q", q))
        if len(self.p) != len(self.q):
            raise BadParameter("q", q, f"must have as many entries as p ({len(self.p)}), but has {len(self.q)}")


def _row(name: str, values: Sequence[Number]) -> tuple[Fraction, ...]:
    try:
        listed = [] if isinstance(values, str | bytes | Mapping) else list(values)
    except TypeError:
        listed = []
    if not 1 <= len(listed) <= MOST_OUTCOMES:
        raise BadParameter(name, values, f"must be a list of 1 to {MOST_OUTCOMES} probabilities")
    row = tuple(probability(f"{name}[{i}]", v) for i, v in enumerate(listed))
    if sum(row) != 1:
        hint = (
            "Write thirds and the like as fractions, '1/3'. Weights w that are floats (of an array, w.tolist()) are "
            "normalised exactly by total = sum(map(Fraction, w)); [Fraction(x) / total for x in w]."
        )
        raise BadParameter(
            name, values, f"must add up to exactly 1, but adds up to {shortest(sum(row, Fraction(0)))}", hint
        )
    return row


def _ratios(p: tuple[Fraction, ...], q: tuple[Fraction, ...]) -> tuple[dict[Fraction, Fraction], Fraction]:
    """The chance under p of each likelihood ratio, and of what q has not."""
    masses: dict[Fraction, Fraction] = {}
    infinite = Fraction(0)
    for a, b in zip(p, q, strict=True):
        if a and not b:
            infinite += a
        elif a:
            masses[a / b] = masses.get(a / b, Fraction(0)) + a
    return masses, infinite


def _law(p: tuple[Fraction, ...], q: tuple[Fraction, ...]) -> FiniteLaw:
    """Outcomes with one likelihood ratio are one outcome."""
    masses, infinite = _ratios(p, q)
    losses = [ZERO if ratio == 1 else Real(None, lambda ratio=ratio: ball(ratio).log()) for ratio in masses]  # type: ignore[misc]  # bound now
    return scattered(losses, [real(m) for m in masses.values()], real(infinite))


@theorem(of=Table, gives=Loss, kind="equal", role="analysis", source=Source("zhu2022optimal", "Def. 7"))
def table_loss(m: Table) -> Loss:
    """The loss is ln(p_i/q_i) with chance p_i; the reverse with chance q_i."""
    forward = (FinitePair(("table", m.p, m.q), _law(m.p, m.q)), 1)
    if _ratios(m.p, m.q) == _ratios(m.q, m.p):
        return Loss((forward,))
    return Loss((forward,), ((FinitePair(("table", m.q, m.p), _law(m.q, m.p)), 1),))


@theorem(of=Table, gives=Pure, kind="equal", role="analysis", source=Source("dwork2006calibrating", "Def. 1"))
def table_is_pure(m: Table) -> Pure:
    """ε is the largest |ln(p_i/q_i)|."""
    live = [(a, b) for a, b in zip(m.p, m.q, strict=True) if a or b]
    if any(not a or not b for a, b in live):
        return Pure(UNBOUNDED)
    ratio = max(max(a / b, b / a) for a, b in live)
    return Pure(ZERO if ratio == 1 else Real(None, lambda: ball(ratio).log()))
