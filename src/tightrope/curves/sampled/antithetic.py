"""Exchanging a record is removing one and adding another: the two likelihood ratios, laid against each other.

Realise the law without the record as uniform u in [0, 1]. With r(u) the rising quantile function of dP/dQ under Q the
pair of densities (r(u), r(1 − u)) dominates every exchange whose removals (P, Q) dominates; on a Poisson sample the
densities are 1 − q + q·r(u) and 1 − q + q·r(1 − u).
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from tightrope.curves.finite_pair import FinitePair
from tightrope.numerics.balls import Ball, ball, precision
from tightrope.numerics.breaks import Breaks
from tightrope.numerics.real import ZERO, Real
from tightrope.numerics.remembered import sharply
from tightrope.numerics.sums.finite import scattered

_MOST_STEPS = 2000


def antithetic(forward: FinitePair, backward: FinitePair, rate: Fraction) -> FinitePair | None:
    """The pair of a Poisson sample under replace, from (P, Q) and (Q, P); None where breaks cannot be told apart."""
    steps = _steps(forward, backward)
    if steps is None or len(steps) > _MOST_STEPS:
        return None
    rising, last = [loss for loss, _ in steps], len(steps) - 1
    breaks = Breaks([mass for _, mass in steps])
    merged = breaks.merged()
    if merged is None:
        return None
    values, weights = [], []
    infinite = forward.law.infinite * rate  # where only P is: mass of the first alone, whatever the other does
    start = (0, 0)
    for end in merged:
        up, down = rising[start[0]], rising[last - start[1]]
        weight = _weight(breaks, start, end, up, rate)
        if rate == 1 and down is None and up is not None:
            infinite = infinite + weight
        elif rate < 1 or up is not None:
            values.append(_loss(up, down, rate))
            weights.append(weight)
        start = end
    key = ("antithetic", forward, backward, rate)
    return FinitePair(key, scattered(values, weights, infinite), forward.composes and backward.composes)


def _steps(forward: FinitePair, backward: FinitePair) -> list[tuple[Real | None, Real]] | None:
    """The losses in rising order, each with its mass under Q; None stands for −∞."""
    there = _sorted(forward, 1)
    back = _sorted(backward, -1)
    if there is None or back is None or len(there) != len(back):
        return None
    found: list[tuple[Real | None, Real]] = []
    if backward.law.infinite.rational != 0:
        found.append((None, backward.law.infinite))
    return found + [(loss, mass) for (loss, _), (_, mass) in zip(there, back, strict=True)]


def _sorted(pair: FinitePair, sign: int) -> list[tuple[Real, Real]] | None:
    live = [(v, m) for v, m in zip(pair.law.values, pair.law.masses, strict=True) if m.rational != 0]
    with precision(256):
        keyed = sorted(((sign * v.ball(), i) for i, (v, _) in enumerate(live)), key=lambda one: float(one[0].mid()))
        if any(not a[0] < b[0] for a, b in pairwise(keyed)):
            return None
    return [live[i] for _, i in keyed]


def _factor(loss: Real | None, rate: Fraction) -> Ball:
    """1 − q + q·r."""
    return 1 + ball(rate) * (loss.ball().expm1() if loss is not None else Ball(-1))


def _loss(up: Real | None, down: Real | None, rate: Fraction) -> Real:
    if up is down or (up is not None and down is not None and up.rational is not None and up.rational == down.rational):
        return ZERO
    if rate == 1 and up is not None and down is not None and up.rational is not None and down.rational is not None:
        return Real(up.rational - down.rational)
    return Real(None, lambda: _factor(up, rate).log() - _factor(down, rate).log())


def _weight(breaks: Breaks, start: tuple[int, int], end: tuple[int, int], up: Real | None, rate: Fraction) -> Real:
    """A narrow cell is a difference of numbers near 1, and its factor may be e^600."""
    return sharply(lambda: breaks.width(start, end) * _factor(up, rate))
