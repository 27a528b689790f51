"""A Poisson sample under replace, with Gaussian noise: the record's batch sum moves up by C or down by C.

The pair is ((1−q)N(0,1) + qN(c,1), (1−q)N(0,1) + qN(−c,1)) with c = C/σ: it is attained, and it dominates by gluing the
removal of one record to the addition of another at N(0, 1), along which both likelihood ratios rise.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from tightrope.curves.loss import Loss, NormalPair, Pair, merged
from tightrope.numerics.balls import Ball, ball
from tightrope.numerics.normal import upper_tail
from tightrope.numerics.real import UNBOUNDED, Real
from tightrope.numerics.transform import Transform
from tightrope.numerics.transforms_replace import ReplaceSampledNormalTransform
from tightrope.theorems import Source, theorem


@dataclass(frozen=True)
class PoissonReplace(Pair):
    """Both mixtures, seen through one normal coordinate in which the loss rises."""

    base: NormalPair
    rate: Fraction
    words = "that of a sampled record exchanged"

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

    def cumulant(self, s: Fraction) -> None:  # noqa: ARG002 - no closed form
        """No closed form is used."""
        return

    def mean(self) -> None:
        """No closed form is used."""
        return

    def largest(self) -> Real:
        """Unbounded."""
        return UNBOUNDED

    def transform(self) -> Transform | None:
        """∫ φ·w(z)^{s+1}·w(−z)^{−s} dz."""
        return ReplaceSampledNormalTransform(self.base.root(), self.rate) if 0 < self.rate < 1 else None


@theorem(
    of=Loss,
    gives=Loss,
    kind="equal",
    role="sampling",
    relation="replace",
    hypotheses=("the base pair is Gaussian: one record present or absent moves the query by C",),
    source=Source("tightrope", "sampling pairs"),
)
def loss_of_poisson_replacement(c: Loss, rate: Fraction) -> Loss | None:
    """On a Poisson sample under replace the pair ((1−q)N(0,1) + qN(c,1), (1−q)N(0,1) + qN(−c,1)) dominates and is
    attained."""
    parts = merged(c.remove)
    if c.add is not None or len(parts) != 1 or parts[0][1] != 1 or not isinstance(parts[0][0], NormalPair):
        return None
    base = parts[0][0]
    if base.mu_squared.rational == 0:
        return c
    return Loss(((PoissonReplace(base, rate), 1),))
