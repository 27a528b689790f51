"""What splitting losses onto the points of a lattice can add to a hockey-stick, all steps at once.

Let H be a sum of losses, and H + X the same with k of its losses split onto the ends of their cells, of length h. Given
the path, X is a sum of k independent X_i, each with a range of length h and E[e^{−X_i}] = 1, so that by Jensen and
Hoeffding's lemma 0 ≤ E[X] ≤ m = kh²/8, and X has the variance at most s² = kh²/4. With z = ε − H splitting adds

- for z ≥ 0: E[(1 − e^{z−X})₊] ≤ E[(X − z)₊];
- for z < 0: E[(e^{z−X} − 1)₊] = e^z·Ẽ[(1 − e^{X−z})₊] ≤ Ẽ[(z − X)₊], where dP̃ = e^{−X}dP. Under P̃ the X_i are
  independent too, of the same ranges, and Ẽ[e^{X_i}] = 1: the first case in mirror image.

For Y = X − E[X] and r ≥ 0, E[(Y − r)₊] ≤ (√(s² + r²) − r)/2 by Cauchy-Schwarz, and ≤ e^{−1}(s²/r)e^{−r²/2s²}, since
y₊ ≤ e^{λy−1}/λ and Hoeffding's lemma; let B(r) be the lesser, B(0) = s/2 + m. Both fall in r. So splitting adds at most
B((|z| − m)₊), which is taken in layers: with 0 = r_0 < r_1 < … < r_J

added ≤ Σ_j (B(r_j) − B(r_{j+1}))·P[|z| ≤ r_{j+1} + m] + B(r_J).

Given H, |X| ≤ m + d but for a chance of 2e^{−d²/2s²}. So P[|ε − H| ≤ r] is at most P[|ε − H − X| ≤ r + m + d] divided
by 1 − 2e^{−d²/2s²}: a chance of the split law, which is known. It is of second order in h, about kh² times a density.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from tightrope.numerics.balls import Ball, ball, precision, upper_float

# r_j in units of s; beyond the last B is below e^−700.
_RADII = tuple(Fraction(x, 2) for x in (1, 2, 3, 4, 6, 9, 14, 24, 80))
_FURTHER = Fraction(12, 5)  # d in units of s: about where the layers cost least


@dataclass(frozen=True)
class Layers:
    """Of what splitting adds: at most Σ height·P[H + X is within ``reach`` of ε] + rest."""

    heights: tuple[Ball, ...]
    reaches: tuple[Fraction, ...]
    rest: Ball


def layers(copies: int, step: Fraction) -> Layers:
    """For so many split losses on a lattice of this step."""
    mean, s = copies * step * step / 8, _root_above(copies * step * step / 4)
    with precision(80):
        radii = [r * s for r in _RADII]
        bells = [ball(s / 2 + mean), *(_bell(ball(r), ball(s)) for r in radii)]
        kept = 1 - 2 * (-ball(_FURTHER * _FURTHER / 2)).exp()
        heights = tuple((higher - lower) / kept for higher, lower in pairwise(bells))
        return Layers(heights, tuple(r + 2 * mean + _FURTHER * s for r in radii), bells[-1])


def _bell(r: Ball, s: Ball) -> Ball:
    """B(r), an upper bound."""
    ratio = r / s
    flat = ((1 + ratio * ratio).sqrt() - ratio) / 2
    steep = (-1 - ratio * ratio / 2).exp() / ratio
    return (s * flat.min(steep)).upper()


def _root_above(square: Fraction) -> Fraction:
    """A dyadic number just above the root."""
    with precision(80):
        return Fraction(upper_float(ball(square).sqrt()))
