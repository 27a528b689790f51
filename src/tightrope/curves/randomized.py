"""Randomized response as a law: the extremal pair of pure and of approximate differential privacy."""

from __future__ import annotations

from tightrope.numerics.balls import Ball
from tightrope.numerics.real import ZERO, Real, real
from tightrope.numerics.sums.finite import FiniteLaw, on_lattice


def response_law(epsilon: Real) -> FiniteLaw:
    """The loss of binary randomized response: +ε with chance e^ε/(1 + e^ε), else −ε."""
    return leaky_law(epsilon, ZERO)


def leaky_law(epsilon: Real, delta: Real) -> FiniteLaw:
    """The loss of leaky randomized response: +∞ with chance δ, otherwise randomized response."""
    if delta.rational == 1:
        return on_lattice(real(1), {0: ZERO}, infinite=delta)
    if epsilon.rational == 0:
        return on_lattice(real(1), {0: _rest(delta, Real(None, lambda: Ball(1)))}, infinite=delta)
    truth = Real(None, lambda: 1 / (1 + (-epsilon.ball()).exp()))
    lie = Real(None, lambda: 1 / (1 + epsilon.ball().exp()))
    return on_lattice(epsilon, {1: _rest(delta, truth), -1: _rest(delta, lie)}, infinite=delta)


def _rest(delta: Real, chance: Real) -> Real:
    if delta.rational == 0:
        return chance
    return Real(None, lambda: (1 - delta.ball()) * chance.ball())
