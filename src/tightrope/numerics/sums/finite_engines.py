"""Which method evaluates a sum of finite laws: a table, a lattice integral, or a certified grid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb, gcd, prod

from tightrope.numerics.balls import Ball, between
from tightrope.numerics.real import Real
from tightrope.numerics.sums.atom_tables import (
    Atom,
    AtomTable,
    Engine,
    Mixture,
    Unknown,
    composed_lattice,
    composed_multinomial,
    products,
)
from tightrope.numerics.sums.gridded import grid_plan, gridded, nearest_float
from tightrope.numerics.sums.lattice import LatticeGroup, LatticeSum

__all__ = ["Group", "SumPlan", "common_unit"]

_TABLE = 60_000  # lattice steps whose factors are multiplied out (0.4 s); longer ones are integrated
_TABLE_ONE = 1500  # the same for copies of one law, which are integrated faster than multiplied
_MOST_INTEGRATED = 6  # different laws on one lattice; an integral over more would take a second for each point
_JOINT = 30_000  # atoms of all parts together that are listed at once
_LISTED = 120_000  # atoms of one part
_OUTER = {True: 20_000, False: 64}  # atoms beside a table, beside an integral
_BEYOND_ALL = 10**18  # atoms: more are not told apart
_MOST_STEPS = 10**300  # that floats hold
_LISTING = 0.002  # milliseconds for an atom
_FULL_GRID = 2**15
_GRID_BITS = 40  # a grid's gap is far wider than this: more would be wasted
_ATOM, _POINT, _LOOK_UP, _GRIDDED = 3.0, 8.0, 9.0, 3e5  # units of work: an atom listed, a lattice step, a value, a grid


def common_unit(numbers: Sequence[Fraction]) -> Fraction:
    """The largest rational of which all the numbers (not all zero) are whole multiples."""
    bottom = 1
    for number in numbers:
        bottom = bottom * number.denominator // gcd(bottom, number.denominator)
    return Fraction(gcd(*(int(number * bottom) for number in numbers)), bottom)


@dataclass(frozen=True, eq=False)
class Group:
    """Independent copies of a law with two values or more; ``unit`` > 0 and ``steps`` if on a lattice."""

    values: tuple[Real, ...]
    masses: tuple[Real, ...]
    copies: int
    unit: Real | None = None
    steps: tuple[int, ...] = ()
    family: int = 0  # groups of one family have rational ratios of units: 0 for rational units

    @property
    def size(self) -> int:
        """How many ways there are to share the copies among the values."""
        return comb(self.copies + len(self.values) - 1, len(self.values) - 1)

    def atoms(self) -> list[Atom]:
        """The composed atoms."""
        values, masses = [v.ball() for v in self.values], [m.ball() for m in self.masses]
        return composed_multinomial(values, masses, self.copies)


@dataclass(frozen=True, eq=False)
class Lattice:
    """Groups on one lattice: each group's values are its least value plus unit · (whole numbers from 0)."""

    unit: Real
    # each: least value, steps, masses, copies
    groups: tuple[tuple[Real, tuple[int, ...], tuple[Real, ...], int], ...]

    @property
    def size(self) -> int:
        """How many lattice points the sum spans."""
        return 1 + sum(max(steps) * copies for _, steps, _, copies in self.groups)

    def base(self) -> Ball:
        """The least value of the sum."""
        return sum((least.ball() * copies for least, _, _, copies in self.groups), Ball(0))

    def atoms(self) -> list[Atom]:
        """The composed atoms."""
        groups = [(steps, [m.ball() for m in masses], copies) for _, steps, masses, copies in self.groups]
        return composed_lattice(self.base(), self.unit.ball(), groups)

    def engine(self, bits: int) -> Engine:
        """For sums too long to list."""
        groups = [LatticeGroup(s, tuple(m.ball() for m in masses), k) for _, s, masses, k in self.groups]
        return LatticeSum(self.base(), self.unit.ball(), groups, bits)


