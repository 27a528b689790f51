"""Composition of (ε_i, δ_i) guarantees by formula: basic, advanced, and the sharper advanced form. For comparison."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from tightrope.accounting.ask import epsilon
from tightrope.accounting.facts import fact
from tightrope.accounting.terms import terms
from tightrope.curves.approximate import Approximate
from tightrope.curves.profile import Profile
from tightrope.mechanisms.base import Mechanism
from tightrope.numerics.balls import Ball, ball, sharp
from tightrope.numerics.bound import Bound
from tightrope.numerics.effort import spend
from tightrope.numerics.real import Real, real
from tightrope.theorems import Source, Step, theorem

_SOLVED = 2e3  # units of work for the ε of one part, besides what its own engine counts


@dataclass(frozen=True, eq=False)
class Spent:
    """One term as (ε, δ)-DP, taken ``count`` times."""

    epsilon: Real
    delta: Real
    count: int
    steps: tuple[Step, ...]


@lru_cache(maxsize=1)
def spent(m: Mechanism, delta: Fraction, share: Fraction) -> tuple[list[Spent], Fraction] | None:
    """Each term as (ε_i, δ_i)-DP, and the δ left over.

    Terms with a guarantee of their own use it; the others get ``share`` of what is left, split evenly over their runs.
    None when the stated δ_i alone exceed delta.
    """
    known = [(part, n, fact(part, Approximate)) for part, n in terms(m).items()]
    fixed = sum(
        (n * f.curve.delta.rational for _, n, f in known if f is not None and f.curve.delta.rational is not None),
        Fraction(0),
    )
    needy = sum(n for _, n, f in known if f is None)
    left = delta - fixed
    if left <= 0:
        return None
    each = left * share / needy if needy else Fraction(0)
    result = []
    for part, n, f in known:
        if f is not None:
            result.append(Spent(f.curve.epsilon, f.curve.delta, n, f.steps))
            continue
        spend(_SOLVED, "the ε of each part")
        found = epsilon(part, each)
        result.append(
            Spent(real(Fraction(found.upper)), real(each), n, found.proof) if found.upper < float("inf") else _lost(n)
        )
    return result, left - each * needy


def _lost(n: int) -> Spent:
    return Spent(Real(None, lambda: Ball("inf")), real(0), n, ())


@theorem(of=Approximate, gives=Profile, kind="upper", role="profile", source=Source("dwork2014algorithmic", "Thm 3.16"))
def basic(m: Mechanism, delta: Fraction) -> tuple[Bound, tuple[Step, ...]] | None:
    """The composition of (ε_i, δ_i)-DP mechanisms is (Σε_i, Σδ_i)-DP."""
    found = spent(m, delta, Fraction(1))
    if found is None:
        return None
    parts, _ = found
    return _bound(lambda: sum((p.epsilon.ball() * p.count for p in parts), Ball(0))), _steps(parts)


@theorem(of=Approximate, gives=Profile, kind="upper", role="profile", source=Source("dwork2010boosting", "Thm III.3"))
def advanced(m: Mechanism, delta: Fraction) -> tuple[Bound, tuple[Step, ...]] | None:
    """k-fold composition of (ε, δ)-DP is (ε√(2k ln(1/δ')) + kε(e^ε − 1), kδ + δ')-DP."""
    found = spent(m, delta, Fraction(1, 2))
    if found is None or len({_key(p.epsilon) for p in found[0]}) != 1:
        return None  # the classic statement is for equal ε
    parts, slack = found
    k, e = sum(p.count for p in parts), parts[0].epsilon

    def value() -> Ball:
        return e.ball() * (-2 * k * ball(slack).log()).sqrt() + k * e.ball() * e.ball().expm1()

    return _bound(value), _steps(parts)


@theorem(
    of=Approximate,
    gives=Profile,
    kind="upper",
    role="profile",
    source=Source("tightrope", "advanced composition, sharpened"),
)
def advanced_sharp(m: Mechanism, delta: Fraction) -> tuple[Bound, tuple[Step, ...]] | None:
    """Composition of (ε_i, δ_i)-DP is (Σε_i·tanh(ε_i/2) + √(2 ln(1/δ')Σε_i²), 1 − (1−δ')Π(1−δ_i))-DP, and never worse
    than Σε_i."""
    found = spent(m, delta, Fraction(1, 2))
    if found is None:
        return None
    parts, slack = found

    def value() -> Ball:
        mean = sum((p.epsilon.ball() * (p.epsilon.ball() / 2).tanh() * p.count for p in parts), Ball(0))
        square = sum((p.epsilon.ball() ** 2 * p.count for p in parts), Ball(0))
        plain = sum((p.epsilon.ball() * p.count for p in parts), Ball(0))
        return (mean + (-2 * ball(slack).log() * square).sqrt()).min(plain)

    return _bound(value), _steps(parts)


def _key(x: Real) -> object:
    return x.rational if x.rational is not None else id(x)


def _bound(value: Callable[[], Ball]) -> Bound:
    return Bound.around(sharp(value), least=0.0)


def _steps(parts: list[Spent]) -> tuple[Step, ...]:
    return tuple(Step(s.theorem, s.of, s.count * p.count, s.value) for p in parts for s in p.steps)
