"""Different samplers, Laplace noise and answers beside sampled steps: windowed contours against quadrature."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

import tightrope as tr
from tightrope.accounting.facts import fact
from tightrope.curves.engines.contour_profile import contour_profile
from tightrope.curves.engines.grid_profile import grid_profile
from tightrope.curves.engines.windowed_profile import windowed_directions, windowed_profile
from tightrope.curves.loss import Loss
from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ball, precision
from tightrope.numerics.windowed.integral import WindowProof
from tightrope.numerics.windowed.parts import WindowLaw
from tightrope.numerics.windowed.saddle import saddle_call, saddle_root
from tightrope.numerics.windowed.search import window_plan


def loss_of(text):
    return fact(tr.parse(text), Loss).curve


def profile(text):
    found = windowed_profile(loss_of(text))
    assert found is not None
    return found


def ends(value):
    with precision(200):
        return mp.mpf(value.lower().str(40, radius=False)), mp.mpf(value.upper().str(40, radius=False))


def contains(value, truth, relative=mp.mpf(10) ** -12):
    low, high = ends(value)
    return low <= truth * (1 + relative) and high >= truth * (1 - relative)


# One sampled step, to the working precision of mpmath.


def panels(function, marks):
    """Gauss's rule of 16 nodes between neighbouring marks."""
    nodes, weights = np.polynomial.legendre.leggauss(16)
    total = mp.mpf(0)
    for low, high in itertools.pairwise(marks):
        half, middle = (high - low) / 2, (high + low) / 2
        total += half * mp.fsum(float(w) * function(middle + half * float(n)) for n, w in zip(nodes, weights, strict=True))
    return total


def ratio(mu, q, z):
    return 1 - q + q * mp.exp(mu * z - mu * mu / 2)


def removed(mu, q, x):
    """E[(w − e^x)₊] of one step."""
    rise = mp.expm1(x) / q + 1
    if rise <= 0:
        return -mp.expm1(x)
    b = mp.log(rise) / mu + mu / 2
    return (1 - q - mp.exp(x)) * mp.ncdf(-b) + q * mp.ncdf(mu - b)


def added(mu, q, x):
    """E[(1 − e^x w)₊] of one step."""
    rise = (mp.exp(-x) - 1 + q) / q
    if rise <= 0:
        return mp.mpf(0)
    b = mp.log(rise) / mu + mu / 2
    return mp.ncdf(b) - mp.exp(x) * ((1 - q) * mp.ncdf(b) + q * mp.ncdf(b - mu))


def beside_laplace(call, e0, x):
    """A loss with the call given, beside that of Laplace noise: two atoms and a density."""
    atoms = (call(x - e0) + mp.exp(-e0) * call(x + e0)) / 2
    marks = [-e0, *(e0 - 2 * e0 * mp.mpf("0.7") ** n for n in range(1, 20)), e0]
    marks = sorted({*marks, *(e for e in (x, x - mp.mpf("0.05"), x - mp.mpf("0.3")) if -e0 < e < e0)})
    return atoms + panels(lambda l: mp.exp((l - e0) / 2) / 4 * call(x - l), marks)


def beside_answers(call, e0, number, x):
    """The same beside a number of randomized responses."""
    p = 1 / (1 + mp.exp(-e0))
    terms = (
        mp.binomial(number, k) * p**k * (1 - p) ** (number - k) * call(x - (2 * k - number) * e0)
        for k in range(number + 1)
    )
    return mp.fsum(terms)


def two_steps(first, second, x):
    """Two different steps, removing: the second in closed form."""
    mu, q = first

    def inner(z):
        w = ratio(mu, q, z)
        return mp.npdf(z) * w * removed(*second, x - mp.log(w))

    top = mp.log(mp.expm1(x) / q + 1) / mu + mu / 2
    near = (top + sign * mp.mpf(2) ** -n for n in range(-1, 16) for sign in (1, -1))
    marks = sorted({mp.mpf(-12), *(mp.mpf(n) for n in range(-9, 20)), *near, top})
    return panels(inner, marks)


