"""Groups of records that are sampled one by one, with Gaussian noise: cells, moments, adversaries and compositions."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from functools import cache, lru_cache

import cell_truths
import definitions as d
import numpy as np
import pytest
from flint import arb, ctx
from group_checks import group
from mpmath import mp, mpf
from quick_numbers import of_mpmath, to_mpmath
from scipy.stats import binom, norm
from theorem_checks import one_normal

import tightrope as tr
from tightrope.accounting.group_laws import group_laws
from tightrope.curves.profile import DirectProfile
from tightrope.curves.sampled.grouped import GroupedSample, loss_of_grouped_poisson_sample
from tightrope.curves.worst_law import WorstProfile
from tightrope.numerics.balls import Ball, ball, precision
from tightrope.numerics.bound import Bound
from tightrope.numerics.grid.grouped_normal_cells import GroupedNormalCells
from tightrope.numerics.grouped_normals import GroupedNormals
from tightrope.numerics.real import Real, real

F = Fraction
LAWS = [(F(1), F(1, 100)), (F(1, 20), F(1, 2)), (F(4), F(9, 10))]
SPLITS = [(1, 0), (2, 0), (0, 2), (1, 1), (3, 1), (1, 3), (0, 8), (4, 4)]


@cache
def chances(rate, records):
    with mp.workdps(cell_truths.DIGITS):
        q = d.number(rate)
        return [mp.binomial(records, j) * q**j * (1 - q) ** (records - j) for j in range(records + 1)]


def normal(a, b):
    """N(0, 1) between a and b, on the side on which tails are small."""
    a, b = (-b, -a) if a + b < 0 else (a, b)
    return (mp.erfc(a / mp.sqrt(2)) - mp.erfc(b / mp.sqrt(2))) / 2 if a < b else mpf(0)


def between(a, b, rate, mu, records, sign):
    """What the mixture has there."""
    return mp.fsum(s * normal(a - sign * j * mu, b - sign * j * mu) for j, s in enumerate(chances(rate, records)))


def loss_of(rate, mu, up, down):
    """The loss as a function of the place, in flint's arithmetic."""
    mu = of_mpmath(mu)

    def exponents(records):
        return [(of_mpmath(s).log() - j * j * mu * mu / 2, j * mu) for j, s in enumerate(chances(rate, records))]

    comes, goes = exponents(up), exponents(down)

    def log_ratio(terms, at):
        return sum((log + slope * at).exp() for log, slope in terms).log()

    return lambda z: log_ratio(comes, z) - log_ratio(goes, -z)


@lru_cache(64)  # neighbouring cells share their edges
def place(x, rate, mu, up, down):
    """Where the loss is x."""
    if mp.isinf(x):
        return x
    with ctx.workdps(cell_truths.DIGITS + 10):
        loss, level, low, high = loss_of(rate, mu, up, down), of_mpmath(x), arb(-3000), arb(3000)
        if loss(low) >= level:
            return -mp.inf
        if loss(high) <= level:
            return mp.inf
        for _ in range(12):
            middle = (low + high) / 2
            low, high = (low, middle) if loss(middle) > level else (middle, high)
        return to_mpmath(d._crossing(lambda z: loss(z) - level, low, high, loss(low) - level, loss(high) - level))


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(("split", "law"), [*zip(SPLITS, itertools.cycle(LAWS)), ((2, 0), LAWS[1]), ((1, 1), LAWS[2])])
def test_cells_against_the_definition(split, law):
    (up, down), (mu, rate) = split, law
    edges = np.array([-6.0, -2.5, -0.3, -1e-3, 0.0, 1e-3, 0.4, 3.0, 11.0])
    found = GroupedNormalCells(real(mu), rate, up, down).cells(edges)
    assert found.slack < 1e-12
    with mp.workdps(cell_truths.DIGITS):
        shift = cell_truths.exact(mu)

        def masses(x, y):
            a, b = (place(one, rate, shift, up, down) for one in (x, y))
            return tuple(between(a, b, rate, shift, records, sign) for records, sign in ((up, 1), (down, -1)))

        assert cell_truths.complaints(found, edges, masses, range(edges.size + 1)) == 0
    assert abs(found.p_low.sum() - 1) < 1e-12
    assert found.p_high.sum() - found.p_low.sum() < 1e-11
    assert found.q_high.sum() - found.q_low.sum() < 1e-11


