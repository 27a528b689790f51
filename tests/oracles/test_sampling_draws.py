"""Samples with replacement, against draws counted one by one and against records that count as often as drawn."""

from __future__ import annotations

import itertools
from fractions import Fraction

import definitions as d
import pytest
from mpmath import mp, mpf

import tightrope as tr
from tightrope.accounting.facts import fact
from tightrope.curves.loss import Loss
from tightrope.curves.revealed import Revealed
from tightrope.curves.sampled.draws import DrawsPair, cut_draws, drawn_rates, spread
from tightrope.curves.sampled.draws_profile import DrawsProfile
from tightrope.errors import NotCertified
from tightrope.numerics.balls import ball, lower_float, precision, upper_float
from tightrope.numerics.bound import Bound

F = Fraction


def only(mechanism):
    ((pair, n),) = fact(mechanism, Loss).curve.remove
    assert n == 1
    return pair


def counted(size, population):
    """How often record 0 is drawn, over all sequences of draws."""
    found = [F(0)] * (size + 1)
    for draws in itertools.product(range(population), repeat=size):
        found[draws.count(0)] += F(1, population**size)
    return found


@pytest.mark.parametrize(("size", "population"), [(1, 4), (3, 3), (5, 2), (2, 7)])
def test_weights_count_the_draws(size, population):
    pair = only(tr.Gaussian(1).with_replacement(size, population))
    weights = counted(size, population)
    with precision(100):
        for j, weight in enumerate(weights):
            assert pair.weight(j).overlaps(ball(weight))
            assert pair.weight(j).rad() < 1e-25
        low, high = drawn_rates(size, population)
        assert low <= 1 - weights[0] <= high
        assert high - low < F(1, 10**70)
        for kept in range(1, size):
            assert pair._beyond(kept) >= ball(sum(weights[kept + 1 :]) - F(1, 10**25))


def test_one_step_vector():
    """n = 10, m = 3, normal pairs at 0.5, 1 and 1.5, ε = 0.5."""
    x = "0.16195171336689101741"
    claim = tr.delta(tr.Gaussian(2).with_replacement(3, 10), x)
    assert d.encloses(claim.computed, mpf("0.019612206816412602936"), 1e-12)
    assert not claim.tight


def shifted(scale, size, population):
    """Discrete Laplace noise on how often the record was drawn, against none of it: an instance of the description."""
    r, weights = mp.exp(-mpf(1) / scale), counted(size, population)
    span = range(-60 * scale, 60 * scale + size + 1)

    def noise(k):
        return (1 - r) / (1 + r) * r ** abs(k)

    mixed = [mp.fsum(d.number(w) * noise(k - j) for j, w in enumerate(weights)) for k in span]
    return d.Atoms(mixed, [noise(k) for k in span])


@pytest.mark.parametrize(("size", "population"), [(2, 3), (3, 4)])
def test_never_below_a_count_of_the_draws(size, population):
    law = shifted(2, size, population)
    m = tr.DiscreteLaplace(2).with_replacement(size, population)
    twice = law.merged()
    for x in ("0", "0.1", "0.3", "0.6"):
        worst = max(law.hockey(x), law.reverse().hockey(x))
        claim = tr.delta(m, x)
        assert claim.upper >= worst * (1 - mpf(10) ** -12)
        assert 0 < claim.upper <= 1
        assert tr.delta(m * 2, x).upper >= twice.times(twice).hockey(x) * (1 - mpf(10) ** -9)
    assert tr.pure(m).upper >= max(law.largest(), law.reverse().largest()) * (1 - mpf(10) ** -12)
    assert tr.renyi(m, 3).upper >= max(law.renyi(3), law.reverse().renyi(3)) * (1 - mpf(10) ** -12)


def test_lower_end_is_the_record_drawn_or_not():
    weights = counted(3, 4)
    once = d.response(1).sampled(1 - weights[0])
    claim = tr.delta(tr.RandomizedResponse(1).with_replacement(3, 4), "0.2")
    assert claim.lower == pytest.approx(float(once.hockey("0.2")), rel=1e-12)
    assert claim.lower < claim.upper


