"""The odometer: a bound on the privacy loss that holds at all times at once, whatever is run next."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from threading import Lock

from tightrope.accounting.ask import checked
from tightrope.budget.costs import concentrated_cost, no_price, tidy
from tightrope.budget.filters import ADAPTIVELY, payable
from tightrope.curves.concentrated import ZeroConcentrated
from tightrope.errors import BadParameter
from tightrope.mechanisms.base import Mechanism
from tightrope.numerics.balls import Ball, ball, sharp
from tightrope.numerics.bound import Bound
from tightrope.numerics.exact import Number, count, positive
from tightrope.theorems import Source, theorem

MOST = 99


class Odometer:
    """A running bound without a limit: with chance 1 − δ the privacy loss stays below ``bound`` at all times at once.

    ``rho`` says at which total ρ the bound is sharpest; it is fixed beforehand. The ``slopes`` are tuned to ρ times
    powers of four, and each takes its part of δ. The bound depends on the answers, so it is not an (ε, δ) guarantee:
    for that, a level must be fixed in advance, as a Filter does.

    >>> from tightrope import Gaussian
    >>> spent = Odometer(delta=1e-6, rho=0.25)
    >>> spent.step(Gaussian(sigma=10))
    >>> spent.rho
    Fraction(1, 200)
    """

    def __init__(self, delta: Number, rho: Number, slopes: int = 5) -> None:
        self.delta, self.near = payable(delta), positive("rho", rho)
        n = count("slopes", slopes)
        if n > MOST:
            raise BadParameter("slopes", slopes, f"must be at most {MOST}", "Each slope costs δ.")
        self._levels = tuple(self.near * Fraction(4) ** (k - n // 2) for k in range(n))
        self._rho = Fraction(0)
        self._lock = Lock()

    @property
    def rho(self) -> Fraction:
        """The sum of the steps' ρ."""
        return self._rho

    def step(self, mechanism: Mechanism) -> None:
        """Add a mechanism, which may have been chosen after seeing the earlier answers."""
        m = checked(mechanism)
        cost = concentrated_cost(m)
        if cost is None or cost[1] > 0:
            raise no_price(m, "zcdp", "the odometer needs a finite ρ and no leak", "Use a Filter with leak=.")
        with self._lock:
            self._rho = tidy(self._rho + cost[0])

    @property
    def bound(self) -> Bound:
        """The level that the loss stays below at all times, with chance 1 − δ: at most ``bound.upper``."""
        if self._rho == 0:
            return Bound(0.0, 0.0)
        share = self.delta / len(self._levels)
        found = [sharp(partial(time_uniform, self._rho, tuned, share)) for tuned in self._levels]
        return min((Bound.around(b, least=0.0) for b in found), key=lambda b: b.upper)

    def __repr__(self) -> str:
        return f"<Odometer δ = {self.delta}, ρ = {self._rho}>"


@theorem(
    of=ZeroConcentrated,
    gives=Bound,
    kind="upper",
    role="filter",
    adaptive=ADAPTIVELY,
    source=Source("whitehouse2023fully", "Sec. 5: time-uniform bounds; proof: docs/theorems.md"),
)
def time_uniform(rho: Fraction, tuned: Fraction, delta: Fraction) -> Ball:
    """For steps of ρ_i-zCDP chosen adaptively and V_t = Σρ_i, with chance 1 − δ the loss is at most
    (λ + 1)V_t + ln(1/δ)/λ at all t at once; λ = √(ln(1/δ)/V) for a V fixed beforehand."""
    log = -ball(delta).log()
    slope = (log / ball(tuned)).sqrt()
    return (slope + 1) * ball(rho) + log / slope
