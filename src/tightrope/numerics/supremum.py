"""Enclosing suprema: a point found by search is only a lower bound, the upper end needs cells that cover."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from heapq import heappop, heappush

from tightrope.numerics.balls import INFINITY, Ball, ball, between

__all__ = ["ratio_supremum", "supremum"]

_WHOLE = 4  # as long as that, a cell may be cut at a whole number
_FEWEST = 16  # cells that are looked at for a lower end


def supremum(
    enclose: Callable[[Ball], Ball], low: Fraction, high: Fraction, relative: float = 1e-9, work: int = 4000
) -> Ball:
    """A ball around sup f on [low, high], where ``enclose(cell)`` contains f on the whole cell.

    It ends at the relative gap, or after ``work`` cells: then it is wider and still a proof.
    """

    def bound(a: Fraction, b: Fraction) -> Ball:
        return enclose(between(ball(a), ball(b)))

    return _enclosed(bound, lambda at: enclose(ball(at)), [(low, high)], relative, work)


def ratio_supremum(
    cumulant: Callable[[Fraction], Ball],
    low: Fraction,
    high: Fraction,
    relative: float = 1e-9,
    work: int = 600,
    head: bool = False,
) -> Ball:
    """A ball around sup K(λ)/(λ(λ+1)) over λ in [low, high], for K convex with K(0) = 0, known at points.

    With K(λ) = λ D_{1+λ} this is the supremum of D_α/α over orders α = 1 + λ. ``head`` extends it to
    (0, high], and so does low = 0. A point where K is infinite makes the supremum infinite. Where the ratio
    is constant the gap only falls like 1/work²: there a closed form is better.
    """
    known: dict[Fraction, Ball] = {Fraction(0): Ball(0)}

    def k(at: Fraction) -> Ball:
        if at not in known:
            known[at] = cumulant(at)
        return known[at]

    def bound(a: Fraction, b: Fraction) -> Ball:
        return _chord_bound(a, b, _above(k(a)), _above(k(b)))

    def value(at: Fraction) -> Ball:
        return k(at) / ball(at * (at + 1)) if at else -INFINITY

    cells = [(low, high)] if low < high else []
    if head and low > 0:
        cells.append((Fraction(0), low))
    if not cells:
        return value(low)
    return _enclosed(bound, value, cells, relative, work)


def _chord_bound(a: Fraction, b: Fraction, at_a: Ball, at_b: Ball) -> Ball:
    """An upper bound of K(λ)/(λ(λ+1)) on [a, b] (or (0, b]) from upper bounds of the convex K at the ends.

    K lies under its chord c + dλ, and (c + dλ)/(λ(λ+1)) is stationary where dλ² + 2cλ + c = 0: it is d/(2λ+1)
    there.
    """
    if not (at_a.is_finite() and at_b.is_finite()):
        return INFINITY
    if not a:
        return at_b.max(Ball(0)) / ball(b)  # K(λ)/λ is non-decreasing, and λ + 1 ≥ 1
    d = (at_b - at_a) / ball(b - a)
    c = at_a - d * ball(a)
    ends = (at_a / ball(a * (a + 1))).max(at_b / ball(b * (b + 1)))
    if d >= 0 and c >= 0:  # no positive stationary point
        return ends
    if d > 0 and c < 0:  # exactly one
        at = (-c + (c * c - c * d).sqrt()) / d
        inside = not (at < ball(a) or at > ball(b))
        return ends.max(d / (2 * at + 1)) if inside else ends
    # Signs not decided at this precision (an exact K has d ≥ 0 ≥ c): the greatest top over the least base.
    return at_a.max(at_b).max(Ball(0)) / ball(a * (a + 1))


def _above(value: Ball) -> Ball:
    return INFINITY if value.is_nan() else value.upper()


def _below(value: Ball) -> Ball:
    return -INFINITY if value.is_nan() else value.lower()


def _enclosed(
    bound: Callable[[Fraction, Fraction], Ball],
    value: Callable[[Fraction], Ball],
    cells: list[tuple[Fraction, Fraction]],
    relative: float,
    work: int,
) -> Ball:
    """Branch and bound: split the cell with the greatest upper bound until it meets the best point found, or the best
    that some point may be: where the values themselves are wide, more of them bring the upper end no further down."""
    best, possible = -INFINITY, -INFINITY
    queue: list[tuple[Ball, int, Fraction, Fraction]] = []
    made = 0

    def visit(a: Fraction, b: Fraction, most: Ball = INFINITY) -> None:
        nonlocal best, possible, made
        made += 1
        for end in (a, b):
            found = value(end)
            best, possible = best.max(_below(found)), possible.max(_above(found))
        heappush(queue, (-_above(bound(a, b)).min(most), made, a, b))

    for a, b in cells:
        visit(a, b)
    while made < work:
        top = -queue[0][0]
        met = best if made < _FEWEST else best.max(possible)
        if best == INFINITY or (top.is_finite() and top - met <= abs(top) * Ball(relative)):
            break
        _, _, a, b = heappop(queue)
        middle = _middle(a, b)
        visit(a, middle, top)  # what holds for a cell holds for its halves
        visit(middle, b, top)
    return between(best, (-queue[0][0]).max(best))


def _middle(a: Fraction, b: Fraction) -> Fraction:
    """Where to cut: by powers of two while the ends differ in size, then in half; at a whole number if one is as good,
    since many a function is a short sum there."""
    middle = b / 4 if not a else a * (1 << int(b / a).bit_length() // 2) if 0 < 4 * a <= b else (a + b) / 2
    whole = Fraction(round(middle))
    return whole if b - a > _WHOLE and a < whole < b else middle
