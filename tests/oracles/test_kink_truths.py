"""Calls enclosed by functions of bounded frequency, against sums over all atoms: any plan is sound, however bad."""

import itertools
import math
import random
from fractions import Fraction
from functools import cache

import mpmath as mp
import numpy as np
import pytest

import tightrope as tr
from tightrope.accounting.facts import fact
from tightrope.curves.engines.transformed import transforms
from tightrope.curves.loss import Loss
from tightrope.errors import NotCertified
from tightrope.numerics import effort
from tightrope.numerics.balls import Ball, lower_float, upper_float
from tightrope.numerics.contour.blurred import BlurPlan, BlurredSum
from tightrope.numerics.transforms.finite import FiniteTransform
from tightrope.numerics.transforms.float_lines import FloatNodes

F = Fraction

THREE = ([F(1, 5), F(3, 10), F(1, 2)], [F(1, 4), F(7, 20), F(2, 5)])
TWO = ([F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)])
LEAKY = ([F(7, 10), F(29, 100), F(1, 100), F(0)], [F(1, 2), F(2, 5), F(0), F(1, 10)])
RARE = ([F(999, 1000), F(1, 1000)], [F(1999, 2000), F(1, 2000)])
LAWS = {
    "three": [(THREE, 40)],
    "two": [(TWO, 150)],
    "leaky": [(LEAKY, 12)],
    "rare": [(RARE, 70)],
    "mixed": [(TWO, 9), (LEAKY, 3), (RARE, 4)],
}


def real(x):
    return mp.mpf(x.numerator) / x.denominator


def copies_of(law, copies):
    """The atoms of that many copies: probabilities and losses."""
    atoms = [(real(p), mp.log(real(p)) - mp.log(real(q))) for p, q in zip(*law, strict=True) if p and q]
    found = []
    for bars in itertools.combinations(range(copies + len(atoms) - 1), len(atoms) - 1):
        counts = [b - a - 1 for a, b in itertools.pairwise([-1, *bars, copies + len(atoms) - 1])]
        mass, left = mp.mpf(1), copies
        for (p, _), n in zip(atoms, counts, strict=True):
            mass, left = mass * math.comb(left, n) * p**n, left - n
        found.append((mass, mp.fsum(n * loss for (_, loss), n in zip(atoms, counts, strict=True))))
    return found


def all_atoms(parts):
    found = [(mp.mpf(1), mp.mpf(0))]
    for law, copies in parts:
        found = [(p * q, a + b) for p, a in found for q, b in copies_of(law, copies)]
    return found


def call(parts, atoms, x):
    """E[(1 − e^{x−L})₊], where L = ∞ counts 1."""
    finite = mp.mpf(1)
    for (p, q), copies in parts:
        finite *= (1 - sum(real(a) for a, b in zip(p, q, strict=True) if not b)) ** copies
    return 1 - finite + mp.fsum(p * -mp.expm1(x - loss) for p, loss in atoms if loss > x)


def blurred(parts):
    whole = None
    for (p, q), copies in parts:
        one = tr.Table(p, q) * copies
        whole = one if whole is None else whole + one
    return BlurredSum(transforms(fact(whole, Loss).curve.directions[0]))


@pytest.fixture(autouse=True)
def _precise():
    with mp.workprec(240):
        yield


@cache
def known(name):
    return LAWS[name], all_atoms(LAWS[name]), blurred(LAWS[name])


