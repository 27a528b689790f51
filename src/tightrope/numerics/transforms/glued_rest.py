"""A few glued losses: what is left of their sum when the paths with at most one loss other than 0 are taken out.

Each part has an atom a at 0 and a smooth rest c(s) = M(s) − a. With A = Πa^k the sum's transform is Π(a + c)^k, and

    F = Π(a + c)^k − A − Σ k·(A/a)·c = A·[Π(1 + r)^k − 1 − Σ k·r],   r = c/a,

is the transform of a positive measure that decays twice as fast as c, and has no atom. Divided by its mass it is a law.
The paths taken out have closed forms. All coefficients are positive, so |F| is at most the same with |c| for c.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from flint import ctx

from tightrope.numerics.balls import Ball, ComplexBall, between, precision
from tightrope.numerics.transforms.glued import GluedNormalTransform
from tightrope.numerics.transforms.transform import Transform

if TYPE_CHECKING:
    from tightrope.numerics.transforms.transform import Complexes, Floats

__all__ = ["GluedRest"]

_GUARD = 40


class GluedRest(Transform):
    """F/F(0) for (glued transform, copies) of each part, at least two copies in all, none with a mass at ∞."""

    def __init__(self, parts: Sequence[tuple[GluedNormalTransform, int]]) -> None:
        if sum(k for _, k in parts) < 2:
            raise AssertionError("fewer than two losses leave nothing")
        self._parts = tuple(parts)
        with precision(80):
            self._atoms = [float(part.atom().mid()) for part, _ in parts]
            self._log_mass = float(self.whole_mass().log().mid())
        self._log_atoms = math.fsum(k * math.log(a) for (_, k), a in zip(parts, self._atoms, strict=True))

    def whole_mass(self) -> Ball:
        """F(0), with enough bits for small rests."""
        with precision(ctx.prec + 200):
            found = self._combined([part.mass() - part.atom() for part, _ in self._parts])
        return found + 0

    def first_weights(self) -> list[Ball]:
        """k·A/a of each part: the weight of the paths with one loss other than 0."""
        atoms = [part.atom() for part, _ in self._parts]
        whole = self.all_atoms()
        return [whole * k / a for (_, k), a in zip(self._parts, atoms, strict=True)]

    def all_atoms(self) -> Ball:
        """A."""
        total = Ball(1)
        for part, copies in self._parts:
            total *= part.atom() ** copies
        return total

    def _combined(self, smooth: Sequence[Ball]) -> Ball:
        """F from the values of c on the real axis, or from bounds of |c|."""
        whole, product, first = self.all_atoms(), Ball(1), Ball(0)
        for (part, copies), c in zip(self._parts, smooth, strict=True):
            atom = part.atom()
            product *= (atom + c) ** copies
            first += whole * copies * c / atom
        return product - whole - first

    def reverse_mass(self) -> Ball:
        """As M(0): the law is symmetric."""
        return Ball(1)

    def log_real(self, t: Fraction) -> Ball:
        """ln F(t)/F(0)."""
        return self.line(t, Fraction(0), 0)[0] if t not in (0, -1) else Ball(0)

    def line(self, t: Fraction, eta: Fraction, count: int) -> tuple[Ball, list[ComplexBall]]:
        """From the parts' lines, with as many bits more as F is smaller than they are."""
        if t < Fraction(-1, 2):
            log, phi = self.line(-1 - t, eta, count)
            return log, [value.conjugate() for value in phi]
        at = [float(t)]
        parts = math.fsum(k * float(part.log_floats(at)[0]) for part, k in self._parts)
        small = max(0.0, parts - float(self.log_floats(at)[0]) - self._log_mass)
        more = math.ceil(small / math.log(2)) + sum(k for _, k in self._parts).bit_length() + 4
        with precision(ctx.prec + more + _GUARD):
            whole = self.all_atoms()
            products = [ComplexBall(1)] * (count + 1)
            first = [ComplexBall(0)] * (count + 1)
            for part, copies in self._parts:
                sums, still, moving = part.smooth(t, eta, count)
                atom, off = part.atom(), between(-moving, moving)
                moved = [s + ComplexBall(off, off) for s in sums]
                moved[0] = ComplexBall(sums[0].real + between(-still, still))
                products = [a * (c + atom) ** copies for a, c in zip(products, moved, strict=True)]
                weight = whole * copies / atom
                first = [a + c * weight for a, c in zip(first, moved, strict=True)]
            rest = [a - b - whole for a, b in zip(products, first, strict=True)]
            value = rest[0].real
            phi = [ComplexBall(1)] + [one / value for one in rest[1:]]
            return (value / self.whole_mass()).log(), phi

    def log_floats(self, t: Floats | Sequence[float]) -> Floats:
        """ln F(t)/F(0) in floats."""
        import numpy as np

        ratios = [part.smooth_floats(t) / a for (part, _), a in zip(self._parts, self._atoms, strict=True)]
        counts = [k for _, k in self._parts]
        total = sum(k * np.log1p(r) for k, r in zip(counts, ratios, strict=True))
        bends = sum(k * _bend(r) for k, r in zip(counts, ratios, strict=True))
        small = np.minimum(total, 30.0)
        rest = np.where(total < 0.01, small**2 / 2 * (1 + small / 3 * (1 + small / 4)), np.expm1(small) - small)
        result: Floats = np.where(total > 25, total, np.log(rest + np.minimum(bends, 0.0))) + self._log_atoms
        return result - self._log_mass

    def float_line(self, t: float, eta: float, count: int) -> tuple[float, Complexes]:
        """The same in floats."""
        import numpy as np

        product, first = np.ones(count + 1, dtype=np.complex128), np.zeros(count + 1, dtype=np.complex128)
        for (part, copies), atom in zip(self._parts, self._atoms, strict=True):
            scale = float(part.smooth_floats([t])[0]) / atom
            ratio = part.smooth_phases(t, eta, count) * scale
            product *= (1 + ratio) ** copies
            first += copies * ratio
        rest = product - 1 - first
        result: Complexes = np.log(rest / rest[0].real)
        return float(self.log_floats([t])[0]), result

    def decay(self, t: Fraction, y: Fraction) -> Ball:
        """The same combination of bounds of the parts' |c|."""
        if t < 0:
            return Ball(1)
        with precision(ctx.prec + _GUARD):
            bounds = [part.smooth_decay(t, y, part.log_real(t)) for part, _ in self._parts]
            with precision(ctx.prec + 200):
                found = self._combined(bounds) / self.whole_mass()
            return (found * (-self.log_real(t)).exp()).upper().min(Ball(1))

    def log_decay_floats(self, t: float, y: Floats) -> Floats:
        """The same in floats."""
        import numpy as np

        product, first = np.ones(len(y)), np.zeros(len(y))
        for (part, copies), atom in zip(self._parts, self._atoms, strict=True):
            ratio = part.smooth_decay_floats(t, y) / atom
            product = product * (1 + ratio) ** copies
            first = first + copies * ratio
        rest = np.maximum(product - 1 - first, 1e-15)
        size = self._log_atoms - self._log_mass - float(self.log_floats([t])[0])
        result: Floats = np.minimum(np.log(rest) + size, 0.0)
        return result

    def largest(self) -> Ball | None:
        """Unbounded."""
        return None

    def cost(self, t: float, eta: float, count: int, bits: int) -> float:
        """That of the parts."""
        return sum(part.cost(t, eta, count, bits + 20) for part, _ in self._parts)


def _bend(r: Floats) -> Floats:
    """ln(1 + r) − r."""
    import numpy as np

    few = np.minimum(r, 0.01)
    result: Floats = np.where(r < 0.01, few**2 * (-0.5 + few * (1 / 3 - few / 4)), np.log1p(r) - r)
    return result
