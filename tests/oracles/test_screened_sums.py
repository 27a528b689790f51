"""Sums of many terms at many nodes, most of which are low: what is kept is exact, and what is not is low."""

from fractions import Fraction

import numpy as np
import pytest

from tightrope.numerics.balls import Ball, ball, precision
from tightrope.numerics.real import Real, real
from tightrope.numerics.sums.finite import FiniteLaw
from tightrope.numerics.transforms.exchanged_discrete import ExchangedDiscreteNormalTransform
from tightrope.numerics.transforms.finite import FiniteTransform
from tightrope.numerics.transforms.glued import GluedNormalTransform
from tightrope.numerics.transforms.mixture import MixtureTransform
from tightrope.numerics.transforms.screened_sums import Terms, screened_sums, sums_at
from tightrope.numerics.transforms.turns import TURNS_ERROR, turns_at

F = Fraction


def rows(number):
    """Shares that fall fast, and losses on no lattice."""
    weights = np.array([0.7 ** (j % 40) + 1e-6 for j in range(number)])
    weights /= weights.sum() * 1.01
    losses = np.sin(np.arange(number) * 1.7) * 2
    return weights, losses


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("number", [10, 60, 300])
@pytest.mark.parametrize("floor", [-0.02, -0.5, -40.0])
def test_sums_are_exact_where_they_are_kept_and_low_elsewhere(number, floor):
    weights, losses = rows(number)
    with precision(128):
        terms = Terms([Ball(w) for w in weights], [Ball(v) for v in losses], Ball(1e-9))
    eta, count = F(1, 8), 20_000
    nodes = screened_sums(terms, eta, count, Ball(floor))
    y = np.arange(count + 1) / 8
    exact = np.exp(1j * np.multiply.outer(y, losses)) @ weights
    kept = nodes.alive
    assert kept[0]
    assert np.abs(nodes.values[kept] - exact[kept]).max() < 1e-11
    assert 1e-9 <= nodes.error < 1.01e-9
    assert (np.abs(exact[~kept]) <= np.exp(floor)).all()
    if floor == -0.02:
        assert kept.sum() < 100
        assert kept.sum() <= (np.abs(exact) > np.exp(floor) - 3e-9).sum()


def test_few_and_many_of_the_same_sums():
    weights, losses = rows(30)
    with precision(128):
        shares, angles = [Ball(w) for w in weights], [Ball(v) / 8 for v in losses]
        every, error = sums_at(shares, angles, np.arange(3001))
        few, other = sums_at(shares, angles, np.array([0, 17, 3000]))
    assert np.abs(every[[0, 17, 3000]] - few).max() <= float(error + other) < 1e-12


def test_turns_of_far_numbers():
    with precision(160):
        angles = [ball(F("0.731")), ball(F("-2.0003"))]
        numbers = np.array([0, 1, 65_535, 65_536, 3_999_999])
        found = turns_at(angles, numbers)
        for row, angle in zip(found, angles, strict=True):
            for value, k in zip(row, numbers, strict=True):
                sin, cos = (angle * int(k)).sin_cos()
                off = abs(complex(float(cos.mid()), float(sin.mid())) - value)
                assert off <= (2 * TURNS_ERROR + 3) * 2.0**-53


def test_mixtures_of_sums_are_one_sum():
    parts = [ExchangedDiscreteNormalTransform(F(4), j, F(1, 20), True) for j in (1, 2)]
    mixture = MixtureTransform([(real(F(1, 10)), parts[0]), (real(F(1, 100)), parts[1])], real(F(1, 10**6)))
    t, eta = F(3), F(1, 4)
    nodes = mixture.float_nodes(t, eta, 3000, Ball(-0.01))
    with precision(90):
        line = mixture.line(t, eta, 400)[1]
    exact = np.array([complex(float(b.real.mid()), float(b.imag.mid())) for b in line])
    near = nodes.alive[:401]
    assert np.abs(exact[near] - nodes.values[:401][near]).max() <= float(nodes.error)
    assert (np.abs(exact[~near]) <= np.exp(-0.01)).all()
    assert mixture.node_cost(1000) < mixture.node_cost(10)
    glued = GluedNormalTransform(real(F(1)), F(1, 20))
    assert MixtureTransform([(real(F(1, 50)), glued)] * 20).node_cost(10) == np.inf
    unlike = MixtureTransform([(real(F(1, 10)), parts[0]), (real(F(1, 100)), glued)])
    assert unlike.terms_of(t) is None
    assert sum(float(share.mid()) for share in mixture.terms_of(t).shares) == pytest.approx(1, abs=1e-12)


def test_a_mass_that_may_be_nothing_has_no_logarithm():
    doubtful = Real(None, lambda: Ball(0, 1e-30))
    law = FiniteLaw((real(F(1)), real(F(-1))), (real(F(1)), doubtful), real(F(0)))
    assert np.isfinite(FiniteTransform(law).log_floats([0.5])).all()
