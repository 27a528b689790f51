"""Draws the figures of the documentation, each with tightrope.plotting: python docs/figures/make.py [NAME…]."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from tightrope import plotting
from tightrope.plotting import Figure

HERE = Path(__file__).parent
RUN = "gaussian(sigma=1).poisson(0.01) * 10000"
FIGURES: dict[str, Callable[[], Figure]] = {
    "gaussian-queries": lambda: plotting.steps("gaussian(sigma=200) * 500", delta="1e-5", points=12),
    "profile": lambda: plotting.profile("gaussian(sigma=1)", "laplace(scale=1)", "zcdp(rho=0.5)", delta="1e-5"),
    "tradeoff": lambda: plotting.tradeoff(
        "gaussian(sigma=1)", "laplace(scale=1)", "leaky_randomized_response(epsilon=1, delta=0.1)"
    ),
    "renyi": lambda: plotting.renyi("gaussian(sigma=1).poisson(0.01) * 1000", "laplace(scale=2) * 20"),
    "steps": lambda: plotting.steps(RUN),
    "noise": lambda: plotting.noise("gaussian(sigma=?)", epsilon=1),
    "calibration": lambda: plotting.calibration("gaussian(sigma=?).poisson(0.01) * 1000"),
}


if __name__ == "__main__":
    for name in sys.argv[1:] or FIGURES:
        print(FIGURES[name]().save(HERE / f"{name}.svg"))
