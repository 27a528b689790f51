"""Gauss-Legendre panels for any analytic integrand that can be evaluated on balls.

The error of a panel is bounded by the size of the integrand on an ellipse around it, and that by its size on a few
balls which cover the ellipse. No formula is needed but the integrand's own.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ComplexBall, ball, between, precision
from tightrope.numerics.gauss import gauss, gauss_error

if TYPE_CHECKING:
    from tightrope.numerics.transforms.transform import Complexes, Floats

__all__ = ["Integrand", "Panel", "Panels", "nodes", "panels"]

_RADII = tuple(Fraction(k, 8) for k in (36, 28, 22, 18, 15, 13, 11, 10))  # of the ellipses that are tried
_SIZES = (2, 6, 10, 16, 24, 32, 48, 64, 96, 128, 192)  # few sizes, as they are kept
_HALVINGS = 10
_PIECES = 12  # of the upper half of an ellipse
_BITS = 64
_ROOM = 2.0  # nats for the width of the balls
_WORSE = 50  # times the error that was meant will do


class Integrand(ABC):
    """f(z), real on the real axis, or bounded together with all of a family; symmetric: |f(z̄)| = |f(z)|."""

    branches = 1  # formulas for it, each good somewhere

    @abstractmethod
    def log_sizes(self, z: Complexes) -> Floats:
        """About ln|f| at many places, ∞ where f may not be analytic: a choice, in floats."""

    @abstractmethod
    def log_size(self, z: ComplexBall, branch: int) -> Ball | None:
        """A ball with ln|f| on a ball; None unless f is analytic within every closed curve that is covered by balls
        with an answer for the same branch."""


@dataclass(frozen=True)
class Panel:
    """Where it begins, its length, and its number of nodes."""

    start: Fraction
    length: Fraction
    number: int


@dataclass(frozen=True)
class Panels:
    """Panels from end to end, and a proved bound of their error."""

    panels: tuple[Panel, ...]
    error: Ball

    @property
    def ends(self) -> tuple[Ball, Ball]:
        """Where they begin and end."""
        last = self.panels[-1]
        return ball(self.panels[0].start), ball(last.start + last.length)

    def places(self) -> Iterator[tuple[Ball, Ball]]:
        """The nodes of all panels and their weights."""
        for panel in self.panels:
            half = ball(panel.length / 2)
            middle = ball(panel.start) + half
            for place, weight in gauss(panel.number):
                yield middle + half * place, half * weight


def panels(f: Integrand, window: tuple[float, float], log_error: float, most: int) -> Panels:
    """Panels from end to end whose error is proved, and about e^log_error at most. NotCertified if that takes more than
    so many nodes."""
    found: list[Panel] = []
    total = Ball(0)
    with precision(_BITS):
        for start, length, share in _laid(window, log_error):
            for panel, error in _halved(f, start, length, share, 0):
                found.append(panel)
                total += error
            if not sum(panel.number for panel in found) <= most:
                raise NotCertified("an integral in panels", "it needs too many nodes")
        return Panels(tuple(found), total.upper())


def nodes(f: Integrand, window: tuple[float, float], log_error: float) -> float:
    """About how many nodes that takes."""
    found = 0.0
    for start, length, share in _laid(window, log_error):
        found += float(min(_needed(f, float(start), float(length), share)))
    return found


def _laid(window: tuple[float, float], log_error: float) -> list[tuple[Fraction, Fraction, float]]:
    """Places and lengths of panels that need not be halved, and ln of their share of the error."""
    left, right = window
    length = Fraction(2) ** math.floor(math.log2((right - left) / 8))
    first, last = math.floor(left / length), math.ceil(right / length)
    return [(i * length, length, log_error - math.log(last - first)) for i in range(first, last)]


def _needed(f: Integrand, start: float, length: float, log_error: float) -> list[float]:
    """About how many nodes a panel needs by each ellipse."""
    import numpy as np

    half, radii = length / 2, np.array([float(radius) for radius in _RADII])
    turn = np.exp(1j * np.linspace(0, math.pi, _PIECES + 1))[None, :] * radii[:, None]
    with np.errstate(all="ignore"):
        tops = f.log_sizes(start + half + half / 2 * (turn + 1 / turn)).max(axis=1)
        need = (tops + math.log(half) + _ROOM - log_error) / (2 * np.log(radii)) + 1
    return [float(n) if n == n else math.inf for n in need]


def _halved(
    f: Integrand, start: Fraction, length: Fraction, log_error: float, halvings: int
) -> Iterator[tuple[Panel, Ball]]:
    """One panel, or those of its halves, where it would need too many nodes; with their errors."""
    need = _needed(f, float(start), float(length), log_error)
    for number, radius in sorted(zip(need, _RADII, strict=True)):
        size = next((one for one in _SIZES if one >= number), None)
        if size is None:
            break
        error = _error(f, start, length, size, radius)
        if error is not None and error < ball(log_error).exp() * _WORSE:
            yield Panel(start, length, size), error
            return
    if halvings == _HALVINGS:
        raise NotCertified("an integral in panels", "a panel needs too many nodes")
    for at in (start, start + length / 2):
        yield from _halved(f, at, length / 2, log_error - math.log(2), halvings + 1)


def _error(f: Integrand, start: Fraction, length: Fraction, number: int, radius: Fraction) -> Ball | None:
    """A bound of the error of one panel; None if f is not analytic or not bounded on the balls around the ellipse."""
    rho, half = ball(radius), ball(length / 2)
    middle = ball(start) + half
    major, minor = half * (rho + 1 / rho) / 2, half * (rho - 1 / rho) / 2
    around = [ComplexBall(middle + major * cos, minor * sin) for cos, sin in _turns()]
    for branch in range(f.branches):
        top = _top(f, around, branch)
        if top is not None:
            return half * gauss_error(top.exp(), rho, number)
    return None


def _top(f: Integrand, around: Sequence[ComplexBall], branch: int) -> Ball | None:
    top = Ball("-inf")
    for z in around:
        size = f.log_size(z, branch)
        if size is None or not size.is_finite():
            return None
        top = top.max(size.upper())
    return top


@cache
def _turns() -> tuple[tuple[Ball, Ball], ...]:
    """Cosine and sine on the pieces of a half turn."""
    with precision(_BITS):
        angles = [Ball.pi() * between(Ball(k) / _PIECES, Ball(k + 1) / _PIECES) for k in range(_PIECES)]
        return tuple((angle.cos(), angle.sin()) for angle in angles)
