"""Both ends at many points, from proofs of one or the other."""

from __future__ import annotations

from fractions import Fraction

from tightrope.numerics.bound import Bound

__all__ = ["Ends", "both", "carried"]

_CLOSE = 1 - 1e-3  # ends of a point that no other route is asked for


class Ends:
    """Both ends at many points, from proofs of one or the other."""

    def __init__(self, points: list[Fraction]) -> None:
        self._upper: dict[Fraction, float | None] = dict.fromkeys(points)
        self._lower = dict.fromkeys(points, 0.0)

    def above(self, found: list[Bound | None], points: list[Fraction]) -> None:
        """Keep lesser upper ends at these points."""
        for x, bound in zip(points, found, strict=True):
            before = self._upper[x]
            if bound is not None and (before is None or bound.upper < before):
                self._upper[x] = bound.upper

    def below(self, found: list[Bound | None], points: list[Fraction] | None = None) -> None:
        """Keep larger lower ends at these points, or at all."""
        for x, bound in zip(self._lower if points is None else points, found, strict=True):
            if bound is not None:
                self._lower[x] = max(self._lower[x], bound.lower)

    def wide(self) -> list[Fraction]:
        """Where they are not close."""
        return [x for x, high in self._upper.items() if high is None or self._lower[x] < high * _CLOSE]

    def missing(self) -> bool:
        """Whether a point has no upper end."""
        return None in self._upper.values()

    def bounds(self) -> dict[Fraction, Bound | None]:
        """None where there is no upper end."""
        ends = ((x, self._lower[x], high) for x, high in self._upper.items())
        return {x: None if high is None else Bound(min(low, high), high) for x, low, high in ends}


def carried(found: dict[Fraction, Bound | None]) -> dict[Fraction, Bound | None]:
    """What falls is nowhere more than before: so much is known even where nothing else is."""
    most, known = None, dict(found)
    for x in sorted(found):
        bound = found[x]
        if bound is not None:
            most = bound.upper
        elif most is not None:
            known[x] = Bound(0.0, most)
    return known


def both(one: Bound, other: Bound | None) -> Bound:
    """What both say."""
    if other is None:
        return one
    upper = min(one.upper, other.upper)
    return Bound(min(max(one.lower, other.lower), upper), upper)
