"""The transform of the sampled discrete Gaussian's loss where σ is not small: that of the sampled normal loss, nearly.

G(a) = Σ_k φ(k/σ)w(k/σ)^a / Σ_k φ(k/σ) is the trapezoidal rule with step 1/σ for ∫φw^a, whose error ``Rule.moving``
bounds for all |y| up to some Y₁ ≈ 2πσ/μ; and Σφ(k/σ)/σ = 1 + 2e^{−2π²σ²} + …. So the nodes near the axis are those of
``SampledNormalTransform``, and so is the decay up to Y₁. Further on, where φ^copies only has to be proved tiny,
``TiltedNoise`` does so.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from flint import ctx

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ComplexBall, ball, between, precision
from tightrope.numerics.exact import near
from tightrope.numerics.real import Real
from tightrope.numerics.transforms import memory as recall
from tightrope.numerics.transforms.float_lines import UNIT, FloatNodes, as_doubles
from tightrope.numerics.transforms.sampled import SampledNormalTransform
from tightrope.numerics.transforms.sampled_discrete import SampledDiscreteNormalTransform
from tightrope.numerics.transforms.sampled_rule import Rule, short, turning
from tightrope.numerics.transforms.screened_sums import Terms
from tightrope.numerics.transforms.tilted_noise import TiltedNoise
from tightrope.numerics.transforms.transform import Transform

if TYPE_CHECKING:
    from tightrope.numerics.transforms.transform import Complexes, Floats

__all__ = ["SmoothDiscreteNormalTransform", "sampled_discrete_transform"]

_LEAST_VARIANCE = 16
_NODE_BITS = 80
_MOST_NODES = 4000  # evaluated in balls
_MOST_PRODUCTS = 1.5e8  # of nodes and values
_MOST_LISTED = 1000  # values that are taken one by one
_NEARLY = 1.03  # the decay is sought a little below the floor, to leave room for aliases
_DEPTHS = (tuple(0.6**k for k in range(12)), (0.77, 1.29), (0.88, 1.13))  # of a strip, each of the best one before
_SEVERAL = 1.15  # how closely it is sought how far aliases are small


class SmoothDiscreteNormalTransform(Transform):
    """As ``SampledDiscreteNormalTransform``, for σ ≥ 4 and a distance D that is not too long."""

    def __init__(self, variance: Fraction, shift: int, rate: Fraction, adding: bool) -> None:
        if variance < _LEAST_VARIANCE:
            raise NotCertified("the smooth discrete Gaussian's transform", "the noise is too narrow")
        mu = Real(None, lambda: ball(Fraction(shift) ** 2 / variance).sqrt())
        self._variance, self._shift, self._rate, self._adding = variance, shift, rate, adding
        self._normal = SampledNormalTransform(mu, rate, adding)
        self._mu = mu
        self._sigma = math.sqrt(near(variance))
        self._floats = float(shift) / self._sigma, min(near(rate), 1 - 2.0**-53)
        scale = 1 << 40
        self._step = Fraction(scale, math.isqrt(math.floor(variance * scale * scale)))  # at least 1/σ, and near it

    def _power(self, t: Fraction) -> Fraction:
        return -t if self._adding else t + 1

    def reverse_mass(self) -> Ball:
        """1."""
        return Ball(1)

    def log_real(self, t: Fraction) -> Ball:
        """ln of the normal one, but for aliases; value by value where these are not small, as for tilts far below 0."""
        if self._power(t) in (0, 1):
            return Ball(0)
        if self._listed(t, Fraction(0)):
            return self._value_by_value().log_real(t)
        off = (2 * self._alias(t, Fraction(0))).upper()  # the rule has seen to it that this is a little above 1 at most
        return recall.log_real(self._normal, t) + between(-off, off)

    def log_floats(self, t: Floats | Sequence[float]) -> Floats:
        """The normal one's."""
        return self._normal.log_floats(t)

    def _alias(self, t: Fraction, y: Fraction) -> Ball:
        """A bound of |M(t+iy')/M_normal(t) − M_normal(t+iy')/M_normal(t)| for every |y'| ≤ y."""
        power, mu, q = self._power(t), abs(self._mu.ball()), ball(self._rate)
        chosen = self._strip(float(power), float(y))[0]
        still = chosen.alias(mu, power)
        whole = recall.log_real(self._normal, t).exp()
        moving = chosen.moving(mu, q, power, ball(y), still, whole.upper()) / whole
        # Σφ(k/σ)/σ = 1 + 2Σ_n e^{−2π²vn²} lies between 1 and 1 + c, and |M| ≤ M(t) ≤ (1 + still)·M_normal(t)
        norm = 3 * (-2 * Ball.pi() ** 2 * ball(self._variance)).exp()
        return (moving + 2 * norm).upper()

    def _strip(self, power: float, y: float) -> tuple[Rule, float]:
        """The strip with the least alias, and about its logarithm: a choice, in floats."""
        mu, q = self._floats
        deepest = min(2 * math.pi * self._sigma, (3.04 if power < 0 else 3.12) / mu)
        best: tuple[float, float, tuple[Fraction, ...]] = math.inf, deepest, ()
        for factors in _DEPTHS:  # all depths coarsely, then those around the best
            around = best[1] if best[0] < math.inf else deepest
            for d in (min(around * factor, deepest) for factor in factors):
                least = d * d / 2 - 2 * math.pi * d * self._sigma  # what turns adds to it is not negative
                if least >= best[0]:
                    continue
                extra, cuts = turning(mu, q, power, y, d * mu)
                extra += power * math.log(math.cos(d * mu / 2)) if power < 0 else 0.0
                best = min(best, (extra + least, d, cuts))
        return Rule(self._step, 0, 0, short(best[1]), best[2]), best[0]

    def _value_by_value(self) -> SampledDiscreteNormalTransform:
        return SampledDiscreteNormalTransform(self._variance, self._shift, self._rate, self._adding)

    def _few_values(self) -> bool:
        return 24 * self._sigma + self._shift <= _MOST_LISTED

    def _listed(self, t: Fraction, y: Fraction) -> bool:
        """Whether a sum value by value serves better: of few values, where aliases up to y are not small."""
        try:
            return self._few_values() and not 2 * self._alias(t, y) < Ball(2) ** -int(ctx.prec)
        except NotCertified:  # the normal one is out of reach
            return True

    def terms_of(self, t: Fraction) -> Terms | None:
        """The tilted masses of noise that is not too wide."""
        if not self._few_values():
            return None
        return recall.kept(self, "terms", (t,), lambda: self._value_by_value().terms_of(t))

    def line(self, t: Fraction, eta: Fraction, count: int) -> tuple[Ball, list[ComplexBall]]:
        """The normal line, widened by the aliases; or value by value where that is quicker, or these are not small."""
        normal, listed = self._costs(float(t), float(eta), count, int(ctx.prec))
        if listed < normal or self._listed(t, eta * count):
            return self._value_by_value().line(t, eta, count)
        still, moving = self._alias(t, Fraction(0)), self._alias(t, eta * count)
        if not (still < 0.5 and moving < Ball(2) ** -40):
            raise NotCertified("the smooth discrete Gaussian's transform", "its nodes go too far")
        log, phi = recall.line(self._normal, t, eta, count)
        by = ((moving + still) / (1 - still)).upper()
        off = ComplexBall(between(-by, by), between(-by, by))
        wide = (2 * still).upper()
        return log + between(-wide, wide), [ComplexBall(1)] + [value + off for value in phi[1:]]

    def at(self, t: Fraction, eta: Fraction, indices: Sequence[int]) -> list[ComplexBall]:
        """Value by value where they are few."""
        return self._value_by_value().at(t, eta, indices) if self._few_values() else super().at(t, eta, indices)

    def at_cost(self, t: Fraction, eta: Fraction, indices: Sequence[int]) -> float:
        """About how many microseconds that takes."""
        return (self._value_by_value().at_cost if self._few_values() else super().at_cost)(t, eta, indices)

    def float_line(self, t: float, eta: float, count: int) -> tuple[float, Complexes]:
        """The normal one's."""
        return self._normal.float_line(t, eta, count)

    def float_nodes(self, t: Fraction, eta: Fraction, count: int, floor: Ball) -> FloatNodes | None:
        """Those before the transform is below the floor, if that is proved of all others; else narrow noise in full."""
        try:
            nodes = self._first_nodes(t, eta, count, floor)
        except NotCertified:  # nodes out of reach
            nodes = None
        if nodes is not None or (30 * self._sigma + 3 * self._shift) * count > _MOST_PRODUCTS:
            return nodes
        return self._value_by_value().float_nodes(t, eta, count, floor)

    def _first_nodes(self, t: Fraction, eta: Fraction, count: int, floor: Ball) -> FloatNodes | None:
        import numpy as np

        last = self._settled(float(t), float(eta), count, float(floor))
        if last is None:
            return None
        with precision(_NODE_BITS):
            if last < count and not self._low(t, eta * last, eta * count, floor.exp()):
                return None
            phi = as_doubles(self.line(t, eta, last)[1])
        values, alive = np.zeros(count + 1, dtype=np.complex128), np.zeros(count + 1, dtype=np.bool_)
        values[: last + 1], alive[: last + 1] = phi, True
        return FloatNodes(values, 4 * UNIT, alive)

    def _settled(self, t: float, eta: float, count: int, floor: float) -> int | None:
        """About the node from which on the normal transform is below the floor; None if it is too far."""
        import numpy as np

        last = min(count, _MOST_NODES)
        y = np.geomspace(eta, eta * last, 200)
        enough = np.nonzero(self._normal.log_decay_floats(t, y) < _NEARLY * floor)[0]
        if len(enough):
            return min(count, math.ceil(float(y[enough[0]]) / eta) + 1)
        return count if last == count else None

    def _low(self, t: Fraction, start: Fraction, end: Fraction, goal: Ball) -> bool:
        """Whether |φ| ≤ goal is proved for all y from start to end: by the decay as far as aliases are small."""
        room = (goal - recall.decay(self._normal, t, start)).lower()
        if not room > 0:
            return False
        log_room, power = float(room.log()) - 1, float(self._power(t))
        low, high, reached = float(start), float(end), end
        if not self._strip(power, high)[1] < log_room:
            while high > _SEVERAL * low:
                y = math.sqrt(low * high)
                low, high = (y, high) if self._strip(power, y)[1] < log_room else (low, y)
            reached = min(max(start, short(low)), end)
        still, moving = self._alias(t, Fraction(0)), self._alias(t, reached)
        if not (still < 0.5 and (moving + still) / (1 - still) <= room):
            return False
        return reached >= end or self._noise(t).low(reached, end, goal)

    def _noise(self, t: Fraction) -> TiltedNoise:
        return TiltedNoise(self._variance, self._shift, self._rate, self._power(t), self.log_real(t))

    def node_cost(self, copies: int) -> float:  # noqa: ARG002
        """Hardly any: most nodes are dropped."""
        return 5.0

    def largest(self) -> Ball | None:
        """−ln(1 − q) when adding; else unbounded."""
        return self._normal.largest()

    def _costs(self, t: float, eta: float, count: int, bits: int) -> tuple[float, float]:
        """Of the normal line, and of one value by value; ∞ where there is none."""
        listed = self._value_by_value().cost(t, eta, count, bits) if self._few_values() else math.inf
        try:
            return self._normal.cost(t, eta, count, bits), listed
        except NotCertified:  # too many nodes
            return math.inf, listed

    def cost(self, t: float, eta: float, count: int, bits: int) -> float:
        """That of the quicker one."""
        return min(self._costs(t, eta, count, bits))


def sampled_discrete_transform(variance: Fraction, shift: int, rate: Fraction, adding: bool) -> Transform:
    """The smooth one, or narrow noise value by value."""
    try:
        return SmoothDiscreteNormalTransform(variance, shift, rate, adding)
    except NotCertified:
        return SampledDiscreteNormalTransform(variance, shift, rate, adding)
