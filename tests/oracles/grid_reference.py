"""δ of a few compositions by another method than the engine's, and no part of it: floats, lattices, extrapolation.

Every law but the last goes on a lattice by connecting the dots of its profile; they are convolved by FFT, and the last
step's profile is taken in closed form: δ(x) = Σ P[y]·δ₁(x − y). Where kinks and atoms lie on the lattice the error is a
series in h², so that halving h three times gives an extrapolated value and an honest estimate of its error.
"""

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise

import numpy as np
from scipy import fft
from scipy.special import ndtr


def lap(z):
    """Pr[Laplace noise of scale 1 ≤ z]."""
    return np.where(z < 0, np.exp(np.minimum(z, 0)) / 2, 1 - np.exp(-np.maximum(z, 0)) / 2)


class Normal:
    """Noise of variance 1."""

    def above(self, z):
        return ndtr(-z)

    def between(self, a, b):
        return np.where(a > 0, ndtr(-a) - ndtr(-b), ndtr(b) - ndtr(a))

    def place(self, ratio, mu):
        """Where the density around mu is ``ratio`` times that around 0."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(ratio > 0, np.log(np.maximum(ratio, 1e-300)) / mu + mu / 2, -np.inf)


class Laplace:
    """Noise of scale 1."""

    def above(self, z):
        return lap(-z)

    def between(self, a, b):
        return np.where(a > 0, lap(-a) - lap(-b), lap(b) - lap(a))

    def place(self, ratio, mu):
        base = np.clip(np.log(np.maximum(ratio, 1e-300)), -mu, mu)
        with np.errstate(invalid="ignore"):
            return np.where(base >= mu, mu, np.where(base <= -mu, 0.0, (base + mu) / 2))


@dataclass(frozen=True)
class Sampled:
    """Noise moved by mu with chance q, against noise; or (``adding``) the reverse."""

    noise: object
    mu: float
    q: float
    adding: bool = False
    infinite = 0.0

    @property
    def bounded(self):
        return isinstance(self.noise, Laplace)

    @cached_property
    def kinks(self):
        """The losses with atoms."""
        ends = [math.log1p(self.q * math.expm1(s * self.mu)) for s in (-1, 1)] if self.bounded else []
        return sorted(-x for x in ends) if self.adding else ends

    def _place(self, x):
        with np.errstate(over="ignore"):
            return self.noise.place(np.expm1(np.minimum(x, 700)) / self.q + 1, self.mu)

    def cells(self, edges):
        """P and Q between edges, without atoms."""
        z = self._place(-edges[::-1] if self.adding else edges)
        plain, moved = self.noise.between(z[:-1], z[1:]), self.noise.between(z[:-1] - self.mu, z[1:] - self.mu)
        mixed = (1 - self.q) * plain + self.q * moved
        return (plain[::-1], mixed[::-1]) if self.adding else (mixed, plain)

    def atoms(self):
        if not self.bounded:
            return []
        plain = [0.5, math.exp(-self.mu) / 2]
        under_p = [m * (1 + self.q * math.expm1(s * self.mu)) for m, s in zip(plain, (-1, 1), strict=True)]
        return list(zip(self.kinks, plain[::-1] if self.adding else under_p, strict=True))

    def profile(self, x):
        """P[L > x] − e^x·Q[L > x]; an atom at x counts nothing."""
        z, mu, q = self._place(-x if self.adding else x), self.mu, self.q
        least = math.log1p(-q) if q < 1 else -np.inf
        low, high = self.kinks or ((-np.inf, -least) if self.adding else (least, np.inf))
        if self.adding:
            grown = np.exp(np.minimum(x, high))
            value = (1 - (1 - q) * grown) * self.noise.above(-z) - q * grown * self.noise.above(mu - z)
        else:
            value = q * self.noise.above(z - mu) - (np.expm1(x) + q) * self.noise.above(z)
        return np.where((x > low) & (x < high), np.maximum(value, 0), np.maximum(-np.expm1(x), 0))


@dataclass(frozen=True)
class Glued:
    """A removal's losses above 0, their mirror image, and the rest at 0."""

    base: Sampled
    infinite = 0.0

    @property
    def kinks(self):
        return [0.0, *self.base.kinks[1:]]

    def cells(self, edges):
        up = self.base.cells(np.maximum(edges, 0))
        down = self.base.cells(np.maximum(-edges[::-1], 0))
        return up[0] + down[1][::-1], up[1] + down[0][::-1]

    def atoms(self):
        ends = [(x, m) for x, m in self.base.atoms() if x > 0]
        ends += [(-x, m * math.exp(-x)) for x, m in ends]
        z = self.base._place(np.array([0.0]))[0]
        apart = self.base.noise.above(z - self.base.mu) - self.base.noise.above(z)
        return [*ends, (0.0, (1 - self.base.q) * float(apart))]

    def profile(self, x):
        there = self.base.profile(np.abs(x))
        return np.where(x < 0, -np.expm1(x) + np.exp(x) * there, there)


