"""Gauss-Legendre panels for ∫φ(x)w(x)^{t+1+iy}w(−x)^{−t−iy}dx, t ≥ −½, far from the axis, where y·q may be large.

A trapezoidal rule needs a strip, in which the integrand grows like e^{y·(arg w(x) − arg w(−x))}: far out both angles
are as large as the strip allows, though hardly any mass is there. A panel needs an ellipse around itself only. On one
from x₁ to x₂ with half height d, cd < π: |w(z)| ≤ w(x) and cos(cd/2)·w(−x) ≤ |w(−z)| ≤ w(−x), |φ(z)| ≤ φ(x)e^{d²/2},
and each angle is at most the ``largest_turn`` at its end.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ball
from tightrope.numerics.gauss import gauss, gauss_error
from tightrope.numerics.moments.sampled_normal_bounds import quadratic_top
from tightrope.numerics.transforms.replace_rule import log_factors, replace_tails, replace_window
from tightrope.numerics.transforms.sampled_rule import Rule, largest_turn, short
from tightrope.numerics.transforms.settled_nodes import Quadrature

__all__ = ["ReplacePanel", "ellipse_error", "panel_error", "replace_panels", "replace_quadrature"]

_DEPTHS = (3.0, 2.0, 1.4, 1.0, 0.7, 0.45, 0.3, 0.2, 0.12, 0.07)  # in half lengths
_LENGTH = 2  # of a panel that need not be halved
_HALVINGS = 7
_SIZES = (2, 4, 6, 8, 12, 16, 24, 32, 48)  # few sizes, as they are kept
_MOST_NODES = 3000
_WIDEST = 3.0  # of the angle cd
_PIECES = 4  # of a panel
_WHAT = "a sampled normal transform"


@dataclass(frozen=True)
class ReplacePanel:
    """Where it begins, its length, its number of nodes, and the half height of the ellipse that bounds its error."""

    start: Fraction
    length: Fraction
    number: int
    depth: Fraction


def replace_panels(c: float, rate: float, t: float, y: float, nats: float, log_size: float) -> list[ReplacePanel]:
    """Panels for an error of about e^{log_size − nats}, M(t) being about e^log_size: a choice, in floats."""
    left, right = replace_window(c, rate, t, nats)
    first, last = math.floor(left / _LENGTH), math.ceil(right / _LENGTH)
    found: list[ReplacePanel] = []
    for i in range(first, last):
        found += _halved(c, rate, t, y, nats - log_size + math.log(last - first), Fraction(i * _LENGTH), 0)
        if not sum(panel.number for panel in found) <= _MOST_NODES:
            raise NotCertified(_WHAT, "it needs too many nodes in panels")
    return found


def _halved(
    c: float, rate: float, t: float, y: float, nats: float, start: Fraction, halvings: int
) -> Iterator[ReplacePanel]:
    """One panel, or those of its halves, where it would need too many nodes."""
    length = Fraction(_LENGTH, 1 << halvings)
    if nats + _float_top(c, rate, t, float(start), float(start + length)) + 3 < 0:  # it hardly counts
        yield ReplacePanel(start, length, _SIZES[0], short(min(1.0, _WIDEST / c)))
        return
    tries = [d * float(length) / 2 for d in _DEPTHS if c * d * float(length) / 2 < _WIDEST]
    tries = tries or [_WIDEST / c]
    need, depth = min((_size(c, rate, t, y, nats, (float(start), float(length)), d), d) for d in tries)
    size = next((one for one in _SIZES if one >= need), None)
    if size is not None:
        yield ReplacePanel(start, length, size, short(depth))
    elif halvings < _HALVINGS:
        for at in (start, start + length / 2):
            yield from _halved(c, rate, t, y, nats, at, halvings + 1)
    else:
        raise NotCertified(_WHAT, f"it needs panels of {need:.3g} nodes")


def _size(c: float, rate: float, t: float, y: float, nats: float, panel: tuple[float, float], depth: float) -> float:
    """About how many nodes a panel needs, as ``panel_error`` has it."""
    half = panel[1] / 2
    rho = depth / half + math.sqrt(1 + (depth / half) ** 2)
    reach = half * (rho + 1 / rho) / 2
    left, right = panel[0] + half - reach, panel[0] + half + reach
    log = _float_top(c, rate, t, left, right) + depth * depth / 2 - max(t, 0.0) * math.log(math.cos(c * depth / 2))
    for side in (right, -left):
        rise = rate * math.exp(min(c * side - c * c / 2, 600.0)) / (1 - rate)
        angle = min(c * depth, math.acos(max(-rise, -1.0)))
        log += y * math.atan2(rise * math.sin(angle), 1 + rise * math.cos(angle))
    return max(nats + log + math.log(half) + 1, 0.0) / (2 * math.log(rho)) + 1


def _float_top(c: float, rate: float, t: float, left: float, right: float) -> float:
    """About ``_top``."""
    tops = []
    for start, end in pairwise(left + (right - left) * k / _PIECES for k in range(_PIECES + 1)):
        first, last = ((t + 1) * _log_factor(c, rate, x) for x in (start, end))
        slope = (last - first) / (end - start)
        top = min(max(slope, start), end)
        tops.append(first + slope * (top - start) - top * top / 2 - t * _log_factor(c, rate, -end if t > 0 else -start))
    return max(tops)


def _log_factor(c: float, rate: float, x: float) -> float:
    """ln w(x)."""
    rise = c * x - c * c / 2
    return math.log1p(rate * math.expm1(rise)) if rise < 600 else rise + math.log(rate)


def panel_error(c: Ball, q: Ball, t: Fraction, y: Ball, panel: ReplacePanel) -> Ball:
    """A bound of one panel's error, for every |y'| ≤ y: what rule and integral are at most, or on an ellipse."""
    most = _top(c, q, t, ball(panel.start), ball(panel.start + panel.length)).exp()
    return (2 * ball(panel.length) / (2 * Ball.pi()).sqrt() * most).min(ellipse_error(c, q, t, y, panel))


def ellipse_error(c: Ball, q: Ball, t: Fraction, y: Ball, panel: ReplacePanel) -> Ball:
    """From the integrand's size around the panel."""
    half, d = ball(panel.length / 2), ball(panel.depth)
    if not c * d < Ball.pi():
        raise NotCertified(_WHAT, "the ellipse is too high")
    middle, rho = ball(panel.start) + half, d / half + (1 + (d / half) ** 2).sqrt()
    reach = half * (rho + 1 / rho) / 2
    left, right = middle - reach, middle + reach
    log = d * d / 2 + _top(c, q, t, left, right)
    if t > 0:
        log -= ball(t) * (c * d / 2).cos().log()
    for side in (right, -left):
        log += y * largest_turn(1 - q, q * (c * side - c * c / 2).exp(), c * d)
    return half / (2 * Ball.pi()).sqrt() * gauss_error(log.exp(), rho, panel.number)


