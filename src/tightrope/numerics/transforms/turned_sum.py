"""Σ_k term_k·e^{ik·angle} at many angles: the sum of a contour at many ε."""

from __future__ import annotations

import math
from collections.abc import Sequence

from flint import acb_mat

from tightrope.numerics.balls import Ball, ComplexBall
from tightrope.numerics.transforms.transform import turned_powers

__all__ = ["TurnedSum"]


class TurnedSum:
    """The terms as a matrix, k = giant·size + baby: one angle is then a product with two short rows of turns."""

    def __init__(self, terms: Sequence[ComplexBall]) -> None:
        self._size = max(1, math.isqrt(len(terms)))
        self._giants = -(-len(terms) // self._size)
        padded = [*terms, *[ComplexBall(0)] * (self._giants * self._size - len(terms))]
        self._matrix = acb_mat(self._giants, self._size, padded)

    def at(self, angle: Ball) -> ComplexBall:
        """The sum at one angle."""
        babies = acb_mat(self._size, 1, turned_powers(angle, self._size, None))
        giants = acb_mat(1, self._giants, turned_powers(angle * self._size, self._giants, None))
        return (giants * (self._matrix * babies))[0, 0]