def test_cells_of_many_edges_are_as_narrow_as_their_edges():
    """Newton's steps from the table find every edge, near kinks and in flat parts as well."""
    for mu, rate, up, down in ((F(30), F(1, 1000), 3, 0), (F(1, 1000), F(1, 2), 8, 0), (F(2), F(1, 10**6), 4, 2)):
        found = GroupedNormalCells(real(mu), rate, up, down).cells(np.linspace(-9, 40, 20001))
        assert found.slack < 3e-11


def test_cells_out_of_reach():
    with pytest.raises(ArithmeticError):
        GroupedNormalCells(real(1), F(1, 10**30), 8, 0).cells(np.array([0.0]))
    with pytest.raises(ArithmeticError):
        GroupedNormalCells(real(10**6), F(1, 10), 2, 0).cells(np.array([0.0]))


@pytest.mark.parametrize("order", [2, 3, 5])
def test_moments_at_whole_orders(order):
    truth = group(1, "0.2", 2, 0)
    wide = d.Densities(truth.p, truth.q, [-14, 0, 2 * order - 8, 2 * order, 2 * order + 14], quick=True)
    pair = loss_of_grouped_poisson_sample(one_normal(1), F(1, 5), 2, 0).remove[0][0]
    with precision(128):
        assert abs(mpf(float(pair.cumulant(F(order - 1)).mid())) / (order - 1) - wide.renyi(order)) < 1e-12
    claim = tr.renyi(tr.Gaussian(1).poisson("0.2").group(2), order)
    assert wide.renyi(order) * (1 - mpf(10) ** -12) <= claim.lower <= wide.renyi(order) * (1 + mpf(10) ** -15)
    assert claim.upper >= wide.renyi(order)
    assert pair.cumulant(F(1, 2)) is None
    assert pair.cumulant(F(10**4)) is None
    assert pair.mean() is None


def test_ends_of_the_law():
    """Losses of a group that only comes are not below ln of the chance that none is sampled."""
    one, two = (GroupedSample(one_normal(1).remove[0][0], F(1, 2), *split) for split in ((2, 0), (0, 2)))
    with precision(128):
        edge = Ball(4).log()
        assert one.tail(-edge - 1) == 1
        assert (one.call(Ball(-3)) + Ball(-3).exp() - 1).contains(0)
        assert two.tail(edge + 1) == 0
        assert two.call(edge * 2) == 0
        assert two.largest().ball().overlaps(edge)
        assert two.tail(edge * 99 / 100) > 0
        near = one.call(-edge + Ball(2) ** -300)  # no ball tells where: everything is between
        assert near.contains(Ball(3) / 4) or abs(near - Ball(3) / 4) < 1e-10
    assert one.largest().infinite
    assert not one.symmetric
    assert GroupedSample(one_normal(1).remove[0][0], F(1, 2), 2, 2).symmetric


def test_a_loss_that_is_not_found():
    """A shift that no ball tells leaves the place open."""
    law = GroupedNormals(Real(None, lambda: Ball(0).union(Ball(1))), F(1, 2), 2, 1)
    with precision(64):
        assert not law.threshold(Ball(1) / 3).is_finite()


def plane(places):
    """A mixture of round normal laws on the plane, on a grid of points."""
    line = np.linspace(-11, 11, 221)
    x, y = np.meshgrid(line, line)
    cell = (line[1] - line[0]) ** 2
    return sum(c * np.exp(-((x - u) ** 2 + (y - v) ** 2) / 2) for c, (u, v) in places) * cell / (2 * math.pi)


def answers(rng, rate, records, mu):
    """For every subset of the records a place, at most μ from that of each subset with one record less: not a sum."""
    found = {(): np.zeros(2)}
    places = []
    for size in range(records + 1):
        for taken in itertools.combinations(range(records), size):
            if size:
                parents = [found[tuple(t for t in taken if t != out)] for out in taken]
                for _ in range(200):
                    angle = rng.uniform(0, 2 * math.pi)
                    guess = parents[0] + mu * rng.choice([1.0, 0.9]) * np.array([math.cos(angle), math.sin(angle)])
                    if all(np.hypot(*(guess - one)) <= mu + 1e-12 for one in parents):
                        break
                else:
                    raise AssertionError("no place is near enough to all")
                found[taken] = guess
            places.append((rate**size * (1 - rate) ** (records - size), found[taken]))
    return places


