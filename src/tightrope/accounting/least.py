"""The least parameter of a notion: pure ε, ρ of zCDP and tCDP, and the Rényi divergence of one order."""

from __future__ import annotations

import math
from contextlib import suppress
from fractions import Fraction
from functools import partial, reduce

from tightrope.accounting.ask import blocks, checked, claim, enclosed, pure_answer, worst_block
from tightrope.accounting.claim import Claim, Question
from tightrope.accounting.facts import fact
from tightrope.accounting.known import Fact
from tightrope.accounting.least_renyi import attained_renyi, renyi_answer
from tightrope.accounting.lower_laws import lower_losses
from tightrope.accounting.refusals import refuse_unconcluded
from tightrope.accounting.solve import Answer
from tightrope.curves.concentrated import ZeroConcentrated
from tightrope.curves.loss import Loss, Parts
from tightrope.curves.loss_renyi import LossRenyi, loss_has_renyi
from tightrope.curves.normal_pair import NormalPair
from tightrope.curves.renyi import Renyi
from tightrope.curves.renyi_units import value_units
from tightrope.curves.truncated import TruncatedConcentrated
from tightrope.errors import BadParameter, NotCertified
from tightrope.mechanisms.base import Mechanism
from tightrope.numerics.balls import Ball, ball, lower_float, precision, sharp
from tightrope.numerics.bound import Bound
from tightrope.numerics.exact import Number, exact, shortest
from tightrope.numerics.real import largest, total
from tightrope.numerics.supremum import ratio_supremum
from tightrope.theorems import Kind

_CELLS, _FEWEST, _MANY = 600, 7, 60  # into which orders are cut for a supremum
_WORK, _PROBED = 1e6, 2e5  # units of work for that, and for its lower end
_CLOSE = 0.5  # ends of an exact curve's supremum
_PROBES = tuple(Fraction(1) + Fraction(2) ** k for k in (-16, -4, 0, 2, 5, 10, 20, 30))


def pure(mechanism: Mechanism) -> Claim:
    """Find the least ε for which the mechanism is ε-DP (pure DP); ∞ when the privacy loss is unbounded.

    Returns a Claim; ``claim.upper`` is safe to publish.

    >>> from tightrope import Laplace
    >>> pure(Laplace(scale=2)).upper
    0.5
    """
    m = checked(mechanism)
    refuse_unconcluded(m, "pure")
    if blocks(m):
        return worst_block(m, Question("pure"), [pure(block) for block in blocks(m)])
    return claim(m, Question("pure"), pure_answer(m))


def renyi(mechanism: Mechanism, order: Number) -> Claim:
    """Find the Rényi divergence, in nats, at an ``order`` in (1, ∞]: the larger of both directions.

    Returns a Claim; ``claim.upper`` is the ε of (order, ε)-RDP.

    >>> from tightrope import Gaussian
    >>> renyi(Gaussian(sigma=1), order=8).upper
    4.0
    """
    m = checked(mechanism)
    if isinstance(order, str | float) and order in (math.inf, "inf"):
        found = pure(m)
        return claim(
            m,
            Question("renyi", (("order", "inf"),)),
            Answer(found.bound, found.computed, found.route, found.kind, found.proof, {}),
        )
    a = exact("order", order)
    if a <= 1:
        raise BadParameter("order", order, "must be greater than 1", "At 1 the divergence is the mean loss.")
    refuse_unconcluded(m, "renyi")
    question = Question("renyi", (("order", shortest(a)),))
    if blocks(m):
        return worst_block(m, question, [renyi(block, a) for block in blocks(m)])
    known = renyi_answer(m, a)
    return claim(m, question, unknown(attained_renyi(m, a, further=True)) if known is None else known)


def unknown(low: float = 0.0) -> Answer:
    """Nothing is known from above: [low, ∞]."""
    bound = Bound(low, math.inf)
    return Answer(bound, bound, "none", "upper", (), {})


def zcdp(mechanism: Mechanism) -> Claim:
    """Find the least ρ for which the mechanism is ρ-zCDP; ∞ when there is none.

    Returns a Claim; ``claim.upper`` is safe to publish.

    >>> from tightrope import Gaussian
    >>> zcdp(Gaussian(sigma=2)).upper
    0.125
    """
    m = checked(mechanism)
    refuse_unconcluded(m, "zcdp")
    question = Question("zcdp")
    if blocks(m):
        return worst_block(m, question, [zcdp(block) for block in blocks(m)])
    known = fact(m, ZeroConcentrated)
    low = _attained_ratio(m)
    if known is None or known.curve.delta.rational != 0:
        return claim(m, question, infinite_or_unknown(m, low))
    c: ZeroConcentrated = known.curve
    rho = c.rho if c.xi.rational is not None and c.xi.rational <= 0 else c.rho + c.xi  # ξ + ρα ≤ (ξ + ρ)α for α > 1
    found = closed(enclosed(rho), low, known, "zcdp")
    if found.kind != "equal":
        sharper = _enclosed_supremum(m)
        if sharper is not None and sharper.bound.upper < found.bound.upper:
            return claim(m, question, sharper)
    return claim(m, question, found)


