"""Random allocation: each record in one of t runs. Moments by enumeration, two runs on the plane, more by Fourier."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from mpmath import exp, log, mp, mpf, npdf, quad
from sharing_checks import mean_of_lognormals

import tightrope as tr
from tightrope.accounting.routes import route_named
from tightrope.accounting.solve import epsilon_by
from tightrope.curves.renyi import KnownOrders, LinearRenyi
from tightrope.curves.sampled.allocated import loss_of_allocation
from tightrope.curves.shared_records import AllocatedRenyi, renyi_of_allocation
from tightrope.mechanisms.gaussian import gaussian_mechanism_loss
from tightrope.numerics.balls import Ball, ball, precision, sharp
from tightrope.numerics.mean_density import MeanDensity
from tightrope.numerics.moments.allocated import allocation_cumulant
from tightrope.numerics.real import real
from tightrope.numerics.windowed.power import windowed_power

F = Fraction


def removing(mu, steps, order):
    """ln E[(mean of t densities)^α], by all α-tuples of places."""
    total = mpf(0)
    for places in product(range(steps), repeat=order):
        counts = [places.count(i) for i in range(steps)]
        total += exp(sum(mpf(mu) ** 2 * k * (k - 1) / 2 for k in counts))
    return log(total / mpf(steps) ** order)


@pytest.mark.parametrize(("mu", "steps", "order"), [("1", 2, 2), ("1", 2, 3), ("0.5", 3, 4), ("2", 4, 3)])
def test_moments_by_enumeration(mu, steps, order):
    with precision(128):
        found = allocation_cumulant(steps, order, lambda k: ball(F(mu) ** 2 * k * (k - 1) / 2))
        assert abs(float(found.mid()) - float(removing(mu, steps, order))) < 1e-15


def curve(sigma, steps):
    return AllocatedRenyi(LinearRenyi(real(F(1, 2) / F(sigma) ** 2)), steps)


VECTORS = {
    ("1", 2, 2): "0.62011450695827752463",
    ("1", 2, 3): "0.97722929639662027327",
    ("1", 10, 4): "0.36668268440967285068",
    ("2", 100, 8): "0.011363213579404178205",
}


@pytest.mark.parametrize("case", VECTORS)
def test_vectors(case):
    sigma, steps, order = case
    found = sharp(lambda: curve(sigma, steps)._removing(F(order)))
    assert abs(float(found.mid()) - float(VECTORS[case])) < 1e-16


def test_the_add_direction_is_bounded():
    """t = 2, σ = 1: D_α(Q‖P̄) from the plane is below what is claimed for both directions."""
    for order, truth in ((2, "0.569042599955093"), (3, "0.840120246657219"), (8, "2.14554703632219")):
        found = tr.renyi(tr.Gaussian(1).allocated(2), order)
        assert float(truth) <= found.upper
        bound = sharp(lambda o=order: LinearRenyi(real(F(1, 2))).divergence(1 + F(o - 1, 2)))
        assert float(truth) <= float(bound.mid())


def test_between_whole_orders_and_beyond():
    with precision(128):
        c = curve("1", 5)
        assert c._removing(F(3, 2)) > 0
        for order in (F(5, 2), F(7, 2)):
            low, high = c._removing(F(int(order))), c._removing(F(int(order) + 1))
            assert low < c._removing(order) < high
        assert not c.divergence(F(65)).is_finite()
        known = AllocatedRenyi(KnownOrders((F(2), F(4)), (F(1, 10), F(1, 5))), 3)
        assert known.top == 4
        assert known.effort == 2
    once = LinearRenyi(real(1))
    assert renyi_of_allocation(once, 1) is once


def plane_delta(mu, eps):
    """Both hockey-sticks of t = 2 by integrating over the plane's second coordinate in closed form."""
    mu, gamma = mpf(mu), exp(mpf(eps))

    def inner(x, sign):
        w = exp(mu * x - mu**2 / 2)
        edge = 2 * gamma - w if sign > 0 else 2 / gamma - w  # the other density must exceed, or stay below, this
        if edge <= 0:
            return (w + 1) / 2 - gamma if sign > 0 else mpf(0)
        y = (log(edge) + mu**2 / 2) / mu
        tail, own = mp.ncdf(-y), mp.ncdf(-(y - mu))
        if sign > 0:
            return (w / 2 - gamma) * tail + own / 2
        return (1 - gamma * w / 2) * (1 - tail) - gamma / 2 * (1 - own)

    kinks = {s: (log(2 * gamma if s > 0 else 2 / gamma) + mu**2 / 2) / mu for s in (1, -1)}  # where the edge is 0
    return [quad(lambda x, s=s: npdf(x) * inner(x, s), sorted([-12, -4, -2, 0, 2, 4, 12, kinks[s]])) for s in (1, -1)]


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(("mu", "eps"), [("1", "0.2"), ("1", "1"), ("2", "0.5")])
def test_the_profile_on_the_plane(mu, eps):
    found = tr.delta(tr.Gaussian(1, mu).allocated(2), epsilon=eps)
    worst = float(max(plane_delta(mu, eps)))
    assert found.tight
    assert math.isclose(found.upper, worst, rel_tol=1e-10)
    assert found.upper - found.lower < 1e-9 * worst


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_never_worse_than_one_run_nor_better_than_the_largest_answer():
    for steps in (2, 10, 1000):
        m = tr.Gaussian(1).allocated(steps)
        claim = tr.epsilon(m, delta=1e-5)
        assert 0 < claim.lower <= claim.upper <= tr.epsilon(tr.Gaussian(1), delta=1e-5).upper * (1 + 1e-12)
        assert tr.check(claim.to_json())
        thrice = tr.epsilon(m * 3, delta=1e-5)
        assert claim.lower <= thrice.lower <= thrice.upper
        assert tr.check(thrice.to_json())


