"""A Poisson sample under replace: one record leaves the batch and another may enter it.

With noise added to a sum the record's part moves from +C to −C. For Gaussian noise the pair is
((1−q)N(0,1) + qN(c,1), (1−q)N(0,1) + qN(−c,1)) with c = C/σ: it is attained, and it dominates by gluing the removal of
one record to the addition of another at N(0, 1), along which both likelihood ratios rise. Any log-concave noise does
the same; where only the pair (P, Q) of a removal is known, its quantiles laid against each other dominate.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from tightrope.curves.finite_pair import FinitePair
from tightrope.curves.loss import Loss
from tightrope.curves.normal_pair import NormalPair
from tightrope.curves.pair import Rung, sampled_rung
from tightrope.curves.sampled.antithetic import antithetic
from tightrope.curves.sampled.poisson import poisson_loss, single
from tightrope.curves.sampled.ruled import RuledPair
from tightrope.numerics.balls import Ball, ball
from tightrope.numerics.moments.sampled_noise import normal_noise_mean
from tightrope.numerics.normal import upper_tail
from tightrope.numerics.real import UNBOUNDED, Real
from tightrope.numerics.transforms.replace import ReplaceSampledNormalTransform
from tightrope.numerics.transforms.transform import Transform
from tightrope.theorems import Source, theorem

if TYPE_CHECKING:
    from tightrope.numerics.grid.cells import CellLaw


@dataclass(frozen=True)
class PoissonReplace(RuledPair):
    """Both mixtures, seen through one normal coordinate in which the loss rises."""

    base: NormalPair
    rate: Fraction
    words = "that of a sampled record exchanged"
    symmetric = True

    def rung(self) -> Rung | None:
        """Of the noise, and the rate."""
        return sampled_rung("exchanged", self.base, self.rate)

    def at_rate(self, rate: Fraction) -> PoissonReplace:
        """The same with another rate."""
        return PoissonReplace(self.base, rate)

    def _threshold(self, x: Ball) -> Ball:
        """Where the loss is x: e^{cz} solves B·t² + A(1 − e^x)·t − e^x·B = 0, A = 1 − q, B = q·e^{−c²/2}."""
        c = self.base.mu()
        a, b = ball(1 - self.rate), ball(self.rate) * (-c * c / 2).exp()
        rise = a * x.expm1()
        root = (rise * rise + 4 * b * b * x.exp()).sqrt()
        t = (rise + root) / (2 * b) if not rise < 0 else 2 * b * x.exp() / (root - rise)
        return t.log() / c

    def _masses(self, z: Ball) -> tuple[Ball, Ball]:
        c, q, middle = self.base.mu(), ball(self.rate), upper_tail(z)
        return (1 - q) * middle + q * upper_tail(z - c), (1 - q) * middle + q * upper_tail(z + c)

    def call(self, x: Ball) -> Ball:
        """P[z > z*] − e^x Q[z > z*]."""
        first, second = self._masses(self._threshold(x))
        return first - x.exp() * second

    def tail(self, x: Ball) -> Ball:
        """P[L > x]."""
        return self._masses(self._threshold(x))[0]

    def largest(self) -> Real:
        """Unbounded."""
        return UNBOUNDED

    def cumulant(self, s: Fraction) -> Ball | None:
        """By the rule of the transform; beyond its reach by one whose nodes are where the integrand is."""
        known = super().cumulant(s)
        if self.rate == 1 or (known is not None and known.is_finite()):
            return known
        return normal_noise_mean(self.base.mu_squared, self.rate, s + 1, -s)

    def transform(self) -> Transform | None:
        """∫ φ·w(z)^{s+1}·w(−z)^{−s} dz."""
        return ReplaceSampledNormalTransform(self.base.root(), self.rate) if 0 < self.rate < 1 else None

    def cells(self) -> CellLaw | None:
        """Both mixtures on one line cut into cells."""
        from tightrope.numerics.grid.normal_exchanges import ExchangedNormalCells

        return ExchangedNormalCells(self.base.root(), self.rate) if 0 < self.rate < 1 else None


@theorem(
    of=Loss,
    gives=Loss,
    kind="equal",
    role="sampling",
    relation="replace",
    hypotheses=("log-concave noise is added to a sum, which one record present or absent moves by C",),
    source=Source("tightrope", "sampling pairs"),
)
def loss_of_poisson_replacement(c: Loss, rate: Fraction) -> Loss | None:
    """On a Poisson sample under replace, with P₊ and P₋ the noise around +C and −C and Q the noise around 0, the pair
    ((1−q)Q + qP₊, (1−q)Q + qP₋) dominates and is attained."""
    found = single(c) if c.add is None else None
    if found is None:
        return None
    base = found[0]
    pair = antithetic(base, base, rate) if isinstance(base, FinitePair) and base.shifted else base.exchanged(rate)
    if isinstance(base, NormalPair):
        pair = base if base.mu_squared.rational == 0 else PoissonReplace(base, rate)
    return None if pair is None else Loss(((pair, 1),))


@theorem(
    of=Loss,
    gives=Loss,
    kind="equal",
    role="sampling",
    relation="replace",
    hypotheses=("no more is known than ε, which holds for a record present or absent",),
    source=Source("tightrope", "sampling pairs"),
)
def loss_of_poisson_replacement_of_guarantees(c: Loss, rate: Fraction) -> Loss | None:
    """Of all ε-DP mechanisms on a Poisson sample under replace one costs most. With r(u) the rising quantile function
    of randomized response's ratio, its output u has the density r(u) if the batch holds the first record only, r(1−u)
    if the second only, else 1."""
    return loss_of_poisson_replacement_by_quantiles(c, rate)


@theorem(
    of=Loss,
    gives=Loss,
    kind="upper",
    role="sampling",
    relation="replace",
    source=Source("tightrope", "sampling pairs"),
)
def loss_of_poisson_replacement_by_quantiles(c: Loss, rate: Fraction) -> Loss | None:
    """With r(u) the rising quantile function of dP/dQ under Q, for a record present against absent, the densities
    1 − q + q·r(u) and 1 − q + q·r(1−u) on [0, 1] dominate a Poisson sample under replace."""
    found = single(c)
    if found is None:
        return None
    forward, backward = found
    if not isinstance(forward, FinitePair) or not isinstance(backward, FinitePair):
        return None
    pair = antithetic(forward, backward, rate)
    return None if pair is None else Loss(((pair, 1),))


@theorem(
    of=Loss,
    gives=Loss,
    kind="lower",
    role="sampling",
    relation="replace",
    source=Source("tightrope", "sampling pairs"),
    hypotheses=("some record counts as much as none, as one that adds 0 to a sum",),
)
def loss_attained_by_poisson_replacement(c: Loss, rate: Fraction) -> Loss | None:
    """A record exchanged for one that counts as none is a record removed: the pairs of a Poisson sample under
    add-remove are attained under replace."""
    return poisson_loss(c, rate)
