"""Many copies of a sampled Laplace loss: the first nodes, and proofs that all others are low."""

import math
from fractions import Fraction

import numpy as np
import pytest

import tightrope as tr
from tightrope.numerics.balls import Ball, ball, precision
from tightrope.numerics.transforms.block_sums import _largest, near_bound
from tightrope.numerics.transforms.exchanged_discrete import ExchangedDiscreteNormalTransform
from tightrope.numerics.transforms.sampled_laplace import SampledLaplaceTransform
from tightrope.numerics.transforms.settled_nodes import Quadrature, _low, settled_nodes
from tightrope.numerics.transforms.symmetric_laplace import SymmetricLaplaceTransform

F = Fraction


def masses(epsilon0, rate, number=16_000):
    """The Laplace loss under the plain law and ln w, by the midpoint rule: two atoms and what is between."""
    edges = np.linspace(-epsilon0, epsilon0, number + 1)
    loss = (edges[1:] + edges[:-1]) / 2
    between = np.exp(-epsilon0 / 2 - loss / 2) / 4 * (edges[1] - edges[0])
    loss, mass = np.append(loss, [epsilon0, -epsilon0]), np.append(between, [math.exp(-epsilon0) / 2, 0.5])
    return mass, np.log1p(rate * np.expm1(loss))


def transforms():
    e0, rate = 10 / 3, 0.01
    mass, log = masses(e0, rate)
    yield SampledLaplaceTransform(F(10, 3), F(1, 100), adding=False), mass, log, lambda t: (t + 1) * log
    yield SampledLaplaceTransform(F(10, 3), F(1, 100), adding=True), mass, -log, lambda t: -t * log


def truth(mass, loss, exponents, y):
    shares = mass * np.exp(exponents)
    shares /= shares.sum()
    return np.array([np.exp(1j * at * loss) @ shares for at in y])


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize(("copies", "t", "eta"), [(100_000, F(7, 16), F(1, 16)), (2000, F(2), F(1, 4))])
def test_few_nodes_are_kept_and_all_others_are_low(which, copies, t, eta):
    transform, mass, loss, exponents = list(transforms())[which]
    with precision(64):
        floor = Ball(-50) / copies
    count = 40_000
    nodes = transform.float_nodes(t, eta, count, floor)
    kept = np.nonzero(nodes.alive)[0]
    assert 5 < len(kept) < 200
    exact = truth(mass, loss, exponents(float(t)), float(eta) * kept)
    assert np.abs(exact - nodes.values[kept]).max() < 1e-6  # what the midpoint rule can say
    assert float(nodes.error) < 1e-12
    dropped = np.unique(np.geomspace(kept[-1] + 1, count, 50).astype(int))
    sizes = np.abs(truth(mass, loss, exponents(float(t)), float(eta) * dropped))
    assert sizes.max() <= math.exp(float(floor)) + 1e-5
    assert sizes.max() > 0.5 * math.exp(float(floor))


@pytest.mark.parametrize(("glued", "copies"), [(False, 100_000), (False, 500), (True, 1000)])
def test_exchanged_records_keep_few_nodes_too(glued, copies):
    transform = SymmetricLaplaceTransform(F(10, 3), F(1, 100), glued)
    t, eta = F(1), F(1, 16)
    with precision(64):
        floor = Ball(-50) / copies
    nodes = transform.float_nodes(t, eta, 30_000, floor)
    kept = [int(k) for k in np.nonzero(nodes.alive)[0]]
    with precision(80):
        line = transform.line(t, eta, max(kept))[1]
    for k in kept:
        exact = complex(float(line[k].real.mid()), float(line[k].imag.mid()))
        assert abs(nodes.values[k] - exact) <= float(nodes.error) + 1e-16
    last = max(kept)
    with precision(60):
        some = transform.line(t, eta, 4 * last)[1][last + 1 :]
        assert all(value.abs_lower() <= floor.exp() for value in some)
    assert transform.node_cost(10) > 100


@pytest.mark.parametrize("glued", [False, True])
def test_discrete_noise_keeps_few_nodes_too(glued):
    """σ = 20: the first nodes against a sum over the noise, and a sample of the others."""
    sigma, rate, t, eta, copies = 20, 0.05, 1.5, 0.25, 3000
    transform = ExchangedDiscreteNormalTransform(F(sigma**2), sigma, F(1, 20), glued)
    k = np.arange(-14 * sigma, 14 * sigma + 1)
    plain = np.exp(-(k**2) / (2 * sigma**2))
    plain /= plain.sum()
    growth, other = (np.log1p(rate * np.expm1(sigma * (2 * x - sigma) / (2 * sigma**2))) for x in (k, -k))
    if glued:
        up = k > sigma / 2
        under, loss = plain[up], growth[up]
        rest = 1 - (under * (1 + np.exp(loss))).sum()
        masses = np.concatenate([under * np.exp(loss), under, [rest]])
        losses = np.concatenate([loss, -loss, [0.0]])
    else:
        masses, losses = plain * np.exp(growth), growth - other
    shares = masses * np.exp(t * losses)
    shares /= shares.sum()
    with precision(64):
        floor = Ball(-50) / copies
    nodes = transform.float_nodes(F(t), F(eta), 20_000, floor)
    kept = np.nonzero(nodes.alive)[0]
    assert 5 < len(kept) < 200
    exact = np.exp(1j * eta * np.multiply.outer(kept, losses)) @ shares
    assert np.abs(exact - nodes.values[kept]).max() < 1e-12
    dropped = np.unique(np.geomspace(kept[-1] + 1, 20_000, 2000).astype(int))
    sizes = np.abs(np.exp(1j * eta * np.multiply.outer(dropped, losses)) @ shares)
    assert 0.9 < sizes.max() <= math.exp(float(floor)) + 1e-12
    assert transform.node_cost(10) > transform.node_cost(copies)
    assert transform.float_nodes(F(t), F(eta), 100, Ball(-50)).alive.all()  # of few copies all nodes
    assert transform.float_nodes(F(t), F(eta), 10**6, Ball(-1)) is None  # but not so many


