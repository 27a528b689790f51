"""How fast |E[w^{A+iy}]| falls for a sampled loss between normal laws of unequal variance, where there are many copies:
values at a chain of places (``stretched_decay``), and from its last one on the law in layers (``layered_decay``)."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from flint import ctx

from tightrope.numerics.balls import Ball, ComplexBall, ball, precision
from tightrope.numerics.transforms.layered_decay import layered_decay, log_layered_decays
from tightrope.numerics.transforms.quadratic_loss import QuadraticLoss
from tightrope.numerics.transforms.sampled_rule import short
from tightrope.numerics.transforms.stretched_decay import FloatLaw, stretch

if TYPE_CHECKING:
    from tightrope.numerics.transforms.transform import Floats

__all__ = ["ChainedDecay"]

Terms = tuple[list[Ball], list[Ball], Ball, Ball]  # weights, ln w, their sum and a bound of its error

_CHAIN, _DENSE = 48, 800  # places; and those of a law in floats
_NATS = 42.0
_CLOSE = 7.0  # nats to which 1 − |φ| is found
_BITS, _GUARD = 8, 40
_MOST = 0.999  # of 1 − |φ|²
_LOST = 0.93  # of ln|φ|, about what is left of it between two places


@dataclass(frozen=True)
class ChainedDecay:
    """``moment``: ln E[w^A]; ``window``: where φw^A counts but for e^−nats; ``terms``: a sum for all |y'| ≤ y, to so
    many nats."""

    law: QuadraticLoss
    moment: Callable[[Fraction], Ball]
    window: Callable[[float, float], tuple[float, float]]
    terms: Callable[[Fraction, Fraction, float], Terms]

    def bound(self, power: Fraction, y: Fraction) -> Ball:
        """A bound of |E[w^{A+iy'}]|/E[w^A] for all y' ≥ y."""
        import numpy as np

        window, log = self.window(float(power), _NATS), self.moment(power)
        law = self._float_law(float(power), window)
        places, lacks = law.chain(float(y), _CHAIN)
        far = log_layered_decays(self.law, float(power), np.array(places), window, float(log.mid()))
        low = np.nonzero(far < math.log1p(-min(lacks[0], _MOST)) / 2)[0]
        end = int(low[0] if len(low) else far.argmin())
        chosen = [y, *(Fraction(place) for place in places[1 : end + 1])]
        beyond = layered_decay(self.law, power, chosen[-1], window, log)
        return self._between(power, chosen, lacks[0], law).max(beyond) if end else beyond

    def _between(self, power: Fraction, chosen: list[Fraction], lack: float, law: FloatLaw) -> Ball:
        """A bound from the first place to the last."""
        nats = _CLOSE - math.log(max(lack, 1e-30))
        with precision(max(math.ceil(nats / math.log(2)), int(ctx.prec)) + _GUARD):
            weights, losses, value, error = self.terms(power, chosen[-1], nats)
            sizes = []
            for place in chosen:
                turns = [ComplexBall(0, loss * ball(place)).exp() for loss in losses]
                total = sum(map(operator.mul, turns, weights), ComplexBall(0))
                sizes.append((total.abs_upper() + error) / value)
            return stretch(sizes, chosen, self._square(power, law))

    def _square(self, power: Fraction, law: FloatLaw) -> Ball:
        """A bound of E[(ln w − c)²], c near its mean: h²x² ≤ 2·cosh(hx) − 2."""
        h = short(law.width(), _BITS)
        while not self.law.finite(power + h):
            h /= 2
        low, middle, high = (self.moment(power + step) - ball(step) * law.mean for step in (-h, Fraction(0), h))
        return ((low - middle).exp() + (high - middle).exp() - 2) / ball(h * h)

    def _float_law(self, power: float, window: tuple[float, float]) -> FloatLaw:
        """ln w, under φw^A."""
        import numpy as np

        z = np.linspace(*window, _DENSE)
        losses = self.law.loss_floats(z)
        logs = power * losses - z * z / 2
        shares = np.exp(logs - logs.max())
        return FloatLaw(losses, shares / shares.sum())

    def sizes(self, power: float, y: Floats) -> Floats:
        """About ln|φ| itself."""
        import numpy as np

        law = self._float_law(power, self.window(power, _NATS))
        return np.array([math.log1p(-min(law.lack(float(at)), _MOST)) / 2 for at in y])

    def logs(self, power: float, y: Floats, log: float) -> Floats:
        """About the logarithm of the bound at many y; ln E[w^A] is about ``log``."""
        import numpy as np

        window = self.window(power, _NATS)
        law = self._float_law(power, window)
        places, lacks = law.chain(float(y.min()), 2 * _CHAIN)
        sizes = _LOST / 2 * np.log1p(-np.minimum(lacks, _MOST))
        far = log_layered_decays(self.law, power, np.concatenate([places, y]), window, log)
        far, found = far[: len(places)], far[len(places) :]  # with a chain, and without one
        for i, at in enumerate(y):
            first = int(np.searchsorted(places, at))
            seen = np.maximum.accumulate(sizes[max(first - 1, 0) : first + _CHAIN])[1 if first else 0 :]
            found[i] = min(found[i], float(np.maximum(seen, far[first : first + _CHAIN]).min(initial=0.0)))
        return found