@pytest.mark.parametrize("seed", range(12))
def test_no_answers_in_the_plane_cost_more(seed):
    """Queries that are no sums, in other directions, with some members present and others absent."""
    rng = np.random.default_rng(seed)
    rate, mu, size = rng.uniform(0.1, 0.9), rng.uniform(0.4, 2.0), int(rng.integers(2, 4))
    present = int(rng.integers(0, size + 1))
    p, q = plane(answers(rng, rate, present, mu)), plane(answers(rng, rate, size - present, mu))
    law = loss_of_grouped_poisson_sample(one_normal(F(mu) ** 2), F(rate), present, size - present)
    (pair, _), *_ = law.remove
    for x in (-0.5, 0.0, 0.4, 1.5):
        seen = float(np.maximum(p - math.exp(x) * q, 0).sum())
        with precision(100):
            assert seen <= float(pair.call(Ball(x)).mid()) + 1e-6


@lru_cache(8)  # every x is asked of all splits, from above and from below
def rounded_sum(mu, rate, up, down, steps, above):
    """Losses of some steps on a lattice, rounded up or down, and their masses."""
    z = np.linspace(-16, 16 + up * mu, 400001)
    shares_up, shares_down = (binom.pmf(range(n + 1), n, rate) for n in (up, down))
    density = [sum(s * norm.pdf(z - sign * j * mu) for j, s in enumerate(shares)) for shares, sign in
               ((shares_up, 1), (shares_down, -1))]
    losses = np.log(density[0]) - np.log(density[1])
    ends = np.concatenate(([-np.inf], (z[1:] + z[:-1]) / 2, [np.inf]))
    masses = sum(s * np.diff(norm.cdf(ends - j * mu)) for j, s in enumerate(shares_up))
    step, half = 2e-4, 2**16
    slope = np.abs(np.gradient(losses)).max()
    places = np.ceil((losses + slope) / step) if above else np.floor((losses - slope) / step)
    counts = np.bincount(np.clip(places.astype(int) + half, 0, 2 * half - 1), weights=masses, minlength=2 * half)
    spectrum = np.fft.rfft(np.roll(counts, -half)) ** steps
    total = np.roll(np.fft.irfft(spectrum, 2 * half), half)
    return (np.arange(2 * half) - half) * step, total


def rounded_delta(mu, rate, up, down, steps, x, above):
    """δ of some steps by a lattice: above or below the truth."""
    values, total = rounded_sum(mu, rate, up, down, steps, above)
    return float((total * np.maximum(1 - np.exp(np.minimum(x - values, 0.0)), 0) * (values > x)).sum())


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(("mu", "rate", "size", "steps"), [(1.0, 0.1, 2, 4), (0.5, 0.3, 3, 3), (0.7, 0.6, 2, 6)])
def test_compositions_between_two_lattices(mu, rate, size, steps):
    m = (tr.Gaussian(F(1) / F(str(mu))).poisson(str(rate)) * steps).group(size)
    for x in (0.3, 1.0):
        claim = tr.delta(m, x)
        splits = [(size - b, b) for b in range(size + 1)]
        low = max(rounded_delta(mu, rate, up, down, steps, x, above=False) for up, down in splits)
        high = max(rounded_delta(mu, rate, up, down, steps, x, above=True) for up, down in splits)
        assert low - 1e-9 <= claim.upper
        assert claim.lower <= high + 1e-9
        assert high - low < 0.02 * high
        assert claim.route == "group"
        assert claim.tight
        assert tr.check(claim.to_json())


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_the_group_of_the_issue():
    """A thousand steps of DP-SGD, two records: Rényi said 5.5085, and nothing was known from below."""
    m = (tr.Gaussian(1).poisson("0.01") * 1000).group(2)
    claim = tr.epsilon(m, "1e-6")
    assert claim.route == "group"
    assert claim.tight
    assert claim.lower == pytest.approx(4.55409, abs=1e-5)
    assert tr.check(claim.to_json())
    one, two = tr.epsilon(tr.Gaussian(1).poisson("0.01") * 1000, "1e-6"), tr.epsilon(
        tr.Gaussian(1, 2).poisson("0.02") * 1000, "1e-6"
    )
    assert one.upper < claim.lower < claim.upper < two.lower  # always both together, and as often as one of them