@pytest.mark.parametrize(
    ("first", "second", "x"),
    [
        (("1", "0.01"), ("2", "0.1"), "0.7"),
        (("0.7", "0.001"), ("3", "0.0004"), "4"),
        (("5", "0.0001"), ("1", "0.00003"), "0.002"),
        (("1.3", "0.002"), ("0.9", "0.0007"), "5"),
    ],
)
def test_two_different_steps(first, second, x):
    text = " + ".join(f"gaussian(sigma={sigma}).poisson({rate})" for sigma, rate in (first, second))
    found = profile(text)
    value = found.prove(Fraction(x), found.find(Fraction(x)))
    with mp.workdps(22):
        parts = [(1 / mp.mpf(sigma), mp.mpf(rate)) for sigma, rate in (first, second)]
        truth = two_steps(*parts, mp.mpf(x))
        assert contains(value, truth)
        low, high = ends(value)
        assert high - low < truth * mp.mpf("1e-7")


@pytest.mark.parametrize(
    ("sigma", "rate", "scale", "x"),
    [("1.57", "0.000381", "1.81", "2.5"), ("1", "0.01", "2", "0.9"), ("6", "0.001", "10", "0.108"), ("2", "0.3", "1", "3")],
)
def test_a_step_beside_laplace_noise(sigma, rate, scale, x):
    found = profile(f"gaussian(sigma={sigma}).poisson({rate}) + laplace(scale={scale})")
    value = found.prove(Fraction(x), found.find(Fraction(x)))
    with mp.workdps(22):
        mu, q, e0, at = 1 / mp.mpf(sigma), mp.mpf(rate), 1 / mp.mpf(scale), mp.mpf(x)
        truth = max(
            beside_laplace(lambda y: removed(mu, q, y), e0, at), beside_laplace(lambda y: added(mu, q, y), e0, at)
        )
        assert contains(value, truth)
        low, high = ends(value)
        assert high - low < truth * mp.mpf("1e-6")


@pytest.mark.parametrize(
    ("sigma", "rate", "epsilon", "number", "x"),
    [("1.09", "0.0000891", "0.583", 24, "14.3"), ("0.5", "0.01", "0.3", 5, "4"), ("5", "0.2", "0.2", 3, "0.9")],
)
def test_a_step_beside_answers(sigma, rate, epsilon, number, x):
    found = profile(f"gaussian(sigma={sigma}).poisson({rate}) + randomized_response(epsilon={epsilon}) * {number}")
    value = found.prove(Fraction(x), found.find(Fraction(x)))
    with mp.workdps(22):
        mu, q, e0, at = 1 / mp.mpf(sigma), mp.mpf(rate), mp.mpf(epsilon), mp.mpf(x)
        truth = beside_answers(lambda y: removed(mu, q, y), e0, number, at)
        assert contains(value, truth)
        low, high = ends(value)
        assert high - low < truth * mp.mpf("1e-6")


def test_adding_a_record_beside_laplace_noise():
    """Nearly the same law in both directions: the lesser one is integrated, too."""
    found = profile("gaussian(sigma=3).poisson(0.1) + laplace(scale=5)")
    plan = found.steps.rough_plan(0.22, math.log(1e-3), adding=True)
    with precision(plan.bits + 64):
        value = found.steps.call(ball(Fraction("0.22")), plan, adding=True)
    with mp.workdps(22):
        mu, q = mp.mpf(1) / 3, mp.mpf("0.1")
        assert contains(value, beside_laplace(lambda y: added(mu, q, y), mp.mpf("0.2"), mp.mpf("0.22")))


def brute(samplers, x, cells=2000):
    """Two lattice laws that enclose the call of several steps: positive terms only, so no δ is too small for floats."""
    found = []
    for over in (True, False):
        h = x / cells
        total, first, alone = np.ones(1), 0, 0.0
        for mu, q, copies in samplers:
            edges = np.arange(math.floor(math.log1p(-q) / h) - 1, 3 * cells) * h
            rise = np.maximum(np.expm1(edges) / q + 1, 1e-300)
            z = np.where(np.expm1(edges) / q + 1 > 0, np.log(rise) / mu + mu / 2, -40.0)
            tail = np.array([math.erfc(a / math.sqrt(2)) / 2 for a in z])
            moved = np.array([math.erfc((a - mu) / math.sqrt(2)) / 2 for a in z])
            above = (1 - q) * tail + q * moved
            masses = above[:-1] - above[1:]  # of the cells, under the law with the record
            places = np.arange(len(masses)) + (1 if over else 0)
            law = np.zeros(len(masses) + 1)
            np.add.at(law, places, masses)
            for _ in range(copies):
                total = np.convolve(total, law)
                first += round(edges[0] / h)
            alone += copies * above[-1]
        at = (first + np.arange(len(total))) * h
        inside = float((total * np.maximum(-np.expm1(x - at), 0)).sum())
        found.append(inside + (alone if over else 0.0))
    return found


