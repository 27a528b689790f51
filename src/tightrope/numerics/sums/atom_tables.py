"""Sorted atoms with running sums: hockey-stick integrals in a few operations, however many atoms."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from tightrope.numerics import effort
from tightrope.numerics.balls import Ball, BallPolynomial, between, certain

__all__ = [
    "Atom",
    "AtomTable",
    "Engine",
    "Mixture",
    "Unknown",
    "composed_lattice",
    "composed_multinomial",
    "products",
    "within_unit",
]

Atom = tuple[Ball, Ball]  # value, mass
_TERM = 1.5  # units of work


class Engine(Protocol):
    """What evaluates a finite measure: its mass at finite values only, at the present precision."""

    def call(self, x: Ball, /) -> Ball:
        """∫ (1 − e^{x−s})₊ over the measure."""

    def tail(self, x: Ball, /) -> Ball:
        """The mass above x."""


def within_unit(b: Ball) -> Ball:
    """What is left of the ball in [0, 1], where the number is known to lie; at worst all of [0, 1]."""
    if not b.is_finite():
        return between(Ball(0), Ball(1))
    return b if b > 0 and b < 1 else b.nonnegative_part().min(Ball(1))


class AtomTable:
    """Atoms in falling order with the sums, from the top, of their masses m and of m·e^{−value}."""

    def __init__(self, atoms: Iterable[Atom]) -> None:
        self.atoms = sorted(atoms, key=lambda atom: float(atom[0].mid()), reverse=True)
        self._masses, self._tilted = [Ball(0)], [Ball(0)]
        for value, mass in self.atoms:
            self._masses.append(self._masses[-1] + mass)
            self._tilted.append(self._tilted[-1] + mass * (-value).exp())
        # Sorting was approximate, but these lists are monotone by construction: bisection on them is a proof.
        self._least: list[Ball] = []
        for value, _ in self.atoms:
            low = value.lower()
            self._least.append(low if not self._least or low < self._least[-1] else self._least[-1])
        self._most: list[Ball] = []
        for value, _ in reversed(self.atoms):
            high = value.upper()
            self._most.append(high if not self._most or high > self._most[-1] else self._most[-1])
        self._most.reverse()

    def call(self, x: Ball) -> Ball:
        """∫ (1 − e^{x−s})₊ over the atoms."""
        above, below = self._split(x)
        value = self._masses[above] - x.exp() * self._tilted[above] if above else Ball(0)
        if above and not certain(value, 40):  # cancelled, or e^{−value} beyond all exponents: term by term
            effort.spend(_TERM * above, "a sum over atoms")
            value = sum((self._term(x, i) for i in range(above)), Ball(0))
        for i in range(above, below):
            value += self._term(x, i)
        return value

    def tail(self, x: Ball) -> Ball:
        """The mass above x; an atom that cannot be told from x is both in and out."""
        above, below = self._split(x)
        return between(self._masses[above], self._masses[below]) if below > above else self._masses[above]

    def _term(self, x: Ball, i: int) -> Ball:
        value, mass = self.atoms[i]
        return mass * within_unit(-(x - value).expm1())

    def _split(self, x: Ball) -> tuple[int, int]:
        """How many atoms are certainly above x, and how many are possibly above."""
        above = _first(self._least, lambda low: not low > x)
        return above, max(above, _first(self._most, lambda high: bool(high <= x)))


def _first(balls: Sequence[Ball], holds: Callable[[Ball], bool]) -> int:
    """The first index at which it holds; once it holds it holds to the end."""
    low, high = 0, len(balls)
    while low < high:
        middle = (low + high) // 2
        if holds(balls[middle]):
            high = middle
        else:
            low = middle + 1
    return low


class Unknown:
    """Nothing is known but that masses lie in [0, 1]."""

    def call(self, _x: Ball) -> Ball:
        """[0, 1]."""
        return within_unit(Ball.nan())

    def tail(self, _x: Ball) -> Ball:
        """[0, 1]."""
        return within_unit(Ball.nan())


class Mixture:
    """The sum of a listed variable and one with its own engine, asked once for each listed atom."""

    def __init__(self, outer: Sequence[Atom], inner: Engine) -> None:
        self._outer, self._inner = outer, inner

    def call(self, x: Ball) -> Ball:
        """∫ (1 − e^{x−s})₊ over the sum."""
        return sum((mass * self._inner.call(x - value) for value, mass in self._outer), Ball(0))

    def tail(self, x: Ball) -> Ball:
        """The mass above x."""
        return sum((mass * self._inner.tail(x - value) for value, mass in self._outer), Ball(0))


def composed_lattice(base: Ball, unit: Ball, groups: Sequence[tuple[Sequence[int], Sequence[Ball], int]]) -> list[Atom]:
    """The atoms of base + unit · (the sum of all groups' steps), by multiplying polynomials in balls."""
    factors = [BallPolynomial([1])]
    for steps, masses, copies in groups:
        coefficients = [Ball(0)] * (max(steps) + 1)
        for step, mass in zip(steps, masses, strict=True):
            coefficients[step] += mass
        factors.append(BallPolynomial(coefficients) ** copies)
    while len(factors) > 1:  # the shortest first: many short factors cost little more than one long product
        factors.sort(key=lambda factor: -factor.length())
        factors.append(factors.pop() * factors.pop())
    masses_by_step = enumerate(factors[0].coeffs())
    return [(base + unit * i, mass.nonnegative_part()) for i, mass in masses_by_step if not mass.is_zero()]


def composed_multinomial(values: Sequence[Ball], masses: Sequence[Ball], copies: int) -> list[Atom]:
    """The atoms of a sum of copies of one law: one for every way to share the copies among the values."""
    if copies == 1:
        return list(zip(values, masses, strict=True))
    weights = []  # weights[j][c] = masses[j]^c / c!
    for mass in masses:
        row = [Ball(1)]
        for c in range(1, copies + 1):
            row.append(row[-1] * mass / c)
        weights.append(row)
    partial = [(copies, Ball(0), Ball(copies).fac() if copies else Ball(1))]
    for j, value in enumerate(values):
        last = j == len(values) - 1
        partial = [
            (left - c, v + value * c, m * weights[j][c])
            for left, v, m in partial
            for c in ((left,) if last else range(left + 1))
        ]
    return [(v, m) for _, v, m in partial]


def products(first: Sequence[Atom], second: Sequence[Atom]) -> list[Atom]:
    """The atoms of the sum of two independent listed variables."""
    return [(v + w, m * n) for v, m in first for w, n in second]
