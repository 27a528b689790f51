"""Many copies of a lattice law, multiplied out in balls; what is rare is pushed outward, which only overstates.

After every product the highest values of tiny total mass count as certain loss, and the lowest ones are moved up to the
lowest that is kept. Both can only raise E[(1 − e^{x−S})₊].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tightrope.numerics.balls import Ball, BallPolynomial

__all__ = ["LatticeLaw", "windowed_power"]

_RARE = Ball(2) ** -110
_LONGEST = 16_000


@dataclass(frozen=True)
class LatticeLaw:
    """Mass ``masses[i]`` at step ``first + i``, and ``lost`` beyond all of them."""

    first: int
    masses: tuple[Ball, ...]
    lost: Ball


def windowed_power(steps: Sequence[int], masses: Sequence[Ball], infinite: Ball, copies: int) -> LatticeLaw | None:
    """A law that dominates the sum of ``copies`` ≥ 1 independent copies; None if it would be long."""
    low = min(steps)
    plain = [Ball(0)] * (max(steps) - low + 1)
    for step, mass in zip(steps, masses, strict=True):
        plain[step - low] += mass
    square, result = _trimmed(low, plain, infinite), None
    while copies:
        if copies & 1:
            result = square if result is None else _product(result, square)
        copies >>= 1
        if (result is not None and len(result.masses) > _LONGEST) or len(square.masses) > _LONGEST:
            return None
        if copies:
            square = _product(square, square)
    return result


def _product(one: LatticeLaw, other: LatticeLaw) -> LatticeLaw:
    product = (BallPolynomial(list(one.masses)) * BallPolynomial(list(other.masses))).coeffs()
    lost = one.lost + other.lost - one.lost * other.lost
    return _trimmed(one.first + other.first, [mass.nonnegative_part() for mass in product], lost)


def _trimmed(first: int, masses: Sequence[Ball], lost: Ball) -> LatticeLaw:
    start, end = 0, len(masses)
    above, below = Ball(0), Ball(0)
    while end - start > 1 and above + masses[end - 1] < _RARE:
        end -= 1
        above += masses[end]
    while end - start > 1 and below + masses[start] < _RARE:
        below += masses[start]
        start += 1
    kept = list(masses[start:end])
    kept[0] += below
    return LatticeLaw(first + start, tuple(kept), lost + above)
