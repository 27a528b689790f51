"""Oracles of the theorems about notions: conversions, composition, groups, sampling."""

from __future__ import annotations

import definitions as d
from mpmath import mp, mpf
from theorem_checks import (
    LAPLACE,
    NORMAL,
    RR,
    SMALL,
    TABLE,
    F,
    T,
    at,
    delta_of,
    equals,
    exact,
    known,
    one_normal,
    oracle,
    profile_at,
    table_loss,
)

import tightrope as tr
from tightrope.curves.approximate import Approximate
from tightrope.curves.bounded_range import BoundedRange
from tightrope.curves.composed_loss import loss_has_profile
from tightrope.curves.concentrated import ZeroConcentrated
from tightrope.curves.gaussian import GaussianDP
from tightrope.curves.loss import Loss
from tightrope.curves.pure import Pure
from tightrope.curves.renyi import KnownOrders
from tightrope.curves.tradeoff import TradeOff
from tightrope.curves.truncated import TruncatedConcentrated
from tightrope.mechanisms.laplace import LaplacePair
from tightrope.numerics.balls import sharp, upper_float
from tightrope.numerics.real import real
from tightrope.numerics.sums.finite import FiniteSum


@oracle("renyi_composes")
def _():
    equals(at(T["renyi_composes"]([(known(TABLE), 2), (known(RR), 1)]), 3), TABLE.power(2).times(RR).renyi(3))


@oracle("renyi_in_parallel")
def _():
    equals(at(T["renyi_in_parallel"]([known(TABLE), known(RR)]), 3), max(TABLE.renyi(3), RR.renyi(3)))


@oracle("truncated_is_renyi")
def _():
    equals(at(T["truncated_is_renyi"](TruncatedConcentrated(real(F(1, 10)), F(20))), 4), SMALL.renyi(4))


@oracle("truncated_composes")
def _():
    made = T["truncated_composes"]([(TruncatedConcentrated(real(F(1, 10)), F(20)), 5)])
    equals(made.rho, NORMAL.renyi(2) / 2)
    assert made.omega == 20


@oracle("concentrated_is_renyi")
def _():
    equals(at(T["concentrated_is_renyi"](ZeroConcentrated(real(F(1, 10)))), 4), SMALL.renyi(4))


@oracle("concentrated_is_truncated")
def _():
    equals(T["concentrated_is_truncated"](ZeroConcentrated(real(F(1, 10)))).rho, SMALL.renyi(4) / 4)


@oracle("loss_composes")
def _():
    made = T["loss_composes"]([(table_loss(), 3)])
    truth = TABLE.power(3)
    equals(profile_at(loss_has_profile(made), "0.35"), max(truth.hockey("0.35"), truth.reverse().hockey("0.35")))


@oracle("loss_has_renyi")
def _():
    equals(at(T["loss_has_renyi"](table_loss()), 3), max(TABLE.renyi(3), TABLE.reverse().renyi(3)))


@oracle("loss_has_profile")
def _():
    equals(
        profile_at(T["loss_has_profile"](table_loss()), "0.2"), max(TABLE.hockey("0.2"), TABLE.reverse().hockey("0.2"))
    )


@oracle("profile_to_tradeoff")
def _():
    call = table_loss().remove[0][0].call
    found = T["profile_to_tradeoff"](call, F(3, 10))
    equals(found, TABLE.missed("0.3"))


@oracle("tradeoff_is_dominated")
def _():
    polygon = TradeOff(((F(0), F(1)), (F(1, 4), F(1, 4)), (F(1), F(0))))  # randomized response with e^ε = 3
    equals(
        delta_of(T["tradeoff_is_dominated"](polygon), "0.4"), d.Atoms(["0.75", "0.25"], ["0.25", "0.75"]).hockey("0.4")
    )


@oracle("neyman_pearson")
def _():
    law = table_loss().remove[0][0].law
    equals(sharp(lambda: T["neyman_pearson"](FiniteSum([(law, 2)]), F(3, 10))), TABLE.power(2).missed("0.3"))


@oracle("approximate_is_dominated_by_leaky_response")
def _():
    made = T["approximate_is_dominated_by_leaky_response"](Approximate(real(1), real(F(1, 100))))
    equals(delta_of(made, "0.4"), d.leaky(1, "0.01").hockey("0.4"))


