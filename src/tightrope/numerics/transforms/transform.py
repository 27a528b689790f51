"""The moment generating function of one loss, on the real axis and on vertical lines: what a contour integral needs."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from itertools import islice
from typing import TYPE_CHECKING, Any

from flint import arb_mat, ctx

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ComplexBall
from tightrope.numerics.products import product

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tightrope.numerics.transforms.fine_powers import LossTerms
    from tightrope.numerics.transforms.float_lines import FloatNodes, Integers
    from tightrope.numerics.transforms.screened_sums import Terms

    Floats = NDArray[np.floating[Any]]
    Complexes = NDArray[np.complexfloating[Any, Any]]

__all__ = ["ClosedTransform", "Transform", "power_sums", "log_phases", "unit", "whole_power"]

_ONE = ComplexBall(1)
_FLOATS = 0.3  # of the work of a line of balls, for one of floats
_SPARSE, _FEW = 4, 200  # nodes for each that is wanted, and anyway
_RESTART = 16  # products of unit complex balls lose half a bit each: a fresh sine and cosine after so many


class Transform(ABC):
    """M(s) = E[e^{sL}; L < ∞] of one law. Floats are for searches and prove nothing; every ball is a proof."""

    tilt_cost = 1.0  # about how many microseconds ``log_floats`` takes for a tilt
    longest_line, longest_proof = 1.5e5, 5e5  # microseconds of a proof: beyond, no floats are tried, and no proof

    decay_cost = 0.0  # and ``decay``, if that is long

    bent_cost = 0.0  # and ``log_bent_decay_floats``, if that is long; ``bent_decay`` takes some times as much

    fall_cost = 0.0  # and ``log_decay_floats``, which counts it itself

    sparse = False  # whether few ``float_nodes`` are quicker than all of them

    fine = True  # whether powers in doubles are worth the sum over losses that ``terms_up_to`` gives

    end = math.inf  # M(t) is finite for t below it; rather too small than too large

    kinds = 1  # laws that it is the sum of, where they are many

    each = False  # whether ``at`` takes each node by itself

    def infinite(self) -> Ball:
        """P[L = ∞]."""
        return Ball(0)

    def beyond(self) -> tuple[Ball, Ball]:
        """P and Q of large losses that a cut has put at ∞; where small ones are cut off as well, in mirror image, the
        latter is also P of these."""
        return Ball(0), Ball(0)

    def mass(self) -> Ball:
        """M(0) = P[L < ∞]."""
        return 1 - self.infinite()

    @abstractmethod
    def reverse_mass(self) -> Ball:
        """M(−1)."""

    @abstractmethod
    def log_real(self, t: Fraction) -> Ball:
        """ln M(t) for a real t of either sign, to about the present precision; ∞ where M is infinite."""

    @abstractmethod
    def log_floats(self, t: Floats | Sequence[float]) -> Floats:
        """ln M(t) for many t, in floats."""

    def nodes(self, t: Fraction, eta: Fraction, count: int) -> list[ComplexBall]:
        """φ_k = M(t + ikη)/M(t) for k = 0 … count, each to about 2^−precision (absolute)."""
        return self.line(t, eta, count)[1]

    @abstractmethod
    def line(self, t: Fraction, eta: Fraction, count: int) -> tuple[Ball, list[ComplexBall]]:
        """ln M(t) and the ``nodes``, to about 2^−precision (absolute); they share their work."""

    def float_nodes(self, t: Fraction, eta: Fraction, count: int, floor: Ball) -> FloatNodes | None:  # noqa: ARG002
        """The ``nodes`` as doubles with a proved error, but for those where |φ| ≤ e^floor; None if there is no way."""
        return None

    def terms_of(self, t: Fraction) -> Terms | None:  # noqa: ARG002
        """φ at t + iy for all y as a sum over losses; None if it is none."""
        return None

    def terms_up_to(self, t: Fraction, end: Fraction) -> LossTerms | None:  # noqa: ARG002
        """φ at t + iy for all |y| ≤ end as a sum over losses; None if that is not known."""
        return self.terms_of(t)

    def few_nodes(self, t: Fraction, eta: Fraction, indices: Integers, floor: Ball, count: int) -> FloatNodes | None:
        """The ``float_nodes`` with these numbers, which rise from 0 and are at most ``count``."""
        found = self.float_nodes(t, eta, count, floor)
        return None if found is None else found.among(indices)

    def node_cost(self, copies: int) -> float:  # noqa: ARG002
        """About how many nanoseconds a node of ``float_nodes`` takes."""
        return math.inf

    def at(self, t: Fraction, eta: Fraction, indices: Sequence[int]) -> list[ComplexBall]:
        """The ``nodes`` with these numbers only; NotCertified where that would be a waste."""
        if max(indices, default=0) > _SPARSE * len(indices) + _FEW:
            raise NotCertified("nodes in balls", "too many others lie between them")
        phi = self.nodes(t, eta, max(indices, default=0))
        return [phi[k] for k in indices]

    def at_cost(self, t: Fraction, eta: Fraction, indices: Sequence[int]) -> float:
        """About how many microseconds ``at`` takes: as ``line`` up to the last of them, or for as many if each is taken
        by itself."""
        number = len(indices) if self.each else max(indices, default=0)
        return self.cost(float(t), float(eta), number, int(ctx.prec))

    @abstractmethod
    def float_line(self, t: float, eta: float, count: int) -> tuple[float, Complexes]:
        """ln M(t) and ln φ_k, k = 0 … count, in floats: logarithms, so that 10¹² copies lose nothing."""

    def decay(self, t: Fraction, y: Fraction) -> Ball:  # noqa: ARG002
        """A bound of |M(t+iy')|/M(t) for ALL y' ≥ y; it never rises with y. 1 when none is known."""
        return Ball(1)

    def log_decay_floats(self, t: float, y: Floats) -> Floats:  # noqa: ARG002
        """About the logarithm of ``decay`` at many y."""
        return y * 0.0

    @property
    def bends(self) -> bool:
        """Whether there is a sharper and dearer bound than ``decay``."""
        return False

    def bent_decay(self, t: Fraction, y: Fraction) -> Ball:
        """Such a bound of |M(t+iy')|/M(t) for ALL y' ≥ y."""
        return self.decay(t, y)

    def log_bent_decay_floats(self, t: float, y: Floats) -> Floats:
        """About its logarithm at many y."""
        return self.log_decay_floats(t, y)

    @abstractmethod
    def largest(self) -> Ball | None:
        """The largest finite loss, or None if there is none."""

    @abstractmethod
    def cost(self, t: float, eta: float, count: int, bits: int) -> float:
        """About how many microseconds ``line`` takes."""

    def line_cost(self, t: float, eta: float, count: int) -> float:
        """About how many ``float_line`` takes."""
        return _FLOATS * self.cost(t, eta, count, 53)

    def moment_cost(self, t: float, bits: int) -> float:  # noqa: ARG002
        """About how many microseconds ``log_real`` takes, if that is long beside a line."""
        return 0.0


class ClosedTransform(Transform):
    """A transform with a closed form of ln M on complex floats, from which the searches in floats follow."""

    @abstractmethod
    def logs(self, s: Complexes) -> Complexes:
        """ln M(s) in floats."""

    def log_floats(self, t: Floats | Sequence[float]) -> Floats:
        """ln M(t), in floats."""
        import numpy as np

        result: Floats = self.logs(np.asarray(t, dtype=np.float64) + 0j).real
        return result

    def float_line(self, t: float, eta: float, count: int) -> tuple[float, Complexes]:
        """ln M(t) and ln φ_k in floats."""
        import numpy as np

        logs = self.logs(t + 1j * eta * np.arange(count + 1))
        return float(logs[0].real), logs - logs[0].real


def power_sums(weights: Sequence[Ball], angles: Sequence[Ball], count: int) -> list[ComplexBall]:
    """Σ_j weight_j e^{ik·angle_j} for k = 0 … count: k = giant·width ± baby, products of real matrices."""
    if count == 0:
        return [ComplexBall(sum(weights, Ball(0)))]
    most = math.isqrt(-(-count // 2))  # of the babies; both signs share their turns
    width = 2 * most + 1
    giants = 1 + -(-(count - most) // width)
    babies = [turned_powers(angle, most + 1, None) for angle in angles]
    steps = [turned_powers(angle * width, giants, weight) for angle, weight in zip(angles, weights, strict=True)]
    cos = arb_mat(len(babies), most + 1, [turn.real for row in babies for turn in row])
    sin = arb_mat(len(babies), most + 1, [turn.imag for row in babies for turn in row])
    real = arb_mat(giants, len(steps), [row[i].real for i in range(giants) for row in steps])
    imag = arb_mat(giants, len(steps), [row[i].imag for i in range(giants) for row in steps])
    products = zip(*((a * b).entries() for a, b in ((real, cos), (imag, sin), (imag, cos), (real, sin))), strict=True)
    sums: list[ComplexBall] = []
    for _ in range(giants):
        row = list(islice(products, most + 1))
        sums += [ComplexBall(a + b, c - d) for a, b, c, d in row[:0:-1]]  # giant − baby
        sums += [ComplexBall(a - b, c + d) for a, b, c, d in row]
    return sums[most : most + count + 1]


def turned_powers(angle: Ball, number: int, weight: Ball | None) -> list[ComplexBall]:
    """weight·e^{ik·angle} for k < number."""
    turn = unit(angle)
    value = _ONE if weight is None else ComplexBall(weight)
    turns = [value]
    for k in range(1, number):
        if k % _RESTART:
            value = value * turn
        else:
            fresh = unit(angle * k)
            value = fresh if weight is None else fresh * weight
        turns.append(value)
    return turns


def unit(angle: Ball) -> ComplexBall:
    """e^{i·angle}."""
    sin, cos = angle.sin_cos()
    return ComplexBall(cos, sin)


def log_phases(shares: Floats, losses: Floats, eta: float, count: int) -> Complexes:
    """ln Σ_j share_j e^{ikη·loss_j} for k = 0 … count; shares sum to 1. Centred, so that it is good near 0.

    k = giant·size + baby; cos − 1 and sin − angle of a sum of two angles are sums of terms that do not cancel.
    """
    import numpy as np

    mean = float(shares @ losses)
    size = math.isqrt(count + 1)
    cos_b, sin_b, bent_b = _small_turns(np.multiply.outer(eta * np.arange(size), losses - mean))
    giants = eta * size * np.arange(-(-(count + 1) // size))
    cos_g, sin_g, bent_g = _small_turns(np.multiply.outer(giants, losses - mean))
    cos, sin = cos_b * shares, sin_b * shares
    fall = np.add.outer(product(cos_g, shares), cos.sum(axis=1)) + product(cos_g, cos.T) - product(sin_g, sin.T)
    turn = np.add.outer(product(bent_g, shares), product(bent_b, shares))
    turn += product(sin_g, cos.T) + product(cos_g, sin.T)
    y, fall = eta * np.arange(count + 1), fall.ravel()[: count + 1]
    turn = turn.ravel()[: count + 1] + y * float(shares @ (losses - mean))
    size_log = np.log1p(np.maximum(fall * (2 + fall) + turn * turn, -1 + 1e-16)) / 2
    result: Complexes = size_log + 1j * (np.arctan2(turn, 1 + fall) + y * mean)
    return result


def _small_turns(angles: Floats) -> tuple[Floats, Floats, Floats]:
    """cos − 1, sin and sin − angle."""
    import numpy as np

    half, sin = np.sin(angles / 2), np.sin(angles)
    return -2 * half * half, sin, sin - angles


def whole_power(phi: ComplexBall, copies: int) -> ComplexBall:
    """phi^copies; by logarithms, which do not wrap, unless phi may be 0. The cut of the logarithm is kept away."""
    if copies < 8 or not phi.abs_lower() > 0:
        return phi**copies
    if not phi.real < 0:
        return (phi.log() * copies).exp()
    value = ((-phi).log() * copies).exp()
    return -value if copies % 2 else value
