"""Where to look: step, range, tilt and window of a grid for a product of laws. Floats only; nothing here is proved.

A coarse picture of each law (``pictures.py``) says where its losses are. A loss far above ε is certain loss but for
e^ε times its mass under Q, which both laws of a grid keep; so the lattice of a step ends (``cap``) where the other
steps can hardly bring the sum below ε again.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import NDArray

from tightrope.errors import NotCertified
from tightrope.numerics import effort
from tightrope.numerics.grid.cells import Floats
from tightrope.numerics.grid.grid_plan import GridPlan, Stream
from tightrope.numerics.grid.lattice_laws import Lattice
from tightrope.numerics.grid.pictures import RISING, Picture
from tightrope.numerics.grid.stream_plan import Reach, climbing

_SMALL = 1e-2  # of ε, or of the largest loss: smaller ones are pictured more coarsely
TILTS = np.concatenate([-RISING[::-1], [0.0], RISING])
_LEFT = 1e-9  # of δ: what may be left to bounds
_NOISE = 2e-14  # about the error of a convolution, for each copy, relative to the norm of a law
_BEARABLE = 5e-7  # of δ: noise
_WINDOWS = 25  # that are tried at first
STEEP = 400.0  # the largest tilt times a loss
_STEPS = 8  # of the lattice, about: by so much it may exceed the losses
_BITS = 5  # of the tilts
_BESIDE = 1e-3  # of ε: what a window has around it
_STEEPER = 1.25  # than a tilt, where any other will do: beyond the largest sum is nothing
_APART = 0.02  # of a tilt: those of bounds are not nearer
_ALMOST = 1e-9  # steps
_COARSER = 1.0  # what a step costs that is as long as the tilt's scale, in those of an atom between points
_TRIED = 300_000  # steps that are tried for the atoms, times those
_PLAN = 300.0, 600.0, 0.5, 50.0  # units of work for a plan, each picture and coarse cell, and each doubling of climbs
_STEP_BITS = 28  # of a step that divides an atom: points and tilted points are floats still


def _chernoff(pictures: Sequence[Picture], level: float = -math.inf) -> Floats:
    """ln of Chernoff's bound of δ(0) for rising tilts; losses of hardly any mass beside e^level are left out."""
    total = np.sum([one.copies * one.log_moments(RISING, cap=high_for(one, level)) for one in pictures], axis=0)
    return np.asarray(total + RISING * np.log(RISING) - (1 + RISING) * np.log1p(RISING))


def rough_epsilon(pictures: Sequence[Picture], goal: float) -> float:
    """Where Chernoff's bound is e^goal: mostly an overestimate of ε."""
    return float(np.min((_chernoff(pictures, goal) - goal) / RISING))


def rough_level(pictures: Sequence[Picture], epsilon: float) -> float:
    """ln of Chernoff's bound at ε: an overestimate of ln δ."""
    return min(float(np.min(_chernoff(pictures) - RISING * epsilon)), 0.0)


