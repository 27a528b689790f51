"""Real numbers: rational where they are rational, otherwise computable to any precision."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from tightrope.numerics.balls import INFINITY, Ball, ball, sharp
from tightrope.numerics.exact import shortest

_LONG = 10**300  # a denominator that is not written out


@dataclass(frozen=True, eq=False)
class Real:
    """A number. ``rational`` is its exact value if it has one; ``compute`` gives a ball at the present precision."""

    rational: Fraction | None
    compute: Callable[[], Ball] | None = None

    def ball(self) -> Ball:
        """A ball around the number, at the present precision."""
        if self.rational is not None:
            return ball(self.rational)
        assert self.compute is not None
        return self.compute()

    def __add__(self, other: Real) -> Real:
        if self.rational is not None and other.rational is not None:
            return Real(self.rational + other.rational)
        return Real(None, lambda: self.ball() + other.ball())

    def __mul__(self, factor: int | Fraction) -> Real:
        if factor == 0:
            return ZERO
        if self.rational is not None:
            return Real(self.rational * factor)
        return Real(None, lambda: self.ball() * ball(Fraction(factor)))

    @property
    def infinite(self) -> bool:
        """Whether this is +∞ itself."""
        return self is UNBOUNDED

    def __str__(self) -> str:
        """The exact value, or ten digits; these too where it is a fraction of hundreds of digits."""
        if self.rational is not None and self.rational.denominator < _LONG:
            return shortest(self.rational)
        if self.infinite:
            return "inf"
        return str(sharp(self.ball).str(12, radius=False))


ZERO = Real(Fraction(0))
UNBOUNDED = Real(None, lambda: INFINITY)


def real(value: Fraction | int) -> Real:
    """An exact rational as a Real."""
    return Real(Fraction(value))


def total(terms: list[tuple[Real, int]]) -> Real:
    """The sum of terms, each taken count times. Stays rational when every term is."""
    if any(term.infinite and count for term, count in terms):
        return UNBOUNDED
    if all(term.rational is not None for term, _ in terms):
        return Real(sum((term.rational * count for term, count in terms if term.rational is not None), Fraction(0)))
    return Real(None, lambda: sum((term.ball() * count for term, count in terms), Ball(0)))


def largest(values: list[Real]) -> Real:
    """The largest of several numbers; stays rational when all are."""
    if any(value.infinite for value in values):
        return UNBOUNDED
    exact = [value.rational for value in values if value.rational is not None]
    if len(exact) == len(values):
        return Real(max(exact))

    def compute() -> Ball:
        result = values[0].ball()
        for value in values[1:]:
            result = result.max(value.ball())
        return result

    return values[0] if len(values) == 1 else Real(None, compute)
