"""Windowed contours of mixtures by plans spoilt at random: whatever they prove is true, in both directions.

A poor plan makes every error term of the proof large at some time, so that none can be forgotten.
"""

import math
import random
from dataclasses import fields, replace
from fractions import Fraction

import numpy as np
import pytest
from mixture_calls import added, beside_laplace, beside_step, beside_table, removed

import tightrope as tr
from tightrope.accounting.facts import fact
from tightrope.curves.engines.contour_profile import contour_profile
from tightrope.curves.engines.windowed_profile import windowed_profile
from tightrope.curves.loss import Loss
from tightrope.errors import NotCertified
from tightrope.numerics.balls import ball, between, precision
from tightrope.numerics.windowed.integral import WindowProof

# Neither is the other's reverse, each has outcomes that the other does not know, and masses at ∞ differ.
P = [Fraction(n, 1000) for n in (600, 280, 60, 60, 0)]
Q = [Fraction(n, 1000) for n in (300, 500, 190, 0, 10)]
WRONG = 1e-8  # of the quadrature


def beside_answers(rate, copies):
    """Sampled steps beside skewed tables."""
    calls = []
    for adding in (False, True):
        one = added if adding else removed
        two = beside_step(lambda y, one=one: one(1.0, float(rate), y), 1.0, float(rate), adding)
        calls.append(beside_table(two, *((Q, P) if adding else (P, Q)), copies))
    return tr.Gaussian(1).poisson(rate) * 2 + tr.Table(P, Q) * copies, calls


def beside_noise():
    """Two kinds of steps beside Laplace noise."""
    calls = []
    for adding in (False, True):
        one = added if adding else removed
        two = beside_step(lambda y, one=one: one(0.5, 0.4, y), 1.0, 0.3, adding)
        calls.append(beside_laplace(two, 1.25))
    return tr.Gaussian(1).poisson("0.3") + tr.Gaussian(2).poisson("0.4") + tr.Laplace("0.8"), calls


def alone():
    """Two steps and nothing else."""
    calls = [
        beside_step(lambda y, one=one: one(1.0, 0.3, y), 1.0, 0.3, adding)
        for one, adding in ((removed, False), (added, True))
    ]
    return tr.Gaussian(1).poisson("0.3") * 2, calls


CASES = [
    ("rare", False, "1.7", -15),
    ("rare", False, "2.2", -15),
    ("rare", True, "1.7", -8),
    ("usual", False, "0.4", -9),
    ("usual", False, "2.2", -11),
    ("usual", True, "0.9", -9),
    ("usual", True, "2.2", -9),
    ("noise", False, "0.4", -8),
    ("noise", False, "2.2", -11),
    ("noise", True, "0.4", -8),
    ("alone", False, "0.4", -10),
    ("alone", False, "2.2", -13),
    ("alone", True, "0.1", -8),
]


@pytest.fixture(scope="module")
def known():
    """For each law its sum, and its calls."""
    laws = {
        "rare": beside_answers("0.02", 2),
        "usual": beside_answers("0.3", 2),
        "noise": beside_noise(),
        "alone": alone(),
    }
    return {name: (windowed_profile(fact(law, Loss).curve).steps, calls) for name, (law, calls) in laws.items()}


def spoilt(plan, chance):
    """The plan with some numbers changed."""

    def scaled(value):
        off = Fraction(round(4096 * 10 ** chance.uniform(-0.5, 0.5)), 4096)
        return max(1, round(value * off)) if isinstance(value, int) else value * off

    def changed(part, names):
        some = [name for name in names if getattr(part, name) is not None and chance.random() < 0.25]
        return replace(part, **{name: scaled(getattr(part, name)) for name in some})

    pieces = []
    for piece in plan.pieces:
        new = changed(piece, [f.name for f in fields(piece) if f.name != "split"])
        shift = Fraction(chance.randint(-3072, 512), 1024) * chance.randint(0, 1)  # borders move together, and apart
        split = replace(piece.split, high=piece.split.high + shift, cut=piece.split.cut + shift)
        pieces.append(replace(new, split=changed(split, [f.name for f in fields(split)])))
    new = changed(plan, ["t", "eta", "count", "above", "below", "all_low"])
    return replace(new, pieces=tuple(pieces), below=new.below if chance.random() < 0.8 else None)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(("name", "adding", "x", "level"), CASES)
