"""What is left out is counted: between places of a chain, beyond it, and beyond the terms of a sum."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from tightrope.numerics.balls import Ball, precision
from tightrope.numerics.sums import unequal
from tightrope.numerics.transforms.discrete_normal import DiscreteNormalTransform
from tightrope.numerics.transforms.layered_decay import Rectangle
from tightrope.numerics.transforms.sampled_laplace import SampledLaplaceTransform
from tightrope.numerics.transforms.stretched_decay import stretch


def test_a_peak_between_two_places_is_seen() -> None:
    """Of losses ±1 |φ| = |cos y|, which is 1 at π."""
    places = [Fraction(math.pi) - Fraction(1, 2), Fraction(math.pi) + Fraction(1, 2)]
    with precision(80):
        sizes = [Ball(abs(math.cos(float(place)))) for place in places]
        bound = stretch(sizes, places, Ball(1))
    assert 1 <= bound < 1.02


class _Poorly(SampledLaplaceTransform):
    """Hardly anything is known of its density."""

    def chained_layers(self, power: Fraction, log: Ball) -> list[Rectangle]:  # noqa: ARG002
        return [(1e-9, 1.0)]


def test_what_is_beyond_a_chain_bounds_it() -> None:
    known, poor = (kind(Fraction(2), Fraction(1, 100), adding=False) for kind in (SampledLaplaceTransform, _Poorly))
    with precision(60):
        assert known.bent_decay(Fraction(2), Fraction(5)) < 1 - 1e-6
        assert 1 - 1e-8 < poor.bent_decay(Fraction(2), Fraction(5)) <= 1


@pytest.mark.parametrize("above", [True, False])
@pytest.mark.parametrize(("first", "last"), [(0, 22), (18, 60), (16, 24)])
def test_terms_beyond_the_range_of_a_noncentral_tail_are_counted(
    above: bool, first: int, last: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with precision(120):
        whole = unequal.noncentral(5, Fraction(40), Ball(45), above)
        monkeypatch.setattr(unequal, "_range", lambda *_: (first, last))
        part = unequal.noncentral(5, Fraction(40), Ball(45), above)
    assert part.contains(whole)
    assert part.rad() > 1e-9


@pytest.mark.parametrize("variance", ["0.0125", "0.1", "0.16"])
def test_values_of_narrow_noise_beyond_the_listed_ones_are_counted(variance: str) -> None:
    v, t = Fraction(variance), Fraction(7, 3)
    for bits in (10, 40, 200):
        with precision(bits):
            masses, beyond = DiscreteNormalTransform(v, 1)._masses(t)
        count, c = (len(masses) - 1) // 2, float(t - round(t))
        with precision(80):
            far = sum(
                (Ball(-((abs(k) - abs(c)) ** 2) / (2 * float(v))).exp() for k in range(count + 1, count + 30)), Ball(0)
            )
            assert 2 * far < beyond.upper()
            assert beyond < Ball(2) ** (2 - bits)