def test_words_and_refusals():
    m = tr.Gaussian(1).allocated(100)
    assert tr.parse(str(m)) == m
    assert m.relation == "add-remove"
    assert tr.epsilon(tr.Gaussian(1).allocated(1), delta=1e-5).bound == tr.epsilon(tr.Gaussian(1), delta=1e-5).bound
    assert tr.pure(tr.Laplace(1).allocated(7)).upper == 1
    assert tr.epsilon(tr.Laplace(1).allocated(7), delta=1e-5).upper <= 1
    assert any("chosen uniformly" in told for told in tr.epsilon(m, delta=1e-5).assumptions)
    for wrong in (0, -3, 0.5, True, None, "many"):
        with pytest.raises(tr.BadParameter):
            tr.Gaussian(1).allocated(wrong)
    with pytest.raises(tr.Unsupported):
        tr.Gaussian(1).poisson(0.1).allocated(3)


# ε at δ = 10⁻⁵, both directions by a Fourier power on 2²⁰ points (floats, about seven digits).
@pytest.mark.parametrize(("sigma", "steps", "eps"), [("2", 64, "0.15"), ("1", 300, "0.2")])
def test_the_profile_of_many_places(sigma, steps, eps):
    mu, gamma = 1 / float(sigma), math.exp(float(eps))
    value, mass = mean_of_lognormals(mu, steps)
    worst = max((mass * np.maximum(value - gamma, 0)).sum(), (mass * np.maximum(1 - gamma * value, 0)).sum())
    found = tr.delta(tr.Gaussian(sigma).allocated(steps), epsilon=eps)
    assert found.tight
    assert abs(found.upper - worst) < 2e-5 * worst
    assert found.upper - found.lower < 1e-9 * found.upper


def test_many_runs_are_certified_at_any_delta():
    m = tr.Gaussian(1).allocated(1000)
    found = tr.epsilon(m, delta=1e-5)
    assert found.tight
    assert math.isclose(found.upper, 0.13884660000937, rel_tol=1e-12)
    assert found.upper - found.lower < 1e-13
    poisson = tr.epsilon(tr.Gaussian(1).poisson("1/1000") * 1000, delta=1e-5)
    assert 0.9 * poisson.upper < found.upper < poisson.upper
    deep = tr.epsilon(m, delta="1e-12")
    assert deep.upper - deep.lower < 1e-9
    assert tr.delta(m, epsilon=40).upper < 1e-100  # far out the moments and Chernoff's bound speak
    assert tr.epsilon(tr.Gaussian(1).allocated(10**18), delta=1e-12).upper < 1  # no integral here, only moments


