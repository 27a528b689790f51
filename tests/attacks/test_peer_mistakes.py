"""Mistakes that other accountants made, and traps of the theory: each with the number that exposes it."""

import math
from fractions import Fraction

import mpmath as mp
import pytest

import tightrope as tr

pytestmark = pytest.mark.no_cover  # long, and shorter ones come by the same lines


def encloses(claim, value, width=1e-9):
    assert claim.lower <= value <= claim.upper, claim
    assert claim.upper - claim.lower <= width * max(value, 1e-300), claim


def response_delta(eps0, k, copies, eps):
    """δ of k-ary randomized response, composed: multinomial sum over (true, neighbour's, other) answers, in mpmath."""
    e = mp.mpf(eps0)
    bottom = mp.e**e + k - 1
    up, down, level = mp.e**e / bottom, 1 / bottom, mp.mpf(k - 2) / bottom
    total = mp.mpf(0)
    for a in range(copies + 1):
        for b in range(copies + 1 - a):
            loss = (a - b) * e
            if loss > eps:
                weight = (
                    mp.binomial(copies, a) * mp.binomial(copies - a, b) * up**a * down**b * level ** (copies - a - b)
                )
                total += weight * -mp.expm1(eps - loss)
    return total


def test_the_count_of_k_ary_responses_is_not_lost():
    """A peer forgets the count in one branch: 100 four-way responses cost ε = 1.00 there instead of 62.9."""
    claim = tr.epsilon(tr.RandomizedResponse(1, k=4) * 100, delta=1e-6)
    with mp.workdps(30):
        assert response_delta(1, 4, 100, mp.mpf(claim.upper)) <= mp.mpf("1e-6")
        assert response_delta(1, 4, 100, mp.mpf(claim.lower)) >= mp.mpf("1e-6") * (1 - mp.mpf("1e-12"))
    assert 62.8 < claim.lower <= claim.upper < 63
    assert claim.tight


def test_the_interval_of_a_pure_mechanism_holds_the_truth():
    """A peer's certified interval misses the truth by 14 %, because its pure-DP helper is wrong."""
    for eps0, copies in ((1, 10), (0.5, 30), (0.1, 200)):
        claim = tr.epsilon(tr.Pure(eps0) * copies, delta=1e-6)
        with mp.workdps(30):
            assert response_delta(eps0, 2, copies, mp.mpf(claim.upper)) <= mp.mpf("1e-6")
            assert response_delta(eps0, 2, copies, mp.mpf(claim.lower)) >= mp.mpf("1e-6") * (1 - mp.mpf("1e-12"))
        assert claim.upper - claim.lower <= 1e-9 * claim.upper
    for m in (tr.Pure(1), tr.Laplace(1), tr.RandomizedResponse(1)):
        encloses(tr.pure(m * 10), 10.0)


@pytest.mark.parametrize("copies", [1029, 1030, 1031, 2000, 5000])
def test_optimal_composition_does_not_overflow(copies):
    """Binomial coefficients leave the floats at 1030 copies; the answer must go on smoothly."""
    claim = tr.epsilon(tr.Approx("0.01", 0) * copies, delta=1e-6)
    assert 0 < claim.lower <= claim.upper < math.inf
    mean = copies * mp.mpf("0.01") * mp.tanh(mp.mpf("0.005"))
    near = mean + mp.sqrt(copies) * mp.mpf("0.01") * mp.sqrt(2) * mp.erfinv(1 - 2 * mp.mpf("1e-6"))
    assert 0.7 * near < claim.upper < 1.05 * near
    assert claim.upper - claim.lower <= 1e-6 * claim.upper


@pytest.mark.parametrize(
    "m",
    [
        tr.ZCDP("0.001"),
        tr.ZCDP("1e-9"),
        tr.RDP({2: "0.001"}),
        tr.Gaussian(100),
        tr.Pure("0.001"),
        tr.ZCDP("0.001") * 3,
        tr.TCDP("0.001", 5),
    ],
    ids=str,
)
def test_epsilon_is_never_negative(m):
    """ρ = 0.001 at δ = 1/2 gives −0.6911 by the bare formula."""
    for delta in ("0.5", "0.9", "0.999999"):
        claim = tr.epsilon(m, delta=delta)
        assert claim.lower == claim.upper == 0
        assert math.copysign(1, claim.upper) == 1
        for row in tr.compare(m, delta=delta).rows:
            assert row.value >= 0


def test_the_discrete_gaussian_is_not_the_gaussian():
    """At σ = 2 its δ is about 3 % larger at some ε, so its profile must not be borrowed."""
    seen = 0.0
    for i in range(1, 40):
        eps = Fraction(i, 20)
        discrete, smooth = tr.delta(tr.DiscreteGaussian(2), eps), tr.delta(tr.Gaussian(2), eps)
        with mp.workdps(25):
            mass = [mp.e ** (-mp.mpf(k * k) / 8) for k in range(-60, 61)]
            shifted = [mp.e ** (-mp.mpf((k - 1) ** 2) / 8) for k in range(-60, 61)]
            whole = sum(mass)
            truth = sum(max(p - mp.e ** mp.mpf(float(eps)) * q, 0) for p, q in zip(shifted, mass, strict=True)) / whole
        assert discrete.lower <= truth * (1 + mp.mpf("1e-12"))
        assert discrete.upper >= truth * (1 - mp.mpf("1e-12"))
        seen = max(seen, discrete.lower / smooth.upper)
    assert seen > 1.02