def encloses(total, plan, x, truth):
    """Whether the enclosure holds the truth, which is checked; and its width."""
    value = total.call(Ball(x), plan)
    low, high = lower_float(value), upper_float(value)
    assert low <= truth * (1 + mp.mpf(2) ** -200), (plan, x)
    assert high >= truth * (1 - mp.mpf(2) ** -200), (plan, x)
    return high - low


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("name", LAWS)
def test_plans_that_were_searched_for(name):
    parts, atoms, total = known(name)
    top = float(max(loss for _, loss in atoms))
    common = float(max(atoms)[1])
    widths = []
    for x in (0.0, common, 0.3 * top, 0.6 * top, 0.9 * top, top * (1 - 1e-7), -0.5):
        truth = call(parts, atoms, mp.mpf(x))
        for relative in (1e-10, 1e-4):
            widths.append(encloses(total, total.plan(x, relative), x, truth) / truth)
    assert sorted(widths)[len(widths) // 4] < 1e-6
    assert encloses(total, total.plan(top * 1.01), top * 1.01, call(parts, atoms, mp.mpf(top * 1.01))) < 1e-15


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("name", LAWS)
def test_plans_that_nobody_would_choose(name):
    """Flat and steep tilts, periods shorter than the law, spacings up to the coarsest, nodes left out."""
    parts, atoms, total = known(name)
    rng = random.Random(name)
    top, narrow = float(max(loss for _, loss in atoms)), 0
    for _ in range(60):
        t = F(rng.uniform(0.5, 1)) * F(2) ** rng.randint(-5, 6)
        period = top * 2 ** rng.uniform(-1, 3)
        points = max(math.ceil(period * float(t + 1) / 2 ** rng.uniform(-5, 0.95)), 2)
        count = points - 1 if rng.random() < 0.8 else rng.randint(1, points - 1)
        x = rng.choice([top * rng.uniform(-0.2, 1), float(rng.choice(atoms)[1])])
        truth = call(parts, atoms, mp.mpf(x))
        try:
            width = encloses(total, BlurPlan(t, F(2 * math.pi / period), count, points), x, truth)
        except NotCertified:
            continue
        narrow += width < 0.3 * truth
    assert narrow > 2


def test_only_rounding_is_left():
    """So flat a tilt, so far out, that the call is below the last digit of the sum: all that is seen is rounding."""
    parts, atoms, total = known("two")
    top = float(max(loss for _, loss in atoms))
    for share in (0.95, 0.96, 0.97, 0.98, 0.99):
        x = share * top
        truth = call(parts, atoms, mp.mpf(x))
        width = encloses(total, BlurPlan(F(1, 16), F(1, 80), 20_000, 20_001), x, truth)
        assert truth < 0.1 * width
        assert width < 1e-11


class Off(FiniteTransform):
    """Its nodes are off by as much as they say, all in the worst direction."""

    by = 0.0

    def few_nodes(self, t, eta, indices, floor, count):
        found = super().few_nodes(t, eta, indices, floor, count)
        values = found.values + self.by * found.values / np.maximum(np.abs(found.values), 1e-300)
        values[0] = 1 + self.by
        return FloatNodes(values, found.error + abs(self.by), found.alive)

    def at(self, *_):
        raise NotCertified("nodes in balls", "doubles are wanted")


@pytest.mark.parametrize("by", [2e-7, -2e-7])
@pytest.mark.parametrize(("law", "copies"), [(TWO, 40), (THREE, 40), (TWO, 150)])
def test_nodes_may_be_as_wrong_as_they_say(law, copies, by):
    """Below 50 copies errors are absolute, above they are relative; each copy brings its own."""
    parts = [(law, copies)]
    atoms, total = all_atoms(parts), blurred(parts)
    for transform, _ in total._parts:
        vars(transform)["by"] = by
        transform.__class__ = Off
    period = 4 * float(max(loss for _, loss in atoms))
    mean = float(mp.fsum(p * loss for p, loss in atoms))
    plan = BlurPlan(F(1, 8), F(2 * math.pi / period), 8191, 8192)
    for x in (0.0, 0.7 * mean, mean):
        truth = call(parts, atoms, mp.mpf(x))
        assert encloses(total, plan, x, truth) > abs(by) * copies * truth


def test_nodes_beyond_the_last_are_bounded():
    """Beside a normal part the sum may end early: its call is a sum of those of a normal part."""
    law, mu = (TWO, 5), mp.mpf(1) / 2
    whole = tr.Table(*TWO) * 5 + tr.Gaussian(sigma=2)
    total = BlurredSum(transforms(fact(whole, Loss).curve.directions[0]))

    def truth(x):
        def one(z):
            return mp.ncdf(mu / 2 - z / mu) - mp.exp(z) * mp.ncdf(-mu / 2 - z / mu)

        return mp.fsum(p * one(x - loss) for p, loss in copies_of(*law))

    widths = [
        encloses(total, BlurPlan(F(1), F(1, 4), count, 4001), x, truth(mp.mpf(x)))
        for count in (2, 8, 20, 35, 60, 4000)
        for x in (0.0, 1.5, 3.0, 5.0)
    ]
    assert max(widths[-8:]) < 1e-3 * max(widths)


def test_a_work_budget_changes_no_enclosure():
    """What is proved within an allowance is proved without one: the same numbers, or a refusal."""
    parts, _, total = known("mixed")
    plan = total.plan(1.0, 1e-7)
    free = total.call(Ball(1), plan)
    refused = 0
    for units in (1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7):
        with effort.allowed(units):
            try:
                value = blurred(parts).call(Ball(1), plan)
            except NotCertified:
                refused += 1
                continue
        assert value.mid() == free.mid()
        assert value.rad() == free.rad()
    assert 0 < refused < 7
