"""Where to look: step, range, tilt and window of a grid for a product of laws. Floats only; nothing here is proved.

A coarse picture of each law, a thousand cells from 10⁻⁹ to 450 on both sides of 0, says where its losses are. A loss
far above ε is certain loss but for e^ε times its mass under Q, which both laws of a grid keep; so the lattice of a
step ends (``cap``) where the other steps can hardly bring the sum below ε again.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tightrope.errors import NotCertified
from tightrope.numerics.balls import precision
from tightrope.numerics.grid.cells import CellLaw, Floats
from tightrope.numerics.grid.grid_plan import GridPlan
from tightrope.numerics.grid.lattice_laws import Lattice

_COARSE = 600
_HIGHEST = 450.0
_RISING = np.geomspace(1e-3, 1e7, 201)
_TILTS = np.concatenate([-_RISING[140::-1], [0.0], _RISING])
_LEFT = 1e-9  # of δ: what may be left to bounds
_NOISE = 2e-14  # about the error of a convolution, for each copy, relative to the norm of a law
_BEARABLE = 5e-7  # of δ: noise
_STEEP = 400.0  # the largest tilt times a loss
_BITS = 5  # of the tilts
_ALMOST = 1e-9  # steps
_COARSER = 1.0  # what a step costs that is as long as the tilt's scale, in those of an atom between points
_TRIED = 1_000_000  # steps that are tried for the atoms, times those
_STEP_BITS = 28  # of a step that divides an atom: points and tilted points are floats still


@dataclass(frozen=True)
class Picture:
    """Losses and P-masses of one law in rising order, coarsely."""

    losses: Floats
    masses: Floats
    copies: int
    atoms: tuple[tuple[float, float], ...] = ()  # their losses and masses, too

    def log_moments(self, tilts: Floats, low: float = -math.inf, cap: float = math.inf) -> Floats:
        """ln E[e^{tL}] for every tilt, losses beyond the two ends taken as there."""
        with np.errstate(divide="ignore"):
            exponents = np.log(self.masses) + tilts[:, None] * np.clip(self.losses, low, cap)
        top = exponents.max(axis=1)
        return np.asarray(top + np.log(np.exp(exponents - top[:, None]).sum(axis=1)))

    def log_norms(self, tilts: Floats, step: float, low: float, cap: float) -> Floats:
        """ln of the Euclidean norm on a lattice after tilting, what is on the point 0 left out."""
        losses = np.clip(self.losses, low, cap)
        with np.errstate(divide="ignore"):
            exponents = np.log(self.masses) + tilts[:, None] * losses
        shares = np.exp(exponents - exponents.max(axis=1)[:, None])
        shares /= shares.sum(axis=1)[:, None]
        gaps = np.gradient(self.losses) if self.losses.size > 1 else np.zeros(1)
        alone = step / np.maximum(gaps, step) * (self.losses != 0)  # of a point, of a coarse cell
        return np.asarray(np.log((shares * shares * alone).sum(axis=1) + 1e-300) / 2)


def picture(law: CellLaw, copies: int) -> Picture:
    """The law in a thousand cells."""
    side = np.geomspace(1e-9, _HIGHEST, _COARSE)
    edges = np.concatenate([-side[::-1], [0.0], side])
    cells = law.cells(edges)
    p, q = cells.p_high, cells.q_high
    some = (p > 1e-290) & (q > 1e-290)
    middle = np.concatenate([[edges[0]], (edges[1:] + edges[:-1]) / 2, [edges[-1]]])[some]
    spread = np.concatenate([[1.0], np.diff(edges), [_HIGHEST]])[some]
    # Rounding hides the loss of tiny cells.
    losses = np.clip(np.log(p[some] / q[some]), middle - spread, middle + spread)
    atoms = law.atoms()
    with precision(80):
        known = tuple((float(atom.loss.ball().mid()), float(atom.mass.ball().mid())) for atom in atoms)
    losses = np.concatenate([losses, [loss for loss, _ in known]])
    masses = np.concatenate([p[some], [mass for _, mass in known]])
    order = np.argsort(losses, kind="stable")
    return Picture(losses[order], masses[order], copies, known)


def rough_epsilon(pictures: Sequence[Picture], goal: float) -> float:
    """Where Chernoff's bound is e^goal: an overestimate of ε."""
    total = np.sum([one.copies * one.log_moments(_RISING) for one in pictures], axis=0)
    constants = _RISING * np.log(_RISING) - (1 + _RISING) * np.log1p(_RISING)
    return float(np.min((total + constants - goal) / _RISING))


def rough_level(pictures: Sequence[Picture], epsilon: float) -> float:
    """ln of Chernoff's bound at ε: an overestimate of ln δ."""
    total = np.sum([one.copies * one.log_moments(_RISING) for one in pictures], axis=0)
    constants = _RISING * np.log(_RISING) - (1 + _RISING) * np.log1p(_RISING)
    return min(float(np.min(total + constants - _RISING * epsilon)), 0.0)


