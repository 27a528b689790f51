"""K around a tilt, in floats: what bounds the aliases of a contour there."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tightrope.numerics.transforms.transform import Floats

__all__ = ["Tilts", "finite_or_infinite", "log_factor", "normal_root"]


def log_factor(t: Floats) -> Floats:
    """ln sup_u (1−e^{−u})e^{−tu} = t·ln t − (1+t)·ln(1+t), t > 0; with t = v − 1 also ln sup_u (e^u−1)e^{−vu}."""
    import numpy as np

    result: Floats = t * np.log(t) - (1 + t) * np.log1p(t)
    return result


def normal_root(deviation: float, log_target: float) -> tuple[float, float]:
    """The least x at which Chernoff's bound of a normal loss is e^log_target, and its tilt."""
    import numpy as np

    t = math.sqrt(max(-2 * log_target, 1.0)) / deviation * np.geomspace(0.3, 2.0, 60)
    places = (deviation**2 * t * (t + 1) / 2 + log_factor(t) - log_target) / t
    i = int(places.argmin())
    return float(places[i]), float(t[i])


@dataclass(frozen=True)
class Tilts:
    """K(t) and about K''(t) at a tilt t; tilts t' above it with K(t'); tilts v ≥ 0 with K(−v)."""

    log_moment: float
    curvature: float
    above: Floats
    moments_above: Floats
    below: Floats
    moments_below: Floats

    def logs_above(self, x: float) -> Floats:
        """ln of the Chernoff bounds of the call at x."""
        return finite_or_infinite(self.moments_above + log_factor(self.above) - self.above * x)

    def logs_below(self, x: float) -> Floats:
        """ln of bounds of what the call at x lacks: of M(0) for v < 1, of M(0) − M(−1)eˣ for v ≥ 1."""
        import numpy as np

        factor = np.where(self.below > 1, log_factor(np.maximum(self.below - 1, 1e-9)), 0.0)
        return finite_or_infinite(self.moments_below + factor + self.below * x)


def finite_or_infinite(values: Floats) -> Floats:
    """∞ for what is no number."""
    import numpy as np

    result: Floats = np.where(np.isfinite(values), values, math.inf)
    return result
