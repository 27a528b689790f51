"""Gauss-Legendre panels for ∫_{μ/2}^∞ φ(z)(w^{s+1} + w^{−s}) dz, w = 1 − q + q·e^{μz−μ²/2}: nodes and a proved error.

To the right of μ/2 the factor w is at least 1; it has no zero where |Im z| < π/μ. At depth d it obeys |w| ≤ w(x) and
|w| ≥ cos(μd/2)·w(x), and arg w rises with x; with the depth it rises and may fall again (``largest_turn``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ball
from tightrope.numerics.gauss import gauss, gauss_error
from tightrope.numerics.moments.sampled_normal_bounds import quadratic_top
from tightrope.numerics.transforms.sampled_rule import largest_turn, short, upper_tail_bound

__all__ = ["Growth", "Panel", "furthest_place", "log_factor", "nodes", "panel_errors", "panels"]

_MOST_NODES, _MOST_PANELS = 6000, 400
_RULES = (1, 8, 12, 16, 20, 24, 32, 40, 48, 64, 80, 96, 128, 160, 192, 256, 320, 384)  # few sizes, as they are kept
_PIECES = 4  # of a panel, in each of which ln w is bounded by its chord
_WHAT = "a glued normal transform"
_ALMOST = 0.999  # of the way to a cut: panels that reach so far go on to it


@dataclass(frozen=True)
class Panel:
    """Start (measured from μ/2), length, number of nodes, and the half height of the ellipse that bounds its error."""

    start: Fraction
    length: Fraction
    number: int
    depth: Fraction


@dataclass(frozen=True)
class Growth:
    """How much larger the integrand may be at depth d than on the axis, for every |y'| ≤ y.

    Along the axis: e^{y·arg w} at the angle μd. Along a path shifted by iθ/μ the integrand is e^{−y·arg w}, continued
    as ½(log w(x+iθ/μ) − log w(x−iθ/μ)): e^{(y/2)·arg w} at the angle μd − θ where that is positive.
    """

    y: Fraction
    theta: Fraction | None = None

    def angles(self, turn: float) -> tuple[float, float, float]:
        """In floats, from μd: the factor of arg w, the angle at which it is taken, and the angle in the cosine."""
        theta = float(self.theta or 0)
        return (
            (float(self.y), turn, turn)
            if self.theta is None
            else (float(self.y) / 2, max(turn - theta, 0.0), turn + theta)
        )


def log_factor(mu: Ball, q: Ball, z: Ball) -> Ball:
    """ln w."""
    return (q * (mu * z - mu * mu / 2).expm1()).log1p()


@lru_cache(maxsize=512)
def panels(
    mu: float, rate: float, t: float, growth: Growth, nats: float, log_size: float, cut: Fraction | None = None
) -> tuple[Panel, ...]:
    """Panels for an error of about e^{log_size − nats}, t ≥ −½: a choice, in floats; up to μ/2 + ``cut`` at most."""
    end = furthest_place(mu, rate, t, nats, log_size)
    whole = cut is not None and end > mu / 2 + _ALMOST * float(cut)
    end = mu / 2 + float(cut) if cut is not None and whole else end
    best: tuple[list[int], float] = ([_MOST_NODES], 1.0)
    deepest = min(math.sqrt(2 * nats), (3.0 - float(growth.theta or 0)) / mu)
    for k in range(5):
        before = sum(best[0])
        for wide in (1.5, 0.7, 0.3):
            depth = deepest * 0.6**k
            number = max(1, math.ceil((end - mu / 2) / (2 * wide * depth)))
            if number <= _MOST_PANELS:
                found = _tried(mu, rate, t, growth, nats - log_size, (end - mu / 2) / number, number, depth)
                best = min(best, (found, depth), key=lambda one: sum(one[0]))
        if sum(best[0]) < 100 or before == sum(best[0]) < _MOST_NODES:  # enough, or no better than before
            break
    if not sum(best[0]) < _MOST_NODES:
        raise NotCertified(_WHAT, "it needs too many nodes")
    counts, depth = best
    length = short((end - mu / 2) / len(counts), 16) + short((end - mu / 2) / len(counts) * 2.0**-14, 2)
    length = cut / len(counts) if cut is not None and whole else length
    return tuple(Panel(length * i, length, n, short(depth)) for i, n in enumerate(counts))


def _tried(
    mu: float, rate: float, t: float, growth: Growth, nats: float, length: float, number: int, depth: float
) -> list[int]:
    """How many nodes so many panels of one length and depth need, each."""
    import numpy as np

    half = length / 2
    share = depth / half
    over = half * (math.sqrt(1 + share * share) - 1)
    left = mu / 2 + 2 * half * np.arange(number) - over
    right = left + 2 * half + 2 * over
    factor, angle, wider = growth.angles(mu * depth)
    ends = left[:, None] + (right - left)[:, None] * np.linspace(0, 1, _PIECES + 1)
    rise = np.log(rate) + mu * ends - mu * mu / 2
    logs = (t + 1) * np.logaddexp(math.log1p(-rate), rise)
    slopes = np.diff(logs, axis=1) / np.diff(ends, axis=1)
    peaks = slopes.clip(ends[:, :-1], ends[:, 1:])
    most = (logs[:, :-1] + slopes * (peaks - ends[:, :-1]) - peaks**2 / 2).max(axis=1)
    second = np.minimum(left.clip(0), right) ** 2 / -2 - max(t, 0.0) * math.log(math.cos(min(wider, 3.1) / 2))
    far = np.exp(np.minimum(rise[:, -1], 300.0))
    steepest = np.minimum(angle, np.arccos(np.maximum(far / (rate - 1), -1.0)))
    turn = np.arctan2(far * np.sin(steepest), 1 - rate + far * np.cos(steepest))
    need = np.logaddexp(most, second) + depth * depth / 2 + factor * turn + nats + math.log(half) + 2
    counts = np.maximum(np.ceil(need / (2 * math.log(share + math.sqrt(1 + share * share)))) + 1, 1)
    if not counts.max() <= _RULES[-1]:
        return [_MOST_NODES]
    return [_RULES[i] for i in np.searchsorted(_RULES, counts)]


def furthest_place(mu: float, rate: float, t: float, nats: float, log_size: float) -> float:
    """Where what lies beyond is about e^{log_size − nats}."""
    top = t + 1
    end = top * mu + math.sqrt(2 * nats)
    for _ in range(3):
        log = math.log(rate) + mu * end - mu * mu / 2
        log = log if log > 30 else math.log1p(rate * math.expm1(mu * end - mu * mu / 2))
        height = top * (log - mu * end + top * mu * mu / 2) - log_size
        end = max(top * mu, mu / 2) + math.sqrt(2 * max(nats + height, 4.0))
    return end


def nodes(mu: Ball, chosen: tuple[Panel, ...]) -> list[tuple[Ball, Ball]]:
    """Positions z and weights, the density φ included."""
    found = []
    scale = 1 / (2 * Ball.pi()).sqrt()
    for panel in chosen:
        half = ball(panel.length / 2)
        centre = mu / 2 + ball(panel.start) + half
        for x, weight in gauss(panel.number):
            z = centre + half * x
            found.append((z, weight * half * scale * (z * z / -2).exp()))
    return found


def panel_errors(
    mu: Ball, q: Ball, t: Fraction, growth: Growth, chosen: tuple[Panel, ...], cut: Fraction | None = None
) -> Ball:
    """A bound of the error of both integrals together, what lies beyond the last panel included, t ≥ −½; nothing does
    where they are cut off."""
    total = Ball(0)
    top, scale = ball(t + 1), 1 / (2 * Ball.pi()).sqrt()
    for panel in chosen:
        half, d = ball(panel.length / 2), ball(panel.depth)
        factor, angle, wider = _angles(mu, d, growth)
        share = d / half
        rho = share + (share * share + 1).sqrt()
        over = half * ((share * share + 1).sqrt() - 1)
        left = mu / 2 + ball(panel.start) - over
        right = left + 2 * half + 2 * over
        low, most = log_factor(mu, q, left), Ball(0)
        for start, end in pairwise(left + (right - left) * k / _PIECES for k in range(_PIECES + 1)):
            first = top * log_factor(mu, q, start)
            slope = (top * log_factor(mu, q, end) - first) / (end - start)  # ln w is convex: below its chord
            most = most.max(quadratic_top(slope, start, end, first - slope * start).exp())
        least = left.max(Ball(0)).min(right)
        other = (least * least / -2).exp()
        if t > 0:
            other *= (ball(-t) * ((wider / 2).cos().log() + low.min(Ball(0)))).exp()
        else:  # w^{−t} ≤ 1 + w^{t+1}
            other += most
        far = (q.log() + mu * right - mu * mu / 2).exp()
        turn = largest_turn(1 - q, far, angle)
        size = (most + other) * (d * d / 2 + factor * turn).exp()
        total += gauss_error(size * half * scale, rho, panel.number) if panel.number > 1 else _crude(size, half, scale)
    last = chosen[-1].start + chosen[-1].length
    if cut is not None and last > cut:
        raise NotCertified(_WHAT, "its panels reach too far")
    return total if last == cut else total + _beyond(mu, q, t, growth, chosen)


def _crude(size: Ball, half: Ball, scale: Ball) -> Ball:
    """One node and the integral are each at most this."""
    return size * half * scale * 4


def _angles(mu: Ball, d: Ball, growth: Growth) -> tuple[Ball, Ball, Ball]:
    turn, y = mu * d, ball(growth.y)
    if growth.theta is None:
        found = y, turn, turn
    else:
        found = y / 2, (turn - ball(growth.theta)).max(Ball(0)), turn + ball(growth.theta)
    if not found[2] < Ball.pi():
        raise NotCertified(_WHAT, "the ellipse is too wide")
    return found


def _beyond(mu: Ball, q: Ball, t: Fraction, growth: Growth, chosen: tuple[Panel, ...]) -> Ball:
    """Beyond the last panel: w^{t+1} with slope at most (t+1)μ in the exponent, and w^{−t} ≤ w^{t+1} or a cosine."""
    end = mu / 2 + ball(chosen[-1].start + chosen[-1].length)
    top = ball(t + 1)
    over = end - top * mu
    if not over > 0:
        raise NotCertified(_WHAT, "the window ends before its peak")
    height = (top * (log_factor(mu, q, end) - mu * end) + top * top * mu * mu / 2).exp()
    bound = 2 * height * upper_tail_bound(over)
    if growth.theta is not None and t > 0:  # |w| ≥ cos(θ/2)·w(x) ≥ cos(θ/2)
        bound += (ball(-t) * (ball(growth.theta) / 2).cos().log()).exp() * upper_tail_bound(end)
    return bound
