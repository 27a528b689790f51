"""Roots that windowed contours once missed: each is tight now, and another engine agrees with it."""

from fractions import Fraction

import pytest

import tightrope as tr
from tightrope.accounting.facts import fact
from tightrope.curves.engines.atoms_profile import atoms_profile
from tightrope.curves.engines.contour_profile import contour_profile
from tightrope.curves.engines.grid_profile import grid_profile
from tightrope.curves.engines.windowed_profile import windowed_profile
from tightrope.curves.engines.windowed_witness import read_plan
from tightrope.curves.loss import Loss
from tightrope.numerics import effort
from tightrope.numerics.balls import Ball, ball, precision
from tightrope.numerics.contour.integral import Plan


def gap(claim):
    return (claim.upper - claim.lower) / claim.upper if claim.upper else 0.0


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(
    ("text", "delta"),
    [
        # the period ended just below a root that moved by 0.3 %
        ("gaussian(sigma=0.407).poisson(2.18e-5) * 622 + gaussian(sigma=1.8).poisson(0.016)", "4.99e-32"),
        # secants fall beyond the top atom, where ln δ drops ever faster
        ("laplace(scale=1.29) * 7 + gaussian(sigma=1.67).poisson(3.25e-5) * 1300", "3.97e-5"),
    ],
)
def test_roots_that_secants_missed(text, delta):
    m = tr.parse(text)
    claim = tr.epsilon(m, delta=delta)
    assert claim.witness["way"] == "windowed"
    assert claim.tight
    assert gap(claim) < 1e-9
    other = grid_profile(fact(m, Loss).curve).epsilon(Fraction(delta))[0]
    assert claim.lower <= other.upper
    assert claim.upper >= other.lower


@pytest.mark.parametrize(
    ("text", "delta"),
    [
        ("discrete_gaussian(2.99).poisson(0.00162) + gaussian(4.4).poisson(0.00344) * 14", "3.16e-20"),
        ("gaussian(2.6).poisson(0.00153, replace)*14 + discrete_gaussian(3.09).poisson(0.000696, replace)", "2.42e-18"),
    ],
)
def test_rare_large_losses_of_discrete_noise_do_not_hide_the_root(text, delta):
    loss = fact(tr.parse(text), Loss).curve
    with effort.allowed(1e6):
        bound, _ = windowed_profile(loss).epsilon(Fraction(delta))
    assert bound.lower > bound.upper * (1 - 1e-9)
    with effort.allowed(6e5):
        other = grid_profile(loss).epsilon(Fraction(delta))[0]
    assert other.lower > 0.99 * other.upper
    assert max(bound.lower, other.lower) <= min(bound.upper, other.upper)


def test_adding_a_record_costs_more_just_below_an_atom():
    """Both ends are found there, too: the sum around atoms agrees, and removing alone says less."""
    m = tr.parse("gaussian(sigma=0.718).poisson(7.37e-5) * 2417 + randomized_response(epsilon=1.16, k=14) * 8")
    delta = Fraction("1.15e-8")
    known = windowed_profile(fact(m, Loss).curve)
    bound, witness = known.epsilon(delta)
    assert bound.upper / bound.lower < 1 + 1e-8
    other = atoms_profile(fact(m, Loss).curve).epsilon(delta)[0]
    assert max(bound.lower, other.lower) <= min(bound.upper, other.upper)
    with precision(128):
        assert known.steps.call(Ball(bound.lower), read_plan(witness)) < ball(delta)
    assert tr.check(tr.epsilon(m, delta=delta).to_json())


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_rare_large_losses_beside_atoms_that_nearly_reach():
    """A proof that was planned is made, though much of the work was set aside for a grid."""
    m = tr.parse("laplace(2.41)*3 + randomized_response(0.326)*24 + gaussian(0.661).poisson(3.13e-5)*12606")
    claim = tr.epsilon(m, delta="1.46e-15")
    assert claim.witness["way"] == "windowed"
    assert gap(claim) < 1e-7
    assert claim.lower <= 9.33313201796373  # by graded grids
    assert claim.upper >= 9.333127704724246


def test_a_lesser_direction_that_the_lattice_does_not_see():
    """Six million rare steps: adding a record costs 1 % less, which has to be seen; its contour says so, too."""
    m = tr.parse("gaussian(sigma=14).poisson(1.03e-5) * 6494389")
    claim = tr.epsilon(m, delta="3.67e-16")
    assert claim.tight
    assert gap(claim) < 1e-9
    adding = contour_profile(fact(m, Loss).curve).sums[1]
    plan = adding.plan(claim.upper)
    value = adding.call(Ball(claim.upper), plan)
    assert 0.985 < float(value.mid()) / 3.67e-16 < 0.995


def test_delta_that_is_never_that_large():
    m = tr.parse("gaussian(sigma=3.84).poisson(1.31e-5) * 1894 + gaussian(sigma=3.25).poisson(2.43e-5) * 32469")
    claim = tr.epsilon(m, delta="0.0306")
    assert (claim.lower, claim.upper) == (0.0, 0.0)
    assert tr.delta(m, epsilon=0).upper < 0.0306


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(
    ("sigma", "rate", "steps", "delta"),
    [
        ("1", "0.001", 1000, "1e-100"),
        ("1", "0.001", 100, "1e-300"),
        ("2", "0.004", 1000, "1e-300"),
        ("0.6", "0.004", 100, "1e-300"),
        ("1", "0.01", 30, "1e-300"),
    ],
)
def test_far_out_tails_are_tight(sigma, rate, steps, delta):
    """Here moments outgrow everything within a tenth of the tilt. The best Rényi bound is near, and above."""
    m = tr.Gaussian(sigma).poisson(rate) * steps
    claim = tr.epsilon(m, delta=delta)
    assert claim.tight
    assert gap(claim) < 1e-9
    chernoff = next(row.value for row in tr.compare(m, delta=delta).rows if row.route == "rdp-optimal")
    assert 0.9 * chernoff < claim.upper <= chernoff


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(
    ("sigma", "rate", "steps", "delta", "flat"),
    [
        ("3.241", "0.00448", 19184, "1e-218", Plan(Fraction(76), Fraction(7, 8), 128, 240)),
        ("4.428", "0.000511", 41709, "1e-183", Plan(Fraction(200), Fraction(9, 4), 512, 464)),
    ],
)
def test_one_large_step_and_many_small_ones(sigma, rate, steps, delta, flat):
    """No saddle tells how likely both together are: estimates are 20 nats and more too large. A flat contour of the
    whole law agrees with what is found."""
    m = tr.Gaussian(sigma).poisson(rate) * steps
    claim = tr.epsilon(m, delta=delta)
    assert claim.tight
    assert gap(claim) < 1e-9
    total = contour_profile(fact(m, Loss).curve).sums[0]
    with precision(flat.bits + 64):
        above, below = (total.call(Ball(x), flat) for x in (claim.lower, claim.upper))
        assert above.upper() > ball(Fraction(delta))
        assert below.lower() < ball(Fraction(delta))
        assert above.rad() < above.mid() / 10**6
