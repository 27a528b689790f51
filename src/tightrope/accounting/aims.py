"""How close the two ends of an answer should be, as far as work allows."""

from __future__ import annotations

from fractions import Fraction

from tightrope.accounting.terms import terms
from tightrope.curves.loss import Loss
from tightrope.curves.normal_pair import NormalPair
from tightrope.curves.ways import CLOSE, FAIR
from tightrope.mechanisms.base import Mechanism
from tightrope.mechanisms.sampled import Poisson, WithoutReplacement, WithReplacement
from tightrope.numerics.balls import precision

__all__ = ["aim"]

_MANY, _SMOOTH = 20, 0.1  # records sampled on average by one part, and Σμ² of plain Gaussians: losses are spread out


def aim(m: Mechanism, law: Loss) -> float:
    """The relative width that is sought of a question about ``m``, whose loss has that law."""
    return CLOSE if _sampled(m) >= _MANY or _mu_squared(law) >= _SMOOTH else FAIR


def _sampled(m: Mechanism) -> Fraction:
    """The records that one part of it samples on average, at most."""
    return max((n * _rate(part) for part, n in terms(m).items()), default=Fraction(0))


def _rate(part: Mechanism) -> Fraction:
    if isinstance(part, WithReplacement):
        return Fraction(part.size, part.population)
    return part.rate if isinstance(part, Poisson | WithoutReplacement) else Fraction(0)


def _mu_squared(law: Loss) -> float:
    with precision(64):
        found = [float(pair.mu_squared.ball().mid()) * n for pair, n in law.remove if isinstance(pair, NormalPair)]
    return sum(found)
