"""How far the noise reaches, before anything is spent: ± at a confidence, and the standard deviation."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from tightrope.errors import BadParameter, Unsupported
from tightrope.mechanisms.base import Mechanism
from tightrope.mechanisms.composed import Grouped
from tightrope.mechanisms.discrete_gaussian import DiscreteGaussian
from tightrope.mechanisms.discrete_laplace import DiscreteLaplace
from tightrope.mechanisms.gaussian import Gaussian
from tightrope.mechanisms.laplace import Laplace
from tightrope.mechanisms.running.additive import grid_of
from tightrope.mechanisms.running.real import stairs_grid
from tightrope.mechanisms.staircase import Staircase
from tightrope.noise.blocks import floor_log2
from tightrope.noise.laws import normal_tails
from tightrope.numerics.balls import Ball, ball, precision, upper_float
from tightrope.numerics.exact import Number, exact
from tightrope.numerics.normal import quantile

_BITS = 160
_SUMMED = 1000  # the largest σ whose tail is summed; beyond, a bound that is at most one larger


def half_width(m: Mechanism, confidence: Number) -> float:
    """The least ± (rounded up) within which a released number lies with this chance."""
    level = exact("confidence", confidence)
    if not 0 < level < 1:
        raise BadParameter("confidence", confidence, "must lie strictly between 0 and 1")
    if isinstance(m, Grouped):
        return half_width(m.part, confidence)
    found = WIDTHS.get(type(m))
    if found is None:
        raise Unsupported(f"an interval for {m}", "it does not add noise to a number", "Ask a part that does.")
    with precision(_BITS + floor_log2(1 / (1 - level))):
        return upper_float(found(m, level))


def deviation(m: Mechanism) -> float:
    """A bound, rounded up, of the standard deviation of the noise of a mechanism that adds it."""
    with precision(_BITS):
        return upper_float(DEVIATIONS[type(m)](m))


def _gaussian(m: Gaussian, level: Fraction) -> Ball:
    return ball(m.sigma) * quantile(ball((1 + level) / 2)) + ball(grid_of(m) / 2)


def _laplace(m: Laplace, level: Fraction) -> Ball:
    return -ball(m.scale) * ball(1 - level).log() + ball(grid_of(m) / 2)


def _discrete_laplace(m: DiscreteLaplace, level: Fraction) -> Ball:
    """The least w with 2r^{w+1}/(1 + r) ≤ 1 − level."""
    r = (-1 / ball(m.scale)).exp()
    w = -ball(m.scale) * (ball(1 - level) * (1 + r) / 2).log() - 1
    return _rounded_up(w).max(Ball(0))


def _rounded_up(w: Ball) -> Ball:
    """⌈w⌉, or w + 1 where the ball is too wide to tell."""
    floor = (-w.upper()).floor().unique_fmpz()
    return w + 1 if floor is None else Ball(-floor)


def _discrete_gaussian(m: DiscreteGaussian, level: Fraction) -> Ball:
    """The least w with P(|X| > w) ≤ 1 − level; for wide noise by P(X > w) ≤ P(N > w) (sums are below integrals)."""
    if m.sigma > _SUMMED:
        return _rounded_up(ball(m.sigma) * quantile(ball((1 + level) / 2)))
    tails = normal_tails(m.sigma**2, 0)  # they end below the present precision, which is finer than 1 − level
    allowed = ball(1 - level) * (1 + 2 * tails[0])
    return Ball(next(w for w, beyond in enumerate(tails) if 2 * beyond <= allowed))


def _staircase(m: Staircase, level: Fraction) -> Ball:
    """Whole units by e^{−ε} each, then two linear pieces."""
    if m.epsilon == 0:
        return Ball("inf")
    b, g = (-ball(m.epsilon)).exp(), m.width()
    units = (-(ball(1 - level).log()) / ball(m.epsilon)).upper().floor()  # one too many only makes it wider
    left = (1 - ball(1 - level) * (ball(m.epsilon) * units).exp()) / (1 - b) * (g + b * (1 - g))
    inside = left if left <= g else (g + (left - g) / b)
    return units + inside.max(Ball(0)).min(Ball(1)) + ball(stairs_grid(m) / 2)


WIDTHS: dict[type[Mechanism], Callable[[Any, Fraction], Ball]] = {
    Gaussian: _gaussian,
    Laplace: _laplace,
    DiscreteLaplace: _discrete_laplace,
    DiscreteGaussian: _discrete_gaussian,
    Staircase: _staircase,
}


def _geometric_deviation(m: DiscreteLaplace) -> Ball:
    """√(2r)/(1 − r)."""
    r = (-1 / ball(m.scale)).exp()
    return (2 * r).sqrt() / (1 - r)


def _rounding(grid: Fraction) -> Ball:
    """Rounding to a grid moves by at most half a step."""
    return ball(grid / 2)


DEVIATIONS: dict[type[Mechanism], Callable[[Any], Ball]] = {
    Gaussian: lambda m: ball(m.sigma) + _rounding(grid_of(m)),
    Laplace: lambda m: Ball(2).sqrt() * ball(m.scale) + _rounding(grid_of(m)),
    DiscreteLaplace: _geometric_deviation,
    DiscreteGaussian: lambda m: ball(m.sigma),  # the discrete Gaussian's is not above (Canonne et al. 2020, Cor. 9)
}
