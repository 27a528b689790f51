"""The parts beside sampled normal steps without their rare large losses, in floats: for choices only.

A loss above the cap would hide all others from every tilt. That of a sum over atoms, such as a sampled discrete
Gaussian's, is left out; what it adds by itself is added apart.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from tightrope.numerics import effort
from tightrope.numerics.balls import precision
from tightrope.numerics.products import product
from tightrope.numerics.transforms import memory as recall
from tightrope.numerics.transforms.transform import Transform

if TYPE_CHECKING:
    from tightrope.numerics.transforms.transform import Floats

__all__ = ["CappedOthers"]

_RARE = 0.1  # so many losses above the cap, on average
_WHAT = "a windowed contour"
_FIRST, _TERM, _PRODUCT = 6, 12.0, 0.01  # moments before the first; units of work for an atom, and for it at a tilt


class CappedOthers:
    """Parts whose losses end at a cap where their atoms are known; ∞: wherever they end."""

    def __init__(self, parts: Sequence[tuple[Transform, int]], cap: float) -> None:
        self._cap, self._whole, self._cut = cap, [], []
        for transform, copies in parts:
            atoms = _atoms(transform) if cap < math.inf else None
            if atoms is not None and self._hidden(transform, copies, *atoms):
                self._cut.append((atoms, copies))
            else:
                self._whole.append((transform, copies))

    def _hidden(self, transform: Transform, copies: int, losses: Floats, masses: Floats) -> bool:
        """Whether some losses are above the cap, or beyond any window, and rare."""
        above = copies * float(masses[losses > self._cap].sum())
        return above < _RARE and (above > 0 or transform.largest() is None)

    def log_moments(self, t: Floats) -> Floats:
        """Σ k·ln M(t); ∞ where it is unknown."""
        import numpy as np

        work = sum(transform.tilt_cost * (_FIRST + len(t)) for transform, _ in self._whole)
        work += sum(_PRODUCT * len(losses) * len(t) for (losses, _), _ in self._cut)
        effort.spend(work, _WHAT)
        total = np.zeros(len(t))
        with np.errstate(all="ignore"):
            for transform, copies in self._whole:
                total = total + copies * recall.log_floats(transform, t)
            for (losses, masses), copies in self._cut:
                low = losses <= self._cap
                exponents = np.multiply.outer(t, losses[low])
                top = exponents.max(axis=1, initial=0.0)
                total = total + copies * (top + np.log(product(np.exp(exponents - top[:, None]), masses[low])))
        result: Floats = np.where(np.isnan(total), math.inf, total)
        return result

    def log_alone(self) -> float:
        """ln of the call at the cap of one larger loss, of any part."""
        import numpy as np

        total = 0.0
        for (losses, masses), copies in self._cut:
            above = losses > self._cap
            total += copies * float(-np.expm1(self._cap - losses[above]) @ masses[above])
        return math.log(total) if total > 0 else -math.inf


def _atoms(transform: Transform) -> tuple[Floats, Floats] | None:
    """Losses and their masses, of a sum over them that is not to be changed; None if it is none."""
    import numpy as np

    def find() -> tuple[Floats, Floats] | None:
        terms = transform.terms_of(Fraction(0))
        if terms is None:
            return None
        with precision(64):
            rows = [[float(value.mid()) for value in row] for row in (terms.losses, terms.shares)]
        return np.array(rows[0]), np.array(rows[1])

    return recall.kept(transform, "masses", (), find)
