"""Windowed contours under replace, against quadrature of two steps, closed forms, and grids."""

import json
from dataclasses import replace
from fractions import Fraction
from functools import partial

import mpmath as mp
import numpy as np
import pytest
from exchange_truth import exchanged, two_exchanges
from mixture_truth import beside_answers, beside_laplace, contains, ends, profile

from tightrope.curves.engines.windowed_witness import read_plan, written_plan
from tightrope.errors import NotCertified
from tightrope.numerics import effort
from tightrope.numerics.balls import ball, precision
from tightrope.numerics.real import Real
from tightrope.numerics.windowed.floats import FloatOthers
from tightrope.numerics.windowed.integral import WindowProof
from tightrope.numerics.windowed.parts import Sampler, WindowLaw
from tightrope.numerics.windowed.total import WindowedSum


def step(sigma, rate, copies=1):
    return f"gaussian(sigma={sigma}).poisson({rate}, relation=replace) * {copies}"


def of(sigma, rate):
    return 1 / mp.mpf(sigma), mp.mpf(rate)


def proved(text, x):
    found = profile(text)
    return found.prove(Fraction(x), found.find(Fraction(x)))


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(
    ("first", "second", "x"),
    [
        (("1", "0.01"), ("1", "0.01"), "0.05"),
        (("1", "0.01"), ("2", "0.1"), "0.7"),
        (("0.7", "0.001"), ("3", "0.0004"), "4"),
        (("5", "0.0001"), ("1", "0.00003"), "0.002"),
        (("0.4", "0.05"), ("0.5", "0.02"), "3"),
        (("2", "0.3"), ("2", "0.3"), "0"),
        (("0.5", "0.9"), ("1.5", "0.6"), "2"),
    ],
)
def test_two_steps(first, second, x):
    text = step(*first, 2) if first == second else f"{step(*first)} + {step(*second)}"
    value = proved(text, x)
    with mp.workdps(22):
        truth = two_exchanges(of(*first), of(*second), mp.mpf(x))
        assert contains(value, truth, 1e-11)
        low, high = ends(value)
        assert high - low < truth * mp.mpf("1e-7")


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(
    ("sigma", "rate", "x"), [("1", "0.01", "0.5"), ("0.3", "0.001", "9"), ("6", "0.0002", "0.251")]
)
def test_beside_laplace(sigma, rate, x):
    value = proved(f"{step(sigma, rate)} + laplace(scale=4)", x)
    with mp.workdps(22):
        truth = beside_laplace(partial(exchanged, *of(sigma, rate)), mp.mpf("0.25"), mp.mpf(x))
        assert contains(value, truth, 1e-9)
        assert value.rad() < value.mid() * 1e-7


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(("sigma", "rate", "x"), [("1", "0.01", "2"), ("0.3", "0.001", "9"), ("6", "0.0002", "1.501")])
def test_beside_answers(sigma, rate, x):
    value = proved(f"{step(sigma, rate)} + randomized_response(epsilon=0.5) * 3", x)
    with mp.workdps(22):
        truth = beside_answers(partial(exchanged, *of(sigma, rate)), mp.mpf("0.5"), 3, mp.mpf(x))
        assert contains(value, truth, 1e-9)
        assert value.rad() < value.mid() * 1e-7


def plan_of(sigma, rate, copies, x):
    found = profile(step(sigma, rate, copies))
    return found.steps._laws[0], found.steps.plan(float(x), *found.steps.estimate(float(x)))


def close_plan():
    """Two steps with little noise, whose DEEP border is so near that nearly all of the width comes from there."""
    law, plan = plan_of("0.5", "0.05", 2, 1)
    parts = replace(plan.pieces[0].split, start=Fraction(-6), deep=Fraction(-2))
    parts = replace(parts, low=None, high=Fraction(4), low_cut=Fraction(7), cut=Fraction(7), blur=Fraction(1, 4))
    piece = replace(plan.pieces[0], split=parts, put=Fraction(5, 4), low_end=Fraction(7), angle=Fraction(1))
    line = {"t": Fraction(1, 2), "eta": Fraction(1, 8), "count": 1500, "bits": 60, "above": Fraction(3, 2)}
    return law, replace(
        plan, pieces=(replace(piece, low_angle=Fraction(0)),), **line, below=None, deep_tilt=Fraction(1, 2)
    )


