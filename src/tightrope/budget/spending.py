"""Amounts of a budget as claims in the budget's own unit: what is spent, and what is left."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import isqrt

from tightrope.accounting.ask import claim, epsilon
from tightrope.accounting.claim import Claim, Question
from tightrope.accounting.gaussian_least import gdp
from tightrope.accounting.least import pure, renyi, zcdp
from tightrope.accounting.solve import Answer
from tightrope.budget.costs import Amounts
from tightrope.budget.terms import Terms
from tightrope.mechanisms.stated import GDP, RDP, ZCDP, Approx, Pure
from tightrope.numerics.bound import Bound
from tightrope.numerics.exact import shortest
from tightrope.theorems import Step

ADAPTIVE = (
    "each mechanism may be chosen after seeing the earlier answers: then the guarantee is the whole budget, fixed in "
    "advance, and this number only says how much of it is used"
)


def claimed(terms: Terms, amounts: Amounts, up: bool = True) -> Claim:
    """The amounts as a claim: ρ, μ, pure ε or a divergence where the budget is stated so, else ε at the budget's δ."""
    found = _asked(terms, tuple(max(x, Fraction(0)) for x in amounts), up)
    return replace(found, assumptions=(*found.assumptions, ADAPTIVE))


def _asked(terms: Terms, amounts: Amounts, up: bool) -> Claim:
    stated, first = dict(terms.stated), amounts[0]
    if terms.rule in ("pure", "basic"):
        return pure(Pure(first)) if terms.delta == 0 else _stated(first, amounts[1])
    if terms.rule == "exact":
        return _stated(first, terms.delta)
    if terms.rule == "zcdp":
        whole = ZCDP(first, 0, amounts[1])
        return zcdp(ZCDP(first)) if "rho" in stated else epsilon(whole, terms.delta)
    if terms.rule == "approx":  # ε-DP steps are ε²/2-zCDP
        return epsilon(ZCDP(first / 2, 0, amounts[1]), terms.delta)
    if terms.rule == "gdp":
        whole_gaussian = GDP(root(first, up))
        return gdp(whole_gaussian) if "mu" in stated else epsilon(whole_gaussian, terms.delta)
    return _curve(terms, amounts)


def _stated(loss: Fraction, failure: Fraction) -> Claim:
    """ε at exactly the δ that is stated with it: the definition."""
    whole = Approx(loss, failure)
    bound = Bound.rational(loss)
    steps = (Step("stated_approximate", str(whole), 1, f"ε = {shortest(loss)}, δ = {shortest(failure)}"),)
    question = Question("epsilon", (("delta", shortest(failure)),))
    return claim(whole, question, Answer(bound, bound, "basic", "equal", steps, {}))


def _curve(terms: Terms, amounts: Amounts) -> Claim:
    """The orders that still say something; 0 when nothing is spent, or nothing is left."""
    kept = {a: x for a, x, limit in zip(terms.orders, amounts, terms.limits, strict=True) if 0 < x <= limit}
    if not terms.any_unit:
        fullest = max(zip(terms.orders, amounts, terms.limits, strict=True), key=lambda row: row[1] / row[2])[0]
        return renyi(RDP(kept) if kept else Pure(0), fullest)
    return epsilon(RDP(kept) if kept else Pure(0), terms.delta)


def root(square: Fraction, up: bool) -> Fraction:
    """√x, exact where it is rational, else to 64 bits on the side asked for."""
    top, bottom = isqrt(square.numerator), isqrt(square.denominator)
    if top**2 == square.numerator and bottom**2 == square.denominator:
        return Fraction(top, bottom)
    shift = max(64 - (square.numerator.bit_length() - square.denominator.bit_length()) // 2, 0)
    return Fraction(isqrt((square.numerator << 2 * shift) // square.denominator) + up, 1 << shift)
