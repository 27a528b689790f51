"""The trade-off curve: the least false-negative rate an attacker can have at a given false-positive rate."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from tightrope.accounting.ask import checked, claim
from tightrope.accounting.claim import Claim, Question
from tightrope.accounting.routes import Route, exact_route, lower_losses, routes
from tightrope.accounting.solve import Answer
from tightrope.curves.composed_loss import MOST_ATOMS, evaluator
from tightrope.curves.concentrated import joint_failure
from tightrope.curves.contour_profile import contour_profile
from tightrope.curves.loss import Call, FinitePair, Loss, NormalPair, Parts, merged
from tightrope.curves.tradeoff import guarantees_have_tradeoff
from tightrope.errors import NotCertified
from tightrope.mechanisms.base import Mechanism
from tightrope.numerics.balls import Ball, ball, between, lower_float, precision, sharp, upper_float
from tightrope.numerics.bound import Bound
from tightrope.numerics.contour import ContourSum
from tightrope.numerics.exact import Number, near, probability, shortest
from tightrope.numerics.finite import FiniteSum
from tightrope.numerics.normal import quantile, upper_tail
from tightrope.numerics.real import largest
from tightrope.theorems import Source, Step, theorem

_BITS = 192


@theorem(of=Loss, gives=Bound, kind="equal", role="profile", source=Source("dong2022gaussian", "Prop. 2.12"))
def profile_to_tradeoff(call: Call, fpr: Fraction) -> Bound:
    """f(a) = sup over all real ε of 1 − δ(ε) − e^ε·a. Every ε gives a lower bound; chords around the best give an
    upper one."""

    def missed(x: float) -> Ball:
        """δ(x) + e^x a, a convex function of e^x."""
        point = Ball(x)
        return call(point) + point.exp() * ball(fpr)

    with precision(_BITS):
        x = _valley(missed)
        lower = max(lower_float(1 - missed(x)), 0.0)
        return Bound(lower, max(min(_chords(missed, x), Bound.rational(1 - fpr).upper), lower))


def _valley(f: Callable[[float], Ball]) -> float:
    """A float near the minimiser over the real line: outward from 0 by doubling, then golden sections."""
    values: dict[float, Ball] = {}

    def at(x: float) -> Ball:
        if x not in values:
            values[x] = f(x).mid()
        return values[x]

    step, x, before = 1.0, 0.0, 0.0
    direction = 1.0 if at(1e-3) <= at(-1e-3) else -1.0
    while step < 1e18 and at(direction * step) < at(x):
        before, x, step = x, direction * step, step * 2
    left, right = sorted((direction * step, before if x else -direction * step))
    golden = (math.sqrt(5) - 1) / 2
    a, b = right - golden * (right - left), left + golden * (right - left)
    for _ in range(90):
        if at(a) <= at(b):
            right, b = b, a
            a = right - golden * (right - left)
        else:
            left, a = a, b
            b = left + golden * (right - left)
        if right - left < 1e-14 * max(1e-3, abs(left)):
            break
    return min(values, key=lambda p: values[p])


def _chords(f: Callable[[float], Ball], x: float) -> float:
    """An upper bound on 1 − min f, f convex in e^x: chords through points on both sides, extended under the valley."""
    for h in (1e-12, 1e-10, 1e-8, 1e-6, 1e-4, 1e-2, 0.3):
        low, high = x - h, x + h
        middle, left, right = f(x), f(low), f(high)
        if left >= middle and right >= middle:
            before, after = Ball(x).exp() - Ball(low).exp(), Ball(high).exp() - Ball(x).exp()
            drop = ((left - middle) * after / before).max((right - middle) * before / after).max(Ball(0))
            return upper_float(1 - middle + drop)
    return 1.0


def _one(parts: Parts, fpr: Fraction) -> Bound:
    if all(isinstance(pair, FinitePair) for pair, _ in parts):
        atoms = FiniteSum([(pair.law, n) for pair, n in parts if isinstance(pair, FinitePair)])
        if atoms.exact and atoms.atoms(MOST_ATOMS) is not None:
            return Bound.around(sharp(lambda: neyman_pearson(atoms, fpr)), 0.0, 1.0)
    whole = merged(parts)
    if len(whole) == 1 and isinstance(whole[0][0], NormalPair):
        mu = whole[0][0].mu
        return Bound.around(sharp(lambda: upper_tail(mu() + quantile(ball(fpr)))), 0.0, 1.0)  # G_μ
    try:
        return profile_to_tradeoff(evaluator(parts).call, fpr)
    except NotCertified:
        contour = contour_profile(Loss(parts))
        if contour is None:
            raise
        return _on_contour(contour.sums[0], fpr)


def _on_contour(total: ContourSum, fpr: Fraction) -> Bound:
    """The valley is sought with float estimates, then three points on one contour prove it."""
    a = near(fpr)
    x = _valley(lambda y: Ball(math.exp(min(total.estimate(y), 0.0)) + a * math.exp(min(y, 700.0))))
    plan = total.plan(x, 1e-14)

    def missed(y: float) -> Ball:
        point = Ball(y)
        return total.call(point, plan) + point.exp() * ball(fpr)

    with precision(plan.bits):
        lower = max(lower_float(1 - missed(x)), 0.0)
        return Bound(lower, max(min(_chords(missed, x), Bound.rational(1 - fpr).upper), lower))


@theorem(
    of=FinitePair,
    gives=Bound,
    kind="equal",
    role="profile",
    source=Source("dong2022gaussian", "Sec. 2.1: Neyman and Pearson"),
)
def neyman_pearson(atoms: FiniteSum, fpr: Fraction) -> Ball:
    """The best test takes outcomes in the order of their loss until the false positives are spent, the last in part."""
    listed = atoms.atoms(MOST_ATOMS)
    assert listed is not None
    missed, left, last = 1 - atoms.infinite(), ball(fpr), Ball(0)
    for value, mass in sorted(listed, key=lambda atom: atom[0].mid(), reverse=True):
        cost = mass * (-value).exp()
        share = (left / cost).min(Ball(1)) if cost > 0 else Ball(1)
        missed, left, last = missed - mass * share, (left - cost).max(Ball(0)), value.mid()
        if left.is_zero():
            break
    # The test just built is attained, whatever the order; no test beats the line through its last outcome.
    return between((1 - atoms.call(last) - last.exp() * ball(fpr)).max(Ball(0)), missed.max(Ball(0)))


def tradeoff(mechanism: Mechanism, fpr: Number) -> Claim:
    """The least false-negative rate of any test of one record's presence with false-positive rate at most ``fpr``.

    Here the lower end is the safe one: no attacker does better.

    >>> from tightrope import Gaussian
    >>> print(f"{tradeoff(Gaussian(sigma=1), fpr=0.05):.10f}")
    0.7404889771
    """
    m = checked(mechanism)
    a = probability("fpr", fpr)
    question = Question("tradeoff", (("fpr", shortest(a)),))
    route = exact_route(m)
    if route is not None:
        try:
            found = _exact(m, a)
        except NotCertified:
            found = None
        if found is not None:
            line = Step(profile_to_tradeoff.id, str(m))
            bound = found if route.kind == "equal" else Bound(found.lower, max(_least_known(m, a), found.lower))
            return claim(m, question, Answer(bound, found, "exact", route.kind, (*route.steps, line), {}))
    return claim(m, question, _from_upper(m, a))


def _exact(m: Mechanism, fpr: Fraction) -> Bound | None:
    from tightrope.accounting.facts import fact

    law = fact(m, Loss)
    assert law is not None
    if fpr == 1:
        return Bound(0.0, 0.0)
    if fpr == 0:  # the best ε runs to ∞: what remains is the mass that gives the record away
        leaks = [joint_failure([(pair.infinite(), n) for pair, n in parts]) for parts in law.curve.directions]
        return Bound.around(sharp(lambda: 1 - largest(leaks).ball()), 0.0, 1.0)
    found = [_one(parts, fpr) for parts in law.curve.directions]
    return Bound(min(b.lower for b in found), min(b.upper for b in found))


def _from_upper(m: Mechanism, fpr: Fraction) -> Answer:
    """From bounds on δ(ε): f ≥ max(1 − δ − e^ε a, e^{−ε}(1 − δ − a)) at each of a ladder of ε."""
    best, chosen, witness = 0.0, None, {}
    for route in routes(m):
        if route.name == "rdp-optimal":
            continue  # a ladder of its searches would take seconds
        try:
            value, at = _ladder(route, fpr)
        except NotCertified:
            continue
        if value > best or chosen is None:
            best, chosen, witness = value, route, at
    high = _least_known(m, fpr)
    steps = () if chosen is None else (*chosen.steps, Step(profile_to_tradeoff.id, str(m)))
    bound = Bound(min(best, high), high)
    return Answer(bound, Bound(best, best), "none" if chosen is None else chosen.name, "upper", steps, witness)


def _ladder(route: Route, fpr: Fraction) -> tuple[float, dict[str, Fraction]]:
    profile = route.build()

    def value(x: Fraction) -> float:
        proved = profile.prove(x, profile.find(x))
        with precision(128):
            return lower_float(guarantees_have_tradeoff((ball(x),), (proved,), ball(fpr)))

    ladder = [Fraction(0), *(Fraction(2) ** k for k in range(-8, 7))]
    best = max(ladder, key=value)
    for factor in (Fraction(3, 2), Fraction(5, 4), Fraction(9, 8), Fraction(17, 16)):
        best = max((best / factor, best, best * factor), key=value)
    return max(value(best), 0.0), {"epsilon": best}


def _least_known(m: Mechanism, fpr: Fraction) -> float:
    """The largest least rate that is still possible: guessing misses 1 − fpr, and attained laws allow less."""
    found = [Bound.rational(1 - fpr).upper]
    for law, _ in lower_losses(m):
        try:
            found.append(min(_one(parts, fpr).upper for parts in law.directions))
        except NotCertified:
            continue
    return min(found)