def two_epochs(mu, steps, eps, top):
    """Σ over the first epoch's Λ of P's mass times δ of the second at ε − ln Λ; and the same the other way round."""
    value, mass = mean_of_lognormals(mu, steps, cells=2**19, top=top)
    keep = (mass > 1e-16) & (value > 0)
    value, mass = value[keep], mass[keep] / mass[keep].sum()
    above = np.concatenate([np.cumsum((mass * value)[::-1])[::-1], [0.0]])
    plain = np.concatenate([np.cumsum(mass[::-1])[::-1], [0.0]])

    def call(gamma):  # Σ mass·(value − γ)₊
        i = np.searchsorted(value, gamma, side="right")
        return above[i] - gamma * plain[i]

    gamma = math.exp(eps)
    remove = (mass * value * call(gamma / value)).sum()
    inverse = 1 / (gamma * value)  # adding: Σ mass·(1 − γΛ′Λ)₊ = Σ mass·(1 − Λ/inverse)₊
    add = (mass * (1 - (1 - call(inverse)) / inverse)).sum()
    return remove, add


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(("sigma", "steps", "eps", "top"), [("2", 100, 0.2, 2.0), ("1", 30, 0.6, 25.0)])
def test_several_epochs_are_exact(sigma, steps, eps, top):
    truth = max(two_epochs(1 / float(sigma), steps, eps, top))
    found = tr.delta(tr.Gaussian(sigma).allocated(steps) * 2, epsilon=F(eps))
    assert found.tight
    assert math.isclose(found.upper, truth, rel_tol=5e-6)
    assert found.upper - found.lower < 1e-9 * truth


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_epochs_are_subadditive_and_bounded_by_poisson_and_moments():
    """Neither end moves when epochs are written one by one; ε rises with them, and stays below that of moments."""
    m = tr.Gaussian(1).allocated(40)
    assert tr.epsilon(m + m + m, delta=1e-6).bound == tr.epsilon(m * 3, delta=1e-6).bound
    found = [tr.epsilon(m * k, delta=1e-6) for k in (1, 3, 10, 100)]
    assert all(claim.tight and claim.upper - claim.lower < 1e-10 for claim in found)
    assert [claim.upper for claim in found] == sorted(claim.upper for claim in found)
    assert found[1].upper < 3 * found[0].upper
    for k, claim in zip((1, 3, 10, 100), found, strict=True):
        assert claim.upper < epsilon_by(route_named(m * k, "rdp"), F(1, 10**6)).bound.upper
        assert tr.check(claim.to_json())
    assert math.isclose(tr.epsilon(m * 10, delta=1e-6).upper, 3.2915804609514, rel_tol=1e-12)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_allocation_beside_other_parts():
    """A part that costs nothing changes nothing; Gaussian, Laplace and Poisson parts add up to less than their sum."""
    m = tr.Gaussian(1).allocated(40) * 2
    alone = tr.epsilon(m, delta=1e-6).upper
    assert math.isclose(tr.epsilon(m + tr.Gaussian("1e7"), delta=1e-6).upper, alone, rel_tol=1e-5)
    for other in (tr.Gaussian(3), tr.Laplace(5), tr.Gaussian(1).poisson(0.01) * 20, tr.RandomizedResponse("0.1")):
        whole = tr.epsilon(m + other, delta=1e-6)
        assert whole.tight
        assert alone < whole.lower
        assert whole.upper < alone + tr.epsilon(other, delta=1e-7).upper + 0.5
        assert tr.check(whole.to_json())
    leaky = tr.epsilon(m + tr.Approx(1, 1e-9), delta=1e-6)  # what may cost everything is left to other routes
    assert alone < leaky.upper < math.inf


def test_very_small_delta_and_very_large_epsilon():
    m = tr.Gaussian(1).allocated(100)
    deep = tr.epsilon(m, delta="1e-30")
    assert deep.tight
    assert math.isclose(deep.upper, 7.1394984320732, rel_tol=1e-12)
    deeper = tr.epsilon(m, delta="1e-100")
    assert 17 < deeper.lower < deeper.upper < 17.2
    for eps in (60, 1000, 10**308):
        claim = tr.delta(m, epsilon=eps)
        assert claim.lower == 0
        assert claim.upper < 1e-300
        assert tr.check(claim.to_json())
    many = tr.profile(m * 2).delta([0, 0.5, 1, 4, 100])
    uppers = [float(u) for u in many[1]]
    assert uppers == sorted(uppers, reverse=True)
    assert math.isclose(uppers[1], tr.delta(m * 2, epsilon=0.5).upper, rel_tol=1e-9)


