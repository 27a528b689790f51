"""Contours of losses with a tiny normal loss added: their kernels, proofs and plans, against other methods."""

import math
from dataclasses import replace
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

import tightrope as tr
from tightrope.accounting.facts import fact
from tightrope.curves.engines.smoothed_profile import smoothed_profile
from tightrope.curves.loss import Loss
from tightrope.curves.sampled.draws import cut_draws
from tightrope.errors import NotCertified
from tightrope.numerics import effort
from tightrope.numerics.balls import Ball, precision
from tightrope.numerics.contour.integral import ContourSum
from tightrope.numerics.contour.smoothed import SmoothedSum, SmoothPlan
from tightrope.numerics.contour.smoothed_proof import NotLow, SmoothedProof
from tightrope.numerics.real import Real
from tightrope.numerics.sums.finite import scattered
from tightrope.numerics.transforms.closed import NormalTransform
from tightrope.numerics.transforms.exchanged_discrete import ExchangedDiscreteNormalTransform
from tightrope.numerics.transforms.finite import FiniteTransform
from tightrope.numerics.transforms.mixture import MixtureTransform

F = Fraction


def rare_losses(leak=0):
    """Small losses, and now and then large ones, discrete Gaussian noise."""
    small, large = (ExchangedDiscreteNormalTransform(F(4), shift, F(1, 50), True) for shift in (1, 12))
    return MixtureTransform([(Real(F(999_999, 10**6)), small), (Real(F(1, 10**6) - leak), large)], Real(F(leak)))


@pytest.fixture(scope="module")
def total():
    return SmoothedSum([(rare_losses(), 3000)])


def mills(z):
    return (1 - mp.ncdf(z)) / mp.npdf(z)


def less(z):
    return mp.mpf(12) / 25 - mp.mpf(4) / 25 * z * z


def more(z):
    return 1 - z * z / 2 + z**4 / 12


def test_both_polynomials_enclose_what_mills_ratio_leaves():
    with mp.workdps(22):
        for z in mp.linspace(0, 6, 241):
            rest = 1 - z * mills(z)
            assert less(z) < rest <= more(z)
        assert more(mp.mpf("1.3")) - (1 - mp.mpf("1.3") * mills(mp.mpf("1.3"))) < 0.15  # and are near it
    w = np.linspace(0, 12, 100_001)
    assert 3.7 < float((3 * w - 2 * w**2 / 3 + w**3 / 36).max()) < 3.79
    w = w[w <= 3]
    assert 184 < float((1352 - 2720 * w + 1696 * w**2 - 128 * w**3).min()) < 185


@pytest.mark.parametrize("width", ["0.9", "0.05"])
def test_the_kernels_enclose_the_calls_and_have_these_transforms(width):
    with mp.workdps(22):
        size, half = mp.mpf(width), mp.mpf(1) / 2

        def upper(u):
            return mp.ncdf(u / size + size / 2) - mp.exp(-u) * mp.ncdf(u / size - size / 2)

        def kernel(u, polynomial):
            return size * mp.npdf(u / size) * mp.exp(-u / 2) * polynomial(u / size)

        for u in mp.linspace(-5 * size, 5 * size, 41):
            excess = upper(u) - max(0, 1 - mp.exp(-u))
            assert mp.exp(-size * size / 8) * kernel(u, less) <= excess <= kernel(u, more)
            assert excess <= min(upper(u), 1 - upper(u), upper(u) - 1 + mp.exp(-u)) + mp.mpf(10) ** -20
        s = mp.mpc("0.7", 2)
        factor, a = mp.exp(size**2 * s * (s + 1) / 2), size * (s + half)
        tail = mp.quad(lambda u: mp.exp(-s * u) - mp.exp(-(s + 1) * u), [12 * size, mp.inf])
        pieces = mp.linspace(-12 * size, 12 * size, 9)
        first = mp.quad(lambda u: upper(u) * mp.exp(-s * u), pieces) + tail
        assert abs(first - factor / (s * (s + 1))) < 1e-15
        scale = size**2 * mp.exp(size**2 / 8) * factor
        for polynomial, known in ((more, mp.mpf(3) / 4 + a**4 / 12), (less, (8 - 4 * a**2) / 25)):
            found = mp.quad(lambda u, polynomial=polynomial: kernel(u, polynomial) * mp.exp(-s * u), pieces)
            assert abs(found - scale * known) < 1e-15


