"""The privacy loss itself: dominating pairs, one law of L = ln dP/dQ for each direction. It knows everything else."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from math import frexp, inf, isqrt

from tightrope.curves.renyi import Renyi
from tightrope.numerics.balls import INFINITY, Ball, ball, precision
from tightrope.numerics.finite import FiniteLaw
from tightrope.numerics.normal import normal_call, upper_tail
from tightrope.numerics.real import UNBOUNDED, ZERO, Real
from tightrope.numerics.sampled_moments import without_replacement_normal
from tightrope.numerics.sampled_normal import log_power_mean, log_power_means
from tightrope.numerics.transform import Transform
from tightrope.numerics.transforms_closed import NormalTransform
from tightrope.numerics.transforms_finite import FiniteTransform
from tightrope.numerics.transforms_sampled import SampledNormalTransform
from tightrope.theorems import Source, theorem

Call = Callable[[Ball], Ball]


def _octaves(numbers: Sequence[float]) -> list[list[int]]:
    sizes: dict[tuple[bool, int], list[int]] = {}
    for i, x in enumerate(numbers):
        sizes.setdefault((x > 0, frexp(x)[1] // 2), []).append(i)
    return list(sizes.values())


def _middle(evaluate: Callable[[Fraction], Ball | None], at: float) -> float:
    with precision(64):
        value = evaluate(Fraction(at))
    return float(value.mid()) if value is not None and value.is_finite() else inf


class Pair(ABC):
    """One ordered pair (P, Q), seen through the law of L = ln dP/dQ under P (with a mass at +∞ where Q has none)."""

    words = "a known law"  # what the law of the loss is, for explanations
    effort = 0  # what a cumulant in floats costs: 0 microseconds, 1 a tenth of a millisecond, 2 more
    composes = True  # False: the profile is a supremum over several pairs, so a product of it only overstates

    @abstractmethod
    def call(self, x: Ball) -> Ball:
        """δ(x) = E[(1 − e^{x−L})₊], for any real x."""

    @abstractmethod
    def tail(self, x: Ball) -> Ball:
        """P[L > x]."""

    @abstractmethod
    def cumulant(self, s: Fraction) -> Ball | None:
        """K(s) = ln E[e^{sL}] for s > 0; None when no formula is known."""

    @abstractmethod
    def mean(self) -> Ball | None:
        """E[L], the Kullback–Leibler divergence."""

    @abstractmethod
    def largest(self) -> Real:
        """The largest loss: D_∞."""

    def infinite(self) -> Real:
        """The mass at +∞."""
        return ZERO

    def repeated(self, copies: int) -> Call | None:
        """δ of that many independent copies, where a formula is known."""
        return self.call if copies == 1 else None

    def sampled_cumulant(self, rate: Fraction, power: Fraction) -> Ball | None:  # noqa: ARG002 - unknown by default
        """ln E_Q[(1 − q + q·e^L)^power], where a formula is known."""
        return None

    def approximate_cumulants(self, points: Sequence[float]) -> list[float]:
        """K at many points in floats, for searches."""
        return [_middle(self.cumulant, s) for s in points]

    def approximate_sampled_cumulants(self, rate: Fraction, powers: Sequence[float]) -> list[float]:
        """The sampled ones in floats, for searches."""
        return [_middle(partial(self.sampled_cumulant, rate), a) for a in powers]

    def transform(self) -> Transform | None:
        """The moment generating function on complex numbers, for the contour integral."""
        return None

    def sampled_transform(self, rate: Fraction, adding: bool) -> Transform | None:  # noqa: ARG002 - unknown by default
        """The same after a Poisson sample in which a record is removed or added."""
        return None

    def glued_cumulant(self, rate: Fraction, s: Fraction) -> Ball | None:  # noqa: ARG002 - unknown by default
        """ln E[e^{sL}] after sampling without replacement under replace, where a formula is known."""
        return None


@dataclass(frozen=True, eq=False)
class NormalPair(Pair):
    """(N(μ, 1), N(0, 1)): the loss is N(μ²/2, μ²)."""

    mu_squared: Real
    words = "normal"

    def call(self, x: Ball) -> Ball:
        """Φ(−x/μ + μ/2) − e^x Φ(−x/μ − μ/2)."""
        return normal_call(self.mu(), x)

    def mu(self) -> Ball:
        """μ as a ball."""
        return self.root().ball()

    def root(self) -> Real:
        """μ, rational when μ² is the square of a rational."""
        square = self.mu_squared.rational
        if square is not None:
            root = Fraction(isqrt(square.numerator), isqrt(square.denominator))
            if root * root == square:
                return Real(root)
        return Real(None, lambda: self.mu_squared.ball().sqrt())

    def tail(self, x: Ball) -> Ball:
        """P[N(μ²/2, μ²) > x]."""
        if self.mu_squared.rational == 0:
            return Ball(1) if x < 0 else Ball(0) if x >= 0 else Ball(0).union(Ball(1))
        mu = self.mu()
        return upper_tail(x / mu - mu / 2)

    def cumulant(self, s: Fraction) -> Ball:
        """s(s+1)μ²/2."""
        return self.mu_squared.ball() * ball(s * (s + 1) / 2)

    def mean(self) -> Ball:
        """μ²/2."""
        return self.mu_squared.ball() / 2

    def largest(self) -> Real:
        """Unbounded, unless μ = 0."""
        return ZERO if self.mu_squared.rational == 0 else UNBOUNDED

    def sampled_cumulant(self, rate: Fraction, power: Fraction) -> Ball:
        """The sampled Gaussian mechanism, any real power."""
        return log_power_mean(Real(None, self.mu), rate, power)

    def approximate_sampled_cumulants(self, rate: Fraction, powers: Sequence[float]) -> list[float]:
        """The same in floats, all powers at once."""
        with precision(64):
            mu = float(self.mu().mid())
        found = [inf] * len(powers)
        for close in _octaves(powers):  # powers of one size share their nodes; a wide range would share far too many
            for i, k in zip(close, log_power_means(mu, float(rate), [powers[i] for i in close]), strict=True):
                found[i] = float(k)
        return found

    def transform(self) -> Transform:
        """exp(μ²(s² + s)/2)."""
        return NormalTransform(self.mu_squared)

    def sampled_transform(self, rate: Fraction, adding: bool) -> Transform | None:
        """The sampled Gaussian mechanism."""
        return SampledNormalTransform(self.root(), rate, adding) if 0 < rate < 1 else None

    def glued_cumulant(self, rate: Fraction, s: Fraction) -> Ball:
        """Sampling without replacement, replace relation."""
        return without_replacement_normal(Real(None, self.mu), rate, s)


@dataclass(frozen=True)
class FinitePair(Pair):
    """Finitely many losses. ``key`` says which pair it is, so that equal ones are merged."""

    key: Hashable
    law: FiniteLaw = field(compare=False)
    words = "one of finitely many values"

    def _sum(self, evaluate: Callable[[Ball, Ball], Ball]) -> Ball:
        pairs = zip(self.law.values, self.law.masses, strict=True)
        return sum((evaluate(v.ball(), m.ball()) for v, m in pairs), Ball(0))

    def call(self, x: Ball) -> Ball:
        """A sum over the atoms, and the mass at ∞."""
        return self.law.infinite.ball() + self._sum(lambda v, m: m * (-(x - v).expm1()).max(Ball(0)))

    def tail(self, x: Ball) -> Ball:
        """P[L > x]."""
        unsure = Ball(0).union(Ball(1))
        return self.law.infinite.ball() + self._sum(lambda v, m: m if v > x else Ball(0) if v <= x else m * unsure)

    def cumulant(self, s: Fraction) -> Ball:
        """ln Σ p_i e^{s l_i}; infinite with a mass at ∞. Written as ln(1 + Σ p_i (e^{s l_i} − 1)), which loses
        nothing near 0."""
        if self.law.infinite.rational != 0:
            return INFINITY
        return self._sum(lambda v, m: m * (v * ball(s)).expm1()).log1p()

    def mean(self) -> Ball:
        """Σ p_i l_i."""
        if self.law.infinite.rational != 0:
            return INFINITY
        return self._sum(lambda v, m: m * v)

    def largest(self) -> Real:
        """The largest atom with any mass."""
        if self.law.infinite.rational != 0:
            return UNBOUNDED
        live = [v for v, m in zip(self.law.values, self.law.masses, strict=True) if m.rational != 0]
        if self.law.unit is not None:
            steps = [k for k, m in zip(self.law.steps, self.law.masses, strict=True) if m.rational != 0]
            return self.law.unit * max(steps)
        if all(v.rational is not None for v in live):
            return max(live, key=lambda v: v.rational or Fraction(0))
        return Real(None, lambda: _largest([v.ball() for v in live]))

    def infinite(self) -> Real:
        """The mass at +∞."""
        return self.law.infinite

    def transform(self) -> Transform:
        """Σ p_i e^{s l_i}."""
        return FiniteTransform(self.law)


def _largest(values: list[Ball]) -> Ball:
    largest = values[0]
    for value in values[1:]:
        largest = largest.max(value)
    return largest


Parts = tuple[tuple[Pair, int], ...]


@dataclass(frozen=True, eq=False)
class Loss:
    """A product of pairs for each direction. ``add`` is None when both directions have the same law."""

    remove: Parts
    add: Parts | None = None

    @property
    def directions(self) -> tuple[Parts, ...]:
        """The laws to be examined: one, or remove and add."""
        return (self.remove,) if self.add is None else (self.remove, self.add)

    def __str__(self) -> str:
        kinds = dict.fromkeys(pair.words for parts in self.directions for pair, _ in parts)
        return "the loss is " + (" plus ".join(kinds) or "always 0")

    def largest(self) -> list[list[tuple[Real, int]]]:
        """The largest losses of the parts, for each direction."""
        return [[(pair.largest(), n) for pair, n in parts] for parts in self.directions]


def merged(parts: Parts) -> Parts:
    """Equal pairs counted once; normal pairs into one."""
    counts: dict[Pair, int] = {}
    normal = ZERO
    seen = False
    for pair, n in parts:
        if n == 0:
            continue
        if isinstance(pair, NormalPair):
            normal, seen = normal + pair.mu_squared * n, True
        else:
            counts[pair] = counts.get(pair, 0) + n
    result: list[tuple[Pair, int]] = [(NormalPair(normal), 1)] if seen else []
    return tuple(result + list(counts.items()))


@theorem(of=Loss, gives=Loss, kind="equal", role="composition", source=Source("zhu2022optimal", "Thm 10"))
def loss_composes(parts: list[tuple[Loss, int]]) -> Loss:
    """The product of dominating pairs dominates the adaptive composition; remove-pairs with remove-pairs, add with
    add."""
    remove = merged(tuple((pair, n * k) for loss, k in parts for pair, n in loss.remove))
    if all(loss.add is None for loss, _ in parts):
        return Loss(remove)
    add = merged(tuple((pair, n * k) for loss, k in parts for pair, n in loss.directions[-1]))
    return Loss(remove, add)


@dataclass(frozen=True, eq=False)
class LossRenyi(Renyi):
    """The exact Rényi curve of a loss law, in the worse direction at each order."""

    loss: Loss

    def divergence(self, order: Fraction) -> Ball:
        """max over directions of ΣK(λ)/λ."""
        values = [self._one(parts, order) for parts in self.loss.directions]
        return _largest(values)

    @staticmethod
    def _one(parts: Parts, order: Fraction) -> Ball:
        value = Ball(0)
        for pair, n in parts:
            cumulant = pair.cumulant(order - 1)
            assert cumulant is not None
            value += cumulant * n
        return value / ball(order - 1)

    def approximations(self, orders: Sequence[float]) -> list[float]:
        """The same in floats; pairs with a float formula of their own use it."""
        found = []
        for parts in self.loss.directions:
            columns = [[k * n for k in pair.approximate_cumulants([o - 1 for o in orders])] for pair, n in parts]
            found.append([sum(column) / (o - 1) for o, *column in zip(orders, *columns, strict=True)])
        return [max(column) for column in zip(*found, strict=True)]

    def approximate(self, order: float) -> float:
        """One order."""
        return self.approximations([order])[0]

    @property
    def effort(self) -> int:
        """That of the slowest pair."""
        return max((pair.effort for parts in self.loss.directions for pair, _ in parts), default=0)


@theorem(of=Loss, gives=Renyi, kind="equal", source=Source("mironov2017renyi", "Def. 4"))
def loss_has_renyi(c: Loss) -> Renyi | None:
    """D_α(P‖Q) = ln E_P[e^{(α−1)L}]/(α − 1)."""
    probe = Fraction(2)
    if any(pair.cumulant(probe) is None for parts in c.directions for pair, _ in parts):
        return None
    return LossRenyi(c)