def grid_plan(pictures: Sequence[Picture], epsilon: float, level: float, length: int, split: bool = False) -> GridPlan:
    """The grid of this length for δ(ε) ≈ e^level: the tilt with the narrowest window of those that floats can bear."""
    cap = _cap(pictures, epsilon, level)
    rising = np.sum([one.copies * one.log_moments(_RISING, cap=cap) for one in pictures], axis=0)
    best = float(_RISING[int(np.argmin(rising - _RISING * epsilon))])
    lows = [_low(one, best, cap) for one in pictures]
    clipped = [one.copies * one.log_moments(_TILTS, low, cap) for one, low in zip(pictures, lows, strict=True)]
    total = np.sum(clipped, axis=0)
    height = total - _TILTS * epsilon - level  # ln of what a sum of 1 stands for, in δ
    reach = max(cap, epsilon) - min(lows)
    norms = [one.log_norms(_RISING, reach / length, low, cap) for one, low in zip(pictures, lows, strict=True)]
    noise = height + math.log(_NOISE * sum(one.copies for one in pictures))
    noise[-_RISING.size :] += _log_norms(_RISING, reach / length) + np.max(norms, axis=0)
    positive = (_TILTS > 0) & (_TILTS * max(cap, 1e-300) < _STEEP)
    most = math.log(_BEARABLE * min(max(best * epsilon, _LEFT), 1.0))  # ε is off by noise/(−dln δ/dε)
    bearable = np.flatnonzero((noise <= max(most, float(noise[positive].min()) + 0.7)) & positive)
    lowest = sum(one.copies * low for one, low in zip(pictures, lows, strict=True))
    steep = _STEEP / max(cap, -min(lows), 1e-300)
    windows = [_window(total, int(i), height[i], lowest, steep) for i in bearable]
    narrowest = min(max(window.top - window.bottom, reach) for window in windows)
    good = [one for one in windows if one.top - one.bottom <= 1.05 * narrowest]
    chosen = min(good, key=lambda window: noise[np.searchsorted(_TILTS, window.tilt)])
    bottom = min(chosen.bottom, epsilon - 1e-3 * abs(epsilon))
    top = max(chosen.top, epsilon + 1e-3 * abs(epsilon))
    longest = max(min(cap, float(one.losses[-1])) - low for one, low in zip(pictures, lows, strict=True))
    step = _step(max(top - bottom, longest) / (0.95 * length), pictures, chosen.tilt)
    lattices = []
    for one, low in zip(pictures, lows, strict=True):
        last = math.ceil(min(cap, float(one.losses[-1])) / step) + 1
        lattices.append(Lattice(step, max(math.floor(low / step) - 2, last - length + 2), last))
    start = math.floor(bottom / step) - 3
    least = sum(one.copies * lattice.first for one, lattice in zip(pictures, lattices, strict=True))
    start = least if least > start - length // 25 else start
    above, below = _short(chosen.above, up=True), _short(chosen.below)
    return GridPlan(tuple(lattices), _short(chosen.tilt), start, length, above, below, split)


def _cap(pictures: Sequence[Picture], epsilon: float, level: float) -> float:
    """From where on the other steps bring a sum below ε with a chance that is nothing beside δ."""
    total = np.sum([one.copies * one.log_moments(-_RISING) for one in pictures], axis=0)
    losses = np.concatenate([one.losses for one in pictures])
    tried = np.unique(losses[losses > epsilon])
    beyond = np.zeros(tried.size)
    for one in pictures:
        after = np.append(np.cumsum(one.masses[::-1])[::-1], 0.0)
        beyond += one.copies * after[np.searchsorted(one.losses, tried, side="left")]
    with np.errstate(divide="ignore"):
        costs = np.log(beyond) + np.min(total[:, None] - np.outer(_RISING, tried - epsilon), axis=0).clip(max=0.0)
    enough = np.flatnonzero(costs < level + math.log(_LEFT))
    return float(tried[enough[0]]) if enough.size else float(losses.max())


def _log_norms(tilts: Floats, step: float) -> Floats:
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


def _window(total: Floats, place: int, height: float, lowest: float, steep: float) -> Window:
    """Such that what is outside is below _LEFT of δ; no sum is below ``lowest``."""
    tilt = float(_TILTS[place])
    left = math.log(_LEFT) - max(height, 0.0)
    gaps, gains = _TILTS - tilt, total - total[place]
    up = np.flatnonzero((gaps > 0.02 * tilt) & (steep > _TILTS))
    down = np.flatnonzero((gaps < -0.02 * tilt) & (-steep < _TILTS))
    if not up.size or not down.size:
        return Window(tilt, -math.inf, math.inf, math.nan, math.nan)
    tops, bottoms = (gains[up] - left) / gaps[up], (gains[down] - left) / gaps[down]
    high, low = int(np.argmin(tops)), int(np.argmax(bottoms))
    bottom = max(float(bottoms[low]), lowest)
    return Window(tilt, bottom, float(tops[high]), float(_TILTS[down[low]]), float(_TILTS[up[high]]))


def _low(one: Picture, tilt: float, cap: float) -> float:
    """Below which a loss no longer matters."""
    with np.errstate(divide="ignore"):
        weights = np.log(one.masses) + tilt * np.minimum(one.losses, cap)
    share = np.cumsum(np.exp(weights - weights.max()))
    place = int(np.searchsorted(share, share[-1] * _LEFT / one.copies))
    least = float(one.losses[0])
    return float(one.losses[place - 1]) if place > 0 else least - 0.1 * abs(least)  # a coarse cell reaches further down


def _step(least: float, pictures: Sequence[Picture], tilt: float) -> Fraction:
    """A step from ``least`` to twice that, if there are atoms: the one on whose lattice they lie most nearly, each as
    it counts after tilting. The one that counts most lies on it, but for the rounding of the step."""
    listed = []
    for one in pictures:
        whole = float(one.log_moments(np.array([tilt]))[0])
        for place, mass in one.atoms:
            if abs(place) > least > 0 and mass > 0:
                listed.append((place, one.copies, math.exp(min(math.log(mass) + tilt * place - whole, 0.0))))
    if not listed:
        return _short(least, up=True)
    places, copies, shares = np.array(listed).T
    top = float(abs(places[int(np.argmax(copies * shares))]))
    most = math.floor(top / least)
    tried = min(most, _TRIED // len(listed))
    numbers = np.unique(np.linspace(max(most // 2, 1), most, tried).astype(np.int64))
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
