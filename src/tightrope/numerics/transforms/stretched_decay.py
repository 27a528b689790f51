"""How large |φ(y')| is for y' from y on, φ(y) = E[e^{iyL}], as far as one wants to look: its values at a chain of
places.

f = |φ|² = E[cos yD], D the difference of two independent L, and so |f″| ≤ E[D²] ≤ 2·E[(L − c)²] for any c. Between two
places that are h apart f is thus at most the larger of its values there, and h²·E[(L − c)²]/4.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

from tightrope.numerics.balls import Ball, ball
from tightrope.numerics.transforms.sampled_rule import short

if TYPE_CHECKING:
    from tightrope.numerics.transforms.transform import Floats

__all__ = ["FloatLaw", "stretch"]

_SPARE = 0.2  # h²·E[(L − c)²] of 1 − f: a twentieth of that is lost
_BITS = 20  # of a place
_TOLD = 1.05 / 4  # of that, 4·sinh²(x/2) being x² or more


@dataclass(frozen=True)
class FloatLaw:
    """Losses and their shares, in floats."""

    losses: Floats
    shares: Floats

    @cached_property
    def mean(self) -> float:
        """E[L]."""
        return float(self.shares @ self.losses)

    @cached_property
    def variance(self) -> float:
        """E[(L − mean)²]."""
        return float(self.shares @ (self.losses - self.mean) ** 2)

    def lack(self, y: float) -> float:
        """1 − |φ(y)|², also where that is tiny."""
        import numpy as np

        angles = y * (self.losses - self.mean)
        fall, turn = 2 * float(self.shares @ np.sin(angles / 2) ** 2), float(self.shares @ np.sin(angles))
        return 2 * fall - fall * fall - turn * turn

    def chain(self, y: float, most: int) -> tuple[list[float], list[float]]:
        """Places from y on that are near enough to each other, and 1 − |φ|² there."""
        places, lacks = [y], [self.lack(y)]
        while len(places) < most and lacks[-1] > 0:
            places.append(float(short(places[-1] + math.sqrt(_SPARE * lacks[-1] / self.variance), _BITS)))
            lacks.append(self.lack(places[-1]))
        return places, lacks

    def width(self) -> float:
        """An h for which E[cosh h(L − mean)] tells E[(L − mean)²]."""
        import numpy as np

        away, h = self.losses - self.mean, 0.5 / math.sqrt(self.variance)
        while float(self.shares @ np.sinh(np.minimum(abs(away) * h, 700.0) / 2) ** 2) > _TOLD * h * h * self.variance:
            h /= 2
        return h


def stretch(sizes: Sequence[Ball], places: Sequence[Fraction], square: Ball) -> Ball:
    """A bound of |φ| between the first place and the last, from |φ| there and E[(L − c)²] ≤ ``square``."""
    top = Ball(0)
    for (size, place), (after, following) in pairwise(zip(sizes, places, strict=True)):
        gap = ball(following - place)
        top = top.max((size * size).max(after * after) + gap * gap * square / 4)
    return top.sqrt().upper()
