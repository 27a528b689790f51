"""Answers against truths by other methods: enumeration, quadrature of the definition, linear programs."""

import itertools
import json
import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.special import ndtr
from scipy.stats import ncx2

import tightrope as tr
from tightrope.accounting.facts import fact
from tightrope.curves.engines.blurred_profile import blurred_profile
from tightrope.curves.engines.windowed_profile import windowed_profile
from tightrope.curves.loss import Loss
from tightrope.errors import NotCertified

GAUSS = np.polynomial.legendre.leggauss(12)
NEAR = np.geomspace(6, 1e-14, 44)


def holds(claim, truth, share=1e-9):
    """The truth, known up to a share of itself, lies in the enclosure."""
    assert claim.lower <= truth * (1 + share) + 1e-14, (claim.lower, truth)
    assert claim.upper >= truth * (1 - share) - 1e-14, (claim.upper, truth)


def graded(low, high, kink):
    """Nodes and weights on panels that shrink towards a kink, where the integrand is smooth but not analytic."""
    ends = np.concatenate([np.linspace(low, high, 40), kink - NEAR, [kink], kink + NEAR])
    ends = np.unique(np.clip(ends, low, high))
    half, middle = np.diff(ends) / 2, (ends[1:] + ends[:-1]) / 2
    return (middle[:, None] + half[:, None] * GAUSS[0]).ravel(), (half[:, None] * GAUSS[1]).ravel()


def log_or_low(ratio):
    return np.where(ratio > 0, np.log(np.where(ratio > 0, ratio, 1.0)), -np.inf)


def two_sampled(sigma, rate, x):
    """δ of two sampled Gaussian steps: one step's in closed form, averaged over the other's loss; both directions."""

    def place(loss):
        return sigma * log_or_low((np.expm1(loss) + rate) / rate) + 1 / (2 * sigma)

    def removing(y):
        z = place(y)
        inside = rate * ndtr(1 / sigma - z) - (np.expm1(y) + rate) * ndtr(-z)
        return np.where(np.isfinite(z), inside, -np.expm1(y))

    def adding(y):
        z = place(-y)
        inside = (1 - np.exp(y) * (1 - rate)) * ndtr(z) - np.exp(y) * rate * ndtr(z - 1 / sigma)
        return np.where(np.isfinite(z), inside, 0.0)

    found = []
    for one, sign in ((removing, 1), (adding, -1)):
        kink = float(place(sign * x - math.log1p(-rate)))
        z, w = graded(-10, 10 + 1 / sigma, kink if math.isfinite(kink) else -10)
        loss = np.logaddexp(np.log1p(-rate), np.log(rate) + z / sigma - 1 / (2 * sigma**2))
        mass = w * np.exp(-z * z / 2 + (loss if sign > 0 else 0)) / np.sqrt(2 * np.pi)
        found.append(float(np.sum(mass * one(x - sign * loss))))
    return max(found)


SAMPLED = [(1.0, 0.01), (0.389, 0.115), (0.549, 0.0522), (3.0, 0.7), (0.6, 0.0003)]


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(("sigma", "rate"), SAMPLED)
def test_two_sampled_gaussian_steps(sigma, rate):
    run = tr.Gaussian(sigma).poisson(rate) * 2
    for x in (0, 1e-9, rate / 2, 2 * rate, 0.5):
        holds(tr.delta(run, epsilon=x), two_sampled(sigma, rate, float(x)))
    goal = float(f"{two_sampled(sigma, rate, 0.3 * rate):.6g}")
    claim = tr.epsilon(run, delta=goal)
    assert two_sampled(sigma, rate, claim.upper) <= goal * (1 + 1e-9)
    assert claim.lower == 0 or two_sampled(sigma, rate, claim.lower) >= goal * (1 - 1e-9)


