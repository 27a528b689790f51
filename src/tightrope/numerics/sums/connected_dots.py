"""Connect the dots: from upper bounds of a profile at finitely many ε, a law whose profile lies above it everywhere.

γ ↦ H_γ is convex, so the chords between upper bounds at γ_i = e^{ε_i} overstate it, and if they are convex themselves
they are the profile of a pair: with slopes s_i the loss is ε_i with mass γ_i(s_i − s_{i−1}) under P, and ∞ with mass H
at the last point (Doroshenko et al. 2022). Points that would break convexity are left out, which only overstates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
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
    """A point of the profile: ε = unit·step, an exact number not below H there, and γ = e^ε."""

    step: int
    height: Ball
    gamma: Ball


def connected_dots(unit: Fraction, points: Sequence[tuple[int, Ball]]) -> FiniteLaw:
    """The law on unit·ℤ from balls around H at e^{unit·step}, at two points or more in rising order."""
    with precision(256 + _GUARD):
        kept = _convex([_Dot(step, _at_least(height), _gamma(unit, step)) for step, height in points])
    tables: dict[int, list[Ball]] = {}

    def masses() -> list[Ball]:
        if ctx.prec not in tables:
            tables[ctx.prec] = _masses(unit, kept)
        return tables[ctx.prec]

    last = kept[-1].height
    law = {dot.step: Real(None, lambda i=i: masses()[i]) for i, dot in enumerate(kept)}  # type: ignore[misc]  # bound now
    return on_lattice(real(unit), law, ZERO if last.is_zero() else Real(None, lambda: last))


def _at_least(height: Ball) -> Ball:
    return height.nonnegative_part().upper().min(Ball(1)).upper()


def _gamma(unit: Fraction, step: int) -> Ball:
    return (ball(unit) * step).exp()


def _convex(dots: Sequence[_Dot]) -> list[_Dot]:
    """The dots whose chords certainly bend upwards, from H = 1 at γ = 0 to the constant after the last."""
    kept: list[_Dot] = []
    for dot in dots:
        while kept and not _slope(kept[-2] if len(kept) > 1 else None, kept[-1]) < _slope(kept[-1], dot):
            kept.pop()
        kept.append(dot)
    while len(kept) > 1 and not _slope(kept[-2], kept[-1]) < 0:
        kept.pop()
    return kept


def _slope(one: _Dot | None, other: _Dot) -> Ball:
    """Of the chord between two dots; from γ = 0 if there is none before."""
    if one is None:
        return (other.height - 1) / other.gamma
    return (other.height - one.height) / (other.gamma - one.gamma)


def _masses(unit: Fraction, kept: Sequence[_Dot]) -> list[Ball]:
    """γ_i(s_i − s_{i−1}) for every dot."""
    with precision(ctx.prec + _GUARD):
        dots = [replace(dot, gamma=_gamma(unit, dot.step)) for dot in kept]
        slopes = [_slope(None, dots[0]), *(_slope(one, other) for one, other in pairwise(dots)), Ball(0)]
        return [dot.gamma * (after - before) for dot, (before, after) in zip(dots, pairwise(slopes), strict=True)]
