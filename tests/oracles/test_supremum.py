"""Suprema against golden-section search, dense grids and closed forms."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise

import pytest

import tightrope as tr
from tightrope.accounting.facts import fact
from tightrope.curves.loss_renyi import LossRenyi
from tightrope.curves.renyi import Renyi
from tightrope.numerics.balls import INFINITY, Ball, ball, between, lower_float, precision, upper_float
from tightrope.numerics.supremum import ratio_supremum, supremum

F = Fraction
Cumulant = Callable[[Fraction], Ball]


def response(k: int, eps: Fraction) -> Cumulant:
    """K of k-ary randomized response."""

    def cumulant(at: Fraction) -> Ball:
        order, e = ball(1 + at), ball(eps)
        return (((order * e).exp() + ((1 - order) * e).exp() + k - 2) / (e.exp() + k - 1)).log()

    return cumulant


def laplace(at: Fraction) -> Ball:
    """K of the Laplace pair at ε = 1."""
    a = ball(1 + at)
    return (a / (2 * a - 1) * (a - 1).exp() + (a - 1) / (2 * a - 1) * (-a).exp()).log()


def three_atoms(at: Fraction) -> Ball:
    """K of the table (1/2, 1/3, 1/6) against (1/6, 1/6, 2/3)."""
    losses = ((F(1, 2), F(3)), (F(1, 3), F(2)), (F(1, 6), F(1, 4)))
    return sum((ball(p) * (ball(at) * ball(ratio).log()).exp() for p, ratio in losses), Ball(0)).log()


def searched(cumulant: Cumulant, low: float, high: float) -> float:
    """The best of a dense geometric grid, polished: a lower estimate of the supremum."""

    def ratio(point: float) -> float:
        at = F(point)
        return float(cumulant(at).mid()) / float(at * (at + 1))

    grid = [low * (high / low) ** (i / 400) for i in range(401)]
    centre = max(range(401), key=lambda i: ratio(grid[i]))
    a, b = grid[max(centre - 1, 0)], grid[min(centre + 1, 400)]
    for _ in range(60):
        c, d = a + 0.382 * (b - a), a + 0.618 * (b - a)
        a, b = (a, d) if ratio(c) > ratio(d) else (c, b)
    return max(ratio((a + b) / 2), ratio(grid[centre]))


@pytest.mark.parametrize(
    ("cumulant", "low", "high"),
    [
        (response(10, F(1, 2)), F(1, 100), F(1000)),
        (response(7, F(1, 50)), F(1, 10), F(10**4)),
        (response(4, F(1)), F(1, 100), F(50)),
        (laplace, F(1, 2), F(30)),
        (three_atoms, F(1, 1000), F(40)),
        (response(1000, F(3)), F(1, 100), F(100)),
    ],
)
def test_ratio_supremum_meets_a_search(cumulant: Cumulant, low: Fraction, high: Fraction) -> None:
    with precision(100):
        found = ratio_supremum(cumulant, low, high)
        best = searched(cumulant, float(low), float(high))
    assert upper_float(found) >= best * (1 - 1e-13)
    assert lower_float(found) <= best * (1 + 1e-9)
    assert upper_float(found) - lower_float(found) <= 1.1e-9 * best


def test_published_value() -> None:
    with precision(128):
        found = ratio_supremum(response(10, F(1, 2)), F(1, 100), F(100), relative=1e-16)
        assert abs(found - Ball("0.0324283637657054447")) < Ball("1e-17")
        again = ratio_supremum(response(10, F(1, 2)), F(1, 100), F(100), relative=1e-9)
        assert again.contains(found)


def test_head_reaches_the_mean() -> None:
    """For the Laplace pair and k ≤ 6 the supremum is the limit at 0, the KL divergence."""
    with precision(128):
        found = ratio_supremum(laplace, F(1, 2), F(30), head=True)
        assert found.contains(Ball(-1).exp())
        assert abs(found - Ball(-1).exp()) < Ball("1e-8")
        kl = (Ball(1).exp() - 1) / (Ball(1).exp() + 3)
        for found in (
            ratio_supremum(response(4, F(1)), F(1, 10), F(100), head=True),
            ratio_supremum(response(4, F(1)), F(0), F(100)),
        ):
            assert found.contains(kl)
            assert abs(found - kl) < Ball("1e-8")


def test_without_head_the_head_is_not_counted() -> None:
    with precision(128):
        found = ratio_supremum(laplace, F(1, 2), F(30))
        assert found < Ball(-1).exp() - Ball("0.01")
        assert found.overlaps(laplace(F(1, 2)) / ball(F(3, 4)))


def test_constant_ratio_and_short_work_stay_sound() -> None:
    with precision(100):
        wide = ratio_supremum(lambda at: ball(at * (at + 1) / 2), F(1, 100), F(100), head=True, work=40)
        finer = ratio_supremum(lambda at: ball(at * (at + 1) / 2), F(1, 100), F(100), head=True, work=600)
    for found in (wide, finer):
        assert lower_float(found) <= 0.5 <= upper_float(found)
    assert upper_float(finer) < 0.5005 < upper_float(wide)


def test_wide_cumulants_give_wide_sound_answers() -> None:
    """The radius of K must reach the upper end: here K is known to 1 %."""
    with precision(100):
        found = ratio_supremum(lambda at: response(10, F(1, 2))(at) * Ball(1, 0.01), F(1), F(50))
    assert upper_float(found) >= 0.0324283637657 * 1.0099
    assert lower_float(found) <= 0.0324283637657 * 0.9901


def test_infinite_and_unknown_cumulants() -> None:
    with precision(100):
        for broken in (INFINITY, Ball("nan")):
            found = ratio_supremum(lambda at, b=broken: b if at > 3 else ball(at), F(1, 2), F(30))
            assert upper_float(found) == math.inf
        deep = ratio_supremum(lambda at: ball(at * at / 10**400), F(1, 2), F(30))
        assert deep.contains(ball(F(30, 31 * 10**400)))
        assert deep.rel_accuracy_bits() > 25


@pytest.mark.parametrize(
    ("enclose", "low", "high", "value", "slack"),
    [
        (lambda c: (3 * c).sin() * (-c / 5).exp(), F(0), F(10), "0.9025789187388", 1e-6),
        (lambda c: Ball(2) - (c - 1) * (c - 1), F(-3), F(4), "2", 1e-8),
        (lambda c: -c.exp(), F(0), F(3), "-1", 1e-8),
        (lambda c: 1 / c, F(1, 10**6), F(10**6), "1000000", 1e-3),
        (lambda c: c * 0, F(0), F(1), "0", 0.0),
    ],
)
def test_supremum(enclose: Callable[[Ball], Ball], low: F, high: F, value: str, slack: float) -> None:
    with precision(80):
        found = supremum(enclose, low, high)
    assert lower_float(found) <= float(value) + 1e-12
    assert upper_float(found) >= float(value) - 1e-12
    assert upper_float(found) - lower_float(found) <= slack


def test_supremum_out_of_work_is_still_a_proof() -> None:
    with precision(80):
        few = supremum(lambda c: c * (1 - c), F(0), F(1), work=9)
        many = supremum(lambda c: c * (1 - c), F(0), F(1), work=900)
        unknown = supremum(lambda c: Ball("nan"), F(0), F(1), work=9)  # noqa: ARG005
    assert upper_float(few) > upper_float(many) >= 0.25
    assert lower_float(few) <= 0.25
    assert upper_float(unknown) == math.inf


def test_values_that_are_wide_are_not_asked_for_in_vain():
    asked = []

    def cumulant(at):
        asked.append(at)
        return between(ball(at * (at + 1)) / 3, ball(at * (at + 1)) / 2 + ball(at**2) / 100)

    found = ratio_supremum(cumulant, Fraction(1, 2**20), Fraction(9), head=True)
    assert found.upper() >= 0.5 + 0.009
    assert found.upper() < (0.5 + 0.009) * (1 + 1e-3)
    assert found.lower() <= 0.5 + 0.009
    assert len(asked) < 100  # and not 300


def test_a_supremum_over_orders_that_are_dear_asks_for_few_of_them(monkeypatch):
    asked = []
    divergence = LossRenyi.divergence
    monkeypatch.setattr(LossRenyi, "divergence", lambda self, order: asked.append(order) or divergence(self, order))
    claim = tr.tcdp(tr.Gaussian(sigma=2).allocated(40).group(2), omega=10)
    assert claim.upper < 0.0213
    assert len(asked) < 80  # and not 900


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_more_cells_never_widen_what_is_known():
    """Upper ends of values are not convex, as here between whole orders: what holds for a cell holds for its halves."""
    allocated = tr.Gaussian(sigma=2).allocated(40)
    curve = fact(allocated, Renyi).curve
    with precision(128):
        ends = [
            ratio_supremum(lambda at: curve.divergence(at + 1) * ball(at), F(9, 2**20), F(9), work=cells, head=True)
            for cells in (16, 32, 64, 128)
        ]
    assert all(later.upper() <= earlier.upper() for earlier, later in pairwise(ends))
    assert tr.tcdp(allocated, omega=10).upper < 0.00708