def truth_of(sigma, rate, x):
    with mp.workdps(22):
        return two_exchanges(of(sigma, rate), of(sigma, rate), mp.mpf(x))


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_deep_steps_count(monkeypatch):
    """Without them the proof falls short of the truth, as it should."""
    law, plan = close_plan()
    truth = truth_of("0.5", "0.05", 1)
    with precision(160):
        proof = WindowProof(law, plan)
        assert contains(proof.call(ball(1)), truth)
        assert proof._high(ball(1)).lower() > 0
        monkeypatch.setattr(WindowProof, "_deep_bounds", lambda *_: (ball(0), ball(0)))
        assert WindowProof(law, plan).call(ball(1)).upper() < truth


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_the_bounds_of_deep_paths(monkeypatch):
    """Two steps: one of them DEEP, the other HIGH, or not; by their chance, and at a tilt."""
    law, plan = close_plan()
    with precision(160):
        proof = WindowProof(law, plan)
        one = proof._steps[0]
        high, deep, (moment, cut) = one.shares("high")[0], one.deep_shares()[0], one.deep_moment(plan.deep_tilt + 1)
        chance, chernoff = proof._deep
        assert chance.overlaps(2 * deep)
        whole = one.moment("middle", plan.deep_tilt + 1) + moment
        factor = ball(plan.deep_tilt) ** ball(plan.deep_tilt) / ball(plan.deep_tilt + 1) ** ball(plan.deep_tilt + 1)
        assert abs(chernoff / (factor * 2 * moment * whole) - 1) < 1e-4
        monkeypatch.setattr(WindowProof, "_deep_bounds", lambda *_: (ball(0), ball(0)))
        less = WindowProof(law, plan)._lost
        assert abs((proof._lost - less) / (4 * high * deep + 2 * cut) - 1) < 1e-4


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_deep_paths_count_by_the_lesser_bound():
    law, plan = close_plan()
    with precision(160):
        proof = WindowProof(law, plan)
        width = proof.call(ball(1)).rad()
        proof._deep = ball(0), proof._deep[1]
        none = proof.call(ball(1)).rad()
        assert width > none
        proof._deep = ball(Fraction(1, 10**4)), ball(1)
        assert abs((proof.call(ball(1)).rad() - none) * 2 - ball(Fraction(1, 10**4))) < 1e-9
        proof._deep = ball(1), ball(Fraction(1, 10**4))
        expected = (ball(-plan.deep_tilt) * 1).exp() / 10**4
        assert abs((proof.call(ball(1)).rad() - none) * 2 - expected) < 1e-9


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_paths_with_a_high_step_have_none_deep():
    """P_H and Q_H without those that have a DEEP step, too; with them the lower end would be too high."""
    law, plan = close_plan()
    with precision(160):
        proof = WindowProof(law, plan)
        mass, reverse = proof._high_mass, proof._high_reverse
        one = proof._steps[0]
        high, deep = one.shares("high"), one.deep_shares()
        for got, h, d in zip((mass, reverse), high, deep, strict=True):
            expected = (1 - d) ** 2 - (1 - d - h) ** 2
            assert got.overlaps(expected)
            assert got.rad() < got.mid() * 1e-3
            assert got < 1 - (1 - h) ** 2


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_a_put_has_the_moment_of_the_steps_that_are_not_deep():
    law, plan = close_plan()
    with precision(160):
        proof = WindowProof(law, plan)
        ((v, put),) = proof._puts
        one = proof._steps[0]
        whole = sum((one.moment(kind, 1 - v) for kind in ("middle", "high")), ball(0))
        factor = ball(v - 1) ** ball(v - 1) / ball(v) ** ball(v)
        expected = factor * 2 * one.moment("high", 1 - v) * whole
        assert expected * (1 - ball(Fraction(1, 10**6))) < put.upper() < expected * ball(Fraction(101, 100))


def test_exchanges_are_not_added():
    law, plan = plan_of(1, "0.01", 3, "0.1")
    with pytest.raises(NotCertified, match="exchanged"):
        WindowProof(law, replace(plan, pieces=tuple(_unlow(piece) for piece in plan.pieces)), adding=True)


def _unlow(piece):
    return replace(piece, split=replace(piece.split, low=None))


def test_witnesses_are_read_as_written():
    for text in (step(1, "0.01", 3), "gaussian(sigma=1).poisson(0.01) * 3"):
        found = profile(text)
        plan = found.steps.plan_to(0.1, 0.1, -20.0)
        written = written_plan(plan)
        assert read_plan(json.loads(json.dumps(written, default=str))) == plan
        assert ("deep" in written) == ("start" in written) == ("replace" in text)


@pytest.mark.parametrize("name", ["start", "deep", "deep_tilt"])
def test_a_witness_without_its_lower_border_proves_nothing(name):
    found = profile(step(1, "0.01", 3))
    witness = dict(found.find(Fraction("0.1")))
    del witness[name]
    with pytest.raises(NotCertified):
        found.prove(Fraction("0.1"), witness)


def test_both_directions_exchange_a_record():
    laws = [WindowLaw.of([Sampler(Real(Fraction(1)), Fraction(1, 100), 3, swapped)]) for swapped in (False, True)]
    with pytest.raises(NotCertified, match="one direction"):
        WindowedSum(*laws)


def test_looks_at_dear_parts_are_counted():
    """A search beside parts whose moments take long ends when the work is spent."""

    class Dear:
        tilt_cost, decay_cost = 1e4, 1e6

        def largest(self):
            return None

    others = FloatOthers([(Dear(), 1)])
    with effort.allowed(2e4), pytest.raises(NotCertified, match="work"):
        others.log_moments(np.array([1.0, 2.0]))
    with effort.allowed(2e4), pytest.raises(NotCertified, match="work"):
        others.log_decay(1.0, 1.0)


def unseen(*_):
    raise NotCertified("a windowed contour", "floats do not see the call")


def test_a_root_that_moves_far_is_not_taken_for_zero(monkeypatch):
    """Only where floats see that δ(0) may be that small, a proof at 0 is tried."""
    found = profile(step("1.02", "1.09e-5", 1810000))
    monkeypatch.setattr(type(found), "_near_zero", None)  # nobody may call it
    bound, _ = found.epsilon(Fraction("3.87e-36"))
    assert bound.lower > bound.upper * (1 - 1e-9)
    assert found._may_be_zero(0.0, 1.0)
    beside = profile(f"{step(1, '0.01', 3)} + laplace(scale=4)")  # at 0 floats see nothing, but right above
    assert beside._may_be_zero(0.0, 1.0)
    assert not beside._may_be_zero(-50.0, 1.0)
    monkeypatch.setattr(type(beside.steps), "estimate", unseen)
    assert beside._may_be_zero(-50.0, 1.0)


def test_points_that_floats_do_not_see(monkeypatch):
    found = profile(f"{step(1, '0.01', 3)} + randomized_response(epsilon=0.5)")
    assert found.reach > 0
    monkeypatch.setattr(type(found), "estimate", unseen)
    assert found.epsilons([Fraction(1, 10**n) for n in range(5, 15)]) == [None] * 10
