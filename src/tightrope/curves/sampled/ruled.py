"""Pairs whose moments come from the quadrature rule of their transform."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import inf

from tightrope.curves.pair import Pair
from tightrope.errors import NotCertified
from tightrope.numerics.balls import INFINITY, Ball, between
from tightrope.numerics.transforms.transform import Transform


def ruled_cumulant(transform: Callable[[], Transform | None], s: Fraction) -> Ball | None:
    """K(s), s > 0, by the rule of a transform; None without one, and beyond its reach only that K is not negative."""
    try:
        found = transform()
    except NotCertified:
        return None
    if found is None:
        return None
    try:
        return found.log_real(s)
    except NotCertified:
        return between(Ball(0), INFINITY)


class RuledPair(Pair):
    """A pair without a closed form of its moments, whose transform has floats of its own."""

    effort = 1
    units = 1.5e3

    def cumulant(self, s: Fraction) -> Ball | None:
        """By the rule of the transform."""
        return ruled_cumulant(self.transform, s)

    def approximate_cumulants(self, points: Sequence[float]) -> list[float]:
        """The same in floats."""
        transform = self.transform()
        return [inf] * len(points) if transform is None else [float(k) for k in transform.log_floats(points)]

    def mean(self) -> None:
        """No closed form is used."""
        return