def test_no_epsilon_is_needed_from_the_total_variation_on():
    m = tr.Gaussian(10).allocated(50)
    at_zero = tr.delta(m, epsilon=0)
    assert tr.epsilon(m, delta=F(at_zero.upper) * 2).upper == 0
    assert tr.epsilon(m, delta=F(at_zero.upper) / 2).lower > 0


def test_both_directions_in_balls():
    law = loss_of_allocation(gaussian_mechanism_loss(tr.Gaussian(2)), 50)
    remove, add = (parts[0][0] for parts in law.directions)
    with precision(128):
        for x in (ball(F(1, 8)), ball(F(1, 3))):
            assert (-(-x).expm1() + (-x).exp() * add.call(x)).overlaps(remove.call(-x))
            assert add.call(x) < remove.call(x)
        assert remove.tail(ball(F(1, 8))).upper() >= remove.call(ball(F(1, 8)))
        for s in (F(3), F(5, 2), F(200)):  # D at whole and other orders, below the base's and above 0
            assert 0 < remove.cumulant(s).upper() <= remove.base.cumulant(s) * (1 + Ball(2) ** -20)
            assert remove.approximate_cumulants([float(s)])[0] <= float(remove.base.cumulant(s).mid()) * (1 + 1e-12)
        assert add.cumulant(F(10**9)).upper() > 0  # no integral, a bound
        assert math.isclose(add.approximate_cumulants([3.0])[0], float(add.cumulant(F(3)).mid()), rel_tol=1e-6)
    assert remove.mean() is None
    assert remove.largest().infinite
    assert remove.repeated(1) is None
    assert loss_of_allocation(gaussian_mechanism_loss(tr.Gaussian("1e9")), 3) is None
    with precision(1000), pytest.raises(tr.NotCertified):
        MeanDensity(real(1), 100).call(ball(F(1)))


def test_very_many_places_agree_with_fewer():
    """Beyond 10⁵ places one epoch has an integral of its own; it must continue what the contour gives."""
    for steps in (99_999, 100_001):
        claim = tr.delta(tr.Gaussian(1).allocated(steps), epsilon="0.013")
        assert claim.tight
        assert math.isclose(claim.upper, 1.0256e-6, rel_tol=1e-3)
    far = tr.delta(tr.Gaussian(1).allocated(10**6), epsilon=2)
    assert far.upper < 1e-20
    adding = loss_of_allocation(gaussian_mechanism_loss(tr.Gaussian(1)), 10**6).add[0][0]
    with precision(128):
        assert adding.call(ball(F(2))) < Ball(2) ** -1000


def test_many_deltas_share_a_contour():
    m = tr.Gaussian(1).allocated(30) * 2
    lower, upper = tr.profile(m).epsilon([1e-3, 1e-5, 1e-7, 0.9])
    assert list(upper[:3]) == sorted(upper[:3])
    assert upper[3] == 0
    assert math.isclose(upper[1], tr.epsilon(m, delta=1e-5).upper, rel_tol=1e-10)
    assert all(low <= high for low, high in zip(lower, upper, strict=True))
    found = tr.calibrate(lambda sigma: tr.Gaussian(sigma).allocated(30), epsilon=1, delta=1e-6)
    assert found.claim.upper <= 1


@pytest.mark.parametrize("copies", [1, 3, 64])
def test_powers_of_a_lattice_law_never_understate(copies):
    with precision(128):
        masses = [ball(F(1, 2)), ball(F(1, 4)), ball(F(1, 4)) - ball(F(1, 2**60))]
        found = windowed_power([-2, 0, 3], masses, ball(F(1, 2**60)), copies)
        assert (sum(found.masses, found.lost) - 1).overlaps(ball(F(0)))
        mean = sum((mass * (found.first + i) for i, mass in enumerate(found.masses)), ball(F(0)))
        assert mean > (-1 + F(3, 4)).numerator * copies / 4 - 1
        assert windowed_power([0, 40_000], [ball(F(1, 2))] * 2, ball(F(0)), 4) is None
