"""A sampled step under replace, split: its pieces against quadrature of their definition."""

import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from exchange_truth import exchanged, loss, place
from scipy.special import ndtr

from tightrope.errors import NotCertified
from tightrope.numerics.balls import precision
from tightrope.numerics.real import Real
from tightrope.numerics.windowed import outcomes
from tightrope.numerics.windowed.bounds import HIGH, LOW, MIDDLE, Split
from tightrope.numerics.windowed.law import Step
from tightrope.numerics.windowed.panels import panels
from tightrope.numerics.windowed.parts import Sampler, WindowLaw


def split(blur, low, high, low_cut, cut, start, deep):
    return Split(*(None if x is None else Fraction(x) for x in (blur, low, high, low_cut, cut, start, deep)))


USUAL = Fraction(1), Fraction(1, 100), split("1/4", 2, 4, 4, 6, -6, -4)
STEEP = Fraction(3), Fraction(1, 1000), split("1/8", 3, 5, 4, 6, -5, -4)
FLAT = Fraction(1, 5), Fraction(1, 2), split("1/4", -1, 4, 1, 6, -5, -3)
UNSPLIT = Fraction(1), Fraction(1, 100), split("1/4", None, 4, 6, 6, -6, -4)
OFTEN = Fraction(2), Fraction(9, 10), split("1/2", None, 3, 7, 7, -7, -3)
ALL = [USUAL, STEEP, FLAT, UNSPLIT, OFTEN]


def step_of(case):
    return Step(Real(case[0]), case[1], case[2], exchanged=True)


def integral(case, kind, power, begin=None, end=None):
    """∫φ W w(z)^A w(−z)^{1−A} from the start to the cut, by Gauss's rule on 300 panels."""
    mu, q, parts = float(case[0]), float(case[1]), case[2]
    blur, deep, high = float(parts.blur), float(parts.deep), float(parts.high)
    low = None if parts.low is None else float(parts.low)
    begin = float(parts.start) if begin is None else begin
    end = float({LOW: parts.low_cut, MIDDLE: parts.cut}.get(kind, 20)) if end is None else end
    x, weight = np.polynomial.legendre.leggauss(40)
    edges = np.linspace(begin, end, 301)
    half, middle = np.diff(edges) / 2, (edges[1:] + edges[:-1]) / 2
    z, weights = (middle[:, None] + half[:, None] * x).ravel(), (half[:, None] * weight).ravel()

    def below(border):
        return ndtr((border - z) / blur)

    def above(border):
        return ndtr((z - border) / blur)

    lower = deep if low is None or kind == LOW else low
    window = {
        LOW: np.where(z > deep, below(low or 0.0) - below(deep), above(deep) - above(low or 0.0)),
        MIDDLE: np.where(z > lower, below(high) - below(lower), above(lower) - above(high)),
        HIGH: above(high),
        "deep": below(deep),
    }[kind]
    up, down = (np.log1p(q * np.expm1(mu * side - mu * mu / 2)) for side in (z, -z))
    values = np.exp(-z * z / 2) / math.sqrt(2 * math.pi) * window * np.exp(power * up + (1 - power) * down)
    return (weights * values).sum()


def near(value, truth, size):
    return value.rad() < size * 1e-12 and abs(float(value.mid()) - truth) < size * 1e-11


def kinds(case):
    return [MIDDLE, HIGH] if case[2].low is None else [LOW, MIDDLE, HIGH]


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("case", ALL)
@pytest.mark.parametrize(
    "power", [Fraction(7, 2), Fraction(1), Fraction(1, 2), Fraction(0), Fraction(-3), Fraction(-20)]
)
def test_moments_are_integrals(case, power):
    for kind in kinds(case):
        if kind != HIGH or power <= 0:
            with precision(60):
                value = step_of(case).moment(kind, power)
            truth = integral(case, kind, float(power))
            assert near(value, truth, truth)


