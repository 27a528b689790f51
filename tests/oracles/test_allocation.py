"""Random allocation: each record in one of t runs. Moments by enumeration, profiles by quadrature, t = 2 on the plane."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
from mpmath import exp, log, mp, mpf, npdf, quad

import tightrope as tr
from tightrope.curves.renyi import KnownOrders, LinearRenyi
from tightrope.curves.shared_records import AllocatedRenyi, renyi_of_allocation
from tightrope.numerics.allocation_moments import allocation_cumulant
from tightrope.numerics.balls import ball, precision, sharp
from tightrope.numerics.real import real

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
        assert found.lower <= float(truth) <= found.upper
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

    return [quad(lambda x, s=s: npdf(x) * inner(x, s), [-9, -4, -2, 0, 2, 4, 9]) for s in (1, -1)]


@pytest.mark.parametrize(("mu", "eps"), [("1", "0.2"), ("1", "1"), ("2", "0.5")])
def test_the_profile_on_the_plane(mu, eps):
    found = tr.delta(tr.Gaussian(1, mu).allocated(2), epsilon=eps)
    worst = float(max(plane_delta(mu, eps)))
    assert found.lower <= worst * (1 + 1e-9)
    assert worst <= found.upper * (1 + 1e-9)


def test_never_worse_than_one_run_nor_better_than_the_largest_answer():
    for steps in (2, 30, 1000):
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
