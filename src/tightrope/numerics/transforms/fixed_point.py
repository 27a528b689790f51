"""Long sums of products of complex numbers, as products of polynomials with whole coefficients.

Numbers are rounded to multiples of 2^−bits, and everything after that is exact. Only absolute errors count here, and
polynomials of balls, which keep relative ones, are slow.
"""

from __future__ import annotations

from collections.abc import Sequence

from flint import ctx, fmpz_poly

from tightrope.numerics.balls import Ball, ComplexBall, between
from tightrope.numerics.transforms.transform import unit

__all__ = ["FixedPoint", "around", "turned_sums"]


class FixedPoint:
    """A list of complex numbers as whole numbers over 2^bits."""

    def __init__(self, numbers: Sequence[ComplexBall]) -> None:
        self._bits, self._length = int(ctx.prec), len(numbers)
        self._real, self._imag, self._off = self._read(numbers)
        self._size = sum((abs(n).upper() for n in numbers), Ball(0)).upper()

    def _read(self, numbers: Sequence[ComplexBall]) -> tuple[fmpz_poly, fmpz_poly, Ball]:
        """Real and imaginary parts, rounded, and how far any number may be off."""
        bits, worst, parts = self._bits, Ball(0), []
        for part in ([n.real for n in numbers], [n.imag for n in numbers]):
            whole = []
            for b in part:
                mantissa, exponent = b.mid().man_exp()
                shift = int(exponent) + bits
                whole.append(mantissa << shift if shift >= 0 else mantissa >> -shift)
                worst = worst.max(b.rad())
            parts.append(fmpz_poly(whole))
        return parts[0], parts[1], (2 * (worst + Ball(2) ** -bits)).upper()

    def correlated(self, row: Sequence[ComplexBall]) -> list[ComplexBall]:
        """Σ_i numbers[i]·row[j + i] for every j at which all of them are there; |row| ≤ 1."""
        real, imag, off = self._read(row)
        first, last = self._length - 1, len(row) - 1
        real_at, imag_at = real * self._back(self._real), imag * self._back(self._imag)
        cross_at = real * self._back(self._imag) + imag * self._back(self._real)
        unit = Ball(2) ** (-2 * self._bits)
        error = around(self._size * off + self._length * self._off * (1 + off))
        whole = real_at - imag_at
        return [ComplexBall(Ball(whole[i]) * unit, Ball(cross_at[i]) * unit) + error for i in range(first, last + 1)]

    def _back(self, p: fmpz_poly) -> fmpz_poly:
        return fmpz_poly([p[self._length - 1 - i] for i in range(self._length)])


def turned_sums(weights: Sequence[ComplexBall], angle: Ball, count: int) -> list[ComplexBall]:
    """Σ_j weight_j e^{ijk·angle} for k = 0 … count, by jk = (j² + k² − (k − j)²)/2: one product of polynomials."""
    last = len(weights) - 1
    chirps = [unit(angle * (m * m) / 2) for m in range(max(last, count) + 1)]
    numbers = FixedPoint([weights[j] * chirps[j] for j in range(last, -1, -1)])
    row = [chirps[abs(m - last)].conjugate() for m in range(last + count + 1)]
    return [chirps[k] * total for k, total in enumerate(numbers.correlated(row))]


def around(size: Ball) -> ComplexBall:
    """Every complex number whose parts are at most this."""
    most = size.upper()
    one = between(-most, most)
    return ComplexBall(one, one)