@pytest.mark.parametrize(("count", "last", "nats"), [(40, 40, 60), (8, 60, 3), (30, 90, 10)])
def test_tails_bound_the_sums_that_they_stand_for(count, last, nats):
    """With nothing but the normal loss, and with a product as large as is allowed."""
    plan = SmoothPlan(F(2), F(1, 2), count, 64, F(1, 6), last, nats)
    proof = SmoothedProof.__new__(SmoothedProof)
    proof._plan = plan
    with precision(100):
        proof._tails()
    t, width = 2.0, 1 / 6
    y = 0.5 * np.arange(count + 1, 4000)
    allowed = np.where(y <= 0.5 * last, np.minimum(math.exp(-nats) * y / (0.5 * count), 1.0), 1.0)
    falls = allowed * np.exp(-(width**2) * y**2 / 2)
    nodes = t + 1j * y
    square = (width * (nodes + 0.5)) ** 2
    assert 2 * float((falls / abs(nodes * (nodes + 1))).sum()) <= float(proof._upper_tail)
    largest = max(2 * float((falls * abs(known)).sum()) for known in ((9 + square**2) / 12, (8 - 4 * square) / 25))
    assert largest <= float(proof._kernel_tail) < 40 * largest


def test_a_contour_that_decays_by_itself_agrees():
    parts = [(rare_losses(), 2000), (NormalTransform(Real(F(1, 10))), 1)]
    plain, smoothed = ContourSum(parts), SmoothedSum(parts)
    x, slope = smoothed.root(math.log(1e-5))
    plan = smoothed.plan(x, math.log(1e-5), slope, 1e-9)
    with precision(128):
        truth = plain.call(Ball(x), plain.plan(x))
        value = smoothed.call(Ball(x), plan)
        assert float(value.rad() / value.mid()) < 1e-9
        assert value.contains(truth)
        assert value.lower() < truth < value.upper()
        # neither end has room to spare: with half of the gap on its side it would be on the wrong one
        assert 0.2 < float((value.upper() - truth) / (value.upper() - value.lower())) < 0.8


def test_atoms_are_enclosed_as_their_exact_law_says():
    """Two losses, listed: nothing is low between the last node and the normal loss' own decay."""
    high = math.log(3)
    law = scattered([Real(F(0)), Real(None, lambda: Ball(3).log()), Real(None, lambda: -Ball(3).log())],
                    [Real(F(3, 5)), Real(F(3, 10)), Real(F(1, 10))], Real(F(0)))
    parts, k, x = [(FiniteTransform(law), 6)], 6, 2.0
    chances = np.array([1.0])
    for _ in range(k):
        chances = np.convolve(chances, [0.1, 0.6, 0.3])
    truth = sum(p * -math.expm1(x - j * high) for j, p in zip(range(-k, k + 1), chances, strict=True) if j * high > x)
    total = SmoothedSum(parts)
    plan = SmoothPlan(F(1), F(1, 8), 1600, 64, F(1, 16), 1600, 60)
    value = total.call(Ball(x), plan)
    assert float(value.lower()) < truth < float(value.upper())
    assert float(value.upper() - value.lower()) < 0.03
    near_atom = total.call(Ball(2 * high), plan)  # there the kernels are furthest apart
    exact = sum(p * -math.expm1((2 - j) * high) for j, p in zip(range(-k, k + 1), chances, strict=True) if j > 2)
    assert float(near_atom.lower()) < exact < float(near_atom.upper())
    with precision(64):
        proof = SmoothedProof(parts, total._saddles, plan)
        for bound, name in ((proof._upper_tail, "upper"), (proof._kernel_tail, "kernels")):
            assert 0 < float(bound) < 1e-9, name
        short = SmoothedProof(parts, total._saddles, replace(plan, count=400, last=400))
        assert short.call(Ball(x)).contains(Ball(truth))  # tails that are not small are in the ball


def test_searches_find_what_the_proof_says(total):
    for goal in (math.log(1e-3), math.log(1e-9)):
        x, slope = total.root(goal)
        plan = total.plan(x, goal, slope, 1e-8)
        with precision(100):
            value = total.call(Ball(x), plan)
            assert float(value.mid().log()) == pytest.approx(goal, abs=0.02)
            more = total.call(Ball(x) + Ball(0.001), plan)
            assert float((more.mid().log() - value.mid().log()) / 0.001) == pytest.approx(slope, rel=0.05)
        again = total.call(Ball(x), total.plan_at(x, 1e-8))
        assert again.overlaps(value)
        assert float(again.rad() / again.mid()) < 1e-7


def test_a_call_never_rises_and_balls_of_x_are_enclosed(total):
    x, slope = total.root(math.log(1e-6))
    plan = total.plan(x, math.log(1e-6), slope, 1e-7)
    with precision(100):
        wide = total.call(Ball(x).union(Ball(x + 0.01)), plan)
        for at in (x, x + 0.005, x + 0.01):
            assert wide.contains(total.call(Ball(at), plan))
        assert total.call(Ball(math.inf), plan).contains(Ball(0))


