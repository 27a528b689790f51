"""Finite sums at the edges: tiny masses, huge counts, wide arguments; balls narrow with precision."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tightrope.numerics.balls import Ball, ball, lower_float, precision, upper_float
from tightrope.numerics.real import Real, real
from tightrope.numerics.sums.finite import FiniteLaw, FiniteSum, on_lattice, scattered

F = Fraction
THREE = on_lattice(real(1), {1: real(F(1, 2)), 0: real(F(1, 3)), -1: real(F(1, 6))})


def two_sided(e: str) -> FiniteLaw:
    up = Real(None, lambda: 1 / (1 + (-ball(F(e))).exp()))
    down = Real(None, lambda: 1 / (1 + ball(F(e)).exp()))
    return scattered([real(F(e)), real(-F(e))], [up, down])


def test_a_tiny_mass_at_infinity_is_not_lost() -> None:
    law = FiniteSum([(on_lattice(real(1), {0: real(1 - F(1, 10**300))}, real(F(1, 10**300))), 10**9)])
    with precision(80):
        assert abs(law.infinite() * ball(F(10**291)) - 1) < Ball("1e-20")
        assert abs(law.call(Ball(5)) * ball(F(10**291)) - 1) < Ball("1e-18")
    half = FiniteSum([(on_lattice(real(1), {0: real(F(1, 2))}, real(F(1, 2))), 3)])
    assert half.infinite().contains(ball(F(7, 8)))


def test_precision_narrows_the_ball_and_enclosures_overlap() -> None:
    law = FiniteSum([(THREE, 5000)])
    values = []
    for bits in (64, 128, 256):
        with precision(bits):
            values.append(law.call(ball(F(2000))))
    assert values[0].overlaps(values[1])
    assert values[1].overlaps(values[2])
    assert values[2].rad() < values[1].rad() < values[0].rad()


@pytest.mark.parametrize("k", [1, 10**6, 10**9, 10**18])
@pytest.mark.parametrize("e", ["1e-300", "1e-9", "1", "1e5"])
def test_extremes_stay_in_the_unit_interval_and_never_rise(k: int, e: str) -> None:
    law = FiniteSum([(two_sided(e), k)])
    before = 1.0
    for x in ("-1e300", "-1", "0", "1e-300", "50", "1e300"):
        with precision(64):
            value = law.call(ball(F(x)))
        assert -1e-300 <= lower_float(value) <= before
        before = upper_float(value)
        assert before < 1 + 1e-12
    assert before < 1e-300


def test_wide_arguments_and_empty_sums() -> None:
    with precision(64):
        law = FiniteSum([(two_sided("0.01"), 10**6)])
        wide = law.call(Ball(100, 20))
        assert wide.lower() <= law.call(Ball(120)).lower()
        assert wide.upper() >= law.call(Ball(80)).upper()
        assert FiniteSum([]).call(Ball(0)) == 0
        assert FiniteSum([(THREE, 0)]).call(Ball(-1)).overlaps(1 - Ball(-1).exp())
        assert FiniteSum([(FiniteLaw((), (), real(1)), 2)]).call(Ball(7)) == 1
