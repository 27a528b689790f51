"""The losses of Laplace noise in cells: plain, sampled, and of a record exchanged in a sample.

All these laws are made of pieces of one kind: the loss is ln(1 + ρ(e^t − 1)), t runs over an interval, and there Q has
the density κe^{−t/2} and P the density κ((1−ρ)e^{−t/2} + ρe^{t/2}). For noise that is only sampled t is the base loss.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ball, certain, precision, upper_float
from tightrope.numerics.grid.cells import UNIT, Atom, CellLaw, Cells, Floats
from tightrope.numerics.grid.exponentials import exponentials
from tightrope.numerics.grid.growths import growths, lifted, loss_gaps
from tightrope.numerics.real import ZERO, Real

__all__ = ["ExchangedLaplaceCells", "GluedLaplaceCells", "LaplaceCells", "SampledLaplaceCells"]

_WHAT = "the cells of a Laplace loss"
_BITS = 160
_MOST, _LEAST = 500.0, 1e-30  # how long a piece may be
_MARGIN = 1e-9  # beyond the losses of a piece, relatively


def _float(b: Ball) -> float:
    """A float that is off by at most 2·2⁻⁵³ of itself."""
    if not certain(b, 80):
        raise NotCertified(_WHAT, "a parameter is not known well enough")
    return float(b.mid())


class _Piece:
    """Loss ln(1 + ρ(e^t − 1)) for low < t < high, under densities κe^{−t/2} (Q) and κ((1−ρ)e^{−t/2} + ρe^{t/2}) (P)."""

    def __init__(self, rate: Ball, rest: Ball, ends: tuple[Ball, Ball], scale: Ball) -> None:
        low, high = ends
        if not (high - low < _MOST and high - low > _LEAST):
            raise NotCertified(_WHAT, "ε₀ is out of reach")
        self._rate, self._rest, self._scale = _float(rate), _float(rest), _float(2 * scale)
        self._low, self._high = _float(low), _float(high)
        self._losses = [float(_mixture(rate, end).log().mid()) for end in ends]
        # The ends are floats near the true ones: what lies between may be missing in the end cells, or too much there.
        slope = rate * high.exp() / (rest + rate * high.exp())
        self._slack = upper_float(4 * UNIT * slope * max(abs(low), abs(high)))
        self._ends = []
        for end in ends:
            fall, rise = scale * (-end / 2).exp(), scale * (end / 2).exp()
            under_p = rest * fall + rate * rise
            self._ends.append((upper_float(4 * UNIT * abs(end) * under_p), upper_float(4 * UNIT * abs(end) * fall)))

    def cells(self, edges: Floats) -> Cells:
        """P and Q between the edges, which are losses."""
        bottom, top = self._losses
        first, last = np.searchsorted(edges, [bottom - _MARGIN * (1 + abs(bottom)), top + _MARGIN * (1 + abs(top))])
        found = self._near(edges[first:last])  # all other cells are empty
        p_low, p_high, q_low, q_high = (
            np.pad(one, (first, len(edges) - last)) for one in (found.p_low, found.p_high, found.q_low, found.q_high)
        )
        return Cells(p_low, p_high, q_low, q_high, found.slack)

    def _near(self, edges: Floats) -> Cells:
        """All of the piece lies in the cells of these edges."""
        ends = self._low, self._high
        inner = np.clip(edges, *ends) if self._rest == 0 else lifted(self._rate, self._rest, edges, *ends)
        t = np.maximum.accumulate(np.concatenate([ends[:1], inner, ends[1:]]))
        widths = np.diff(t)
        powers, grown = exponentials(t / 2), growths(widths / 2)
        rise, fall = powers[:-1] * grown, grown / powers[1:]
        # 6 + 24 for the factors, 1 + width/2 for the width's rounding, 9 for products, sums and constants.
        error = (46 + widths) * UNIT
        p, q = (self._rest * fall + self._rate * rise) * self._scale, fall * self._scale
        off_p, off_q = p * error, q * error
        inside = np.flatnonzero(widths)
        for at, (end_p, end_q) in zip((inside[0], inside[-1]), self._ends, strict=True):
            off_p[at] += end_p
            off_q[at] += end_q
        slack = self._slack if self._rest == 0 else self._moved(t[1:-1], edges)
        return Cells(np.maximum(p - off_p, 0.0), p + off_p, np.maximum(q - off_q, 0.0), q + off_q, slack)

    def _moved(self, t: Floats, edges: Floats) -> float:
        """How far the losses at these t are from the edges; beyond the ends only one side counts."""
        bottom, top = self._losses
        above, below = loss_gaps(self._rate, self._rest, t, np.clip(edges, bottom - 1, top + 1))
        above[t == self._low] = 0.0
        below[t == self._high] = 0.0
        moved = float(np.max(above, initial=0.0)), float(np.max(below, initial=0.0))
        if not max(moved) < 1:
            raise NotCertified(_WHAT, "an edge was not found")
        return (max(moved) + self._slack) * (1 + 4 * UNIT)


def _mirrored(piece: _Piece, edges: Floats) -> Cells:
    """The piece, and its mirror image at 0 with P and Q exchanged."""
    up = piece.cells(edges[edges > 0])
    down = piece.cells(-edges[edges < 0][::-1])
    n, first, last = len(edges), int(np.sum(edges < 0)), int(np.sum(edges <= 0))
    found = []
    for rising, falling in (
        (up.p_low, down.q_low),
        (up.p_high, down.q_high),
        (up.q_low, down.p_low),
        (up.q_high, down.p_high),
    ):
        values = np.zeros(n + 1)
        values[: first + 1] += falling[::-1]
        values[last:] += rising
        found.append(values)
    if first == last:  # one cell has both sides of 0: a rounded sum
        for values, factor in zip(found, (1 - 2 * UNIT, 1 + 2 * UNIT) * 2, strict=True):
            values[first] *= factor
    return Cells(found[0], found[1], found[2], found[3], max(up.slack, down.slack))


def _mixture(rate: Ball, base: Ball) -> Ball:
    """1 − q + q·e^l; without a sample nothing cancels."""
    return base.exp() if rate == 1 else 1 + rate * base.expm1()


@dataclass(frozen=True, eq=False)
class SampledLaplaceCells(CellLaw):
    """The loss of ((1−q)Q + qP, Q), or (``adding``) of its reverse, (P, Q) being Laplace with largest loss ε₀."""

    epsilon0: Real
    rate: Fraction
    adding: bool = False

    @cached_property
    def _piece(self) -> _Piece:
        with precision(_BITS):
            e0 = self.epsilon0.ball()
            return _Piece(ball(self.rate), ball(1 - self.rate), (-e0, e0), (-e0 / 2).exp() / 4)

    def cells(self, edges: Floats) -> Cells:
        """The density between the atoms."""
        if not self.adding:
            return self._piece.cells(edges)
        found = self._piece.cells(-edges[::-1])
        return Cells(found.q_low[::-1], found.q_high[::-1], found.p_low[::-1], found.p_high[::-1], found.slack)

    def atoms(self) -> list[Atom]:
        """Q has half its mass at −ε₀ and e^{−ε₀}/2 at ε₀."""
        return [self._atom(1), self._atom(-1)]

    def _atom(self, sign: int) -> Atom:
        def loss() -> Ball:
            value = _mixture(ball(self.rate), sign * self.epsilon0.ball()).log()
            return -value if self.adding else value

        def mass() -> Ball:
            plain = (-self.epsilon0.ball()).exp() / 2 if sign > 0 else Ball(1) / 2
            return plain if self.adding else plain * _mixture(ball(self.rate), sign * self.epsilon0.ball())

        return Atom(self.epsilon0 * sign if self.rate == 1 and not self.adding else Real(None, loss), Real(None, mass))


class LaplaceCells(SampledLaplaceCells):
    """The loss of Laplace noise itself."""

    def __init__(self, epsilon0: Real) -> None:
        super().__init__(epsilon0, Fraction(1))


@dataclass(frozen=True, eq=False)
class GluedLaplaceCells(CellLaw):
    """A record exchanged in a sample without replacement: a removal's losses above 0, mirrored, and the rest at 0."""

    epsilon0: Real
    rate: Fraction

    @cached_property
    def _piece(self) -> _Piece:
        with precision(_BITS):
            e0 = self.epsilon0.ball()
            return _Piece(ball(self.rate), ball(1 - self.rate), (Ball(0), e0), (-e0 / 2).exp() / 4)

    def cells(self, edges: Floats) -> Cells:
        """The density between the atoms at the ends, but for the atom at 0."""
        return _mirrored(self._piece, edges)

    def atoms(self) -> list[Atom]:
        """(1−q)(1 − e^{−ε₀/2}) at 0, and both ends."""

        def top() -> Ball:
            return _mixture(ball(self.rate), self.epsilon0.ball()).log()

        def end() -> Ball:
            return (-self.epsilon0.ball()).exp() / 2

        middle = Real(None, lambda: -ball(1 - self.rate) * (-self.epsilon0.ball() / 2).expm1())
        upper = Atom(Real(None, top), Real(None, lambda: end() * top().exp()))
        lower = Atom(Real(None, lambda: -top()), Real(None, end))
        return [upper, lower] if self.rate == 1 else [upper, lower, Atom(ZERO, middle)]


