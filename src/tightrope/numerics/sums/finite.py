"""Sums of independent variables with finitely many values: E[(1 − e^{x−S})₊] and P[S > x] in balls."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from flint import ctx

from tightrope.numerics import effort
from tightrope.numerics.balls import Ball, between, certain, precision, sharp
from tightrope.numerics.real import ZERO, Real
from tightrope.numerics.sums.atom_tables import Engine, within_unit
from tightrope.numerics.sums.finite_engines import Group, SumPlan, common_unit

__all__ = ["FiniteLaw", "FiniteSum", "on_lattice", "scattered"]

_KEPT = 3  # composed laws kept, one for each precision in use
_TRIES = 2
_NARROW, _ENOUGH = 2.0**-64, 73  # bits: no answer is asked for more


@dataclass(frozen=True, eq=False)
class FiniteLaw:
    """Finitely many real values with masses; ``infinite`` is the mass at +∞; masses + infinite = 1.

    If ``unit`` is given, values[i] = unit · steps[i] exactly. Laws with one ``unit`` object share a lattice.
    """

    values: tuple[Real, ...]
    masses: tuple[Real, ...]
    infinite: Real = ZERO
    unit: Real | None = None
    steps: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        number = len(self.values)
        if len(self.masses) != number or (self.unit is not None and len(self.steps) != number):
            raise AssertionError("values, masses and steps must be of one length")


def on_lattice(unit: Real, masses: Mapping[int, Real], infinite: Real = ZERO) -> FiniteLaw:
    """The law with mass masses[i] at unit · i."""
    steps = tuple(sorted(masses))
    return FiniteLaw(tuple(unit * i for i in steps), tuple(masses[i] for i in steps), infinite, unit, steps)


def scattered(values: Sequence[Real], masses: Sequence[Real], infinite: Real = ZERO) -> FiniteLaw:
    """The law with these values and masses. If every value is rational they get their common unit."""
    rationals = [v.rational for v in values if v.rational is not None]
    if len(rationals) < len(values) or not any(rationals):
        return FiniteLaw(tuple(values), tuple(masses), infinite)
    unit = common_unit(rationals)
    steps = tuple(int(v / unit) for v in rationals)
    return FiniteLaw(tuple(values), tuple(masses), infinite, Real(unit), steps)


class FiniteSum:
    """The sum S of independent draws: (law, number of independent copies) for each part."""

    def __init__(self, parts: Sequence[tuple[FiniteLaw, int]]) -> None:
        counts: dict[int, tuple[FiniteLaw, int]] = {}
        for law, copies in parts:
            if copies < 0:
                raise AssertionError("the number of copies must not be negative")
            if copies:
                counts[id(law)] = (law, copies + counts.get(id(law), (law, 0))[1])
        self._parts = list(counts.values())
        self._plan = _plan(self._parts)
        self._guard = 40 + 2 * sum(k for _, k in self._parts).bit_length()
        self._engines: dict[int, Engine] = {}

    @property
    def exact(self) -> bool:
        """False when a grid had to be used: its gap does not close with more precision."""
        return not self._plan.needs_grid

    @property
    def patience(self) -> float:
        """About how many milliseconds one value takes."""
        return self._plan.patience

    def infinite(self) -> Ball:
        """P[S = +∞] = 1 − Π (1 − mᵢ)^{kᵢ}, without cancellation."""
        total = Ball(0)
        for law, copies in self._parts:
            if law.infinite.rational == 0:
                continue
            mass = law.infinite.ball()
            if not mass < 1:
                return between(mass, Ball(1)) if law.infinite.rational != 1 else Ball(1)
            total += (-mass).log1p() * copies
        return -total.expm1()

    def call(self, x: Ball) -> Ball:
        """E[(1 − e^{x−S})₊], where S = +∞ counts 1; never rises in x."""
        known = self._nearly_sure(lambda value: (-(x - value).min(Ball(0)).expm1()).max(Ball(0)))
        return known if known is not None else self._answer(x, lambda engine, at: engine.call(at))

    def tail(self, x: Ball) -> Ball:
        """P[S > x]. At an atom that cannot be told from x, the ball holds both sides of the jump."""
        return self._answer(x, lambda engine, at: engine.tail(at))

    def _nearly_sure(self, of: Callable[[Ball], Ball]) -> Ball | None:
        """E[of(S)], of(∞) = 1 and 0 ≤ of ≤ 1, where every draw is all but certain; None where that does not tell it to
        about the present precision."""
        if not self._narrow:
            return None
        with precision(ctx.prec + self._guard):
            value, log, others = Ball(0), Ball(0), Ball(0)
            for (law, copies), i in zip(self._parts, self._heaviest, strict=True):
                value += law.values[i].ball() * copies
                log += law.masses[i].ball().log() * copies
                others += sum((mass.ball() for j, mass in enumerate(law.masses) if j != i), Ball(0)) * copies
            found = within_unit(self.infinite() + log.exp() * of(value) + between(Ball(0), others.upper()))
        return found if certain(found, max(min(ctx.prec - 16, _ENOUGH), 8)) else None

    @cached_property
    def _heaviest(self) -> list[int]:
        """The number of each law's heaviest atom."""
        with precision(64):
            sizes = [[float(mass.ball().mid()) for mass in law.masses] for law, _ in self._parts]
        return [max(range(len(row)), key=row.__getitem__, default=0) for row in sizes]

    @cached_property
    def _narrow(self) -> bool:
        """Whether it is next to impossible that a draw is not its law's heaviest atom, or infinite."""
        if not all(law.masses for law, _ in self._parts):
            return False
        with precision(64):
            rows = [(sum((mass.ball() for j, mass in enumerate(law.masses) if j != i), Ball(0)), copies)
                    for (law, copies), i in zip(self._parts, self._heaviest, strict=True)]  # fmt: skip
            return bool(sum((mass * copies for mass, copies in rows), Ball(0)) < _NARROW)

    def atoms(self, limit: int) -> list[tuple[Ball, Ball]] | None:
        """The finite atoms (value, mass), equal lattice values merged; None if more than ``limit``."""
        return self._plan.atoms() if self._plan.size <= limit else None

    def _answer(self, x: Ball, ask: Callable[[Engine, Ball], Ball]) -> Ball:
        """Enough working bits for an answer as sharp as the present precision, while more help."""
        asked = ctx.prec if self.exact else min(ctx.prec, 64)  # beyond a grid's gap more bits are wasted
        wanted, working = max(asked - 16, 8), asked + self._guard
        value = self._evaluated(x, ask, wanted, working)
        for _ in range(_TRIES if self.exact else 0):
            if certain(value, wanted):
                return value
            finer = self._evaluated(x, ask, wanted, working := 2 * working)
            if finer.rad() > value.rad() / 4:
                break
            value = finer
        if not x.is_exact() and not certain(value, 8):  # x itself is wide: neither call nor tail rises in x
            low, high = (self._evaluated(end, ask, wanted, working) for end in (x.upper(), x.lower()))
            ends = between(low, high)
            return ends if ends.rad() < value.rad() else value
        return value

    def _evaluated(self, x: Ball, ask: Callable[[Engine, Ball], Ball], bits: int, working: int) -> Ball:
        with precision(working):
            engine = self._engines.get(working)
            if engine is None:
                while len(self._engines) >= _KEPT:
                    del self._engines[next(iter(self._engines))]
                effort.spend(self._plan.building, "a sum over atoms")
                engine = self._engines[working] = self._plan.engine(bits)
            effort.spend(self._plan.asking, "a sum over atoms")
            return within_unit(self.infinite() + within_unit(ask(engine, x)))