@pytest.mark.parametrize(
    ("samplers", "x"),
    [
        ([("0.974", "0.000632", 3), ("0.765", "0.000116", 2)], 4.0),
        ([("0.5", "0.01", 2), ("4", "0.2", 3)], 6.0),
        ([("2", "0.05", 4), ("1", "0.01", 1), ("3", "0.3", 2)], 2.0),
    ],
)
def test_several_steps_lie_between_two_lattice_laws(samplers, x):
    text = " + ".join(f"gaussian(sigma={sigma}).poisson({rate}) * {copies}" for sigma, rate, copies in samplers)
    found = profile(text)
    value = found.prove(Fraction(x), found.find(Fraction(x)))
    most, least = brute([(1 / float(sigma), float(rate), copies) for sigma, rate, copies in samplers], x)
    low, high = (float(end) for end in ends(value))
    assert low <= most * (1 + 1e-9)
    assert high >= least * (1 - 1e-9)
    assert most < 1.2 * least
    assert high - low < low * 1e-7


@pytest.mark.parametrize(
    ("text", "delta"),
    [
        ("gaussian(sigma=1).poisson(0.01) * 300 + gaussian(sigma=3).poisson(0.02) * 100", "1e-6"),
        ("gaussian(sigma=2).poisson(0.05) * 100 + laplace(scale=5) * 3", "1e-7"),
        ("gaussian(sigma=2).poisson(0.05) * 100 + gaussian(sigma=5)", "1e-9"),
    ],
)
def test_it_agrees_with_the_contour_of_the_whole_loss(text, delta):
    law = loss_of(text)
    mine, other = (found(law).epsilon(Fraction(delta))[0] for found in (windowed_profile, contour_profile))
    assert mine.lower <= other.upper
    assert other.lower <= mine.upper
    assert mine.upper - mine.lower < 1e-9 * mine.upper


@pytest.mark.parametrize(
    ("text", "delta"),
    [
        ("gaussian(sigma=10.8).poisson(4.84e-5) * 165051", "1.5e-32"),
        ("gaussian(sigma=8.37).poisson(2.38e-5) * 21 + gaussian(sigma=4.35).poisson(3.93e-5) * 21", "1.44e-32"),
    ],
)
def test_it_agrees_with_a_grid(text, delta):
    law = loss_of(text)
    mine, other = (found(law).epsilon(Fraction(delta))[0] for found in (windowed_profile, grid_profile))
    assert mine.lower <= other.upper
    assert other.lower <= mine.upper
    assert mine.upper - mine.lower < 1e-9 * mine.upper


@pytest.mark.parametrize(
    ("text", "delta", "gap"),
    [
        ("gaussian(sigma=19.8).poisson(3.34e-5) * 253936 + gaussian(sigma=3.36).poisson(5.46e-5) * 893", "7.99e-28", 1e-9),
        ("gaussian(sigma=1.58).poisson(0.000525) * 7226 + gaussian(sigma=9).poisson(0.0018) * 1164 + laplace(scale=2.68)", "2.3e-34", 1e-9),
        ("laplace(scale=10.2) * 2 + gaussian(sigma=6.89).poisson(0.00106) * 172", "6.28e-26", 1e-9),
        ("gaussian(sigma=1.09).poisson(8.91e-5) * 23556 + randomized_response(epsilon=0.583) * 24", "3.4e-24", 1e-9),
        ("gaussian(sigma=0.938).poisson(1.21e-5) * 1659641", "4.32e-19", 1e-9),
        ("laplace(scale=14.4) * 24 + gaussian(sigma=3.1).poisson(0.000111) * 476 + gaussian(sigma=14.3).poisson(2.7e-5) * 2832353", "2.19e-09", 1e-9),
    ],
)  # fmt: skip
def test_rare_mixtures_are_tight_and_proved_again(text, delta, gap):
    claim = tr.epsilon(tr.parse(text), delta)
    assert claim.tight
    assert claim.witness["way"] == "windowed"
    assert 0 < claim.lower <= claim.upper <= claim.lower * (1 + gap)
    assert tr.check(claim.to_json())


