"""Pairs of samples of a fixed size under replace.

Without replacement the profile is q·δ(ln(1 + (e^x − 1)/q)) for x ≥ 0, continued below 0 by duality: glued at 0, convex,
and so the profile of one symmetric pair. Each x is attained, but x above 0 by another pair of data sets than x below 0:
no mechanism attains the glued pair itself, so products of it only bound from above.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from tightrope.curves.finite_pair import FinitePair
from tightrope.curves.loss import Loss, merged
from tightrope.curves.normal_pair import NormalPair
from tightrope.curves.pair import Pair, sampled_rung
from tightrope.curves.revealed import Revealed
from tightrope.curves.sampled.poisson import SampledPair, log_mixture, single
from tightrope.curves.sampled.ruled import ruled_cumulant
from tightrope.errors import NotCertified
from tightrope.numerics.balls import INFINITY, Ball, ball, between
from tightrope.numerics.real import ZERO, Real
from tightrope.numerics.remembered import remembered
from tightrope.numerics.sums.finite import on_lattice, scattered
from tightrope.numerics.transforms.glued import GluedNormalTransform
from tightrope.numerics.transforms.mixture import MixtureTransform
from tightrope.numerics.transforms.transform import Transform

if TYPE_CHECKING:
    from tightrope.numerics.grid.cells import CellLaw


_SEVERAL, _FEW_STEPS, _FEW_HITS, _MOST_STEPS = 4, 60, 12.0, 3000


@dataclass(frozen=True)
class Glued(SampledPair):
    """The glued pair over a symmetric base."""

    base: Pair
    rate: Fraction
    words = "that of a record exchanged in a sample"
    composes = False
    symmetric = True

    def call(self, x: Ball) -> Ball:
        """The glued profile."""
        if x >= 0:
            return self._above(x)
        if x < 0:
            return -x.expm1() + x.exp() * self._above(-x)
        return self._above(x.max(Ball(0))).union(-x.expm1() + x.exp() * self._above((-x).max(Ball(0))))

    def _above(self, x: Ball) -> Ball:
        return ball(self.rate) * self.base.call((x.expm1() / ball(self.rate)).log1p())

    def _both(self, x: Ball) -> tuple[Ball, Ball]:
        g = (x.expm1() / ball(self.rate)).log1p()
        under_p = self.base.tail(g)
        return under_p, (under_p - self.base.call(g)) * (-g).exp()

    def tail(self, x: Ball) -> Ball:
        """The mass above x; below 0 the mirror image carries the base's Q-mass."""
        if x >= 0:
            under_p, under_q = self._both(x)
            return ball(1 - self.rate) * under_q + ball(self.rate) * under_p
        if x < 0:
            return 1 - self._both(-x)[1]
        return Ball(0).union(Ball(1))

    def cumulant(self, s: Fraction) -> Ball | None:
        """What the base knows, or by the rule of the transform."""
        if self.base.infinite().rational != 0:
            return INFINITY
        known = self.base.glued_cumulant(self.rate, s)
        if known is None:
            known = ruled_cumulant(self.transform, s)
        return known if known is None or known.is_finite() else self._by_sample(s)

    def _by_sample(self, s: Fraction) -> Ball | None:
        """M(s) = a + E_Q[w^{s+1} + w^{−s}; L > 0], from G = E_Q[w^{s+1}]: all but w^{s+1} above 0 is at most 3 and
        what G has below 0 at most 1."""
        whole = self.base.sampled_cumulant(self.rate, s + 1)
        if whole is None or not whole.is_finite():
            return None if whole is None else between(Ball(0), INFINITY)
        rest = (-whole).exp()
        low = whole.lower() + (-rest.upper()).log1p() if rest < 1 else Ball(0)
        return between(low.max(Ball(0)), whole + (2 * rest).log1p())

    def approximate_cumulants(self, points: Sequence[float]) -> list[float]:
        """The same in floats."""
        transform = self._reached() if self.base.infinite().rational == 0 else None
        if transform is None:
            return super().approximate_cumulants(points)
        return [float(k) for k in transform.log_floats(points)]

    def _reached(self) -> Transform | None:
        try:
            return self.transform()
        except NotCertified:  # parameters out of the transform's reach
            return None

    def largest(self) -> Real:
        """ln(1 + q(e^L − 1)) of the base's largest loss."""
        return self.raised(self.base.largest())

    def infinite(self) -> Real:
        """q times the base's."""
        return self.base.infinite() * self.rate

    def transform(self) -> Transform | None:
        """Known for normal bases, for mixtures, and where the base knows it."""
        base, rate = self.base, self.rate
        if not 0 < rate < 1:
            return None
        if isinstance(base, NormalPair):
            return None if base.mu_squared.rational == 0 else GluedNormalTransform(base.root(), rate)
        if not isinstance(base, Revealed):
            return base.glued_transform(rate)
        found = [(share, Glued(pair, rate).transform()) for share, pair in base.parts]
        known = [(share, transform) for share, transform in found if transform is not None]
        return MixtureTransform(known, base.leak * rate) if len(known) == len(found) else None

    def cut_transform(self, cut: Fraction) -> Transform | None:
        """Of a normal base, where its moments grow like e^{μ²t²/2}."""
        base, rate = self.base, self.rate
        if not 0 < rate < 1 or not isinstance(base, NormalPair) or base.mu_squared.rational == 0:
            return None
        return GluedNormalTransform(base.root(), rate, cut)

    def cells(self) -> CellLaw | None:
        """Where the base knows them; of a mixture the same mixture."""
        if not isinstance(self.base, Revealed):
            return self.base.glued_cells(self.rate)
        from tightrope.numerics.grid.mixture_cells import MixtureCells

        found = [(share, pair.glued_cells(self.rate)) for share, pair in self.base.parts]
        known = [(share, law) for share, law in found if law is not None]
        return MixtureCells(known, self.base.leak * self.rate) if len(known) == len(found) else None


