"""The least parameter of each notion: pure ε, ρ of zCDP and tCDP, μ of GDP, and the Rényi divergence of one order."""

from __future__ import annotations

import math
from fractions import Fraction

from tightrope.accounting.ask import _worst_block, checked, claim, delta, enclosed, pure_answer
from tightrope.accounting.claim import Claim, Question
from tightrope.accounting.facts import Fact, fact
from tightrope.accounting.refusals import refuse_unconcluded
from tightrope.accounting.routes import lower_losses
from tightrope.accounting.solve import Answer
from tightrope.curves.concentrated import ZeroConcentrated
from tightrope.curves.gaussian import GaussianDP
from tightrope.curves.loss import FinitePair, Loss, LossRenyi, NormalPair, loss_has_renyi, merged
from tightrope.curves.renyi import Renyi
from tightrope.errors import BadParameter
from tightrope.mechanisms.base import Mechanism
from tightrope.mechanisms.composed import Parallel
from tightrope.numerics.balls import Ball, lower_float, precision, sharp
from tightrope.numerics.bound import Bound
from tightrope.numerics.exact import Number, exact, shortest
from tightrope.numerics.normal import quantile
from tightrope.numerics.real import Real
from tightrope.numerics.supremum import ratio_supremum
from tightrope.theorems import Kind, Step

_PROBES = tuple(Fraction(1) + Fraction(2) ** k for k in (-16, -4, 0, 2, 5, 10, 20, 30))


def pure(mechanism: Mechanism) -> Claim:
    """The least ε for which the mechanism is ε-DP; ∞ when its loss is unbounded.

    >>> from tightrope import Laplace
    >>> pure(Laplace(scale=2)).upper
    0.5
    """
    m = checked(mechanism)
    refuse_unconcluded(m, "pure")
    return claim(m, Question("pure"), pure_answer(m))


def renyi(mechanism: Mechanism, order: Number) -> Claim:
    """The Rényi divergence of the given order in (1, ∞], in the worse direction.

    >>> from tightrope import Gaussian
    >>> renyi(Gaussian(sigma=1), order=8).upper
    4.0
    """
    m = checked(mechanism)
    if order in (math.inf, "inf"):
        found = pure(m)
        return claim(m, Question("renyi", (("order", "inf"),)), Answer(found.bound, found.computed, found.route, found.kind, found.proof, {}))
    a = exact("order", order)
    if a <= 1:
        raise BadParameter("order", order, "must be greater than 1", "At 1 the divergence is the mean loss.")
    refuse_unconcluded(m, "renyi")
    question = Question("renyi", (("order", shortest(a)),))
    if isinstance(m, Parallel) and m.relation == "add-remove":
        return _worst_block(m, question, [renyi(block, a) for block in dict.fromkeys(m.blocks)])
    known = fact(m, Renyi)
    if known is None:
        return claim(m, question, _unknown())
    computed = Bound.around(sharp(lambda: known.curve.divergence(a), limit=1500), least=0.0)
    low = computed.lower if known.kind == "equal" else min(_attained_renyi(m, a), computed.upper)
    return claim(m, question, Answer(Bound(low, computed.upper), computed, "rdp", known.kind, known.steps, {}))


def _attained_renyi(m: Mechanism, order: Fraction) -> float:
    best = 0.0
    for law, _ in lower_losses(m):
        curve = loss_has_renyi(law)
        if curve is not None:
            best = max(best, lower_float(sharp(lambda curve=curve: curve.divergence(order), limit=1500)))  # type: ignore[misc]  # bound now
    return best


def _unknown() -> Answer:
    return Answer(Bound(0.0, math.inf), Bound(0.0, math.inf), "none", "upper", (), {})


def zcdp(mechanism: Mechanism) -> Claim:
    """The least ρ for which the mechanism is ρ-zCDP; ∞ when there is none.

    >>> from tightrope import Gaussian
    >>> zcdp(Gaussian(sigma=2)).upper
    0.125
    """
    m = checked(mechanism)
    refuse_unconcluded(m, "zcdp")
    question = Question("zcdp")
    known = fact(m, ZeroConcentrated)
    low = _attained_ratio(m)
    if known is None or known.curve.delta.rational != 0:
        return claim(m, question, _infinite_or_unknown(m, low))
    c: ZeroConcentrated = known.curve
    rho = c.rho if c.xi.rational is not None and c.xi.rational <= 0 else c.rho + c.xi  # ξ + ρα ≤ (ξ + ρ)α for α > 1
    return claim(m, question, _closed(enclosed(rho), low, known, "zcdp"))


def _closed(computed: Bound, low: float, known: Fact, route: str) -> Answer:
    """Tight when the theorem is, or when a mechanism that fits is seen to need as much."""
    if known.kind == "equal":
        return Answer(computed, computed, route, "equal", known.steps, {})
    met = low >= computed.upper * (1 - 1e-12)
    kind: Kind = "equal" if met else "upper"
    return Answer(Bound(min(low, computed.upper), computed.upper), computed, route, kind, known.steps, {})


def _infinite_or_unknown(m: Mechanism, low: float) -> Answer:
    law = fact(m, Loss)
    steps = law.steps if law is not None else ()
    bound = Bound(low, math.inf)
    return Answer(bound, bound, "none", "equal" if low == math.inf else "upper", steps, {})


