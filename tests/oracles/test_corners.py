"""Corners that other tests pass by: long distances, refusals, notebook pages, sampled tails, small helpers."""

import math
from fractions import Fraction

import mpmath as mp
import pytest

import tightrope as tr
from tightrope.accounting.facts import fact
from tightrope.accounting.instances import gaussian_instance
from tightrope.curves.loss import Loss
from tightrope.curves.profile_renyi import IntegratedRenyi, profile_has_renyi
from tightrope.curves.sampled.glued import Glued
from tightrope.curves.sampled.poisson import PoissonAdd, PoissonRemove
from tightrope.curves.tradeoff import TradeOff, inverse
from tightrope.mechanisms.discrete_laplace import DiscreteLaplacePair
from tightrope.numerics.balls import Ball, ball, precision
from tightrope.numerics.bound import Bound
from tightrope.numerics.real import Real, real
from tightrope.numerics.sums.finite import FiniteSum, on_lattice, scattered


def laplace_rows(scale, shift):
    """Both rows of the discrete Laplace pair far beyond what matters."""
    r = mp.e ** (-1 / mp.mpf(scale))
    norm = (1 - r) / (1 + r)
    points = range(-400, shift + 400)
    return [norm * r ** abs(k) for k in points], [norm * r ** abs(k - shift) for k in points]


@pytest.mark.parametrize(("scale", "shift"), [(2, 3), (5, 7), (3, 1)])
def test_the_closed_form_of_the_discrete_laplace_pair(scale, shift):
    """The pair for long distances, held to the definition at short ones."""
    pair = DiscreteLaplacePair(Fraction(scale), shift)
    with mp.workdps(30), precision(120):
        p, q = laplace_rows(scale, shift)
        for x in ("-0.9", "-0.1", "0", "0.13", "0.4", "1.1", "3"):
            e = mp.mpf(x)
            truth = sum(max(a - mp.e**e * b, 0) for a, b in zip(p, q, strict=True))
            assert abs(mp.mpf(pair.call(ball(Fraction(x))).str(25, radius=False)) - truth) < mp.mpf("1e-18")
            above = sum(a for a, b in zip(p, q, strict=True) if mp.log(a / b) > e + mp.mpf("1e-20"))
            assert abs(mp.mpf(pair.tail(ball(Fraction(x))).str(25, radius=False)) - above) < mp.mpf("1e-18")
        moment = mp.log(sum(a * mp.e ** (mp.mpf("1.5") * mp.log(a / b)) for a, b in zip(p, q, strict=True)))
        assert abs(mp.mpf(pair.cumulant(Fraction(3, 2)).str(25, radius=False)) - moment) < mp.mpf("1e-15")


def test_a_long_distance_answers_once():
    m = tr.DiscreteLaplace(scale=1000, sensitivity=2000)
    listed = tr.DiscreteLaplace(scale=500, sensitivity=1000)
    found = tr.epsilon(m, 1e-5)
    assert found.tight
    assert 1.9 < found.lower <= found.upper <= 2
    assert abs(found.upper - tr.epsilon(listed, 1e-5).upper) < 1e-2
    assert tr.pure(m).upper == 2
    assert tr.zcdp(m).upper < 2


@pytest.mark.parametrize("base", [tr.Gaussian(1), tr.Laplace(1)])
def test_tails_of_sampled_losses_are_what_the_profile_says(base):
    """P[L > x] is −e^{−x}-weighted slope of δ: δ(x) − δ(x + h) lies between the tails times (1 − e^{−h})-like terms."""
    pair = fact(base, Loss).curve.remove[0][0]
    for sampled in (
        PoissonRemove(pair, Fraction(3, 10)),
        PoissonAdd(pair, pair, Fraction(3, 10)),
        Glued(pair, Fraction(3, 10)),
    ):
        with precision(120):
            for x in (Fraction(-1, 7), Fraction(1, 9), Fraction(1, 5)):
                h = Fraction(1, 10**6)
                low, high = sampled.tail(ball(x)), sampled.tail(ball(x + h))
                # With g = e^x, dδ/dg = −Q[L > x] and P[L > x] = δ(x) + g·Q[L > x].
                g0, g1 = ball(x).exp(), ball(x + h).exp()
                slope = (sampled.call(ball(x)) - sampled.call(ball(x + h))) / (g1 - g0)
                assert sampled.call(ball(x + h)) + g0 * slope <= low + Ball("1e-9")
                assert sampled.call(ball(x)) + g1 * slope >= high - Ball("1e-9")
        assert sampled.mean() is None
        assert sampled.largest().infinite or sampled.largest().ball() > 0