def _top(c: Ball, q: Ball, t: Fraction, left: Ball, right: Ball) -> Ball:
    """An upper bound of (t+1)·ln w(x) − t·ln w(−x) − x²/2 between two places: piece by piece, as ln w is below its
    chords, and w(−x) falls."""
    top: Ball | None = None
    for start, end in pairwise(left + (right - left) * k / _PIECES for k in range(_PIECES + 1)):
        first, last = (ball(t + 1) * log_factors(c, q, x)[0] for x in (start, end))
        slope = (last - first) / (end - start)
        other = log_factors(c, q, end if t > 0 else start)[1]
        found = quadratic_top(slope, start, end, first - slope * start) - ball(t) * other
        top = found if top is None else top.max(found)
    assert top is not None
    return top


def replace_quadrature(
    c: Ball, rate: Fraction, t: Fraction, y: Fraction, panels: Sequence[ReplacePanel], log: Ball
) -> Quadrature:
    """φ at all |y'| ≤ y, ln M(t) being ``log``: shares, losses ln w(x)/w(−x), and a bound of the error."""
    q, a, scale = ball(rate), ball(t), 1 / (2 * Ball.pi()).sqrt()
    shares: list[Ball] = []
    losses: list[Ball] = []
    error = Ball(0)
    for panel in panels:
        half = ball(panel.length / 2)
        middle = ball(panel.start) + half
        for place, weight in gauss(panel.number):
            x = middle + half * place
            first, second = log_factors(c, q, x)
            losses.append(first - second)
            shares.append(scale * half * weight * (x * x / -2 + first + a * losses[-1] - log).exp())
        error += panel_error(c, q, t, ball(y), panel)
    end = panels[-1].start + panels[-1].length
    ends = Rule(Fraction(1), int(panels[0].start), math.ceil(end), Fraction(1))
    error += replace_tails(c, q, t, ends)
    return Quadrature(shares, losses, (error * (-log).exp()).upper())
