"""The pieces of a split sampled step against quadrature of their definition."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import ndtr

from tightrope.errors import NotCertified
from tightrope.numerics.balls import ball, precision
from tightrope.numerics.real import Real
from tightrope.numerics.windowed.bounds import HIGH, LOW, MIDDLE, Split
from tightrope.numerics.windowed.law import Step
from tightrope.numerics.windowed.panels import panels

RATE, BLUR, BORDER, TOP = Fraction(1, 100), Fraction(1, 4), Fraction(2), Fraction(4)
SPLIT = Split(BLUR, BORDER, TOP, Fraction(5), Fraction(7))
STEP = Step(Real(Fraction(1)), RATE, SPLIT)
UNSPLIT = Step(Real(Fraction(1)), RATE, Split(BLUR, None, TOP, Fraction(7), Fraction(7)))


def integral(kind, power, low=True, end=None):
    """∫φ W w^A up to the cut: the trapezoidal rule, which is good to 13 digits as W vanishes at the cut."""
    last = {LOW: 5.0, MIDDLE: 7.0, HIGH: 14.0}[kind] if end is None else end
    z = np.linspace(-14.0, last, 30_001)
    below, above = ndtr((2 - z) * 4), ndtr((4 - z) * 4)
    window = {
        LOW: below,
        HIGH: ndtr((z - 4) * 4),
        MIDDLE: np.where(z > 2, above - below, ndtr((z - 2) * 4)) if low else above,
    }
    density = np.exp(-z * z / 2) / math.sqrt(2 * math.pi) * (z[1] - z[0])
    values = density * window[kind] * np.exp(power * np.log1p(np.expm1(z - 0.5) / 100))
    return values.sum() - values[-1] / 2


def near(value, truth, size):
    """Whether the ball is narrow and contains the number, which is good to 12 digits."""
    return value.rad() < size * 1e-13 and abs(float(value.mid()) - truth) < size * 1e-12


@pytest.mark.parametrize("kind", [LOW, MIDDLE, HIGH])
@pytest.mark.parametrize("power", [Fraction(1), Fraction(0), Fraction(5, 2), Fraction(-3), Fraction(-40)])
def test_moments_are_integrals(kind, power):
    with precision(60):
        value = STEP.moment(kind, power)
    truth = integral(kind, float(power))
    assert near(value, truth, truth)


def test_moments_without_a_low_part_and_with_another_end():
    with precision(60):
        truth = integral(MIDDLE, 3.0, low=False)
        assert near(UNSPLIT.moment(MIDDLE, Fraction(3)), truth, truth)
        truth = integral(LOW, 12.0, end=4.75)
        assert near(STEP.moment(LOW, Fraction(12), Fraction(19, 4)), truth, truth)


@pytest.mark.parametrize("kind", [LOW, MIDDLE, HIGH])
def test_shares_are_closed_forms_of_moments(kind):
    with precision(80):
        for share, power in zip(STEP.shares(kind), (Fraction(1), Fraction(0)), strict=True):
            assert abs(share - STEP.moment(kind, power)) < STEP.moment(kind, power) / 10**11


def test_the_three_pieces_are_the_whole_but_for_what_is_lost():
    with precision(80):
        whole = sum((STEP.moment(kind, Fraction(0)) for kind in (LOW, MIDDLE, HIGH)), ball(0))
        lost = STEP.lost(LOW, 0) + STEP.lost(MIDDLE, 0)
        assert not whole > 1
        assert not whole + lost < 1
        assert lost < ball(Fraction(1, 10**20))


@pytest.mark.parametrize(("kind", "eta"), [(LOW, Fraction(20)), (MIDDLE, Fraction(20)), (MIDDLE, Fraction(-20))])
def test_lines_are_integrals_at_complex_powers(kind, eta):
    with precision(60):
        line = STEP.line(kind, Fraction(5, 2), eta, 8)
    for n in (0, 3, 8):
        truth, size = integral(kind, 2.5 + 1j * float(eta) * n), integral(kind, 2.5)
        assert near(line[n].real, truth.real, size)
        assert near(line[n].imag, truth.imag, size)


@pytest.mark.parametrize(
    ("step", "kind", "power"),
    [
        (STEP, LOW, 2.5),
        (STEP, MIDDLE, 2.5),
        (STEP, MIDDLE, -2.5),
        (UNSPLIT, MIDDLE, 2.5),
        (UNSPLIT, MIDDLE, -20.0),
    ],
)
@pytest.mark.parametrize("theta", [Fraction(1, 20), Fraction(1, 2), Fraction(6, 5)])
def test_the_decay_bounds_every_later_node(step, kind, power, theta):
    with precision(60):
        bound = float(step.decay(kind, Fraction(power), Fraction(30), theta))
    for y in (30, 31, 37, 60, 100, -45):
        assert abs(integral(kind, power + 1j * y, low=step is STEP)) <= bound * (1 + 1e-12)


def test_the_decay_is_of_use():
    with precision(60):
        assert (
            STEP.decay(MIDDLE, Fraction(5, 2), Fraction(600), Fraction(1, 2))
            < STEP.moment(MIDDLE, Fraction(5, 2)) / 1000
        )


@pytest.mark.parametrize("theta", [Fraction(0), Fraction(22, 7), Fraction(-1)])
def test_paths_are_shifted_by_less_than_pi(theta):
    with pytest.raises(NotCertified):
        STEP.decay(MIDDLE, Fraction(2), Fraction(30), theta)


@pytest.mark.parametrize(
    "split",
    [
        Split(Fraction(0), None, Fraction(1), Fraction(2), Fraction(2)),
        Split(Fraction(1, 4), Fraction(2), Fraction(1), Fraction(3), Fraction(3)),
        Split(Fraction(1, 4), Fraction(0), Fraction(1), Fraction(3), Fraction(1)),
        Split(Fraction(1, 4), Fraction(0), Fraction(1), Fraction(0), Fraction(3)),
    ],
)
def test_void_splits_are_refused(split):
    with pytest.raises(NotCertified):
        Step(Real(Fraction(1)), RATE, split)


def test_a_tail_that_rises_again_is_refused():
    """Beyond the border w^A outgrows the window: there is a second peak, and no bound of a falling tail."""
    with precision(60), pytest.raises(NotCertified):
        STEP.after(MIDDLE, Fraction(4000), ball(Fraction(9, 2)))


def test_panels_join_and_reach_the_cut():
    chosen = panels(STEP.shape, MIDDLE, 3.0, 200.0, 40.0, 0.0, SPLIT.cut)
    for one, following in itertools.pairwise(chosen):
        assert one.middle + one.half == following.middle - following.half
    assert chosen[-1].middle + chosen[-1].half == SPLIT.cut


def test_too_fast_turns_are_refused():
    with pytest.raises(NotCertified):
        panels(STEP.shape, MIDDLE, 3.0, 1e9, 40.0, 0.0, SPLIT.cut)
    with pytest.raises(NotCertified):
        panels(STEP.shape, LOW, 3.0, 0.0, 40.0, 0.0, Fraction(-30))
