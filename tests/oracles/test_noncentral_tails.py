"""Sums of losses between normal laws of unequal variance: noncentral tails by their definition, contours near the end
of the tilts, and one against the other."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath as mp
import pytest

import tightrope as tr
from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ball, precision
from tightrope.numerics.contour.aliases import Aliases
from tightrope.numerics.contour.floats import Saddles
from tightrope.numerics.contour.tilt_axis import TiltAxis
from tightrope.numerics.real import real
from tightrope.numerics.sums import unequal
from tightrope.numerics.transforms.mixture import MixtureTransform
from tightrope.numerics.transforms.quadratic_loss import domain_end
from tightrope.numerics.transforms.unequal import UnequalTransform


def _chance(degrees: int, centrality: Fraction, level: Fraction, above: bool) -> mp.mpf:
    """A Poisson mixture of gamma tails, term by term."""
    mean, x, shape = (mp.mpf(v.numerator) / v.denominator / 2 for v in (centrality, level, Fraction(degrees)))
    total = mp.mpf(0)
    for j in range(int(3 * mean + 2 * mp.sqrt(mean * x)) + 300):
        weight = mp.exp(j * mp.log(mean) - mean - mp.loggamma(j + 1))
        ends = (x, mp.inf) if above else (0, x)
        total += weight * mp.gammainc(shape + j, *ends, regularized=True)
    return total


@pytest.mark.parametrize(
    ("degrees", "centrality", "level"),
    [
        (1, "35", "50"),
        (57, "1/28", "193"),
        (7, "1/50", "54"),
        (3, "90", "4"),
        (16, "60", "700"),
        (64, "80", "30"),
        (2, "1/1000", "1/100"),
        (40, "9", "49"),
    ],
)
@pytest.mark.parametrize("above", [True, False])
def test_noncentral_tails_are_those_of_the_definition(degrees: int, centrality: str, level: str, above: bool) -> None:
    central, bar = Fraction(centrality), Fraction(level)
    with mp.workdps(50), precision(160):
        value, truth = unequal.noncentral(degrees, central, ball(bar), above), _chance(degrees, central, bar, above)
        assert value.overlaps(Ball(mp.nstr(truth, 45), 10.0 ** (float(mp.log10(truth)) - 40)))
        assert value.rel_accuracy_bits() > 90


def test_lower_gamma_tails_are_known_where_they_are_tiny() -> None:
    with mp.workdps(40), precision(160):
        for x, a in ((4000, 5000), (5000, 5001), (10, 300), (5001, 5000)):
            value = unequal._lower(Ball(x), Ball(a) + Ball(1) / 2)
            terms = (mp.exp((a + 0.5 + i) * mp.log(x) - x - mp.loggamma(a + 1.5 + i)) for i in range(2000))
            truth = mp.fsum(terms)
            assert value.rel_accuracy_bits() > 100
            assert abs(float(value.log().mid()) - float(mp.log(truth))) < 1e-12


@pytest.mark.parametrize("text", ["gaussian_pair(0,1,7.94,0.908)*3", "gaussian_pair(0,1,1.27,0.676)*26",
                                  "gaussian_pair(0,1,0.669,1.39)*27"])  # fmt: skip
@pytest.mark.parametrize("delta", ["1e-7", "1e-40", "1e-200"])
def test_sums_and_contours_agree(text: str, delta: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for central in (0, 10**9):
        monkeypatch.setattr(unequal, "_FEW_CENTRAL", central)
        found.append(tr.epsilon(tr.parse(text), delta=delta))
    assert found[0].witness.get("way") == "contour"
    assert "way" not in found[1].witness
    assert max(one.lower for one in found) <= min(one.upper for one in found)
    assert all(one.upper - one.lower < 1e-9 * one.upper for one in found)


def test_the_end_of_the_tilts_is_where_moments_become_infinite() -> None:
    for s1, s2 in ((Fraction(1), Fraction(1, 2)), (Fraction(5), Fraction(49, 10)), (Fraction(3), Fraction(1))):
        end, transform = domain_end(s1, s2), UnequalTransform(Fraction(0), s1, Fraction(1), s2)
        assert transform.end == end
        assert transform.log_real(Fraction(end)).is_finite()
        assert not transform.log_real(Fraction(end) * (1 + Fraction(1, 2**48))).is_finite()
        assert MixtureTransform([(real(Fraction(1, 2)), transform)]).end == end
    assert domain_end(Fraction(1), Fraction(2)) == math.inf


@pytest.mark.parametrize("end", [math.inf, 0.3, 5.0])
def test_tilts_are_laid_out_up_to_the_end(end: float) -> None:
    axis = TiltAxis(end)
    for t in (1e-6, 0.1, 0.29, 0.2999):
        assert axis.tilt(axis.place(t)) == pytest.approx(t, rel=1e-12)
        rounded = axis.rounded(t, 5)
        assert rounded < Fraction(end) if end < math.inf else rounded > 0
        assert abs(float(rounded) - t) <= max(min(t, end - t), 1e-15) / 16
    assert axis.tilt(1e300) <= end


def test_an_alias_needs_a_tilt_above_that_of_its_contour(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = [(UnequalTransform(Fraction(0), Fraction(1), Fraction(1), Fraction(1, 2)), 20)]
    with precision(100):
        aliases = Aliases(parts, Saddles(parts), Fraction(1, 4), Fraction(1, 8), 20)
        assert aliases.at(Ball(60)).is_finite()
        monkeypatch.setattr(TiltAxis, "rounded", lambda *_: Fraction(1, 4))
        with pytest.raises(NotCertified, match="apart"):
            aliases.at(Ball(600))


@pytest.mark.parametrize(
    ("text", "delta"),
    [("gaussian_pair(0,1,1.78,0.534)*541998596", "2.3e-125"), ("gaussian_pair(0,1,7.61,1.43)*84798", "1.7e-194"),
     ("gaussian_pair(0,1,0.239,0.477)*14 + staircase(2.29,gamma=0.3).poisson(0.0432567)*27", "4.67e-245"),
     ("gaussian_pair(0,1,0.203,0.326)*30 + gaussian_pair(0,1,0.619,0.78)*2", "4.38e-176"),
     ("gaussian_pair(0,1,0.29,1.83)*567573955", "0.00228")],
)  # fmt: skip
def test_contours_near_the_end_of_the_tilts(text: str, delta: str) -> None:
    claim = tr.epsilon(tr.parse(text), delta=delta)
    assert claim.witness["way"] == "contour"
    assert claim.upper - claim.lower < 1e-9 * claim.upper
