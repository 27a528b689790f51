"""The transform of an exchanged record's loss with discrete Gaussian noise k, P[k] = e^{−k²/2v}/S(0).

With w(k) = 1 − q + q·e^{D(2k−D)/2v} there are losses ±ln r_k: P has u_k·r_k at ln r_k and u_k at −ln r_k, the rest is
at 0. On a sample of a fixed size u_k = P[k] and r_k = w(k) for k > D/2; on a Poisson sample u_k = P[k]·w(−k) and
r_k = w(k)/w(−k) for k > 0. So M(s) = 1 + Σ u_k·(1 − r_k^{−s})(r_k^{s+1} − 1), and M(s) = M(−1−s).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from flint import ctx

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ball, between, precision
from tightrope.numerics.discrete_exchange import mass_at_zero
from tightrope.numerics.discrete_normal import mass
from tightrope.numerics.exact import near
from tightrope.numerics.products import product
from tightrope.numerics.transforms.noise_sums import NoiseSumTransform
from tightrope.numerics.transforms.settled_nodes import Quadrature, settled_nodes

if TYPE_CHECKING:
    from tightrope.numerics.transforms.float_lines import FloatNodes
    from tightrope.numerics.transforms.transform import Floats

__all__ = ["ExchangedDiscreteNormalTransform"]

_WHAT = "the transform of an exchanged record with discrete Gaussian noise"
_MOST_VALUES, _MOST_LISTED = 6000, 10_000  # usually, and for high precision
_ATOM_BITS = 90
_MOST_PRODUCTS = 1.5e8  # of nodes and values
_SEVERAL = -100  # a floor, times the copies for which few nodes matter, that half as many have
_FLOAT_NATS = 40.0
_GENTLE = 30.0


class ExchangedDiscreteNormalTransform(NoiseSumTransform):
    """Noise of this variance, a record that moves it by a whole D, a rate 0 < q < 1; ``glued``: a sample of a fixed
    size, else a Poisson sample."""

    tilt_cost = 15.0

    def __init__(self, variance: Fraction, shift: int, rate: Fraction, glued: bool) -> None:
        if not 0 < rate < 1:
            raise AssertionError("the rate must lie between 0 and 1")
        self._variance, self._shift, self._rate, self._glued = variance, shift, rate, glued
        self._first = shift // 2 + 1 if glued else 1
        self._float = near(variance), float(shift), min(near(rate), 1 - 2.0**-53)
        if not 1e-4 < self._float[0] < 1e7 or 15 * math.sqrt(self._float[0]) + 2 * shift > _MOST_VALUES:
            raise NotCertified(_WHAT, "the noise is too wide")

    def _last(self, power: float, nats: float) -> int:
        """Up to here there is all but e^−nats of Σ u·r^power."""
        v, d, q = self._float
        share = 0.0 if self._glued else q * math.exp(-d * d / (2 * v)) / (1 + q * math.expm1(-d * d / (2 * v)))
        last = power * d * (1 + share) + math.sqrt(2 * (nats + 3) * v) + self._first + 2
        if not last < _MOST_LISTED:
            raise NotCertified(_WHAT, f"it has {last:.3g} values")
        return math.ceil(last)

    def _sides(self, t: Fraction) -> tuple[list[Ball], list[Ball], Ball]:
        """u_k and ln r_k over a window, and a bound of both Σ u·(r^{t+1} + r^{−t}) and Σ u·(1 + r) beyond; not divided
        by S(0)."""
        power = max(t + 1, -t, Fraction(1))
        last = self._last(float(power), ctx.prec * math.log(2))
        under, logs, slope = _atoms(self._variance, self._shift, self._rate, self._glued, last, ctx.prec)
        # From one k to the next ln r rises by at most ``slope`` beyond the end, and u falls at least like e^{−k²/2v}.
        ratio = (ball(power) * slope - ball((2 * last + 1) / (2 * self._variance))).exp()
        if not ratio < 0.995:
            raise NotCertified(_WHAT, "the window ends before its peak")
        return under, logs, (2 * under[-1] * (ball(power) * logs[-1]).exp() * ratio / (1 - ratio)).upper()

    def terms(self, t: Fraction) -> tuple[list[Ball], list[Ball], Ball]:
        """The atom at 0, those above, those below."""
        under, logs, beyond = self._sides(t)
        zero = mass_at_zero(self._variance, self._shift, self._rate, self._glued) * mass(self._variance, Fraction(0))
        high, low = ball(t + 1), ball(-t)
        up = [u * (high * log).exp() for u, log in zip(under, logs, strict=True)]
        down = [u * (low * log).exp() for u, log in zip(under, logs, strict=True)]
        return [zero, *up, *down], [Ball(0), *logs, *(-log for log in logs)], beyond

    def log_real(self, t: Fraction) -> Ball:
        """ln M: a sum of terms of one sign, so that nothing cancels near 0."""
        if t in (0, -1):
            return Ball(0)
        with precision(ctx.prec + 40):
            under, logs, beyond = self._sides(t)
            s, more = ball(t), ball(t + 1)
            pairs = zip(under, logs, strict=True)
            rise = sum((u * -(-s * log).expm1() * (more * log).expm1() for u, log in pairs), Ball(0))
            off = between(-beyond, beyond)  # (1 − r^{−s})(r^{s+1} − 1) = (r^{s+1} + r^{−s}) − (1 + r), both positive
            return ((rise + off) / mass(self._variance, Fraction(0))).log1p()

    def _float_atoms(self, power: float) -> tuple[Floats, Floats]:
        """ln u and ln r."""
        import numpy as np

        v, d, q = self._float
        k = np.arange(self._first, self._last(power, _FLOAT_NATS) + 1, dtype=np.float64)
        plain = -(k * k) / (2 * v) - math.log(float(mass(self._variance, Fraction(0)).mid()))
        logs = _log_growths(q, d * (2 * k - d) / (2 * v))
        if self._glued:
            return plain, logs
        other = _log_growths(q, -d * (2 * k + d) / (2 * v))
        return plain + other, logs - other

    def log_floats(self, t: Floats | Sequence[float]) -> Floats:
        """The same in floats."""
        import numpy as np

        given = np.asarray(t, dtype=np.float64)
        powers = np.maximum(given + 1, -given)  # M(s) = M(−1−s)
        result = np.full(len(powers), math.inf)
        near = powers * self._float[1] < _MOST_VALUES / 4
        if not near.any():
            return result
        few = powers[near]
        under, logs = self._float_atoms(float(few.max()))
        high, low = np.multiply.outer(few, logs), np.multiply.outer(1 - few, logs)
        gentle = high.max(axis=1) < _GENTLE
        values = np.empty(len(few))
        values[gentle] = np.log1p(product(-np.expm1(low[gentle]) * np.expm1(high[gentle]), np.exp(under)))
        zero = math.log(max(self._zero(), 1e-300))
        steep = high[~gentle]
        some = np.concatenate([steep + under, low[~gentle] + under, np.full((len(steep), 1), zero)], axis=1)
        top = some.max(axis=1)
        values[~gentle] = top + np.log(np.exp(some - top[:, None]).sum(axis=1))
        result[near] = values
        return result

    def _zero(self) -> float:
        with precision(64):
            return float(mass_at_zero(self._variance, self._shift, self._rate, self._glued).mid())

    def float_shares(self, t: float) -> tuple[Floats, Floats]:
        """The tilted masses."""
        import numpy as np

        under, logs = self._float_atoms(max(t + 1, -t))
        exponents = np.concatenate([[math.log(max(self._zero(), 1e-300))], under + (t + 1) * logs, under - t * logs])
        shares = np.exp(exponents - exponents.max())
        return shares / shares.sum(), np.concatenate([[0.0], logs, -logs])

    def float_nodes(self, t: Fraction, eta: Fraction, count: int, floor: Ball) -> FloatNodes | None:
        """Only the first ones, where all others are proved to be low; else all of them, if they are not too many."""
        if floor * self._many() > _SEVERAL:
            found = settled_nodes(
                lambda _: self._quadrature(t), lambda _: Ball(1), lambda y: y * 0.0, eta, count, floor
            )
            if found is not None:
                return found
        values = 24 * math.sqrt(self._float[0]) + 2 * self._float[1]
        return super().float_nodes(t, eta, count, floor) if values * count <= _MOST_PRODUCTS else None

    def _many(self) -> int:
        """Copies for which few nodes matter: an atom at 0 falls only by its powers."""
        return 1000 if self._glued else 100

    def _quadrature(self, t: Fraction) -> Quadrature:
        """φ at all y: a sum already."""
        with precision(_ATOM_BITS):
            shares, losses, off = self._shares(t, Fraction(1))
        half = len(shares) // 2
        order = [*range(len(shares) - 1, half, -1), *range(half + 1)]  # neighbours are to have near losses
        return Quadrature([shares[j] for j in order], [losses[j] for j in order], (2 * abs(off)).upper())

    def node_cost(self, copies: int) -> float:
        """A row of a matrix product; of many copies hardly any nodes matter."""
        if copies >= self._many():
            return 10.0
        return 5.0 + (24 * math.sqrt(self._float[0]) + 2 * self._float[1])

    def largest(self) -> Ball | None:
        """Unbounded."""
        return None

    def cost(self, t: float, eta: float, count: int, bits: int) -> float:  # noqa: ARG002
        """As ``power_sums``."""
        values = 2 * (math.sqrt(2 * (bits + 40) * self._float[0]) + (t + 1) * self._float[1])
        return values * (3 + 0.8 * math.sqrt(count) + 0.08 * count)


def _log_growths(rate: float, loss: Floats) -> Floats:
    """ln(1 − q + q·e^loss) in floats."""
    import numpy as np

    near = np.log1p(rate * np.expm1(np.minimum(loss, 600.0)))
    result: Floats = np.where(loss < 600, near, loss + math.log(rate))
    return result


@lru_cache(maxsize=32)
def _atoms(
    variance: Fraction, shift: int, rate: Fraction, glued: bool, last: int, bits: int
) -> tuple[list[Ball], list[Ball], Ball]:
    """u_k·S(0) and ln r_k up to a last k, with that many bits, and how much ln r rises from there on at most."""
    with precision(bits):
        q, half = ball(rate), ball(1 / (2 * variance))
        slope = half * shift

        def log_growth(k: int) -> Ball:
            return (q * (slope * (2 * k - shift)).expm1()).log1p()

        values = range(shift // 2 + 1 if glued else 1, last + 1)
        logs, others = [log_growth(k) for k in values], [Ball(0) if glued else log_growth(-k) for k in values]
        under = [(other - half * (k * k)).exp() for k, other in zip(values, others, strict=True)]
        share = Ball(0) if glued else q * (slope * (-2 * last - shift)).exp() / others[-1].exp()
        return under, [a - b for a, b in zip(logs, others, strict=True)], 2 * slope * (1 + share)
