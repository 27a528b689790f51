"""Two Gaussians of unequal variance: a pair that has Rényi DP up to a finite order and no zCDP."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import inf, isfinite, log1p
from typing import TYPE_CHECKING

from tightrope.curves.loss import Loss
from tightrope.curves.normal_pair import NormalPair
from tightrope.curves.pair import Call, Pair
from tightrope.curves.sampled.ruled import ruled_cumulant
from tightrope.errors import NotCertified
from tightrope.mechanisms.base import Leaf
from tightrope.numerics.balls import INFINITY, Ball, ball, between, precision
from tightrope.numerics.exact import Number, exact, near, positive
from tightrope.numerics.normal import unequal_call, unequal_tail
from tightrope.numerics.real import UNBOUNDED, Real, real
from tightrope.numerics.sums.unequal import brief, summable, unequal_sum_call
from tightrope.numerics.transforms.quadratic_loss import QuadraticLoss
from tightrope.numerics.transforms.sampled_unequal import SampledUnequalTransform
from tightrope.numerics.transforms.transform import Transform
from tightrope.numerics.transforms.unequal import UnequalTransform
from tightrope.theorems import Source, theorem

if TYPE_CHECKING:
    from tightrope.numerics.grid.cells import CellLaw


@dataclass(frozen=True, init=False, repr=False)
class GaussianPair(Leaf):
    """The output is N(mean, sigma²) with the record and N(other_mean, other_sigma²) without it.

    >>> print(GaussianPair(1, 1.1, 0, 1))
    gaussian_pair(mean=1, sigma=1.1, other_mean=0, other_sigma=1)
    """

    mean: Fraction
    sigma: Fraction
    other_mean: Fraction
    other_sigma: Fraction
    text_name = "gaussian_pair"

    def __init__(self, mean: Number, sigma: Number, other_mean: Number, other_sigma: Number) -> None:
        self._set(
            mean=exact("mean", mean),
            sigma=positive("sigma", sigma),
            other_mean=exact("other_mean", other_mean),
            other_sigma=positive("other_sigma", other_sigma),
        )


@dataclass(frozen=True)
class UnequalPair(Pair):
    """(N(m1, s1²), N(m2, s2²)) with s1 ≠ s2: the loss is a quadratic in a normal variable."""

    m1: Fraction
    s1: Fraction
    m2: Fraction
    s2: Fraction
    words = "a quadratic of a normal variable"
    dear, quick = True, True

    def call(self, x: Ball) -> Ball:
        """The optimal event lies outside or between the roots of a quadratic."""
        return unequal_call(self.m1, self.s1, self.m2, self.s2, x)

    def atom_unit(self) -> Fraction:
        """There are none."""
        return Fraction(0)

    def repeated(self, copies: int) -> Call | None:
        """Noncentral χ² tails, for few copies."""
        if copies == 1:
            return self.call
        pair = self.m1, self.s1, self.m2, self.s2
        return partial(unequal_sum_call, *pair, copies) if summable(*pair, copies) else None

    def briefly(self, copies: int) -> bool:
        """Where those tails are short sums."""
        return copies == 1 or brief(self.m1, self.s1, self.m2, self.s2, copies)

    def transform(self) -> Transform:
        """(s2/s1)^s·s2·v^{−1/2}·e^{s(s+1)(m1−m2)²/2v}."""
        return UnequalTransform(self.m1, self.s1, self.m2, self.s2)

    def sampled_transform(self, rate: Fraction, adding: bool) -> Transform | None:
        """E_Q[w^s], w = 1 − q + q·e^L, L a quadratic of a normal variable."""
        if not 0 < rate < 1:
            return None
        return SampledUnequalTransform(QuadraticLoss(self.m1, self.s1, self.m2, self.s2, rate), adding)

    def sampled_cumulant(self, rate: Fraction, power: Fraction) -> Ball | None:
        """ln E_Q[w^power], by the rule of the transform; where that is out of reach, what convexity says: w^a is at
        most 1 − q + q·e^{aL} for a ≤ 0 and a ≥ 1, and at least 1 on average."""
        if rate == 1:
            return self.cumulant(power - 1)
        found = ruled_cumulant(lambda: self.sampled_transform(rate, adding=False), power - 1)
        if found is None or found.is_finite() or found.lower() > 0 or 0 < power < 1:
            return found
        return between(Ball(0), self._convex(rate, power).upper().max(Ball(0)))

    def measured_sampled(self, rate: Fraction) -> bool:
        """Where there is a transform."""
        try:
            return rate == 1 or self.sampled_transform(rate, adding=False) is not None
        except NotCertified:
            return False

    def _convex(self, rate: Fraction, power: Fraction) -> Ball:
        """ln(1 − q + q·E_Q[e^{aL}]); of E_Q[w^a], a ≤ 0, (1 − q)^a is a bound as well."""
        log, q = self.cumulant(power - 1), ball(rate)
        mixed = (q * log.expm1()).log1p() if log.is_finite() else INFINITY
        mixed = mixed if mixed.is_finite() else INFINITY
        return mixed.min(ball(power) * (-q).log1p()) if power <= 0 else mixed

    def approximate_sampled_cumulants(self, rate: Fraction, powers: Sequence[float]) -> list[float]:
        """The same in floats."""
        try:
            transform = self.sampled_transform(rate, adding=False)
        except NotCertified:
            transform = None
        if transform is None:
            return super().approximate_sampled_cumulants(rate, powers)
        found = [float(k) for k in transform.log_floats([power - 1 for power in powers])]
        return [k if isfinite(k) else self._convex_float(rate, power) for k, power in zip(found, powers, strict=True)]

    def _convex_float(self, rate: Fraction, power: float) -> float:
        if 0 < power < 1:
            return inf
        with precision(64):
            return float(self._convex(rate, Fraction(power)).mid())

    def cells(self) -> CellLaw:
        """A parabola cut into cells."""
        from tightrope.numerics.grid.unequal_cells import UnequalCells

        return UnequalCells(self.m1, self.s1, self.m2, self.s2)

    def sampled_cells(self, rate: Fraction, adding: bool) -> CellLaw | None:
        """The same after a Poisson sample."""
        from tightrope.numerics.grid.unequal_cells import SampledUnequalCells

        return SampledUnequalCells(self.m1, self.s1, self.m2, self.s2, rate, adding) if 0 < rate < 1 else None

    def tail(self, x: Ball) -> Ball:
        """P[L > x]."""
        return unequal_tail(self.m1, self.s1, self.m2, self.s2, x)

    def cumulant(self, s: Fraction) -> Ball:
        """s·ln(s2/s1) + ln(s2²/v)/2 + s(s+1)(m1−m2)²/(2v), v = (s+1)s2² − s·s1²; infinite when v ≤ 0."""
        v = (s + 1) * self.s2**2 - s * self.s1**2
        if v <= 0:
            return INFINITY
        linear = ball(s) * ball(self.s2 / self.s1).log() + ball(self.s2**2 / v).log() / 2
        return linear + ball(s * (s + 1) * (self.m1 - self.m2) ** 2 / (2 * v))

    def approximate_cumulants(self, points: Sequence[float]) -> list[float]:
        """The same in floats, from s1²/s2² − 1, so that nearly equal variances keep their bits."""
        more, apart = near((self.s1 / self.s2) ** 2 - 1), near(((self.m1 - self.m2) / self.s2) ** 2)
        found = []
        for s in points:
            known = more > -1 and s * more < 1
            bent = (s * log1p(more) + log1p(-s * more)) / 2 if known else -inf
            found.append(s * (s + 1) * apart / (2 * (1 - s * more)) - bent if known else inf)
        return found

    def mean(self) -> Ball:
        """ln(s2/s1) + (s1² + (m1−m2)²)/(2s2²) − 1/2."""
        rational = (self.s1**2 + (self.m1 - self.m2) ** 2) / (2 * self.s2**2) - Fraction(1, 2)
        return ball(self.s2 / self.s1).log() + ball(rational)

    def largest(self) -> Real:
        """Bounded above only if the first is the narrower: ln(s2/s1) + (m1−m2)²/(2(s2²−s1²))."""
        if self.s1 > self.s2:
            return UNBOUNDED
        rational = (self.m1 - self.m2) ** 2 / (2 * (self.s2**2 - self.s1**2))
        return Real(None, lambda: ball(self.s2 / self.s1).log() + ball(rational))


@theorem(
    of=GaussianPair,
    gives=Loss,
    kind="equal",
    role="analysis",
    source=Source("gil2013renyi", "Table 2; docs/theorems.md"),
)
def gaussian_pair_loss(m: GaussianPair) -> Loss:
    """The loss of N(m1, s1²) against N(m2, s2²), and of the reverse."""
    if m.sigma == m.other_sigma:
        return Loss(((NormalPair(real(((m.mean - m.other_mean) / m.sigma) ** 2)), 1),))
    forward = UnequalPair(m.mean, m.sigma, m.other_mean, m.other_sigma)
    backward = UnequalPair(m.other_mean, m.other_sigma, m.mean, m.sigma)
    return Loss(((forward, 1),), ((backward, 1),))