def grid_plan(
    pictures: Sequence[Picture],
    epsilon: float,
    level: float,
    length: int,
    split: bool = False,
    climb: bool = False,
    size: float | None = None,
) -> GridPlan:
    """The grid of this length for δ(ε) ≈ e^level: the tilt with the narrowest window of those that floats can bear.

    ``climb``: many steps begin on finer lattices, if that is worth it; ``size``: that of ε, where losses are counted
    from another origin (``moved.py``)."""
    size = abs(epsilon) if size is None else size
    if not all(one.losses.size for one in pictures):
        raise NotCertified("a grid of losses", "a part of a law has no loss")
    rungs = sum(one.copies.bit_length() for one in pictures) if climb else 0
    cells = sum(one.losses.size for one in pictures)
    effort.spend(_PLAN[0] + _PLAN[1] * len(pictures) + _PLAN[2] * cells + _PLAN[3] * rungs, "a grid of losses")
    falling = [one.falling_moments for one in pictures]  # these pictures may be known from another plan
    pictures = [one.thinned(_SMALL * min(one.top, abs(epsilon))) for one in pictures]
    most = _cap(pictures, falling, epsilon, level)
    caps = [min(most, one.top, high_for(one, level)) for one in pictures]
    tried = RISING[: max(int(np.searchsorted(RISING, STEEP / max(caps))), 1)]
    rising = np.sum(
        [one.copies * one.log_moments(tried, cap=cap) for one, cap in zip(pictures, caps, strict=True)], axis=0
    )
    best = float(tried[int(np.argmin(rising - tried * epsilon))])
    lows = [low_for(one, best, cap) for one, cap in zip(pictures, caps, strict=True)]
    shown = list(zip(pictures, lows, caps, strict=True))
    clipped = [one.copies * moments_within(one, low, cap) for one, low, cap in shown]
    total = np.sum(clipped, axis=0)
    height = total - TILTS * epsilon - level  # ln of what a sum of 1 stands for, in δ
    reach = max(*caps, epsilon) - min(lows)
    steep = STEEP / max(*caps, -min(lows), _STEPS * reach / length)
    positive = (TILTS > 0) & (steep > TILTS)
    norms = [one.log_norms(TILTS[positive], reach / length, low, cap) for one, low, cap in shown]
    noise = height + noise_of(sum(one.copies for one in pictures))
    noise[positive] += log_norms(TILTS[positive], reach / length) + np.max(norms, axis=0)
    quiet = math.log(_BEARABLE * min(max(best * size, _LEFT), 1.0))  # ε is off by noise/(−dln δ/dε)
    bearable = np.flatnonzero((noise <= max(quiet, float(noise[positive].min()) + 0.7)) & positive)
    lowest = sum(one.copies * low for one, low in zip(pictures, lows, strict=True))
    highest = sum(one.copies * cap for one, cap in zip(pictures, caps, strict=True))
    windows = _windows(bearable, lambda i: window_at(total, i, height[i], lowest, steep, highest))
    narrowest = min(max(window.top - window.bottom, reach) for window in windows)
    good = [one for one in windows if one.top - one.bottom <= 1.05 * narrowest]
    chosen = min(good, key=lambda window: noise[np.searchsorted(TILTS, window.tilt)])
    bottom = min(chosen.bottom, epsilon - _BESIDE * abs(epsilon))
    top = max(chosen.top, epsilon + _BESIDE * abs(epsilon))
    place = int(np.searchsorted(TILTS, chosen.tilt))
    left = max(height[place], 0.0)
    return laid_out(shown, clipped, replace(chosen, bottom=bottom, top=top), length, split, climb, left)


def moments_within(one: Picture, low: float, cap: float) -> Floats:
    """ln E[e^{tL}] at TILTS, losses beyond the two ends taken as there; ∞ where a tilt leaves the range of floats."""
    some = np.abs(TILTS) * max(cap, -low) < STEEP
    found = np.full(TILTS.size, np.inf)
    found[some] = one.log_moments(TILTS[some], low, cap)
    return found


def laid_out(
    shown: Sequence[tuple[Picture, float, float]],
    moments: Sequence[Floats],
    window: Window,
    length: int,
    split: bool,
    climb: bool,
    height: float,
) -> GridPlan:
    """Lattices for the laws, each between two losses, such that this window holds their sums; ``moments`` are those of
    all steps of each, ``height`` is ln of what a sum of 1 stands for."""
    longest = max(cap - low for _, low, cap in shown)
    wide = max(window.top - window.bottom, longest) / (0.95 * length)
    step = _step(wide, [one for one, _, _ in shown], window.tilt)
    streams: list[tuple[Stream, ...]] = []
    lattices = []
    for (one, low, cap), some in zip(shown, moments, strict=True):
        climbs = []
        if climb:
            place = int(np.searchsorted(TILTS, window.tilt))
            steep = STEEP / max(cap, -low, _STEPS * float(step))  # its own: others may have larger losses
            reach_of = partial(_reach, some / one.copies, place, height + math.log(one.copies), steep)
            climbs = climbing(one.copies, step, length, cap - low, reach_of)
        streams.append(tuple(climbs) or (Stream((), one.copies),))
        finer = step / 2 ** streams[-1][0].doublings
        last = math.ceil(cap / finer) + 1
        lattices.append(Lattice(finer, max(math.floor(low / finer) - 2, last - length + 2), last))
    climb = any(len(climbs) > 1 or climbs[0].rungs for climbs in streams)
    start = math.floor(window.bottom / step) - 3
    least = sum(one.copies * lattice.first for (one, _, _), lattice in zip(shown, lattices, strict=True))
    start = least if least > start - length // 25 and not climb else start
    above, below = _short(window.above, up=True), _short(window.below)
    if window.sure < window.bottom and (climb or least < start):
        return laid_out(shown, moments, replace(window, bottom=window.sure), length, split, climb, height)
    known = tuple(streams) if climb else ()
    return GridPlan(tuple(lattices), _short(window.tilt), start, length, above, below, split or climb, known)


