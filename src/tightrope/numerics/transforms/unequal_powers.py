"""What is integrated for a power of a sampled loss between normal laws of unequal variance, on the complex plane."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from tightrope.numerics.balls import Ball, ComplexBall, ball
from tightrope.numerics.ellipses import Integrand
from tightrope.numerics.transforms.quadratic_loss import QuadraticLoss

if TYPE_CHECKING:
    from tightrope.numerics.transforms.transform import Complexes, Floats

__all__ = ["UnequalPowers", "float_log_means"]

_SMALL = 0.6  # of what is left beside q·e^l
_PLACES, _COARSE = 600, 0.2  # of a rule in floats, and the longest step between places
_GENTLE = 0.5


@dataclass(frozen=True)
class UnequalPowers(Integrand):
    """φ(z)√2π·w^{A+iy'}, for all |y'| ≤ y at once."""

    law: QuadraticLoss
    power: Fraction
    y: Fraction
    branches = 2

    def log_sizes(self, z: Complexes) -> Floats:
        """About −Re z²/2 + A·ln|w| + y·|arg w|; ∞ near a cut."""
        return self._float_sizes(z, one_sided=False)

    def one_sided(self, z: Complexes) -> Floats:
        """The same for y' ≥ 0: only a negative angle lets w^{iy'} grow."""
        return self._float_sizes(z, one_sided=True)

    def _float_sizes(self, z: Complexes, one_sided: bool) -> Floats:
        import numpy as np

        bend, slope, height, q = self.law.floats
        rise = (bend * z + slope) * z + height
        rest = (1 - q) / q * np.exp(np.minimum(-rise.real, 600.0) - 1j * rise.imag)
        w = 1 + q * np.expm1(np.minimum(rise.real, 600.0) + 1j * rise.imag)
        far = np.abs(rest).max(axis=-1, keepdims=True) < _SMALL
        log = np.where(far, rise + math.log(q) + np.log(1 + rest), np.log(w))
        turn = np.maximum(-log.imag, 0) if one_sided else np.abs(log.imag)
        sizes = float(self.power) * log.real - (z * z).real / 2 + float(self.y) * turn
        near = (np.abs(rise.imag) > 2.5) & (np.abs(rest) < 5) | (w.real < -0.5 * np.abs(w))
        return np.where(near & ~far, math.inf, sizes)

    def log_size(self, z: ComplexBall, branch: int) -> Ball | None:
        """Proved."""
        return self._ball_size(z, branch, one_sided=False)

    def one_sided_ball(self, z: ComplexBall, branch: int) -> Ball | None:
        """Proved for y' ≥ 0."""
        return self._ball_size(z, branch, one_sided=True)

    def _ball_size(self, z: ComplexBall, branch: int, one_sided: bool) -> Ball | None:
        """From the middle of the ball and the derivative on it: −z + (A+iy)·w′/w.

        First branch: a closed curve on which w misses (−∞, 0] does not wind around 0, so that w has no zero within.
        Second: w = q·e^l·(1 + u) with |u| < 1 on the curve, so that w has as many zeros as e^l (Rouché): none.
        """
        bend, slope, height, q = self.law.coefficients()
        middle = ComplexBall(z.real.mid(), z.imag.mid())
        if branch == 0:
            w, at = self.law.ratio(z), self.law.ratio(middle)
            if not (w.real > 0 or w.imag > 0 or w.imag < 0):
                return None
            log, share = at.log(), 1 - (1 - q) / w
        else:
            rise, there = ((bend * x + slope) * x + height for x in (z, middle))
            u = (1 - q) / q * (-rise).exp()
            if not u.abs_upper() < 1:
                return None
            log, share = there + q.log() + ((1 - q) / q * (-there).exp()).log1p(), 1 / (1 + u)
        a, y, growth = ball(self.power), ball(self.y), (2 * bend * z + slope) * share
        size, reach = a * log.real - (middle * middle).real / 2, (z - middle).abs_upper()
        size += reach * (a * growth - z).abs_upper()
        if one_sided:  # the angle at every place of the ball
            return size + y * (reach * growth.abs_upper() - log.imag).max(Ball(0))
        return size + y * abs(log.imag) + reach * y * growth.abs_upper()


def float_log_means(
    law: QuadraticLoss, other: tuple[float, float], powers: Floats, windows: Floats
) -> Floats:
    """ln E[w^A] in floats, by the trapezoidal rule on a window for each power; ``other``: the other law's mean and
    deviation."""
    import numpy as np

    middle, wide = other
    low = np.minimum(windows[:, 0], min(-9.0, middle - 9 * wide))
    high = np.maximum(windows[:, 1], max(9.0, middle + 9 * wide))
    if float((high - low).max()) < _COARSE * _PLACES:
        step = (high - low) / (_PLACES - 1)
        z = low[:, None] + step[:, None] * np.arange(_PLACES)
        stretched = np.ones_like(z)
    else:  # one law is that much wider: places are dense where the other one lies
        low, high = np.arcsinh(low), np.arcsinh(high)
        step = (high - low) / (_PLACES - 1)
        u = low[:, None] + step[:, None] * np.arange(_PLACES)
        z, stretched = np.sinh(u), np.cosh(u)
    loss, power, scale = law.loss_floats(z), powers[:, None], step / math.sqrt(2 * math.pi)
    with np.errstate(all="ignore"):
        rise = np.expm1(power * loss) - power * np.expm1(loss)  # from E[w − 1] = 0, which keeps what is tiny
        result: Floats = np.log1p((rise * np.exp(z * z / -2) * stretched).sum(axis=1) * scale)
    rest = ~((np.abs(result) < _GENTLE) & (np.abs(loss).max(axis=1) * np.maximum(np.abs(powers), 1.0) < 300))
    logs = (power * loss - z * z / 2 + np.log(stretched))[rest]
    top = logs.max(axis=1)
    result[rest] = top + np.log(np.exp(logs - top[:, None]).sum(axis=1) * scale[rest])
    return result
