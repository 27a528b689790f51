"""The transform of a mixture of losses: M(s) = c + Σ share_j·M_j(s), what is left of the shares being at loss 0."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from flint import ctx

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ComplexBall, precision
from tightrope.numerics.real import ZERO, Real
from tightrope.numerics.transforms import memory as recall
from tightrope.numerics.transforms.float_lines import UNIT, FloatNodes, above, rounded
from tightrope.numerics.transforms.glued import GluedNormalTransform
from tightrope.numerics.transforms.noise_sums import NoiseSumTransform
from tightrope.numerics.transforms.screened_sums import Terms, screened_sums
from tightrope.numerics.transforms.transform import Transform

if TYPE_CHECKING:
    from tightrope.numerics.transforms.fine_powers import LossTerms
    from tightrope.numerics.transforms.transform import Complexes, Floats

__all__ = ["MixtureTransform"]

_GUARD, _SPARE = 20, 6
_MANY = 100  # copies
_MOST = {True: 5, False: 12}  # parts that are integrals, with normal noise or other noise
_DOUBLE_BITS = 128
_LOWEST = -200  # nats: lower than any node that matters
_LIGHT = -30.0  # nats: a lighter part is not seen in floats


class MixtureTransform(Transform):
    """``parts``: (share, transform), each of mass 1 and reverse mass 1; ``leak`` is the mass at ∞, the rest costs 0."""

    def __init__(self, parts: Sequence[tuple[Real, Transform]], leak: Real = ZERO) -> None:
        if not parts:
            raise AssertionError("a mixture needs a part")
        self._parts, self._leak = tuple(parts), leak
        self.end = min(part.end for _, part in parts)
        self.tilt_cost = sum(part.tilt_cost for _, part in parts)
        self.decay_cost = sum(part.decay_cost for _, part in parts)
        self.fall_cost = sum(part.fall_cost for _, part in parts)
        with precision(80):
            self._shares = [float(share.ball().mid()) for share, _ in parts]
            self._rest_float, self._leak_float = float(self._rest().mid()), float(leak.ball().mid())

    def _rest(self) -> Ball:
        """c."""
        return 1 - self._leak.ball() - sum((share.ball() for share, _ in self._parts), Ball(0))

    def infinite(self) -> Ball:
        """P[L = ∞]."""
        return self._leak.ball()

    def reverse_mass(self) -> Ball:
        """As M(0): every part has 1."""
        return self.mass()

    def log_real(self, t: Fraction) -> Ball:
        """ln M(t)."""
        with precision(ctx.prec + _GUARD):
            total = self._rest()
            for share, part in self._parts:
                total += share.ball() * recall.log_real(part, t).exp()
            return total.log()

    def log_floats(self, t: Floats | Sequence[float]) -> Floats:
        """The same in floats: M − 1 = Σ share·(M_j − 1) − leak."""
        import numpy as np

        rise, large = np.full(len(t), -self._leak_float), np.full(len(t), math.log(max(self._rest_float, 1e-300)))
        for share, (_, part) in zip(self._shares, self._parts, strict=True):
            logs = recall.log_floats(part, t)
            rise = rise + share * np.expm1(np.minimum(logs, 600.0))
            large = np.logaddexp(large, logs + math.log(share))
        result: Floats = np.where(large > 1, large, np.log1p(rise))
        return result

    def line(self, t: Fraction, eta: Fraction, count: int) -> tuple[Ball, list[ComplexBall]]:
        """The parts' lines, each as exact as its weight asks."""
        bits = int(ctx.prec)
        with precision(bits + _GUARD):
            values = [ComplexBall(self._rest())] * (count + 1)
        for log, (share, part) in zip(self._log_weights(float(t)), self._parts, strict=True):
            with precision(_bits(bits + 4, log)):
                scale, phi = part.line(t, eta, count)
            with precision(bits + _GUARD):
                weight = share.ball() * scale.exp()
                values = [value + one * weight for value, one in zip(values, phi, strict=True)]
        with precision(bits + _GUARD):
            first = values[0].real
            return first.log(), [ComplexBall(1)] + [value / first for value in values[1:]]

    def float_nodes(self, t: Fraction, eta: Fraction, count: int, floor: Ball) -> FloatNodes | None:
        """The parts' doubles, each times its share in M(t); a light part only widens the error."""
        import numpy as np

        listed = self.terms_of(t)
        if listed is not None:
            return screened_sums(listed, eta, count, floor)
        values, error = np.zeros(count + 1, dtype=np.complex128), Ball(0)
        weights, rest = self._tilted(t)
        for weight, (_, part) in zip(weights, self._parts, strict=True):
            if weight < UNIT:
                error += weight.upper()
                continue
            nodes = part.float_nodes(t, eta, count, Ball(_LOWEST))
            if nodes is None or not nodes.alive.all():
                return None
            values += rounded(weight) * nodes.values
            error += weight.upper() * nodes.error
        values += rounded(rest)
        with precision(_DOUBLE_BITS):
            error = (error + (4 * len(self._parts) + 8) * UNIT).upper()  # of products and sums of sizes up to 1
        return FloatNodes(values, error, above(values, error, floor))

    def _tilted(self, t: Fraction) -> tuple[list[Ball], Ball]:
        """The parts' shares in M(t), and that of the atom at 0."""
        with precision(_DOUBLE_BITS):
            pairs = [(share.ball(), recall.log_real(part, t).exp()) for share, part in self._parts]
            weights = [share * moment for share, moment in pairs]
            size = 1 / sum(weights, self._rest())
            return [weight * size for weight in weights], self._rest() * size

    def terms_of(self, t: Fraction) -> Terms | None:
        """The parts' sums in one."""
        if self._parts[0][1].terms_of(t) is None:
            return None
        return recall.kept(self, "terms", (t,), lambda: self._mixed(t, lambda part: part.terms_of(t)))

    def terms_up_to(self, t: Fraction, end: Fraction) -> LossTerms | None:
        """Likewise."""
        known = self.terms_of(t)
        if known is not None:
            return known
        return recall.kept(self, "rule", (t, end), lambda: self._mixed(t, lambda part: part.terms_up_to(t, end)))

    def _mixed(self, t: Fraction, terms_of: Callable[[Transform], LossTerms | None]) -> Terms | None:
        weights, rest = self._tilted(t)
        shares, losses, error = [rest], [Ball(0)], Ball(0)
        for weight, (_, part) in zip(weights, self._parts, strict=True):
            terms = terms_of(part)
            if terms is None:
                return None
            with precision(_DOUBLE_BITS):
                shares += [weight * share for share in terms.shares]
                losses += terms.losses
                error += weight * terms.error
        return Terms(shares, losses, error.upper())

    def node_cost(self, copies: int) -> float:
        """That of the parts, all of whose nodes are wanted; less for many copies of sums, which are screened."""
        normal = isinstance(self._parts[0][1], GluedNormalTransform)
        if len(self._parts) > _MOST[normal] and self._parts[0][1].sparse:  # not worth the search for a tilt
            return math.inf
        sums = copies >= _MANY and isinstance(self._parts[0][1], NoiseSumTransform)
        return 10.0 + (0.25 if sums else 1.0) * sum(part.node_cost(1) for _, part in self._parts)

    def at(self, t: Fraction, eta: Fraction, indices: Sequence[int]) -> list[ComplexBall]:
        """The parts' sums, weighted."""
        with precision(ctx.prec + _GUARD):
            size = (-self.log_real(t)).exp()
            values = [ComplexBall(self._rest() * size)] * len(indices)
            for share, part in self._parts:
                weight = share.ball() * part.log_real(t).exp() * size
                values = [old + one * weight for old, one in zip(values, part.at(t, eta, indices), strict=True)]
            return values

    def at_cost(self, t: Fraction, eta: Fraction, indices: Sequence[int]) -> float:
        """That of the parts."""
        return sum(part.at_cost(t, eta, indices) for _, part in self._parts)

    def _log_weights(self, t: float) -> list[float]:
        """About ln of the parts' shares in M(t)."""
        size = float(self.log_floats([t])[0])
        pairs = zip(self._shares, self._parts, strict=True)
        return [math.log(share) + float(part.log_floats([t])[0]) - size for share, (_, part) in pairs]

    def float_line(self, t: float, eta: float, count: int) -> tuple[float, Complexes]:
        """The same in floats: φ − 1 = Σ weight_j·(φ_j − 1)."""
        import numpy as np

        rise = np.zeros(count + 1, dtype=np.complex128)
        for log, (_, part) in zip(self._log_weights(t), self._parts, strict=True):
            rise += math.exp(log) * (np.expm1(part.float_line(t, eta, count)[1]) if log > _LIGHT else -1.0)
        rise[0] = 0.0
        result: Complexes = np.log1p(rise)
        return float(self.log_floats([t])[0]), result

    def decay(self, t: Fraction, y: Fraction) -> Ball:
        """The parts' decays, weighted; 1 for a part that gives up, or is light."""
        import numpy as np

        least = float(self.log_decay_floats(float(t), np.array([float(y)]))[0]) - (int(ctx.prec) + _SPARE) * math.log(2)
        with precision(ctx.prec + _GUARD):
            total = self._rest().max(Ball(0))
            for log, (share, part) in zip(self._log_weights(float(t)), self._parts, strict=True):
                try:
                    bound = part.decay(t, y) if log > least else Ball(1)
                except NotCertified:
                    bound = Ball(1)
                total += share.ball() * recall.log_real(part, t).exp() * bound
            return (total * (-recall.log_real(self, t)).exp()).upper().min(Ball(1))

    def log_decay_floats(self, t: float, y: Floats) -> Floats:
        """The same in floats."""
        import numpy as np

        size, total = float(self.log_floats([t])[0]), np.full(len(y), max(self._rest_float, 0.0))
        for share, (_, part) in zip(self._shares, self._parts, strict=True):
            total = total + share * np.exp(float(part.log_floats([t])[0]) + part.log_decay_floats(t, y))
        result: Floats = np.minimum(np.log(total) - size, 0.0)
        return result

    def largest(self) -> Ball | None:
        """The largest of the parts'."""
        tops = [part.largest() for _, part in self._parts]
        known = [top for top in tops if top is not None]
        if len(known) < len(tops):
            return None
        top = known[0]
        for other in known[1:]:
            top = top.max(other)
        return top

    def cost(self, t: float, eta: float, count: int, bits: int) -> float:
        """That of the parts."""
        pairs = zip(self._log_weights(t), self._parts, strict=True)
        return sum(part.cost(t, eta, count, _bits(bits, log)) for log, (_, part) in pairs)


def _bits(bits: int, log_weight: float) -> int:
    """As many bits as a part of that weight needs."""
    return max(bits + min(math.ceil(log_weight / math.log(2)), 0), 8)
