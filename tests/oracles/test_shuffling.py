"""Shuffled reports against all histograms of few users, the vectors, and both ways of summing against each other."""

from __future__ import annotations

import math
import random
from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement, product

import pytest
from mpmath import exp, mp, mpf

import tightrope as tr
from tightrope.accounting.facts import fact
from tightrope.curves.loss import Loss
from tightrope.curves.pure import Pure
from tightrope.curves.sampled.clones import ClonesPair, pure_is_shuffled
from tightrope.curves.sampled.shuffled_count import loss_attained_by_shuffling
from tightrope.mechanisms.response import randomized_response_loss
from tightrope.numerics.balls import Ball, ball, lower_float, precision, upper_float
from tightrope.numerics.real import UNBOUNDED, ZERO, Real, real
from tightrope.numerics.sums.connected_dots import connected_dots
from tightrope.numerics.sums.counted_reports import CountedReports, geometric
from tightrope.numerics.sums.random_signs import RandomSigns
from tightrope.numerics.sums.random_signs_integral import integrated_excess

F = Fraction


def response(epsilon, k):
    """The k-ary randomizer as rows of chances."""
    low = 1 / (exp(mpf(epsilon)) + k - 1)
    return [[exp(mpf(epsilon)) * low if x == y else low for y in range(k)] for x in range(k)]


def histogram(rows):
    """The law of the multiset of one report from each row."""
    law = {(): mpf(1)}
    for row in rows:
        grown = {}
        for seen, chance in law.items():
            for y, p in enumerate(row):
                key = tuple(sorted((*seen, y)))
                grown[key] = grown.get(key, mpf(0)) + chance * p
        law = grown
    return law


def hockey_stick(one, other, epsilon):
    return sum((max(mpf(0), one.get(y, 0) - exp(mpf(epsilon)) * other.get(y, 0)) for y in {*one, *other}), mpf(0))


def truth(randomizer, users, epsilon):
    """The worst δ over the user's two data and everybody else's data."""
    data = range(len(randomizer))
    return max(
        hockey_stick(
            histogram([randomizer[x], *(randomizer[z] for z in rest)]),
            histogram([randomizer[y], *(randomizer[z] for z in rest)]),
            epsilon,
        )
        for rest in combinations_with_replacement(data, users - 1)
        for x, y in product(data, data)
        if x != y
    )


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(("k", "users"), [(2, 2), (2, 5), (3, 3), (3, 4), (4, 3)])
@pytest.mark.parametrize("epsilon", ["0.5", "2"])
def test_shuffled_responses_by_enumeration(k, users, epsilon):
    m = tr.RandomizedResponse(epsilon, k=k).shuffled(users)
    for part in ("0", "0.3", "0.8"):
        at = F(epsilon) * F(part)
        worst = truth(response(epsilon, k), users, mpf(at.numerator) / at.denominator)
        claim = tr.delta(m, epsilon=at)
        assert claim.lower <= float(worst) * (1 + 1e-14)
        assert float(worst) <= claim.upper * (1 + 1e-14)
        assert claim.upper <= 6 * float(worst)  # it is not far off


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_general_clones_hold_for_random_randomizers():
    """Randomizers with three outputs, every chance at one of its two allowed ends, three users."""
    draw = random.Random(1)
    e0 = mpf("0.8")
    m = tr.Pure("0.8").shuffled(3)
    bounds = {x: tr.delta(m, epsilon=x).upper for x in ("0", "0.25", "0.5")}
    closest = 0.0
    for _ in range(40):
        base = [mpf(draw.random()) + mpf("0.05") for _ in range(3)]
        rows = []
        for _ in range(3):
            row = [b * exp(e0) if draw.random() < 0.5 else b for b in base]
            rows.append([p / sum(row) for p in row])
        steepest = max(rows[x][y] / rows[z][y] for x in range(3) for z in range(3) for y in range(3))
        if steepest > exp(e0):
            continue
        for x, bound in bounds.items():
            value = float(truth(rows, 3, mpf(x)))
            assert value <= bound
            closest = max(closest, value / bound)
    assert closest > 0.3  # the test can fail


