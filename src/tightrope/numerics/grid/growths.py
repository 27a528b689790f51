"""e^x − 1 of many floats at once, and the losses of a sampled record: errors proved, relative to what they are."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from tightrope.numerics.grid.cells import UNIT, Floats
from tightrope.numerics.grid.exponentials import exponentials

#: |computed − (e^x − 1)| ≤ GROWTH_ERROR·|e^x − 1|. Proof: up to _NEAR, t = 1 + (x/2)(1 + (x/3)(…)) is off by at most
#: 2.1·2⁻⁵³ (each level adds 1.2, and 0.175 times what the next one leaves and its three roundings), it is above 0.84,
#: the series leaves out less than 2⁻⁵⁵, and x·t rounds once: below 4·2⁻⁵³. Beyond, 6e^x/|e^x − 1| + 1 ≤ 22.
GROWTH_ERROR = 24 * UNIT
_NEAR = 0.35
_FAR = -0.5  # below this loss 1 − q + q·e^l is added up as it stands
_LEAST_SHARE = 1e-15  # of a mixture


def shares(rate: Fraction) -> tuple[float, float]:
    """1 − q and q, each off by at most 2⁻⁵³ of itself."""
    if not min(rate, 1 - rate) >= _LEAST_SHARE:
        raise ArithmeticError(f"a rate of {float(rate):g} is out of reach of these cells")
    return float(1 - rate), float(rate)


def growths(x: Floats) -> Floats:
    """e^x − 1, off by at most GROWTH_ERROR of itself; |x| ≤ 600."""
    far = np.abs(x) > _NEAR
    near = np.where(far, 0.0, x)
    reach = float(np.max(np.abs(near), initial=0.0))
    last, left = 1, reach / 2  # ``left`` bounds the first term left out, against x
    while left > UNIT / 8:
        last, left = last + 1, left * reach / (last + 2)
    series = np.ones_like(x)
    for n in range(last, 1, -1):
        series *= near * (1 / n)
        series += 1.0
    series *= near
    if far.any():
        series[far] = exponentials(x[far]) - 1.0
    return series


def lifted(rate: float, rest: float, x: Floats, low: float, high: float) -> Floats:
    """About ln(1 + (e^x − 1)/q), kept between ``low`` and ``high``: a choice, in floats. ``rest`` is 1 − q."""
    if rate == 1:
        return np.clip(x, low, high)
    bottom, top = np.log1p(rate * np.expm1(low)), np.log1p(rate * np.expm1(high))
    given, x = x, np.clip(x, bottom - 1, top + 1)
    with np.errstate(divide="ignore"):  # e^low may be 0
        near = np.log1p(np.clip(np.expm1(x) / rate, np.expm1(low), np.expm1(high)))
    far = np.log(np.clip((np.exp(x) - rest) / rate, np.exp(low), np.exp(high)))
    found = np.clip(np.where(x < _FAR, far, near), low, high)
    return np.where(given <= bottom, low, np.where(given >= top, high, found))  # the ends themselves, not nearly


def loss_gaps(rate: float, rest: float, base: Floats, x: Floats) -> tuple[Floats, Floats]:
    """At least F − x, and at least x − F, for F = ln(1 + q(e^l − 1)); q and 1 − q are off by 2·2⁻⁵³ of themselves.

    F − x = ln(1 + y), y = (q(e^l − 1) − (e^x − 1))/e^x: its terms are off by less than 30·2⁻⁵³ of themselves, and their
    quotient by as much again. For x far below 0, y = (1 − q + q·e^l − e^x)/e^x.
    """
    grown, wanted = rate * growths(base), growths(x)
    size = 1 + wanted
    gap, error = grown - wanted, np.abs(grown) + np.abs(wanted)
    far = x < _FAR
    if far.any():
        grown, wanted = rest + rate * exponentials(base[far]), exponentials(x[far])
        size[far], gap[far], error[far] = wanted, grown - wanted, grown + wanted
    error = (error + np.abs(gap)) * (64 * UNIT)
    above, below = np.maximum(gap + error, 0.0) / size, np.maximum(error - gap, 0.0) / size
    with np.errstate(divide="ignore"):
        return above * (1 + 64 * UNIT), np.where(below < 0.5, below * (1 + 64 * UNIT) / (1 - below), np.inf)
