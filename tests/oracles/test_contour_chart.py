"""Contours that serve a stretch, what transforms remember, and valleys: against closed forms."""

import math
from fractions import Fraction

import pytest

import tightrope as tr
from tightrope.accounting.facts import fact
from tightrope.curves.engines.contour_chart import ContourChart, ProfileChart
from tightrope.curves.engines.contour_profile import contour_profile
from tightrope.curves.engines.lesser_direction import bounded_by, chernoff_bound, tilt_to_the_leak
from tightrope.curves.loss import Loss
from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ball, precision
from tightrope.numerics.contour.integral import ContourSum
from tightrope.numerics.normal import normal_call
from tightrope.numerics.real import Real
from tightrope.numerics.transforms import memory as recall
from tightrope.numerics.transforms.closed import NormalTransform
from tightrope.numerics.transforms.sampled import SampledNormalTransform
from tightrope.numerics.valley import chord_bound, valley

MU = 3  # nine normal losses of μ = 1
RUN = tr.Gaussian(1).poisson("0.01") * 1000
TRUTH = Fraction("2.6655719247617912e-6")  # δ(2), by an independent inversion


def normal_sum():
    return ContourSum([(NormalTransform(Real(Fraction(1))), MU**2)])


def test_a_few_contours_serve_a_long_stretch():
    chart = ContourChart(normal_sum())
    for k in range(-20, 120):
        x = Fraction(k, 3)
        value = chart.call(x)
        with precision(256):
            exact = normal_call(Ball(MU), ball(x))
            assert value.contains(exact)
            assert value.rad() < exact * Ball(10) ** -10
    assert len(chart._sheets) <= 5


def test_points_in_any_order_agree():
    rising, falling = ContourChart(normal_sum()), ContourChart(normal_sum())
    points = [Fraction(k) for k in range(0, 30, 3)]
    up = {x: rising.call(x) for x in points}
    down = {x: falling.call(x) for x in reversed(points)}
    assert all(up[x].overlaps(down[x]) for x in points)
    assert all(int(down[x].rel_accuracy_bits()) >= 36 for x in points)


def test_a_stretch_that_is_too_dear_is_served_point_by_point(monkeypatch):
    total = normal_sum()
    plan = total.plan

    def narrow(x, relative, spread=0.0):
        if spread:
            raise NotCertified("a contour", "too dear")
        return plan(x, relative)

    monkeypatch.setattr(total, "plan", narrow)
    chart = ContourChart(total)
    for x in (Fraction(1), Fraction(2)):
        with precision(256):
            assert chart.call(x).contains(normal_call(Ball(MU), ball(x)))
    assert len(chart._sheets) == 2


def test_a_contour_that_does_not_reach_is_replaced(monkeypatch):
    """However far a sheet claims to reach, an enclosure that is too wide is not kept."""
    total = normal_sum()
    monkeypatch.setattr(total, "curvature", lambda _: 400.0)
    plan = total.plan
    monkeypatch.setattr(total, "plan", lambda x, relative, *_: plan(x, relative))
    chart = ContourChart(total)
    value = chart.call(Fraction(1))
    with precision(256):
        assert value.contains(normal_call(Ball(MU), Ball(1)))
    assert int(value.rel_accuracy_bits()) >= 36
    assert len(chart._sheets) == 2


def test_both_directions():
    profile = contour_profile(fact(RUN, Loss).curve)
    chart = ProfileChart(profile.sums)
    backwards = ProfileChart(profile.sums[::-1])  # the lesser direction first: then both are integrated
    for value in (chart.delta(Fraction(2)), backwards.delta(Fraction(2))):
        with precision(200):
            assert abs(value - ball(TRUTH)) < ball(TRUTH) / 10**10