@dataclass(frozen=True, eq=False)
class ExchangedLaplaceCells(CellLaw):
    """A record exchanged in a Poisson sample: (1−q)Lap(0) + qLap(ε₀) against (1−q)Lap(0) + qLap(−ε₀)."""

    epsilon0: Real
    rate: Fraction

    @cached_property
    def _piece(self) -> _Piece:
        """With t = l + ε₀ the loss ln w(l)/w(−ε₀) is ln(1 + ρ(e^t − 1)), 1 − ρ = (1 − q)/w(−ε₀)."""
        with precision(_BITS):
            e0, q = self.epsilon0.ball(), ball(self.rate)
            least = _mixture(q, -e0)
            return _Piece(q * (-e0).exp() / least, ball(1 - self.rate) / least, (Ball(0), 2 * e0), least / 4)

    def cells(self, edges: Floats) -> Cells:
        """The density between the atoms, which are at the ends."""
        return _mirrored(self._piece, edges)

    def atoms(self) -> list[Atom]:
        """±ln w(ε₀)/w(−ε₀): noise beyond ±ε₀, which without the record has the chance e^{−ε₀}/2 on either side."""

        def factor(sign: int) -> Ball:
            return _mixture(ball(self.rate), sign * self.epsilon0.ball())

        def atom(sign: int) -> Atom:
            loss = Real(None, lambda: (factor(sign) / factor(-sign)).log())
            return Atom(loss, Real(None, lambda: (-self.epsilon0.ball()).exp() / 2 * factor(sign)))

        return [atom(1), atom(-1)]
