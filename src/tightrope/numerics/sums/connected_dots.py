"""Connect the dots: from upper bounds of a profile at finitely many ε, a law whose profile lies above it everywhere.

γ ↦ H_γ is convex, so the chords between upper bounds at γ_i = e^{ε_i} overstate it, and if they are convex themselves
they are the profile of a pair: with slopes s_i the loss is ε_i with mass γ_i(s_i − s_{i−1}) under P, and ∞ with mass H
at the last point (Doroshenko et al. 2022). Points that would break convexity are left out, which only overstates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from flint import ctx

from tightrope.numerics.balls import Ball, ball, precision
from tightrope.numerics.real import ZERO, Real, real
from tightrope.numerics.sums.finite import FiniteLaw, on_lattice

__all__ = ["connected_dots"]

_GUARD = 96  # bits lost in second differences


@dataclass(frozen=True)
class _Dot:
    """A point of the profile: ε = unit·step, and an exact number not below H there."""

    step: int
    height: Ball


def connected_dots(unit: Fraction, points: Sequence[tuple[int, Ball]]) -> FiniteLaw:
    """The law on unit·ℤ from balls around H at e^{unit·step}, at two points or more in rising order."""
    dots = [_Dot(step, height.nonnegative_part().upper().min(Ball(1)).upper()) for step, height in points]
    with precision(256 + _GUARD):
        kept = _convex(unit, dots)
    tables: dict[int, list[Ball]] = {}

    def masses() -> list[Ball]:
        if ctx.prec not in tables:
            tables[ctx.prec] = _masses(unit, kept)
        return tables[ctx.prec]

    last = kept[-1].height
    law = {dot.step: Real(None, lambda i=i: masses()[i]) for i, dot in enumerate(kept)}  # type: ignore[misc]  # bound now
    return on_lattice(real(unit), law, ZERO if last.is_zero() else Real(None, lambda: last))


def _convex(unit: Fraction, dots: Sequence[_Dot]) -> list[_Dot]:
    """The dots whose chords certainly bend upwards, from H = 1 at γ = 0 to the constant after the last."""
    kept: list[_Dot] = []
    for dot in dots:
        while kept and not _slope(unit, kept[-2] if len(kept) > 1 else None, kept[-1]) < _slope(unit, kept[-1], dot):
            kept.pop()
        kept.append(dot)
    while len(kept) > 1 and not _slope(unit, kept[-2], kept[-1]) < 0:
        kept.pop()
    return kept


def _slope(unit: Fraction, one: _Dot | None, other: _Dot) -> Ball:
    """Of the chord between two dots; from γ = 0 if there is none before."""
    if one is None:
        return (other.height - 1) * (-ball(unit * other.step)).exp()
    width = ball(unit * (other.step - one.step)).expm1()
    return (other.height - one.height) / width * (-ball(unit * one.step)).exp()


def _masses(unit: Fraction, kept: Sequence[_Dot]) -> list[Ball]:
    """γ_i(s_i − s_{i−1}) for every dot."""
    with precision(ctx.prec + _GUARD):
        slopes = [_slope(unit, None, kept[0]), *(_slope(unit, one, other) for one, other in pairwise(kept))]
        changes = [after - before for before, after in pairwise([*slopes, Ball(0)])]
        return [ball(unit * dot.step).exp() * change for dot, change in zip(kept, changes, strict=True)]
