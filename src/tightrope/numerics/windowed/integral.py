"""Sampled steps, few or rare, and other parts: the contour integral around those paths that it is needed for, proved.

Every sampled step is LOW, MIDDLE or HIGH (``law``), with borders of its own for each sampler j of k_j steps. With x
fixed and call(x) = E[(1 − e^{x−L})₊], the paths fall into three kinds, each with a call ≥ 0, and the calls add:

    some step HIGH         P_H − e^x Q_H ≤ call ≤ min(P_H, P_H − e^x Q_H + Σ_j c(v−1)e^{vx}·k_j·H_j(−v)M(−v)/M_j(−v))
    no HIGH, some MIDDLE   the contour integral of F(s) = [Π(m_j + l_j)^{k_j} − Πl_j^{k_j}]·ΠM_i(s)^{n_i}
    all LOW                0 ≤ call ≤ c(t')Πl_j(t')^{k_j}ΠM_i(t')^{n_i} e^{−t'x}, t' > 0

where v > 1; l_j, m_j, H_j are the moments of the pieces, ∫φ W w^{s+1}, M_i the transforms of the other parts, M that
of all; the call of paths with a step beyond a cut, or with a HIGH step of an unlikely kind, is at most their chance. F
belongs to a positive measure that has neither the sharp bulk nor the heavy tail: both would need very many nodes.
Without other parts its losses are at least Σk_j·ln(1−q_j). What lies at ∞ is added.

Where a record is *exchanged* the moments are ∫φ W w(z)^{s+1} w(−z)^{−s}, and all this holds of the paths without a DEEP
step: M_j is that of the other steps, and P_H = Π(1 − d_j)^{k_j} − Π(1 − d_j − h_j)^{k_j} with d and h the chances of a
DEEP and a HIGH step. The call of paths with a DEEP step is at most Σk_j h_j·Σk_j d_j if there is a HIGH one, too, else

    min(Σk_j d_j, c(t)e^{−tx} Σ_j k_j D_j(t)·Π(l_i + m_i + D_i)^{k_i − [i=j]}·ΠM_i(t)^{n_i}), D_j being their moment.

When a record is *added* the loss is −ln w under the plain law, at most −k·ln(1−q). The moments are ∫φ W w^{−s}, nothing
is LOW, and paths with a HIGH step have a call of at most Σ_j c(v−1)e^{−(v−1)x}·k_j·∫φ H_j w_j^{1−v}·M(v−1)/M_j(v−1).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from tightrope.numerics.balls import INFINITY, Ball, ComplexBall, ball, between, precision
from tightrope.numerics.contour.proof import call_factor, log_moment, product_of_powers
from tightrope.numerics.transforms import memory as recall
from tightrope.numerics.transforms.transform import whole_power
from tightrope.numerics.transforms.turned_sum import TurnedSum
from tightrope.numerics.windowed.bounds import HIGH, LOW, MIDDLE
from tightrope.numerics.windowed.law import Step
from tightrope.numerics.windowed.parts import WindowLaw
from tightrope.numerics.windowed.plan import WindowPlan, check_plan

__all__ = ["WindowProof"]

_GUARD = 24
_ROUGH = 20  # bits, where a bound is wanted and no value


class WindowProof:
    """Everything about one plan that does not depend on x."""

    def __init__(self, law: WindowLaw, plan: WindowPlan, adding: bool = False) -> None:
        check_plan(plan, len(law.samplers), law.exchanged, adding)
        self._law, self._plan, self._adding = law, plan, adding
        self._copies = [one.copies for one in law.samplers]
        self._steps = [
            Step(one.mu, one.rate, piece.split, one.exchanged)
            for one, piece in zip(law.samplers, plan.pieces, strict=True)
        ]
        self._extra = law.copies.bit_length()
        self.bits = plan.bits + self._extra + _GUARD
        with precision(self.bits):
            self._log_scale, self._terms, bottoms = self._nodes()
            halves = [ComplexBall(real, imag) / (1 if k else 2) for k, (real, imag) in enumerate(self._terms)]
            self._sum = TurnedSum(halves)
            self._period = 2 * Ball.pi() / ball(plan.eta)
            self._tail = self._node_tail(bottoms)
            self._mass, self._reverse = self._masses()
            self._least, self._largest = self._ends()
            self._infinite = law.infinite()
            self._high_mass, self._high_reverse = self._high_masses()
        with precision(_ROUGH + self._extra):
            self._above = call_factor(plan.above) * self._bounded(plan.above).exp()
            self._below = None
            if plan.below is not None:
                self._below = call_factor(plan.below - 1) * self._bounded(-plan.below).exp()
            self._puts = self._high_puts()
            self._lost = self._lost_mass()
            self._deep = (Ball(0), Ball(0)) if plan.deep_tilt is None else self._deep_bounds(plan.deep_tilt)
            self._all_low = self._low_bound() if plan.has_low else Ball(0)

    def _power(self, s: Fraction) -> Fraction:
        return -s if self._adding else s + 1

    def _nodes(self) -> tuple[Ball, list[tuple[Ball, Ball]], list[Ball] | None]:
        """ln F(t); F(s)/F(t)/(s(s+1)) at the nodes; and what is LOW at the first."""
        plan = self._plan
        with precision(plan.bits + self._extra):
            turn = -plan.eta if self._adding else plan.eta
            middles = [step.line(MIDDLE, self._power(plan.t), turn, plan.count) for step in self._steps]
            lows = None
            if plan.has_low:
                lows = [step.line(LOW, plan.t + 1, plan.eta, plan.count) for step in self._steps]
            rest = [recall.line(transform, plan.t, plan.eta, plan.count) for transform, _ in self._law.others]
        bottoms = None if lows is None else [line[0].real for line in lows]
        scale = self._log_product([line[0].real for line in middles], bottoms)
        terms = []
        for n in range(plan.count + 1):
            low = None if lows is None else [line[n] for line in lows]
            power = self._ratio([line[n] for line in middles], low, middles, scale)
            for (_, phi), (_, copies) in zip(rest, self._law.others, strict=True):
                power *= whole_power(phi[n], copies)
            s = ComplexBall(ball(plan.t), ball(plan.eta * n))
            term = power / (s * (s + 1))
            terms.append((term.real, term.imag))
        for (log, _), (_, copies) in zip(rest, self._law.others, strict=True):
            scale += log * copies
        return scale, terms, bottoms

    def _log_product(self, middle: Sequence[Ball], low: Sequence[Ball] | None) -> Ball:
        """ln(Π(m + l)^k − Πl^k), both positive."""
        if low is None:
            return sum((one.log() * k for one, k in zip(middle, self._copies, strict=True)), Ball(0))
        total, growth = Ball(0), Ball(0)
        for one, below, k in zip(middle, low, self._copies, strict=True):
            total += below.log() * k
            growth += (one / below).log1p() * k
        return total + growth.expm1().log()

    def _ratio(
        self, middle: list[ComplexBall], low: list[ComplexBall] | None, lines: list[list[ComplexBall]], scale: Ball
    ) -> ComplexBall:
        """(Π(m + l)^k − Πl^k)(s) divided by its value e^scale at t."""
        if low is None:
            product = ComplexBall(1)
            for one, line, k in zip(middle, lines, self._copies, strict=True):
                product *= whole_power(one / line[0], k)
            return product
        total, growth = ComplexBall(-scale), ComplexBall(0)
        for one, below, k in zip(middle, low, self._copies, strict=True):
            total += below.log() * k
            growth += (one / below).log1p() * k
        grown = growth.expm1() * total.exp()
        if _radius(grown) < Ball(2) ** -self._plan.bits:
            return grown
        whole = bottom = ComplexBall((-scale).exp())  # where the low part vanishes, there is nothing to cancel
        for one, below, k in zip(middle, low, self._copies, strict=True):
            whole, bottom = whole * whole_power(one + below, k), bottom * whole_power(below, k)
        return grown if _radius(grown) < _radius(whole - bottom) else whole - bottom

    def _node_tail(self, bottoms: list[Ball] | None) -> Ball:
        """A bound of 2 Σ_{n>N} |F(s)/F(t)/(s(s+1))|: |F| ≤ Π(R_m + R_l)^k − ΠR_l^k, which grows with all of them."""
        plan = self._plan
        y, t, rest = plan.eta * plan.count, ball(plan.t), Ball(0)
        with precision(plan.bits + self._extra):  # it must be seen how small the middle part has become
            tops, lows = [], []
            for i, (step, piece) in enumerate(zip(self._steps, plan.pieces, strict=True)):
                tops.append(step.decay(MIDDLE, self._power(plan.t), y, piece.angle))
                if bottoms is not None:
                    lows.append(bottoms[i].upper())
                    if piece.low_angle > 0:
                        lows[i] = lows[i].min(step.decay(LOW, plan.t + 1, y, piece.low_angle))
            for transform, copies in self._law.others:
                rest += (recall.decay(transform, plan.t, y).log() + recall.log_real(transform, plan.t)) * copies
        log = self._log_product(tops, None if bottoms is None else lows) + rest - self._log_scale
        return (2 * log.exp() * (t / ball(y)).atan() / (t * ball(plan.eta))).upper()

    def _masses(self) -> tuple[Ball, Ball]:
        """F(0) and F(−1)."""
        middle = [step.shares(MIDDLE) for step in self._steps]
        low = [step.shares(LOW) for step in self._steps] if self._plan.has_low else None
        first, second = (
            self._log_product([one[i] for one in middle], None if low is None else [one[i] for one in low]).exp()
            for i in (0, 1)
        )
        mass, reverse = self._other_masses()
        return (second * mass, first * reverse) if self._adding else (first * mass, second * reverse)

    def _other_masses(self) -> tuple[Ball, Ball]:
        others = self._law.others
        mass = product_of_powers([(transform.mass(), copies) for transform, copies in others])
        return mass, product_of_powers([(transform.reverse_mass(), copies) for transform, copies in others])

    def _ends(self) -> tuple[Ball | None, Ball]:
        """The least loss of F, None where it is not known, and the largest."""
        least = sum((step.least_loss() * k for step, k in zip(self._steps, self._copies, strict=True)), Ball(0))
        most = sum((step.last_loss() * k for step, k in zip(self._steps, self._copies, strict=True)), Ball(0))
        if self._adding:
            least, most = -most, -least
        for transform, copies in self._law.others:
            top = transform.largest()
            most = INFINITY if top is None else most + top * copies
        return None if self._law.others else least, most

    def _high_masses(self) -> tuple[Ball, Ball]:
        """Some step HIGH of a sampler with a put, none DEEP: P_H and Q_H."""
        highs, wholes = [Ball(0), Ball(0)], [Ball(0), Ball(0)]
        for step, piece, k in zip(self._steps, self._plan.pieces, self._copies, strict=True):
            for i, (share, deep) in enumerate(zip(step.shares(HIGH), step.deep_shares(), strict=True)):
                wholes[i] += (-deep).log1p() * k
                if piece.put is not None:
                    highs[i] += (-share / (1 - deep)).log1p() * k
        first, second = (-high.expm1() * whole.exp() for high, whole in zip(highs, wholes, strict=True))
        mass, reverse = self._other_masses()
        return (first * reverse, second * mass) if self._adding else (first * mass, second * reverse)

    def _bounded(self, t: Fraction) -> Ball:
        """ln F(t) at a real t."""
        middle = [step.moment(MIDDLE, self._power(t)) for step in self._steps]
        low = [step.moment(LOW, t + 1) for step in self._steps] if self._plan.has_low else None
        return self._log_product(middle, low) + log_moment(self._law.others, t, _ROUGH)

    def _high_puts(self) -> list[tuple[Fraction, Ball]]:
        """The v of each sampler with a put, and c(v−1)·k·H(−v)·M(−v)^{k−1} times M(−v) of all others; added: M(v−1)."""
        found = []
        for i, (step, piece, k) in enumerate(zip(self._steps, self._plan.pieces, self._copies, strict=True)):
            v = piece.put
            if v is None:
                continue
            log = log_moment(self._law.others, v - 1 if self._adding else -v, _ROUGH)
            for j, (other, copies) in enumerate(zip(self._steps, self._copies, strict=True)):
                log += other.log_whole(1 - v) * (copies - (i == j))
            found.append((v, call_factor(v - 1) * k * step.moment(HIGH, 1 - v) * log.exp()))
        return found

    def _lost_mass(self) -> Ball:
        """A bound of the probability of steps beyond the cuts, and of HIGH steps of an unlikely kind."""
        total, under = Ball(0), 0 if self._adding else 1
        for step, piece, k in zip(self._steps, self._plan.pieces, self._copies, strict=True):
            total += (step.lost(MIDDLE, under) + step.lost(HIGH, under)) * k
            if piece.split.low is not None:
                total += (step.lost(LOW, 1) + step.lost(LOW, 1, piece.low_end)) * k
            if piece.put is None:
                total += step.shares(HIGH)[1 if self._adding else 0] * k
        return total

    def _deep_bounds(self, t: Fraction) -> tuple[Ball, Ball]:
        """Paths with DEEP steps: a bound of the chance of those without a HIGH one, with one added to what is lost; and
        Chernoff's bound of the former at t, but for e^{−tx}."""
        log, share, chance, high = log_moment(self._law.others, t, _ROUGH), Ball(0), Ball(0), Ball(0)
        for step, piece, k in zip(self._steps, self._plan.pieces, self._copies, strict=True):
            chance += step.deep_shares()[0] * k
            high += step.shares(HIGH)[0] * k if piece.put is not None else 0
            deep, lost = step.deep_moment(t + 1)
            self._lost += lost * k
            whole = sum(
                (step.moment(kind, t + 1) for kind in ((LOW, MIDDLE) if self._plan.has_low else (MIDDLE,))), deep
            )
            log += whole.log() * k
            share += deep / whole * k
        self._lost += high * chance
        return chance, call_factor(t) * share * log.exp()

    def _low_bound(self) -> Ball:
        """c(t')·Πm(t')^k·ΠM(t')^n."""
        at = self._plan.all_low
        log = log_moment(self._law.others, at, _ROUGH)
        for step, piece, k in zip(self._steps, self._plan.pieces, self._copies, strict=True):
            log += step.moment(LOW, at + 1, piece.low_end).log() * k
        return call_factor(at) * log.exp()

    def call(self, x: Ball) -> Ball:
        """E[(1 − e^{x−L})₊], enclosed; L = ∞ counts 1."""
        with precision(self.bits):
            low = (ball(-self._plan.all_low) * x).exp() * self._all_low
            deep = self._deep[0].upper().min(((ball(-(self._plan.deep_tilt or 0)) * x).exp() * self._deep[1]).upper())
            rest = between(Ball(0), (low + deep + self._lost).upper())
            return self._middle(x) + self._high(x) + rest + self._infinite

    def _high(self, x: Ball) -> Ball:
        if not self._puts:
            return Ball(0)
        if self._adding:
            bound = sum(((ball(1 - v) * x).exp() * put for v, put in self._puts), Ball(0))
            return between(Ball(0), bound.upper().min(self._high_reverse.upper()))
        least = self._high_mass - x.exp() * self._high_reverse
        most = (least + sum(((ball(v) * x).exp() * put for v, put in self._puts), Ball(0))).upper()
        return _between_ends(least.lower().max(Ball(0)), most.min(self._high_mass.upper()))

    def _middle(self, x: Ball) -> Ball:
        t = ball(self._plan.t)
        total = 2 * self._sum.at(ball(-self._plan.eta) * x).real + between(-self._tail, self._tail)
        value = (self._log_scale - t * x).exp() * total / self._period
        value -= self._aliases_below(x)
        higher = ball(self._plan.above)
        if not x + self._period >= self._largest:
            above = self._above * (-higher * x).exp() / ((higher - t) * self._period).expm1()
            value -= between(Ball(0), above.upper())
        if not value.is_finite():
            return between(Ball(0), self._mass)
        return _between_ends(value.lower().max(Ball(0)), value.upper().min(self._mass.upper()))

    def _aliases_below(self, x: Ball) -> Ball:
        """The known pieces, and a ball for the rest, which is 0 where x − B is no larger than the least loss."""
        t, b = ball(self._plan.t), self._period
        known = self._mass / (t * b).expm1() - self._reverse * x.exp() / ((t + 1) * b).expm1()
        if self._least is not None and x - b <= self._least:
            return known
        if self._below is None or self._plan.below is None:
            return known + between(Ball(0), self._reverse.upper() * x.exp() / ((t + 1) * b).expm1())
        v = ball(self._plan.below)
        rest = self._below * (v * x).exp() / ((v + t) * b).expm1()
        return known + between(Ball(0), rest.upper())


def _radius(value: ComplexBall) -> Ball:
    return Ball(value.real.rad()) + Ball(value.imag.rad())


def _between_ends(low: Ball, high: Ball) -> Ball:
    """What lies between two exact ends; nothing else is possible than low ≤ high."""
    return between(low, high.max(low))
