"""The transform of a law with finitely many values: it does not decay."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import reduce
from typing import TYPE_CHECKING

from flint import ctx

from tightrope.numerics.balls import Ball, ComplexBall, ball, precision, sharp
from tightrope.numerics.real import Real
from tightrope.numerics.sums.finite import FiniteLaw
from tightrope.numerics.transforms.screened_sums import Terms, screened_sums
from tightrope.numerics.transforms.transform import Transform, log_phases, power_sums, unit

if TYPE_CHECKING:
    from tightrope.numerics.transforms.float_lines import FloatNodes
    from tightrope.numerics.transforms.transform import Complexes, Floats

__all__ = ["FiniteTransform"]

_STEP, _KEPT = 64, 4  # bits between precisions at which atoms are known, and of how many of these
_CLOSE = 30  # bits of a mass for floats


class FiniteTransform(Transform):
    """M(s) = Σ mass_i e^{s·value_i}."""

    def __init__(self, law: FiniteLaw) -> None:
        self._infinite = law.infinite
        kept = [(v, m) for v, m in zip(law.values, law.masses, strict=True) if m.rational != 0]
        if not kept:
            raise AssertionError("a law needs a finite value")
        self._values, self._masses = [v for v, _ in kept], [m for _, m in kept]
        self._known: dict[int, tuple[list[Ball], list[Ball]]] = {}
        with precision(80):
            values, masses = self._atoms()
        self._losses = [float(v.mid()) for v in values]
        self._logs = [_log(known, m) for known, m in zip(masses, self._masses, strict=True)]

    def infinite(self) -> Ball:
        """P[L = ∞]."""
        return self._infinite.ball()

    def reverse_mass(self) -> Ball:
        """Σ mass_i e^{−value_i}."""
        return sum(self._weights(Fraction(-1)), Ball(0))

    def _atoms(self) -> tuple[list[Ball], list[Ball]]:
        """Values and masses, found once for precisions that are about the same: more bits than are asked for do."""
        bits = -(-ctx.prec // _STEP) * _STEP
        found = self._known.get(bits)
        if found is None:
            with precision(bits):
                found = [v.ball() for v in self._values], [m.ball() for m in self._masses]
            while len(self._known) >= _KEPT:
                self._known.pop(next(iter(self._known)), None)
            self._known[bits] = found
        return found

    def _weights(self, t: Fraction) -> list[Ball]:
        at = ball(t)
        return [m * (v * at).exp() for v, m in zip(*self._atoms(), strict=True)]

    def log_real(self, t: Fraction) -> Ball:
        """ln Σ mass_i e^{t·value_i}."""
        with precision(ctx.prec + 40):
            value = sum(self._weights(t), Ball(0)).log()
        return value + 0

    def log_floats(self, t: Floats | Sequence[float]) -> Floats:
        """The same in floats."""
        import numpy as np

        exponents = np.multiply.outer(np.asarray(t, dtype=np.float64), np.array(self._losses)) + np.array(self._logs)
        top = exponents.max(axis=1)
        result: Floats = top + np.log(np.exp(exponents - top[:, None]).sum(axis=1))
        return result

    def line(self, t: Fraction, eta: Fraction, count: int) -> tuple[Ball, list[ComplexBall]]:
        """Power sums of the tilted masses."""
        with precision(ctx.prec + 40):
            weights, step = self._weights(t), ball(eta)
            total = sum(weights, Ball(0))
            phi = power_sums([w / total for w in weights], [v * step for v in self._atoms()[0]], count)
            phi[0] = ComplexBall(1)
            return total.log(), phi

    def float_nodes(self, t: Fraction, eta: Fraction, count: int, floor: Ball) -> FloatNodes | None:
        """Power sums of the tilted masses, as products of two matrices."""
        return screened_sums(self.terms_of(t), eta, count, floor)

    def terms_of(self, t: Fraction) -> Terms:
        """The tilted masses."""
        with precision(128):
            weights = self._weights(t)
            total = sum(weights, Ball(0))
            return Terms([w / total for w in weights], self._atoms()[0], Ball(0))

    def node_cost(self, copies: int) -> float:  # noqa: ARG002
        """A row of a matrix product."""
        return 5.0 + len(self._losses)

    def at(self, t: Fraction, eta: Fraction, indices: Sequence[int]) -> list[ComplexBall]:
        """The sum at each."""
        with precision(ctx.prec + 40):
            weights, step = self._weights(t), ball(eta)
            total = sum(weights, Ball(0))
            pairs = [(w / total, v * step) for w, v in zip(weights, self._atoms()[0], strict=True)]
            return [sum((weight * unit(angle * k) for weight, angle in pairs), ComplexBall(0)) for k in indices]

    def at_cost(self, t: Fraction, eta: Fraction, indices: Sequence[int]) -> float:  # noqa: ARG002
        """A sine and a cosine for each value."""
        return 2.0 * len(self._losses) * len(indices)

    def float_line(self, t: float, eta: float, count: int) -> tuple[float, Complexes]:
        """The same in floats."""
        import numpy as np

        losses = np.array(self._losses)
        exponents = t * losses + np.array(self._logs)
        shares = np.exp(exponents - exponents.max())
        shares /= shares.sum()
        return float(self.log_floats([t])[0]), log_phases(shares, losses, eta, count)

    def largest(self) -> Ball | None:
        """The largest value."""
        return reduce(Ball.max, self._atoms()[0])

    def cost(self, t: float, eta: float, count: int, bits: int) -> float:  # noqa: ARG002
        """As ``power_sums``."""
        return len(self._losses) * (3 + 0.8 * math.sqrt(count) + 0.08 * count)


def _log(known: Ball, mass: Real) -> float:
    """About its logarithm; −∞ for what may be 0."""
    value = known if known.rel_accuracy_bits() > _CLOSE else sharp(mass.ball, bits=_CLOSE)
    return float(value.log().mid()) if value > 0 else -math.inf