def test_vectors_of_the_clones():
    general = tr.delta(tr.Pure(1).shuffled(100), epsilon="0.3")
    assert abs(general.computed.upper - 0.0017183134641179024406) < 1e-17
    # The same with p = 1/(e^{ε₀} + 1) for every randomizer is the withdrawn theorem of 2023: it must not be used.
    assert general.upper > 0.00171
    binary = tr.delta(tr.RandomizedResponse(1).shuffled(100), epsilon="0.3")
    assert abs(binary.computed.upper - 0.00044109523600349581646) < 1e-17
    assert abs(binary.lower - 0.00017752267481749015621) < 1e-17  # all others hold 0: the truth of that data set


def clones_by_sum(n, e0, eps, p, weight=1):
    big, gamma = exp(mpf(e0)), exp(mpf(eps))
    total = mpf(0)
    for c in range(n):
        for a in range(c + 2):
            like, unlike = (mp.binomial(c, a - 1) if a else 0), (mp.binomial(c, a) if a <= c else 0)
            gain = (big * like + unlike) - gamma * (like + big * unlike)
            total += max(mpf(0), gain) * mp.binomial(n - 1, c) * p**c * (1 - p) ** (n - 1 - c) / 2**c / (1 + big)
    return total * weight


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(("n", "k", "e0", "eps"), [(7, 2, "1", "0.4"), (30, 5, "1.5", "0.2"), (12, 3, "0.01", "0.002")])
def test_the_closed_sum_is_the_pair(n, k, e0, eps):
    """E[(S_M/M − r)₊] against the pair of counts, written out."""
    least = 1 / (exp(mpf(e0)) + k - 1)
    own = clones_by_sum(n, e0, eps, 2 * least, 1 - (k - 2) * least)
    general = clones_by_sum(n, e0, eps, exp(-mpf(e0)))
    unshuffled = response_delta(e0, k, eps)
    found = tr.delta(tr.RandomizedResponse(e0, k=k).shuffled(n), epsilon=eps).computed
    assert abs(found.upper - float(min(own, general, unshuffled))) <= 1e-14 * found.upper


def response_delta(e0, k, eps):
    rows = response(e0, k)
    return sum(max(mpf(0), p - exp(mpf(eps)) * q) for p, q in zip(rows[0], rows[1], strict=True))


def signs(n, chance="0.37"):
    return RandomSigns(n, Real(F(chance)))


@pytest.mark.parametrize("n", [2, 60, 1000, 40_000])
@pytest.mark.parametrize("z", [0, 1, 4, 9])
def test_listing_and_integrating_overlap(n, z):
    r = F(min(0.97, z / math.sqrt(0.37 * n)))
    with precision(128):
        listed, integrated = signs(n).excess(ball(r), 10**6), signs(n).excess(ball(r), -1)
        assert listed.overlaps(integrated)
        assert listed.rel_accuracy_bits() > 80
        assert n < 10_000 or integrated.rel_accuracy_bits() > 9


@pytest.mark.parametrize("chance", ["1e-9", "0.5", "0.999999999999999999999"])
def test_signs_by_direct_sums(chance):
    p = mpf(F(chance).numerator) / F(chance).denominator
    for n, r in ((1, "0.2"), (9, "0"), (9, "0.55"), (20, "0.9")):
        total = mpf(0)
        for m in range(1, n + 1):
            mean = sum(mp.binomial(m, a) / mpf(2) ** m * max(mpf(0), mpf(2 * a - m) / m - mpf(r)) for a in range(m + 1))
            total += mp.binomial(n - 1, m - 1) * p ** (m - 1) * (1 - p) ** (n - m) * mean
        with precision(128):
            found = signs(n, chance).excess(ball(F(r)))
            assert abs(float(found.mid()) - float(total)) <= 1e-15
            assert signs(n, chance).excess(ball(F(r)), -1).overlaps(found)