def test_the_central_limit_is_an_estimate_only():
    """It falls below the truth, so it must be marked, come last and never be the claim."""
    m = tr.Gaussian(1).poisson("0.01") * 100
    comparison = tr.compare(m, delta=1e-5)
    assert comparison.rows[-1].route == "clt"
    assert comparison.rows[-1].kind == "estimate"
    assert comparison.rows[-1].claim is None
    assert comparison.rows[-1].value < 0.46 < 0.718
    assert comparison.best.kind != "estimate"
    assert tr.epsilon(m, delta=1e-5).upper >= 0.718035661


def test_permute_and_flip_has_no_bounded_range():
    """Its loss range exceeds ε, so it must not get the exponential mechanism's ε²/8."""
    assert tr.zcdp(tr.PermuteAndFlip(1)).upper >= 0.46
    encloses(tr.zcdp(tr.Pure(1)), math.tanh(0.5))
    assert tr.zcdp(tr.Exponential(1)).upper <= 0.125


def test_the_classic_gaussian_calibration_fails_and_ours_does_not():
    """σ = √(2 ln(1.25/δ))/ε at ε = 10, δ = 1e-5 has a true δ of 2.27e-5."""
    sigma = math.sqrt(2 * math.log(1.25e5)) / 10
    assert tr.delta(tr.Gaussian(sigma), epsilon=10).lower > 2.2e-5
    found = tr.calibrate(tr.Gaussian, epsilon=10, delta=1e-5)
    assert found.value > sigma
    assert tr.delta(tr.Gaussian(found.exact), epsilon=10).upper <= 1e-5


def test_renyi_orders_are_joined_in_k_not_in_epsilon():
    """Between orders 2 and 32 the only safe line is that of K(λ) = λ·D; a line in D would be smaller."""
    m = tr.RDP({2: 0.1, 32: 5})
    order = 5
    k = (0.1 * 1) + (order - 2) / 30 * (5 * 31 - 0.1)
    encloses(tr.renyi(m, order=order), k / (order - 1), 1e-12)
    assert tr.renyi(m, order=order).lower > 0.1 + (order - 2) / 30 * 4.9
    encloses(tr.renyi(m, order="1.5"), 0.1)
    assert tr.renyi(m, order=33).upper == math.inf


def test_negative_xi_is_not_multiplied_by_harmonic_numbers():
    """For ξ < 0 the group rule is (kξ, k²ρ); k·H_k·ξ would understate."""
    m = tr.ZCDP("50/9", xi="-2.302585092994045")  # fits the Poisson-sampled Gaussian at q = 0.1, σ = 0.3
    assert tr.renyi(m.group(2), order=20).upper >= 439.597  # what two records cost there; the wrong rule gives 437.537
    assert tr.renyi(tr.Gaussian("0.3").poisson("0.1").group(2), order=20).upper >= 439.597


def test_truncated_groups_need_room():
    """(ρ, ω)-tCDP says nothing about groups of k ≥ ω."""
    assert tr.epsilon(tr.TCDP(0.1, 4).group(3), delta=1e-6).upper < math.inf
    for size in (4, 5, 100):
        assert tr.epsilon(tr.TCDP(0.1, 4).group(size), delta=1e-6).upper == math.inf


def test_staircase_groups_are_not_read_at_a_larger_sensitivity():
    """Staircase noise is not log-concave: for groups only kε is known."""
    assert tr.pure(tr.Staircase(1).group(3)).upper == 3
    assert tr.delta(tr.Staircase(1).group(2), epsilon=1).upper >= tr.delta(tr.Staircase(1), epsilon=1).upper


def test_replacing_in_parallel_is_not_the_sum_of_the_two_worst_blocks():
    """Blocks of 1 and 0.1: a record that changes its value within one block costs 2, not 1.1."""
    both = tr.Parallel(tr.Pure(1), tr.Pure("0.1"), relation="replace")
    assert tr.pure(both).upper >= 2
    assert tr.pure(tr.Parallel(tr.Pure(1), tr.Pure("0.1"))).upper == 1


