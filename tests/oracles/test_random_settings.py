"""Random compositions against convolution on a grid; ``benchmarks/soundness.py`` runs two thousand of them."""

from __future__ import annotations

import numpy as np
import pytest
from random_settings import outcome, random_setting
from reference_grid import Part, gaussian_delta, reference


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