def test_ends_of_the_average():
    with precision(128):
        assert signs(5).excess(Ball(1)).is_zero()
        assert signs(5).excess(Ball(7)).is_zero()
        unsure = signs(5).excess(Ball(1).union(Ball(0.5)))
        assert unsure.contains(signs(5).excess(Ball(0.75)))
        assert integrated_excess(10**6, Ball(0.5), Ball(0.999999)) < 0.001  # far out: Chernoff's bound
        tiny = signs(10**9).excess(ball(F("0.01")))
        assert 0 < lower_float(tiny) <= upper_float(tiny) < 1e-300 or upper_float(tiny) == 5e-324


@pytest.mark.parametrize("users", [10**6, 10**9, 10**18])
def test_many_users_are_quick_and_certified(users):
    claim = tr.epsilon(tr.RandomizedResponse(1).shuffled(users), delta=F(1, users))
    assert 1 < claim.upper * math.sqrt(users) < 15
    assert claim.computed.upper - claim.computed.lower < 1e-5 * claim.upper
    assert claim.lower > 0.6 * claim.upper
    assert tr.check(claim.to_json())


def test_the_profile_of_two_shuffles_is_their_convolution():
    """Two users, twice: all pairs of counts, against what the grid claims."""
    n, e0 = 2, "1"
    law = pair_law(n, e0)
    for eps in ("0.1", "0.5", "1.2"):
        exact = sum(
            (max(mpf(0), p * s - exp(mpf(eps)) * q * t) for p, q in law for s, t in law),
            mpf(0),
        )
        found = tr.delta(tr.Pure(1).shuffled(n) * 2, epsilon=eps)
        assert float(exact) <= found.upper <= float(exact) * 1.03


def pair_law(n, e0):
    big, p = exp(mpf(e0)), exp(-mpf(e0))
    law = []
    for c in range(n):
        for a in range(c + 2):
            like, unlike = (mp.binomial(c, a - 1) if a else 0), (mp.binomial(c, a) if a <= c else 0)
            weight = mp.binomial(n - 1, c) * p**c * (1 - p) ** (n - 1 - c) / 2**c / (1 + big)
            law.append((weight * (big * like + unlike), weight * (like + big * unlike)))
    return law


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("copies", [2, 40, 3000])
def test_compositions_bracket_the_gaussian_limit(copies):
    """Clones of many users are almost normal with μ = 2tanh(ε₀/2)/√(np): the grid is never below, and close."""
    n = 10**5
    mu = 2 * math.tanh(0.5) / math.sqrt(n * math.exp(-1))
    found = tr.epsilon(tr.Pure(1).shuffled(n) * copies, delta=1e-6)
    limit = tr.epsilon(tr.GDP(F(mu)) * copies, delta=1e-6).upper
    assert limit * 0.999 < found.upper < limit * 1.02
    assert tr.check(found.to_json())
    assert found.lower > 0


def test_deep_tails_of_compositions_use_the_whole_grid():
    m = tr.Pure(1).shuffled(1000) * 3
    deep = tr.epsilon(m, delta="1e-60")
    assert tr.epsilon(m, delta="1e-20").upper < deep.upper < 3


def test_a_shuffle_costs_no_more_than_its_report():
    for base in (tr.Laplace(1), tr.RandomizedResponse(1, k=4), tr.Pure(1), tr.RandomizedResponse(p=0.1, k=5)):
        m = base.shuffled(3)
        assert tr.epsilon(m, delta=1e-3).upper <= tr.epsilon(base, delta=1e-3).upper * (1 + 1e-12)
        assert tr.pure(m).bound == tr.pure(base).bound
        assert tr.renyi(m, 3).upper <= tr.renyi(base, 3).upper * (1 + 1e-9)
    gaussian = tr.Gaussian(1).shuffled(1000)  # no pure ε: nothing is gained, nothing is refused
    assert tr.epsilon(gaussian, delta=1e-5).upper == tr.epsilon(tr.Gaussian(1), delta=1e-5).upper
    assert tr.epsilon(tr.RandomizedResponse(p=1).shuffled(10), delta=1e-5).upper == math.inf
    assert tr.epsilon(tr.Pure(0).shuffled(10), delta=1e-5).upper == 0
    assert math.isclose(
        tr.epsilon(tr.Pure(500).shuffled(10), delta=1e-5).upper, tr.epsilon(tr.Pure(500), delta=1e-5).upper
    )