def _reach(moments: Floats, place: int, left: float, steep: float, steps: int) -> Reach:
    """The window of the sum of so many steps."""
    window = window_at(steps * moments, place, left, -math.inf, steep)
    if not math.isfinite(window.top - window.bottom):
        return Reach(-math.inf, math.inf, Fraction(0), Fraction(0))
    return Reach(window.bottom, window.top, _short(window.above, up=True), _short(window.below))


def _cap(pictures: Sequence[Picture], moments: Sequence[Floats], epsilon: float, level: float) -> float:
    """From where on the other steps bring a sum below ε with a chance that is nothing beside δ; ``moments``: ln
    E[e^{−tL}] of each law."""
    total = np.sum([one.copies * moment for one, moment in zip(pictures, moments, strict=True)], axis=0)
    losses = np.concatenate([one.losses for one in pictures])
    tried = np.unique(losses[losses > epsilon])
    others = [total - moment for moment in moments]
    after = [np.append(np.cumsum(one.masses[::-1])[::-1], 0.0) for one in pictures]

    def cost(place: int) -> float:
        loss, found = float(tried[place]), 0.0
        for one, other, beyond in zip(pictures, others, after, strict=True):
            back = min(float(np.min(other - RISING * (loss - epsilon))), 0.0)
            found += one.copies * float(beyond[np.searchsorted(one.losses, loss)]) * math.exp(back)
        return found

    enough = bisect_left(range(tried.size), True, key=lambda place: cost(place) <= math.exp(level) * _LEFT)  # it falls
    return float(tried[enough]) if enough < tried.size else max(one.top for one in pictures)


def noise_of(copies: int) -> float:
    """ln of about the error of a convolution, relative to the norm of a law."""
    return math.log(_NOISE * copies)


def log_norms(tilts: Floats, step: float) -> Floats:
    """ln of the Euclidean norm of e^{−td}(1 − e^{−d}) over the points d > 0 (``GridSum``)."""
    return np.asarray(-0.5 * np.log(2 * tilts * (2 * tilts + 1) * (tilts + 1) * step))


@dataclass(frozen=True)
class Window:
    """A tilt, and what is then left to bounds."""

    tilt: float
    bottom: float
    top: float
    below: float
    above: float
    sure: float = -math.inf  # the bottom where rounding may bring sums below all that there are


def window_at(
    total: Floats, place: int, height: float, lowest: float, steep: float, highest: float = math.inf
) -> Window:
    """Such that what is outside is below _LEFT of δ; no sum is below ``lowest``, and hardly one above ``highest``."""
    tilt = float(TILTS[place])
    left = math.log(_LEFT) - max(height, 0.0) + float(total[place])
    first, below, above, last = np.searchsorted(TILTS, [-steep, (1 - _APART) * tilt, (1 + _APART) * tilt, steep])
    down, up = slice(first, below), slice(above, last)
    if first >= below or not (above < last or math.isfinite(highest)):
        return Window(tilt, -math.inf, math.inf, math.nan, math.nan)
    bottoms = (total[down] - left) / (TILTS[down] - tilt)
    low = int(np.argmax(bottoms))
    bottom = max(float(bottoms[low]), lowest)
    if above >= last:  # near the largest sum, where no tilt is steep enough
        return Window(tilt, bottom, highest, float(TILTS[first + low]), _STEEPER * tilt, float(bottoms[low]))
    tops = (total[up] - left) / (TILTS[up] - tilt)
    high = int(np.argmin(tops))
    tilts = float(TILTS[first + low]), float(TILTS[above + high])
    return Window(tilt, bottom, float(tops[high]), *tilts, float(bottoms[low]))


