"""Choosing among scores of any size, exactly: exponential mechanism, noisy max, permute-and-flip, above threshold."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import accumulate

from tightrope.noise.blocks import Lazy, laplace_shape, magnitudes
from tightrope.noise.entropy import Source
from tightrope.noise.uniform import Uniform, decaying_coin, whole_below
from tightrope.numerics.balls import Ball, ball, precision

FEW = 256  # weights looked at first


def any_of(source: Source, count: int) -> int:
    """All equally likely."""
    return whole_below(source, count)


def exponential(source: Source, scores: Sequence[Fraction], rate: Fraction) -> int:
    """i with chance ∝ e^{rate·score_i}: first the value of the score, then one of those that have it."""
    best = max(scores)
    places: dict[Fraction, list[int]] = {}
    for i, score in enumerate(scores):
        places.setdefault(score, []).append(i)
    levels = sorted(places, reverse=True)
    chosen = weighted(source, [len(places[level]) for level in levels], lambda i: rate * (best - levels[i]))
    held = places[levels[chosen]]
    return held[whole_below(source, len(held))]


def weighted(source: Source, counts: Sequence[int], falls: Callable[[int], Fraction]) -> int:
    """i with chance ∝ counts[i]·e^{−falls(i)}, by inversion in balls: bits are drawn until it is certain.

    The falls must not decrease: far down the list only a bound of what is left is needed, unless U lands there.
    """
    u, looked_at = Uniform(source), FEW
    left = list(accumulate(reversed([int(n) for n in counts]), initial=0))[::-1]  # left[i] = counts[i] + …
    while True:
        u.refine()
        with precision(128 + 2 * u.known):
            found = _inverted(u, counts, falls, left, min(looked_at, len(counts)))
        if found is not None:
            return found
        looked_at *= 8


def _inverted(
    u: Uniform, counts: Sequence[int], falls: Callable[[int], Fraction], left: list[int], looked_at: int
) -> int | None:
    sums, total = [], Ball(0)
    for i in range(looked_at):
        total = total + int(counts[i]) * (-ball(falls(i))).exp()
        sums.append(total)
    if looked_at < len(counts):
        total = total + (left[looked_at] * (-ball(falls(looked_at))).exp()).union(Ball(0))
    low, high = total * u.prefix, total * (u.prefix + 1)
    scaled = [s * (1 << u.known) for s in sums]
    # The first i that is not certainly passed; it is certain itself if U lies wholly below it.
    i = bisect_left(scaled, True, key=lambda s: not bool(s <= low))
    if i >= len(counts) - 1:
        return len(counts) - 1
    return i if i < looked_at and scaled[i] >= high else None


def permute_and_flip(source: Source, scores: Sequence[Fraction], rate: Fraction) -> int:
    """Candidates in random order; the first whose coin of chance e^{−rate(best − score)} falls is taken."""
    best = max(scores)
    left = list(range(len(scores)))
    while True:
        place = whole_below(source, len(left))
        left[place], left[-1] = left[-1], left[place]
        candidate = left.pop()
        if decaying_coin(source, rate * (best - scores[candidate])):
            return candidate


def noisy_max(source: Source, scores: Sequence[Fraction], scale: Fraction) -> int:
    """The place of the largest score + Lap(scale), decided on the exact sums."""
    shape = laplace_shape(scale)
    drawn = magnitudes(shape, source, len(scores))
    noise = [drawn.lazy(shape, source, i) for i in range(len(scores))]
    open_places = list(range(len(scores)))
    while True:
        ends = {i: tuple(scores[i] + end for end in noise[i].ends()) for i in open_places}
        floor = max(low for low, _ in ends.values())
        open_places = [i for i in open_places if ends[i][1] > floor or ends[i][0] == floor]
        if len(open_places) == 1:
            return open_places[0]
        for i in open_places:
            noise[i].offset.refine()


def above_threshold(
    source: Source, answers: Iterable[Fraction], threshold: Fraction, scales: tuple[Fraction, Fraction], count: int
) -> list[bool]:
    """Whether answer + Lap(scales[1]) ≥ threshold + Lap(scales[0]), one by one, until ``count`` are."""
    limit, shape = laplace_shape(scales[0]), laplace_shape(scales[1])
    bar = magnitudes(limit, source, 1).lazy(limit, source, 0)
    told: list[bool] = []
    for answer in answers:
        noise = magnitudes(shape, source, 1).lazy(shape, source, 0)
        told.append(_reaches(noise, bar, threshold - answer))
        if sum(told) == count:
            break
    return told


def _reaches(noise: Lazy, bar: Lazy, distance: Fraction) -> bool:
    """Whether noise ≥ bar + distance; both are refined until it is certain."""
    while True:
        (low, high), (least, most) = noise.ends(), bar.ends()
        if low >= most + distance:
            return True
        if high <= least + distance:
            return False
        noise.offset.refine()
        bar.offset.refine()