@pytest.mark.parametrize("case", ALL)
def test_shares_are_closed_forms_of_moments(case):
    for kind in kinds(case):
        with precision(60):
            shares = step_of(case).shares(kind)
        for share, power in zip(shares, (1.0, 0.0), strict=True):
            truth = integral(case, kind, power)
            assert abs(float(share.mid()) - truth) <= float(share.rad()) + 1e-12 * truth
            assert share.rad() < truth * 1e-3 + 1e-12


@pytest.mark.parametrize("case", ALL)
def test_deep_shares_and_moments(case):
    with precision(60):
        shares, (moment, lost) = step_of(case).deep_shares(), step_of(case).deep_moment(Fraction(7, 2))
    truth = integral(case, "deep", 3.5, begin=-20.0, end=float(case[2].cut))
    assert near(moment, truth, truth)
    for share, power in zip(shares, (1.0, 0.0), strict=True):
        truth = integral(case, "deep", power, begin=-20.0, end=20.0)
        more = sum(integral(case, kind, power, begin=-20.0, end=float(case[2].start)) for kind in kinds(case))
        assert share.lower() <= truth * (1 + 1e-12)
        assert share.upper() >= (truth + more) * (1 - 1e-12)
        assert share.rad() < truth * 1e-3
    assert lost >= integral(case, "deep", 1.0, begin=float(case[2].cut), end=20.0)


@pytest.mark.parametrize("case", ALL)
def test_what_is_lost_is_bounded_on_both_sides(case):
    for kind in kinds(case):
        for power in (0, 1):
            with precision(60):
                bound = step_of(case).lost(kind, power)
            truth = integral(case, kind, float(power), begin=-20.0, end=float(case[2].start))
            if kind != HIGH:
                truth += integral(case, kind, float(power), begin=float(case[2].end(kind)), end=20.0)
            assert truth <= float(bound) * (1 + 1e-9)
            assert float(bound) < 30 * truth + 1e-15 or kind == HIGH


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("case", ALL)
@pytest.mark.parametrize("power", [Fraction(0), Fraction(-3, 2), Fraction(-8)])
def test_all_but_deep_steps(case, power):
    """To the right nothing is cut off here."""
    with precision(60):
        whole = step_of(case).log_whole(power).exp()
    truth = sum(integral(case, kind, float(power), end=20.0) for kind in kinds(case))
    assert truth * (1 - 1e-12) <= float(whole) <= truth * (1 + 1e-3)


@pytest.mark.parametrize("case", ALL)
def test_lines_are_integrals_at_complex_powers(case):
    for kind in kinds(case)[:-1]:
        with precision(60):
            line = step_of(case).line(kind, Fraction(7, 2), Fraction(5), 8)
        size = integral(case, kind, 3.5)
        for n in (0, 3, 8):
            truth = integral(case, kind, 3.5 + 5j * n)
            assert near(line[n].real, truth.real, size)
            assert near(line[n].imag, truth.imag, size)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("case", ALL)
@pytest.mark.parametrize("theta", [Fraction(1, 20), Fraction(1, 2), Fraction(6, 5)])
def test_the_decay_bounds_every_later_node(case, theta):
    theta *= min(case[0], 1)
    for kind in kinds(case)[:-1]:
        for power in (3.5, -2.5):
            with precision(60):
                bound = float(step_of(case).decay(kind, Fraction(power), Fraction(30), theta))
            size = integral(case, kind, power)
            for y in (30, 31, 37, 60, 100, -45):
                assert abs(integral(case, kind, power + 1j * y)) <= bound * (1 + 1e-12) + 1e-14 * size


def test_the_decay_is_of_use():
    """Both w(z) and w(−z) turn: the bound of both is far below that of one."""
    step = step_of(OFTEN)
    with precision(60):
        size, bound = (
            float(x)
            for x in (step.moment(MIDDLE, Fraction(3, 2)), step.decay(MIDDLE, Fraction(3, 2), Fraction(6), Fraction(1)))
        )
    assert abs(integral(OFTEN, MIDDLE, 1.5 + 6j)) < bound < size / 200


