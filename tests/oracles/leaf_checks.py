"""Oracles of the theorems about leaves."""

from __future__ import annotations

import definitions as d
from mpmath import mp, mpf
from theorem_checks import LAPLACE, NORMAL, TABLE, P, Q, T, delta_of, equals, oracle

import tightrope as tr


@oracle("laplace_mechanism_is_pure")
def _():
    inner = [mpf(k) / 7 for k in range(-20, 30)]
    ratio = max(mp.log(LAPLACE.p(z) / LAPLACE.q(z)) for z in inner)
    equals(T["laplace_mechanism_is_pure"](tr.Laplace(2, 2)).epsilon, ratio)


@oracle("laplace_mechanism_loss")
def _():
    equals(delta_of(T["laplace_mechanism_loss"](tr.Laplace(3, 3)), "0.3"), LAPLACE.hockey("0.3"))


@oracle("laplace_mechanism_is_concentrated")
def _():
    equals(T["laplace_mechanism_is_concentrated"](tr.Laplace(1)).rho, LAPLACE.mean())


@oracle("laplace_mechanism_is_gaussian")
def _():
    middle = LAPLACE.null(0)  # where both errors are equal
    mu = -2 * mp.sqrt(2) * mp.erfinv(2 * middle - 1)
    equals(T["laplace_mechanism_is_gaussian"](tr.Laplace(1)).mu_squared, mu**2)


@oracle("gaussian_mechanism_loss", "gaussian_mechanism_is_concentrated")
def _():
    equals(delta_of(T["gaussian_mechanism_loss"](tr.Gaussian(2, 2)), "0.3"), NORMAL.hockey("0.3"))
    equals(T["gaussian_mechanism_is_concentrated"](tr.Gaussian(2, 2)).rho, NORMAL.renyi(4) / 4)


@oracle("gaussian_pair_loss")
def _():
    made, truth = T["gaussian_pair_loss"](tr.GaussianPair(1, "1.1", 0, 1)), d.normals(1, "1.1", 0, 1)
    equals(delta_of(made, "0.5"), truth.hockey("0.5"))
    equals(delta_of(made, "0.5", 1), truth.reverse().hockey("0.5"))


@oracle("discrete_gaussian_loss", "discrete_gaussian_is_concentrated")
def _():
    truth = d.discrete_normals(4, 1)
    equals(delta_of(T["discrete_gaussian_loss"](tr.DiscreteGaussian(2)), "0.3"), truth.hockey("0.3"))
    equals(T["discrete_gaussian_is_concentrated"](tr.DiscreteGaussian(2)).rho, truth.mean())


@oracle("discrete_laplace_is_pure", "discrete_laplace_loss", "discrete_laplace_is_concentrated")
def _():
    m, truth = tr.DiscreteLaplace(2, 3), d.discrete_laplaces(2, 3)
    inner = max(mp.log(p / q) for p, q in zip(truth.p, truth.q, strict=True) if min(p, q) > mpf(10) ** -9)
    equals(T["discrete_laplace_is_pure"](m).epsilon, inner)
    equals(delta_of(T["discrete_laplace_loss"](m), "0.3"), truth.hockey("0.3"))
    equals(T["discrete_laplace_is_concentrated"](m).rho, truth.mean())


@oracle("randomized_response_is_pure", "randomized_response_loss", "randomized_response_is_concentrated")
def _():
    m, truth = tr.RandomizedResponse(1, k=4), d.response(1, 4)
    equals(T["randomized_response_is_pure"](m).epsilon, truth.largest())
    equals(delta_of(T["randomized_response_loss"](m), "0.3"), truth.hockey("0.3"))
    equals(T["randomized_response_is_concentrated"](m).rho, truth.mean())


@oracle("leaky_input_loss", "leaky_input_is_approximate")
def _():
    equals(delta_of(T["leaky_input_loss"](tr.LeakyInput("0.1")), "0.3"), d.leaky(0, "0.1").hockey("0.3"))
    equals(T["leaky_input_is_approximate"](tr.LeakyInput("0.1")).delta, d.leaky(0, "0.1").hockey(0))


@oracle("leaky_randomized_response_loss", "leaky_randomized_response_is_approximate")
def _():
    m, truth = tr.LeakyRandomizedResponse(1, "0.1"), d.leaky(1, "0.1")
    equals(delta_of(T["leaky_randomized_response_loss"](m), "0.3"), truth.hockey("0.3"))
    made = T["leaky_randomized_response_is_approximate"](m)
    equals(made.delta, truth.hockey(made.epsilon.rational))


@oracle("permute_and_flip_is_pure")
def _():
    """Two candidates, scores (0, −2) against (−1, −1): the second wins with chance e^{−1}/2 against 1/2."""
    equals(T["permute_and_flip_is_pure"](tr.PermuteAndFlip(1)).epsilon, mp.log((mpf(1) / 2) / (mp.exp(-1) / 2)))


@oracle("staircase_is_pure", "staircase_loss")
def _():
    truth = d.staircase(1)
    inner = max(mp.log(p / q) for p, q in zip(truth.p, truth.q, strict=True) if min(p, q) > mpf(10) ** -9)
    equals(T["staircase_is_pure"](tr.Staircase(1)).epsilon, inner)
    equals(delta_of(T["staircase_loss"](tr.Staircase(1)), "0.3"), truth.hockey("0.3"))


@oracle("table_loss", "table_is_pure")
def _():
    equals(delta_of(T["table_loss"](tr.Table(P, Q)), "0.3"), TABLE.hockey("0.3"))
    equals(delta_of(T["table_loss"](tr.Table(P, Q)), "0.3", 1), TABLE.reverse().hockey("0.3"))
    equals(T["table_is_pure"](tr.Table(P, Q)).epsilon, max(TABLE.largest(), TABLE.reverse().largest()))