def test_more_users_never_cost_more():
    found = [tr.epsilon(tr.RandomizedResponse(2, k=3).shuffled(n), delta=1e-6).upper for n in (1, 2, 5, 50, 5000)]
    assert found == sorted(found, reverse=True)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_words_and_refusals():
    m = tr.RandomizedResponse(1).shuffled(1000)
    assert tr.parse("randomized_response(epsilon=1).shuffled(users=1000)") == m
    assert m.relation == "replace"
    assert "shuffled reports" in tr.epsilon(m, delta=1e-6).explain()
    assert tr.compare(m, delta=1e-6).best.route == "exact"
    for wrong in (0, -1, 1.5, True, math.nan, math.inf, "x", None):
        with pytest.raises(tr.BadParameter):
            tr.RandomizedResponse(1).shuffled(wrong)
    for part in (tr.Gaussian(1).poisson(0.1), m, tr.Pure(1).group(2)):
        with pytest.raises(tr.Unsupported):
            part.shuffled(10)
    assert tr.epsilon(m.group(2), delta=1e-6).upper >= tr.epsilon(m, delta=1e-6).upper
    assert tr.tradeoff(m, fpr=0.05).lower > 0.9
    with pytest.raises(tr.RelationMismatch):
        m + tr.Gaussian(1).poisson(0.1)


def test_the_pair_in_balls():
    law = pure_is_shuffled(Pure(real(1)), 50, None)
    ((pair, _),) = law.remove
    assert isinstance(pair, ClonesPair)
    with precision(128):
        x = ball(F(1, 4))
        assert (-(-x).expm1() + (-x).exp() * pair.call(x)).overlaps(pair.call(-x))  # its own reverse
        wide = pair.call(Ball(0).union(x))
        assert wide.contains(pair.call(x / 2))
        assert pair.call(ball(F(1, 3))).overlaps(pair.profile(ball(F(1, 3)), -1))
        assert pair.tail(x) > pair.call(x)
        assert pair.mean() is None
    assert tr.epsilon(tr.Pure(1).shuffled(50) * 2 + tr.Gaussian(10) + tr.Laplace(20), delta=1e-5).route == "exact"
    assert pure_is_shuffled(Pure(ZERO), 50, None) is None
    assert pure_is_shuffled(Pure(UNBOUNDED), 50, None) is None


def test_irrational_parameters_are_told_apart():
    """ln of two ratios that agree to fifteen digits: one must not be answered with the other's number."""
    near = [tr.Table([p, 1 - p], [1 - p, p]).shuffled(50) for p in (F(3, 4), F(3, 4) + F(1, 10**16))]
    one, other = (fact(m, Loss).curve.remove[0][0] for m in near)
    assert one != other
    assert one == one


def test_dots_are_never_below():
    with precision(128):
        law = connected_dots(F(1, 4), [(-4, Ball(0.7)), (0, Ball(0.3)), (1, Ball(0.29)), (4, Ball(0.05))])
        assert 1 not in law.steps  # it would break convexity
        assert sum((m.ball() for m in law.masses), law.infinite.ball()).overlaps(Ball(1))
        flat = connected_dots(F(1, 4), [(0, Ball(0.3)), (2, Ball(0.1)), (4, Ball(0.1))])
        assert flat.steps == (0, 2)


def test_counted_reports_without_news():
    assert loss_attained_by_shuffling(randomized_response_loss(tr.RandomizedResponse(p=1)), 5) is None
    assert loss_attained_by_shuffling(randomized_response_loss(tr.RandomizedResponse(0)), 5) is None
    twice = tr.RandomizedResponse(1) * 2
    assert tr.epsilon(twice.shuffled(100), delta=1e-6).upper < 2