def altered(value, rng):
    if isinstance(value, int):
        return int(rng.choice([1, value // 3, value * 2]))
    return Fraction(int(rng.integers(-1000, 4000)), 1000) * (1 if value is None else Fraction(value))


def proved_with_altered_witnesses(profile, x, truth, rng, times):
    """How many altered witnesses still proved something; all of it must be true."""
    witness, proved = profile.find(x), 0
    names = [name for name in witness if name not in ("other", "direction")]
    for _ in range(times):
        name = str(rng.choice(names))
        try:
            value = profile.prove(x, {**witness, name: altered(witness[name], rng)})
        except (NotCertified, ArithmeticError, AssertionError, TypeError, ValueError):
            continue
        proved += 1
        assert float(value.upper()) >= truth * (1 - 1e-9)
        assert float(value.lower()) <= truth * (1 + 1e-9)
    return proved


def loss_of(mechanism):
    return fact(mechanism, Loss).curve


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_altered_windows_prove_only_what_is_true():
    rng, proved = np.random.default_rng(5), 0
    for sigma, rate in SAMPLED[:2]:
        profile = windowed_profile(loss_of(tr.Gaussian(sigma).poisson(rate) * 2))
        proved += proved_with_altered_witnesses(profile, Fraction(1, 10), two_sampled(sigma, rate, 0.1), rng, 15)
    assert proved > 5


def composed(atoms, copies):
    """Masses (under P, under Q) of all multisets of so many atoms."""
    with mp.workdps(40):
        for counts in itertools.product(range(copies + 1), repeat=len(atoms)):
            if sum(counts) == copies:
                ways = mp.factorial(copies)
                p = q = mp.mpf(1)
                for (a, b), n in zip(atoms, counts, strict=True):
                    ways, p, q = ways / mp.factorial(n), p * a**n, q * b**n
                yield ways * p, ways * q


def sampled_atoms_truth(atoms, rate, copies, points):
    mixed = [((1 - rate) * b + rate * a, b) for a, b in atoms]
    with mp.workdps(40):
        law = list(composed(mixed, copies))
        sides = (law, [pair[::-1] for pair in law])
        return [max(mp.fsum(max(p - mp.exp(x) * q, 0) for p, q in side) for side in sides) for x in points], law


def response(epsilon, k):
    e = mp.exp(mp.mpf(epsilon))
    low = 1 / (e + k - 1)
    return [(e * low, low), (low, e * low)] + ([((k - 2) * low, (k - 2) * low)] if k > 2 else [])


def discrete_laplace(scale, sensitivity):
    r = mp.exp(-1 / mp.mpf(scale))
    top = 1 / (1 + r)
    inner = [(r ** (sensitivity - z) * (1 - r) * top, r**z * (1 - r) * top) for z in range(1, sensitivity)]
    return [(r**sensitivity * top, top), *inner, (top, r**sensitivity * top)]


ATOMS = [
    (tr.RandomizedResponse(epsilon="0.7", k=4), response("0.7", 4), "0.3", 12),
    (tr.RandomizedResponse(epsilon="1.3"), response("1.3", 2), "0.05", 20),
    (tr.DiscreteLaplace("1.5", 3), discrete_laplace("1.5", 3), "0.4", 5),
    (
        tr.Table(["1/2", "1/3", "1/6"], ["1/7", "2/7", "4/7"]),
        [(mp.mpf(1) / 2, mp.mpf(1) / 7), (mp.mpf(1) / 3, mp.mpf(2) / 7), (mp.mpf(1) / 6, mp.mpf(4) / 7)],
        "0.25",
        8,
    ),
]


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(("leaf", "atoms", "rate", "copies"), ATOMS)
def test_sampled_atoms_also_at_the_atoms_themselves(leaf, atoms, rate, copies):
    run, rng = leaf.poisson(rate) * copies, np.random.default_rng(3)
    blurred, q = blurred_profile(loss_of(run)), mp.mpf(rate)
    _, law = sampled_atoms_truth(atoms, q, copies, [])
    losses = sorted(float(mp.log(a / b)) for a, b in law)
    positive = [x for x in losses if x > 0]
    points = [0.0, 0.125, positive[len(positive) // 3], positive[-1] / 2, positive[-1]]
    truths, _ = sampled_atoms_truth(atoms, q, copies, [mp.mpf(x) for x in points])
    for x, truth in zip(points, truths, strict=True):
        holds(tr.delta(run, epsilon=Fraction(x)), float(truth), 1e-12)
    x, truth = Fraction(points[2]), float(truths[2])
    value = blurred.prove(x, blurred.find(x))
    assert float(value.lower()) <= truth * (1 + 1e-12)
    assert float(value.upper()) >= truth * (1 - 1e-12)
    assert proved_with_altered_witnesses(blurred, x, truth, rng, 12) > 2


def shuffled_truth(users, k, high, points):
    """The worst pair of neighbouring data sets, by the law of the counts of their reports."""
    low = (1 - high) / (k - 1)

    def law(data):
        found = {(0,) * k: 1.0}
        for datum in data:
            after = {}
            for counts, p in found.items():
                for o in range(k):
                    key = tuple(c + (i == o) for i, c in enumerate(counts))
                    after[key] = after.get(key, 0.0) + p * (high if o == datum else low)
            found = after
        return found

    worst = [0.0] * len(points)
    for others in itertools.combinations_with_replacement(range(k), users - 1):
        laws = [law((*others, a)) for a in range(k)]
        for one, two in itertools.permutations(laws, 2):
            for i, x in enumerate(points):
                worst[i] = max(worst[i], math.fsum(max(p - math.exp(x) * two[c], 0) for c, p in one.items()))
    return worst


SHUFFLED = [(2, 2, 0.7), (6, 2, 0.8), (5, 2, 0.3), (4, 3, 0.6), (4, 3, 0.2), (3, 4, 0.9)]


@pytest.mark.parametrize(("users", "k", "high"), SHUFFLED)
def test_shuffled_responses(users, k, high):
    points = [0.0, 0.1, 0.4, 0.9]
    run = tr.RandomizedResponse(p=high, k=k).shuffled(users)
    for x, truth in zip(points, shuffled_truth(users, k, high, points), strict=True):
        holds(tr.delta(run, epsilon=x), truth)


def two_allocated(sigma, x):
    """δ of two runs of which a record takes one: the second coordinate in closed form."""
    mu, found = 1 / sigma, []
    for sign in (1, -1):
        top = 2 * math.exp(sign * x)
        z, w = graded(-10, 10 + mu, (math.log(top) + mu * mu / 2) / mu)
        first = np.exp(mu * z - mu * mu / 2)
        cut = (log_or_low(top - first) + mu * mu / 2) / mu
        if sign > 0:
            inner = (first / 2 - math.exp(x)) * ndtr(-cut) + ndtr(mu - cut) / 2
        else:
            inner = (1 - math.exp(x) * first / 2) * ndtr(cut) - math.exp(x) * ndtr(cut - mu) / 2
        found.append(float(np.sum(w * np.exp(-z * z / 2) / np.sqrt(2 * np.pi) * inner)))
    return max(found)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("sigma", [0.6, 1.5, 2.85, 4.8])
def test_two_runs_of_which_a_record_takes_one(sigma):
    for x in (0, 0.05, 0.3):
        holds(tr.delta(tr.Gaussian(sigma).allocated(2), epsilon=x), two_allocated(sigma, float(x)))


@pytest.mark.parametrize(("epsilon", "rate"), [(0.9, 0.53), (1.43, 0.8), (0.3, 0.05)])
def test_an_exchange_in_a_poisson_sample_against_all_mechanisms(epsilon, rate):
    """A linear program over the laws with one record, with another, and with none."""
    ratios = list(itertools.product(np.exp(np.linspace(-epsilon, epsilon, 9)), repeat=2))
    run = tr.RandomizedResponse(epsilon=epsilon).poisson(rate, relation="replace")
    for x in (0.0, 0.1, 0.3):
        gains = [max((1 - rate + rate * a) - math.exp(x) * (1 - rate + rate * b), 0) for a, b in ratios]
        constraints = [[1] * len(ratios), [a for a, _ in ratios], [b for _, b in ratios]]
        best = -linprog([-g for g in gains], A_eq=constraints, b_eq=[1, 1, 1]).fun
        holds(tr.delta(run, epsilon=x), best, 1e-6)


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_two_sampled_laplace_steps(relation):
    scale, rate, step = 1.2, 0.3, 1e-3
    z = np.arange(-1 if relation == "replace" else 0, 1, step) + step / 2

    def density(z, shift):
        return np.exp(-np.abs(z - shift) / scale) / (2 * scale)

    def masses(shift, share):
        ends = np.array([z[0] - step / 2, z[-1] + step / 2])  # beyond them the ratio is constant
        places, widths = np.append(z, ends), np.append(np.full(len(z), step), [scale, scale])
        return widths * ((1 - share) * density(places, 0) + share * density(places, shift))

    p, q = masses(1, rate), masses(-1, rate if relation == "replace" else 0.0)
    for x in (0.0, 0.1, 0.25):
        pair, other = np.outer(p, p).ravel(), np.outer(q, q).ravel()
        truth = max(np.maximum(a - math.exp(x) * b, 0).sum() for a, b in ((pair, other), (other, pair)))
        holds(tr.delta(tr.Laplace(scale).poisson(rate, relation=relation) * 2, epsilon=x), truth, 1e-4)


@pytest.mark.parametrize("copies", [1, 3, 10])
def test_unequal_gaussians_against_chi_square(copies):
    def one(a, s, b, r, x):
        square = 1 / (2 * r * r) - 1 / (2 * s * s)
        line = a / (s * s) - b / (r * r)
        centre = -line / (2 * square)
        least = b * b / (2 * r * r) - a * a / (2 * s * s) + math.log(r / s) - line**2 / (4 * square)
        radius = (x - copies * least) / square
        tail = ncx2.cdf if square < 0 else ncx2.sf
        p, q = (tail(max(radius, 0) / d**2, copies, copies * ((c - centre) / d) ** 2) for c, d in ((a, s), (b, r)))
        return p - math.exp(x) * q

    run = tr.GaussianPair(0.4, 1.1, -0.3, 1.5) * copies
    for x in (0.0, 0.5, 2.0):
        holds(tr.delta(run, epsilon=x), max(one(0.4, 1.1, -0.3, 1.5, x), one(-0.3, 1.5, 0.4, 1.1, x)), 1e-8)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_a_narrower_number_is_not_confirmed_with_these_witnesses():
    for run in (tr.Gaussian(1).poisson(0.01) * 3, tr.RandomizedResponse(epsilon=0.5, k=4).poisson(0.1) * 200):
        claim = tr.delta(run, epsilon=0.1)
        data = json.loads(claim.to_json())
        assert tr.check(data)
        assert not tr.check({**data, "upper": claim.lower * (1 - 1e-6), "lower": 0.0})
        assert not tr.check({**data, "lower": claim.upper * (1 + 1e-6), "upper": 1.0})