@pytest.mark.parametrize(
    "parts",
    [
        split("1/4", 2, 4, 4, 6, None, None),
        split("1/4", 2, 4, 4, 6, -6, None),
        split("1/4", 2, 4, 4, 6, None, -4),
        split("1/4", 2, 4, 4, 6, -4, -4),
        split("1/4", 2, 4, 4, 6, -6, 3),
        split("1/4", None, 4, 6, 6, -6, 5),
    ],
)
def test_void_splits_are_refused(parts):
    with pytest.raises(NotCertified):
        Step(Real(Fraction(1)), Fraction(1, 100), parts, exchanged=True)


def test_other_steps_have_no_deep_ones():
    with pytest.raises(NotCertified):
        Step(Real(Fraction(1)), Fraction(1, 100), USUAL[2])


def test_panels_that_begin_early_are_refused(monkeypatch):
    """A panel that covers what is cut off would count it twice."""
    from tightrope.numerics.windowed import law

    def early(shape, *args):
        found = panels(shape, *args)
        first = found[0]
        return [law.Panel(first.middle - 2 * first.half, first.half, first.number, first.rho), *found]

    with precision(60):
        assert step_of(USUAL).moment(LOW, Fraction(-3)) > 0
        monkeypatch.setattr(law, "panels", early)
        with pytest.raises(NotCertified, match="too far"):
            step_of(USUAL).moment(LOW, Fraction(-3))


def test_laws_exchange_a_record_in_all_steps_or_none():
    one, other = Sampler(Real(Fraction(1)), Fraction(1, 100), 3), Sampler(Real(Fraction(1)), Fraction(1, 50), 3, True)
    assert not WindowLaw.of([one]).exchanged
    assert WindowLaw.of([other]).floats.exchanged
    with pytest.raises(NotCertified, match="some steps only"):
        WindowLaw.of([one, other])


@pytest.mark.parametrize(("mu", "rate"), [(1.0, 0.01), (0.1, 0.4), (4.0, 1e-5), (2.0, 0.9)])
def test_float_outcomes(mu, rate):
    """Where floats look for losses, and what one step costs, against closed forms."""
    for x in (1e-4, 0.03, 1.0, 7.0, 40.0):
        z = outcomes.loss_place(mu, rate, x, exchanged=True)
        with mp.workdps(40):
            exact = mp.mpf(mu), mp.mpf(rate)
            assert abs(place(*exact, mp.mpf(x)) - z) < 1e-9 * (1 + abs(z))
            assert abs(loss(*exact, mp.mpf(z)) / x - 1) < 1e-6
            truth = float(mp.log(exchanged(*exact, mp.mpf(x))))
        assert outcomes.loss_place(mu, rate, -x, exchanged=True) == -z
        assert abs(outcomes.loss_at(mu, rate, z, exchanged=True) / x - 1) < 1e-6
        assert abs(outcomes.log_one_call(mu, rate, x, exchanged=True) - truth) < 1e-2
    first, second = outcomes.shares_above(mu, rate, 1.5, exchanged=True)
    expected = [(1 - rate) * ndtr(-1.5) + rate * ndtr(side * mu - 1.5) for side in (1, -1)]
    assert np.allclose([first, second], expected, rtol=1e-12)
    assert outcomes.log_one_call(mu, rate, 0.0, exchanged=True) < 0


def test_the_usual_deviation_is_that_of_little_noise():
    z = np.linspace(-12, 12, 40_001)
    at, reverse = outcomes.losses(0.7, 1e-4, z, exchanged=True)
    mass = np.exp(reverse - z * z / 2) * (z[1] - z[0]) / math.sqrt(2 * math.pi)
    assert abs(math.sqrt((mass * at**2).sum()) / outcomes.usual_deviation(0.7, 1e-4, exchanged=True) - 1) < 1e-3