def test_a_narrow_window_beats_a_contour_that_is_not():
    claim = tr.epsilon(tr.parse("gaussian(sigma=1.39).poisson(0.000334) * 442731"), "9.64e-40")
    assert claim.upper <= claim.lower * (1 + 1e-9)
    assert claim.witness["way"] == "windowed"


def test_mass_at_infinity_is_added():
    run = tr.Gaussian(1).poisson("0.001") * 3 + tr.Approx(0, "1e-9")
    found = windowed_profile(fact(run, Loss).curve)
    assert found is not None
    plain = profile("gaussian(sigma=1).poisson(0.001) * 3")
    at = Fraction("0.3")
    value, other = found.prove(at, found.find(at)), plain.prove(at, plain.find(at))
    with precision(120):
        leak = ball(Fraction("1e-9"))
        assert value.overlaps(leak + (1 - leak) * other)
        assert value.rad() < value.mid() * Ball(1e-6)
    bound = found.epsilon(Fraction("2e-9"))[0]
    assert 0 < bound.lower < bound.upper < bound.lower * (1 + 1e-6)
    assert bound.lower < found.estimate(Fraction("2e-9")) * 1.1 < 1.2 * bound.upper
    with pytest.raises(NotCertified):
        found.epsilon(Fraction("1e-9"))


MIXED = "gaussian(sigma=1).poisson(0.001) + gaussian(sigma=2).poisson(0.01)"


@pytest.fixture(scope="module")
def mixed():
    found = profile(MIXED)
    at = Fraction("0.8")
    with mp.workdps(22):
        truth = two_steps((mp.mpf(1), mp.mpf("0.001")), (mp.mpf("0.5"), mp.mpf("0.01")), mp.mpf("0.8"))
    return found, at, found.find(at), truth


@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize(
    "changed",
    [
        {"low": Fraction(9, 10)},
        {"low": Fraction(11, 10)},
        {"high": Fraction(19, 20)},
        {"high": Fraction(21, 20)},
        {"blur": Fraction(1, 2)},
        {"blur": 2},
        {"cut": Fraction(19, 20)},
        {"cut": Fraction(6, 5)},
        {"low_cut": Fraction(19, 20)},
        {"low_end": Fraction(9, 10)},
        {"angle": Fraction(1, 3)},
        {"angle": 2},
        {"put": None},
        {"put": 3},
    ],
)
def test_any_pieces_enclose_or_are_refused(mixed, changed, number):
    """Whatever a stranger's witness says of one sampler, what it proves is true."""
    found, at, witness, truth = mixed
    pieces = [dict(piece) for piece in witness["pieces"]]
    for name, factor in changed.items():
        old = pieces[number][name]
        pieces[number][name] = None if factor is None or old is None else Fraction(old) * factor
    try:
        value = found.prove(at, {**witness, "pieces": pieces})
    except NotCertified:
        return
    assert contains(value, truth, mp.mpf(10) ** -10)


@pytest.mark.parametrize(
    "changed",
    [{"t": Fraction(1, 2)}, {"t": 2}, {"eta": 2}, {"eta": Fraction(1, 2)}, {"count": Fraction(1, 4)}, {"above": 3}, {"all_low": 3}],
)
def test_any_tilts_enclose_or_are_refused(mixed, changed):
    found, at, witness, truth = mixed
    other = {k: int(witness[k] * v) if k == "count" else Fraction(witness[k]) * v for k, v in changed.items()}
    try:
        value = found.prove(at, {**witness, **other, "below": None})
    except NotCertified:
        return
    assert contains(value, truth, mp.mpf(10) ** -10)


def test_void_mixtures_of_pieces_are_refused(mixed):
    found, at, witness, _ = mixed
    pieces = witness["pieces"]
    lows = [piece["low"] for piece in pieces]
    void = [
        pieces[:1],
        [*pieces, pieces[0]],
        [{**pieces[0], "low": None if lows[0] is not None else Fraction(0)}, pieces[1]],
        [{**pieces[0], "put": Fraction(1)}, pieces[1]],
    ]
    for wrong in void:
        with pytest.raises(NotCertified):
            found.prove(at, {**witness, "pieces": wrong})
    with pytest.raises(NotCertified):
        WindowLaw.of([])