def only_glued_overstates(loss: Loss) -> bool:
    """Whether every pair is attained, or glued: then the other curves known of the parts follow from these pairs."""
    pairs = [pair for parts in loss.directions for pair, _ in parts]
    return all(pair.composes or isinstance(pair, Glued | FinitePair) for pair in pairs)


def few_mixtures(loss: Loss) -> bool:
    """Whether samples with replacement of many multiplicities are so few that a contour would take longer than a
    grid: few steps, or few sampled records of which some, drawn often, lose so much that no saddle shows the others."""
    parts = merged(loss.remove)
    glued = [(p, n) for p, n in parts if isinstance(p, Glued)]
    found = [(p.base.parts, n * float(p.rate)) for p, n in glued if isinstance(p.base, Revealed)]
    if max((len(one) for one, _ in found), default=0) < _SEVERAL:
        return False
    steps, means = sum(n for _, n in parts), [one[-1][1].mean() for one, _ in found]
    rare = sum(hits for _, hits in found) < _FEW_HITS and steps <= _MOST_STEPS
    return steps <= _FEW_STEPS or (rare and any(mean is not None and bool(mean > 1) for mean in means))


def glued_loss(loss: Loss, rate: Fraction) -> Loss | None:
    """The symmetric pair of a sample without replacement, replace relation; needs a symmetric base."""
    found = single(loss) if loss.add is None else None
    if found is None:
        return None
    return Loss(((one_glued(found[0], rate), 1),))


def one_glued(base: Pair, rate: Fraction) -> Pair:
    """The glued pair over one symmetric base."""
    return finite_glued(base, rate) if isinstance(base, FinitePair) else Glued(base, rate)


def finite_glued(base: FinitePair, rate: Fraction) -> FinitePair:
    """The glued pair's finitely many losses."""
    q, law = rate, base.law
    above = [(v, m) for v, m in zip(law.values, law.masses, strict=True) if v.ball() > 0]
    under_q = [remembered(lambda v=v, m=m: m.ball() * (-v.ball()).exp()) for v, m in above]  # type: ignore[misc]  # bound now
    losses = [remembered(log_mixture(v, q).ball) for v, _ in above]
    up = [remembered((m * q + b * (1 - q)).ball) for (_, m), b in zip(above, under_q, strict=True)]
    infinite = law.infinite * q
    taken = [*up, *under_q, infinite]
    rest = remembered(lambda: 1 - sum((t.ball() for t in taken), Ball(0)))
    if len(losses) == 1:
        glued = on_lattice(losses[0], {1: up[0], 0: rest, -1: under_q[0]}, infinite)
    else:
        values = [*losses, *(v * -1 for v in losses), ZERO]
        glued = scattered(values, [*up, *under_q, rest], infinite)
    return FinitePair(("glued", base, q), glued, composes=False, ladder=sampled_rung("glued", base, q))
