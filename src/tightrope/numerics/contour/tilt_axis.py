"""The tilts at which a moment generating function is finite: all of t > 0, or those below an end.

Near an end what counts is the room that is left, as what counts near 0 is t itself. So tilts are laid out as
t = w/(1 + w/end), w on a logarithmic scale; without an end t is w.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, TypeVar

from tightrope.numerics.transforms.sampled_rule import short

if TYPE_CHECKING:
    from tightrope.numerics.transforms.transform import Floats

    Number = TypeVar("Number", float, Floats)

__all__ = ["TiltAxis"]


@dataclass(frozen=True)
class TiltAxis:
    """0 < t < end."""

    end: float

    def tilt(self, w: Number) -> Number:
        """t."""
        return w if self.end == math.inf else w / (1 + w / self.end)

    def place(self, t: Number) -> Number:
        """w."""
        return t if self.end == math.inf else t / (1 - t / self.end)

    def rounded(self, t: float, bits: int) -> Fraction:
        """A number of few bits near t: of few bits left of the end, if that is nearer than 0, and then not below t."""
        room = self.end - t
        return short(t, bits) if room >= t else Fraction(self.end) - short(room, bits)