def test_swapped_pieces_still_enclose(mixed):
    found, at, witness, truth = mixed
    try:
        value = found.prove(at, {**witness, "pieces": witness["pieces"][::-1]})
    except NotCertified:
        return
    assert contains(value, truth, mp.mpf(10) ** -10)


def test_without_a_put_a_high_step_counts_by_its_chance():
    law = profile(MIXED).steps._laws[0]
    plan = window_plan(law.floats, (0.8, 0.8), math.log(1e-4), 1e-6)
    assert any(piece.put is not None for piece in plan.pieces)
    wide = replace(plan, pieces=tuple(replace(piece, put=None) for piece in plan.pieces))
    good, loose = (WindowProof(law, chosen).call(Ball(0.8)) for chosen in (plan, wide))
    with precision(100):
        assert loose.overlaps(good)
        assert loose.rad() > good.rad()


def test_at_zero_both_directions_are_needed_where_other_parts_are():
    found = profile("gaussian(sigma=1).poisson(0.01) * 5 + laplace(scale=2)")
    witness = found.find(Fraction("0.6"))
    with pytest.raises(NotCertified):
        found.prove(Fraction(0), {**witness, "other": {}})
    with pytest.raises(NotCertified):
        found.find(Fraction(0))
    assert not found.steps.sampled
    assert profile(MIXED).steps.sampled


def test_what_it_is_not_for():
    assert windowed_profile(loss_of("gaussian(sigma=1) + laplace(scale=1)")) is None
    assert windowed_profile(loss_of("gaussian(sigma=0.001).poisson(0.01) * 3 + laplace(scale=1)")) is None
    many = " + ".join(f"gaussian(sigma={n}).poisson(0.01)" for n in range(1, 12))
    assert windowed_profile(loss_of(many)) is None
    assert windowed_directions(loss_of(MIXED)) is None
    with pytest.raises(NotCertified):
        profile(MIXED).epsilon(Fraction(1, 10**30000))


def test_many_points_share_plans():
    found = profile(MIXED)
    places = [Fraction(1, 2) * Fraction(11, 10) ** n for n in range(12)]
    values = found.deltas(places)
    for value, following in itertools.pairwise(values):
        assert value is not None
        assert following is not None
        assert value > following
    assert values[5].overlaps(found.prove(places[5], found.find(places[5])))


def test_saddles_are_near():
    law = profile(MIXED).steps._floats[0]
    x, slope = saddle_root(law, math.log(1e-20))
    assert slope > 0
    assert abs(saddle_call(law, x) - math.log(1e-20)) < 0.1
    assert saddle_root(law, -1e9) is None


@pytest.mark.parametrize(
    ("text", "delta", "gap"),
    [
        ("gaussian(sigma=10.4).poisson(0.352) + gaussian(sigma=1.05).poisson(5.55e-5) * 527", "8e-23", 1e-9),
        ("gaussian(sigma=4.41).poisson(1.62e-5) * 235 + laplace(scale=14.5) * 13", "7.73e-8", 1e-9),
        ("randomized_response(epsilon=0.08) * 9 + gaussian(sigma=2.9).poisson(3.2e-5) * 4 + laplace(scale=4) * 9", "2.5e-24", 1e-7),
        ("randomized_response(epsilon=0.247) * 2 + gaussian(sigma=0.998).poisson(0.000489) * 706 + gaussian(sigma=0.354).poisson(0.1)", "2.64e-40", 1e-9),
    ],
)  # fmt: skip
def test_corners_of_the_search(text, delta, gap):
    """A start that is far off and a dear plan; directions that saddles do not tell apart; a plan that cannot be fine; a
    low part that vanishes at some nodes."""
    found = profile(text)
    bound, witness = found.epsilon(Fraction(delta))
    assert 0 < bound.lower < bound.upper < bound.lower * (1 + gap)
    with precision(200):
        assert found.prove(Fraction(bound.upper), witness) <= ball(Fraction(delta))
        assert found.prove(Fraction(bound.lower), witness) > ball(Fraction(delta))