def test_no_plan_proves_a_falsehood(known, name, adding, x, level):
    steps, calls = known[name]
    truth = float(calls[adding](np.array([float(x)]))[0])
    plan, told = steps.plan_to(float(x), float(x), float(level), adding), 0
    chance = random.Random(f"{name} {adding} {x}")
    for _ in range(30):
        trial = spoilt(plan, chance)
        try:
            with precision(100):
                value = steps.call(ball(Fraction(x)), trial, adding)
        except NotCertified:
            continue
        if not value.is_finite():
            continue
        with precision(53):
            low, high = float(value.lower()), float(value.upper())
        assert low <= truth * (1 + WRONG), trial
        assert high >= truth * (1 - WRONG), trial
        told += high - low < 0.5 * truth
    assert told >= 3  # so that a term left out is seen
    with precision(100):
        value = steps.call(ball(Fraction(x)), plan, adding)
        assert value.overlaps(ball(Fraction(truth)) * (1 + between(ball(Fraction(-WRONG)), ball(Fraction(WRONG)))))
        assert value.rad() < math.exp(level + 2)


@pytest.mark.parametrize("eta", ["1.5", "2.5", "3.7", "5", "8"])
def test_short_periods(known, eta):
    """The losses of the other parts decide how far up there are aliases."""
    steps, calls = known["usual"]
    truth = float(calls[True](np.array([0.4]))[0])
    plan = steps.plan_to(0.4, 0.4, -9.0, True)
    trial = replace(plan, eta=Fraction(eta), count=math.ceil(plan.eta * plan.count / Fraction(eta)))
    with precision(100):
        value = steps.call(ball(Fraction("0.4")), trial, True)
        assert value.lower() <= ball(Fraction(truth * (1 + WRONG)))
        assert value.upper() >= ball(Fraction(truth * (1 - WRONG)))


def test_the_largest_loss_counts_every_part(known):
    """Beyond it there are no aliases."""
    steps, _ = known["usual"]
    proof = WindowProof(steps._laws[True], steps.plan_to(0.4, 0.4, -9.0, True), True)
    most = 2 * math.log(190 / 60) - 2 * math.log(0.7)
    assert abs(float(proof._largest.mid()) - most) < 1e-12


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("down", ["0", "2", "4"])
def test_many_steps_beyond_their_cuts(down):
    """All copies may lie beyond a cut, or be unlikely ones."""
    law = fact(tr.Gaussian(1).poisson("0.001") * 3000, Loss).curve
    mine, at = windowed_profile(law), Fraction(2)
    whole = contour_profile(law)
    truth = whole.prove(at, whole.find(at))
    plan = mine.steps.plan_to(2.0, 2.0, -28.0)
    for number in range(16):
        chance = random.Random(f"{down} {number}")
        trial = spoilt(plan, chance)
        piece = trial.pieces[0]
        cut = piece.split.high + Fraction(chance.randint(1, 400), 256)
        put = None if number % 2 else piece.put
        split = replace(piece.split, cut=cut, high=piece.split.high - int(down) * Fraction(1, 4))
        pieces = (replace(plan.pieces[0], split=split, put=put),)
        try:
            with precision(100):
                value = mine.steps.call(ball(at), replace(plan, pieces=pieces))
        except NotCertified:
            continue
        assert not value.is_finite() or value.overlaps(truth), (split, put)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("x", ["0.5", "1.9", "2.5", "3.5", "3.6"])
def test_adding_a_record_may_cost_more(x):
    """Up to the largest loss of all parts together."""
    p, q = [Fraction(9, 10), Fraction(1, 10)], [Fraction(2, 5), Fraction(3, 5)]
    found = windowed_profile(fact(tr.Gaussian(1).poisson("0.3") * 2 + tr.Table(p, q) * 2, Loss).curve)
    truths = []
    for one, adding in ((removed, False), (added, True)):
        two = beside_step(lambda y, one=one: one(1.0, 0.3, y), 1.0, 0.3, adding)
        truths.append(float(beside_table(two, *((q, p) if adding else (p, q)), 2)(float(x))[0]))
    truth = max(truths)
    value = found.prove(Fraction(x), found.find(Fraction(x)))
    with precision(100):
        assert value.overlaps(ball(Fraction(truth)) * (1 + between(ball(Fraction(-WRONG)), ball(Fraction(WRONG)))))
        assert value.rad() < truth * 1e-3
