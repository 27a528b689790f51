"""Tables that are refused: the error shows what was given, and its remedy works."""

from fractions import Fraction

import numpy as np
import pytest

import tightrope as tr


@pytest.mark.parametrize("given", [1, "ab", None, {0: 1}])
def test_the_error_shows_what_was_given(given):
    with pytest.raises(tr.BadParameter, match="must be a list of 1 to") as told:
        tr.Table(given, [1])
    assert told.value.value is given
    assert repr(given) in str(told.value)


@pytest.mark.parametrize("weights", [np.array([0.1, 0.7, 0.3]), np.random.default_rng(1).random(50)])
def test_the_remedy_for_weights_that_are_floats(weights):
    with pytest.raises(tr.BadParameter, match="must add up to exactly 1") as told:
        tr.Table(weights, weights)
    recipe = "total = sum(map(Fraction, w)); [Fraction(x) / total for x in w]"
    assert recipe in told.value.hint
    assert "w.tolist()" in told.value.hint
    w = weights.tolist()
    total = sum(map(Fraction, w))
    row = [Fraction(x) / total for x in w]
    assert sum(tr.Table(row, row[::-1]).p) == 1
