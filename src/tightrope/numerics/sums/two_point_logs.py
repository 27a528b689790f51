"""Sizes as logarithms in floats, so that tails may be deep. Nothing here is a proof."""

from __future__ import annotations

import math
from fractions import Fraction

__all__ = [
    "divergence",
    "fraction_of_log",
    "log_excess",
    "log_expm1",
    "log_gap",
    "log_of_fraction",
    "log_phi",
    "log_rest",
    "log_room",
    "log_sum",
]

_LOG2 = math.log(2)
_FARTHEST = 1e5  # a cut is valid anywhere, so larger logarithms need not become (enormous) rationals


def fraction_of_log(log_value: float) -> Fraction:
    """A rational near e^log_value, far beyond the range of floats too, and relatively near 1 as well."""
    log_value = max(min(log_value, _FARTHEST), -_FARTHEST)
    if abs(log_value) < 0.5:
        return 1 + Fraction(math.expm1(log_value))
    power = math.floor(log_value / _LOG2)
    return Fraction(math.exp(log_value - power * _LOG2)) * Fraction(2) ** power


def log_of_fraction(value: Fraction) -> float:
    """ln of a positive rational, far beyond the range of floats too."""
    power = value.numerator.bit_length() - value.denominator.bit_length()
    return math.log(value / Fraction(2) ** power) + power * _LOG2


def _log_eta(z: float) -> float:
    """ln(e^z − 1 − z)."""
    if z == 0:
        return -math.inf
    if z > 30:
        return z + math.log1p(-(1 + z) * math.exp(-z))
    if abs(z) < 0.01:
        return 2 * math.log(abs(z)) - _LOG2 + math.log1p(z / 3 + z * z / 12 + z**3 / 60 + z**4 / 360)
    return math.log(math.expm1(z) - z)


def log_gap(b: float, v: float) -> float:
    """ln(1 − a r^b + b r^a) at r = e^v, a = 1 + b: all terms positive, nothing cancels."""
    return b * v + log_sum(math.log(b) + _log_eta(v), _log_eta(-b * v)) if v > -math.inf else 0.0


def log_phi(b: float, w: float) -> float:
    """ln(r^a − 1 − a(r − 1)) at r = e^w, a = 1 + b."""
    return w + log_sum(_log_eta(b * w), math.log(b) + _log_eta(-w)) if w > -math.inf else math.log(b)


def log_excess(b: float, log_p: float, ratio: float) -> float:
    """ln(g − 1), g = p^a q^{−b} + (1−p)^a (1−q)^{−b}, at ln p and ln(p/q) > 0."""
    log_q = log_p - ratio
    rest = log_rest(log_q)
    share = math.exp(log_p + log_rest(-ratio) - rest)  # (p − q)/(1 − q)
    other = math.log1p(-share) if share < 1 and log_p < 0 else -math.inf
    return log_sum(log_q + log_phi(b, ratio), rest + log_phi(b, other))


def divergence(b: float, log_p: float, log_q: float) -> float:
    """D_{1+b}(p‖q)."""
    return log_sum(0.0, log_excess(b, log_p, log_p - log_q)) / b


def log_room(b: float, tau: float) -> float:
    """ln(e^{bτ} − 1)."""
    return log_expm1(b * tau) if b * tau > 1e-17 else math.log(b) + math.log(tau)


def log_rest(u: float) -> float:
    """ln(1 − e^u)."""
    if u >= 0:
        return -math.inf
    return math.log1p(-math.exp(u)) if u < -1 else math.log(-math.expm1(u))


def log_expm1(z: float) -> float:
    """ln(e^z − 1)."""
    return z + log_rest(-z)


def log_sum(a: float, b: float) -> float:
    """ln(e^a + e^b)."""
    top, low = max(a, b), min(a, b)
    return top if low == -math.inf or top == math.inf else top + math.log1p(math.exp(low - top))