def test_rare_losses_are_told_from_others(total):
    assert total.weak()
    assert total.rare(math.log(1e-12))
    small = SmoothedSum([(ExchangedDiscreteNormalTransform(F(4), 1, F(1, 50), True), 3000)])
    assert not small.rare(math.log(1e-12))
    assert not SmoothedSum([(NormalTransform(Real(F(1, 10))), 100)]).weak()
    assert not total.dear()


def test_plans_that_prove_nothing_are_refused(total):
    x, slope = total.root(math.log(1e-6))
    plan = total.plan(x, math.log(1e-6), slope, 1e-7)
    for change in ({"t": F(0)}, {"count": 0}, {"last": plan.count - 1}, {"width": F(0)}, {"nats": 0}, {"bits": 1}):
        with pytest.raises(NotCertified, match="void"):
            total.call(Ball(x), replace(plan, **change))
    with pytest.raises(NotCertified, match="too near"):
        total.call(Ball(x), replace(plan, width=F(1, 10**9), last=plan.count))
    count, last = plan.count, plan.last
    for islands in (((count, count),), ((last + 1, last + 1),), ((300, 299),), ((300, 310), (310, 320))):
        with pytest.raises(NotCertified, match="void"):  # else a node would count twice, or none
            total.call(Ball(x), replace(plan, islands=islands))
    for change in ({"nats": 50 * plan.nats}, {"count": plan.count // 2}):
        with pytest.raises(NotCertified, match="not low"):
            total.call(Ball(x), replace(plan, **change))


def test_a_leak_bounds_what_can_be_asked():
    leaky = SmoothedSum([(rare_losses(F(1, 10**9)), 3000)])
    leak = math.log(float(leaky.infinite().mid()))
    assert leaky.root(leak - 1) == (math.inf, 0.0)
    assert leaky.root(0.0)[0] == -math.inf
    assert 0 < leaky.root(leak + 1)[0] < math.inf


def test_what_cannot_be_seen_or_paid_is_said():
    lattice = ExchangedDiscreteNormalTransform(F(9, 10**3), 1, F(1, 50), True)  # three values, so that nothing is low
    with pytest.raises(NotCertified):
        SmoothedSum([(lattice, 20)]).root(math.log(1e-2))
    with effort.allowed(1e3), pytest.raises(NotCertified):
        SmoothedSum([(rare_losses(), 3001)]).root(math.log(1e-6))
    with effort.allowed(1e3), pytest.raises(NotCertified):
        SmoothedSum([(rare_losses(), 3001)]).plan_at(2.0, 1e-9)


def test_where_a_call_is_not_seen_there_is_a_bound(total, monkeypatch):
    x = 60.0
    exact = total.call(Ball(x), total.plan_at(x, 1e-9))
    assert float(exact.rad() / exact.mid()) < 1e-6
    blind = SmoothedSum([(rare_losses(), 3000)])
    monkeypatch.setattr(blind, "_log_slope", lambda *_: None)
    levels, proved = [], blind._proved

    def counted(at, level, *rest):
        levels.append(level)
        return proved(at, level, *rest)

    monkeypatch.setattr(blind, "_proved", counted)
    value = blind.call(Ball(x), blind.plan_at(x, 1e-9))
    assert len(levels) > 1
    assert levels == sorted(levels, reverse=True)
    assert value.overlaps(exact)
    assert float(value.upper()) < 2 * float(exact.upper())

    def spent(at, level, *rest):
        if level < levels[0]:
            raise NotCertified("a smoothed contour", "no work is left")
        return proved(at, level, *rest)

    monkeypatch.setattr(blind, "_proved", spent)
    wider = blind.call(Ball(x), blind.plan_at(x, 1e-9))
    assert wider.overlaps(exact)
    assert float(wider.upper()) < 2 * float(exact.upper())
    monkeypatch.setattr(blind, "_proved", proved)
    with pytest.raises(NotCertified, match="no search"):
        blind.root(math.log(1e-9))


def test_the_normal_loss_is_as_wide_as_a_near_lattice_demands(monkeypatch):
    """Steps of wide noise come back near 2π/(2q/v): without islands no narrower normal loss has low nodes."""
    from tightrope.numerics.contour.blurred import BlurredSum

    monkeypatch.setattr("tightrope.numerics.contour.smoothed.islands", lambda *_: None)
    parts = [(ExchangedDiscreteNormalTransform(F(900), 1, F(1, 100), False), 1500)]
    smoothed, blurred = SmoothedSum(parts), BlurredSum(parts)
    goal = math.log(1e-6)
    x, slope = smoothed.root(goal)
    plan = smoothed.plan(x, goal, slope, 1e-11)
    assert float(plan.width) > 3 * math.sqrt(1e-11 / (2 * slope * (slope - 1)))
    assert math.pi * 2 / (2 / 100 / 900) > float(plan.eta) * plan.last  # it ends before
    value, other = smoothed.call(Ball(x), plan), blurred.call(Ball(x), blurred.plan(x, 1e-9))
    assert value.overlaps(other)
    assert float(value.rad() / value.mid()) < 1e-2
    assert float(value.rad() / value.mid()) > float(other.rad() / other.mid())


def test_some_more_nodes_are_taken_where_few_are_not_low(total, monkeypatch):
    x, slope = total.root(math.log(1e-6))
    plan = total.plan(x, math.log(1e-6), slope, 1e-7)
    fewer = SmoothedSum([(rare_losses(), 3000)])
    count = fewer._count
    monkeypatch.setattr(fewer, "_count", lambda *rest: math.ceil(0.75 * count(*rest)))
    assert plan.count < fewer.plan(x, math.log(1e-6), slope, 1e-7).count < 1.3 * plan.count


def test_a_lattice_is_left_to_others(monkeypatch):
    loss = F(1, 30)
    law = scattered([Real(F(0)), Real(loss), Real(-loss)], [Real(F(1, 2)), Real(F(3, 10)), Real(F(1, 5))], Real(F(0)))
    lattice = SmoothedSum([(FiniteTransform(law), 4000)])
    with pytest.raises(NotLow) as caught:  # any λ that ends before its first return would cost too much
        lattice.plan(22.0, math.log(1e-6), -20.0, 1e-9)
    assert 50 < caught.value.reached < 2 * math.pi * 30
    seen = iter([(math.log(1e-4), -0.5)])
    monkeypatch.setattr(lattice, "_log_slope", lambda *_: next(seen, None))
    monkeypatch.setattr(lattice, "_proved", lambda *_, **__: SmoothPlan(F(1), F(1, 4), 80, 64, F(1, 2), 80, 60))
    with pytest.raises(NotCertified, match="no search"):
        lattice.root(math.log(1e-6))


@pytest.fixture(scope="module")
def drawn():
    return tr.DiscreteGaussian("5.58").with_replacement(25, 11_977) * 75_698


def test_many_draws_with_discrete_noise_are_sharp(drawn):
    claim = tr.epsilon(drawn, delta=1e-11)
    assert claim.witness["way"] == "flat"
    assert 0 < 1 - claim.computed.lower / claim.computed.upper < 1e-9
    assert tr.check(claim.to_json())
    spoilt = claim.to_json().replace('"nats": ', '"nats": 9')
    assert spoilt != claim.to_json()
    assert not tr.check(spoilt)


def test_profiles_share_their_contours(drawn):
    profile = smoothed_profile(cut_draws(fact(drawn, Loss).curve, 70))
    delta = F(1, 10**9)
    bound, witness = profile.epsilon(delta)
    assert 0 < 1 - bound.lower / bound.upper < 1e-9
    assert profile.estimate(delta) == pytest.approx(bound.upper, rel=1e-2)
    near = F(bound.upper)
    values = profile.deltas([near, near * F(1001, 1000)])
    assert float(values[0].mid()) == pytest.approx(1e-9, rel=1e-6)
    assert float(values[1].mid()) < float(values[0].mid())
    again = profile.epsilons([delta])[0]
    assert again.lower <= bound.upper
    assert again.upper >= bound.lower
    found = profile.find(near)
    assert profile.prove(near, found).overlaps(profile.prove(near, witness))


def test_ends_where_there_is_nothing_to_find(drawn, monkeypatch):
    profile = smoothed_profile(cut_draws(fact(drawn, Loss).curve, 30))
    assert profile.epsilon(F(1, 10**30))[0].upper == math.inf  # less than what was left out
    bound, witness = profile.epsilon(F(999, 1000))
    assert bound.upper == 0
    assert profile.meets(F(0), F(999, 1000), witness)
    monkeypatch.setattr(profile.total, "root", lambda _: (-1.0, -1.0))
    with pytest.raises(NotCertified, match="too close to 0"):
        profile.epsilon(F(1, 1000))
    assert profile.estimate(F(1, 1000)) == 0.0
    monkeypatch.undo()
    monkeypatch.setattr(type(profile), "meets", lambda *_: False)
    with pytest.raises(NotCertified, match="no contour proved"):
        profile.epsilon(F(1, 1000))