def test_pure_guarantees_grow_with_the_draws():
    """m = 2 of n = 5: a record drawn twice costs twice; η = 9/25."""
    m = tr.Pure(1).with_replacement(2, 5)
    assert d.encloses(Bound(tr.pure(m).computed.lower, tr.pure(m).upper), mp.log1p(mpf(9) / 25 * mp.expm1(2)), 1e-12)
    both = [(F(8, 25), d.response(1)), (F(1, 25), d.response(2))]
    x = mpf("0.2")
    base = mp.log1p(mp.expm1(x) / (mpf(9) / 25))
    expected = mp.fsum(d.number(w) * max(law.hockey(base), 0) for w, law in both)
    assert d.encloses(tr.delta(m, "0.2").computed, expected, 1e-12)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(
    ("sigma", "size", "population", "steps", "delta"),
    [(2, 10, 1000, 1000, "1e-5"), (2, 3, 10, 20, "0.001")],
)
def test_composed(sigma, size, population, steps, delta):
    """More than without replacement, hardly more at small rates, and what is left out hardly matters."""
    m = tr.Gaussian(sigma).with_replacement(size, population) * steps
    claim = tr.epsilon(m, delta)
    assert claim.route == "exact"
    assert claim.lower < claim.computed.lower
    fixed = tr.epsilon(tr.Gaussian(sigma).without_replacement(size, population) * steps, delta)
    assert fixed.lower < claim.upper
    if size < 10:
        assert claim.witness["cut"] == [[1, 2, 3]]
    else:
        assert claim.upper < 1.2 * fixed.upper
    coarse, fine = (_evaluate(cut_draws(fact(m, Loss).curve, bits)).epsilon(F(delta))[0] for bits in (28, 36))
    assert fine.lower <= coarse.upper * (1 + 1e-9)
    assert coarse.upper < fine.upper * 1.01
    assert tr.check(claim.to_json())


def _evaluate(loss):
    from tightrope.curves.composed_loss import loss_has_profile

    return loss_has_profile(loss)


def test_other_bases_compose():
    for base, steps in ((tr.Laplace(2), 1000), (tr.RandomizedResponse("0.5"), 100)):
        claim = tr.epsilon(base.with_replacement(10, 1000) * steps, "1e-5")
        assert claim.route == "exact"
        assert claim.lower < claim.upper < 1.6 * claim.lower
    mixed = tr.delta(tr.Laplace(2).with_replacement(5, 100) * 60 + tr.Gaussian(3), "1.5")
    assert mixed.route == "exact"
    assert "cut" in mixed.witness


def test_ends():
    assert tr.epsilon(tr.Gaussian(1).with_replacement(0, 5), "1e-9").upper == 0.0
    alone = tr.delta(tr.Gaussian(2).with_replacement(2, 1), "0.3")
    assert d.encloses(Bound(alone.computed.lower, alone.upper), d.normals(1, 1, 0, 1).hockey("0.3"), 1e-12)
    unknown = tr.ZCDP("0.1").with_replacement(2, 10)
    assert fact(unknown, Loss) is None
    assert tr.epsilon(unknown, "1e-5").upper < float("inf")
    often = tr.Gaussian(100).with_replacement(10**6, 10)
    assert tr.epsilon(often, "1e-5").upper > 0
    with pytest.raises(NotCertified):
        only(often).cut(40)
    profile = DrawsProfile(fact(tr.Gaussian(2).with_replacement(3, 10) * 20, Loss).curve, _evaluate)
    for wrong in ([], [[]], [[1, 1]], [[2, 1]], [[0, 1]], [[1, 4]], [[1], [1]]):
        with pytest.raises(NotCertified):
            profile.prove(F(1), {"cut": wrong})
    assert tr.epsilon(tr.Gaussian(2).with_replacement(1, 10**9) * 3, "1e-4").upper == 0.0
    assert tr.delta(tr.Laplace(1).with_replacement(1, 3) * 2, "50").upper == 0.0


def test_mixtures_reveal_their_label():
    pair = only(tr.Gaussian(1).with_replacement(2, 3))
    assert isinstance(pair, DrawsPair)
    base = pair.cut(60).base
    assert isinstance(base, Revealed)
    assert base.mean() is None
    assert base.cumulant(F(1)) is None
    laws = [d.normals(j, 1, 0, 1) for j in (1, 2)]
    weights, eta = counted(2, 3), 1 - counted(2, 3)[0]
    for x in ("0.1", "0.7"):
        with precision(100):
            call, tail = pair.call(ball(F(x))), pair.tail(ball(F(x)))
        lifted = mp.log1p(mp.expm1(mpf(x)) / d.number(eta))
        expected = mp.fsum(d.number(w) * law.hockey(lifted) for w, law in zip(weights[1:], laws, strict=True))
        assert d.encloses(Bound(lower_float(call), upper_float(call)), expected, 1e-12)
        assert upper_float(tail) > float(expected)
    assert d.encloses(tr.renyi(tr.Gaussian(2).with_replacement(1, 10), 4).computed, _one_draw(4), 1e-9)
    many = only(tr.Gaussian(1).with_replacement(100, 1000))
    assert many.cumulant(F(1)) is None
    assert many.mean() is None
    assert not many.cut(40).cumulant(F(1)).is_finite()
    bounded = only(tr.Laplace(1).with_replacement(2, 3))
    with precision(80):
        assert bounded.cut(60).largest().ball().overlaps(bounded.largest().ball())


