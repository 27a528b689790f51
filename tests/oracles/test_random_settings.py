"""Random compositions against closed forms and grids; ``benchmarks/soundness.py`` runs two thousand of them."""

from __future__ import annotations

import numpy as np
import pytest
from random_settings import outcome, random_setting
from reference_closed import closed_reference
from reference_grid import Part, gaussian_delta, reference


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("seed", range(24))
def test_the_enclosure_agrees_with_convolution(seed):
    parts, delta = random_setting(np.random.default_rng(seed))
    found = outcome(parts, delta, 2**14)
    assert not found.missed, found
    assert found.lower <= found.upper


def test_the_reference_itself_is_right_where_there_is_a_closed_form():
    for mu, count in ((1.0, 1), (0.3, 20)):
        value, error = reference([Part(count, sigma=1 / mu)], 1e-6, 2**15)
        assert abs(gaussian_delta(mu * count**0.5, value) / 1e-6 - 1) < 1e-5
        assert error < 1e-4 * value


def test_a_wrong_enclosure_is_seen():
    parts, delta = [Part(1000, sigma=1.0, rate=0.01)], 1e-6
    found = outcome(parts, delta, 2**17)
    assert found.error < 1e-3 * found.value
    low = found.__class__(parts, delta, found.lower * 0.99, found.upper * 0.99, found.value, found.error)
    high = found.__class__(parts, delta, found.lower * 1.01, found.upper * 1.01, found.value, found.error)
    assert low.missed
    assert high.missed


@pytest.mark.parametrize(
    ("parts", "delta"),
    [
        ([Part(3, sigma=2.0), Part(1, sigma=1.0)], 1e-6),
        ([Part(1, sigma=1.0, rate=0.1)], 1e-6),
        ([Part(1, sigma=0.5, rate=0.9)], 1e-3),
        ([Part(2, scale=1.0), Part(1, answer=0.5)], 1e-8),
    ],
)
def test_closed_forms_and_grid_agree(parts, delta):
    closed = closed_reference(parts, delta)
    assert closed is not None
    value, error = reference(parts, delta, 2**16)
    assert abs(closed[0] - value) < error + closed[1]
    assert closed[1] < 1e-6 * closed[0]
    assert error < 1e-3 * value


def test_closed_forms_are_known_values():
    value, _ = closed_reference([Part(1, sigma=1.0)], 1e-5)
    assert value == pytest.approx(4.37717809568122, rel=1e-13)
    assert closed_reference([Part(1, sigma=1.0, rate=0.01)], 0.5) == (0.0, 0.0)
    assert closed_reference([Part(1, scale=1.0)], 1e-3) is None  # not near the largest loss
    assert closed_reference([Part(2, sigma=1.0, rate=0.5)], 1e-3) is None


def test_a_grid_that_drowns_in_round_off_says_so():
    found = outcome([Part(502, sigma=2.18, rate=2.22e-5)], 5.93e-35, 2**15)
    assert not np.isfinite(found.error)
    assert not found.resolved
    assert not found.missed
