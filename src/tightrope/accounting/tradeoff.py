"""The trade-off curve: the least false-negative rate an attacker can have at a given false-positive rate."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from tightrope.accounting.ask import checked, claim
from tightrope.accounting.claim import Claim, Question
from tightrope.accounting.facts import fact
from tightrope.accounting.routes import Route, exact_route, lower_losses, routes
from tightrope.accounting.solve import Answer
from tightrope.curves.composed_loss import MOST_ATOMS, evaluator
from tightrope.curves.concentrated import joint_failure
from tightrope.curves.engines.contour_chart import ContourChart
from tightrope.curves.engines.contour_profile import contour_profile
from tightrope.curves.loss import Call, FinitePair, Loss, NormalPair, Parts, merged
from tightrope.curves.tradeoff import guarantees_have_tradeoff
from tightrope.errors import NotCertified
from tightrope.mechanisms.base import Mechanism
from tightrope.numerics.balls import Ball, ball, between, lower_float, precision, sharp
from tightrope.numerics.bound import Bound
from tightrope.numerics.exact import Number, near, probability, shortest
from tightrope.numerics.normal import quantile, upper_tail
from tightrope.numerics.real import largest
from tightrope.numerics.sums.finite import FiniteSum
from tightrope.numerics.valley import chord_bound, float_valley, valley
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
        return _enclosed(missed, valley(missed), fpr)


def _enclosed(missed: Callable[[float], Ball], x: float, fpr: Fraction, finest: float = 1e-12) -> Bound:
    """1 − the least of ``missed``, whose valley is near x."""
    lower = max(lower_float(1 - missed(x)), 0.0)
    upper = chord_bound(lambda y: missed(y) - 1, x, finest)
    guessing = Bound.rational(1 - fpr).upper
    return Bound(lower, max(guessing if upper is None else min(upper, guessing), lower))


Curve = Callable[[Fraction], Bound]  # the trade-off of one direction


def _curve(parts: Parts) -> Curve:
    """The trade-off function of one direction; NotCertified when there is no way to it."""
    if all(isinstance(pair, FinitePair) for pair, _ in parts):
        atoms = FiniteSum([(pair.law, n) for pair, n in parts if isinstance(pair, FinitePair)])
        if atoms.exact and atoms.atoms(MOST_ATOMS) is not None:
            return lambda a: Bound.around(sharp(lambda: neyman_pearson(atoms, a)), 0.0, 1.0)
    whole = merged(parts)
    if len(whole) == 1 and isinstance(whole[0][0], NormalPair):
        mu = whole[0][0].mu
        return lambda a: Bound.around(sharp(lambda: upper_tail(mu() + quantile(ball(a)))), 0.0, 1.0)  # G_μ
    try:
        call = evaluator(parts).call
        return lambda a: profile_to_tradeoff(call, a)
    except NotCertified:
        contour = contour_profile(Loss(parts))
        if contour is None:
            raise
        return _ContourCurve(ContourChart(contour.sums[0], 1e-14))


class _ContourCurve:
    """The valley is sought with float estimates, near the last one; then three points on one contour prove it."""

    def __init__(self, chart: ContourChart) -> None:
        self._chart, self._last = chart, 0.0

    def __call__(self, fpr: Fraction) -> Bound:
        a, total = near(fpr), self._chart.total
        x = float_valley(lambda y: math.exp(min(total.estimate(y), 0.0)) + a * math.exp(min(y, 700.0)), self._last)
        self._last = x

        def missed(y: float) -> Ball:
            value = self._chart.call(Fraction(y))
            with precision(_BITS):
                return value + Ball(y).exp() * ball(fpr)

        with precision(_BITS):
            return _enclosed(missed, x, fpr, finest=1e-7)


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
    return tradeoffs(checked(mechanism), [probability("fpr", fpr)])[0]


def tradeoffs(m: Mechanism, fprs: Sequence[Fraction]) -> list[Claim]:
    """The same at many false-positive rates, which share their work."""
    route = exact_route(m)
    law = fact(m, Loss)
    exact = None if law is None else _Directions(law.curve)
    found = {a: _answered(m, a, route, exact) for a in sorted(set(fprs), reverse=True)}  # so that ε rises
    return [found[a] for a in fprs]


def _answered(m: Mechanism, a: Fraction, route: Route | None, exact: _Directions | None) -> Claim:
    question = Question("tradeoff", (("fpr", shortest(a)),))
    found = None if exact is None else exact.at(a)
    if found is None or route is None:
        return claim(m, question, _from_upper(m, a))
    line = Step(profile_to_tradeoff.id, str(m))
    bound = found if route.kind == "equal" else Bound(found.lower, max(_least_known(m, a), found.lower))
    return claim(m, question, Answer(bound, found, "exact", route.kind, (*route.steps, line), {}))


class _Directions:
    """The trade-off of a loss: the lesser of both directions."""

    def __init__(self, law: Loss) -> None:
        self._law = law
        self._curves: list[Curve] | None = None

    def at(self, fpr: Fraction) -> Bound | None:
        """The trade-off at one point; None when it was not certified."""
        if fpr == 1:
            return Bound(0.0, 0.0)
        if fpr == 0:  # the best ε runs to ∞: what remains is the mass that gives the record away
            leaks = [joint_failure([(pair.infinite(), n) for pair, n in parts]) for parts in self._law.directions]
            return Bound.around(sharp(lambda: 1 - largest(leaks).ball()), 0.0, 1.0)
        try:
            self._curves = self._curves or [_curve(parts) for parts in self._law.directions]
            found = [curve(fpr) for curve in self._curves]
        except NotCertified:
            return None
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
            found.append(min(_curve(parts)(fpr).upper for parts in law.directions))
        except NotCertified:
            continue
    return min(found)
