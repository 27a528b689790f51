"""What a sample without replacement costs at least, against batches drawn one by one and against quadrature."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import definitions as d
import numpy as np
import pytest
from mpmath import mp, mpf
from scipy.optimize import linprog

import tightrope as tr
from tightrope.accounting.lower_laws import lower_losses
from tightrope.curves.loss import Loss
from tightrope.curves.sampled.attained import loss_attained_without_replacement, renyi_attained_by_sample
from tightrope.mechanisms.laplace import LaplacePair
from tightrope.numerics.balls import ball, precision

F = Fraction
BASES = [
    (tr.RandomizedResponse(1), d.response(1)),
    (tr.DiscreteLaplace(2), d.discrete_laplaces(2, 1)),
    (tr.Table(["0.7", "0.3"], ["0.25", "0.75"]), d.Atoms(["0.7", "0.3"], ["0.25", "0.75"])),
]
BATCHES = list(itertools.combinations(range(4), 2))


def among_equals(base: d.Atoms) -> d.Atoms:
    """2 of 4 records, every batch enumerated: the odd record is number 0, and the others are all alike."""
    found = [mp.fsum(base.p[o] if 0 in b else base.q[o] for b in BATCHES) / len(BATCHES) for o in range(len(base.p))]
    return d.Atoms(found, base.q)


def near(value: float, truth: mpf) -> bool:
    return truth * (1 - mpf(10) ** -12) <= value <= truth * (1 + mpf(10) ** -15)


@pytest.mark.parametrize(("base", "law"), BASES, ids=[m.text_name for m, _ in BASES])
def test_the_pair_of_equal_records_is_attained(base, law):
    """Of a pair that is not its own reverse the records that are equal may be of either kind."""
    laws = [among_equals(law), *([among_equals(law.reverse())] if isinstance(base, tr.Table) else [])]
    for (whole, steps), truth in zip(lower_losses(base.without_replacement(2, 4)), laws, strict=True):
        assert steps[-1].theorem == loss_attained_without_replacement.id
        for parts, sides in zip(whole.directions, (truth, truth.reverse()), strict=True):
            [(pair, n)] = parts
            assert n == 1
            for x in ("-0.2", "0", "0.1", "0.3"):
                with precision(100):
                    found = pair.call(ball(F(x)))
                assert abs(mpf(float(found.mid())) - sides.hockey(x)) < 1e-14


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("order", ["2", "2.5", "8"])
def test_laplace_noise_costs_at_least_the_pair_of_equal_records(order):
    truth = d.laplaces(1).sampled("0.1")
    claim = tr.renyi(tr.Laplace(1).without_replacement(10, 100), order)
    assert near(claim.lower, max(truth.renyi(mpf(order)), truth.reverse().renyi(mpf(order))))
    assert not claim.tight


def test_whole_orders_of_a_discrete_base():
    """Sampled moments of the discrete Gaussian are sums, at whole orders and between."""
    truth = d.discrete_normals(4, 1).sampled("0.1")
    m = tr.DiscreteGaussian(2).without_replacement(1, 10)
    for order in (2, 3, 7, "3.9", "1.5"):
        assert near(tr.renyi(m, order).lower, truth.renyi(mpf(order)))
    assert near(tr.renyi(m * 3, 2).lower, 3 * truth.renyi(2))


def test_unknown_moments_count_as_nothing():
    law = Loss(((LaplacePair(F(1)), 2),))
    with precision(80):
        assert near(float(renyi_attained_by_sample(law, F(2)).mid()), 2 * d.laplaces(1).renyi(2))
    wide = tr.GaussianPair(1, "1.5", 0, 1).without_replacement(1, 10)  # D_α is infinite from some order on
    assert tr.renyi(wide, 8).lower == math.inf  # so is it on a sample


@pytest.mark.parametrize("base", [tr.RDP({2: "0.1"}), tr.NoisyMax(1), tr.RDP({2: "0.1"}) + tr.Laplace(1)])
def test_nothing_is_claimed_where_no_one_pair_is_known(base):
    assert list(lower_losses(base.without_replacement(1, 10))) == []


def test_compositions_cost_at_least_what_equal_records_show():
    """Two runs on the same two data sets: the product of the pair with itself."""
    truth = among_equals(d.response(1)).power(2)
    m = (tr.NoisyMax(1) + tr.RandomizedResponse(1) * 2).without_replacement(2, 4)
    assert tr.delta(m, "0.1").lower == 0.0
    laws = [law for law, _ in lower_losses(tr.RandomizedResponse(1).without_replacement(2, 4) * 2)]
    with precision(100):
        [(pair, n)] = laws[0].remove
        assert n == 2
        assert abs(mpf(float(pair.cumulant(F(1)).mid())) * 2 - truth.renyi(2)) < 1e-14


@pytest.mark.parametrize("order", [2, 8])
def test_no_pure_base_attains_the_glued_pair(order):
    """1 of 10 records: a linear program over all bases with ε = 1, on a grid of likelihood ratios, stays below it."""
    grid = np.exp(np.linspace(-1, 1, 21))
    cells = [(1.0, a, b) for a in grid for b in grid if abs(np.log(a / b)) <= 1 + 1e-12]
    gain = [(0.9 + a / 10) ** order * (0.9 + b / 10) ** (1 - order) for _, a, b in cells]
    best = linprog(-np.array(gain), A_eq=np.array(cells).T, b_eq=[1, 1, 1])
    claim = tr.renyi(tr.Pure(1).without_replacement(1, 10), order)
    assert claim.lower <= np.log(-best.fun) / (order - 1) * (1 + 1e-9) < claim.upper
    assert not claim.tight
    assert not tr.epsilon(tr.Pure(1).without_replacement(1, 10) * 5, "1e-3").tight
