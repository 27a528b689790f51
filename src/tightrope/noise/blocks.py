"""Two-sided noise of any width, continuous or whole, in blocks: |N| = h(j + U), h a power of two.

The block j comes from a table; inside a block the density falls by little, so U is uniform and is accepted with chance
e^{−t}, t = U(c₁ + c₂(2j + U)). Only as many bits of U are drawn as are needed. Proof in docs/noise.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tightrope.noise.entropy import Source
from tightrope.noise.laws import Geometric, HalfNormal, Law
from tightrope.noise.table import sampler
from tightrope.noise.uniform import Uniform
from tightrope.numerics.balls import ball, between, precision

BITS = 48  # bits of U drawn at once
COIN = 15  # bits of the acceptance coin drawn with them; one more is the sign
MARGIN = 2.0**-40  # more than all rounding errors of the float tests together, see docs/noise.md
MOST_BLOCKS = 1000  # blocks and exponents beyond go to the exact test, which has no limit
MOST_EXPONENT = 0.5


@dataclass(frozen=True)
class Shape:
    """A density ∝ e^{−q(|x|)} in blocks of width 2^exponent: the block's law, and t = U(linear + square(2j + U))."""

    law: Law
    linear: Fraction
    square: Fraction
    exponent: int

    @property
    def width(self) -> Fraction:
        """h."""
        return power_of_two(self.exponent)

    def falls(self, block: int, offset: Fraction) -> Fraction:
        """t: the density at block + offset is e^{−t} times that at the block's beginning."""
        return offset * (self.linear + self.square * (2 * block + offset))


def power_of_two(exponent: int) -> Fraction:
    """2^exponent."""
    return Fraction(1 << exponent) if exponent >= 0 else Fraction(1, 1 << -exponent)


def floor_log2(x: Fraction) -> int:
    """The largest e with 2^e ≤ x."""
    e = x.numerator.bit_length() - x.denominator.bit_length()
    return e if power_of_two(e) <= x else e - 1


def normal_shape(sigma: Fraction) -> Shape:
    """N(0, σ²), in blocks of σ/64 to σ/32."""
    exponent = floor_log2(sigma) - 5
    variance = (sigma / power_of_two(exponent)) ** 2
    return Shape(HalfNormal(variance), Fraction(0), 1 / (2 * variance), exponent)


def laplace_shape(scale: Fraction) -> Shape:
    """Laplace(b), in blocks of b/32 to b/16."""
    exponent = floor_log2(scale) - 4
    relative = scale / power_of_two(exponent)
    return Shape(Geometric(relative), 1 / relative, Fraction(0), exponent)


@dataclass
class Lazy:
    """±h(block + U), of which U is known to some bits."""

    shape: Shape
    negative: bool
    block: int
    offset: Uniform

    def ends(self) -> tuple[Fraction, Fraction]:
        """The least interval known to contain it."""
        low, high = ((self.block + u) * self.shape.width for u in self.offset.ends())
        return (-high, -low) if self.negative else (low, high)


@dataclass
class Magnitudes:
    """Some draws: blocks, the first 48 bits of each U, signs; ``special`` holds those that arrays cannot."""

    blocks: NDArray[np.int64]
    bits: NDArray[np.int64]
    negative: NDArray[np.bool_]
    special: dict[int, Lazy]

    def lazy(self, shape: Shape, source: Source, i: int) -> Lazy:
        """Draw number i as a number that can be refined."""
        found = self.special.get(i)
        if found is None:
            offset = Uniform(source, int(self.bits[i]), BITS)
            found = Lazy(shape, bool(self.negative[i]), int(self.blocks[i]), offset)
        return found


