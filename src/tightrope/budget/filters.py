"""Privacy filters: budgets that stay valid when each next mechanism is chosen after seeing the earlier answers."""

from __future__ import annotations

from fractions import Fraction
from threading import Lock
from typing import Any

from tightrope.accounting.ask import checked
from tightrope.accounting.claim import Claim
from tightrope.budget.costs import Amounts, tidy
from tightrope.budget.spending import claimed
from tightrope.budget.stating import terms
from tightrope.curves.approximate import Approximate
from tightrope.curves.concentrated import ZeroConcentrated
from tightrope.curves.gaussian import GaussianDP
from tightrope.curves.pure import Pure
from tightrope.curves.renyi import KnownOrders, Renyi
from tightrope.errors import BadParameter, RelationMismatch
from tightrope.mechanisms.base import Mechanism, Relation, checked_relation
from tightrope.numerics.exact import Number, probability
from tightrope.numerics.real import real
from tightrope.theorems import Source, theorem

ADAPTIVELY = "each step, its parameters and their number may be chosen after seeing the earlier answers"


class Filter:
    """A budget in memory that refuses what does not fit, even if each mechanism is chosen after seeing earlier answers.

    State it once, like a ledger's: ``epsilon`` and ``delta``, ``rho``, ``mu``, ``pure`` or ``renyi``, and a ``rule``.

    >>> from tightrope import Gaussian
    >>> budget = Filter(rho="1/2")
    >>> budget.fits(Gaussian(sigma=10))
    100
    >>> budget.charge(Gaussian(sigma=10) * 99)
    >>> print(budget.spent)
    ρ ∈ [0.495, 0.49500000000000005] (tight)
    """

    def __init__(self, *, relation: Relation = "add-remove", **stated: Any) -> None:
        self.terms = terms(**stated)
        self.relation = checked_relation(relation)
        self._total: Amounts = self.terms.nothing
        self._lock = Lock()

    def charge(self, mechanism: Mechanism, delta: Number | None = None) -> None:
        """Add the mechanism, or raise BudgetExceeded and add nothing. ``delta`` is for the rules basic and approx."""
        cost = self._cost(mechanism, delta)
        with self._lock:
            if not self.terms.fits(self._total, cost):
                raise self.terms.shortfall("", self._total, cost)
            self._total = tuple(tidy(t + c) for t, c in zip(self._total, cost, strict=True))

    def admits(self, mechanism: Mechanism, delta: Number | None = None) -> bool:
        """Whether the mechanism would be charged."""
        return self.terms.fits(self._total, self._cost(mechanism, delta))

    def fits(self, mechanism: Mechanism, delta: Number | None = None) -> int | float:
        """How many more of these fit; ∞ for what costs nothing."""
        return self.terms.count(self._total, self._cost(mechanism, delta))

    @property
    def spent(self) -> Claim:
        """What is spent, in the budget's own unit."""
        return claimed(self.terms, self._total)

    @property
    def remaining(self) -> Claim:
        """What is left, in the budget's own unit."""
        left = (limit - t for limit, t in zip(self.terms.limits, self._total, strict=True))
        return claimed(self.terms, tuple(left), up=False)

    def _cost(self, mechanism: Mechanism, delta: Number | None) -> Amounts:
        m = checked(mechanism)
        if m.relation not in (None, self.relation):
            raise RelationMismatch(self.relation, m.relation or "")
        return self.terms.cost(m, None if delta is None else payable(delta))

    def __repr__(self) -> str:
        return f"<Filter {self.terms}>"


def payable(delta: Number) -> Fraction:
    """A δ at which an ε is paid: strictly between 0 and 1."""
    d = probability("delta", delta)
    if d in (0, 1):
        raise BadParameter("delta", delta, "must lie strictly between 0 and 1")
    return d


_ROGERS = Source("rogers2016privacy", "Thms 3.2, 5.1: basic composition")
_WHITEHOUSE = "whitehouse2023fully"


@theorem(of=Pure, gives=Pure, kind="upper", role="filter", adaptive=ADAPTIVELY, source=_ROGERS)
def pure_filter(limit: Fraction) -> Pure:
    """Steps of pure ε_i, chosen adaptively and stopped before Σε_i exceeds ε, are together ε-DP."""
    return Pure(real(limit))


@theorem(of=Approximate, gives=Approximate, kind="upper", role="filter", adaptive=ADAPTIVELY, source=_ROGERS)
def basic_filter(limit: Fraction, failure: Fraction) -> Approximate:
    """Steps of (ε_i, δ_i), chosen adaptively and stopped before Σε_i exceeds ε or Σδ_i exceeds δ, are (ε, δ)-DP."""
    return Approximate(real(limit), real(failure))


@theorem(
    of=ZeroConcentrated,
    gives=ZeroConcentrated,
    kind="upper",
    role="filter",
    adaptive=ADAPTIVELY,
    source=Source(_WHITEHOUSE, "Thm 1; for δ = 0 Feldman and Zrnic 2021 at every order"),
)
def concentrated_filter(limit: Fraction, failure: Fraction = Fraction(0)) -> ZeroConcentrated:
    """Steps of δ_i-approximate ρ_i-zCDP, chosen adaptively and stopped before Σρ_i exceeds ρ or Σδ_i exceeds δ, are
    δ-approximate ρ-zCDP."""
    return ZeroConcentrated(real(limit), delta=real(failure))


@theorem(
    of=Renyi,
    gives=Renyi,
    kind="upper",
    role="filter",
    adaptive=ADAPTIVELY,
    source=Source("feldman2021individual", "Thm 4.3; one of several orders: docs/theorems.md"),
)
def renyi_filter(limits: dict[Fraction, Fraction]) -> Renyi:
    """Steps chosen adaptively and stopped before ΣD_α exceeds its limit at any of the fixed orders keep every limit.
    When δ is split over the orders and each has the limit of its own part, it suffices that one order is within."""
    return KnownOrders(tuple(limits), tuple(limits.values()))


@theorem(
    of=GaussianDP,
    gives=GaussianDP,
    kind="upper",
    role="filter",
    adaptive=ADAPTIVELY,
    source=Source("koskela2022individual", "GDP filter; proof: docs/theorems.md"),
)
def gaussian_filter(limit: Fraction) -> GaussianDP:
    """Steps of μ_i-GDP, chosen adaptively and stopped before Σμ_i² exceeds μ², are μ-GDP."""
    return GaussianDP(real(limit))


@theorem(
    of=Approximate,
    gives=ZeroConcentrated,
    kind="upper",
    role="filter",
    adaptive=ADAPTIVELY,
    source=Source(_WHITEHOUSE, "Thm 2"),
)
def squares_filter(limit: Fraction, failure: Fraction) -> ZeroConcentrated:
    """Steps of (ε_i, δ_i), chosen adaptively and stopped before Σε_i² exceeds V or Σδ_i exceeds δ″, are
    (V/2 + √(2V ln(1/δ′)), δ′ + δ″)-DP for every δ′; they are δ″-approximate V/2-zCDP."""
    return ZeroConcentrated(real(limit / 2), delta=real(failure))