def _one_draw(order):
    """One draw is a sample of one without replacement."""
    claim = tr.renyi(tr.Gaussian(2).without_replacement(1, 10), order)
    return mpf(claim.computed.lower)


def test_a_profile_that_gives_way_is_asked_for_less():
    """What cannot be proved with little left out is tried with more left out, and then given up."""
    loss = fact(tr.Gaussian(2).with_replacement(20, 50) * 20, Loss).curve
    assert DrawsProfile(loss, _evaluate).epsilon(F(1, 100))[1]["cut"][0][-1] > 9

    class Refusing(DrawsProfile):
        def at(self, counts):
            if counts[0][-1] > self.most:
                raise NotCertified("a test", "too fine")
            return super().at(counts)

    profile = Refusing(loss, _evaluate)
    object.__setattr__(profile, "most", 9)
    bound, witness = profile.epsilon(F(1, 100))
    assert witness["cut"][0][-1] <= 9
    assert profile.prove(F(bound.upper), witness) <= ball(F(1, 100))
    assert profile.find(F(3))["cut"][0][-1] <= 9
    none = Refusing(loss, _evaluate)
    object.__setattr__(none, "most", 0)
    with pytest.raises(NotCertified):
        none.epsilon(F(1, 100))
    with pytest.raises(NotCertified):
        none.find(F(3))


def test_a_multiplicity_left_out_counts_as_the_next_one_kept():
    """{2, 4} of 5 draws: one or two count as two, three or four as four, five as certain loss."""
    pair, weights = only(tr.Gaussian(1).with_replacement(5, 3)), counted(5, 3)
    shares = [weights[1] + weights[2], weights[3] + weights[4]]
    eta = d.number(1 - weights[0])
    merged = pair.chosen((2, 4))
    assert pair.chosen((2, 4)) is merged
    for x in ("0.1", "0.7"):
        lifted = mp.log1p(mp.expm1(mpf(x)) / eta)
        laws = [d.normals(j, 1, 0, 1).hockey(lifted) for j in (2, 4)]
        expected = mp.fsum(d.number(s) * law for s, law in zip(shares, laws, strict=True)) + d.number(weights[5])
        with precision(100):
            call, whole = merged.call(ball(F(x))), pair.call(ball(F(x)))
        assert float(expected) * (1 - 1e-12) < lower_float(call)
        assert upper_float(call) < float(expected) * 1.5  # a bound of the leak, which falls by ratios
        assert lower_float(call) > upper_float(whole)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_what_is_not_kept_is_not_seen():
    """ε with the multiplicities that the profile chose, against all of them."""
    m = tr.Gaussian(50).with_replacement(60, 600) * 500
    loss, delta = fact(m, Loss).curve, F(1, 10**6)
    bound, witness = DrawsProfile(loss, _evaluate).epsilon(delta)
    (kept,) = witness["cut"]
    every = tuple(range(1, kept[-1] + 1))
    assert len(kept) < len(every)
    best = DrawsProfile(loss, _evaluate).at((every,)).epsilon(delta)[0]
    assert best.lower <= bound.upper <= best.upper * (1 + 1e-7)


def test_which_multiplicities_serve_without_a_tilt():
    pair = only(tr.Gaussian(1).with_replacement(1000, 1000))
    counts = spread(pair, 80)
    assert counts[:10] == tuple(range(1, 11))
    assert counts[-1] == pair.kept(80)
    assert len(counts) < counts[-1]
    finite = only(tr.RandomizedResponse(1).with_replacement(1000, 1000))
    assert spread(finite, 80) == tuple(range(1, finite.kept(80) + 1))
    with pytest.raises(NotCertified):
        spread(only(tr.Gaussian(1).with_replacement(30_000, 1000)), 80)


