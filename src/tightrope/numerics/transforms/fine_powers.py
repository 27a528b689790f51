"""φ^k for many copies k in doubles: what is rounded is φ − 1, which is small where φ^k is not, and not φ.

φ(y) = Σ p_j e^{iyl_j} but for an error. With d = l − m, m near the mean, and Σp_j = 1 but for that error,

    e^{−iym}φ(y) − 1 = Σ_light p(e^{iyd} − 1) + Σ_heavy p(e^{iyd} − 1).

Light are the losses with |yd| ≤ 2 up to the last y: their sum is a power series in y whose coefficients are moments, in
balls. The heavy ones have little mass, and their sum of doubles is off by as little. Then φ^k = e^{ikym}·e^{k·ln(1+ψ)}.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol

from tightrope.numerics.balls import Ball, ball, precision
from tightrope.numerics.squaring import power
from tightrope.numerics.transforms.float_lines import UNIT, Phases, scaled
from tightrope.numerics.transforms.screened_sums import sums_at

if TYPE_CHECKING:
    from tightrope.numerics.transforms.float_lines import Integers
    from tightrope.numerics.transforms.transform import Complexes, Floats

__all__ = ["FinePowers", "LossTerms", "fine_powers"]

_BITS = 128
_REACH = 2.0  # of |yd| in the series
_MOST_MOMENTS = 40  # an even number
_TINY = 2.0**-70  # a moment from which on none counts
_LARGEST = 0.25  # of |ψ|: the logarithm is a series
_LOGARITHM, _EXPONENTIAL = 26, 12  # terms
_HEAVY = 40  # in u = 2⁻⁵³: a sum of doubles is off by no less
_MOST_PRODUCTS = 2.5e9  # of that sum: about half a second
_STEEPEST = 500.0  # of |k·ln(1 + ψ)|: e^−500 is a double
_SLACK = 1 + 2.0**-20  # for sizes of doubles
_CACHED = 4096  # numbers
#: In units of u = 2⁻⁵³. A moment is rounded by 2u; z = y/Y is off by u, z² by 3u, and Horner's rule with at most 20
#: powers of z² adds 2u for each: (5·20 + 6)u of the sum of all sizes.
_SERIES = 128
#: ln(1 + ψ) = ψF: with |ψ| ≤ ¼ every step of Horner's rule is off by at most 3.1u and a quarter of the error before,
#: F by 4.2u, and ψF by 8u|ψ|; the terms left out are below 0.1u|ψ|. One more u for k·ψF.
_LOGARITHM_ERROR = 10
#: e^w with |w| ≤ ¼: off by 2.8u, and of its size, which is at least e^{−1/4}, by less than 4u. Each product behind a
#: power adds 3u.
_EXPONENTIAL_ERROR = 8


class LossTerms(Protocol):
    """Shares ≥ 0 and losses whose sum Σ share·e^{iy·loss} is φ(y) but for ``error``."""

    @property
    def shares(self) -> Sequence[Ball]:
        """p."""
        ...

    @property
    def losses(self) -> Sequence[Ball]:
        """l."""
        ...

    @property
    def error(self) -> Ball:
        """At every y that matters."""
        ...


@dataclass(frozen=True)
class FinePowers:
    """φ^k as doubles, each off by at most ``error`` times its own size."""

    values: Complexes
    error: Ball


def fine_powers(terms: LossTerms, eta: Fraction, indices: Integers, copies: int, most: Ball) -> FinePowers | None:
    """At the nodes kη with these numbers, which rise from 0, with an error below ``most``; None where φ is not so near
    a turning 1."""
    import numpy as np

    last = int(indices[-1])
    if last == 0:
        return FinePowers(np.ones(len(indices), dtype=np.complex128), 4 * UNIT)
    with precision(_BITS):
        furthest = ball(eta * last)
        middle, light = _light(terms, float(furthest))
        reaches = [(loss - middle) * furthest for loss in terms.losses]
        total = sum(terms.shares, Ball(0))
        moments, rest = _moments([terms.shares[j] for j in light], [reaches[j] for j in light])
        small, error = _series(moments, indices / last)
        error += terms.error + abs(total - 1) + rest
        near = set(light)
        heavy = [j for j in range(len(reaches)) if j not in near]
        if heavy:
            mass = sum((terms.shares[j] for j in heavy), Ball(0))
            if not (mass > 0 and copies * mass * UNIT * _HEAVY < most) or len(heavy) * last > _MOST_PRODUCTS:
                return None
            shares, angles = [terms.shares[j] / mass for j in heavy], [reaches[j] / last for j in heavy]
            sums, off = sums_at(shares, angles, indices)
            small = small + scaled(mass) * (sums - 1.0)
            error += mass * (off + 16 * UNIT) + 2 * UNIT * Ball(_largest(small))
        found = _raised(small, error.upper(), copies, Phases(ball(eta) * middle * copies, last).at(indices))
        return found if found is not None and found.error < most else None


def _light(terms: LossTerms, furthest: float) -> tuple[Ball, list[int]]:
    """A loss near the mean of those within reach of it, and their numbers: a choice."""
    import numpy as np

    shares, losses = (np.array([float(one.mid()) for one in row]) for row in (terms.shares, terms.losses))
    middle, near = float(shares @ losses), np.ones(len(losses), dtype=np.bool_)
    for _ in range(3):
        near = np.abs(losses - middle) * furthest <= _REACH
        mass = float(shares[near].sum())
        if not mass > 0:
            break
        middle = float(shares[near] @ losses[near]) / mass
    near = np.abs(losses - middle) * furthest <= _REACH
    return Ball(middle), [int(j) for j in np.nonzero(near)[0]]


def _moments(shares: Sequence[Ball], reaches: Sequence[Ball]) -> tuple[list[Ball], Ball]:
    """Σp·aⁿ/n! for n = 1, 2, …, and the first left out, of an even number: it bounds all that is."""
    moments: list[Ball] = []
    powers = list(shares)
    for n in range(1, _MOST_MOMENTS + 1):
        powers = [one * a / n for one, a in zip(powers, reaches, strict=True)]
        moments.append(sum(powers, Ball(0)))
        if n % 2 == 0 and moments[-1] < _TINY:
            break
    return moments[:-1], moments[-1].abs_upper()


def _series(moments: Sequence[Ball], places: Floats) -> tuple[Complexes, Ball]:
    """Σ moment_n·(iz)ⁿ and a bound of its error."""
    import numpy as np

    middles = [float(moment.mid()) for moment in moments]
    signs = [m if n % 4 in (0, 3) else -m for n, m in enumerate(middles)]  # i, −1, −i, 1, …
    odd, even = (np.zeros(len(places)) for _ in range(2))
    squares = places * places
    for n in range(len(signs) - 1, -1, -1):
        if n % 2 == 0:
            odd = odd * squares + signs[n]
        else:
            even = even * squares + signs[n]
    result = np.empty(len(places), dtype=np.complex128)
    result.real, result.imag = even * squares, odd * places
    sizes = sum((moment.abs_upper() for moment in moments), Ball(0))
    return result, _SERIES * UNIT * sizes + sum((moment.rad() for moment in moments), Ball(0))


def _raised(small: Complexes, error: Ball, copies: int, turns: Complexes) -> FinePowers | None:
    """turn·(1 + ψ)^k, ψ being off by at most ``error``."""
    import numpy as np

    largest = _largest(small)
    if not (largest <= _LARGEST and error < _LARGEST):
        return None
    logs = np.full(len(small), 1 / _LOGARITHM, dtype=np.complex128)
    for block in _blocks(len(small)):
        factor, at = logs[block], small[block]
        for n in range(_LOGARITHM - 1, 0, -1):
            factor *= at
            np.subtract(1 / n, factor, out=factor)
        factor *= at
    logs *= copies
    steepest = _largest(logs)
    if not steepest <= _STEEPEST:
        return None
    parts = 1 << max(math.ceil(math.log2(max(4 * steepest, 1.0))), 0)
    exponents, whole = logs / parts, np.ones(len(small), dtype=np.complex128)
    for block in _blocks(len(small)):
        value, at = whole[block], exponents[block]
        for n in range(_EXPONENTIAL, 0, -1):
            value *= at
            value /= n
            value += 1
    log_error = copies * error / (1 - Ball(largest) - error)  # of ln(1 + ψ)
    log_error += UNIT * (_LOGARITHM_ERROR * copies * Ball(largest) + _EXPONENTIAL_ERROR * parts)
    log_error += UNIT * (Phases.ERROR + 4)
    return FinePowers(power(whole, parts) * turns, (2 * log_error).expm1().upper())


def _blocks(size: int) -> Iterator[slice]:
    """Of numbers that the processor's cache holds."""
    return (slice(at, at + _CACHED) for at in range(0, size, _CACHED))


def _largest(values: Complexes) -> float:
    """A bound of all sizes."""
    import numpy as np

    return float(np.abs(values).max()) * _SLACK
