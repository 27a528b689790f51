"""Random compositions of any noise and any sample against convolution; ``benchmarks/soundness.py`` runs many more."""

from __future__ import annotations

from dataclasses import replace

import mpmath as mp
import numpy as np
import pytest
from random_laws import Verdict, mechanism, random_laws, verdict
from reference_atoms import log_delta, plain, tilted
from reference_grid import gaussian_delta
from reference_laws import Law, atoms, base

import tightrope as tr


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("seed", range(1, 21))
def test_the_enclosure_agrees_with_convolution(seed):
    laws, delta = random_laws(np.random.default_rng(seed))
    found = verdict(laws, delta, 2**14)
    assert not found.missed, found
    assert found.lower <= found.upper


@pytest.mark.parametrize("noise", ["gaussian", "discrete_gaussian", "laplace", "discrete_laplace", "response"])
@pytest.mark.parametrize("sample", ["none", "poisson", "replace", "fixed"])
def test_atoms_are_laws(noise, sample):
    """Masses under P sum to 1; E[e^{−L}] is Q's mass of what P can reach, here all of it."""
    if noise == "response" and sample == "replace":
        assert np.isnan(base(Law(noise, 0.7))[2]).all()  # an absent response has no law of its own
        return
    for direction in ("remove", "add"):
        masses, losses = atoms(Law(noise, 0.7, 1, sample, 0.2, 4), direction)
        seen = masses > 0
        assert masses.sum() == pytest.approx(1, abs=1e-12)
        assert masses[seen] @ np.exp(-losses[seen]) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("method", [tilted, plain])
def test_the_reference_is_right_where_there_is_a_closed_form(method):
    law = Law("gaussian", 3.0, 4)
    steps = [(4, atoms(law, "remove"))]
    for x in (1.0, 3.0):
        assert method(steps, x, 2**12) == pytest.approx(gaussian_delta(2 / 3, x), rel=2e-3)


def test_the_reference_is_right_for_few_steps_of_atoms():
    """Two sampled discrete Gaussians, enumerated with 40 digits, at a δ that floats and Fourier do not see."""
    law = Law("discrete_gaussian", 1.0, 2, "poisson", 1e-4)
    x = 0.05
    with mp.workdps(40):
        weights = [mp.exp(-mp.mpf(k) ** 2 / 2) for k in range(-20, 25)]
        total = mp.fsum(weights)
        losses = [mp.log1p(mp.mpf("1e-4") * mp.expm1(k - mp.mpf("0.5"))) for k in range(-20, 25)]
        step = [(w / total * mp.exp(y), y) for w, y in zip(weights, losses, strict=True)]
        exact = mp.fsum(p * r * (1 - mp.exp(x - a - b)) for p, a in step for r, b in step if a + b > x)
    value, error = log_delta([law], x, 2**14)
    assert abs(value - float(mp.log(exact))) < error < 0.1


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_a_wrong_enclosure_is_seen():
    laws, delta = [Law("laplace", 2.0, 100, "replace", 0.1)], 1e-8
    found = verdict(laws, delta, 2**15)
    assert found.resolved
    assert not found.missed
    for factor in (0.99, 1.01):
        ends = [(log_delta(laws, e * factor, 2**15)) for e in (found.upper, found.lower)]
        above, below = ((value - np.log(delta), error) for value, error in ends)
        assert replace(found, above=above, below=below).missed


def test_what_drowns_is_not_judged():
    silent = Verdict([], 1e-6, 1.0, 1.0, (9.0, np.inf), (9.0, np.inf))
    assert not silent.resolved
    assert not silent.missed
    value, error = log_delta([Law("gaussian", 1.4, 143_000, "poisson", 0.0114)], 48.86, 2**10)
    assert error > 0.1, value


def test_a_lattice_too_coarse_for_its_steps_is_not_believed():
    """Thousands of steps that are smaller than the distance of its points: it said δ = 1 where it is 0.01."""
    steps = [(5000, (np.array([0.55, 0.45]), np.log([0.55 / 0.45, 0.45 / 0.55])))]
    assert np.isnan(plain(steps, 500.0, 1024))


def test_a_loss_that_another_may_undo_does_not_decide_alone():
    """Two responses of 0.1 beside small losses, at an ε far below 0.1: it said a δ that was 4 % too small."""
    laws = [Law("response", 0.101, 2, answers=3), Law("discrete_gaussian", 5.21, 10, "poisson", 0.0321)]
    value, error = log_delta(laws, 0.00178921159, 2**17)
    assert abs(value - np.log(0.04700000)) < error < 0.4


def test_trees_say_what_laws_say():
    fixed, answers = Law("laplace", 2.0, 3, "fixed", 0.001), Law("response", 0.5, 2, answers=3)
    laws = [fixed, answers, Law("gaussian", 1.5, 4, "replace", 0.2)]
    expected = (
        tr.Laplace(2).without_replacement(100, 100_000) * 3
        + tr.RandomizedResponse(epsilon=0.5, k=3) * 2
        + tr.Gaussian(1.5).poisson(0.2, relation="replace") * 4
    )
    assert str(mechanism(laws)) == str(expected)