def test_edges_of_sampled_profiles():
    pair = fact(tr.Laplace(1), Loss).curve.remove[0][0]
    with precision(100):
        remove = PoissonRemove(pair, Fraction(1, 2))
        assert remove.call(Ball(-5)).overlaps(1 - Ball(-5).exp())
        assert remove.tail(Ball(-5)) == 1
        add = PoissonAdd(pair, pair, Fraction(1, 2))
        assert add.call(Ball(5)) == 0
        assert add.tail(Ball(5)) == 0
        wide = Ball(0).union(Ball(1))
        assert add.call(wide).upper() >= 0
        assert Glued(pair, Fraction(1, 2)).tail(wide).overlaps(Ball(0.5))
        assert PoissonAdd(pair, pair, Fraction(1)).largest() is not None


def test_dpsgd_in_all_samplers():
    fixed = tr.dpsgd(1.1, batch_size=10, dataset_size=1000, steps=5, sampler="fixed")
    assert str(fixed) == "gaussian(sigma=1.1, sensitivity=2).without_replacement(10, 1000) * 5"
    shuffled = tr.dpsgd(1.1, sample_rate=0.01, epochs=3, sampler="shuffle")
    assert str(shuffled) == "gaussian(sigma=1.1, sensitivity=2).shuffled_batches(100) * 3"
    assert tr.dpsgd(1.1, sample_rate="1/100", steps=250, sampler="shuffle") == shuffled
    for wrong in (
        {"sample_rate": 0.1, "batch_size": 3, "steps": 1},
        {"batch_size": 3, "steps": 1},
        {"batch_size": 30, "dataset_size": 3, "steps": 1},
        {"sample_rate": 0.1, "steps": 1, "epochs": 1},
        {"sample_rate": 0, "epochs": 1},
        {"sample_rate": 0.1, "steps": 5, "sampler": "fixed"},
        {"sample_rate": 0.1, "sampler": "shuffle"},
        {"sample_rate": 0.1, "steps": 5, "sampler": "cyclic"},
    ):
        with pytest.raises(tr.BadParameter):
            tr.dpsgd(1, **wrong)


def test_notebook_pages_and_small_forms():
    found = tr.epsilon(tr.ZCDP(0.1) * 3 + tr.Pure(0.1), 1e-5)
    assert "<table>" in found._repr_html_()
    assert "zcdp" in found._repr_html_()
    assert str(found) == f"{found}"
    compared = tr.compare(tr.Gaussian(1).poisson(0.1) * 100, 1e-5)
    assert "<table>" in compared._repr_html_()
    assert compared["rdp"].value >= compared.best.value
    with pytest.raises(KeyError, match="there are exact, "):
        compared["nonsense"]
    assert tr.compare(tr.Parallel(tr.Laplace(1), tr.Gaussian(2)), 1e-5).best.value > 1
    calibrated = tr.calibrate("gaussian(sigma=?)", epsilon=1, delta=1e-5)
    assert float(calibrated) == calibrated.value
    assert "boundary" in str(calibrated)
    assert "no further value" in str(tr.calibrate("gaussian(sigma=100).poisson(?)", epsilon=1, delta=1e-5))
    with pytest.raises(tr.NotCertified):
        tr.calibrate("gaussian(sigma=1) * ?", epsilon=0.1, delta=1e-5)
    with pytest.raises(tr.BadText):
        tr.calibrate("gaussian(sigma=1)", epsilon=1, delta=1e-5)
    with pytest.raises(tr.BadParameter):
        tr.calibrate(lambda: tr.Gaussian(1), epsilon=1, delta=1e-5)
    with pytest.raises(tr.BadParameter):
        tr.calibrate("gaussian(sigma=?)", epsilon=1, rho=1)


def test_bounds():
    assert 0.5 in Bound(0.4, 0.6)
    assert Bound(0.5, 0.5).gap == 0
    assert abs(Bound(0.9, 1.0).gap - 0.1) < 1e-12
    assert Bound(0.0, math.inf).gap == math.inf
    assert Bound.rational(Fraction(-(10**400))).lower == -math.inf
    with pytest.raises(AssertionError):
        Bound(1.0, 0.0)


def test_tradeoff_polygons_at_their_ends():
    leaky = TradeOff(((Fraction(0), Fraction(9, 10)), (Fraction(1, 2), Fraction(0)), (Fraction(1), Fraction(0))))
    assert leaky.at(Fraction(1)) == 0
    assert leaky.at(Fraction(3, 4)) == 0
    assert "corners" in str(leaky)
    assert inverse(leaky).at(Fraction(0)) == Fraction(1, 2)