def test_records_drawn_too_often():
    """Ten thousand times on average: no product is made, and what is known of a million records at once answers."""
    profile = DrawsProfile(fact(tr.Gaussian(100).with_replacement(10**5, 10) * 2, Loss).curve, _evaluate)
    with pytest.raises(NotCertified):
        profile.epsilon(F(1, 1000))
    with pytest.raises(NotCertified):
        profile.find(F(1))
    assert profile.deltas([F(1)]) == [None]
    assert profile.epsilons([F(1, 1000)]) == [None]


def test_noise_too_wide_for_a_transform_is_cut_without_a_tilt():
    claim = tr.epsilon(tr.DiscreteGaussian(1000).with_replacement(20, 100) * 3, "1e-6")
    assert claim.route == "exact"
    near = tr.epsilon(tr.Gaussian(1000).with_replacement(20, 100) * 3, "1e-6")
    assert claim.upper == pytest.approx(near.upper, rel=1e-2)


def test_many_points_share_their_work():
    profile = DrawsProfile(fact(tr.Gaussian(2).with_replacement(3, 10) * 20, Loss).curve, _evaluate)
    points = [F(1), F(2), F(200)]
    values = profile.deltas(points)
    assert profile.deltas([]) == []
    assert profile.epsilons([]) == []
    for x, value in zip(points, values, strict=True):
        alone = profile.prove(x, profile.find(x))
        assert abs(upper_float(value) - upper_float(alone)) <= 1e-6 * upper_float(alone)
    (found,) = profile.epsilons([F(1, 1000)])
    assert found.upper == pytest.approx(profile.epsilon(F(1, 1000))[0].upper, rel=1e-6)
    assert profile.estimate(F(1, 1000)) == pytest.approx(found.upper, rel=1e-3)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("base", [tr.RandomizedResponse("0.3"), tr.Pure("0.3"), tr.DiscreteLaplace(2, 2)])
def test_many_draws_of_finite_laws(base):
    """As many draws as records: hundreds of atoms, each a sum over the multiplicities."""
    m = base.with_replacement(60, 60)
    claim = tr.epsilon(m * 3, "1e-6")
    assert claim.route == "exact"
    assert claim.computed.upper - claim.computed.lower < 1e-9 * claim.computed.upper
    assert tr.delta(m, "0.4").upper < tr.delta(m * 2, "0.4").upper
    assert tr.renyi(m, 2).upper < tr.pure(m).upper


def counts_of_noise(variance, size, population):
    """Discrete Gaussian noise on how often the record was drawn, against none of it: an instance of the description."""
    weights = counted(size, population)
    span = range(-60, 61 + size)
    masses = {k: mp.exp(-mpf(k * k) / (2 * variance)) for k in range(-80, 81)}
    total = mp.fsum(masses.values())
    mixed = [mp.fsum(d.number(w) * masses[k - j] for j, w in enumerate(weights)) / total for k in span]
    return d.Atoms(mixed, [masses[k] / total for k in span])


@pytest.mark.parametrize(("size", "population"), [(2, 3), (3, 4)])
def test_discrete_noise_on_a_sum_of_draws(size, population):
    law, m = counts_of_noise(9, size, population), tr.DiscreteGaussian(3).with_replacement(size, population)
    weights, eta = counted(size, population), 1 - counted(size, population)[0]
    for x in ("0", "0.1", "0.3"):
        claim = tr.delta(m, x)
        assert claim.upper >= max(law.hockey(x), law.reverse().hockey(x)) * (1 - mpf(10) ** -12)
        lifted = mp.log1p(mp.expm1(mpf(x)) / d.number(eta))
        shifts = [d.Atoms(*_shifted_noise(9, j)).hockey(lifted) for j in range(1, size + 1)]
        expected = mp.fsum(d.number(w) * one for w, one in zip(weights[1:], shifts, strict=True))
        assert d.encloses(claim.computed, expected, 1e-12)
        assert "a record drawn j times counts j times" in claim.explain()
    several = tr.epsilon(m * 40, "1e-5")
    assert several.route == "exact"
    assert tr.check(several.to_json())


def _shifted_noise(variance, shift):
    masses = [mp.exp(-mpf(k * k) / (2 * variance)) for k in range(-80, 81)]
    total = mp.fsum(masses)
    zeros = [mpf(0)] * shift
    return [*zeros, *(m / total for m in masses)], [*(m / total for m in masses), *zeros]
