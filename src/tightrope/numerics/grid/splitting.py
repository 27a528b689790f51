"""What splitting losses onto the points of lattices can add to a hockey-stick, all splits at once.

Let H be a sum of losses, and H + X the same with losses, or sums of them, split onto the ends of cells, of lengths ρ_i.
X is a sum of X_i, each of which has, given the path and what was split before, a range of length ρ_i and E[e^{−X_i}] =
1, so that by Jensen and Hoeffding's lemma 0 ≤ E[X_i] ≤ ρ_i²/8. So X is a martingale Y and something between 0 and
m = Σρ²/8, Y has the variance at most s² = Σρ²/4, E[e^{λY}] ≤ e^{λ²s²/2}, and E[e^X] ≤ e^{s²}. Let z = ε − H.

*Near ε.* As (1 − e^y)₊ = (1 − e^y)/2 + |1 − e^y|/2 and E[e^{−X}] = 1, splitting adds (E|1 − e^{z−X}| − |1 − e^z|)/2.
With any c, L = 1 + (1 + c)(e^{s²} − 1)/2 and the kernel G(y) = (|1 − e^y|/2 − (cosh y − L)/c)₊ that is at most

E[G(z − X)] + (E[cosh(z − X)] − L)/c − |1 − e^z|/2 ≤ E[G(z − X)]  if |z| ≤ ln(1 + c):

there E[cosh(z − X)] ≤ cosh z + e^{−z}(e^{s²} − 1)/2 ≤ cosh z − 1 + L, and (cosh z − 1)/c ≤ |1 − e^z|/2, which is
2 sinh(|z|/2) ≤ c·e^{±|z|/2}. And E[G(z − X)] over all paths is a mean under the split law, which is known.

*Further away* splitting adds

- for z ≥ 0: E[(1 − e^{z−X})₊] ≤ E[(X − z)₊];
- for z < 0: E[(e^{z−X} − 1)₊] = e^z·Ẽ[(1 − e^{X−z})₊] ≤ Ẽ[(z − X)₊], where dP̃ = e^{−X}dP. Under P̃ the X_i have the
  same ranges, and Ẽ[e^{X_i}] = 1: the first case in mirror image.

For r ≥ 0, E[(Y − r)₊] ≤ (√(s² + r²) − r)/2 by Cauchy-Schwarz, and ≤ e^{−1}(s²/r)e^{−r²/2s²}, since y₊ ≤ e^{λy−1}/λ; let
B(r) be the lesser, B(0) = s/2 + m. Both fall in r. So splitting adds at most B((|z| − m)₊), which is taken in layers:
with r_0 = ln(1 + c) − m < r_1 < …

added ≤ E[G(z − X)] + Σ_j (B(r_j) − B(r_{j+1}))·P[|z| ≤ r_{j+1} + m] + B(r_J).

Given H, |X| ≤ m + d but for a chance of 2e^{−d²/2s²}. So P[|ε − H| ≤ r] is at most P[|ε − H − X| ≤ r + m + d] divided
by 1 − 2e^{−d²/2s²}: a chance of the split law again. All is of second order, about Σρ²/2 times a density. Where cells
are too long for c < 1/4, everything is taken in layers, r_0 = 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np

from tightrope.numerics.balls import Ball, ball, lower_float, precision, upper_float
from tightrope.numerics.grid.cells import Floats
from tightrope.numerics.grid.growths import growths

# r_j in units of s; beyond the last B is below e^−700.
_RADII = tuple(Fraction(x, 2) for x in (1, 2, 3, 4, 5, 6, 9, 14, 24, 80))
_FURTHER = Fraction(12, 5)  # d in units of s: about where the layers cost least
_WIDTH = Fraction(9, 4)  # c in units of s: likewise
_WIDEST = Fraction(1, 4)
_ROUNDED = 1e-12


@dataclass(frozen=True)
class Kernel:
    """At least G, and where it is not 0: |y| ≤ ``reach``."""

    width: float  # c
    lifted: float  # (L − 1)/c, or more
    reach: Fraction
    top: float  # no value is above it

    def heights(self, y: Floats, moved: float) -> Floats:
        """At least G at these numbers, moved by so much at most. The terms of G′, e^y/2 and |sinh y|/c in size, have
        opposite signs, so it is at most 2 where c < 1/4.

        If a step is moved before sums are split, E[G] changes by at most twice as much: shares of a split change by at
        most (1 + ρ)/ρ per unit, and the product of 1 + ρ over all rungs is below 2, as ρ ≤ 2s.
        """
        rise = growths(np.clip(y, -1.0, 1.0))  # the kernel ends before
        found = np.abs(rise) / 2 - rise * rise / (2 * self.width * (1 + rise)) + self.lifted
        return np.asarray(np.maximum(found, 0.0) + (4 * moved + _ROUNDED * self.top))


@dataclass(frozen=True)
class Layers:
    """Of what splitting adds: at most E[kernel] + Σ height·P[H + X is within ``reach`` of ε] + rest."""

    kernel: Kernel | None
    heights: tuple[Ball, ...]
    reaches: tuple[Fraction, ...]
    rest: Ball


def layers(squares: Fraction) -> Layers:
    """For split losses whose ranges have squares of this sum."""
    mean, s = squares / 8, _root_above(squares / 4)
    with precision(80):
        kernel, first = None, Fraction(0)
        bells = [ball(s / 2 + mean)]
        if _WIDTH * s < _WIDEST:
            kernel = _kernel(Fraction(float(_WIDTH * s)), s)
            first = _below((1 + ball(Fraction(kernel.width))).log() - ball(mean))
            bells = [_bell(ball(first), ball(s))]
        radii = [r * s for r in _RADII if r * s > first]
        bells += [_bell(ball(r), ball(s)) for r in radii]
        kept = 1 - 2 * (-ball(_FURTHER * _FURTHER / 2)).exp()
        heights = tuple((higher - lower) / kept for higher, lower in pairwise(bells))
        return Layers(kernel, heights, tuple(r + 2 * mean + _FURTHER * s for r in radii), bells[-1])


def _kernel(width: Fraction, s: Fraction) -> Kernel:
    """With w = |e^y − 1|, 2cG is at most c·w − w²/(1 + w) + 2(L − 1), so 0 if (1 − c)w² ≥ (c + 2(L − 1))w + 2(L − 1);
    for smaller w at most c²(1 + w)/4 + 2(L − 1)."""
    c = ball(width)
    more = (1 + c) * ball(s * s).expm1()  # 2(L − 1)
    slope = c + more
    end = (slope + (slope * slope + 4 * (1 - c) * more).sqrt()) / (2 * (1 - c))
    reach = -(-end).log1p()  # y < 0 goes further than y > 0
    lifted = more / (2 * c)
    top = upper_float(c * (1 + end) / 8 + lifted)
    return Kernel(float(width), upper_float(lifted), Fraction(upper_float(reach)), top)


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


def _below(x: Ball) -> Fraction:
    return Fraction(lower_float(x))