def test_counts_by_enumeration():
    """Counter of the reports equal to the user's datum, everybody else holding another."""
    for k, n, eps in ((2, 6, "0.3"), (3, 4, "0.1")):
        rows = response("1", k)
        laws = []
        for own in (0, 1):
            law = Counter()
            for seen, chance in histogram([rows[own], *(rows[1] for _ in range(n - 1))]).items():
                law[seen.count(0)] += chance
            laws.append(law)
        best = max(hockey_stick(*laws, eps), hockey_stick(*laws[::-1], eps))
        lower = tr.delta(tr.RandomizedResponse(1, k=k).shuffled(n), epsilon=eps).lower
        assert abs(lower - float(best)) < 1e-15


def count_laws(n, hit, other):
    """The law of the count with the one user's datum, and without."""
    plain = [mp.binomial(n, j) * other**j * (1 - other) ** (n - j) for j in range(n + 1)]
    rest = [mp.binomial(n - 1, j) * other**j * (1 - other) ** (n - 1 - j) for j in range(n)]
    return [hit * (rest[j - 1] if j else 0) + (1 - hit) * (rest[j] if j < n else 0) for j in range(n + 1)], plain


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(("n", "rounds", "eps"), [(5, 2, "0.3"), (3, 3, "0.7")])
def test_several_rounds_cost_at_least_their_counts(n, rounds, eps):
    """All tuples of counts, the others' data the same in every round."""
    hit = exp(mpf(1)) / (1 + exp(mpf(1)))
    one, other = count_laws(n, hit, 1 - hit)
    best = mpf(0)
    for first, second in ((one, other), (other, one)):
        total = mpf(0)
        for counts in product(range(n + 1), repeat=rounds):
            p, q = (math.prod(law[j] for j in counts) for law in (first, second))
            total += max(mpf(0), p - exp(mpf(eps)) * q)
        best = max(best, total)
    claim = tr.delta(tr.RandomizedResponse(1).shuffled(n) * rounds, epsilon=eps)
    assert abs(claim.lower - float(best)) < 1e-8 * float(best)
    assert claim.upper >= float(best)
    assert tr.check(claim.to_json())
    beside = tr.delta(tr.RandomizedResponse(1).shuffled(n) * rounds + tr.RandomizedResponse("0.2"), epsilon=eps)
    assert beside.lower > claim.lower


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("most", [40, 400])
def test_cells_of_counts_are_post_processing(most):
    """Of 2000 reports: the cells are probabilities, and never tell more than all counts, at any ε."""
    n, hit, other = 2000, mpf("0.7"), mpf("0.3")
    counted = CountedReports(n, real(F(7, 10)), real(F(3, 10)), most)
    with precision(128):
        cells = counted.masses()
        for side in (0, 1):
            assert (sum((cell[side] for cell in cells), Ball(0)) - 1).overlaps(Ball(0))
    assert len(cells) <= most + 1
    laws = count_laws(n, hit, other)
    for at in ("0", "0.05", "0.1"):
        gamma = exp(mpf(at))
        for side in (0, 1):
            truth = sum((max(mpf(0), p - gamma * q) for p, q in zip(laws[side], laws[1 - side], strict=True)), mpf(0))
            told = sum(
                (max(0.0, float((c[side] - Ball(float(gamma)) * c[1 - side]).mid())) for c in cells),
                0.0,
            )
            assert told <= float(truth) * (1 + 1e-9)
            assert told >= float(truth) * (0.5 if most == 40 else 0.999)


def test_flat_cells_of_counts():
    """Cells in which the chances hardly differ are counted as flat, from below."""
    first, last = Ball(-3), Ball(-3) + Ball(2) ** -40
    with precision(128):
        total, moment = geometric(first, last, 5)
        assert (total - 5 * first.exp()).overlaps(Ball(0))
        assert (moment - 2 * total).overlaps(Ball(0))
        steep, weighted = geometric(Ball(0), Ball(-4), 5)  # 1 + 1/e + … + 1/e⁴
        assert steep.overlaps(sum((Ball(-i).exp() for i in range(5)), Ball(0)))
        assert weighted.overlaps(sum((i * Ball(-i).exp() for i in range(5)), Ball(0)))
