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
from tightrope.numerics import effort
from tightrope.numerics.balls import Ball, ComplexBall, ball, between, precision
from tightrope.numerics.gauss import float_gauss, gauss, gauss_error

if TYPE_CHECKING:
    from tightrope.numerics.transforms.transform import Complexes, Floats

__all__ = ["Integrand", "Panel", "Panels", "float_places", "nodes", "panels"]

_WHAT = "an integral in panels"
_RADII = tuple(Fraction(k, 8) for k in (36, 28, 22, 18, 15, 13, 11, 10))  # of the ellipses that are tried
_SIZES = (2, 6, 10, 16, 24, 32, 48, 64, 96, 128, 192)  # few sizes, as they are kept
_HALVINGS = 10
_HALF = 8  # nodes that half of a panel needs at least
_PIECES = 12  # of the upper half of an ellipse
_BITS = 64
_ROOM = 2.0  # nats for the width of the balls
_WORSE = 50  # times the error that was meant will do


class Integrand(ABC):
    """f(z), real on the real axis, or bounded together with all of a family; symmetric: |f(z̄)| = |f(z)|."""

    branches = 1  # formulas for it, each good somewhere
    ball_cost = 50.0  # about how many microseconds ``log_size`` takes

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
    laid = _laid(f, window, log_error, most)
    effort.spend(f.ball_cost * _PIECES * len(laid), _WHAT)
    with precision(_BITS):
        for one in laid:
            for panel, error in _proved(f, one):
                found.append(panel)
                total += error
            if not sum(panel.number for panel in found) <= most:
                raise NotCertified(_WHAT, "it needs too many nodes")
        return Panels(tuple(found), total.upper())


def nodes(f: Integrand, window: tuple[float, float], log_error: float, most: int) -> int:
    """About how many nodes that takes; NotCertified likewise."""
    return sum(one.number for one in _laid(f, window, log_error, most))


def float_places(f: Integrand, window: tuple[float, float], log_error: float, most: int) -> tuple[Floats, Floats]:
    """About the nodes of such panels and their weights, in floats; nothing is proved."""
    import numpy as np

    places, weights = [], []
    for one in _laid(f, window, log_error, most):
        at, weight = float_gauss(one.number)
        half = float(one.length) / 2
        places.append(float(one.start) + half + half * at)
        weights.append(half * weight)
    return np.concatenate(places), np.concatenate(weights)


@dataclass(frozen=True)
class _Laid:
    """A panel as floats see it: its place and length, ln of its share of the error, how often it was halved, and about
    how many nodes it needs by each ellipse."""

    start: Fraction
    length: Fraction
    share: float
    halvings: int
    need: list[float]

    @property
    def number(self) -> int:
        """As many nodes as it needs, or more."""
        return next(one for one in _SIZES if one >= min(self.need))


def _laid(f: Integrand, window: tuple[float, float], log_error: float, most: int) -> list[_Laid]:
    """Panels from end to end, halved until each needs few nodes: those of one length at once, in floats."""
    left, right = window
    length = Fraction(2) ** math.floor(math.log2((right - left) / 8))
    first, last = math.floor(left / length), math.ceil(right / length)
    share, starts = log_error - math.log(last - first), [i * length for i in range(first, last)]
    found: list[_Laid] = []
    for halvings in range(_HALVINGS + 1):
        needs = _needed(f, starts, length, share)
        laid = [_Laid(at, length, share, halvings, need) for at, need in zip(starts, needs, strict=True)]
        found += [one for one in laid if min(one.need) <= _SIZES[-1]]
        length, share = length / 2, share - math.log(2)
        starts = [at for one in laid if min(one.need) > _SIZES[-1] for at in (one.start, one.start + length)]
        if not sum(one.number for one in found) + _HALF * len(starts) <= most:
            raise NotCertified(_WHAT, "it needs too many nodes")
        if not starts:
            return sorted(found, key=lambda one: one.start)
    raise NotCertified(_WHAT, "a panel needs too many nodes")


def _needed(f: Integrand, starts: Sequence[Fraction], length: Fraction, log_error: float) -> list[list[float]]:
    """About how many nodes panels of one length need by each ellipse."""
    import numpy as np

    half, radii = float(length) / 2, np.array([float(radius) for radius in _RADII])
    turn = np.exp(1j * np.linspace(0, math.pi, _PIECES + 1))[None, :] * radii[:, None]
    middles = np.array([float(start) + half for start in starts])
    with np.errstate(all="ignore"):
        tops = f.log_sizes(middles[:, None, None] + half / 2 * (turn + 1 / turn)).max(axis=2)
        need = (tops + math.log(half) + _ROOM - log_error) / (2 * np.log(radii)) + 1
    return [[float(n) for n in row] for row in np.where(np.isnan(need), math.inf, need)]


def _proved(f: Integrand, one: _Laid) -> Iterator[tuple[Panel, Ball]]:
    """One panel, or those of its halves, where balls do not prove what floats have seen; with their errors."""
    most = ball(one.share).exp() * _WORSE
    for i, (number, radius) in enumerate(sorted(zip(one.need, _RADII, strict=True))):
        size = next((size for size in _SIZES if size >= number), None)
        if size is None:
            break
        if i:  # the first is counted
            effort.spend(f.ball_cost * _PIECES, _WHAT)
        error = _error(f, one.start, one.length, size, radius)
        if error is not None and error < most:
            yield Panel(one.start, one.length, size), error
            return
    if one.halvings == _HALVINGS:
        raise NotCertified(_WHAT, "a panel needs too many nodes")
    length, share = one.length / 2, one.share - math.log(2)
    starts = [one.start, one.start + length]
    for at, need in zip(starts, _needed(f, starts, length, share), strict=True):
        effort.spend(f.ball_cost * _PIECES, _WHAT)
        yield from _proved(f, _Laid(at, length, share, one.halvings + 1, need))


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
