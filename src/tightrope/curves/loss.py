"""The privacy loss itself: dominating pairs, one law of L = ln dP/dQ for each direction. It knows everything else."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, partial
from math import exp, expm1, frexp, inf, isfinite, isqrt, log, log1p

from tightrope.numerics.balls import INFINITY, Ball, ball, precision
from tightrope.numerics.moments.sampled import without_replacement_normal
from tightrope.numerics.moments.sampled_normal import log_power_mean, log_power_means
from tightrope.numerics.normal import normal_call, upper_tail
from tightrope.numerics.real import UNBOUNDED, ZERO, Real
from tightrope.numerics.sums.finite import FiniteLaw
from tightrope.numerics.transforms.closed import NormalTransform
from tightrope.numerics.transforms.finite import FiniteTransform
from tightrope.numerics.transforms.sampled import SampledNormalTransform
from tightrope.numerics.transforms.transform import Transform
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


def log_mean_float(atoms: Sequence[tuple[float, float]], s: float) -> float | None:
    """ln Σ m·e^{sv} over atoms (v, m) of total mass 1; None where floats overflow or cancel."""
    top = max((s * v for v, _ in atoms), default=inf)
    if not isfinite(top):
        return None
    if top > 30:
        return top + log(sum(m * exp(s * v - top) for v, m in atoms))
    terms = [m * expm1(s * v) for v, m in atoms]
    value = sum(terms)
    return log1p(value) if value > 1e-7 * sum(map(abs, terms)) else None


class Pair(ABC):
    """One ordered pair (P, Q), seen through the law of L = ln dP/dQ under P (with a mass at +∞ where Q has none)."""

    words = "a known law"  # what the law of the loss is, for explanations
    effort = 0  # what a cumulant in floats costs: 0 microseconds, 1 a tenth of a millisecond, 2 more
    decays = True  # False: the transform does not fall along vertical lines, since the losses are atoms
    composes = True  # False: the profile is a supremum over several pairs, so a product of it only overstates
    shifted = False  # True: log-concave noise against its shift, and the opposite shift fits the description as well

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

    def exchanged(self, rate: Fraction) -> Pair | None:  # noqa: ARG002 - unknown by default
        """The pair of a Poisson sample under replace, where noise of this law is added, if there is a formula."""
        return None

    def glued_transform(self, rate: Fraction) -> Transform | None:  # noqa: ARG002 - unknown by default
        """The transform after sampling without replacement under replace."""
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

    def approximate_cumulants(self, points: Sequence[float]) -> list[float]:
        """The same in floats."""
        with precision(64):
            half = float(self.mu_squared.ball().mid()) / 2
        return [half * s * (s + 1) for s in points]

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
    composes: bool = field(default=True, compare=False)
    shifted: bool = field(default=False, compare=False)
    words = "one of finitely many values"
    decays = False

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

    @cached_property
    def _floats(self) -> list[tuple[float, float]]:
        with precision(64):
            balls = [(v.ball().mid(), m.ball().mid()) for v, m in zip(self.law.values, self.law.masses, strict=True)]
            pairs = [(float(v), float(m)) for v, m in balls]
        return [(v, m) for v, m in pairs if m > 0]

    def approximate_cumulants(self, points: Sequence[float]) -> list[float]:
        """The same in floats, and in balls where floats would cancel."""
        if self.law.infinite.rational != 0:
            return [inf] * len(points)
        found = [log_mean_float(self._floats, s) for s in points]
        return [_middle(self.cumulant, s) if k is None else k for s, k in zip(points, found, strict=True)]

    def mean(self) -> Ball:
        """Σ p_i l_i."""
        if self.law.infinite.rational != 0:
            return INFINITY
        return self._sum(lambda v, m: m * v)

    def largest(self) -> Real:
        """The largest atom with any mass."""
        return UNBOUNDED if self.law.infinite.rational != 0 else self.largest_finite()

    def largest_finite(self) -> Real:
        """The largest atom with any mass, but for +∞."""
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

    def transform(self) -> Transform | None:
        """Σ p_i e^{s l_i}; none if every loss is infinite."""
        return FiniteTransform(self.law) if any(m.rational != 0 for m in self.law.masses) else None


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