def test_groups_act_on_the_sampled_mechanism():
    """Two records are both in the batch with chance q², so the group rule is not «sample the group's mechanism»."""
    single = tr.Gaussian(1).poisson("0.1")
    pair = tr.delta(single.group(2), epsilon=0.5)
    wrong = tr.delta(tr.Gaussian(1, 2).poisson("0.1"), epsilon=0.5)

    def surplus(x):
        """Both records sampled move the mean by 2, one of them by 1."""
        mixed = 0.81 * mp.npdf(x, 0, 1) + 0.18 * mp.npdf(x, 1, 1) + 0.01 * mp.npdf(x, 2, 1)
        return max(mixed - mp.e**0.5 * mp.npdf(x, 0, 1), 0)

    with mp.workdps(25):
        truth = mp.quad(surplus, [-10, 0, 1, 2, 3, 4, 6, 14])
    assert pair.upper >= truth * (1 - mp.mpf("1e-6"))
    assert pair.lower <= truth * (1 + mp.mpf("1e-6"))
    assert wrong.upper != pair.upper


def test_both_directions_are_composed_to_the_end():
    """Removing and adding have different laws and are composed apart."""
    m = tr.Table(["0.5", "0.5"], ["0.9", "0.1"])
    mirror = tr.Table(["0.9", "0.1"], ["0.5", "0.5"])
    for eps in (0.1, 0.5, 1):
        both = tr.delta(m * 3, eps)
        with mp.workdps(25):
            best = mp.mpf(0)
            for p, q in (((0.5, 0.5), (0.9, 0.1)), ((0.9, 0.1), (0.5, 0.5))):
                total = mp.mpf(0)
                for ones in range(4):
                    a = mp.binomial(3, ones) * mp.mpf(repr(p[1])) ** ones * mp.mpf(repr(p[0])) ** (3 - ones)
                    b = mp.binomial(3, ones) * mp.mpf(repr(q[1])) ** ones * mp.mpf(repr(q[0])) ** (3 - ones)
                    total += max(a - mp.e ** mp.mpf(repr(eps)) * b, 0)
                best = max(best, total)
        encloses(both, float(best), 1e-9)
        assert tr.delta(mirror * 3, eps).bound == both.bound
    assert tr.delta(m + mirror, 0.5).bound == tr.delta(mirror + m, 0.5).bound


def test_shuffled_batches_get_no_amplification():
    """Poisson accounting of shuffled batches: σ = 0.5, 10⁴ steps, one epoch: 1.95 claimed, at least 10.99 true."""
    poisson = tr.dpsgd("0.5", sample_rate="1e-4", steps=10_000)
    shuffled = tr.dpsgd("0.5", sample_rate="1e-4", steps=10_000, sampler="shuffle")
    assert tr.epsilon(shuffled, delta=1e-6).upper >= 10.995
    assert tr.epsilon(poisson, delta=1e-6).upper >= 1.953
    assert tr.epsilon(shuffled, delta=1e-6).lower >= 10.995
    assert shuffled.relation == "replace"
    with pytest.raises(tr.BadParameter):
        tr.dpsgd(1, sample_rate="0.1", steps=10, sampler="importance")


def test_epochs_are_never_rounded_down():
    """int(7/0.07) is 99 in floats: one step lost."""
    assert tr.dpsgd(1, sample_rate=0.07, epochs=7) == tr.Gaussian(1).poisson(0.07) * 100
    assert tr.dpsgd(1, batch_size=3, dataset_size=10, epochs=1) == tr.Gaussian(1).poisson("3/10") * 4


def test_tiny_amounts_are_not_lost():
    """A hundred charges of 1/200 fill 1/2 exactly, and one subnormal charge more is above it."""
    assert tr.pure(tr.Pure("1e-9") * 10**6).upper == 0.001
    assert tr.pure(tr.Pure("1/200") * 100 + tr.Pure(5e-324)).upper > 0.5
    assert tr.pure(tr.Pure("1/200") * 100).upper == 0.5
    assert tr.pure(tr.Pure("1/200") * 100) <= 0.5


def test_no_conclusion_is_drawn_that_does_not_follow():
    for ask, m in (
        (tr.gdp, tr.ZCDP(0.1)),
        (tr.pure, tr.ZCDP(0.1)),
        (tr.pure, tr.RDP({2: 1})),
        (tr.gdp, tr.RDP({2: 1})),
        (tr.zcdp, tr.RDP({2: 1})),
        (lambda x: tr.renyi(x, 2), tr.Approx(1, 1e-6)),
        (tr.zcdp, tr.Approx(1, 1e-6)),
        (tr.zcdp, tr.TCDP(0.1, 5)),
    ):
        with pytest.raises(tr.Unsupported) as caught:
            ask(m)
        assert caught.value.what
        assert caught.value.why
    assert tr.zcdp(tr.GaussianPair(0, 1, 0, "1.25")).upper == math.inf
    assert tr.pure(tr.Gaussian(1)).lower == math.inf


def test_support_mismatch_is_an_infinite_loss():
    """D_∞ looks at the support of P: an outcome that only one neighbour can produce reveals it."""
    for p, q in (([1, 0], ["0.5", "0.5"]), (["0.5", "0.5"], [1, 0])):
        m = tr.Table(p, q)
        assert tr.pure(m).lower == math.inf
        assert tr.renyi(m, 2).lower == math.inf
        assert tr.zcdp(m).upper == math.inf
        assert tr.gdp(m).upper == math.inf
        encloses(tr.delta(m, epsilon=5), 0.5)
