"""δ of compositions of any laws of atoms, in floats, by two methods that share nothing with the one under test.

Atoms are split onto a lattice so that their masses under both hypotheses stay. Steps that lose more than twice ε and
several deviations count P − e^ε Q in closed form, which is what they bring, up to far less than is seen here.
*Tilted*: the others are weighed by e^{tL}, and powers are taken in Fourier space; that drowns where steps are rare and
δ tiny. *Plain*: positive masses are convolved as they are, which loses no relative accuracy at any δ, but affords few
points. Both overstate δ by a term that falls with the step of the lattice, so three lattices tell how far off they are.
"""

from __future__ import annotations

import numpy as np
from reference_laws import Atoms, Law, atoms
from scipy import fft, optimize

NOISE = 1e-3  # the share of δ that may be round-off
WINDOW = 32.0  # nats by which what is outside a window is smaller
CAP, DEVIATIONS, ROUNDS = 2.0, 8.0, 40
ROUNDED = 1e-14  # relatively: what losses are known to
CUT = 1e-4  # of ln δ: what cells of noise may hide
RESOLVED = 0.1  # of ln δ
PLAIN = 2**12

Steps = list[tuple[int, Atoms]]


def far_above(steps: Steps, x: float) -> float:
    """A loss from which the other steps hardly ever lead back below x: they may be as large themselves."""
    cap = x
    for _ in range(ROUNDS):
        variance = sum(count * float(masses @ np.clip(losses, -cap, cap) ** 2) for count, (masses, losses) in steps)
        before, cap = cap, CAP * x + DEVIATIONS * float(np.sqrt(variance))
        if cap <= 1.01 * before:
            break
    return cap


def capped(steps: Steps, x: float) -> tuple[Steps, float]:
    """The steps without losses far above x, and what the paths with such a loss bring."""
    kept: Steps = []
    cap = far_above(steps, x)
    log_p = log_q = 0.0
    for count, (masses, losses) in steps:
        low, high = (losses <= cap) & (masses > 0), losses > cap
        kept.append((count, (masses[low], losses[low])))
        log_p += count * np.log1p(-min(1.0, float(masses[high].sum())))
        log_q += count * np.log1p(-min(1.0, float(masses[high] @ np.exp(-losses[high]))))
    return kept, -float(np.expm1(log_p)) + float(np.exp(x) * np.expm1(log_q))


def log_moment(steps: Steps, t: float) -> float:
    """ln E_P e^{tL} of all steps."""
    return sum(count * float(np.logaddexp.reduce(np.log(masses) + t * losses)) for count, (masses, losses) in steps)


def on_lattice(step: Atoms, first: int, size: int, h: float) -> np.ndarray:
    """Masses under P on the points (first + i)h; what lies outside is left out."""
    masses, losses = step
    cell = np.floor(losses / h)
    inside = (cell >= first) & (cell + 1 < first + size)
    cell, losses, masses = cell[inside], losses[inside], masses[inside]
    right = np.expm1(cell * h - losses) / np.expm1(-h)
    index = (cell - first).astype(int)
    return np.bincount(index, masses * (1 - right), size) + np.bincount(index + 1, masses * right, size)


def moved(step: Atoms, h: float) -> float:
    """The variance that splitting adds to one step's loss."""
    masses, losses = step
    place = losses / h - np.floor(losses / h)
    return float(masses @ (place * (1 - place))) * h * h


def tilted(steps: Steps, x: float, size: int) -> float:
    """E[(1 − e^{x−L})₊] by Fourier transforms; nan where it drowns."""
    found = optimize.minimize_scalar(
        lambda u: log_moment(steps, np.exp(u)) - np.exp(u) * x, bounds=(-4, 17), method="bounded"
    )
    t = float(np.exp(found.x))
    k0 = log_moment(steps, t)
    steeper = [t * g for g in (1.01, 1.03, 1.1, 1.2, 1.5, 2, 3)]
    reach = min((log_moment(steps, u) - k0 + WINDOW) / (u - t) - x for u in steeper)
    h = 2 * (x + max(reach, WINDOW / t)) / size
    first = -size // 2
    points = (first + np.arange(size)) * h
    total, scale = np.ones(size // 2 + 1, complex), 0.0
    for count, step in steps:
        law = on_lattice(step, first, size, h)
        with np.errstate(divide="ignore"):
            logs = np.log(law) + t * (points - x / sum(count for count, _ in steps))
        peak = float(np.logaddexp.reduce(logs))
        total *= fft.rfft(np.roll(np.exp(logs - peak), first)) ** count
        scale += count * peak
    order = round(x / h) - size // 2 + np.arange(size)
    weights, far = fft.irfft(total, size)[order % size], np.maximum(order * h - x, 0)
    counted = np.exp(-t * far) * -np.expm1(-far)
    units = 2e-16 * (10 + sum(count for count, _ in steps))
    noise = 3 * units * np.sqrt(weights @ weights / size * (counted @ counted))
    noise += ROUNDED * x * float(weights[order * h > x - h] @ np.exp(-t * far[order * h > x - h]))
    value = float(weights @ counted)
    return value * float(np.exp(min(scale, 700.0))) if noise < NOISE * value else float("nan")


def plain(steps: Steps, x: float, size: int) -> float:
    """The same by direct convolution around 0; sums that leave the lattice upwards count 1 − e^{x−L}."""
    h = 2 * far_above(steps, x) / size
    first = -size // 2
    points = (first + np.arange(size)) * h
    brought = -np.expm1(np.minimum(x - points, 0))
    if sum(count * moved(step, h) for count, step in steps) > min((x / 8) ** 2, x / 4):  # means move by half of that
        return float("nan")

    def of_both(one: np.ndarray, two: np.ndarray) -> np.ndarray:
        whole = np.convolve(one, two)
        kept = whole[-first : size - first].copy()
        beyond = whole[size - first :]
        kept[-1] += beyond @ -np.expm1(x - (size + first + np.arange(len(beyond))) * h) / brought[-1]
        return kept

    total = np.zeros(size)
    total[-first] = 1.0
    for count, step in steps:
        power = on_lattice(step, first, size, h)
        left = count
        while left:
            if left % 2:
                total = of_both(total, power)
            left //= 2
            power = of_both(power, power) if left else power
    value = float(total @ brought)
    return value if ROUNDED * x * float(total[points > x - h].sum()) < NOISE * value else float("nan")


def sizes(points: int) -> tuple[int, int, int]:
    """Three lattices on which ε and the atoms near it lie differently: aligned ones would agree on a wrong value."""
    return points // 4 + 6, points // 2 + 58, points + 210


def log_delta(laws: list[Law], x: float, size: int = 2**16) -> tuple[float, float]:
    """(ln δ(x), an estimate of its error), the worse direction, x > 0; an infinite one where no method sees it."""
    directions = ("remove", "add") if any(law.sample == "poisson" for law in laws) else ("remove",)
    found = []
    for direction in directions:
        steps, brought = capped([(law.count, atoms(law, direction)) for law in laws], x)
        best = (-np.inf, np.inf)
        for method, points in ((tilted, size), (plain, PLAIN)):
            with np.errstate(divide="ignore", invalid="ignore"):
                a, b, c = np.log([brought + method(steps, x, n) for n in sizes(points)])
            seen = np.isfinite([a, b, c]).all()
            # half of it was too little once in 800 settings, by half as much: three grids may agree by chance
            error = 6 * abs(c - b) + 2 * abs(b - a) + CUT if seen else np.inf
            if error < best[1]:
                best = (float(c), float(error))
            if best[1] <= RESOLVED:
                break
        found.append(best)
    return max(found)