def test_near_the_origin_squares_and_fourth_powers_decide():
    shares, losses = [F(1, 2), F(1, 3), F(1, 6)], [F(0), F(1, 10), F(-1, 2)]
    with precision(80):
        bound, end = near_bound([ball(p) for p in shares], [ball(x) for x in losses], F(1, 4))
        values, weights = np.array([float(x) for x in losses]), np.array([float(p) for p in shares])
        y = np.linspace(0.25, float(end), 500)
        sizes = np.abs(np.exp(1j * np.multiply.outer(y, values)) @ weights)
    assert 1 < end < 20
    assert sizes.max() <= float(bound) <= sizes.max() * (1 + 1e-6)


def test_what_is_not_low_is_not_said_to_be():
    """Two atoms come back to 1 after a turn."""
    shares, losses = [ball(F(1, 2)), ball(F(1, 2))], [ball(F(0)), ball(F(1))]

    def rule(_):
        return Quadrature(shares, losses, Ball(0))

    def found(count, floor, most=1.0):
        return settled_nodes(rule, lambda _: Ball(most), lambda y: np.log(most) + 0 * y, F(1, 8), count, Ball(floor))

    assert found(60, -0.1) is None or found(60, -0.1).alive[50]  # 2π is near node 50
    short = found(30, -0.1)
    assert short.alive[:4].all()
    assert not short.alive[15:25].any()
    far = found(10**6, -0.1, 0.5)  # a bound that holds from the start
    assert far.alive.sum() <= 10


def test_near_the_axis_nothing_is_low():
    rule = Quadrature([ball(F(1, 2)), ball(F(1, 2))], [ball(F(0)), ball(F(1))], Ball(0))
    assert not _low(rule, F(1, 100), F(1), Ball("0.5"))
    assert _low(rule, F(27, 10), F(3), Ball("0.5"))
    assert _low(rule, F(3), F(3), Ball(0))  # of no nodes anything holds


def test_few_copies_need_all_nodes():
    """Where |φ| is not low soon, all nodes are evaluated, or none."""
    transform = SampledLaplaceTransform(F(10, 3), F(1, 100), adding=False)
    assert transform.float_nodes(F(1), F(1, 4), 2000, Ball(-2)).alive.all()
    some = transform.float_nodes(F(1), F(1, 4), 4500, Ball("-0.6"))
    assert some.alive.sum() > 3000
    assert transform.float_nodes(F(1), F(1), 40_000, Ball(-2)) is None  # neither the rule nor its ends reach
    assert transform.node_cost(10) > transform.node_cost(10_000)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(("relation", "rate"), [("add-remove", 0.01), ("replace", 0.01)])
def test_claims_are_sharp_and_checked(relation, rate):
    steps = tr.Laplace(scale=0.3).poisson(rate, relation=relation) * 100_000
    claim = tr.epsilon(steps, delta=1e-9)
    assert claim.upper - claim.lower < 1e-8 * claim.upper
    assert tr.check(claim.to_json())


@pytest.mark.parametrize("seed", range(4))
def test_the_largest_sum_of_blocks_is_that_of_all_steps(seed):
    """Powers by doubling, in batches, with one block and with several."""
    rng = np.random.default_rng(seed)
    number, steps = int(rng.integers(3, 90)), int(rng.integers(2, 3000))
    angles, weights = rng.uniform(-1, 1, number), rng.uniform(0, 1, number)
    weights /= weights.sum()
    start = rng.uniform(0, 6, number)
    terms = weights * np.exp(1j * (start + np.multiply.outer(np.arange(steps), angles)))
    for length in (4, 16, number):
        starts = np.arange(0, number, length)
        sums = np.abs(np.add.reduceat(terms, starts, axis=1)).sum(axis=1)
        turn, first = np.exp(1j * angles), weights * np.exp(1j * start)
        found, done = _largest(turn, first, starts, steps, 2.0)
        assert done == steps
        assert sums.max() <= found + 1e-11  # a few more steps may be looked at
        assert found <= np.abs(np.add.reduceat(first, starts)).sum() + 1  # and it is a sum of sizes
        if steps % max(1, min(steps, 30_000 // number)) == 0:
            assert found == pytest.approx(sums.max(), rel=1e-10)
        early, looked = _largest(turn, first, starts, steps, float(sums.max()) * 0.9)
        assert early == math.inf
        assert looked <= steps + 30_000


def test_neighbours_far_out_are_turned():
    transform = ExchangedDiscreteNormalTransform(F(30), 1, F(1, 10), False)
    indices = [0, 7000, *range(9000, 9040), 20_000, 20_001]
    with precision(80):
        together = transform.at(F(2), F(3, 8), indices)
        for k, value in zip(indices, together, strict=True):
            alone = transform.at(F(2), F(3, 8), [k])[0]
            assert value.overlaps(alone)
            assert value.real.rad() < 1e-22
    dear = transform.at_cost(F(2), F(3, 8), list(range(9000, 12_000, 75)))
    assert transform.at_cost(F(2), F(3, 8), list(range(9000, 9040))) < dear / 2
    assert transform.at_cost(F(2), F(3, 8), list(range(40))) < transform.at_cost(F(2), F(3, 8), list(range(400, 440)))
