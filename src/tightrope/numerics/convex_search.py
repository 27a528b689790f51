"""Where a convex function known at some points should be asked next to find the least of D + a·u. It proves nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import TYPE_CHECKING

from tightrope.numerics.convex_points import ConvexPoints

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["enough", "first_places", "next_places"]

_FINE = 1e-13  # no gap is closed further than this, or than the balls are wide
_APART, _WIDE = 0.6, 3.0  # closer points differ by less than their balls are wide; wider ones leave a gap
_AROUND = 2  # points on each side through which a curve is laid
_SEVERAL, _SPARSE = 6, 0.1
_NORMAL = NormalDist()


def first_places(height: float, shares: Sequence[float]) -> list[float]:
    """Around where the least of D + a·u is for each share a if the loss is normal; ``height`` is D(1)."""
    deviation = spread(height)
    steps = (-0.5, 0.0, 0.5) if len(shares) < _SEVERAL else (0.0,)  # many lie between each other
    found: list[float] = []
    for a in sorted(shares, reverse=True):
        least, most = _ends(height, a)
        middle = -deviation * deviation / 2 - deviation * _NORMAL.inv_cdf(min(max(a, 1e-300), 1 - 1e-16))
        for step in steps:
            x = min(max(middle + step * deviation, least), most)
            if all(abs(x - y) > _SPARSE * deviation for y in found):
                found.append(x)
    return found


def enough(points: ConvexPoints, a: float, gap: float) -> bool:
    """Whether a gap cannot be made much smaller by more points as wide as those around the lowest."""
    return gap <= 8 * _radius(points, points.lowest(a)[0]) + 4 * _FINE


def _radius(points: ConvexPoints, i: int) -> float:
    return max(points.radii[max(i - 1, 0) : i + 2])


def spread(height: float) -> float:
    """The deviation of a normal loss with this D(1)."""
    return 2 * _NORMAL.inv_cdf(min(max(0.5 + height / 2, 0.5 + 1e-15), 1 - 1e-15))


def _ends(height: float, a: float) -> tuple[float, float]:
    """The least lies between these: beyond, 1 − u(1 − a) or a·u alone exceed D(1) + a."""
    rest = 1 - height / (1 - a) if a < 1 else 0.0
    return math.log(rest) if rest > 0 else -700.0, min(math.log1p(height / a), 700.0) if a > 0 else 700.0


def next_places(points: ConvexPoints, height: float, a: float, late: bool, fine: float = 0.0) -> list[float]:
    """The minimum of a curve through the points around the lowest; once it is among them, both sides of it. ``late``:
    there may be a corner, so also where lines through outer points meet; ``fine``: a gap that will do. Nothing when all
    this is known."""
    import numpy as np

    places = np.array(points.places)
    values = np.array(points.heights) + a * np.exp(places)
    i, last = int(values.argmin()), len(places) - 1
    if i in (0, last):
        return _further(places, i, height, a)
    bottom, bend = _bottom(places, values, i)
    close = math.sqrt(2 * (4 * _radius(points, i) + max(fine / 4, _FINE)) / bend) if bend > 0 else math.inf
    close = min(max(close, 1e-12 * abs(bottom)), float(places[i + 1] - places[i - 1]) / 6)
    new = float(np.abs(places - bottom).min()) > _APART * close
    middle = bottom if new else float(places[i])
    found = [bottom]
    after = int(np.searchsorted(places, middle, side="right"))
    before = int(np.searchsorted(places, middle)) - 1
    if after <= last and places[after] - middle > _WIDE * close:
        found.append(middle + close)
    if before >= 0 and middle - places[before] > _WIDE * close:
        found.append(middle - close)
    if late:
        found += _corners(places, values, i)
    return [x for x in found if float(np.abs(places - x).min()) > _APART * close]


def _further(places: Floats, i: int, height: float, a: float) -> list[float]:
    """Half a deviation beyond the last place, or farther."""
    least, most = _ends(height, a)
    step = spread(height) / 2
    if len(places) > 1:
        step = max(step, 1.5 * abs(float(places[i] - places[1 if i == 0 else i - 1])))
    x = min(max(float(places[i]) + (step if i else -step), least), most)
    if len(places) == 1:
        return [x, max(float(places[0]) - step, least)]
    return [] if x in places else [x]


def _bottom(places: Floats, values: Floats, i: int) -> tuple[float, float]:
    """The lowest place of the polynomial through the nearest points, between the neighbours of i, and its bend."""
    import numpy as np

    chosen = slice(max(i - _AROUND, 0), i + _AROUND + 1)
    unit = float(places[i + 1] - places[i - 1])
    x = (places[chosen] - places[i]) / unit
    rows = np.vander(x, increasing=True)
    try:
        factors = np.linalg.solve(rows, values[chosen] - values[i])[::-1]
    except np.linalg.LinAlgError:
        return float(places[i - 1] + places[i + 1]) / 2, 0.0
    low, high = float(places[i - 1] - places[i]) / unit, float(places[i + 1] - places[i]) / unit
    slopes, bends = np.polyder(factors), np.polyder(factors, 2)
    trials = np.linspace(low, high, 41)[1:-1]
    at = float(trials[int(np.polyval(factors, trials).argmin())])
    for _ in range(6):
        bend = float(np.polyval(bends, at))
        if not bend > 0:
            break
        at = min(max(at - float(np.polyval(slopes, at)) / bend, low), high)
    return float(places[i]) + unit * at, float(np.polyval(bends, at)) / unit**2


def _corners(places: Floats, values: Floats, i: int) -> list[float]:
    """Where the lines through the outer neighbours of the two intervals at i meet, in u."""
    import numpy as np

    u, found = np.exp(places - places[i]), []
    for j in (i - 1, i):  # the interval from j to j + 1
        if j < 1 or j + 2 > len(places) - 1 or not (u[j] > u[j - 1] and u[j + 2] > u[j + 1]):
            continue
        down = float((values[j] - values[j - 1]) / (u[j] - u[j - 1]))
        up = float((values[j + 2] - values[j + 1]) / (u[j + 2] - u[j + 1]))
        if down < up:
            at = float((values[j + 1] - values[j] + down * u[j] - up * u[j + 1]) / (down - up))
            if u[j] < at < u[j + 1]:
                found.append(float(places[i]) + math.log(at))
    return found
