"""The transform of a sampled loss between two normal laws of unequal variance: G(a) = E[w^a], w = 1 − q + q·e^{l(z)}.

l is a quadratic and z standard normal (``quadratic_loss``). Removing a record: M(s) = G(s+1); adding one: M(s) = G(−s).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

from flint import ctx

from tightrope.errors import NotCertified
from tightrope.numerics import effort
from tightrope.numerics.balls import INFINITY, Ball, ComplexBall, ball, between, precision
from tightrope.numerics.ellipses import Integrand, float_places, nodes, panels
from tightrope.numerics.exact import near
from tightrope.numerics.transforms import memory as recall
from tightrope.numerics.transforms.chained_decay import ChainedDecay
from tightrope.numerics.transforms.falling_nodes import FallingTransform
from tightrope.numerics.transforms.layered_decay import Rectangle
from tightrope.numerics.transforms.lifted_nodes import Lifted
from tightrope.numerics.transforms.lifted_unequal import lifted_unequal
from tightrope.numerics.transforms.quadratic_decay import best_path, log_path_decays, path_decay
from tightrope.numerics.transforms.quadratic_loss import QuadraticLoss, domain_end
from tightrope.numerics.transforms.settled_nodes import Quadrature
from tightrope.numerics.transforms.stretched_decay import FloatLaw
from tightrope.numerics.transforms.transform import log_phases, power_sums
from tightrope.numerics.transforms.unequal_layers import unequal_float_layers, unequal_layers
from tightrope.numerics.transforms.unequal_powers import UnequalPowers, float_log_means

if TYPE_CHECKING:
    from tightrope.numerics.transforms.transform import Complexes, Floats

__all__ = ["SampledUnequalTransform"]

_WHAT = "a sampled transform of unequal variances"
_GUARD = 40
_NATS = 42.0  # accuracy of doubles, and of their powers
_MOST_NODES = 9000
_FARTHEST = 1e3  # in Q's standard deviations
_BLOCK = 32  # powers at once
_FEW = 200  # places among which a window is sought
_NODE = 32.0  # microseconds of a node, with its share of an ellipse
_COUNTED = 20.0  # of them by whoever asks for a rule
_DENSE = 800  # places of a law in floats
_LITTLE = -0.02  # nats
_LONGEST = 2e5  # microseconds of a decay
_SHARPER = 1.1  # times as low, and a path is worth its proof
_SOME = 24  # places between which decays are read off a line


class SampledUnequalTransform(FallingTransform):
    """N(m₁, s₁²) sampled at rate 0 < q < 1 into N(m₂, s₂²), against that; or (``adding``) the reverse."""

    tilt_cost, decay_cost, fall_cost = 110.0, 8e4, 9e3
    longest_line, longest_proof = 4e5, 1e6

    def __init__(self, law: QuadraticLoss, adding: bool) -> None:
        if not 0 < law.rate < 1 or law.bend == 0:
            raise AssertionError("the rate must lie between 0 and 1, and the variances differ")
        if not (2.0**-20 < abs(law.floats[0]) < 1e6 and abs(law.floats[1]) < 1e6):
            raise NotCertified(_WHAT, "the variances are too close or too far from each other")
        self._law, self._adding = law, adding
        self.end = math.inf if adding else domain_end(law.s1, law.s2)
        self._chained = ChainedDecay(self)
        self._other = near((law.m1 - law.m2) / law.s2), near(law.s1 / law.s2)  # the other law's mean and deviation

    def _power(self, t: Fraction) -> Fraction:
        return -t if self._adding else t + 1

    def reverse_mass(self) -> Ball:
        """1."""
        return Ball(1)

    def log_real(self, t: Fraction) -> Ball:
        """ln G, by the rule of ``line``; ∞ where that is."""
        power = self._power(t)
        if power in (0, 1):
            return Ball(0)
        if not self._law.finite(power):
            return INFINITY
        with effort.paid():  # contours count it as a line of one node, and a curve needs one value of it
            return self.line(t, Fraction(0), 0)[0]

    def _window(self, power: float, nats: float) -> tuple[float, float]:
        """Where φ·w^A counts."""
        import numpy as np

        bend, slope, _, _ = self._law.floats
        heavy = 1 - 2 * max(power, 1.0) * bend if power > 0 else 1.0
        if not heavy > 0:
            raise NotCertified(_WHAT, f"the moment of order {power:.6g} is infinite, or nearly")
        beyond = min(power, 0.0) * math.log1p(-self._law.floats[3])  # ln of w^A where w is least
        wide, middle = math.sqrt(2 * (nats + 5 + beyond)), max(power, 0.0) * slope / heavy
        reach = wide / math.sqrt(min(heavy, 1.0))
        low, high = min(-wide, middle - reach), max(wide, middle + reach)
        if not high - low < _FARTHEST:  # nor if it is not a number
            raise NotCertified(_WHAT, "its losses are spread out too far")
        z = np.linspace(low, high, _FEW)
        top = float((power * self._law.loss_floats(z) - z * z / 2).max())
        counted = [np.nonzero(tail > top - nats - 3)[0] for tail in self._law.log_tails(power, z)]
        if not all(len(some) for some in counted):
            raise NotCertified(_WHAT, f"the order {power:.6g} is out of reach")
        step = float(z[1] - z[0])
        return float(z[counted[0][0]]) - step, float(z[counted[1][-1]]) + step

    def log_floats(self, t: Floats | Sequence[float]) -> Floats:
        """ln G in floats."""
        import numpy as np

        at = np.asarray(t, dtype=np.float64)
        powers = -at if self._adding else at + 1
        windows = [self._reached(float(power)) for power in powers]
        found = np.full(len(powers), math.inf)
        for start in range(0, len(powers), _BLOCK):
            some = [i for i in range(start, min(start + _BLOCK, len(powers))) if windows[i] is not None]
            if some:
                reached = np.array([windows[i] for i in some])
                found[some] = float_log_means(self._law, self._other, powers[some], reached)
        return found

    def _log_float(self, power: float) -> float:
        return float(self.log_floats([-power if self._adding else power - 1])[0])

    def _reached(self, power: float) -> tuple[float, float] | None:
        try:
            return self._window(power, 40.0)
        except NotCertified:
            return None

    def _rule(self, power: Fraction, y: Fraction, nats: float) -> tuple[Integrand, tuple[float, float], float]:
        """What is to be integrated, where, and ln of the error that is aimed at."""
        size = self._log_float(float(power)) + math.log(2 * math.pi) / 2
        return UnequalPowers(self._law, power, y), self._window(float(power), nats), size - nats

    def chained_terms(self, power: Fraction, y: Fraction, nats: float) -> tuple[list[Ball], list[Ball], Ball, Ball]:
        """Weights with w^A in them and ln w at all nodes, G(A), and a bound of the sum's errors for all |y'| ≤ y."""
        law, chosen = self._law, panels(*self._rule(power, y, nats), _MOST_NODES)
        a, scale = ball(power), 1 / (2 * Ball.pi()).sqrt()
        bend, slope, height, q = law.coefficients()
        weights: list[Ball] = []
        losses: list[Ball] = []
        for z, weight in chosen.places():
            loss = (q * ((bend * z + slope) * z + height).expm1()).log1p()
            losses.append(loss)
            weights.append(scale * weight * (a * loss - z * z / 2).exp())
        error = (scale * chosen.error + law.tails(power, *chosen.ends)).upper()
        return weights, losses, sum(weights, between(-error, error)), error

    def chained_moment(self, power: Fraction) -> Ball:
        """ln G(A)."""
        return recall.log_real(self, -power if self._adding else power - 1)

    def chained_law(self, power: float) -> FloatLaw:
        """ln w, under φw^A."""
        import numpy as np

        z = np.linspace(*self._window(power, _NATS), _DENSE)
        losses = self._law.loss_floats(z)
        logs = power * losses - z * z / 2
        shares = np.exp(logs - logs.max())
        return FloatLaw(losses, shares / shares.sum())

    def chained_layers(self, power: Fraction, log: Ball) -> list[Rectangle]:
        """Those of both branches."""
        return unequal_layers(self._law, power, self._window(float(power), _NATS), log)

    def chained_float_layers(self, power: float, log: float) -> list[Rectangle]:
        """About those."""
        return unequal_float_layers(self._law, power, self._window(power, _NATS), log)

    def line(self, t: Fraction, eta: Fraction, count: int) -> tuple[Ball, list[ComplexBall]]:
        """Gauss-Legendre panels, the same for all nodes."""
        power = self._power(t)
        if not self._law.finite(power):
            raise NotCertified(_WHAT, "the moment is infinite")
        nats = ctx.prec * math.log(2) + 2
        with precision(ctx.prec + _GUARD):
            weights, losses, value, error = self.chained_terms(power, eta * count, nats)
            turn, off = ball(-eta if self._adding else eta), between(-error, error)
            sums = power_sums(weights, [loss * turn for loss in losses], count)
            both = ComplexBall(off, off)
            return value.log(), [ComplexBall(1)] + [(s + both) / value for s in sums[1:]]

    def quadrature(self, t: Fraction, end: Fraction) -> Quadrature:
        """φ at all |y| up to the end, for doubles."""
        weights, losses, value, error = self.chained_terms(self._power(t), end, _NATS)
        shares = [weight / value.mid() for weight in weights]
        error = (2 * (error + value.rad()) / value).upper()
        return Quadrature(shares, [-loss for loss in losses] if self._adding else losses, error)

    def quick_rule(self, t: Fraction) -> Callable[[Fraction], Quadrature] | None:
        """That of ``line``, in doubles."""
        return partial(self.quadrature, t)

    def lifted(self, t: Fraction, end: Fraction) -> Lifted | None:
        """φ at all y from 0 to the end on a path on which w^{iy} does not grow (``lifted_unequal``)."""
        if self._law.bend < 0:
            return None
        power = self._power(t)
        window = self._window(float(power), _NATS)
        return lifted_unequal(self._law, power, end, window, _NATS, self.log_real(t), self._adding)

    def rule_cost(self, t: Fraction, end: Fraction) -> float:
        """The ellipses."""
        number = nodes(*self._rule(self._power(t), end, _NATS), _MOST_NODES)
        return 1e3 + (_NODE - _COUNTED) * number

    def float_line(self, t: float, eta: float, count: int) -> tuple[float, Complexes]:
        """The same in floats."""
        import numpy as np

        power = -t if self._adding else t + 1
        z, weights = float_places(*self._rule(Fraction(power), Fraction(eta * count), 36.0), _MOST_NODES)
        losses = self._law.loss_floats(z)
        logs = power * losses - z * z / 2
        shares = weights * np.exp(logs - logs.max())
        shares /= shares.sum()
        return self._log_float(power), log_phases(shares, -losses if self._adding else losses, eta, count)

    def decay(self, t: Fraction, y: Fraction) -> Ball:
        """What floats find lower: close for many copies (``chained_decay``), or the integral along a bent path."""
        import numpy as np

        power, bound = self._power(t), Ball(1)
        if not self._law.finite(power):
            return bound
        with effort.paid():  # ``decay_cost`` is counted by whoever asks
            with effort.allowed(_LONGEST), suppress(NotCertified):
                a, at, log = float(power), np.array([float(y)]), self._log_float(float(power))
                if self._path_logs(a, at, log)[0] < _SHARPER * self._chained.logs(a, at, log)[0]:
                    path, window = best_path(self._law, a, float(y), self._window(a, _NATS)), partial(self._window, a)
                    bound = path_decay(self._law, power, y, path, window, recall.log_real(self, t))
            if not bound < 1:
                with effort.allowed(_LONGEST), suppress(NotCertified):
                    bound = self._chained.bound(power, y).min(bound)
        return bound

    def log_decay_floats(self, t: float, y: Floats) -> Floats:
        """The same in floats, between a few y on a line."""
        import numpy as np

        effort.spend(self.fall_cost, _WHAT)
        power = -t if self._adding else t + 1
        some = y if len(y) <= _SOME else np.geomspace(float(y.min()), float(y.max()), _SOME)
        try:
            log = self._log_float(power)
            paths, chains = self._path_logs(power, some, log), self._chained.logs(power, some, log)
            found = np.where(paths < _SHARPER * chains, paths, chains)
        except NotCertified:
            return y * 0.0
        result: Floats = found if len(y) <= _SOME else np.interp(np.log(y), np.log(some), found)
        return result

    def _path_logs(self, power: float, y: Floats, log: float) -> Floats:
        import numpy as np

        """Of a path; of many copies, which need little of each, the chain will do. No bound is below |φ|."""
        found = log_path_decays(self._law, power, y, self._window(power, _NATS), log)
        found[found > _LITTLE] = 0.0
        return np.maximum(found, self._chained.sizes(power, y))

    def largest(self) -> Ball | None:
        """Of a removal ln w at the vertex, if that is the top; of an addition −ln w there, if it is the bottom, and
        else −ln(1 − q), which is not reached."""
        law, q = self._law, ball(self._law.rate)
        if self._adding == (law.bend < 0):
            return -(-q).log1p() if self._adding else None
        top = (q * (law.height() - ball(law.slope**2 / (4 * law.bend))).expm1()).log1p()
        return -top if self._adding else top

    def cost(self, t: float, eta: float, count: int, bits: int) -> float:
        """Some elementary functions for each node, its ellipses, then ``power_sums``."""
        power = -t if self._adding else t + 1
        number = nodes(*self._rule(Fraction(power), Fraction(eta * count), bits * math.log(2) + 2), _MOST_NODES)
        return 1e3 + number * (_NODE + 0.8 * math.sqrt(count) + 0.08 * count)
