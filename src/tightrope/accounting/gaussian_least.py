"""The least μ for which a mechanism is μ-GDP."""

from __future__ import annotations

import math
from fractions import Fraction

from tightrope.accounting.ask import blocks, checked, claim, delta, enclosed, worst_block
from tightrope.accounting.claim import Claim, Question
from tightrope.accounting.facts import fact
from tightrope.accounting.known import Fact
from tightrope.accounting.least import closed, infinite_or_unknown
from tightrope.accounting.refusals import refuse_unconcluded
from tightrope.accounting.solve import Answer
from tightrope.curves.finite_pair import FinitePair
from tightrope.curves.gaussian import GaussianDP
from tightrope.curves.loss import Loss, merged
from tightrope.curves.normal_pair import NormalPair
from tightrope.mechanisms.base import Mechanism
from tightrope.numerics.balls import Ball, lower_float, precision
from tightrope.numerics.normal import quantile
from tightrope.numerics.real import Real


def gdp(mechanism: Mechanism) -> Claim:
    """Find the least μ for which the mechanism is μ-GDP (Gaussian DP); ∞ when there is none.

    Returns a Claim; ``claim.upper`` is safe to publish.

    >>> from tightrope import Gaussian
    >>> gdp(Gaussian(sigma=2) * 4).upper
    1.0
    """
    m = checked(mechanism)
    refuse_unconcluded(m, "gdp")
    question = Question("gdp")
    if blocks(m):
        return worst_block(m, question, [gdp(block) for block in blocks(m)])
    law = fact(m, Loss)
    exact_value = _exact_gdp(law) if law is not None and law.kind == "equal" and not _leaks(law) else None
    if law is not None and exact_value is not None:
        bound = enclosed(exact_value)
        return claim(m, question, Answer(bound, bound, "exact", "equal", law.steps, {}))
    seen = delta(m, 0).lower
    low = math.inf if _leaks(law) else _gdp_of_advantage(seen)
    known = fact(m, GaussianDP)
    if known is None:
        return claim(m, question, infinite_or_unknown(m, low))
    square: Real = known.curve.mu_squared
    computed = enclosed(NormalPair(square).root())
    return claim(m, question, closed(computed, low, known, "gdp"))


def _leaks(law: Fact | None) -> bool:
    return (
        law is not None
        and law.kind == "equal"
        and any(p.infinite().rational != 0 for d in law.curve.directions for p, _ in d)
    )


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
    if isinstance(pair, FinitePair) and n == 1 and len(pair.law.values) <= 2000:
        return Real(None, lambda: _knots(pair))  # the reverse pair has the same knots, mirrored
    return None


def _knots(pair: FinitePair) -> Ball:
    """The trade-off of a finite pair is a polygon and G_μ is convex, so only its corners matter."""
    atoms = sorted(
        ((v.ball(), m.ball()) for v, m in zip(pair.law.values, pair.law.masses, strict=True)),
        key=lambda a: -float(a[0].mid()),
    )
    best, fpr, missed = Ball(0), Ball(0), Ball(1)
    for value, mass in atoms[:-1]:
        fpr, missed = fpr + mass * (-value).exp(), missed - mass
        if fpr > 0 and fpr < 1 and missed > 0 and missed < 1:
            best = best.max(-quantile(fpr) - quantile(missed))
    return best
