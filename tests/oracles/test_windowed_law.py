"""The pieces of a split sampled step against quadrature of their definition."""

from fractions import Fraction as F

import mpmath as mp
import pytest

from tightrope.errors import NotCertified
from tightrope.numerics.balls import ball, precision
from tightrope.numerics.real import Real
from tightrope.numerics.windowed_bounds import HIGH, LOW, MIDDLE, Split
from tightrope.numerics.windowed_law import Step
from tightrope.numerics.windowed_panels import panels

RATE, BLUR, BORDER, TOP = F(1, 100), F(1, 4), F(2), F(4)
SPLIT = Split(BLUR, BORDER, TOP, F(5), F(7))
STEP = Step(Real(F(1)), RATE, SPLIT)
UNSPLIT = Step(Real(F(1)), RATE, Split(BLUR, None, TOP, F(7), F(7)))


def w(z):
    return 1 - mp.mpf(1) / 100 + mp.exp(z - mp.mpf(1) / 2) / 100


def chance(kind, z, low=True):
    lower, upper = (2 - z) * 4, (4 - z) * 4
    if kind == LOW:
        return mp.ncdf(lower)
    if kind == HIGH:
        return mp.ncdf(-upper)
    return mp.ncdf(upper) - mp.ncdf(lower) if low else mp.ncdf(upper)


def integral(kind, power, low=True, end=None):
    last = {LOW: 5, MIDDLE: 7, HIGH: 14}[kind] if end is None else end
    places = [mp.mpf(-12), *(mp.mpf(n) / 2 for n in range(-16, 2 * int(last))), mp.mpf(last)]
    return mp.quad(lambda z: mp.npdf(z) * chance(kind, z, low) * w(z) ** power, places)


@pytest.fixture(autouse=True)
def digits():
    with mp.workdps(25):
        yield


def encloses(value, truth, relative):
    """Whether the ball contains the number, and is that narrow."""
    with precision(120):
        mid, rad = mp.mpf(value.mid().str(30, radius=False)), mp.mpf(value.rad().str(10, radius=False))
    return abs(mid - truth) <= rad * (1 + mp.mpf(10) ** -6) + abs(truth) * mp.mpf(10) ** -20 and rad < relative * abs(truth)


@pytest.mark.parametrize("kind", [LOW, MIDDLE, HIGH])
@pytest.mark.parametrize("power", [F(1), F(0), F(5, 2), F(-3), F(-40)])
def test_moments_are_integrals(kind, power):
    with precision(60):
        value = STEP.moment(kind, power)
    assert encloses(value, integral(kind, mp.mpf(power.numerator) / power.denominator), 1e-14)


def test_moments_without_a_low_part_and_with_another_end():
    with precision(60):
        assert encloses(UNSPLIT.moment(MIDDLE, F(3)), integral(MIDDLE, 3, low=False), 1e-14)
        assert encloses(STEP.moment(LOW, F(12), F(3)), integral(LOW, 12, end=3), 1e-14)


@pytest.mark.parametrize("kind", [LOW, MIDDLE, HIGH])
def test_shares_are_closed_forms_of_moments(kind):
    with precision(80):
        for share, power in zip(STEP.shares(kind), (F(1), F(0)), strict=True):
            assert abs(share - STEP.moment(kind, power)) < STEP.moment(kind, power) / 10**11


def test_the_three_pieces_are_the_whole_but_for_what_is_lost():
    with precision(80):
        whole = sum((STEP.moment(kind, F(0)) for kind in (LOW, MIDDLE, HIGH)), ball(0))
        lost = STEP.lost(LOW, 0) + STEP.lost(MIDDLE, 0)
        assert whole <= 1 and whole + lost >= 1 and lost < ball(F(1, 10**20))


@pytest.mark.parametrize(("kind", "eta"), [(LOW, F(20)), (MIDDLE, F(20)), (MIDDLE, F(-20))])
def test_lines_are_integrals_at_complex_powers(kind, eta):
    with precision(60):
        line = STEP.line(kind, F(5, 2), eta, 8)
    for n in (0, 3, 8):
        truth = integral(kind, mp.mpc(2.5, float(eta) * n))
        size = abs(integral(kind, 2.5))
        for part, number in ((line[n].real, truth.real), (line[n].imag, truth.imag)):
            with precision(120):
                mid, rad = mp.mpf(part.mid().str(30, radius=False)), mp.mpf(part.rad().str(10, radius=False))
            assert abs(mid - number) <= rad + size * mp.mpf(10) ** -20 and rad < size * 1e-14


@pytest.mark.parametrize(("step", "kind", "power"), [
    (STEP, LOW, 2.5), (STEP, MIDDLE, 2.5), (STEP, MIDDLE, -2.5), (UNSPLIT, MIDDLE, 2.5), (UNSPLIT, MIDDLE, -20.0),
])  # fmt: skip
@pytest.mark.parametrize("theta", [F(1, 20), F(1, 2), F(6, 5)])
def test_the_decay_bounds_every_later_node(step, kind, power, theta):
    with precision(60):
        bound = float(step.decay(kind, F(power), F(30), theta))
    for y in (30, 31, 37, 60, 100, -45):
        assert abs(integral(kind, mp.mpc(power, y), low=step is STEP)) <= bound * (1 + 1e-12)


def test_the_decay_is_of_use():
    with precision(60):
        assert STEP.decay(MIDDLE, F(5, 2), F(600), F(1, 2)) < STEP.moment(MIDDLE, F(5, 2)) / 10**6


@pytest.mark.parametrize("theta", [F(0), F(22, 7), F(-1)])
def test_paths_are_shifted_by_less_than_pi(theta):
    with pytest.raises(NotCertified):
        STEP.decay(MIDDLE, F(2), F(30), theta)


@pytest.mark.parametrize("split", [
    Split(F(0), None, F(1), F(2), F(2)),
    Split(F(1, 4), F(2), F(1), F(3), F(3)),
    Split(F(1, 4), F(0), F(1), F(3), F(1)),
    Split(F(1, 4), F(0), F(1), F(0), F(3)),
])  # fmt: skip
def test_void_splits_are_refused(split):
    with pytest.raises(NotCertified):
        Step(Real(F(1)), RATE, split)


def test_a_tail_that_rises_again_is_refused():
    """Beyond the border w^A outgrows the window: there is a second peak, and no bound of a falling tail."""
    with precision(60), pytest.raises(NotCertified):
        STEP.after(MIDDLE, F(4000), ball(F(9, 2)))


def test_panels_join_and_reach_the_cut():
    chosen = panels(STEP.shape, MIDDLE, 3.0, 200.0, 40.0, 0.0, SPLIT.cut)
    for one, following in zip(chosen, chosen[1:], strict=False):
        assert one.middle + one.half == following.middle - following.half
    assert chosen[-1].middle + chosen[-1].half == SPLIT.cut


def test_too_fast_turns_are_refused():
    with pytest.raises(NotCertified):
        panels(STEP.shape, MIDDLE, 3.0, 1e9, 40.0, 0.0, SPLIT.cut)
    with pytest.raises(NotCertified):
        panels(STEP.shape, LOW, 3.0, 0.0, 40.0, 0.0, F(-30))
