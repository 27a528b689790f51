"""The sum of independent finite laws as one finite law, so that something else may act on it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from flint import ctx

from tightrope.numerics.balls import Ball, BallPolynomial, precision
from tightrope.numerics.real import ZERO, Real
from tightrope.numerics.sums.finite import FiniteLaw, FiniteSum, on_lattice, scattered
from tightrope.numerics.sums.finite_engines import common_unit

__all__ = ["composed_law"]

_MOST = 1000  # atoms
_KEPT = 4  # precisions
_BITS = 128

Parts = Sequence[tuple[FiniteLaw, int]]
Found = TypeVar("Found")


def composed_law(parts: Parts) -> FiniteLaw | None:
    """The law of the sum of that many copies of each; None if it has too many values, or none that is finite."""
    if not all(law.values for law, _ in parts):
        return None
    leak = ZERO
    if any(law.infinite.rational != 0 for law, _ in parts):
        leak = Real(None, FiniteSum(parts).infinite)
    shared = _shared(parts)
    law = None if shared is None else _on_lattice(parts, *shared, leak)
    if law is not None:
        return law
    total = FiniteSum(parts)
    with precision(_BITS):
        number = len(total.atoms(_MOST) or []) if total.exact else 0
    if not number:
        return None
    table = _kept(lambda: total.atoms(_MOST) or [])
    values = [Real(None, lambda i=i: table()[i][0]) for i in range(number)]  # type: ignore[misc]  # bound now
    masses = [Real(None, lambda i=i: table()[i][1]) for i in range(number)]  # type: ignore[misc]  # bound now
    return scattered(values, masses, leak)


def _shared(parts: Parts) -> tuple[Real, list[tuple[int, ...]]] | None:
    """A lattice on which all values lie: its unit, and the steps of each law."""
    first = parts[0][0].unit
    if first is not None and all(law.unit is first for law, _ in parts):
        return first, [law.steps for law, _ in parts]
    values = [[v.rational for v in law.values if v.rational is not None] for law, _ in parts]
    if any(len(own) < len(law.values) for own, (law, _) in zip(values, parts, strict=True)):
        return None
    if not any(v for own in values for v in own):
        return None
    unit = common_unit([v for own in values for v in own])
    return Real(unit), [tuple(int(v / unit) for v in own) for own in values]


def _on_lattice(parts: Parts, unit: Real, steps: list[tuple[int, ...]], leak: Real) -> FiniteLaw | None:
    """Polynomials, one for each law, multiplied."""
    least = sum(min(own) * n for own, (_, n) in zip(steps, parts, strict=True))
    if sum(max(own) * n for own, (_, n) in zip(steps, parts, strict=True)) - least > _MOST:
        return None

    def coefficients() -> list[Ball]:
        product = BallPolynomial([1])
        for own, (law, n) in zip(steps, parts, strict=True):
            factor = [Ball(0)] * (max(own) - min(own) + 1)
            for step, mass in zip(own, law.masses, strict=True):
                factor[step - min(own)] += mass.ball()
            product *= BallPolynomial(factor) ** n
        return [mass.nonnegative_part() for mass in product.coeffs()]

    table = _kept(coefficients)
    with precision(_BITS):
        live = [i for i, mass in enumerate(table()) if not mass.is_zero()]
    masses = {least + i: Real(None, lambda i=i: table()[i]) for i in live}  # type: ignore[misc]  # bound now
    return on_lattice(unit, masses, leak)


def _kept(find: Callable[[], Found]) -> Callable[[], Found]:
    """What is found at each of the last few precisions."""
    known: dict[int, Found] = {}

    def found() -> Found:
        if ctx.prec not in known:
            while len(known) >= _KEPT:
                del known[next(iter(known))]
            known[ctx.prec] = find()
        return known[ctx.prec]

    return found