def _windows(places: NDArray[np.intp], window: Callable[[int], Window]) -> list[Window]:
    """Of some tilts, and of all near the one with the narrowest."""
    apart = -(-places.size // _WINDOWS)
    found = {int(i): window(int(i)) for i in places[::apart]}
    best = min(found, key=lambda i: found[i].top - found[i].bottom)
    found |= {int(i): window(int(i)) for i in places if abs(i - best) < apart and int(i) not in found}
    return list(found.values())


def high_for(one: Picture, level: float) -> float:
    """Above which there is hardly any mass, beside e^level: it may well be certain loss."""
    beyond = np.cumsum(one.masses[::-1])[::-1] * one.copies
    place = int(np.searchsorted(-beyond, -math.exp(max(level, -690.0)) * _LEFT))
    return float(one.losses[place]) if place < one.losses.size else math.inf


def low_for(one: Picture, tilt: float, cap: float) -> float:
    """Below which a loss no longer matters, even if it is raised to there."""
    floor = float(one.floors[0])
    with np.errstate(divide="ignore"):
        weights = np.log(one.masses) + tilt * np.minimum(one.losses, cap)
        top = float(weights.max())
        least = top + math.log(float(np.exp(weights - top).sum()) * _LEFT / one.copies)
        raised = (least - np.log(np.cumsum(one.masses)[:-1])) / tilt
    return float(np.max(np.minimum(one.floors[1:], raised), initial=floor - 0.1 * abs(floor)))


def _step(least: float, pictures: Sequence[Picture], tilt: float) -> Fraction:
    """A step from ``least`` to twice that, if there are atoms: the one on whose lattice they lie most nearly, each as
    it counts after tilting. The one that counts most lies on it, but for the rounding of the step."""
    listed = []
    for one in pictures:
        whole = float(one.log_moments(np.array([tilt]))[0])
        for place, mass in one.atoms:
            share = math.exp(min(math.log(mass) + tilt * place - whole, 0.0)) if mass > 0 else 0.0
            if abs(place) > least > 0 and one.copies * share > _LEFT:
                listed.append((place, one.copies, share))
    if not listed:
        return _short(least, up=True)
    places, copies, shares = np.array(listed).T
    top = float(abs(places[int(np.argmax(copies * shares))]))
    most = math.floor(top / least)
    tried = min(most, _TRIED // len(listed))
    numbers = np.linspace(max(most // 2, 1), most, tried).astype(np.int64)  # they rise
    numbers = numbers[np.diff(numbers, prepend=-1) > 0]
    costs = np.zeros(numbers.size)
    for place, number, share in zip(places / top, copies, shares, strict=True):
        above = place * numbers + _ALMOST
        above -= np.floor(above)
        # The lesser law moves an atom down to the point below; or all points down, if it is just below one.
        costs += number * np.minimum(share * np.maximum(above - _ALMOST, 0.0), 1 - above)
    # A finer step is better beside, by its square.
    best = numbers[int(np.argmin((costs + _COARSER * copies.sum() * tilt * least) / numbers))]
    return _short(top / float(best), up=True, bits=_STEP_BITS)


def _short(x: float, up: bool = False, bits: int = _BITS) -> Fraction:
    """A dyadic number of few bits near x, not below it or not above."""
    if not math.isfinite(x):
        raise NotCertified("a grid of losses", "no tilt bounds its window")
    mantissa, exponent = math.frexp(x)
    scaled = mantissa * 2**bits
    return Fraction(math.ceil(scaled) if up else math.floor(scaled)) * Fraction(2) ** (exponent - bits)
