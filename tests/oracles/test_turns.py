"""e^{ik·angle} in doubles lies within its proved error of the truth, at all scales of the angle."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, precision
from tightrope.numerics.transforms import turns as module
from tightrope.numerics.transforms.turns import TURNS_ERROR, turns

_UNIT = 2.0**-53
_NUMBERS = ["0", "1/3", "-2.75", "1e-30", "-1e-9", "3.14159265358979", "50000.25", "-123456.7", "1e-3"]


def _angles() -> list[Ball]:
    with precision(160):
        part = Ball.pi() / 512
        edges = [part / 2, part / 2 - Ball(2) ** -60, part * 3 / 2, -part, Ball.pi(), 2 * Ball.pi() - Ball(2) ** -70]
        return [Ball(1) / 3 if text == "1/3" else Ball(text) for text in _NUMBERS] + edges


def _worst(rows: np.ndarray, angles: list[Ball], places: list[int]) -> float:
    """The largest distance from the truth, in units."""
    worst = 0.0
    with mpmath.workprec(200), precision(200):
        for row, angle in zip(rows, angles, strict=True):
            exact = mpmath.mpf(angle.mid().str(60, radius=False))
            for k in places:
                truth = mpmath.expj(exact * k)
                off = abs(mpmath.mpc(complex(row[k])) - truth)
                worst = max(worst, float(off) / _UNIT)
    return worst


def test_turns_lie_within_their_error():
    angles = _angles()
    rows = turns(angles, 700)
    assert rows.shape == (len(angles), 700)
    assert 0.5 < _worst(rows, angles, [0, 1, 2, 3, 17, 255, 256, 511, 698, 699]) <= TURNS_ERROR


def test_long_rows_are_made_in_pieces(monkeypatch):
    angles = _angles()[:4]
    whole = turns(angles, 40_000)
    monkeypatch.setattr(module, "_BLOCK", 500)
    assert np.array_equal(whole[:, :3000], turns(angles, 3000))
    assert _worst(whole, angles, [2**14 - 1, 2**14, 39_999]) <= TURNS_ERROR


def test_a_coarser_table_would_be_seen(monkeypatch):
    table = module._table().copy()
    table[1:] *= 1 + 1e-14
    monkeypatch.setattr(module, "_table", lambda: table)
    angles = _angles()
    assert _worst(turns(angles, 700), angles, [1, 2, 17, 699]) > TURNS_ERROR


@pytest.mark.parametrize("number", [0, 2**16 + 1])
def test_rows_that_do_not_fit_are_refused(number):
    with pytest.raises(NotCertified, match="values in a row"):
        turns([Ball(1)], number)


@pytest.mark.parametrize("wide", [Ball(1, 1e-16), Ball(0, float("inf")), Ball(float("nan"))])
def test_angles_that_are_not_known_well_are_refused(wide):
    with pytest.raises(NotCertified, match="too wide"):
        turns([wide], 100)


def test_huge_angles_are_refused_and_ask_for_no_memory():
    with precision(64), pytest.raises(NotCertified, match="too wide"):
        turns([Ball(2) ** 1_000_000], 10)
