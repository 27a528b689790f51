"""How fast |E[w^{A+iy}]| falls for a sampled loss, where there are many copies: values at a chain of places
(``stretched_decay``), and from its last one on the law in layers (``layered_decay``)."""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol

from flint import ctx

from tightrope.numerics.balls import Ball, ComplexBall, ball, precision
from tightrope.numerics.transforms.layered_decay import Rectangle, layered_decay, log_layered_decays
from tightrope.numerics.transforms.sampled_rule import short
from tightrope.numerics.transforms.stretched_decay import FloatLaw, stretch

if TYPE_CHECKING:
    from tightrope.numerics.transforms.transform import Floats

__all__ = ["Chained", "ChainedDecay", "Terms"]

Terms = tuple[list[Ball], list[Ball], Ball, Ball]  # weights, ln w, their sum and a bound of its error

_CHAIN = 48  # places
_CLOSE = 7.0  # nats to which 1 − |φ| is found
_BITS, _GUARD = 8, 40
_TOLD, _TRIES, _NARROWER = 1.1, 10, 4  # of a second moment in floats, one that is proved; how often h is sought
_MOST = 0.999  # of 1 − |φ|²
_LOST = 0.93  # of ln|φ|, about what is left of it between two places


class Chained(Protocol):
    """What is known of ln w under w^A."""

    def chained_moment(self, power: Fraction) -> Ball:
        """ln E[w^A]; ∞ where that is."""

    def chained_terms(self, power: Fraction, y: Fraction, nats: float) -> Terms:
        """A sum that is E[w^{A+iy'}] for all |y'| ≤ y, to so many nats."""

    def chained_law(self, power: float) -> FloatLaw:
        """The law in floats."""

    def chained_layers(self, power: Fraction, log: Ball) -> list[Rectangle]:
        """Rectangles that are proved to lie below its density; ``log`` is the moment."""

    def chained_float_layers(self, power: float, log: float) -> list[Rectangle]:
        """About those."""


@dataclass(frozen=True)
class ChainedDecay:
    """The bound for one loss."""

    of: Chained

    def bound(self, power: Fraction, y: Fraction) -> Ball:
        """A bound of |E[w^{A+iy'}]|/E[w^A] for all y' ≥ y."""
        import numpy as np

        with precision(ctx.prec + _GUARD):
            layers = self.of.chained_layers(power, self.of.chained_moment(power))
        law = self.of.chained_law(float(power))
        places, lacks = law.chain(float(y), _CHAIN)
        far = log_layered_decays(layers, np.array(places))
        low = np.nonzero(far < math.log1p(-min(lacks[0], _MOST)) / 2)[0]
        end = int(low[0] if len(low) else far.argmin())
        chosen = [y, *(Fraction(place) for place in places[1 : end + 1])]
        beyond = layered_decay(layers, chosen[-1])
        return self._between(power, chosen, lacks[0], law).max(beyond) if end else beyond

    def _between(self, power: Fraction, chosen: list[Fraction], lack: float, law: FloatLaw) -> Ball:
        """A bound from the first place to the last."""
        nats = _CLOSE - math.log(max(lack, 1e-30))
        with precision(max(math.ceil(nats / math.log(2)), int(ctx.prec)) + _GUARD):
            weights, losses, value, error = self.of.chained_terms(power, chosen[-1], nats)
            sizes = []
            for place in chosen:
                turns = [ComplexBall(0, loss * ball(place)).exp() for loss in losses]
                total = sum(map(operator.mul, turns, weights), ComplexBall(0))
                sizes.append((total.abs_upper() + error) / value)
            return stretch(sizes, chosen, self._square(power, law))

    def _square(self, power: Fraction, law: FloatLaw) -> Ball:
        """A bound of E[(ln w − c)²], c near its mean: h²x² ≤ 2·cosh(hx) − 2, for any h. The law in floats ends where
        its mass does; what lies beyond may still count under w^{A+h}, and then a smaller h tells more."""
        h, enough = short(law.width(), _BITS), _TOLD * law.variance
        found, middle = Ball("inf"), self.of.chained_moment(power)
        for _ in range(_TRIES):
            low, high = (self.of.chained_moment(power + step) - middle - ball(step) * law.mean for step in (-h, h))
            square = (low.exp() + high.exp() - 2) / ball(h * h)
            if square.is_finite():
                found = found.min(square)
            if found <= enough:
                break
            h /= _NARROWER
        return found

    def sizes(self, power: float, y: Floats) -> Floats:
        """About ln|φ| itself."""
        import numpy as np

        law = self.of.chained_law(power)
        return np.array([math.log1p(-min(law.lack(float(at)), _MOST)) / 2 for at in y])

    def logs(self, power: float, y: Floats, log: float) -> Floats:
        """About the logarithm of the bound at many y; ln E[w^A] is about ``log``."""
        import numpy as np

        law = self.of.chained_law(power)
        places, lacks = law.chain(float(y.min()), 2 * _CHAIN)
        sizes = _LOST / 2 * np.log1p(-np.minimum(lacks, _MOST))
        far = log_layered_decays(self.of.chained_float_layers(power, log), np.concatenate([places, y]))
        far, found = far[: len(places)], far[len(places) :]  # with a chain, and without one
        for i, at in enumerate(y):
            first = int(np.searchsorted(places, at))
            seen = np.maximum.accumulate(sizes[max(first - 1, 0) : first + _CHAIN])[1 if first else 0 :]
            found[i] = min(found[i], float(np.maximum(seen, far[first : first + _CHAIN]).min(initial=0.0)))
        return found
