"""From a budget to the mechanism that spends it: ε, (ε, δ), ρ, or a mechanism of your own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

from tightrope.accounting.calibrate import calibrate
from tightrope.errors import BadParameter
from tightrope.mechanisms.base import Mechanism, Relation, checked_relation
from tightrope.mechanisms.discrete_gaussian import DiscreteGaussian
from tightrope.mechanisms.discrete_laplace import DiscreteLaplace
from tightrope.mechanisms.gaussian import Gaussian
from tightrope.mechanisms.laplace import Laplace
from tightrope.mechanisms.running.categories import listed
from tightrope.numerics.exact import Number, count, exact, positive

_DIGITS = 10**12  # σ is rounded up to this part of itself, so the ρ spent is never above the one stated


@dataclass(frozen=True)
class Budget:
    """What may be spent: exactly one of ε (perhaps with δ), ρ, or a mechanism."""

    epsilon: Fraction | None
    delta: Fraction | None
    rho: Fraction | None
    mechanism: Mechanism | None

    def part(self, share: Fraction) -> Budget:
        """A share of a pure ε or of ρ, which add up."""
        scaled = [None if x is None else x * share for x in (self.epsilon, self.rho)]
        return Budget(scaled[0], None, scaled[1], None)


def budget(epsilon: Number | None, delta: Number | None, rho: Number | None, mechanism: Mechanism | None) -> Budget:
    """The budget meant."""
    given = [name for name, x in (("epsilon", epsilon), ("rho", rho), ("mechanism", mechanism)) if x is not None]
    if len(given) != 1 or (delta is not None and epsilon is None):
        hint = "State epsilon=, epsilon= with delta=, rho=, or mechanism=."
        told = " and ".join(given) or "none"
        raise BadParameter("epsilon", epsilon, f"exactly one budget must be stated, not {told}", hint)
    if mechanism is not None and not isinstance(mechanism, Mechanism):
        raise BadParameter("mechanism", mechanism, "must be a mechanism", "For example tr.Laplace(scale=2).")
    if delta is not None and not 0 < exact("delta", delta) < 1:
        raise BadParameter("delta", delta, "must lie strictly between 0 and 1")
    return Budget(
        None if epsilon is None else positive("epsilon", epsilon),
        None if delta is None else exact("delta", delta),
        None if rho is None else positive("rho", rho),
        mechanism,
    )


@dataclass(frozen=True)
class Change:
    """The most one record can change: each of ``coordinates`` entries by ``each``; ``whole``: integer answers."""

    each: Fraction
    coordinates: int = 1
    whole: bool = False

    @property
    def l1(self) -> Fraction:
        """The sum of all changes."""
        return self.each * self.coordinates

    @property
    def l2_square(self) -> Fraction:
        """The sum of all squared changes."""
        return self.each**2 * self.coordinates


def additive(spent: Budget, change: Change) -> Mechanism:
    """The noise that spends the budget on a query with this change."""
    if spent.mechanism is not None:
        return _fitting(spent.mechanism, change)
    if spent.rho is not None:
        return _concentrated(spent.rho, change)
    assert spent.epsilon is not None
    if spent.delta is not None:
        length = root_above(change.l2_square)
        found = calibrate(lambda sigma: Gaussian(sigma, length), epsilon=spent.epsilon, delta=spent.delta)
        return Gaussian(exact("sigma", found.value), length, 1 if change.whole else None)
    scale = change.l1 / spent.epsilon
    return DiscreteLaplace(scale, change.l1) if change.whole else Laplace(scale, change.l1)


def _concentrated(rho: Fraction, change: Change) -> Mechanism:
    """ρ = Δ²/2σ², with σ rounded up."""
    if change.whole:
        return DiscreteGaussian(root_above(change.l2_square / (2 * rho)), change.each, change.coordinates)
    length = root_above(change.l2_square)
    return Gaussian(root_above(length**2 / (2 * rho)), length)


def root_above(square: Fraction) -> Fraction:
    """A rational at most 10^−12 of itself above √square; the root itself where it is rational.

    >>> root_above(Fraction(9, 4)), float(root_above(Fraction(2)))
    (Fraction(3, 2), 1.414213562374)
    """
    top, bottom = isqrt(square.numerator), isqrt(square.denominator)
    if top**2 == square.numerator and bottom**2 == square.denominator:
        return Fraction(top, bottom)
    scale = Fraction(_DIGITS * max(1, isqrt(int(1 / square) + 1)))
    return (isqrt(int(square * scale**2)) + 1) / scale


def _fitting(m: Mechanism, change: Change) -> Mechanism:
    """A mechanism of the user's, if its sensitivity covers the query's."""
    if isinstance(m, Gaussian):
        fits, needed = m.sensitivity**2 >= change.l2_square, root_above(change.l2_square)
    elif isinstance(m, Laplace | DiscreteLaplace):
        fits, needed = m.sensitivity >= change.l1, change.l1
    elif isinstance(m, DiscreteGaussian):
        fits, needed = m.sensitivity >= change.each and m.coordinates >= change.coordinates, change.each
    else:
        hint = "Use Gaussian, Laplace, DiscreteGaussian or DiscreteLaplace."
        raise BadParameter("mechanism", m, "does not add noise to numbers", hint)
    if not fits:
        hint = f"Give it sensitivity={needed}" + (
            f" and coordinates={change.coordinates}." if isinstance(m, DiscreteGaussian) else "."
        )
        raise BadParameter("mechanism", m, "has a smaller sensitivity than the query", hint)
    return m


def neighbours(relation: Relation) -> Relation:
    """The relation that is protected."""
    return checked_relation(relation)


def split(budget: Number, weights: int | Sequence[Number]) -> tuple[Fraction, ...]:
    """Divide a budget (an ε or a ρ) by weights, or into a number of equal parts.

    Returns a tuple of Fractions that add up to exactly the whole budget.

    >>> split(1, [1, 2, 1])
    (Fraction(1, 4), Fraction(1, 2), Fraction(1, 4))
    """
    whole = positive("budget", budget)
    if isinstance(weights, int):
        parts = [Fraction(1)] * count("weights", weights)
    else:
        parts = [positive(f"weights[{i}]", w) for i, w in enumerate(listed("weights", weights))]
    if not parts:
        raise BadParameter("weights", weights, "must not be empty")
    total = sum(parts, Fraction(0))
    return tuple(whole * part / total for part in parts)
