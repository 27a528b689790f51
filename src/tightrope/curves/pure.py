"""ε-DP: P(S) ≤ e^ε Q(S) for every event S and every ordered pair of neighbours; D_∞(P‖Q) ≤ ε."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from tightrope.curves.approximate import Approximate, _epsilon_tanh, amplified
from tightrope.curves.concentrated import ZeroConcentrated
from tightrope.curves.finite_pair import FinitePair
from tightrope.curves.gaussian import GaussianDP
from tightrope.curves.loss import Loss
from tightrope.curves.mean_concentrated import MeanConcentrated
from tightrope.curves.randomized import response_law
from tightrope.numerics.normal import quantile
from tightrope.numerics.real import ZERO, Real, total
from tightrope.theorems import Source, theorem


@dataclass(frozen=True, eq=False)
class Pure:
    """ε-DP."""

    epsilon: Real

    def __str__(self) -> str:
        return f"ε = {self.epsilon}"


@theorem(of=Pure, gives=Loss, kind="equal", source=Source("kairouz2015composition", "Thm 3.2"))
def pure_is_dominated_by_response(c: Pure) -> Loss | None:
    """Every ε-DP mechanism is a post-processing of binary randomized response with the same ε."""
    if c.epsilon.infinite:
        return None
    key = ("response", c.epsilon.rational if c.epsilon.rational is not None else id(c.epsilon))
    ladder = None if c.epsilon.rational is None else (("response", 2), (c.epsilon.rational,))
    return Loss(((FinitePair(key, response_law(c.epsilon), ladder=ladder), 1),))


@theorem(of=Pure, gives=Approximate, kind="equal", source=Source("dwork2006calibrating", "Def. 1"))
def pure_is_approximate(c: Pure) -> Approximate | None:
    """ε-DP is (ε, 0)-DP."""
    return None if c.epsilon.infinite else Approximate(c.epsilon, ZERO)


@theorem(
    of=Pure,
    gives=ZeroConcentrated,
    kind="equal",
    source=Source("steinke2022composition", "Prop. 14, sharpened: docs/theorems.md"),
)
def pure_is_concentrated(c: Pure) -> ZeroConcentrated | None:
    """Every ε-DP mechanism is ε·tanh(ε/2)-zCDP, and randomized response no better (Bun and Steinke's Prop. 1.4 says
    ε²/2)."""
    return None if c.epsilon.infinite else ZeroConcentrated(_epsilon_tanh(c.epsilon))


@theorem(
    of=Pure, gives=ZeroConcentrated, kind="upper", role="profile", source=Source("bun2016concentrated", "Prop. 1.4")
)
def pure_is_concentrated_classically(c: Pure) -> ZeroConcentrated:
    """Every ε-DP mechanism is ε²/2-zCDP."""
    square = None if c.epsilon.rational is None else c.epsilon.rational**2 / 2
    return ZeroConcentrated(Real(square, lambda: c.epsilon.ball() ** 2 / 2))


@theorem(
    of=Pure,
    gives=MeanConcentrated,
    kind="upper",
    source=Source("dwork2016concentrated", "Thm 3.5, sharpened by Hoeffding's lemma"),
)
def pure_is_mean_concentrated(c: Pure) -> MeanConcentrated | None:
    """Every ε-DP mechanism is (ε·tanh(ε/2), ε)-CDP (Dwork and Rothblum's mean is ε(e^ε − 1)/2)."""
    if c.epsilon.infinite:
        return None
    square = None if c.epsilon.rational is None else c.epsilon.rational**2
    return MeanConcentrated(_epsilon_tanh(c.epsilon), Real(square, lambda: c.epsilon.ball() ** 2))


@theorem(of=Pure, gives=GaussianDP, kind="equal", source=Source("dong2022gaussian", "Prop. 2.7 and convexity of G_μ"))
def pure_is_gaussian(c: Pure) -> GaussianDP | None:
    """Every ε-DP mechanism is μ-GDP with μ = −2Φ⁻¹(1/(1 + e^ε)): G_μ is convex and meets f_{ε,0} at its middle knot."""
    if c.epsilon.infinite:
        return None
    return GaussianDP(Real(None, lambda: (2 * quantile(1 / (1 + c.epsilon.ball().exp()))) ** 2))


@theorem(
    of=Pure,
    gives=Pure,
    kind="equal",
    role="composition",
    source=Source("dwork2006calibrating", "sequential composition"),
)
def pure_composes(parts: list[tuple[Pure, int]]) -> Pure:
    """The composition of ε_i-DP mechanisms is Σε_i-DP, and no smaller ε will do."""
    return Pure(total([(c.epsilon, n) for c, n in parts]))


@theorem(of=Pure, gives=Pure, kind="equal", role="group", source=Source("dwork2014algorithmic", "Thm 2.2"))
def pure_for_groups(c: Pure, size: int) -> Pure:
    """ε-DP for one record is kε-DP for k records."""
    return Pure(c.epsilon * size)


@theorem(of=Pure, gives=Pure, kind="equal", role="sampling", source=Source("balle2018privacy", "Thms 8, 9"))
def pure_is_amplified(c: Pure, rate: Fraction) -> Pure:
    """On a sample taken at rate q, ε-DP becomes ln(1 + q(e^ε − 1))-DP."""
    if c.epsilon.infinite:
        return c if rate else Pure(ZERO)
    return Pure(amplified(c.epsilon, rate))
