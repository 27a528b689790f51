"""The shape of the answers: monotone, convex, consistent with each other, and never out of range."""

import itertools
import math
from fractions import Fraction

import pytest
from hypothesis import given, settings

import tightrope as tr
from laws.registered import EVERYTHING, FIRST, QUICK, SAMPLED, answers, near, sane
from laws.trees import leaves

SMALL = [*FIRST, *SAMPLED[:2], *EVERYTHING[-18:-12]]


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("m", EVERYTHING, ids=str)
def test_every_answer_is_sane(m):
    for _, claim in answers(m):
        sane(claim)
        assert claim.explain()
        if claim.tight and math.isfinite(claim.upper) and claim.question.ask != "tcdp":
            assert claim.upper - claim.lower <= 1e-9 * claim.upper + 1e-300, claim


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("m", QUICK, ids=str)
def test_delta_falls_in_epsilon(m):
    found = [tr.delta(m, epsilon=e) for e in (0, "1e-9", 0.1, 1, 40)]
    for claim in found:
        sane(claim)
    for before, after in itertools.pairwise(found):
        assert after.lower <= before.upper
        assert after.upper <= before.upper * (1 + 1e-9)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("m", QUICK, ids=str)
def test_epsilon_falls_in_delta(m):
    found = [tr.epsilon(m, delta=d) for d in ("1e-40", 1e-4, 0.1)]
    for before, after in itertools.pairwise(found):
        assert after.lower <= before.upper
        assert after.upper <= before.upper * (1 + 1e-9)
    assert tr.epsilon(m, delta=1).upper == 0
    assert tr.epsilon(m, delta=0).upper >= found[0].lower


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("m", QUICK, ids=str)
@pytest.mark.parametrize("delta", ["1e-9", "0.001"])
def test_delta_of_epsilon_returns(m, delta):
    target = Fraction(delta)
    claim = tr.epsilon(m, delta=delta)
    if not math.isfinite(claim.upper):
        return
    there = tr.delta(m, epsilon=Fraction(claim.upper))
    assert Fraction(there.lower) <= target
    assert there.upper <= float(target) * (1 + 1e-6)
    if claim.lower > 0 and claim.tight:
        here = tr.delta(m, epsilon=Fraction(claim.lower))
        assert Fraction(here.upper) >= target


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("m", QUICK, ids=str)
def test_the_largest_loss_ends_the_profile(m):
    """Pure ε is where δ becomes 0, and δ at a finite pure ε is exactly 0 to every digit shown."""
    pure = dict(answers(m, "pure")).get("pure")
    if pure is None or not math.isfinite(pure.upper):
        return
    beyond = tr.delta(m, epsilon=Fraction(pure.upper))
    assert beyond.lower == 0
    assert beyond.upper <= 1e-15
    assert tr.epsilon(m, delta="1e-300").lower <= pure.upper
    if pure.tight and pure.lower > 0:
        assert tr.delta(m, epsilon=Fraction(pure.lower) * Fraction(99, 100)).upper > 0


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("m", QUICK, ids=str)
def test_renyi_grows_with_the_order_and_its_cumulant_is_convex(m):
    orders = [Fraction(x) for x in ("1.01", "1.5", "2", "3", "5", "9")]
    try:
        found = [tr.renyi(m, order=a) for a in orders]
    except tr.Unsupported:
        return
    for before, after in itertools.pairwise(found):
        sane(before)
        assert before.lower <= after.upper
        assert before.upper <= after.upper * (1 + 1e-8)  # an enclosed divergence is rounded to 30 bits
    for (a, low), (b, mid), (c, high) in zip(
        *(list(zip(orders, found, strict=True))[i:] for i in range(3)), strict=False
    ):
        if math.isfinite(high.upper):
            share = (b - a) / (c - a)
            chord = (1 - share) * (a - 1) * Fraction(low.upper) + share * (c - 1) * Fraction(high.upper)
            assert (b - 1) * Fraction(mid.lower) <= chord
    pure = dict(answers(m, "pure")).get("pure")
    if pure is not None:
        assert found[-1].lower <= pure.upper
        assert tr.renyi(m, order=math.inf).bound == pure.bound


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("m", QUICK, ids=str)
def test_notions_agree_with_the_divergence(m):
    """D_α ≤ ρα, D_α ≤ μ²α/2, and tCDP asks for no more than zCDP."""
    found = dict(answers(m, "renyi", "zcdp", "tcdp", "gdp", "advantage"))
    if "renyi" in found:
        for name, cap in (("zcdp", 3.0), ("tcdp", 3.0)):
            if name in found:
                assert found["renyi"].lower <= found[name].upper * cap * (1 + 1e-12), name
        if "gdp" in found:
            assert found["renyi"].lower <= found["gdp"].upper ** 2 * 1.5 * (1 + 1e-12)
    if "gdp" in found and math.isfinite(found["gdp"].upper):
        assert found["advantage"].lower <= math.erf(found["gdp"].upper / 2 / math.sqrt(2)) + 1e-12
    if "zcdp" in found and "tcdp" in found:
        assert found["tcdp"].lower <= found["zcdp"].upper


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("m", SMALL, ids=str)
def test_the_tradeoff_is_convex_falling_and_below_guessing(m):
    points = [Fraction(x) for x in ("0", "0.001", "0.1", "0.3", "0.6", "1")]
    found = [tr.tradeoff(m, fpr=a) for a in points]
    for a, claim in zip(points, found, strict=True):
        sane(claim)
        assert claim.safe == claim.lower
        assert Fraction(claim.lower) <= 1 - a
        assert claim.upper <= float(1 - a) + 1e-15
    for before, after in itertools.pairwise(found):
        assert after.lower <= before.upper
    for (a, left), (b, mid), (c, right) in zip(
        *(list(zip(points, found, strict=True))[i:] for i in range(3)), strict=False
    ):
        share = (b - a) / (c - a)
        assert Fraction(mid.lower) <= (1 - share) * Fraction(left.upper) + share * Fraction(right.upper)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("m", SMALL[::2], ids=str)
