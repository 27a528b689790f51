"""The picture behind one claim: the whole curve, with the point that was asked about marked."""

from __future__ import annotations

from tightrope.accounting.claim import Claim
from tightrope.plotting.against_orders import renyi
from tightrope.plotting.attacker import profile, tradeoff
from tightrope.plotting.figure import Figure


def of_claim(claim: Claim) -> Figure:
    """The profile for ε and δ, the Rényi curve for divergences and ρ, the trade-off curve for error rates and μ."""
    given = dict(claim.question.given)
    match claim.question.ask:
        case "epsilon":
            return profile(claim.mechanism, delta=given["delta"])
        case "delta":
            return profile(claim.mechanism, epsilon=given["epsilon"])
        case "renyi" | "zcdp" | "tcdp":
            return renyi(claim.mechanism)
        case "tradeoff":
            return tradeoff(claim.mechanism, fpr=given["fpr"])
        case "advantage" | "gdp":
            return tradeoff(claim.mechanism)
    return profile(claim.mechanism)