@oracle("gaussian_is_dominated_by_normals")
def _():
    equals(delta_of(T["gaussian_is_dominated_by_normals"](GaussianDP(real(1))), 1), NORMAL.hockey(1))


@oracle("gaussian_is_concentrated")
def _():
    equals(T["gaussian_is_concentrated"](GaussianDP(real(1))).rho, NORMAL.renyi(3) / 3)


@oracle("gaussian_for_groups")
def _():
    made = T["gaussian_for_groups"](GaussianDP(real(F(1, 9))), 3)
    equals(delta_of(one_normal(made.mu_squared.rational), 1), NORMAL.hockey(1))


@oracle("pure_is_dominated_by_response")
def _():
    equals(delta_of(T["pure_is_dominated_by_response"](Pure(real(1))), "0.4"), RR.hockey("0.4"))


@oracle("pure_is_approximate")
def _():
    equals(T["pure_is_approximate"](Pure(real(1))).epsilon, RR.largest())


@oracle("pure_is_concentrated")
def _():
    equals(T["pure_is_concentrated"](Pure(real(1))).rho, RR.mean())


@oracle("pure_is_gaussian")
def _():
    knot = mp.sqrt(2) * mp.erfinv(2 / (1 + mp.e) - 1)
    equals(T["pure_is_gaussian"](Pure(real(1))).mu_squared, (2 * knot) ** 2)


@oracle("pure_composes")
def _():
    equals(T["pure_composes"]([(Pure(real(1)), 3)]).epsilon, RR.power(3).largest())


@oracle("pure_for_groups")
def _():
    inner = d.discrete_laplaces(2, 3)  # three steps of a half
    ratio = max(mp.log(p / q) for p, q in zip(inner.p, inner.q, strict=True) if min(p, q) > mpf(10) ** -9)
    equals(T["pure_for_groups"](Pure(real(F(1, 2))), 3).epsilon, ratio)


@oracle("pure_is_amplified")
def _():
    equals(T["pure_is_amplified"](Pure(real(1)), F(1, 5)).epsilon, RR.sampled("0.2").largest())


@oracle("stated_pure", "stated_approximate_is_pure")
def _():
    equals(T["stated_pure"](tr.Pure(1)).epsilon, RR.largest())
    equals(T["stated_approximate_is_pure"](tr.Approx(1, 0)).epsilon, RR.largest())


@oracle("stated_approximate")
def _():
    made = T["stated_approximate"](tr.Approx(1, "0.01"))
    equals(made.delta, d.leaky(1, "0.01").hockey(made.epsilon.rational))


@oracle("stated_concentrated", "stated_truncated")
def _():
    equals(T["stated_concentrated"](tr.ZCDP("0.1")).rho, SMALL.mean())
    equals(T["stated_truncated"](tr.TCDP("0.1", 9)).rho, SMALL.mean())


@oracle("stated_mean_concentrated", "gaussian_mechanism_is_mean_concentrated")
def _():
    """Mean and variance of the Gaussian loss N(μ²/2, μ²)."""
    for made in (
        T["stated_mean_concentrated"](tr.CDP("0.5", 1)),
        T["gaussian_mechanism_is_mean_concentrated"](tr.Gaussian(1)),
    ):
        equals(made.mu, NORMAL.mean())
        equals(made.tau_squared, mpf(1))


@oracle("stated_gaussian", "gaussian_mechanism_is_gaussian")
def _():
    for made in (T["stated_gaussian"](tr.GDP(1)), T["gaussian_mechanism_is_gaussian"](tr.Gaussian(2, 2))):
        equals(delta_of(one_normal(made.mu_squared.rational), 1), NORMAL.hockey(1))


@oracle("stated_renyi")
def _():
    equals(at(T["stated_renyi"](tr.RDP({3: exact(RR.renyi(3))})), 3), RR.renyi(3))


@oracle("loss_of_poisson_sample")
def _():
    made, truth = T["loss_of_poisson_sample"](one_normal(), F(3, 10)), NORMAL.sampled("0.3")
    equals(delta_of(made, "0.2"), truth.hockey("0.2"))
    equals(delta_of(made, "0.2", 1), truth.reverse().hockey("0.2"))


@oracle("loss_of_poisson_replacement")
def _():
    up, down = NORMAL.sampled("0.3"), d.normals(-1, 1, 0, 1).sampled("0.3")
    truth = d.Densities(up.p, down.p, [-16, -8, -2, 0, 2, 8, 16])
    equals(delta_of(T["loss_of_poisson_replacement"](one_normal(), F(3, 10)), "0.5"), truth.hockey("0.5"))