class GridEngine:
    """Both sides of a certified grid; the ball covers everything between them."""

    def __init__(self, laws: Sequence[tuple[Sequence[Real], Sequence[Real], int]]) -> None:
        floats = [([nearest_float(v) for v in vs], [nearest_float(m) for m in ms], k) for vs, ms, k in laws]
        copies = sum(k for _, _, k in floats)
        reach = max(max(vs) - min(vs) for vs, _, _ in floats)
        whole = sum(k * (max(vs) - min(vs)) for vs, _, k in floats)
        values = sum(len(vs) for vs, _, _ in floats)
        listed = copies <= 400
        most = int(_FULL_GRID * reach / whole) if listed else min(2000, 100 + 8000 // values)
        grid = gridded(laws, grid_plan(floats, reach, max(most, 2)))
        self._slip = grid.slip
        self._lower, self._upper = (
            AtomTable(composed_lattice(grid.base, grid.step, [(g.steps, g.masses, g.copies) for g in side]))
            if listed
            else LatticeSum(grid.base, grid.step, side, _GRID_BITS)
            for side in (grid.lower, grid.upper)
        )

    def call(self, x: Ball) -> Ball:
        """∫ (1 − e^{x−s})₊ over the finite part, from the smaller law's to the larger law's."""
        return between(self._lower.call(x + self._slip), self._upper.call(x))

    def tail(self, x: Ball) -> Ball:
        """The mass above x. From above: (1 − e^{y−s})₊ is at least 1 − e^{y−x} there, for any y < x."""
        highest = self._upper.call(x - Ball(0.125)) / (-(Ball(-0.125).expm1()))
        for gap in (1.0, 0.015625):
            highest = highest.min(self._upper.call(x - Ball(gap)) / -(Ball(-gap).expm1()))
        return between(self._lower.tail(x + self._slip), highest)


class SumPlan:
    """The parts of a sum, gathered by lattice, and the method that suits them."""

    def __init__(self, shift: Sequence[tuple[Real, Real, int]], groups: Sequence[Group], void: bool) -> None:
        self._shift, self._groups, self.void = shift, groups, void  # void: all the mass is at +∞
        self._clusters = sorted(_gathered(groups), key=lambda c: c.size)
        self.size = 1
        for cluster in self._clusters:
            self.size = min(self.size * cluster.size, _BEYOND_ALL)
        inner = self._clusters[-1] if self._clusters else None
        self._listed = inner is None or inner.size <= _most_listed(inner)
        self._alone = inner is None or (self._listed and self.size <= _JOINT)
        beside = self.size // inner.size if inner else 1
        self.patience = 0.0 if self._alone else beside * (0.02 if self._listed else _integral_time(inner))
        if self._listed and inner is not None:  # to multiply it out, or to list it, once
            self.patience += (0.01 if isinstance(inner, Lattice) else _LISTING) * inner.size
        self.needs_grid = not self._alone and not (
            beside <= _OUTER[self._listed] and (self._listed or _integrable(inner))
        )

    @property
    def building(self) -> float:
        """Units of work for the method."""
        if self.needs_grid:
            return _GRIDDED
        inner = self._clusters[-1] if self._clusters else None
        if inner is None:
            return _ATOM
        listed = _POINT if isinstance(inner, Lattice) else _ATOM
        return _ATOM * (self.size if self._alone else self.size // inner.size) + listed * inner.size * self._listed

    @property
    def asking(self) -> float:
        """Units of work for one value."""
        if not self._listed:
            return 1000 * self.patience
        return _LOOK_UP * (1 if self._alone else self.size // self._clusters[-1].size)

    def atoms(self) -> list[Atom]:
        """All composed atoms, with every part's sure value and mass."""
        return [] if self.void else self._product(self._clusters)

    def engine(self, bits: int) -> Engine:
        """The method, at the present precision, for answers of ``bits`` bits."""
        if self.void:
            return AtomTable([])
        if self._alone:
            return AtomTable(self.atoms())
        if self.needs_grid:
            laws = [(g.values, g.masses, g.copies) for g in self._groups]
            try:
                return Mixture(self._product([]), GridEngine(laws))
            except (ArithmeticError, ValueError):  # values or masses beyond floats: no grid can be chosen
                return Unknown()
        inner, outer = self._clusters[-1], self._product(self._clusters[:-1])
        if self._listed:
            return Mixture(outer, AtomTable(inner.atoms()))
        assert isinstance(inner, Lattice)
        return Mixture(outer, inner.engine(bits))

    def _product(self, clusters: Sequence[Group | Lattice]) -> list[Atom]:
        value = sum((v.ball() * copies for v, _, copies in self._shift), Ball(0))
        mass = Ball(1)
        for _, m, copies in self._shift:
            mass *= m.ball() ** copies
        atoms = [(value, mass)]
        for cluster in clusters:
            atoms = products(atoms, cluster.atoms())
        return atoms


def _most_listed(cluster: Group | Lattice) -> int:
    if isinstance(cluster, Group):
        return _LISTED
    return _TABLE if len(cluster.groups) > 1 else _TABLE_ONE


def _integral_time(cluster: Group | Lattice | None) -> float:
    """About how many milliseconds an integral takes: long where several laws meet on a fine lattice."""
    if not isinstance(cluster, Lattice) or len(cluster.groups) == 1:
        return 4.0
    return max(4.0, min(max(max(steps) for _, steps, _, _ in cluster.groups), _MOST_STEPS) / 2)


def _integrable(cluster: Group | Lattice | None) -> bool:
    return isinstance(cluster, Lattice) and len(cluster.groups) <= _MOST_INTEGRATED


def _gathered(groups: Sequence[Group]) -> list[Group | Lattice]:
    """Groups of one family as one lattice; a lone group that is on none as itself."""
    families: dict[int, list[Group]] = {}
    loose: list[Group | Lattice] = []
    for group in groups:
        if group.unit is None:
            loose.append(group)
        else:
            families.setdefault(group.family, []).append(group)
    for family in families.values():
        lattice = _lattice(family)
        ways = prod(group.size for group in family)
        loose += family if ways <= min(_JOINT, lattice.size - 1) else [lattice]  # few on a fine lattice are listed
    return loose


def _lattice(family: Sequence[Group]) -> Lattice:
    """The family on the coarsest lattice that holds all its differences."""
    first = family[0].unit
    assert first is not None
    parts = []
    for group in family:
        least = min(range(len(group.steps)), key=group.steps.__getitem__)
        ratio = group.unit.rational if group.unit is not None else None
        scale = Fraction(1) if ratio is None else ratio
        parts.append((group, least, [scale * (s - group.steps[least]) for s in group.steps]))
    unit = common_unit([d for _, _, differences in parts for d in differences])
    rows = tuple(
        (group.values[least], tuple(int(d / unit) for d in differences), group.masses, group.copies)
        for group, least, differences in parts
    )
    return Lattice(Real(unit) if first.rational is not None else first * unit, rows)
