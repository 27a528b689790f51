"""Shuffled batches: one unsampled step an epoch, never Poisson's number, and what they cost at least."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from mpmath import exp, log, mpf, ncdf

import tightrope as tr
from tightrope.accounting.facts import fact
from tightrope.accounting.training import samplers
from tightrope.curves.loss import Loss
from tightrope.curves.shared_records import loss_attained_by_sharing, sharing_cuts
from tightrope.mechanisms.gaussian import gaussian_mechanism_loss
from tightrope.mechanisms.laplace import Laplace
from tightrope.numerics.balls import ball, precision

F = Fraction

# Chua et al. 2024, one epoch: σ, batches, δ, what Poisson accounting says, what shuffled batches cost at least.
PRINTED = (
    ("0.5", 10_000, "1e-6", 1.953, 10.995),
    ("0.4", 10_000, "1e-5", 4.09, 13.21),
    ("1", 1000, "1e-5", 0.149, 2.88),
)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(("sigma", "steps", "delta", "poisson", "shuffled"), PRINTED)
def test_printed_numbers_of_both_samplers(sigma, steps, delta, poisson, shuffled):
    found = samplers(sigma, delta=delta, sample_rate=F(1, steps), epochs=1)
    assert math.isclose(found.poisson.upper, poisson, rel_tol=1e-3)
    assert shuffled * 0.999 < found.zeroed < shuffled * 1.001
    assert found.zeroed < found.shuffle.lower < found.shuffle.upper  # exchanging a record shows more than zeroing it
    assert found.poisson.upper < found.zeroed  # borrowing Poisson's number would be wrong


def event_epsilon(far, near, steps, delta):
    """The largest ε with P(E) − e^ε Q(E) > δ, E: some answer exceeds C, over a fine grid of C."""
    best = mpf(0)
    for i in range(1200):
        c = mpf(i) / 100
        rest = ncdf(c) ** (steps - 1)
        p, q = 1 - ncdf(c - far) * rest, 1 - ncdf(c - near) * rest
        if p > delta and q > 0:
            best = max(best, log((p - delta) / q))
    return best


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(("sigma", "steps", "delta"), [("1", 100, "1e-5"), ("0.7", 1000, "1e-7")])
def test_the_lower_end_is_an_event(sigma, steps, delta):
    mu = 2 / mpf(sigma)
    for near, value in (
        (0, tr.epsilon(tr.Gaussian(sigma, 2).shuffled_batches(steps), delta=delta).lower),
        (mu / 2, samplers(sigma, delta=delta, sample_rate=F(1, steps), epochs=1).zeroed),
    ):
        best = event_epsilon(mu, near, steps, mpf(delta))
        assert float(best) * 0.995 < value < float(best) * 1.05  # cells know a little more than one event


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_an_epoch_is_one_unsampled_step():
    batches, once = tr.Gaussian(1, 2).shuffled_batches(50), tr.Gaussian(1, 2)
    for times in (1, 3):
        shuffled, plain = (tr.epsilon(m * times, delta=1e-6) for m in (batches, once))
        assert shuffled.upper == plain.upper
        assert 0 < shuffled.lower < plain.lower
        assert not shuffled.tight
        assert tr.check(shuffled.to_json())
    assert tr.epsilon(tr.Gaussian(1, 2).shuffled_batches(1), delta=1e-6).bound == tr.epsilon(once, delta=1e-6).bound
    assert tr.zcdp(batches).upper == tr.zcdp(once).upper
    assert tr.epsilon(tr.Laplace(1).shuffled_batches(9), delta=1e-6).upper <= 1


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_more_epochs_cost_more_at_least():
    batches = tr.Gaussian("0.8", 2).shuffled_batches(200)
    lowers = [tr.epsilon(batches * n, delta=1e-6).lower for n in (2, 20, 200)]
    assert lowers == sorted(lowers)
    assert lowers[0] > 1


def test_dpsgd_offers_three_samplers():
    run = {"batch_size": 100, "dataset_size": 1000, "epochs": 3}
    assert str(tr.dpsgd(1, **run)) == "gaussian(sigma=1).poisson(0.1) * 30"
    assert str(tr.dpsgd(1, **run, sampler="fixed")) == (
        "gaussian(sigma=1, sensitivity=2).without_replacement(100, 1000) * 30"
    )
    shuffled = tr.dpsgd(1, **run, sampler="shuffle")
    assert str(shuffled) == "gaussian(sigma=1, sensitivity=2).shuffled_batches(10) * 3"
    assert tr.parse(str(shuffled)) == shuffled
    assert shuffled.relation == "replace"
    told = tr.epsilon(shuffled, delta=1e-5).assumptions
    assert any("deals all records once" in line for line in told)
    poisson = tr.epsilon(tr.dpsgd(1, **run), delta=1e-5).assumptions
    assert any("shuffled or fixed-size batches do not" in line for line in poisson)


def test_all_samplers_side_by_side():
    found = samplers(1, delta=1e-5, batch_size=10, dataset_size=1000, steps=100)
    assert found.fixed is not None
    assert found.fixed.relation == "replace"
    lines = str(found).splitlines()
    assert [line.split()[0] for line in lines] == ["sampler", "poisson", "fixed", "shuffle", "shuffle"]
    whole = samplers(1, delta=1e-5, sample_rate=1, epochs=2)
    assert whole.fixed is None
    assert whole.zeroed == tr.epsilon(tr.Gaussian(1) * 2, delta=1e-5).lower
    assert samplers(1, delta=0, sample_rate="0.1", epochs=1).zeroed == 0
    assert samplers(1, delta=1e-5, sample_rate=0, steps=10).shuffle.upper == 0
    with pytest.raises(tr.BadParameter):
        samplers(1, delta=2, sample_rate="0.1", epochs=1)


def test_cells_of_the_largest_answer():
    """One cut, written out; nothing for other noise, no noise, or cuts at which nothing happens."""
    law = gaussian_mechanism_loss(tr.Gaussian(1))
    attained = loss_attained_by_sharing(law, 3, (F(1),))
    ((pair, _),) = attained.remove
    p, q = 1 - ncdf(0) * ncdf(1) ** 2, 1 - ncdf(1) ** 3
    with precision(128):
        assert abs(float(pair.call(ball(F(1, 4))).mid()) - float(p - exp(mpf("0.25")) * q)) < 1e-15
    assert loss_attained_by_sharing(law, 3, (F(-400),)) is None
    laplace = fact(Laplace(1), Loss).curve
    assert loss_attained_by_sharing(laplace, 3, (F(1),)) is None
    assert sharing_cuts(laplace, 3, 1) == []
    assert sharing_cuts(gaussian_mechanism_loss(tr.Gaussian("1e-9")), 3, 1) == []
    assert tr.epsilon(tr.Gaussian("1e-9").shuffled_batches(10), delta=1e-5).lower == 0


def test_words_and_refusals():
    for wrong in (0, -1, 2.5, True, None, math.inf):
        with pytest.raises(tr.BadParameter):
            tr.Gaussian(1).shuffled_batches(wrong)
    with pytest.raises(tr.Unsupported):
        tr.Gaussian(1).group(2).shuffled_batches(10)
    with pytest.raises(tr.RelationMismatch):
        tr.Gaussian(1, 2).shuffled_batches(10) + tr.Gaussian(1).poisson(0.1)
    assert tr.epsilon(tr.Gaussian(1, 2).shuffled_batches(10).group(2), delta=1e-5).upper >= (
        tr.epsilon(tr.Gaussian(1, 2).shuffled_batches(10), delta=1e-5).upper
    )
