"""Normal tails, quantiles and profiles against quadrature of their definitions."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import mpmath as mp
import pytest
from flint import arb, ctx
from quick_numbers import flint, integral, to_mpmath

from tightrope.numerics.balls import INFINITY, Ball, ball, between, certain, precision, sharp
from tightrope.numerics.normal import normal_call, quantile, unequal_call, unequal_tail, upper_tail

F = Fraction


def close(b: Ball, reference: mp.mpf, digits: int) -> bool:
    """Whether the ball is narrow and the reference lies within its own error of it."""
    with precision(200):
        low, high = (mp.mpf(end.mid().str(60, radius=False)) for end in (b.lower(), b.upper()))
    slack = abs(reference) * mp.mpf(10) ** -digits
    return low - slack <= reference <= high + slack and high - low <= slack


def density(z, m, s):
    z = (z - m) / s
    return (-z * z / 2).exp() / (s * (2 * arb.pi()).sqrt())


def by_definition(m1: F, s1: F, m2: F, s2: F, x: F, breaks: list[float]) -> mp.mpf:
    """∫ (dP − e^x dQ)₊ between the given breaks, which include the places where the integrand starts."""
    with ctx.workdps(30):
        one, other, e = (flint(m1), flint(s1)), (flint(m2), flint(s2)), flint(x).exp()

        def gap(z, _=False):
            return density(z, *one) - e * density(z, *other)

        positive = [ends for ends in pairwise(breaks) if gap(flint(sum(ends) / 2)) > 0]
        return to_mpmath(sum((integral(gap, ends, 20).real for ends in positive), arb(0)))


@pytest.mark.parametrize(
    ("mu", "x", "value"),
    [
        ("1", "1", "0.126936737506643945801"),
        ("0.5", "3", "3.40091173567352882418e-10"),
        ("0.1", "2", "3.71945072680464044121e-91"),
        ("2", "-1", "0.81968818140421363045"),
        ("1", "0", "0.38292492254802620728"),
        ("1e-4", "1e-4", "8.3319636399252095518e-6"),
    ],
)
def test_profile_values(mu: str, x: str, value: str) -> None:
    with mp.workdps(30):
        assert close(sharp(lambda: normal_call(ball(F(mu)), ball(F(x)))), mp.mpf(value), 17)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(("mu", "x"), [("1", "0.7"), ("3", "-2"), ("0.25", "1"), ("6", "20"), ("12", "3")])
def test_profile_is_the_integral_of_the_positive_part(mu: str, x: str) -> None:
    m, e = F(mu), F(x)
    start = float(e / m + m / 2)  # dP > e^x dQ exactly right of here
    value = by_definition(m, F(1), F(0), F(1), e, [start, start + 1, start + 4, start + 12, start + 60])
    assert close(sharp(lambda: normal_call(ball(m), ball(e))), value, 12)


CANCELLING = [("1e-12", "1e-12"), ("1e-9", "3e-9"), ("1e-30", "2e-30"), ("1e-25", "1e-28"), ("1e-6", "2e-5")]


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_profile_in_small_differences_follows_the_rate_integral() -> None:
    """δ = ∫₀^μ φ(x/s − s/2) ds has a positive integrand: an oracle where the closed form cancels."""
    with mp.workdps(40):
        for mu, x in CANCELLING:
            m, e = mp.mpf(mu), mp.mpf(x)
            near = [mp.mpf(2) ** -k for k in range(14, 0, -1)]
            knots = [0, *(1 - v for v in reversed(near)), 1] if e > m else [0, *near, 1]
            peak = mp.npdf(e / m - m / 2)  # scaled by it, since quad stops at an absolute error

            def rate(v: mp.mpf, m: mp.mpf = m, e: mp.mpf = e, peak: mp.mpf = peak) -> mp.mpf:
                return mp.npdf(e / (m * v) - m * v / 2) / peak if v else mp.mpf(0)

            value = m * peak * mp.quad(rate, knots)
            assert close(sharp(lambda mu=mu, x=x: normal_call(ball(F(mu)), ball(F(x))), bits=110), value, 28)


SIZES = ["1e-300", "1e-40", "1e-8", "0.03", "1", "9", "1e4", "1e20", "1e300"]


def test_profile_is_known_relatively_at_every_size() -> None:
    deep = Ball("1e-1000000000")
    for mu in SIZES:
        for x in [*SIZES, "1e308", "1e400"]:
            for sign in (1, -1):
                value = sharp(lambda mu=mu, x=x, sign=sign: normal_call(ball(F(mu)), ball(sign * F(x))))
                assert value.is_finite()
                assert certain(value, 60) or value.upper() < deep
                with precision(200):
                    finer = normal_call(ball(F(mu)), ball(sign * F(x)))
                assert finer.overlaps(value)


def test_profile_rises_in_mu_and_falls_in_x_across_the_forms() -> None:
    """The forms (closed, Mills, series) meet without a jump: a wide ball holds what lies inside it."""
    with precision(100):
        for mu in (F(1, 2**70), F(1, 2**40), F(1, 8), F(3), F(2**12)):
            for x in (F(1, 2**70), F(1, 2**20), F(1), F(300), F(2**30)):
                near = normal_call(ball(mu), ball(x))
                more = normal_call(ball(mu * F(5, 4)), ball(x))
                later = normal_call(ball(mu), ball(x * F(5, 4)))
                assert not near > more
                assert not near < later
                wide = normal_call(between(ball(mu), ball(mu * F(5, 4))), between(ball(x), ball(x * F(5, 4))))
                assert all(wide.overlaps(v) for v in (near, more, later))


def test_limits() -> None:
    with precision(100):
        assert normal_call(Ball(0), Ball(3)).is_zero()
        assert normal_call(Ball(0), Ball(-1)).overlaps(1 - Ball(-1).exp())
        assert normal_call(Ball(2), INFINITY).is_zero()
        assert normal_call(Ball(2), -INFINITY) == 1
        wide = normal_call(Ball(1), Ball(0, 1e300))
        for unknown in (normal_call(Ball("nan"), Ball(1)), upper_tail(Ball("nan")), wide):
            assert unknown.is_finite()
            assert unknown.contains(Ball(0.1))


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("x", ["-40", "-3", "-1e-30", "0.1", "2", "11", "40"])
def test_upper_tail(x: str) -> None:
    at = mp.mpf(x)
    depth = 1 + abs(at)  # scaled by φ(x), since quad stops at an absolute error
    scaled = mp.quad(lambda u: mp.exp(-(u**2) / 2 - abs(at) * u), [k / depth for k in range(50)])
    value = mp.npdf(at) * scaled if at > 0 else 1 - mp.npdf(at) * scaled
    assert close(sharp(lambda: upper_tail(ball(F(x)))), value, 12)


def test_upper_tail_far_out() -> None:
    with precision(100):
        far = upper_tail(ball(F("1e300")))
        assert far.is_finite()
        assert Ball(0) < far.upper() < Ball("1e-100000")
        assert upper_tail(ball(F("-1e300"))).overlaps(Ball(1))
        assert certain(upper_tail(ball(F("1e5"))), 50)


def test_quantile_inverts_the_tail() -> None:
    for p in ("1e-300", "1e-1000", "1e-9", "0.2", "0.4999999", "0.75", "0.999999"):
        x = sharp(lambda p=p: quantile(ball(F(p))))
        assert certain(x, 60)
        with precision(90):
            low, high = upper_tail(-x.lower()), upper_tail(-x.upper())
            assert not low > ball(F(p))
            assert not high < ball(F(p))
            assert abs(high - low) < ball(F(p)) * Ball("1e-13")
    assert quantile(ball(F(1, 2))).is_zero()
    with precision(100):
        assert not quantile(between(Ball(0), Ball(0.5))).is_finite()


PAIRS = [
    ((F(1), F(11, 10)), (F(0), F(1)), F(1, 2)),
    ((F(0), F(1)), (F(1), F(11, 10)), F(1, 2)),
    ((F(-1), F(3)), (F(2), F(1, 2)), F(-1)),
    ((F(2), F(1, 2)), (F(-1), F(3)), F(1)),
    ((F(0), F(2)), (F(0), F(1)), F(1, 4)),
    ((F(0), F(1)), (F(0), F(2)), F(-2)),
    ((F(0), F(1)), (F(0), F(2)), F(1)),
    ((F(0), F(2)), (F(0), F(1)), F(-3)),
    ((F(1), F(1)), (F(0), F(1)), F(1)),
]


@pytest.mark.parametrize(("first", "second", "x"), PAIRS)
def test_unequal_pair_by_definition(first: tuple[F, F], second: tuple[F, F], x: F) -> None:
    def loss(z: float) -> float:
        (m1, s1), (m2, s2) = first, second
        quadratic = (z - m2) ** 2 / (2 * s2**2) - (z - m1) ** 2 / (2 * s1**2)
        return float(quadratic) + float(mp.log(float(s2 / s1))) - float(x)

    grid = [k / 4 for k in range(-200, 201)]
    ends = [
        float(mp.findroot(loss, (a, b), solver="anderson")) for a, b in pairwise(grid) if (loss(a) > 0) != (loss(b) > 0)
    ]
    breaks = sorted({-50.0, -20.0, -8.0, -3.0, 0.0, 3.0, 8.0, 20.0, 50.0, *ends})
    value = by_definition(*first, *second, x, breaks)
    found = sharp(lambda: unequal_call(*first, *second, ball(x)))
    assert close(found, value, 11) if value else found.is_zero()
    (m1, s1), inside = first, [(a, b) for a, b in pairwise(breaks) if loss((a + b) / 2) > 0]
    with ctx.workdps(30):
        wide = flint(m1), flint(s1)
        tail = to_mpmath(sum((integral(lambda z, _: density(z, *wide), ends, 20).real for ends in inside), arb(0)))
    found = sharp(lambda: unequal_tail(*first, *second, ball(x)))
    assert close(found, tail, 11) if tail else found.is_zero()


def test_unequal_values() -> None:
    a, b, x = (F(1), F(11, 10)), (F(0), F(1)), ball(F(1, 2))
    assert close(unequal_call(*a, *b, x), mp.mpf("0.24011236796149553902"), 13)
    assert close(unequal_call(*b, *a, x), mp.mpf("0.20052552886937039678"), 13)


def test_unequal_extremes_are_finite_and_dual() -> None:
    """H_γ(P‖Q) = 1 − γ + γ H_{1/γ}(Q‖P) ties the two directions, roots and all."""
    with precision(100):
        for s in (1 + F(1, 10**300), 1 + F(1, 10**9), F(3), F(10**300)):
            for d in (F(0), F(1, 10**20), F(1), F(10**20)):
                for x in ("1e-20", "1", "30", "1e10", "1e308"):
                    e = ball(F(x))
                    one, other = unequal_call(d, s, F(0), F(1), -e), unequal_call(F(0), F(1), d, s, e)
                    assert one.is_finite()
                    assert other.is_finite()
                    assert one.overlaps(-(-e).expm1() + (-e).exp() * other)


def test_nearly_equal_variances_approach_the_equal_ones() -> None:
    equal = sharp(lambda: unequal_call(F(1), F(1), F(0), F(1), ball(F(1))))
    near = sharp(lambda: unequal_call(F(1), 1 + F(1, 10**40), F(0), F(1), ball(F(1))))
    assert abs(equal - near) < Ball("1e-17")
