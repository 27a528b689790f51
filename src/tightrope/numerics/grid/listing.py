"""The atoms of a law, parted by two borders: those outside one by one, with ends that are floats."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, lower_float, upper_float

__all__ = ["MOST_LISTED", "Listed", "listed_losses"]

MOST_LISTED = 600  # atoms of a law


@dataclass(frozen=True, eq=False)
class Listed:
    """Losses outside of two borders, the likeliest first: each lies between ``low`` and ``high`` and has a mass between
    ``p_low`` and ``p_high`` under P. Those between the borders are ``light``: (loss, mass). P has at most ``rest``
    beside all of them, and its mass at +∞."""

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    p_low: NDArray[np.float64]
    p_high: NDArray[np.float64]
    light: tuple[tuple[Ball, Ball], ...]
    rest: float


def _outside(loss: Ball, low: float, high: float) -> bool:
    """Whether a loss is below ``low`` or above ``high``."""
    if loss < low or loss > high:
        return True
    if loss > low and loss < high:
        return False
    raise NotCertified("a list of losses", "one is at a border")


def listed_losses(found: Iterable[tuple[Ball, Ball]], low: float, high: float, least: float, rest: Ball) -> Listed:
    """These (loss, mass), parted, and at least the mass of others. What is lighter than ``least`` and outside is added
    to it."""
    light, ends = [], []
    for loss, mass in found:
        if not _outside(loss, low, high):
            light.append((loss, mass))
        elif mass > least:
            ends.append((lower_float(loss), upper_float(loss), max(lower_float(mass), 0.0), upper_float(mass)))
        else:
            rest += mass
    ends.sort(key=lambda one: -one[3])
    losses, tops, p_low, p_high = np.array(ends, dtype=np.float64).reshape(-1, 4).T
    return Listed(losses, tops, p_low, p_high, tuple(light), upper_float(rest))
