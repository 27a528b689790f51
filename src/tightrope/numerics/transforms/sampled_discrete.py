"""The transform of the sampled discrete Gaussian's loss: G(a) = E[w^a], w_k = 1 − q + q·e^{L_k}, L_k = D(2k − D)/2v.

k is a discrete Gaussian of variance v. Removing: M(s) = G(s+1); adding: G(−s). G is summed over a window of k; beyond
its ends ln w has slopes between 0 and D/v, which leaves tails of discrete Gaussians.
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
from tightrope.numerics.exact import near
from tightrope.numerics.products import product
from tightrope.numerics.transforms.noise_sums import NoiseSumTransform

if TYPE_CHECKING:
    from tightrope.numerics.transforms.transform import Floats

__all__ = ["SampledDiscreteNormalTransform"]

_MOST_VALUES = 6000


class SampledDiscreteNormalTransform(NoiseSumTransform):
    """The discrete Gaussian pair at a whole distance D, sampled at rate 0 < q < 1, or (``adding``) the reverse."""

    def __init__(self, variance: Fraction, shift: int, rate: Fraction, adding: bool) -> None:
        if not 0 < rate < 1:
            raise AssertionError("the rate must lie between 0 and 1")
        self._variance, self._shift, self._rate, self._adding = variance, shift, rate, adding
        self._float = near(variance), near(Fraction(shift)), min(near(rate), 1 - 2.0**-53)
        if not 1e-4 < self._float[0] < 1e7 or 30 * math.sqrt(self._float[0]) + 3 * self._float[1] > _MOST_VALUES:
            raise NotCertified("the sampled discrete Gaussian's transform", "the noise is too wide")

    def _power(self, t: Fraction) -> Fraction:
        return -t if self._adding else t + 1

    def _window(self, power: float, nats: float) -> tuple[int, int]:
        """The k that carry all but e^−nats of G(power)."""
        v, d, q = self._float
        reach = math.sqrt(2 * (nats + 3) * v) + 2
        pull = power * d  # at most so far does w^power move the peak
        extra = 0.0 if power >= 0 else math.sqrt(max(0.0, -2 * v * power * -math.log1p(-q)))
        low, high = min(pull, 0.0) - reach, max(pull, 0.0) + reach
        low = max(low, -reach - extra - 1) if power < 0 else low
        if not high - low < _MOST_VALUES:
            raise NotCertified("the sampled discrete Gaussian's transform", f"it has {high - low:.3g} values")
        return math.floor(low), math.ceil(high)

    def terms(self, t: Fraction) -> tuple[list[Ball], list[Ball], Ball]:
        """Weights q_k·w_k^A and ±ln w_k for the k of a window, and a bound of what is beyond; not divided by S(0)."""
        power = self._power(t)
        low, high = self._window(float(power), ctx.prec * math.log(2))
        logs = _logs(self._variance, self._shift, self._rate, low, high, ctx.prec)
        half, a = ball(1 / (2 * self._variance)), ball(power)
        weights = [(a * log - half * (k * k)).exp() for k, log in zip(range(low, high + 1), logs, strict=True)]
        # Beyond an end e, w^A ≤ w_e^A·e^{slope·|k−e|}, or w^A ≤ (1−q)^A for A < 0: then terms fall at least by the
        # ratio of the first two.
        slope = abs(a) * ball(Fraction(self._shift) / self._variance)
        beyond = Ball(0)
        for end, weight, grows in ((high, weights[-1], power > 0), (-low, weights[0], power < 0)):
            fall = half * (2 * end + 1)
            if grows and power < 0 and not slope - fall < -1:
                weight, grows = (a * (-ball(self._rate)).log1p() - half * end * end).exp(), False
            ratio = (slope - fall if grows else -fall).exp()
            if not ratio < 0.995:
                raise NotCertified("the sampled discrete Gaussian's transform", "the window ends before its peak")
            beyond += weight * ratio / (1 - ratio)
        return weights, [-log for log in logs] if self._adding else logs, beyond.upper()

    def log_real(self, t: Fraction) -> Ball:
        """ln G."""
        if self._power(t) in (0, 1):
            return Ball(0)
        with precision(ctx.prec + 40):
            plain = self.terms(Fraction(0) if self._adding else Fraction(-1))  # there w^A is 1
            return _sum(self.terms(t)) - _sum(plain)

    def node_cost(self, copies: int) -> float:  # noqa: ARG002
        """A row of a matrix product."""
        return 5.0 + (24 * math.sqrt(self._float[0]) + self._float[1])

    def _float_terms(self, powers: Floats) -> tuple[Floats, Floats]:
        """ln w and −k²/2v − ln S(0) over a window for all these powers."""
        import numpy as np

        v, d, q = self._float
        spans = [self._window(float(power), 40.0) for power in (powers.min(), powers.max())]
        k = np.arange(min(low for low, _ in spans), max(high for _, high in spans) + 1)
        loss = d * (2 * k - d) / (2 * v)
        logs = np.where(loss < 600, np.log1p(q * np.expm1(np.minimum(loss, 600.0))), loss + math.log(q))
        plain = -(k * k) / (2 * v)
        return logs, plain - np.log(np.exp(plain).sum())

    def log_floats(self, t: Floats | Sequence[float]) -> Floats:
        """ln G in floats; from G − 1 = E[w^a − 1 − a(w−1)] where that is small."""
        import numpy as np

        at = np.asarray(t, dtype=np.float64)
        powers = -at if self._adding else at + 1
        result = np.full(len(powers), math.inf)
        for sign in (powers >= 0, powers < 0):
            near = sign & (np.abs(powers) * self._float[1] < _MOST_VALUES / 3)
            if not near.any():
                continue
            few = powers[near]
            logs, plain = self._float_terms(few)
            exponents = np.multiply.outer(few, logs) + plain
            top = exponents.max(axis=1)
            values = top + np.log(np.exp(exponents - top[:, None]).sum(axis=1))
            gentle = np.abs(np.multiply.outer(few, logs)).max(axis=1) < 30
            if gentle.any():
                some = few[gentle]
                grown = np.expm1(np.multiply.outer(some, logs)) - np.multiply.outer(some, np.expm1(logs))
                rise = product(grown, np.exp(plain))
                values[gentle] = np.where(np.abs(rise) < 1, np.log1p(rise), values[gentle])
            result[near] = values
        return result

    def float_shares(self, t: float) -> tuple[Floats, Floats]:
        """The tilted masses."""
        import numpy as np

        power = -t if self._adding else t + 1
        logs, plain = self._float_terms(np.array([power]))
        exponents = power * logs + plain
        shares = np.exp(exponents - exponents.max())
        return shares / shares.sum(), -logs if self._adding else logs

    def largest(self) -> Ball | None:
        """−ln(1 − q) when adding; else unbounded."""
        return -(-ball(self._rate)).log1p() if self._adding else None

    def cost(self, t: float, eta: float, count: int, bits: int) -> float:  # noqa: ARG002
        """As ``power_sums``, for the values of the window; ∞ if they are too many."""
        try:
            low, high = self._window(-t if self._adding else t + 1, (bits + 40) * math.log(2))
        except NotCertified:
            return math.inf
        return (high - low) * (3 + 0.8 * math.sqrt(count) + 0.08 * count)


def _sum(terms: tuple[list[Ball], list[Ball], Ball]) -> Ball:
    return (sum(terms[0], Ball(0)) + between(Ball(0), terms[2])).log()


@lru_cache(maxsize=32)
def _logs(variance: Fraction, shift: int, rate: Fraction, low: int, high: int, bits: int) -> list[Ball]:
    """ln w_k with that many bits."""
    with precision(bits):
        q, slope = ball(rate), ball(Fraction(shift) / (2 * variance))
        return [(q * (slope * (2 * k - shift)).expm1()).log1p() for k in range(low, high + 1)]