def _attained_ratio(m: Mechanism) -> float:
    """The largest D_α/α seen, its limit at α → 1 (the mean loss) included: a lower bound on ρ."""
    best = 0.0
    for law, _ in lower_losses(m):
        for parts in law.directions:
            means = [(pair.mean(), n) for pair, n in parts]
            if all(mean is not None for mean, _ in means):
                best = max(best, lower_float(sharp(lambda parts=parts: _mean(parts))))  # type: ignore[misc]  # bound now
        if loss_has_renyi(law) is not None:
            curve = LossRenyi(law)
            for order in _PROBES:
                with precision(160):
                    best = max(best, lower_float(curve.divergence(order) / Ball(order.numerator) * order.denominator))
    return best


def _mean(parts: tuple[tuple[object, int], ...]) -> Ball:
    total = Ball(0)
    for pair, n in parts:
        total += pair.mean() * n  # type: ignore[attr-defined]  # pairs have a mean
    return total


def tcdp(mechanism: Mechanism, omega: Number) -> Claim:
    """The least ρ for which the mechanism is (ρ, ω)-tCDP: the supremum of D_α/α over 1 < α < ω; ∞ when there is none.

    >>> from tightrope import Gaussian
    >>> tcdp(Gaussian(sigma=2), omega=10).upper
    0.125
    """
    m = checked(mechanism)
    w = exact("omega", omega)
    if w <= 1:
        raise BadParameter("omega", omega, "must be greater than 1")
    refuse_unconcluded(m, "tcdp")
    question = Question("tcdp", (("omega", shortest(w)),))
    ceiling = fact(m, ZeroConcentrated)
    if ceiling is not None and ceiling.kind == "equal" and _constant(m):
        return claim(m, question, _closed(enclosed(ceiling.curve.rho), 0.0, ceiling, "zcdp"))
    known = fact(m, Renyi)
    if known is None:
        return claim(m, question, _unknown())
    with precision(128):
        found = ratio_supremum(lambda lam: known.curve.divergence(lam + 1) * Ball(lam.numerator) / lam.denominator, (w - 1) / 2**20, w - 1, head=True)
    computed = Bound.around(found, least=0.0)
    bound = computed if known.kind == "equal" else Bound(0.0, computed.upper)
    return claim(m, question, Answer(bound, computed, "rdp", known.kind, known.steps, {}))


def _constant(m: Mechanism) -> bool:
    """Whether D_α/α does not depend on α, as for Gaussians."""
    law = fact(m, Loss)
    return law is not None and all(isinstance(pair, NormalPair) for parts in law.curve.directions for pair, _ in parts)


def gdp(mechanism: Mechanism) -> Claim:
    """The least μ for which the mechanism is μ-GDP; ∞ when there is none.

    >>> from tightrope import Gaussian
    >>> gdp(Gaussian(sigma=2) * 4).upper
    1.0
    """
    m = checked(mechanism)
    refuse_unconcluded(m, "gdp")
    question = Question("gdp")
    law = fact(m, Loss)
    exact_value = _exact_gdp(law) if law is not None and law.kind == "equal" else None
    if law is not None and exact_value is not None:
        bound = enclosed(exact_value)
        return claim(m, question, Answer(bound, bound, "exact", "equal", law.steps, {}))
    seen = delta(m, 0).lower
    low = math.inf if _leaks(law) else _gdp_of_advantage(seen)
    known = fact(m, GaussianDP)
    if known is None:
        return claim(m, question, _infinite_or_unknown(m, low))
    square: Real = known.curve.mu_squared
    computed = enclosed(NormalPair(square).root())
    return claim(m, question, _closed(computed, low, known, "gdp"))


def _leaks(law: Fact | None) -> bool:
    return law is not None and law.kind == "equal" and any(p.infinite().rational != 0 for d in law.curve.directions for p, _ in d)


def _gdp_of_advantage(advantage: float) -> float:
    """G_μ allows an advantage of 2Φ(μ/2) − 1, so μ is at least what the advantage seen requires."""
    if advantage <= 0:
        return 0.0
    with precision(128):
        return max(lower_float(-2 * quantile((1 - Ball(advantage)) / 2)), 0.0)


def _exact_gdp(law: Fact) -> Real | None:
    directions = [merged(parts) for parts in law.curve.directions]
    if all(not parts for parts in directions):
        return Real(Fraction(0))
    if any(len(parts) != 1 for parts in directions):
        return None
    (pair, n) = directions[0][0]
    if isinstance(pair, NormalPair):
        return pair.root()
    if isinstance(pair, FinitePair) and n == 1 and pair.law.infinite.rational == 0 and len(pair.law.values) <= 2000:
        return Real(None, lambda: _knots(pair))  # the reverse pair has the same knots, mirrored
    return None


def _knots(pair: FinitePair) -> Ball:
    """The trade-off of a finite pair is a polygon and G_μ is convex, so only its corners matter."""
    atoms = sorted(((v.ball(), m.ball()) for v, m in zip(pair.law.values, pair.law.masses, strict=True)), key=lambda a: -float(a[0].mid()))
    best, fpr, missed = Ball(0), Ball(0), Ball(1)
    for value, mass in atoms[:-1]:
        fpr, missed = fpr + mass * (-value).exp(), missed - mass
        if fpr > 0 and fpr < 1 and missed > 0 and missed < 1:
            best = best.max(-quantile(fpr) - quantile(missed))
    return best


