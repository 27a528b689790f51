"""Plans of windowed contours for mixtures, changed in every part: what they prove is true, or they are refused."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from mixture_truth import beside_laplace, contains, loss_of, profile, removed, two_steps

from tightrope.curves.engines.windowed_profile import windowed_directions, windowed_profile
from tightrope.curves.engines.windowed_witness import read_plan
from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, precision
from tightrope.numerics.real import Real
from tightrope.numerics.windowed.integral import WindowProof
from tightrope.numerics.windowed.parts import Sampler, WindowLaw
from tightrope.numerics.windowed.saddle import saddle_call, saddle_root
from tightrope.numerics.windowed.search import window_plan

MIXED = "gaussian(sigma=1).poisson(0.001) + gaussian(sigma=2).poisson(0.01)"


@pytest.fixture(scope="module")
def mixed():
    found = profile(MIXED)
    at = Fraction("0.8")
    with mp.workdps(22):
        truth = two_steps((mp.mpf(1), mp.mpf("0.001")), (mp.mpf("0.5"), mp.mpf("0.01")), mp.mpf("0.8"))
    return found, at, found.find(at), truth


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
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
    assert contains(value, truth, 1e-10)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(
    "changed",
    [
        {"t": Fraction(1, 2)},
        {"t": 2},
        {"eta": 2},
        {"eta": Fraction(1, 2)},
        {"count": Fraction(1, 4)},
        {"above": 3},
        {"all_low": 3},
    ],
)
def test_any_tilts_enclose_or_are_refused(mixed, changed):
    found, at, witness, truth = mixed
    other = {k: int(witness[k] * v) if k == "count" else Fraction(witness[k]) * v for k, v in changed.items()}
    try:
        value = found.prove(at, {**witness, **other, "below": None})
    except NotCertified:
        return
    assert contains(value, truth, 1e-10)


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
    assert contains(value, truth, 1e-10)


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
    many = " + ".join(f"gaussian(sigma={n}).poisson(0.01)" for n in range(1, 15))
    assert windowed_profile(loss_of(many)) is None
    assert windowed_directions(loss_of(MIXED)) is None
    with pytest.raises(NotCertified):
        profile(MIXED).epsilon(Fraction(1, 10**30000))


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
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


class _Leak:
    """A part that is at ∞ for sure."""

    def infinite(self):
        return Ball(1)

    def largest(self):
        return Ball(0)


def test_laws_at_the_edge_of_floats():
    tiny = WindowLaw.of([Sampler(Real(Fraction(1, 10**400)), Fraction(1, 100), 3)])
    with pytest.raises(NotCertified):
        _ = tiny.floats
    assert WindowLaw.of([Sampler(Real(Fraction(1)), Fraction(1, 100), 3)], [(_Leak(), 2)]).infinite() == 1


@pytest.fixture(scope="module")
def beside():
    """A step beside Laplace noise, and one beside a leak: profile, ε, witness and truth."""
    mu, q, found = mp.mpf(1), mp.mpf("0.1"), []
    for text, x in (("laplace(scale=2)", "0.6"), ("approx(0, 0.3)", "0.4")):
        whole, at = profile(f"gaussian(sigma=1).poisson(0.1) + {text}"), mp.mpf(x)
        with mp.workdps(22):
            if "laplace" in text:
                truth = beside_laplace(lambda y: removed(mu, q, y), mp.mpf("0.5"), at)
            else:
                truth = mp.mpf("0.3") + mp.mpf("0.7") * removed(mu, q, at)
        found.append((whole, Fraction(x), whole.find(Fraction(x)), truth))
    return found


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"t": Fraction(1, 8), "eta": Fraction(8), "count": 400},
        {"t": Fraction(1, 8), "eta": Fraction(6), "count": 400},
        {"t": Fraction(1, 8), "eta": Fraction(4), "count": 400},
        {"t": Fraction(1, 64), "eta": Fraction(2), "count": 400},
        {"count": 1},
        {"count": 4},
        {"count": 9},
        {"high": Fraction(2), "cut": Fraction(33, 16), "low": None, "low_cut": Fraction(33, 16)},
        {"high": Fraction(2), "cut": Fraction(9, 4), "low": None, "low_cut": Fraction(9, 4), "put": None},
        {"high": Fraction(4), "cut": Fraction(9, 2), "low": Fraction(1, 2), "low_cut": Fraction(5, 8)},
    ],
)
def test_silly_plans_beside_other_parts(beside, changed, number):
    """Few nodes, wide steps, early cuts: wide, and true."""
    found, at, witness, truth = beside[number]
    for below in (witness["below"], None):
        try:
            value = found.prove(at, {**witness, **changed, "below": below})
        except NotCertified:
            continue
        assert contains(value, truth, 1e-10)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_the_tail_bounds_every_later_node():
    """Fewer nodes: the bound of the rest is at least what more nodes show of it, other parts included."""
    law = profile("gaussian(sigma=1.57).poisson(0.000381) + laplace(scale=1.81) * 7").steps._laws[0]
    plan = window_plan(law.floats, (4.38, 4.38), -84.0, 1e-10)
    whole = WindowProof(law, plan)
    for count in (5, 20, 60):
        fewer = WindowProof(law, replace(plan, count=count))
        with precision(80):
            seen = sum((2 * (real * real + imag * imag).sqrt() for real, imag in whole._terms[count + 1 :]), Ball(0))
            assert fewer._tail >= seen
            assert fewer._tail < seen * 10**8


def test_what_a_cut_loses_is_counted(beside):
    found, _, witness, _ = beside[0]
    law, plan = found.steps._laws[0], read_plan(witness)
    split = plan.pieces[0].split
    early = replace(split, cut=split.high + Fraction(1, 16))
    lost = WindowProof(law, replace(plan, pieces=(replace(plan.pieces[0], split=early),)))._lost
    z = np.linspace(float(early.cut), float(early.cut) + 3, 20_001)
    window = np.array([math.erfc((a - float(split.high)) / float(split.blur) / math.sqrt(2)) / 2 for a in z])
    masses = np.exp(-z * z / 2) / math.sqrt(2 * math.pi) * window * (0.9 + 0.1 * np.exp(z - 0.5))
    truth = float(masses.sum() * (z[1] - z[0]))
    assert truth * 0.999 < float(lost) < 10 * truth


def test_the_least_loss_is_known_of_sampled_steps_only(beside):
    """Other parts may lie below: then the aliases from below never vanish."""
    found, _, witness, _ = beside[0]
    assert WindowProof(found.steps._laws[0], read_plan(witness))._least is None
    law = profile(MIXED).steps._laws[0]
    assert WindowProof(law, window_plan(law.floats, (0.8, 0.8), math.log(1e-4), 1e-6))._least is not None
