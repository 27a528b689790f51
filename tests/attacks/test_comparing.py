"""Comparing and formatting claims: what cannot be decided raises, and no printed number is on the wrong side."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tightrope as tr
from tightrope.accounting.claim import rounded

TIGHT = tr.epsilon(tr.Gaussian(1), delta=1e-5)
WIDE = tr.epsilon(tr.ZCDP(0.1), delta=1e-5)
RATE = tr.tradeoff(tr.Gaussian(1), fpr=0.05)
EXACT = tr.pure(tr.Laplace(2))
NEVER = tr.pure(tr.Gaussian(1))


def test_what_can_be_decided_is():
    assert TIGHT <= 5
    assert TIGHT < 5
    assert not TIGHT <= 4
    assert TIGHT >= 4
    assert TIGHT > 4
    assert not TIGHT > 5
    assert TIGHT.upper >= TIGHT
    assert TIGHT.lower <= TIGHT
    assert EXACT <= 0.5
    assert not EXACT < 0.5
    assert Fraction(1, 2) <= EXACT
    assert not EXACT > 0.5
    assert NEVER > 1e308
    assert not NEVER <= 10**400
    assert math.inf >= NEVER


@pytest.mark.parametrize(
    "compare",
    [
        lambda c, x: c <= x,
        lambda c, x: c < x,
        lambda c, x: c >= x,
        lambda c, x: c > x,
        lambda c, x: x < c,
        lambda c, x: x >= c,
    ],
)
def test_what_cannot_be_decided_raises(compare):
    middle = (WIDE.lower + WIDE.upper) / 2
    for inside in (middle, Fraction(middle), Decimal(repr(middle)), np.float64(middle)):
        with pytest.raises(tr.Undecided) as caught:
            compare(WIDE, inside)
        assert (caught.value.lower, caught.value.upper) == (WIDE.lower, WIDE.upper)
        assert caught.value.other is inside or caught.value.other == inside
        assert repr(WIDE.upper) in str(caught.value)


def test_nothing_is_decided_about_nan():
    for compare in (
        lambda c: c <= math.nan,
        lambda c: c > math.nan,
        lambda c: c >= np.float64("nan"),
        lambda c: c < Decimal("NaN"),
    ):
        with pytest.raises(tr.TightropeError):
            compare(TIGHT)


def test_decimals_are_compared_exactly():
    """A Decimal just below the upper end is below it, though its float is not."""
    upper = Decimal(TIGHT.upper)
    below = upper - Decimal("1e-40")
    assert float(below) == TIGHT.upper
    with pytest.raises(tr.Undecided):
        _ = below >= TIGHT
    assert Fraction(TIGHT.upper) >= TIGHT


@pytest.mark.parametrize("other", ["abc", "1 or 2", None, [], object(), 1j])
def test_comparing_with_what_is_no_number_is_a_typed_error(other):
    with pytest.raises((tr.TightropeError, TypeError)):
        _ = other >= TIGHT


def test_equality_is_of_structure():
    assert tr.epsilon(tr.Gaussian(1), delta=1e-5) == TIGHT
    assert tr.epsilon(tr.Gaussian(1), delta=1e-6) != TIGHT
    assert TIGHT.upper != TIGHT


SPECS = [
    ".0f",
    ".1f",
    ".3f",
    ".6f",
    ".10f",
    ".17f",
    ".20f",
    ".30f",
    ".3e",
    ".10e",
    ".20e",
    ".1g",
    ".3g",
    ".6g",
    ".17g",
    ".20g",
    "10.3f",
    "<12.4f",
    "*>12.4f",
    "+.3f",
    ",.2f",
    "_.3f",
    ".2%",
    ".0%",
    "012.3f",
    "f",
    "e",
    "g",
    "%",
    ".3E",
    ".3G",
    "=+12.3f",
    "z.2f",
    " .3f",
]


def value_of(text):
    cleaned = text.replace(",", "").replace("_", "").replace("*", "").replace(" ", "")
    return Fraction(cleaned[:-1]) / 100 if cleaned.endswith("%") else Fraction(cleaned)


@pytest.mark.parametrize("spec", SPECS)
def test_a_formatted_claim_is_on_the_safe_side(spec):
    for claim in (
        TIGHT,
        WIDE,
        EXACT,
        tr.delta(tr.Gaussian(1), 2),
        tr.delta(tr.Gaussian(3), 4),
        tr.epsilon(tr.Gaussian(1000), 1e-5),
    ):
        text = format(claim, spec)
        assert value_of(text) >= Fraction(claim.upper), text
        assert len(text) <= len(format(claim.upper, spec)) + 4
    text = format(RATE, spec)
    assert value_of(text) <= Fraction(RATE.lower), text


@given(st.floats(1e-12, 1e12), st.integers(0, 12), st.sampled_from("feg%"), st.booleans())
def test_rounding_moves_to_the_safe_side_and_not_far(x, places, kind, up):
    spec = f".{places}{kind}"
    if kind == "g" and places == 0:
        return
    text = rounded(x, spec, up)
    shown = value_of(text)
    assert shown >= Fraction(x) if up else shown <= Fraction(x)
    unit = {"f": Fraction(1, 10**places), "%": Fraction(1, 10 ** (places + 2))}.get(kind)
    if unit is None:
        unit = Fraction(10) ** (math.floor(math.log10(x)) - places + (1 if kind == "g" else 0)) * 10
    assert abs(shown - Fraction(x)) <= 2 * unit


def test_infinity_and_zero_are_printed_plainly():
    assert f"{NEVER:.3f}" == "inf"
    assert f"{tr.epsilon(tr.Gaussian(1) * 0, delta=0):.3f}" == "0.000"
    assert str(TIGHT).startswith("ε ∈ [4.377178095")
    assert f"{TIGHT}" == str(TIGHT)


def test_float_is_the_safe_end():
    assert float(TIGHT) == TIGHT.upper == TIGHT.safe
    assert float(RATE) == RATE.lower == RATE.safe
    assert RATE.lower <= 0.74048897715855593 <= RATE.upper


def test_a_claim_cannot_be_changed():
    with pytest.raises(AttributeError):
        TIGHT.bound = tr.Bound(0.0, 0.0)
    with pytest.raises(AttributeError):
        TIGHT.bound.upper = 0.0
    with pytest.raises(AssertionError):
        tr.Bound(2.0, 1.0)
    with pytest.raises(AssertionError):
        tr.Bound(math.nan, 1.0)