def test_the_lesser_direction():
    adding = contour_profile(fact(RUN, Loss).curve).sums[1]
    level = math.log(float(TRUTH))
    t = bounded_by(adding, 2.0, level)
    bound = chernoff_bound(adding, Fraction(2), t)
    with precision(128):
        assert bound.contains(ContourChart(adding).call(Fraction(2)))
        assert bound <= ball(TRUTH)
    assert bounded_by(adding, 2.0, -100.0) is None
    with pytest.raises(NotCertified, match="t > 0"):
        chernoff_bound(adding, Fraction(2), Fraction(0))


def test_next_to_nothing_but_the_mass_at_infinity():
    """δ(ε) = m + (1 − m)·δ of the rest: far out the rest is 10⁻³⁰ of m, and m itself is the answer."""
    rest = tr.Gaussian(1).poisson("0.01") * 1000
    m = rest + tr.LeakyInput("1e-9")
    for epsilon in (0, 2, 5, 6, 8, 20):
        claim = tr.delta(m, epsilon)
        truth = Fraction(1, 10**9) + (1 - Fraction(1, 10**9)) * Fraction(tr.delta(rest, epsilon).upper)
        assert Fraction(claim.lower) <= truth
        assert claim.tight
        assert float(truth) == pytest.approx(claim.upper, rel=1e-11)
        assert claim.upper - claim.lower <= 1e-11 * claim.upper
        assert tr.check(claim.to_json())
    leaky = contour_profile(fact(m, Loss).curve)
    assert tilt_to_the_leak(leaky.sums[0], 20.0) is not None
    assert tilt_to_the_leak(leaky.sums[0], 1.0) is None
    assert tilt_to_the_leak(normal_sum(), 20.0) is None
    chart = ContourChart(leaky.sums[0])
    with precision(128):
        assert abs(chart.call(Fraction(20)) - ball(Fraction(1, 10**9))) < 1e-20
    assert not chart._sheets


def test_what_is_remembered_is_what_is_asked():
    asked, fresh = (SampledNormalTransform(Real(Fraction(1)), Fraction(1, 100), adding=False) for _ in range(2))
    t, eta, y = Fraction(3), Fraction(1, 4), Fraction(5)
    with precision(80):
        for _ in range(2):
            assert recall.log_real(asked, t).overlaps(fresh.log_real(t))
            assert abs(recall.decay(asked, t, y) / fresh.decay(t, y) - 1) < 1e-9
            scale, nodes = recall.line(asked, t, eta, 8)
            assert scale.overlaps(fresh.line(t, eta, 8)[0])
            assert len(nodes) == 9
        wide = recall.log_real(asked, Fraction(5, 2)).rad()
    with precision(200):
        assert recall.log_real(asked, Fraction(5, 2)).rad() < wide  # another precision is another question
    assert recall.log_floats(asked, [1.0, 2.0]) is recall.log_floats(asked, [1.0, 2.0])
    assert recall.float_line(asked, 3.0, 0.25, 8) is recall.float_line(asked, 3.0, 0.25, 8)


def test_little_is_remembered():
    transform = NormalTransform(Real(Fraction(1)))
    for k in range(1, 300):
        recall.log_real(transform, Fraction(k))
        recall.line(transform, Fraction(k), Fraction(1), 2)
    kept = vars(transform)["_recalled"]
    assert len(kept["real"]) <= 100
    assert len(kept["line"]) <= 6


@pytest.mark.parametrize("a", [1e-12, 0.01, 1.0, 50.0, 1e9])
def test_valleys(a):
    """a·e^x + e^{−x} is least at −½ ln a, where it is 2√a; it is convex in e^x."""
    truth = -math.log(a) / 2

    def balls(x):
        return Ball(a) * Ball(x).exp() + (-Ball(x)).exp()

    with precision(128):
        assert valley(balls) == pytest.approx(truth, abs=1e-6)
        for x in (truth + 1e-5, truth + 1e-3):
            bound = chord_bound(balls, x, 1e-7)
            assert -2 * math.sqrt(a) <= bound <= -2 * math.sqrt(a) * (1 - 1e-3)
        assert chord_bound(balls, truth + 2) is None
