"""Transforms that are sums over the values of a discrete noise: a window of them, and a bound of what lies beyond."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

from flint import ctx

from tightrope.numerics.balls import Ball, ComplexBall, ball, between, precision
from tightrope.numerics.transforms.screened_sums import Terms, screened_sums
from tightrope.numerics.transforms.transform import Transform, log_phases, power_sums, unit

if TYPE_CHECKING:
    from tightrope.numerics.transforms.float_lines import FloatNodes
    from tightrope.numerics.transforms.transform import Complexes, Floats

__all__ = ["NoiseSumTransform"]

_DENSE, _DEAR, _TURNED = 4, 15.0, 5.0  # one node by itself costs so much more than one of many, and so a neighbour's
_FRESH = 16  # products of unit numbers lose half a bit each
_FLOAT_BITS = 104  # angles times a million are still far sharper than a double


class NoiseSumTransform(Transform):
    """M(t + iy) = Σ weight_j(t)·e^{iy·loss_j} over the atoms of a window; the masses are 1."""

    @abstractmethod
    def terms(self, t: Fraction) -> tuple[list[Ball], list[Ball], Ball]:
        """Weights and losses at the present precision, and a bound of the weights left out, all in one unit."""

    @abstractmethod
    def float_shares(self, t: float) -> tuple[Floats, Floats]:
        """Weights of sum 1 and losses, in floats."""

    def reverse_mass(self) -> Ball:
        """1."""
        return Ball(1)

    def line(self, t: Fraction, eta: Fraction, count: int) -> tuple[Ball, list[ComplexBall]]:
        """Power sums of the tilted masses."""
        with precision(ctx.prec + 40):
            weights, angles, off = self._shares(t, eta)
            phi = power_sums(weights, angles, count)
            phi = [ComplexBall(1)] + [value + ComplexBall(off, off) for value in phi[1:]]
            return self.log_real(t), phi

    def _shares(self, t: Fraction, eta: Fraction) -> tuple[list[Ball], list[Ball], Ball]:
        weights, losses, beyond = self.terms(t)
        total, turn = sum(weights, Ball(0)), ball(eta)
        off = (2 * beyond / total).upper()  # of the numerator, and of what it is divided by
        return [w / total for w in weights], [loss * turn for loss in losses], between(-off, off)

    def at(self, t: Fraction, eta: Fraction, indices: Sequence[int]) -> list[ComplexBall]:
        """The sum at each; all at once where they are dense, and neighbours by turns of the terms."""
        if _dense(indices):
            return super().at(t, eta, indices)
        with precision(ctx.prec + 40):
            weights, angles, off = self._shares(t, eta)
            turns, wide, phi = [unit(a) for a in angles], ComplexBall(off, off), []
            terms: list[ComplexBall] = []
            for i, k in enumerate(indices):
                if i % _FRESH and k == indices[i - 1] + 1:
                    terms = [term * turn for term, turn in zip(terms, turns, strict=True)]
                else:
                    terms = [w * unit(a * k) for w, a in zip(weights, angles, strict=True)]
                phi.append(sum(terms, wide) if k else ComplexBall(1))
            return phi

    def at_cost(self, t: Fraction, eta: Fraction, indices: Sequence[int]) -> float:
        """About how many microseconds that takes."""
        work = super().at_cost(t, eta, indices)
        if _dense(indices):
            return work
        beside = sum(k == before + 1 for before, k in pairwise(indices)) / len(indices)
        return (_DEAR - (_DEAR - _TURNED) * beside) * work * len(indices) / (1 + max(indices))

    def float_nodes(self, t: Fraction, eta: Fraction, count: int, floor: Ball) -> FloatNodes | None:
        """As products of two matrices."""
        return screened_sums(self.terms_of(t), eta, count, floor)

    def terms_of(self, t: Fraction) -> Terms:
        """The tilted masses, and what lies beyond them."""
        with precision(_FLOAT_BITS):
            shares, losses, off = self._shares(t, Fraction(1))
            return Terms(shares, losses, (2 * abs(off)).upper())

    def float_line(self, t: float, eta: float, count: int) -> tuple[float, Complexes]:
        """The same in floats."""
        shares, losses = self.float_shares(t)
        return float(self.log_floats([t])[0]), log_phases(shares, losses, eta, count)


def _dense(indices: Sequence[int]) -> bool:
    return max(indices, default=0) < _DENSE * len(indices)
