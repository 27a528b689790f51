"""What a windowed contour integrates: sampled normal steps, which are split, and other parts with a transform."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, precision
from tightrope.numerics.real import Real
from tightrope.numerics.transforms.transform import Transform
from tightrope.numerics.windowed.floats import FloatLaw, FloatOthers

__all__ = ["Sampler", "WindowLaw"]


class Sampler(NamedTuple):
    """``copies`` steps of the normal mechanism, μ > 0, sampled at a rate. ``exchanged``: a record leaves, and another
    one may enter."""

    mu: Real
    rate: Fraction
    copies: int
    exchanged: bool = False


@dataclass(frozen=True, eq=False)
class WindowLaw:
    """The loss of one direction."""

    samplers: tuple[Sampler, ...]
    others: tuple[tuple[Transform, int], ...] = ()

    @classmethod
    def of(cls, samplers: Sequence[Sampler], others: Sequence[tuple[Transform, int]] = ()) -> WindowLaw:
        """With |μ| for μ, which has the same law."""
        if not samplers:
            raise NotCertified("a windowed contour", "no step is sampled")
        if len({one.exchanged for one in samplers}) > 1:
            raise NotCertified("a windowed contour", "a record is exchanged in some steps only")
        return cls(tuple(one._replace(mu=_size(one.mu)) for one in samplers), tuple(others))

    @property
    def copies(self) -> int:
        """How many losses are added."""
        return sum(one.copies for one in self.samplers) + sum(copies for _, copies in self.others)

    @property
    def exchanged(self) -> bool:
        """Whether the sampled steps exchange a record: all of them or none."""
        return self.samplers[0].exchanged

    @cached_property
    def floats(self) -> FloatLaw:
        """The same in floats."""
        with precision(80):
            steps = tuple((float(mu.ball().mid()), float(rate), copies) for mu, rate, copies, _ in self.samplers)
        if not all(mu > 0 for mu, _, _ in steps):
            raise NotCertified("a windowed contour", "its noise is beyond floats")
        return FloatLaw(steps, FloatOthers(self.others), self.exchanged)

    def infinite(self) -> Ball:
        """P[L = ∞] = 1 − Π (1 − mᵢ)^{kᵢ}, without cancellation."""
        total = Ball(0)
        for transform, copies in self.others:
            mass = transform.infinite()
            if not mass < 1:
                return mass.union(Ball(1))
            total += (-mass).log1p() * copies
        return -total.expm1()


def _size(mu: Real) -> Real:
    return Real(None, lambda: abs(mu.ball()))
