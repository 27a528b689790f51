"""Rényi bounds to a hockey-stick bound against brute-force maximisation over two-point laws."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from fractions import Fraction

import mpmath as mp
import pytest

from tightrope.numerics.balls import INFINITY, Ball, ball, lower_float, precision, upper_float
from tightrope.numerics.sums.two_point import (
    curve_search,
    curve_upper,
    one_order_lower,
    one_order_search,
    one_order_upper,
)

F = Fraction
Constraint = tuple[float, float]  # order, divergence


def divergence(order: float, p: mp.mpf, q: mp.mpf) -> mp.mpf:
    """D_order of (p, 1−p) from (q, 1−q), by definition."""
    return mp.log(p**order * q ** (1 - order) + (1 - p) ** order * (1 - q) ** (1 - order)) / (order - 1)


def least_q(order: float, tau: float, p: mp.mpf) -> mp.mpf:
    """The smaller q with D_order(p‖q) = tau, by halving the logarithm."""
    low, high = mp.log(p) - tau * 2 + 2 * mp.log(p) / (order - 1) - 2, mp.log(p)
    for _ in range(46):
        middle = (low + high) / 2
        low, high = (middle, high) if divergence(order, p, mp.exp(middle)) > tau else (low, middle)
    return mp.exp(high)


def brute(constraints: list[Constraint], x: float, rounds: int = 8) -> mp.mpf:
    """max p − e^x q over feasible p < 1, by a grid in the logit of p that closes in on its best cell."""

    def value(logit: mp.mpf) -> mp.mpf:
        p = 1 / (1 + mp.exp(-logit))
        return p - mp.exp(x) * max(least_q(order, tau, p) for order, tau in constraints)

    low, high = mp.mpf(-40), mp.mpf(30)
    best = mp.mpf(0)
    for _ in range(rounds):
        points = [low + (high - low) * i / 10 for i in range(11)]
        values = [value(at) for at in points]
        top = max(range(11), key=values.__getitem__)
        low, high, best = points[max(top - 1, 0)], points[min(top + 1, 10)], max(best, values[top])
    return best


VALUES = [
    ("10", "0.5", "1", "4.2574532227447077971e-4"),
    ("2", "0.5", "1", "0.089702291035800434704"),
    ("32", "0.1", "0.2", "0.000505153089603306"),
    ("1.5", "0.3", "0.7", "0.119665740729758645"),
    ("2", "1", "3", "0.0224811623681413359"),
]


@pytest.mark.parametrize(("order", "tau", "x", "value"), VALUES)
def test_one_order_values(order: str, tau: str, x: str, value: str) -> None:
    with precision(100):
        upper = upper_float(one_order_upper(F(order), ball(F(tau)), ball(F(x))))
    log_delta, x0 = one_order_search(float(order), float(tau), float(x))
    assert upper == pytest.approx(float(value), rel=1e-14)
    assert math.exp(log_delta) == pytest.approx(float(value), rel=1e-12)
    assert 0 < x0 < 1


def test_certain_event_branch_is_closed() -> None:
    with precision(100):
        assert one_order_upper(F(3), ball(F(2)), ball(F(1, 2))).overlaps(-(Ball(-1.5)).expm1())
        edge = Ball(2).log()
        both = [upper_float(one_order_upper(F(2), edge + Ball(d), Ball(0))) for d in ("1e-9", "-1e-9")]
    assert both[0] == pytest.approx(0.5, rel=1e-8)
    assert both[1] == pytest.approx(0.5, rel=1e-8)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(
    ("order", "tau", "x"),
    [
        (1.2, 0.4, 0.1),
        (2.0, 0.05, 0.0),
        (2.5, 1.5, 1.8),
        (6.0, 0.3, -0.5),
        (20.0, 2.0, 2.4),
        (99.0, 0.02, 0.1),
    ],
)
def test_one_order_against_brute_force(order: float, tau: float, x: float) -> None:
    with mp.workdps(18):
        found = brute([(order, tau)], x)
    with precision(100):
        upper = upper_float(one_order_upper(F(order), ball(F(tau)), ball(F(x))))
    assert upper >= float(found) * (1 - 1e-13)
    assert upper == pytest.approx(float(found), rel=1e-6)


def test_every_trial_is_above_every_feasible_point() -> None:
    rng = random.Random(7)
    with precision(100):
        for _ in range(100):
            order, x = F(rng.randint(11, 400), 10), F(rng.randint(-20, 60), 10)
            p = F(rng.randint(1, 999), 1000) * F(1, 10 ** rng.randint(0, 3))
            q = p * F(rng.randint(1, 999), 1000)
            tau = float(divergence(float(order), mp.mpf(float(p)), mp.mpf(float(q)))) * (1 + 1e-12)
            value = ball(p) - ball(x).exp() * ball(q)
            for x0 in (None, F(0), F(rng.randint(0, 1000), 1000), F(1)):
                assert not one_order_upper(order, ball(F(tau)), ball(x), x0).upper() < value


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_certificate_has_teeth() -> None:
    """A proof of one per cent less would contradict a feasible pair; the best trial beats the classic one."""
    for order, tau, x, _ in VALUES:
        log_delta, x0 = one_order_search(float(order), float(tau), float(x))
        with precision(100):
            upper = one_order_upper(F(order), ball(F(tau)), ball(F(x))).upper()
            classic = one_order_upper(F(order), ball(F(tau)), ball(F(x)), F(0))
            grid = [p for k in range(100) if (p := F(math.exp(log_delta + k / 16))) <= 1]
            lower = max(lower_float(one_order_lower(F(order), ball(F(tau)), ball(F(x)), p)) for p in grid)
        assert lower_float(upper) * 0.99 < lower <= upper_float(upper)
        assert upper < classic
        assert x0 < 1


def test_lower_points_are_feasible() -> None:
    """The pair behind a lower bound satisfies the constraint in fifty digits, not only in floats."""
    rng = random.Random(11)
    with precision(160), mp.workdps(50):
        for _ in range(60):
            order, tau = rng.randint(11, 90) / 8, rng.randint(1, 80) / 64
            p, x = F(rng.randint(1, 255), 256), F(rng.randint(0, 4), 64)
            found = one_order_lower(F(order), ball(F(tau)), ball(x), p)
            if found.is_zero():
                continue
            q = (ball(p) - found) / ball(x).exp()
            point = mp.mpf(p.numerator) / p.denominator, mp.mpf(q.mid().str(50, radius=False))
            assert divergence(order, *point) <= mp.mpf(tau)
            assert divergence(order, *point) >= mp.mpf(tau) * (1 - mp.mpf("1e-9"))


def test_zero_trial_is_the_classic_bound() -> None:
    with precision(100):
        a, tau, x = Ball(10), ball(F(1, 2)), Ball(1)
        classic = ((a - 1) * (tau - x)).exp() * (1 - 1 / a) ** a / (a - 1)
        assert abs(one_order_upper(F(10), tau, x, F(0)) - classic) < classic * Ball("1e-25")


@pytest.mark.parametrize("order", ["1.000001", "1.5", "10", "1000", "1e12"])
def test_any_size_is_bracketed_or_at_least_sound(order: str) -> None:
    """A bound in [0, 1], never NaN, above the event that is certain and not above the classic bound."""
    for tau in ("0", "1e-300", "1e-20", "0.001", "2", "1000", "1e300"):
        for x in ("-100", "-1e-9", "0", "1e-300", "1e-6", "3", "700", "1e5", "1e308"):
            with precision(120):
                upper = one_order_upper(F(order), ball(F(tau)), ball(F(x)))
                classic = one_order_upper(F(order), ball(F(tau)), ball(F(x)), F(0))
                certain = one_order_lower(F(order), ball(F(tau)), ball(F(x)), F(1))
            assert 0 <= upper_float(upper) <= 1 + 1e-12
            if classic > Ball("1e-1000000"):
                assert not upper.upper() > classic.upper() * (1 + Ball("1e-6"))
            assert not certain.lower() > upper.upper()


DEEP = [("60", "1", "9"), ("900", "0.5", "3"), ("3", "1e-30", "5"), ("2", "1e-200", "1e-100")]


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_deep_tails_are_tight() -> None:
    for order, tau, x in DEEP:
        log_delta, _ = one_order_search(float(order), float(tau), float(x))
        with precision(200):
            upper = one_order_upper(F(order), ball(F(tau)), ball(F(x)))
            start = Ball(log_delta).exp()
            least = F(2) ** math.floor(log_delta / math.log(2))
            points = [F(k, 64) for k in range(1, 65)] + [least * F(2 ** (k / 8)) for k in range(160)]
            feasible = [one_order_lower(F(order), ball(F(tau)), ball(F(x)), p) / start for p in points]
            lower = max(float(one.lower()) for one in feasible)
            assert float((upper / start).upper()) == pytest.approx(1, rel=1e-9)
        assert 0.98 < lower <= 1 + 1e-9


def zcdp(rho: Fraction) -> tuple[Callable[[float], float], Callable[[Fraction], Ball]]:
    return (lambda order: float(rho) * order), (lambda order: ball(rho * order))


def steps(table: dict[int, Fraction]) -> tuple[Callable[[float], float], Callable[[Fraction], Ball]]:
    """Divergences known at a few orders: rounded up to the next of them, unknown beyond."""

    def at(order: Fraction) -> Fraction | None:
        return next((table[o] for o in sorted(table) if order <= o), None)

    def floats(order: float) -> float:
        value = at(F(order))
        return math.inf if value is None else float(value)

    def balls(order: Fraction) -> Ball:
        value = at(order)
        return INFINITY if value is None else ball(value)

    return floats, balls


def test_curve_value() -> None:
    floats, balls = zcdp(F(1, 10))
    log_delta, cuts = curve_search(floats, 1.0)
    with precision(100):
        upper = upper_float(curve_upper(balls, Ball(1), cuts))
    assert math.exp(log_delta) == pytest.approx(0.00868230785992, rel=1e-10)
    assert 0.0086823078599 < upper < 0.00868230785992 * (1 + 1e-8)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(
    ("rho", "x"),
    [
        ("0.1", "0"),
        ("0.1", "-1"),
        ("5", "1"),
        ("5", "40"),
        ("1e-6", "0.02"),
        ("0.5", "30"),
    ],
)
def test_curve_bound_meets_the_search(rho: str, x: str) -> None:
    floats, balls = zcdp(F(rho))
    log_delta, cuts = curve_search(floats, float(x))
    with precision(160):
        upper = curve_upper(balls, ball(F(x)), cuts).upper()
        assert abs(upper / Ball(log_delta).exp() - 1) < Ball("1e-6")
        for order in (F(3, 2), F(3), F(10), F(60)):  # one order alone cannot be better
            assert not upper > one_order_upper(order, balls(order), ball(F(x))).upper() * (1 + Ball("1e-6"))


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("x", ["0.5", "1.5"])
def test_curve_with_two_active_orders_against_brute_force(x: str) -> None:
    table = {2: F(1, 10), 8: F(1, 2), 32: F(3)}
    floats, balls = steps(table)
    log_delta, cuts = curve_search(floats, float(x))
    with mp.workdps(18):
        found = float(brute([(float(o), float(t)) for o, t in table.items()], float(x), 10))
    with precision(100):
        upper = upper_float(curve_upper(balls, ball(F(x)), cuts))
    assert upper >= found * (1 - 1e-12)
    assert upper == pytest.approx(found, rel=1e-6)
    assert math.exp(log_delta) == pytest.approx(found, rel=1e-6)


def test_two_orders_are_better_than_each() -> None:
    floats, balls = steps({2: F(1, 10), 8: F(1, 2)})
    _, cuts = curve_search(floats, 0.5)
    with precision(100):
        both = curve_upper(balls, ball(F(1, 2)), cuts).upper()
        alone = [one_order_upper(F(o), balls(F(o)), ball(F(1, 2))) for o in (2, 8)]
        assert all(both < one * Ball(0.999) for one in alone)


def test_any_cuts_are_valid() -> None:
    """Random cuts never go below the optimum of the curve (found by brute force over a grid of orders)."""
    rng = random.Random(3)
    _, balls = zcdp(F(1, 10))
    with precision(100):
        for _ in range(200):
            cuts = []
            for _ in range(rng.randint(1, 3)):
                p = F(rng.randint(2, 1000), 1000 * 10 ** rng.randint(0, 3))
                cuts.append((p, p * F(rng.randint(1, 999), 1000), 1 + F(rng.randint(1, 400), 20)))
            assert curve_upper(balls, Ball(1), cuts).upper() > Ball("0.008682307859")


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_curve_extremes_are_sound() -> None:
    for rho, x in (("1e-300", "1"), ("1e300", "1"), ("0.1", "1e12"), ("1e9", "1e9"), ("0.1", "1e-300")):
        floats, balls = zcdp(F(rho))
        _, cuts = curve_search(floats, float(x))
        with precision(100):
            assert 0 <= upper_float(curve_upper(balls, ball(F(x)), cuts)) <= 1 + 1e-12
    log_delta, cuts = curve_search(lambda order: math.inf, 1.0)  # noqa: ARG005
    assert (log_delta, cuts) == (0.0, [])
    assert curve_upper(lambda order: INFINITY, Ball(1), [(F(1, 2), F(1, 4), F(2))]) == 1  # noqa: ARG005
    assert one_order_upper(F(2), INFINITY, Ball(1)) == 1
    assert one_order_upper(F(2), Ball("nan"), Ball(1)) == 1
