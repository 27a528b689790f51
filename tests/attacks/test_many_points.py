"""Questions asked oddly: points that come twice, values beyond doubles, targets that nothing meets."""

from __future__ import annotations

from functools import reduce
from operator import add

import pytest

import tightrope as tr

SETTINGS = [tr.ZCDP(0.1), tr.Laplace(3) + tr.ZCDP(0.1), tr.Gaussian(1).poisson(0.01) * 100, tr.Laplace(1)]


@pytest.mark.parametrize("mechanism", SETTINGS, ids=str)
@pytest.mark.parametrize("number", [3, 12])
def test_points_that_come_twice_are_answered_twice(mechanism: tr.Mechanism, number: int) -> None:
    profile = tr.profile(mechanism)
    for read, points in ((profile.delta, [1, 0.5]), (profile.epsilon, [1e-5, 1e-3]), (profile.tradeoff, [0.1, 0.3])):
        once, often = read(points), read(points * number)
        for one, many in zip(once, often, strict=True):
            assert len(many) == 2 * number
            assert all(many[i] == many[i % 2] for i in range(2 * number))
            assert many[:2] == pytest.approx(one, rel=0.2)


def test_an_epsilon_beyond_doubles_leaves_nothing() -> None:
    for mechanism in SETTINGS:
        lower, upper = tr.profile(mechanism).delta(["1e999", 0.5] * 9)
        assert lower[0] == 0
        assert upper[0] < 1e-300
        assert upper[1] > 0


@pytest.mark.parametrize("other", [tr.ZCDP(0.1), tr.Laplace(2), tr.Approx(0.5, 1e-6)], ids=str)
def test_what_uses_nobody_changes_no_tradeoff(other: tr.Mechanism) -> None:
    idle = tr.Gaussian(1).without_replacement(0, 100)
    both, alone = tr.tradeoff(idle + other, 0.1), tr.tradeoff(other, 0.1)
    assert both.lower == pytest.approx(alone.lower, rel=1e-6)
    assert both.upper <= alone.upper * (1 + 1e-6)


def test_a_pure_target_that_no_number_of_steps_meets_is_refused() -> None:
    with pytest.raises(tr.NotCertified, match="no value meets"):
        tr.steps(tr.Gaussian(10) * 100, epsilon=5)


def test_a_comparison_is_read_row_by_row() -> None:
    found = tr.compare(tr.Gaussian(1), 1e-5)
    assert len(found) == len(list(found)) == len(found.rows)
    assert next(iter(found)) is found.best


def test_sums_of_hundreds_of_fractions_are_written_in_a_few_digits() -> None:
    many = reduce(add, (tr.Gaussian(0.8 + 0.001 * i) for i in range(400)))
    claim = tr.zcdp(many)
    assert claim.upper == pytest.approx(sum(0.5 / (0.8 + 0.001 * i) ** 2 for i in range(400)), rel=1e-12)
    assert max(map(len, str(claim.explain()).split())) < 400
