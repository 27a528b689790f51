"""The loss of a Gaussian answer in one of t places, chosen at random: the exact pair of random allocation.

Against no answer at all the density is Λ, the mean of t lognormal variables. Removing the record has the loss ln Λ,
under the law with the record, adding it −ln Λ under the law without.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache, partial, reduce
from math import floor
from statistics import NormalDist

import numpy as np

from tightrope.curves.engines.mirrored_profile import MirroredProfile, Side
from tightrope.curves.engines.transformed import transform_of
from tightrope.curves.loss import Loss, Parts, merged
from tightrope.curves.normal_pair import NormalPair
from tightrope.curves.pair import Call, Pair, Rung
from tightrope.curves.sampled.poisson import PoissonRemove, single
from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ball, between, certain, precision
from tightrope.numerics.contour.mirrored import MirroredSum
from tightrope.numerics.contour.proof import call_factor
from tightrope.numerics.mean_density import MeanDensity
from tightrope.numerics.real import UNBOUNDED, Real
from tightrope.numerics.transforms import memory as recall
from tightrope.numerics.transforms.allocated import MOST_ORDER, AllocatedTransform
from tightrope.numerics.transforms.transform import Transform
from tightrope.theorems import Source, theorem

_BITS, _DIGITS = 160, 30  # of values that are integrals, and how many of them are enough
_RAY = 3e4  # units of work
_MANY = 100_000  # places; one epoch with more has a quicker integral


@dataclass(frozen=True)
class AllocatedPair(Pair):
    """One direction of the pair. ``name`` tells μ² exactly."""

    base: NormalPair = field(compare=False)
    steps: int
    name: Hashable
    adding: bool
    words = "that of an answer in one of many places"
    effort = 2
    measured = True

    @property
    def units(self) -> float:  # type: ignore[override]  # a property here
        """An integral along a ray, or moments that are kept."""
        return _RAY if self.adding else 1e3

    def call(self, x: Ball) -> Ball:
        """At one precision whatever is asked; for a stretch of x, the values at its ends."""
        ends = [x] if x.is_exact() else [x.lower(), x.upper()]
        values = [_value(self, *(int(n) for n in end.man_exp())) for end in ends]
        return values[0] if len(values) == 1 else between(*values)

    def tail(self, x: Ball) -> Ball:
        """P[L > x] is at least δ(x)."""
        return between(self.call(x), Ball(1))

    def cumulant(self, s: Fraction) -> Ball:
        """Adding: everywhere. Removing: at whole s up to 63 by the multinomial theorem; elsewhere between what
        convexity and a single answer allow."""
        transform = self._added()
        if self.adding:
            return self._adding_cumulant(transform, s)
        below = floor(s)
        if s == below < MOST_ORDER:
            return transform.log_order(below + 1)
        # E[Λ^α] ≤ E[W^α], and at least the part of it in which one answer decides, t^{1−α}E[W^α]
        most = self.base.cumulant(s)
        least = (most - ball(s) * Ball(self.steps).log()).max(Ball(0))
        if below + 1 < MOST_ORDER:
            low, high = transform.log_order(below + 1), transform.log_order(below + 2)
            most = most.min((1 - ball(s - below)) * low + ball(s - below) * high)
            least = least.max(low)
        return between(least, most)

    def _adding_cumulant(self, transform: AllocatedTransform, s: Fraction) -> Ball:
        """Where the integral is long, between 0 and that of a geometric mean, which Λ is not below."""
        with precision(_BITS):
            try:
                return recall.log_real(transform, s)
            except NotCertified:
                most = self.base.cumulant(s / self.steps) * self.steps
                if s < 1:  # K is convex and 0 at 0
                    most = most.min(ball(s) * self._adding_cumulant(transform, Fraction(1)).upper())
                return between(Ball(0), most)

    def approximate_cumulants(self, points: Sequence[float]) -> list[float]:
        """The same in floats; removing beyond the whole orders as for a single answer."""
        transform = self._added()
        if self.adding:
            with np.errstate(all="ignore"):
                return [float(k) for k in transform.floats.log_moments(np.array(points, dtype=np.float64))]
        single_answer = self.base.approximate_cumulants(points)
        chords = np.interp(points, np.arange(MOST_ORDER), transform.log_orders[1:], right=math.inf)
        return [min(one, float(chord)) for one, chord in zip(single_answer, chords, strict=True)]

    def mean(self) -> None:
        """No formula is used."""
        return

    def largest(self) -> Real:
        """All answers may be far out."""
        return UNBOUNDED

    def repeated(self, copies: int) -> Call | None:
        """One copy with very many places; all else is for the contour."""
        return self.call if copies == 1 and self.steps > _MANY else None

    def transform(self) -> Transform | None:
        """That of adding; removing has moments that grow too fast for contours of its own."""
        return AllocatedTransform(self.base.root(), self.steps) if self.adding else None

    def rung(self) -> Rung | None:
        """More noise, added to all answers, makes μ smaller."""
        known = self.base.rung()
        return None if known is None else (("allocated", self.steps, self.adding), known[1])

    def single_answer(self, delta: float) -> float:
        """About ε if the record's own answer decides, in floats."""
        with precision(64):
            mu = float(self.base.mu().mid())
        log = mu * (mu / 2 - NormalDist().inv_cdf(max(delta, 1e-300)))
        return max(log - math.log(self.steps), 0.0) + math.log1p(math.exp(-abs(log - math.log(self.steps))))

    def reversed(self) -> AllocatedPair:
        """The other direction."""
        return AllocatedPair(self.base, self.steps, self.name, not self.adding)

    def _added(self) -> AllocatedTransform:
        found = transform_of(self if self.adding else self.reversed())
        assert isinstance(found, AllocatedTransform)
        return found


