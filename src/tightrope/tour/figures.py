"""The pictures of the lessons, by the name under which a lesson shows them."""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist

import tightrope as tr
from tightrope import plotting
from tightrope.plotting import Figure
from tightrope.plotting.layers import Row, coloured, line, note, picture, reference_line
from tightrope.tour import cells
from tightrope.tour.drawing import Points, channels, drawn

FOUR = {
    "randomized response, ε = 1": tr.RandomizedResponse(epsilon=1),
    "leaky input, δ = 0.1": tr.LeakyInput(0.1),
    "leaky randomized response, ε = 1, δ = 0.1": tr.LeakyRandomizedResponse(1, 0.1),
    "Laplace, ε = 1": tr.Laplace(scale=1),
}


def three_mechanisms() -> Figure:
    """Rényi curves of lesson 1's mechanisms."""
    return plotting.renyi("randomized_response(epsilon=1)", "laplace(scale=1)", "gaussian(sigma=1)")


def no_amplification() -> Figure:
    """What Poisson sampling does to the Rényi curve of a Gaussian."""
    return plotting.renyi("gaussian(sigma=4)", "gaussian(sigma=4).poisson(0.01)")


def noise_needed() -> Figure:
    """The two variances of lesson 1 and the least one, which grows exactly like the number of queries."""
    ks, eps, ell = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000], 0.5, math.log(1e5)
    one = tr.calibrate("gaussian(sigma=?)", epsilon="0.5", delta="1e-5").value ** 2
    curves: dict[str, Points] = {
        "advanced composition": [(k, 16 * k * math.log(2.5e5 * k) * math.log(2e5) / eps**2) for k in ks],
        "Rényi, Corollary 7.12": [(k, k * (2 * ell / eps + 1) / eps) for k in ks],
        "needed": [(k, k * one) for k in ks],
    }
    under = "Gaussian queries, ε = 0.5, δ = 1e-5"
    return drawn("Noise needed against the number of queries", under, "queries", "variance σ²", curves, log="xy")


def every_route() -> Figure:
    """ε against the number of Gaussian queries."""
    return plotting.steps("gaussian(sigma=200)", most=500)


def roc() -> Figure:
    """What Lecture 11 asks for: the true-positive rate of the best test at each false-positive rate."""
    corners = {1 / (1 + math.e), 0.9 / (1 + math.e)}  # of the two randomized responses
    grid = sorted({i / 40 for i in range(41)} | corners)
    rows: list[Row] = []
    for name, mechanism in FOUR.items():
        missed, _ = tr.profile(mechanism).tradeoff([f"{a:.12g}" for a in grid])
        rows += [{"x": a, "y": 1 - low, "curve": name} for a, low in zip(grid, missed.tolist(), strict=True)]
    x, y = channels("false-positive rate", "true-positive rate", ends=(0, 1))
    guess = reference_line([{"x": 0, "y": 0}, {"x": 1, "y": 1}], x, y)
    layers = [guess, line(x, y, *coloured(list(FOUR), ""))]
    under = "best test of one neighbour against the other; grey: guessing"
    return picture("ROC curves of the four mechanisms", under, rows, layers)


def tradeoff() -> Figure:
    """The same four as trade-off curves."""
    return plotting.tradeoff(*FOUR.values(), points=120)


def not_a_chance() -> Figure:
    """δ(ε) of N(1, 1) against N(0, 1), below the chance that the loss exceeds ε."""
    grid = [i / 20 for i in range(81)]
    _, upper = tr.profile(tr.Gaussian(sigma=1)).delta([f"{e:g}" for e in grid])
    loss = NormalDist(0.5, 1)
    curves = {
        "chance that the loss exceeds ε": [(e, 1 - loss.cdf(e)) for e in grid],
        "δ": list(zip(grid, upper.tolist(), strict=True)),
    }
    return drawn("δ is not a chance of failure", "N(1, 1) against N(0, 1)", "ε", "probability", curves)


def moments() -> Figure:
    """δ by the moments accountant, with the better factor, and exactly."""
    grid = [i / 20 for i in range(10, 101)]
    orders = [i / 50 for i in range(1, 400)]
    _, upper = tr.profile(tr.Gaussian(sigma=1)).delta([f"{e:g}" for e in grid])
    curves = {
        "moments accountant": [(e, min(math.exp(s * (s + 1) / 2 - s * e) for s in orders)) for e in grid],
        "with the better factor": [(e, min(_at(1 + s, (1 + s) / 2, e) for s in orders)) for e in grid],
        "exact": list(zip(grid, upper.tolist(), strict=True)),
    }
    under = "N(1, 1) against N(0, 1)"
    return drawn("δ from the moments of the loss", under, "ε", "δ", curves, log="y", ends=(1e-6, 1))


def any_order() -> Figure:
    """The conversion of lesson 5 at every order, its least value marked, the Gaussian's own δ in grey."""
    grid = [1.05 + i / 20 for i in range(220)]
    values = {a: _at(a, a / 10, 1) for a in grid}
    low = min(values, key=lambda a: values[a])
    rows: list[Row] = [{"x": a, "y": value, "curve": "δ(α)"} for a, value in values.items()]
    exact = tr.delta(tr.ZCDP("0.1"), epsilon=1).lower
    x, y = channels("order α", "δ", "y", ends=(0.002, 1))
    best = note([{"x": low, "y": values[low], "words": f"best order {low:.2f}"}], x, y)
    own = reference_line([{"x": grid[0], "y": exact}, {"x": grid[-1], "y": exact}], x, y)
    layers = [own, line(x, y, *coloured(["δ(α)"], "curve")), best]
    return picture("Every order is sound", "0.1-zCDP, ε = 1; grey: the Gaussian with ρ = 0.1, exactly", rows, layers)


def _at(order: float, tau: float, epsilon: float) -> float:
    """Canonne, Kamath and Steinke's δ at one order, in floats: for a picture only."""
    return math.exp((order - 1) * (tau - epsilon) + order * math.log1p(-1 / order)) / (order - 1)


FIGURES: dict[str, Callable[[], Figure]] = {
    "three-mechanisms": three_mechanisms,
    "no-amplification": no_amplification,
    "noise-needed": noise_needed,
    "cell-6-printed": cells.sixth_printed,
    "cell-6-corrected": cells.sixth_corrected,
    "cell-7-printed": cells.seventh_printed,
    "cell-7-corrected": cells.seventh_corrected,
    "cell-19-printed": cells.nineteenth_printed,
    "cell-19-corrected": cells.nineteenth_corrected,
    "every-route": every_route,
    "roc": roc,
    "tradeoff": tradeoff,
    "not-a-chance": not_a_chance,
    "moments": moments,
    "any-order": any_order,
}