def _plan(parts: Sequence[tuple[FiniteLaw, int]]) -> SumPlan:
    """Atoms without mass dropped, equal values merged, sure values set apart."""
    sure: list[tuple[Real, Real, int]] = []
    groups: list[Group] = []
    void = False
    for law, copies in parts:
        atoms: dict[object, tuple[Real, Real, int]] = {}
        for i, (value, mass) in enumerate(zip(law.values, law.masses, strict=True)):
            if mass.rational == 0:
                continue
            step = law.steps[i] if law.unit is not None else 0
            name = value.rational if value.rational is not None else id(value)
            key: object = step if law.unit is not None else name
            before = atoms.get(key)
            atoms[key] = (value, mass if before is None else before[1] + mass, step)
        values = tuple(value for value, _, _ in atoms.values())
        masses = tuple(mass for _, mass, _ in atoms.values())
        steps = tuple(step for _, _, step in atoms.values())
        if not atoms:
            void = True
        elif len(values) == 1:
            sure.append((values[0], masses[0], copies))
        else:
            groups.append(_group(law, values, masses, steps, copies))
    return SumPlan(sure, groups, void)


def _group(
    law: FiniteLaw, values: tuple[Real, ...], masses: tuple[Real, ...], steps: tuple[int, ...], copies: int
) -> Group:
    """The law with its unit made positive. Two values always span a lattice of their own."""
    if law.unit is not None:
        sign = _sign(law.unit)
        if sign:
            family = 0 if law.unit.rational is not None else id(law.unit)
            return Group(values, masses, copies, law.unit * sign, tuple(sign * s for s in steps), family)
    elif len(values) == 2:
        unit = values[1] + values[0] * -1
        sign = _sign(unit)
        if sign:
            return Group(values, masses, copies, unit * sign, (0, sign), id(law))
    return Group(values, masses, copies)


def _sign(number: Real) -> int:
    """1 or −1, or 0 when the number cannot be told from zero."""
    b = sharp(number.ball, bits=8, limit=2000)
    return 1 if b > 0 else -1 if b < 0 else 0