def magnitudes(shape: Shape, source: Source, size: int, whole_bits: int | None = None) -> Magnitudes:
    """``size`` draws. With ``whole_bits`` = s the values are whole multiples of h/2^s, and there is one zero."""
    parts: list[Magnitudes] = []
    have = 0
    while have < size or not parts:
        missing = size - have
        part = _accepted(shape, source, missing + missing // 16 + 16, whole_bits)
        part = Magnitudes(
            part.blocks[:missing],
            part.bits[:missing],
            part.negative[:missing],
            {i + have: lazy for i, lazy in part.special.items() if i < missing},
        )
        parts.append(part)
        have += len(part.blocks)
    if len(parts) == 1:
        return parts[0]
    special = {i: lazy for part in parts for i, lazy in part.special.items()}
    return Magnitudes(
        np.concatenate([part.blocks for part in parts]),
        np.concatenate([part.bits for part in parts]),
        np.concatenate([part.negative for part in parts]),
        special,
    )


def _accepted(shape: Shape, source: Source, size: int, whole_bits: int | None) -> Magnitudes:
    """Those of ``size`` candidates that are accepted, in order."""
    blocks = sampler(shape.law).draw(source, size)
    words = source.words(size, 64).view(np.int64)
    mask = (1 << BITS) - 1 if whole_bits is None else ((1 << whole_bits) - 1) << (BITS - whole_bits)
    bits = words & mask
    coins = (words >> BITS) & ((1 << COIN) - 1)
    negative = words < 0
    u = bits * 2.0**-BITS
    t = u * (float(shape.linear) + float(shape.square) * (2 * blocks + u))
    # e^{−t} ≥ 1 − t, and the coin is below (coins + 1)/2^15.
    accepted = (coins + 1) * 2.0**-COIN <= (1 - MARGIN) - t
    accepted &= blocks < MOST_BLOCKS
    special: dict[int, Lazy] = {}
    unsure = np.flatnonzero(~accepted)
    if len(unsure):
        accepted[unsure] = _coins_tossed(
            shape, source, (unsure, blocks[unsure], bits[unsure], negative[unsure], coins[unsure], t[unsure]),
            special, whole_bits is not None,
        )  # fmt: skip
    if whole_bits is not None:
        accepted &= ~(negative & (blocks == 0) & (bits == 0))  # zero has one sign
    kept = np.flatnonzero(accepted)
    places = {int(old): int(np.searchsorted(kept, old)) for old in special if accepted[old]}
    for old in special:
        blocks[old] = min(int(blocks[old]), MOST_BLOCKS)  # arrays are not read there
    return Magnitudes(blocks[kept], bits[kept], negative[kept], {new: special[old] for old, new in places.items()})


def _coins_tossed(
    shape: Shape,
    source: Source,
    candidates: tuple[NDArray[Any], ...],
    special: dict[int, Lazy],
    whole: bool,
) -> NDArray[np.bool_]:
    """The acceptance of candidates that 15 bits of their coin did not decide: 63 bits, then all that it takes."""
    places, blocks, bits, negative, coins, t = candidates
    fine = (coins << BITS) | (source.words(len(places), 64) >> np.uint64(64 - BITS)).view(np.int64)
    v = fine * 2.0 ** -(BITS + COIN)
    chance = falling_exponential(t)
    accepted = v < chance - MARGIN
    undecided = (np.abs(v - chance) <= MARGIN) | (t > MOST_EXPONENT) | (blocks >= MOST_BLOCKS)
    for i in np.flatnonzero(undecided):
        lazy = Lazy(shape, bool(negative[i]), int(blocks[i]), Uniform(source, int(bits[i]), BITS))
        accepted[i] = _tossed(lazy, Uniform(source, int(fine[i]), BITS + COIN), whole)
        special[int(places[i])] = lazy
    return accepted


def falling_exponential(t: NDArray[np.float64]) -> NDArray[np.float64]:
    """e^{−t} for 0 ≤ t ≤ 1/2 by its Taylor polynomial of degree 12: off by less than 2^−44."""
    value = np.ones_like(t)
    for n in range(12, 0, -1):
        value = 1 - t * value / n
    return value


def _tossed(lazy: Lazy, coin: Uniform, whole: bool) -> bool:
    """Whether coin < e^{−t(U)}, exactly; both are refined until it is certain."""
    shape, u = lazy.shape, lazy.offset
    if whole:  # U is the rational that its bits say
        falls = shape.falls(lazy.block, u.ends()[0])
        return coin.below(lambda: (-ball(falls)).exp()) if falls else True
    while True:
        low, high = (shape.falls(lazy.block, end) for end in u.ends())
        with precision(128 + 2 * coin.known):
            chance = (-between(ball(low), ball(high))).exp()
            scaled = chance * (1 << coin.known)
            if scaled >= coin.prefix + 1:
                return True
            if scaled <= coin.prefix:
                return False
        coin.refine()
        u.refine()