def test_groups_under_replace_and_with_cuts():
    """Two records exchanged for two others: the same law with two present and two absent."""
    exchanged = tr.Gaussian(1).poisson("0.3", relation="replace").group(2)
    truth = group(1, "0.3", 2, 2)
    for x in ("0.2", "1.3"):
        claim = tr.delta(exchanged, x)
        assert d.encloses(claim, truth.hockey(x))
        assert claim.tight
        assert tr.check(claim.to_json())
    apart = group(1, "0.3", 2, 0)
    cut = tr.delta(tr.Gaussian(1).poisson("0.3", max_batch=30, population=40).group(2), 1)
    assert apart.hockey(1) * (1 - mpf(10) ** -4) <= cut.lower <= apart.hockey(1) * (1 + mpf(10) ** -15)
    assert cut.upper >= apart.hockey(1)
    assert cut.upper < apart.hockey(1) + 1e-4
    narrow = tr.delta(tr.Gaussian(1).poisson("0.3", max_batch=1, population=40).group(2), 1)
    alone = group(1, "0.3", 1, 0).hockey(1)
    assert alone * (1 - mpf(10) ** -4) <= narrow.lower <= alone * (1 + mpf(10) ** -15)  # of two, one may be cut
    large = tr.delta(tr.Gaussian(4).poisson("0.1").group(20), "0.1")
    assert large.lower <= group("0.25", "0.1", 8, 0).hockey("0.1") * (1 + mpf(10) ** -15)
    assert large.lower > 0


def test_beside_other_parts():
    """Parts whose law does not depend on who comes and who goes are multiplied in; others leave the group unknown."""
    m = (tr.Gaussian(1).poisson("0.1") * 3 + tr.Laplace(4)).group(2)
    laws, _ = group_laws(m)
    assert len(laws) == 2
    claim = tr.delta(m, 1)
    assert claim.route == "group"
    assert claim.tight
    missed = tr.tradeoff(m, "0.1")
    assert missed.route == "group"
    assert missed.upper - missed.lower < 1e-3
    lower, upper = tr.profile(m).delta([0.1 * k for k in range(1, 11)])
    assert np.all(lower > upper * (1 - 1e-3))
    assert lower[-1] <= claim.upper
    assert upper[-1] >= claim.lower
    for other in (
        tr.Gaussian(1).poisson("0.1").group(2) + tr.Gaussian(1).poisson("0.1"),
        tr.Gaussian(1).poisson("0.1").group(2) + tr.Gaussian(1).poisson("0.1").group(3),
        tr.Gaussian(1).poisson("0.1").group(9),
        tr.Laplace(1).poisson("0.1").group(2),
        tr.Gaussian(1).poisson(1).group(2),
        tr.Gaussian(1).group(2),
    ):
        assert group_laws(other) is None


def falling(scale):
    return DirectProfile((lambda x: (-x * ball(F(scale))).exp() / 2,))


def test_the_worst_of_profiles():
    """Whichever law is worst, and wherever they cross, both ends are those of the larger one."""
    slow, quick = falling(1), falling(3)
    for order in ((slow, quick), (quick, slow)):
        worst = WorstProfile(order).aiming(1e-6)
        delta = F(1, 100)
        bound, witness = worst.epsilon(delta)
        assert bound.lower <= math.log(50) <= bound.upper
        assert worst.meets(F(bound.upper), delta, witness)
        assert worst.estimate(delta) > 0
        [value] = worst.deltas([F(1)])
        assert d.encloses(Bound(float(value.lower()), float(value.upper())), mp.exp(-1) / 2, 1e-12)
        [many] = worst.epsilons([delta])
        assert many.lower <= math.log(50) <= many.upper
        assert not worst.may_be_wide

    class Blind(DirectProfile):
        def deltas(self, epsilons):
            return [None] * len(epsilons)

        def epsilons(self, deltas):
            return [None] * len(deltas)

    blind = WorstProfile((slow, Blind(quick.calls)))
    assert blind.deltas([F(1)]) == [None]
    assert blind.epsilons([F(1, 10)]) == [None]
    endless = WorstProfile((DirectProfile(slow.calls, leak=real(F(1, 2))), quick))
    assert endless.epsilon(F(1, 10)) == (Bound(math.inf, math.inf), {})


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_noise_for_a_group_is_calibrated():
    """Grids have ends apart, the further the less work is left: the value found meets the target all the same."""
    found = tr.calibrate("(gaussian(sigma=?).poisson(0.001) * 100).group(2)", epsilon=1, delta="1e-6")
    assert found.claim.upper <= 1
    assert found.claim.lower > 1 - 1e-4
    assert found.claim.route == "group"
    assert found.value == pytest.approx(0.72104, abs=1e-4)