@oracle("loss_of_poisson_replacement_of_guarantees")
def _():
    # Outcomes of which a batch with the first record only, the second only, or neither prefers one each: ε = 1.
    e, q = mp.e, mpf("0.3")
    least, most = mpf(1) / (1 + e), 1 - 2 / (1 + e)
    ends, middle = (least * e, least / e), most / e
    up = [q * a + (1 - q) * b for a, b in zip((*ends, middle), (least, least, most), strict=True)]
    down = [up[1], up[0], up[2]]
    response = T["pure_is_dominated_by_response"](Pure(real(1)))
    made = T["loss_of_poisson_replacement_of_guarantees"](response, F(3, 10))
    equals(delta_of(made, "0.1"), d.Atoms(up, down).hockey("0.1"))


@oracle("loss_without_replacement")
def _():
    made = T["loss_without_replacement"](Loss(((LaplacePair(F(1)), 1),)), F(3, 10))
    equals(delta_of(made, "0.1"), LAPLACE.sampled("0.3").hockey("0.1"))


@oracle("pure_in_parallel")
def _():
    equals(T["pure_in_parallel"]([Pure(real(1)), Pure(real(F(1, 2)))]).epsilon, RR.largest())


@oracle("gaussian_in_parallel")
def _():
    made = T["gaussian_in_parallel"]([GaussianDP(real(1)), GaussianDP(real(F(1, 2)))])
    equals(delta_of(one_normal(made.mu_squared.rational), 1), NORMAL.hockey(1))


@oracle("concentrated_in_parallel")
def _():
    made = T["concentrated_in_parallel"]([ZeroConcentrated(real(F(1, 10))), ZeroConcentrated(real(F(1, 50)))])
    equals(made.rho, SMALL.mean())


def two_valued(order=None, x=None):
    """The bounded-range law of η = 1 that is worst at an order or at an ε: losses {t, t − 1}, t by golden sections."""

    def law(t):
        p = (mp.e - mp.exp(t)) / (mp.e - 1)
        return d.Atoms([p, 1 - p], [p * mp.exp(-t), (1 - p) * mp.exp(1 - t)])

    def value(t):
        return law(t).mean() if order == 1 else law(t).renyi(order) if order else law(t).hockey(x)

    low, high = mpf(10) ** -9, 1 - mpf(10) ** -9
    for _ in range(90):
        u, v = low + (high - low) * mpf("0.382"), low + (high - low) * mpf("0.618")
        low, high = (u, high) if value(u) < value(v) else (low, v)
    return value(low)


ETA = BoundedRange(real(1))


@oracle("bounded_range_is_pure", "exponential_has_bounded_range")
def _():
    """The exponential mechanism with scores (0, −80) and their neighbours (−1, −79): the loss is 1 − O(e^{−40})."""
    weights = [[mp.exp(u / mpf(2)) for u in scores] for scores in ((0, -80), (-1, -79))]
    p, q = ([w / mp.fsum(row) for w in row] for row in weights)
    spread = mp.log(q[1] / p[1])
    equals(T["bounded_range_is_pure"](ETA).epsilon, spread, 1e-14)
    equals(T["exponential_has_bounded_range"](tr.Exponential(1)).eta, spread - mp.log(q[0] / p[0]), 1e-14)


@oracle("bounded_range_is_dominated")
def _():
    equals(delta_of(T["bounded_range_is_dominated"](ETA), "0.3"), two_valued(x="0.3"))


@oracle("bounded_range_is_concentrated")
def _():
    equals(T["bounded_range_is_concentrated"](ETA).rho, two_valued(order=1))


@oracle("bounded_range_is_renyi")
def _():
    equals(at(T["bounded_range_is_renyi"](ETA), 3), two_valued(order=3))


@oracle("renyi_to_profile_optimally")
def _():
    """A pair of coins on the boundary of the constraint is a law that fits."""
    p, q = mpf("0.00425864995210964"), mpf("0.00141004681328719")
    tau = d.two_point_renyi(p, q, 10)
    profile = T["renyi_to_profile_optimally"](KnownOrders((F(10),), (exact(tau),)))
    attained, found = p - mp.e * q, upper_float(profile_at(profile, 1))
    assert attained * (1 - mpf(10) ** -12) <= found <= attained * (1 + mpf(10) ** -5)
