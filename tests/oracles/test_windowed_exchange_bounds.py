"""Bounds of the integrands under replace: in rectangles, beyond the panels and the cuts, close to what they bound."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from mixture_truth import profile
from scipy.special import erfc
from test_windowed_exchange import OFTEN, UNSPLIT, USUAL, integral, kinds, split, step_of

from tightrope.numerics.balls import ball, precision
from tightrope.numerics.windowed.bounds import HIGH, LOW, MIDDLE
from tightrope.numerics.windowed.integral import WindowProof
from tightrope.numerics.windowed.law import Step
from tightrope.numerics.windowed.panels import Panel

WIDE = Fraction(2), Fraction(1, 10), split(1, 0, 2, "1/2", "5/2", -3, -2)  # everything is near everything
BARE = Fraction(2), Fraction(1, 10), split(1, None, 2, "5/2", "5/2", -3, -2)
SLOW = Fraction(1, 20), Fraction(1, 2), split("1/4", None, 60, 70, 70, -70, -60)
NARROW = Fraction(1, 64)


def values(case, kind, power, y, z):
    """|√2π·φ W w(z)^{A+iy} w(−z)^{1−A−iy}| at complex z."""
    mu, q, parts = float(case[0]), float(case[1]), case[2]

    def below(border):
        return erfc((z - float(border)) / (float(parts.blur) * math.sqrt(2))) / 2

    lower, upper = parts.borders(kind)
    window = (1 if upper is None else below(upper)) - (0 if lower is None else below(lower))
    up, down = (np.log(1 - q + q * np.exp(mu * side - mu * mu / 2)) for side in (z, -z))
    return np.abs(np.exp(-z * z / 2) * window * np.exp((power + 1j * y) * up + (1 - power - 1j * y) * down))


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("case", [USUAL, UNSPLIT, OFTEN, WIDE, BARE])
@pytest.mark.parametrize(("power", "y"), [(3.5, 0), (3.5, 15), (-2.5, 0), (-2.5, 15), (0.5, 15), (40.0, 3)])
def test_rectangles(case, power, y):
    """Nothing in a narrow one is above the bound; the largest value is not far below where φ and W are known well."""
    tau, ratios = float(case[2].blur), []
    for kind in kinds(case):
        for place in np.linspace(-4.0, 5.0, 19):
            for depth in (0.01, 0.3, min(2 * tau, 1.4 / float(case[0]))):
                sides = (Fraction(place) - NARROW, Fraction(place) + NARROW, Fraction(depth))
                with precision(60):
                    bound = float(step_of(case).most(kind, Fraction(power), ball(y), *(ball(x) for x in sides)))
                x, v = np.meshgrid(np.linspace(float(sides[0]), float(sides[1]), 5), np.linspace(-depth, depth, 41))
                largest = values(case, kind, power, y, x + 1j * v).max()
                assert largest <= bound * (1 + 1e-9) + 1e-250
                if depth == 0.3 and case in (WIDE, BARE) and largest > 1e-200:
                    ratios.append(bound / largest)
    assert not ratios or np.median(ratios) < 12


@pytest.mark.parametrize("power", [3.5, 100.0, 0.5, 0.0, -2.5])
def test_the_tail_to_the_right_falls_at_least_as_bounded(power):
    """ln w(z) and −ln w(−z) both rise nearly to the end."""
    with precision(60):
        bound = float(step_of(SLOW).after(MIDDLE, Fraction(power), ball(10))) / math.sqrt(2 * math.pi)
    truth = integral(SLOW, MIDDLE, power, begin=10.0, end=60.0)
    assert truth <= bound * (1 + 1e-9)
    assert bound < 3 * truth


@pytest.mark.parametrize("power", [3.5, 1.0, 0.5, 0.0, -2.5])
@pytest.mark.parametrize("place", [-2.5, -1.0, 0.5])
def test_before_the_panels(power, place):
    for case in (WIDE, BARE):
        for kind in kinds(case):
            with precision(60):
                bound = float(step_of(case).before(kind, Fraction(power), ball(Fraction(place)))) / math.sqrt(
                    2 * math.pi
                )
            assert integral(case, kind, power, end=place) <= bound


@pytest.mark.parametrize("case", [WIDE, BARE])
def test_what_lies_below_the_start_is_in_no_piece(case):
    """Start and border of DEEP steps are near: what is between them counts."""
    with precision(60):
        shares, least = step_of(case).deep_shares(), step_of(case).least_loss()
        assert abs(least + step_of(case).loss(ball(3))) < 1e-12
    for share, power in zip(shares, (1.0, 0.0), strict=True):
        truth = integral(case, "deep", power, begin=-20.0, end=20.0)
        more = sum(integral(case, kind, power, begin=-20.0, end=-3.0) for kind in kinds(case))
        assert share.lower() <= truth * (1 + 1e-9)
        assert share.upper() >= (truth + more) * (1 - 1e-9)
        assert share.upper() < truth + 8 * more


@pytest.mark.parametrize("case", [WIDE, BARE])
@pytest.mark.parametrize("power", [Fraction(0), Fraction(-3, 2)])
def test_all_that_is_not_deep_goes_beyond_the_cuts(case, power):
    with precision(60):
        whole = float(step_of(case).log_whole(power).exp())
    truth = sum(integral(case, kind, float(power), end=20.0) for kind in kinds(case))
    assert truth <= whole * (1 + 1e-9)
    assert whole < truth * 1.5


@pytest.mark.parametrize("case", [WIDE, BARE])
@pytest.mark.parametrize("theta", [Fraction(1, 4), Fraction(1), Fraction(7, 4)])
def test_decays_with_ways_back_that_count(case, theta):
    """At both ends much is cut off, so that the integral falls like 1/y only: from what the ways back bound."""
    for kind in (MIDDLE,) if case is BARE else (LOW, MIDDLE):
        for power in (1.25, 3.5):
            with precision(60):
                bound = float(step_of(case).decay(kind, Fraction(power), Fraction(40), theta))
            for y in (40, 43, 70, 200):
                assert abs(integral(case, kind, power + 1j * y)) <= bound * (1 + 1e-9)


def test_the_way_back_to_the_start_counts():
    """To the right nothing is cut off: far out, the integral is what is left of the step at its start."""
    case = Fraction(2), Fraction(9, 10), split("1/4", None, 2, 4, 4, -1, "-1/2")
    with precision(60):
        bound = float(step_of(case).decay(MIDDLE, Fraction(5, 4), Fraction(60), Fraction(1)))
    assert abs(integral(case, MIDDLE, 1.25 + 60j)) <= bound


@pytest.mark.parametrize("theta", [Fraction(1, 2), Fraction(3, 2), Fraction(2)])
def test_left_of_the_panels_on_a_shifted_path(theta):
    """Between the start and −1, where both ways back are negligible."""
    step, shift, place = step_of(OFTEN), float(theta) / 2, Fraction(-1)
    half = (OFTEN[2].cut - place) / 2
    with precision(60):
        both = (ball(theta) / 2, ball(theta))
        bound = step._around(MIDDLE, Fraction(7, 2), [Panel(place + half, half, 10, Fraction(2))], OFTEN[2].cut, both)
    x = np.linspace(float(OFTEN[2].start), -1.0, 20_001)
    truth = values(OFTEN, MIDDLE, 3.5, 0.0, x + 1j * shift).mean() * (x[-1] - x[0])
    grown = math.exp(shift**2 / 2 + shift**2 / (2 * float(OFTEN[2].blur) ** 2))
    assert truth <= float(bound) * grown


def test_everything_lost_is_counted_for_every_copy(monkeypatch):
    found = profile("gaussian(sigma=0.5).poisson(0.1, relation=replace) * 3")
    plan = found.steps.plan_to(1.0, 1.0, -12.0)
    piece = replace(plan.pieces[0], split=WIDE[2], put=Fraction(5, 4), low_end=Fraction(1, 2), low_angle=Fraction(0))
    chosen = replace(plan, pieces=(piece,), count=20, deep_tilt=Fraction(1, 2))
    one, lost, deep = step_of(WIDE), Step.lost, Step.deep_moment
    with precision(160):
        proof = WindowProof(found.steps._laws[0], chosen)
        expected = one.lost(MIDDLE, 1) + one.lost(LOW, 1) + one.lost(LOW, 1, Fraction(1, 2))
        expected = 3 * expected + 9 * one.shares(HIGH)[0] * one.deep_shares()[0]
        assert abs(proof._lost.mid() / expected.mid() - 1) < 1e-4  # all else is tiny here
        monkeypatch.setattr(Step, "deep_moment", lambda *args: (deep(*args)[0], ball(1)))
        assert abs(WindowProof(found.steps._laws[0], chosen)._lost - proof._lost - 3) < 0.01
        monkeypatch.setattr(Step, "deep_moment", deep)
        monkeypatch.setattr(Step, "lost", lambda *args: lost(*args) + (ball(1) / 10 if args[1] == HIGH else 0))
        more = WindowProof(found.steps._laws[0], chosen)._lost - proof._lost
        assert (
            0.5 < more < 0.7
        )  # for HIGH steps below the start, and DEEP ones beyond the cut, which a mirror makes HIGH