def test_the_tradeoff_and_the_profile_are_one_curve(m):
    """f(a) ≥ 1 − δ(ε) − e^ε·a for every ε, and the advantage is the largest gap to guessing."""
    advantage = tr.advantage(m)
    for a in (0.05, 0.4):
        f = tr.tradeoff(m, fpr=a)
        for e in (0, 0.5, 2):
            assert f.upper >= 1 - tr.delta(m, epsilon=e).upper - math.exp(e) * a - 1e-12
        assert 1 - a - f.upper <= advantage.upper + 1e-12


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@settings(max_examples=60)
@given(leaves())
def test_random_leaves_are_consistent(m):
    claim = tr.epsilon(m, delta="1e-6")
    sane(claim)
    if math.isfinite(claim.upper):
        assert Fraction(tr.delta(m, epsilon=Fraction(claim.upper)).lower) <= Fraction("1e-6")
    for e in (0, 1):
        sane(tr.delta(m, epsilon=e))
    assert tr.delta(m, epsilon=1).lower <= tr.delta(m, epsilon=0).upper
    for name, found in answers(m, "pure", "renyi", "zcdp", "gdp"):
        sane(found)
        if name == "pure":
            assert claim.lower <= found.upper


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("m", FIRST[::3], ids=str)
def test_profile_arrays_are_the_single_answers(m):
    profile = tr.profile(m)
    lower, upper = profile.delta([0.1, 1])
    assert [(lower[i], upper[i]) for i in (0, 1)] == [(c.lower, c.upper) for c in (tr.delta(m, 0.1), tr.delta(m, 1))]
    lower, upper = profile.epsilon([1e-3])
    assert near(lower[0], tr.epsilon(m, 1e-3).lower)
    lower, upper = profile.tradeoff([0.2])
    assert lower[0] == tr.tradeoff(m, 0.2).lower


def test_few_points_are_known_about_as_well_as_single_ones():
    """A point that eats all work, like δ = 10⁻¹⁰⁰ of a group, takes none of what the others need."""
    m = (tr.Gaussian(2).poisson("0.01") * 100).group(3)
    deltas = [0, "1e-100", "1e-10", "1e-5", "0.1", 1]
    lower, upper = tr.profile(m).epsilon(deltas)
    for delta, low, high in zip(deltas[2:4], lower[2:4], upper[2:4], strict=True):
        single = tr.epsilon(m, delta=delta)
        assert high <= single.upper * (1 + 1e-6)
        assert low >= single.lower * (1 - 1e-6)
    assert upper[1] < 25
    assert upper[4] == upper[5] == 0
