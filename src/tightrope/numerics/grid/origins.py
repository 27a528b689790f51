"""From which origin the losses of laws are counted (``moved.py``): floats choose.

A law that is all light and has an atom at its largest loss is moved there: ε may be near the largest of all sums, where
tilts are so steep that they leave the range of floats at the losses themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from tightrope.numerics.grid.cells import CellLaw
from tightrope.numerics.grid.moved import LONGEST_MOVE, moved
from tightrope.numerics.grid.pictures import Picture, picture

__all__ = ["moves", "shown"]

_SHORTEST = 1e-3  # of ε: a loss that is moved


def moves(pictures: Sequence[Picture], borders: Sequence[object], epsilon: float, above: float) -> tuple[Fraction, ...]:
    """By what each law's losses are moved, those without borders: where their largest sum is below ``above``·ε; none if
    no law's are."""
    found = []
    for one, border in zip(pictures, borders, strict=True):
        last = float(one.losses[-1])
        near = _SHORTEST * epsilon < last <= LONGEST_MOVE and last * one.copies < above * epsilon
        atom = border is None and near and any(loss == last for loss, _ in one.atoms)
        found.append(Fraction(last) if atom else Fraction(0))
    return tuple(found) if any(found) else ()


def shown(
    parts: Sequence[tuple[CellLaw, int]], pictures: Sequence[Picture], moves: Sequence[Fraction]
) -> list[Picture]:
    """The pictures of the laws after moving."""
    if not moves:
        return list(pictures)
    pairs = zip(parts, pictures, moves, strict=True)
    return [picture(moved(law, by), copies) if by else one for (law, copies), one, by in pairs]