@lru_cache(maxsize=1024)
def _value(pair: AllocatedPair, mantissa: int, exponent: int) -> Ball:
    if pair.steps <= _MANY:
        profile = allocated_profile(Loss(((pair, 1),)))
        at = Fraction(mantissa) * Fraction(2) ** exponent
        return profile.prove(at, profile.find(at))
    return _of_many_places(pair, lambda: Ball(mantissa) * Ball(2) ** exponent)


def _of_many_places(pair: AllocatedPair, at: Callable[[], Ball]) -> Ball:
    """The integral of the mean density, with more bits until a few digits are known, or Chernoff's bounds."""
    mean, value = _density(pair.base, pair.steps), None
    for bits in (_BITS, 2 * _BITS):
        with precision(bits), suppress(NotCertified):
            x = at()
            value = x.exp() * mean.put((-x).exp()) if pair.adding else mean.call(x.exp())
            if certain(value, _DIGITS):
                return value
    with precision(_BITS):
        x = at()
        if pair.adding:
            bound = x.exp() * mean.put_at_most((-x).exp())
        else:
            bounds = (
                call_factor(Fraction(s)) * (pair.cumulant(Fraction(s)) - s * x).exp() for s in range(1, MOST_ORDER)
            )
            bound = reduce(Ball.min, bounds)
        most = between(Ball(0), bound.upper())
        return most if value is None or most.upper() < value.upper() else value


@lru_cache(maxsize=32)
def _density(base: NormalPair, steps: int) -> MeanDensity:
    return MeanDensity(base.root(), steps)


def has_allocation(loss: Loss) -> bool:
    """Whether a product has a part whose places are chosen at random, and is not known in closed form."""
    places = [pair for parts in loss.directions for pair, _ in parts if isinstance(pair, AllocatedPair)]
    alone = all(len(parts) == 1 and parts[0][1] == 1 for parts in loss.directions)
    return bool(places) and not (alone and places[0].steps > _MANY)


def allocated_profile(loss: Loss) -> MirroredProfile:
    """The profile of a product with such parts; NotCertified if another part is not known the other way round."""
    sides: list[Side] = []
    others = loss.directions[::-1] if loss.add is not None else ((),)  # of one direction alone nothing follows
    for parts, other in zip(loss.directions, others, strict=True):
        known = merged(parts)
        if any(pair.infinite().rational != 0 for pair, _ in known):
            raise NotCertified("a mirrored contour", "some part may cost everything")
        mirrored = any(isinstance(pair, AllocatedPair) and not pair.adding for pair, _ in known)
        transforms = [
            (_reverse(pair, n, merged(other)) if mirrored else _known(transform_of(pair)), n) for pair, n in known
        ]
        total = sides[0].total if sides and sides[0].total.parts == transforms else MirroredSum(transforms)
        sides.append(Side(total, mirrored, partial(_moment, known)))
    places = [pair for parts in loss.directions for pair, _ in parts if isinstance(pair, AllocatedPair)]
    return MirroredProfile(tuple(sides), max((pair.single_answer for pair in places), key=lambda cost: cost(1e-6)))


def _known(transform: Transform | None) -> Transform:
    if transform is None:
        raise NotCertified("a mirrored contour", "a part has no transform")
    return transform


def _reverse(pair: Pair, copies: int, others: Parts) -> Transform:
    """The transform of (Q, P) from the pair (P, Q). A pair that dominates in both directions does so reversed, too."""
    if isinstance(pair, AllocatedPair):
        return _known(transform_of(pair.reversed()))
    if isinstance(pair, PoissonRemove) and isinstance(pair.base, NormalPair):
        return _known(pair.base.sampled_transform(pair.rate, adding=True))
    return _known(transform_of(pair) if isinstance(pair, NormalPair) or (pair, copies) in others else None)


def _moment(parts: Parts, order: int) -> Ball:
    """K(s) of the whole at a whole s; infinite where it is not known."""
    total = Ball(0)
    for pair, n in parts:
        found = pair.cumulant(Fraction(order))
        total += Ball("inf") if found is None else found * n
    return total


@theorem(
    of=Loss,
    gives=Loss,
    kind="equal",
    role="sampling",
    relation="add-remove",
    source=Source("chua2024balls", "dominating pair; docs/theorems.md"),
)
def loss_of_allocation(c: Loss, steps: int) -> Loss | None:
    """If (P, Q) = (N(μ, 1), N(0, 1)) dominates one run, then the mean over i of P in place i and Q elsewhere against Qᵗ
    dominates removal of a record that takes part in one of t runs, and the reverse dominates addition."""
    found = single(c)
    if found is None or not isinstance(found[0], NormalPair) or found[0].mu_squared.rational == 0:
        return None
    base = found[0]
    square = base.mu_squared
    remove = AllocatedPair(base, steps, square if square.rational is None else square.rational, False)
    try:
        transform_of(remove.reversed())
    except NotCertified:
        return None
    return Loss(((remove, 1),), ((remove.reversed(), 1),))