@dataclass(frozen=True)
class Exchanged:
    """Noise moved by mu with chance q, against noise moved by −mu."""

    noise: object
    mu: float
    q: float
    infinite = 0.0

    @property
    def kinks(self):
        if isinstance(self.noise, Normal):
            return [0.0]
        return [0.0, math.log1p(self.q * math.expm1(self.mu)) - math.log1p(self.q * math.expm1(-self.mu))]

    def _place(self, x):
        """The z > 0 where the loss is x > 0."""
        mu, q = self.mu, self.q
        if isinstance(self.noise, Laplace):
            return self.noise.place((np.exp(x) * (1 + q * math.expm1(-mu)) - 1 + q) / q, mu)
        small = q * math.exp(-mu * mu / 2)
        rise = (1 - q) * np.expm1(np.minimum(x, 300)) / (2 * small)
        return np.log(rise + np.sqrt(rise * rise + np.exp(np.minimum(x, 300)))) / mu

    def _tails(self, z):
        plain = (1 - self.q) * self.noise.above(z)
        return tuple(plain + self.q * self.noise.above(z - s * self.mu) for s in (1, -1))

    def cells(self, edges):
        found = [np.zeros(len(edges) - 1), np.zeros(len(edges) - 1)]
        for sign in (1, -1):
            z = self._place(np.maximum(edges if sign > 0 else -edges[::-1], 0))
            plain = (1 - self.q) * self.noise.between(z[:-1], z[1:])
            both = [plain + self.q * self.noise.between(z[:-1] - s * self.mu, z[1:] - s * self.mu) for s in (1, -1)]
            found = [f + (b if sign > 0 else b[::-1]) for f, b in zip(found, both[::sign], strict=True)]
        return tuple(found)

    def atoms(self):
        if isinstance(self.noise, Normal):
            return []
        return [(s * self.kinks[1], math.exp(-self.mu) / 2 * (1 + self.q * math.expm1(s * self.mu))) for s in (1, -1)]

    def profile(self, x):
        p, q = self._tails(self._place(np.abs(x)))
        top = np.inf if isinstance(self.noise, Normal) else self.kinks[1]
        there = np.where(np.abs(x) < top, np.maximum(p - np.exp(np.minimum(np.abs(x), 300)) * q, 0), 0)
        return np.where(x < 0, -np.expm1(x) + np.exp(x) * there, there)


@dataclass(frozen=True)
class Mixture:
    """Shares of laws, the label seen; the rest but for ``infinite`` costs nothing."""

    parts: tuple
    infinite: float = 0.0

    @property
    def kinks(self):
        return sorted({0.0, *(x for _, law in self.parts for x in law.kinks)})

    @property
    def _rest(self):
        return 1 - self.infinite - sum(s for s, _ in self.parts)

    def cells(self, edges):
        found = [(s, law.cells(edges)) for s, law in self.parts]
        return tuple(sum(s * c[j] for s, c in found) for j in range(2))

    def atoms(self):
        return [(0.0, self._rest), *((x, s * m) for s, law in self.parts for x, m in law.atoms())]

    def profile(self, x):
        value = sum(s * law.profile(x) for s, law in self.parts) + self.infinite
        return value + self._rest * np.maximum(-np.expm1(x), 0)


def drawn(mu, size, population):
    """A sample with replacement of Gaussian noise: j records move it by j·mu."""
    rate = 1 - (1 - 1 / population) ** size
    shares = [
        math.comb(size, j) * population ** -float(j) * (1 - 1 / population) ** (size - j) / rate
        for j in range(1, size + 1)
    ]
    return Mixture(tuple((s, Glued(Sampled(Normal(), j * mu, rate))) for j, s in enumerate(shares, 1)))


def lattice(law, n, h):
    """P's masses of the law on −n·h … n·h: each cell's masses under P and Q go to its two ends."""
    edges = np.arange(-n, n + 1) * h
    p, q = law.cells(edges)
    left = np.clip((q * np.exp(edges[:-1]) - p * math.exp(-h)) / -math.expm1(-h), 0, p)
    masses = np.zeros(2 * n + 1)
    masses[:-1] += left
    masses[1:] += p - left
    masses[-1] += law.cells(np.array([edges[-1], 500.0]))[0][0]  # beyond the lattice
    for loss, mass in law.atoms():
        cell = math.floor(loss / h + 1e-9)
        right = min(max(math.expm1(cell * h - loss) / math.expm1(-h), 0.0), 1.0)
        masses[cell + n] += mass * (1 - right)
        masses[cell + 1 + n] += mass * right
    return masses


@lru_cache(8)  # four lattices and two directions serve every x
def summed(left, n, h):
    """Points of a lattice and masses of the sum of ``left`` (law, count) there, where they are more than the rounding
    of the transforms, and P[it is finite]."""
    copies = sum(count for _, count in left)
    size = fft.next_fast_len(2 * n * copies + 1, real=True)
    total, finite = np.ones(size // 2 + 1, complex), 1.0
    for law, count in left:
        total *= fft.rfft(lattice(law, n, h), size) ** count
        finite *= (1 - law.infinite) ** count
    masses = fft.irfft(total, size)[: 2 * n * copies + 1]
    seen = np.flatnonzero(masses > 1e-18)
    kept = slice(seen[0], seen[-1] + 1)
    return np.arange(-n * copies, n * copies + 1)[kept], masses[kept], finite


def on_lattice(parts, x, n, h):
    """δ at x, the last of ``parts`` (law, count) once in closed form."""
    last = parts[-1][0]
    left = tuple((law, count - (law is last)) for law, count in parts)
    points, masses, finite = summed(left, n, h)
    return 1 - finite + float(masses @ last.profile(x - points * h))


def reference(parts, x, unit, reach, n=2**13):
    """(δ at x, an estimate of its error), for ``parts`` (law, count).

    x, and where it can be every kink, is a whole number of ``unit``; beyond ``reach`` a loss has no chance to speak of.
    The coarsest of four lattices has about ``n`` points on either side of 0.
    """
    h = unit / math.ceil(n * unit / reach)
    n = math.ceil(reach / h) + 2
    values = [on_lattice(parts, x, n << j, h / (1 << j)) for j in range(4)]
    first = [b + (b - a) / 3 for a, b in pairwise(values)]
    second = [b + (b - a) / 15 for a, b in pairwise(first)]
    return second[-1], 2 * abs(second[-1] - second[0]) + abs(second[-1] - first[-1]) / 4 + 1e-15 * (1 + second[-1])
