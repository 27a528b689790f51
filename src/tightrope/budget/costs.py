"""What a mechanism costs in the units a filter adds up: exact rationals, rounded up where the truth is not rational."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

from tightrope.accounting.ask import epsilon as epsilon_at
from tightrope.accounting.facts import fact
from tightrope.accounting.gaussian_least import gdp as least_gdp
from tightrope.accounting.least import pure as least_pure
from tightrope.accounting.least import zcdp as least_zcdp
from tightrope.curves.approximate import Approximate
from tightrope.curves.concentrated import ZeroConcentrated
from tightrope.curves.gaussian import GaussianDP
from tightrope.curves.pure import Pure
from tightrope.curves.renyi import Renyi
from tightrope.errors import NotCertified, Unsupported
from tightrope.mechanisms.base import Mechanism
from tightrope.numerics.balls import sharp, upper_float
from tightrope.numerics.real import Real

Amounts = tuple[Fraction, ...]

_FINEST = 4096  # bits of a denominator: beyond every float, and few enough that a running total stays quick
_GRID = 2048


def tidy(amount: Fraction) -> Fraction:
    """The amount itself; rounded up to a multiple of 2^−2048 when its denominator has outgrown 4096 bits."""
    if amount.denominator.bit_length() <= _FINEST:
        return amount
    return Fraction(-((-amount.numerator << _GRID) // amount.denominator), 1 << _GRID)


def rounded_up(value: Real) -> Fraction | None:
    """A rational number that is not below the value, and is the value when that is rational; None for ∞."""
    if value.rational is not None:
        return tidy(max(value.rational, Fraction(0)))
    return decimal_above(upper_float(sharp(value.ball)))


def decimal_above(value: float) -> Fraction | None:
    """The least decimal of 17 digits that is not below the float, and 0 for what is negative; None for ∞."""
    if value <= 0 or not math.isfinite(value):
        return Fraction(0) if value <= 0 else None
    with localcontext(Context(prec=17, rounding=ROUND_CEILING, Emin=MIN_EMIN, Emax=MAX_EMAX)):
        return Fraction(+Decimal(value))


@lru_cache(maxsize=4096)
def pure_cost(m: Mechanism) -> Fraction | None:
    """The least pure ε known; None when there is none."""
    known = fact(m, Pure)
    stated = None if known is None else rounded_up(known.curve.epsilon)
    return _least(stated, known is not None and known.kind == "equal", lambda: least_pure(m).upper)


@lru_cache(maxsize=4096)
def approximate_cost(m: Mechanism, delta: Fraction | None) -> tuple[Fraction, Fraction] | None:
    """(ε, δ): at the δ given, else pure, else as the parts state it; None when nothing is stated."""
    if delta is not None:
        found = decimal_above(epsilon_at(m, delta).upper)
        return None if found is None else (found, delta)
    whole = pure_cost(m)
    if whole is not None:
        return whole, Fraction(0)
    known = fact(m, Approximate)
    if known is None:
        return None
    loss, failure = rounded_up(known.curve.epsilon), rounded_up(known.curve.delta)
    return None if loss is None or failure is None else (loss, min(failure, Fraction(1)))


@lru_cache(maxsize=4096)
def concentrated_cost(m: Mechanism) -> tuple[Fraction, Fraction] | None:
    """(ρ, δ) of δ-approximate ρ-zCDP; an offset ξ > 0 is paid as ρ, because ξ + ρα ≤ (ξ + ρ)α."""
    known = fact(m, ZeroConcentrated)
    if known is None:
        return None
    curve: ZeroConcentrated = known.curve
    offset = curve.xi.rational
    whole = rounded_up(curve.rho if offset is not None and offset <= 0 else curve.rho + curve.xi)
    failure = rounded_up(curve.delta)
    if failure is None or failure > 0:
        return None if whole is None or failure is None else (whole, failure)
    exact = known.kind == "equal" and offset is not None and offset <= 0
    best = _least(whole, exact, lambda: least_zcdp(m).upper)
    return None if best is None else (best, Fraction(0))


@lru_cache(maxsize=4096)
def gaussian_cost(m: Mechanism) -> Fraction | None:
    """The least μ² known; None when there is none."""
    known = fact(m, GaussianDP)
    stated = None if known is None else rounded_up(known.curve.mu_squared)
    square = None if known is None else known.curve.mu_squared.rational
    if known is not None and (square is not None or known.kind == "equal"):
        return stated
    return _least(stated, False, lambda: least_gdp(m).upper, square=True)


@lru_cache(maxsize=4096)
def renyi_cost(m: Mechanism, order: Fraction) -> Fraction | None:
    """The divergence of one order; None when it may be infinite."""
    known = fact(m, Renyi)
    if known is None:
        return None
    curve = known.curve
    found = decimal_above(upper_float(sharp(lambda: curve.divergence(order), limit=1500)))
    line = fact(m, ZeroConcentrated)
    if line is not None and line.curve.delta.rational == 0:  # rational for Gaussians, where the curve is computed
        straight = rounded_up(line.curve.xi + line.curve.rho * order)
        return min((x for x in (found, straight) if x is not None), default=None)
    return found


def _least(stated: Fraction | None, final: bool, asked: Callable[[], float], square: bool = False) -> Fraction | None:
    """The better of what the fold states and what a certified question answers; asked only where it can be better."""
    if stated is not None and final:
        return stated
    try:
        found = decimal_above(asked())
    except (Unsupported, NotCertified):
        return stated
    if found is not None and square:
        found = found**2
    return min((x for x in (stated, found) if x is not None), default=None)


def no_price(m: Mechanism, rule: str, why: str, hint: str) -> Unsupported:
    """The refusal of a mechanism that a rule cannot pay for."""
    shown = str(m)
    return Unsupported(f"{shown if len(shown) <= 200 else shown[:197] + '...'} on a {rule} budget", why, hint)


def written(amounts: Amounts) -> str:
    """Amounts as one text: p/q, separated by spaces."""
    return " ".join(map(str, amounts))


@lru_cache(maxsize=65536)
def read(text: str) -> Amounts:
    """The inverse of ``written``."""
    return tuple(Fraction(*map(int, amount.split("/"))) for amount in text.split(" "))