def _enclosed_supremum(m: Mechanism) -> Answer | None:
    """sup of D_α/α over all orders when the losses are bounded: beyond α = ε/KL it is below its limit KL at 1."""
    law, curve = fact(m, Loss), fact(m, Renyi)
    if law is None or curve is None or law.kind != "equal" or curve.kind != "equal":
        return None
    tops = [total(parts) for parts in law.curve.largest()]
    if any(top.infinite for top in tops) or any(p.mean() is None for d in law.curve.directions for p, _ in d):
        return None
    with precision(128):
        mean = reduce(Ball.max, [_mean(parts) for parts in law.curve.directions])
        end = (largest(tops).ball() / mean).upper() + 2
        if not end.is_finite():
            return None
        high = Fraction(int(end.floor().unique_fmpz() or 2))
        found = ratio_supremum(lambda lam: curve.curve.divergence(lam + 1) * ball(lam), high / 2**24, high, head=True)
        bound = Bound.around(found.max(mean), least=0.0)
    return Answer(bound, bound, "exact", "equal", curve.steps, {})


def closed(computed: Bound, low: float, known: Fact, route: str) -> Answer:
    """Tight when the theorem is, or when a mechanism that fits is seen to need as much."""
    if known.kind == "equal":
        return Answer(computed, computed, route, "equal", known.steps, {})
    met = low >= computed.upper * (1 - 1e-12)
    kind: Kind = "equal" if met else "upper"
    return Answer(Bound(min(low, computed.upper), computed.upper), computed, route, kind, known.steps, {})


def infinite_or_unknown(m: Mechanism, low: float) -> Answer:
    """No upper bound: exactly ∞ when a mechanism that fits needs it, else unknown."""
    law = fact(m, Loss)
    steps = law.steps if law is not None else ()
    bound = Bound(low, math.inf)
    return Answer(bound, bound, "none", "equal" if low == math.inf else "upper", steps, {})


def _attained_ratio(m: Mechanism, end: Fraction | None = None) -> float:
    """The largest D_α/α seen below the order ``end``, its limits there and at α → 1 (the mean loss) included: a lower
    bound on ρ."""
    best, spent, last = 0.0, 0.0, () if end is None else (end,)
    orders = (*last, *(order for order in reversed(_PROBES) if end is None or order < end))  # mostly the last is best
    for law, _ in lower_losses(m):
        for parts in law.directions:
            means = [(pair.mean(), n) for pair, n in parts]
            if all(mean is not None for mean, _ in means):
                best = max(best, lower_float(sharp(partial(_mean, parts))))
        if loss_has_renyi(law) is not None:
            curve = LossRenyi(law)
            each = value_units(curve)
            for order in orders:
                spent += each
                if spent > _PROBED and best > 0:
                    break
                with precision(160), suppress(NotCertified):  # an order at which it gives up shows nothing
                    best = max(best, lower_float(curve.divergence(order) / Ball(order.numerator) * order.denominator))
    return best


def _mean(parts: Parts) -> Ball:
    value = Ball(0)
    for pair, n in parts:
        mean = pair.mean()
        assert mean is not None
        value += mean * n
    return value


def tcdp(mechanism: Mechanism, omega: Number) -> Claim:
    """Find the least ρ for which the mechanism is (ρ, ``omega``)-tCDP; ∞ when there is none.

    ρ is the supremum of D_α/α over the Rényi orders 1 < α < ω. Returns a Claim.

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
    if blocks(m):
        return worst_block(m, question, [tcdp(block, w) for block in blocks(m)])
    ceiling = fact(m, ZeroConcentrated)
    if ceiling is not None and ceiling.kind == "equal" and _constant(m):
        return claim(m, question, closed(enclosed(ceiling.curve.rho), 0.0, ceiling, "zcdp"))
    known = fact(m, Renyi)
    exact_curve = known is not None and known.kind == "equal"
    low = 0.0 if exact_curve else _attained_ratio(m, w)
    if known is None:
        return claim(m, question, unknown(low))
    cells = int(min(max(2 * _WORK / value_units(known.curve), _FEWEST), _CELLS))  # two for each value
    head = (w - 1) / (2**20 if cells > _MANY else 2**4)  # of few cells most should be where the supremum mostly is
    with precision(128):
        found = ratio_supremum(
            lambda lam: known.curve.divergence(lam + 1) * ball(lam), head, w - 1, work=cells, head=True
        )
    computed = _at_most(Bound.around(found, least=0.0), m, w)
    kind = known.kind
    if exact_curve and computed.lower < computed.upper * _CLOSE:  # an order at which it is out of reach
        kind, low = "upper", max(_attained_ratio(m, w), computed.lower)
    bound = computed if kind == "equal" else Bound(min(low, computed.upper), computed.upper)
    return claim(m, question, Answer(bound, computed, "rdp", kind, known.steps, {}))


def _at_most(bound: Bound, m: Mechanism, omega: Fraction) -> Bound:
    """What is stated or proved for all orders up to ω is a ceiling too."""
    known = fact(m, TruncatedConcentrated)
    if known is None or (known.curve.omega is not None and known.curve.omega < omega):
        return bound
    ceiling = enclosed(known.curve.rho).upper
    return Bound(min(bound.lower, ceiling), min(bound.upper, ceiling))


def _constant(m: Mechanism) -> bool:
    """Whether D_α/α does not depend on α, as for Gaussians."""
    law = fact(m, Loss)
    return law is not None and all(isinstance(pair, NormalPair) for parts in law.curve.directions for pair, _ in parts)
