"""The three figures of the notebook chapter, as its cells draw them and as they should be."""

from __future__ import annotations

import math

import tightrope as tr
from tightrope.plotting import Figure
from tightrope.tour.drawing import drawn

EPSILON, DELTA = 0.1, 1e-5
ELL = math.log(1 / DELTA)
SIGMA = 200
QUERIES, SCALE, VARIANCE = "queries", "scale of the noise", "variance of the noise"


def spread(first: float, last: float, count: int) -> list[float]:
    """What numpy's ``linspace`` gives the cells."""
    return [first + (last - first) * i / (count - 1) for i in range(count)]


def sixth_printed() -> Figure:
    """Cell [6] as it stands."""
    ks = spread(1, 10, 20)
    curves = {
        "one by one: k · (1/ε)": [(k, k * (1 / EPSILON)) for k in ks],
        "as one vector: 1 · (k/ε)": [(k, k / EPSILON) for k in ks],
    }
    under = "Laplace noise, ε = 0.1; at numbers of queries such as 1.47"
    return drawn("Cell [6] as printed", under, QUERIES, SCALE, curves)


def sixth_corrected() -> Figure:
    """Whole numbers of queries, and the noise that the cell's comment names beside the noise it draws."""
    ks = range(1, 11)
    curves = {
        "k/ε, one by one or as one vector: spends exactly ε": [(k, k / EPSILON) for k in ks],
        "1/ε, as the comment says: spends k·ε": [(k, 1 / EPSILON) for k in ks],
    }
    return drawn(
        "Cell [6] corrected", "Laplace noise, ε = 0.1; whole numbers of queries", QUERIES, SCALE, curves,
        ends=(0, 100), points=True,
    )


def _cell(k: float) -> float:
    return 16 * k * math.log(1.25 / DELTA) * ELL / EPSILON**2


def _text(k: float) -> float:
    return 16 * k * math.log(2 / DELTA) * math.log(2.5 * k / DELTA) / EPSILON**2


def _vector(k: float) -> float:
    return 2 * k * math.log(1.25 / DELTA) / EPSILON**2


def seventh_printed() -> Figure:
    """Cell [7] as it stands."""
    ks = spread(1, 100, 20)
    curves = {"advanced composition": [(k, _cell(k)) for k in ks], "one vector query": [(k, _vector(k)) for k in ks]}
    return drawn("Cell [7] as printed", "Gaussian noise, ε = 0.1, δ = 1e-5", QUERIES, VARIANCE, curves)


def seventh_corrected() -> Figure:
    """The text's formula, the cell's below it, and the noise that is needed: k times that of one query, exactly."""
    ks = [1, *range(5, 101, 5)]
    one = tr.calibrate("gaussian(sigma=?)", epsilon=str(EPSILON), delta=str(DELTA)).value ** 2
    curves = {
        "advanced composition, the text's formula": [(k, _text(k)) for k in ks],
        "advanced composition, as the cell has it": [(k, _cell(k)) for k in ks],
        "one vector query, classic formula": [(k, _vector(k)) for k in ks],
        "needed, one by one or as one vector": [(k, k * one) for k in ks],
    }
    return drawn("Cell [7] corrected", "Gaussian noise, ε = 0.1, δ = 1e-5", QUERIES, VARIANCE, curves, log="xy")


def _zcdp(k: float) -> float:
    rho = k / (2 * SIGMA**2)
    return rho + 2 * math.sqrt(rho * ELL)


def _sixty(k: float) -> float:
    return k * 60 / (2 * SIGMA**2) + ELL / 59


def nineteenth_printed() -> Figure:
    """Cell [19] as it stands, cut off at 3 as there."""
    ks = spread(0, 500, 100)
    step = math.sqrt(2 * math.log(1.25 / DELTA)) / SIGMA
    curves = {
        "Gaussian+Adv. Comp.": [(k, 2 * step * math.sqrt(2 * k * ELL)) for k in ks],
        "Gaussian+zCDP": [(k, _zcdp(k)) for k in ks],
        "Gaussian+RDP": [(k, _sixty(k)) for k in ks],
    }
    return drawn("Cell [19] as printed", "σ = 200, «δ = 1e-5»", "Iterations", "Epsilon", curves, ends=(0, 3))


def nineteenth_corrected() -> Figure:
    """Every curve at δ = 1e-5: the theorem, the best order with the better conversion, and the exact answer."""
    ks = [1, 2, 4, 8, 15, 30, 50, 75, *range(100, 501, 50)]
    found = {k: tr.compare(tr.Gaussian(SIGMA) * k, delta="1e-5") for k in ks}
    curves = {
        "advanced composition at its δ": [(k, _advanced(k)) for k in ks],
        "Rényi at order 60, as in the cell": [(k, _sixty(k)) for k in ks],
        "zCDP, as in the cell": [(k, _zcdp(k)) for k in ks],
        "Rényi at the best order, better conversion": [(k, found[k]["rdp"].value) for k in ks],
        "exact": [(k, found[k]["exact"].value) for k in ks],
    }
    under = "σ = 200, δ = 1e-5 for every curve"
    return drawn("Cell [19] corrected", under, QUERIES, "ε (upper end)", curves, log="y", ends=(0.01, 5))


def _advanced(k: int) -> float:
    """Dwork, Rothblum and Vadhan with δ' = δ/2 and steps of δ/2k each."""
    step = math.sqrt(2 * math.log(2.5 * k / DELTA)) / SIGMA
    return step * math.sqrt(2 * k * math.log(2 / DELTA)) + k * step * math.expm1(step)
