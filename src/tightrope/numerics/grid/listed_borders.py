"""Which steps are listed as heavy (``listed.py``), and from which origin other losses are counted: floats choose.

The border is as low as leaves a few thousand sums. Finite laws of few composed atoms are listed whole. A law that is
all light and has an atom at its largest loss is moved there (``moved.py``): ε may be just above the largest of all
sums.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

import numpy as np

from tightrope.errors import NotCertified
from tightrope.numerics import effort
from tightrope.numerics.grid.cells import Atoms, CellLaw
from tightrope.numerics.grid.graded import Borders
from tightrope.numerics.grid.graded_search import degree_for, within
from tightrope.numerics.grid.heavy_sums import MOST_COMPOSED, SMALLEST, number_composed
from tightrope.numerics.grid.listed import ALL, heavy_grades
from tightrope.numerics.grid.listed_search import ListedSketch
from tightrope.numerics.grid.origins import moves, shown
from tightrope.numerics.grid.pictures import Picture
from tightrope.numerics.grid.plan import rough_epsilon

__all__ = ["FEW_HEAVY", "MANY_HEAVY", "listed_sketch"]

# Mean numbers of heavy steps: the first whose sums are not too many; and more of them, which takes more grids.
FEW_HEAVY = (0.1, 3e-2, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 1e-6, 1e-9, 1e-13, 1e-18, 1e-25)
MANY_HEAVY = (5.0, 2.0, 0.7, 0.3)
_ENOUGH = 5000  # sums
_LEAST = math.log(1e-12)  # of δ: lighter sums
_LEFT = math.log(1e-11)  # of δ: more heavy steps than are listed
_MOST_DEGREE = 100
_SEEN = math.log(1e-16)  # of δ: cells of laws
_NEARLY, _FURTHER = 0.98, 1.2  # of ε and of a loss, which are only about right
_LOWEST, _BITS = 1e-12, 20  # of borders
_UNITS = 3e3, 1.0, 60.0, 2e3  # units of work for lists, for a sum, for a law in a grade, and for a law that is parted
_ABOVE = 2.0  # of ε: the largest sum of losses that are moved


def listed_sketch(
    parts: Sequence[tuple[CellLaw, int]],
    pictures: Sequence[Picture],
    epsilon: float,
    level: float,
    targets: Sequence[float] = FEW_HEAVY,
) -> ListedSketch:
    """The borders beyond which as many steps are heavy as can be listed."""
    fewest: ListedSketch | None = None
    finite = [_finite(law, copies) for law, copies in parts]
    if any(finite):
        epsilon = min(epsilon, rough_epsilon(pictures, level))  # a grid's upper end may be far above
    for whole in (finite, [False] * len(parts)) if any(finite) else (finite,):
        for target in targets:
            with suppress(NotCertified, ArithmeticError):
                found = _sketch(parts, pictures, target, epsilon, level, whole)
                if found.size <= _ENOUGH:
                    return found
                fewest = found
            if all(whole):  # others would be the same
                break
    if fewest is None:
        raise NotCertified("sums of heavy losses", "no borders serve")
    return fewest


def _finite(law: CellLaw, copies: int) -> bool:
    """Whether all sums of a law can be listed."""
    few = number_composed(len(law.listed), copies) if isinstance(law, Atoms) else 0
    return 0 < few <= MOST_COMPOSED


def _sketch(
    parts: Sequence[tuple[CellLaw, int]],
    pictures: Sequence[Picture],
    target: float,
    epsilon: float,
    level: float,
    whole: Sequence[bool],
) -> ListedSketch:
    least = math.exp(level + _LEAST)
    if least < SMALLEST:
        raise NotCertified("sums of heavy losses", "masses are below what floats hold")
    known: list[Borders] = []
    for (law, copies), one, every in zip(parts, pictures, whole, strict=True):
        if every:
            known.append(ALL)
            continue
        at = _border(one, target / len(parts), least / copies)
        may = at is not None and law.parted(float(at[0]), float(at[1]), least / copies) is not None
        known.append(at if may else None)
    if not any(known):
        raise NotCertified("sums of heavy losses", "no law can be listed")
    mean = sum(
        one.copies * float(one.masses[~within(one, at)].sum())
        for one, at in zip(pictures, known, strict=True)
        if at not in (None, ALL)
    )
    degree = degree_for(mean, level + _LEFT, _MOST_DEGREE)
    floor = _floor(pictures, whole, epsilon, level)
    origins = moves(pictures, known, epsilon, _ABOVE)
    grades, rest = heavy_grades(parts, known, degree, least, floor, origins)
    size, laws = sum(one.sums.size for one in grades), sum(at not in (None, ALL) for at in known)
    work = _UNITS[0] + _UNITS[1] * size + _UNITS[2] * len(grades) * len(parts) + _UNITS[3] * laws
    effort.spend(work, "sums of heavy losses")
    seen = math.exp(level + _SEEN)
    all_shown = shown(parts, pictures, origins)
    light = [tuple(_light(all_shown, known, one.grade, seen)) if one.light else () for one in grades]
    return ListedSketch(tuple(known), degree, least, floor, tuple(grades), rest, tuple(light), origins)


def _floor(pictures: Sequence[Picture], whole: Sequence[bool], epsilon: float, level: float) -> float:
    """Below which the sums of laws that are all listed hardly matter, as the other laws' do not reach ε from there."""
    others = [one for one, every in zip(pictures, whole, strict=True) if not every]
    if len(others) == len(pictures) or not others:
        return -math.inf
    return _NEARLY * epsilon - _FURTHER * rough_epsilon(others, level + _LEFT)


def _border(one: Picture, target: float, least: float) -> Borders:
    """Midway between two losses of some mass, beyond which are so many steps in the mean; None if hardly any is."""
    some = one.masses > least
    sizes = np.abs(one.losses[some])
    order = np.argsort(sizes)
    beyond = one.copies * np.cumsum(one.masses[some][order][::-1])[::-1]
    place = int(np.searchsorted(-beyond, -target))
    if not 0 < place < sizes.size:
        return None
    mantissa, exponent = math.frexp(math.sqrt(sizes[order][place] * max(sizes[order][place - 1], _LOWEST)))
    high = Fraction(round(mantissa * 2**_BITS)) * Fraction(2) ** (exponent - _BITS)
    return -high, high


def _light(
    pictures: Sequence[Picture], borders: Sequence[Borders], grade: Sequence[int], seen: float
) -> Iterator[Picture]:
    """The pictures of the light steps; lighter cells than ``seen`` are not looked at."""
    for one, at, number in zip(pictures, borders, grade, strict=True):
        if at is None:
            some = one.masses * one.copies > seen
            yield one.part(some, one.copies)
        elif at != ALL and one.copies > number:
            some = within(one, at)
            if np.any(one.losses[some]):  # else these steps only have a mass
                yield replace(one.between(*at, one.copies - number), atoms=())