def test_long_lattice_tails():
    """The tail of a long sum: P[S > x] by an exact binomial."""
    law = on_lattice(real(1), {1: real(Fraction(3, 4)), -1: real(Fraction(1, 4))})
    copies = 9000
    total = FiniteSum([(law, copies)])
    with precision(100):
        found = total.tail(Ball(4599.5))
    least = (copies + 4600) // 2
    with mp.workdps(40):
        truth = mp.nsum(
            lambda k: mp.binomial(copies, k) * mp.mpf(3) ** k / mp.mpf(4) ** copies, [least, least + 600], method="d"
        )
        assert abs(mp.mpf(found.str(20, radius=False)) / truth - 1) < mp.mpf("1e-12")


def test_a_grid_for_incommensurable_atoms():
    """Square roots lie on no lattice; the grid's ball must hold the sum over all outcomes."""
    roots = [Real(None, lambda n=n: ball(Fraction(n)).sqrt() / 10) for n in (2, 3, 5, 6)]
    law = scattered([*roots, real(0)], [real(Fraction(1, 5))] * 5)
    total = FiniteSum([(law, 40)])
    with precision(80):
        assert not total.exact or total.atoms(10) is None
        low, high = total.call(Ball(1)), total.call(Ball(8))
        assert 0 <= high.upper() <= low.upper() <= 1
        assert total.tail(Ball(6)).upper() >= total.call(Ball(6)).lower()


def test_contours_far_and_near():
    run = tr.Gaussian(1).poisson("0.01") * 1000
    assert tr.delta(run, 0).tight
    small = tr.epsilon(run, "0.2")
    assert small.upper == 0 or small.tight
    mixed = tr.Gaussian(3) + tr.Laplace(10) * 3 + tr.LeakyInput("1e-7")
    assert tr.epsilon(mixed, "1e-9").upper == math.inf
    found = tr.epsilon(mixed, "1e-5")
    assert found.tight
    assert tr.check(found.to_json())
    assert tr.delta(tr.Laplace(1).poisson("0.1") * 200, 1).tight
    assert (
        tr.renyi(tr.DiscreteGaussian(3).without_replacement(10, 100), 3).upper
        < tr.renyi(tr.DiscreteGaussian(3), 3).upper
    )


def test_renyi_from_a_profile_needs_a_bounded_loss():
    normal = fact(tr.Gaussian(1), Loss).curve
    assert profile_has_renyi(normal) is None
    assert math.isinf(IntegratedRenyi(normal).approximate(2.0))
    assert not IntegratedRenyi(normal).divergence(Fraction(2)).is_finite()
    nothing = fact(tr.Laplace(1) * 0, Loss).curve
    assert profile_has_renyi(nothing) is None
    many = fact(tr.RandomizedResponse(1, k=4).poisson("0.01") * 1000, Loss).curve
    assert profile_has_renyi(many) is None  # bounded, but without a closed form
    response = fact(tr.RandomizedResponse(1), Loss).curve
    with precision(100):
        found = IntegratedRenyi(response).divergence(Fraction(10))
    assert abs(float(found.mid()) - 0.9651931464538415) < 1e-12
    assert abs(IntegratedRenyi(response).approximate(10.0) - 0.9651931464538415) < 1e-3


def test_gaussian_instances_only_for_concentrated_statements():
    assert gaussian_instance(tr.Pure(1)) is None
    assert gaussian_instance(tr.CDP("0.1", 1)).rational == Fraction(1, 5)
    assert gaussian_instance(tr.RDP({2: "0.1", 8: "0.2"})).rational == Fraction(1, 20)


def test_numbers_of_numpy_and_decimal():
    import decimal

    import numpy as np

    same = [
        tr.Gaussian(x) for x in ("0.1", 0.1, Fraction(1, 10), decimal.Decimal("0.1"), np.float64(0.1), np.float32(0.1))
    ]
    assert len(set(same)) == 1
    assert tr.Gaussian(np.int32(3)) == tr.Gaussian(3)
    assert tr.epsilon(tr.Gaussian(1), 1e-5) <= decimal.Decimal("4.4")
    assert tr.epsilon(tr.Gaussian(1), 1e-5) <= "4.4"
    with pytest.raises(tr.BadParameter, match="Compare a claim with a number"):
        assert tr.epsilon(tr.Gaussian(1), 1e-5) <= "four"
