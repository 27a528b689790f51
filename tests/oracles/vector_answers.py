"""How the package computes each printed vector: name -> a function of the printed text that gives an enclosure."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

from mpmath import mp, mpf

import tightrope as tr
from tightrope.accounting.facts import fact
from tightrope.curves import approximate, concentrated, mean_concentrated
from tightrope.curves.engines.contour_profile import contour_profile
from tightrope.curves.loss import Loss
from tightrope.curves.profile import LeakyProfile
from tightrope.curves.renyi import KnownOrders, LinearRenyi, Renyi
from tightrope.curves.renyi_profile import classic_zcdp_epsilon, renyi_to_profile, renyi_to_profile_classic
from tightrope.numerics import theta
from tightrope.numerics.balls import Ball, ball
from tightrope.numerics.bound import Bound
from tightrope.numerics.moments import sampled as sampled_moments
from tightrope.numerics.normal import normal_call
from tightrope.numerics.real import real
from tightrope.numerics.sums import two_point

F = Fraction
MICRO, TENTH, CENT = F(1, 10**6), F(1, 10), F(1, 100)


def pair(m: tr.Mechanism, direction: int = 0):
    """The single pair of a mechanism's loss."""
    parts = fact(m, Loss).curve.directions[direction]
    assert len(parts) == 1
    assert parts[0][1] == 1
    return parts[0][0]


def call(m, x, direction=0):
    return pair(m, direction).call(ball(F(x)))


def best_order(epsilon, rho, xi=0, delta=None) -> F:
    """The order at which the conversion of D = ξ + ρα is least, from its derivative: (2α−1)ρ + ξ − ε + ln(1 − 1/α) = 0.

    For a given δ instead of ε, the same order solves α with ε eliminated.
    """
    rho, xi = mpf(F(rho).numerator) / F(rho).denominator, mpf(F(xi).numerator) / F(xi).denominator

    def needed(a):  # ε at which order a is the best one
        return (2 * a - 1) * rho + xi + mp.log1p(-1 / a)

    if delta is None:
        e = mpf(F(epsilon).numerator) / F(epsilon).denominator
        root = mp.findroot(lambda a: needed(a) - e, (mpf("1.01"), mpf(400)), solver="anderson", verify=False)
    else:
        d = mpf(F(delta).numerator) / F(delta).denominator

        def log_delta(a):
            return (a - 1) * (rho * a + xi - needed(a)) + a * mp.log1p(-1 / a) - mp.log(a - 1)

        root = mp.findroot(lambda a: log_delta(a) - mp.log(d), (mpf("1.01"), mpf(400)), solver="anderson", verify=False)
    return F(mp.nstr(root, 28))


def linear(rho, top=None) -> LinearRenyi:
    return LinearRenyi(real(F(rho)), top=None if top is None else F(top))


def cks_delta(rho, epsilon, top=None):
    order = best_order(epsilon, rho)
    order = order if top is None else min(order, F(top))
    return renyi_to_profile(linear(rho, top)).prove(F(epsilon), {"order": order})


def cks_epsilon(rho, delta):
    """ε where the conversion at its best order meets δ, between two rationals 1e-20 apart, each proved."""
    order = best_order(None, rho, delta=delta)
    profile, low, high = renyi_to_profile(linear(rho)), F(0), F(100)
    while high - low > F(1, 10**20):
        middle = (low + high) / 2
        low, high = (low, middle) if profile.prove(middle, {"order": order}) <= ball(F(delta)) else (middle, high)
    return low, high


def crosses(f, target, at: str):
    """f, monotone, passes the target between at − h and at + h, h half a unit of the last printed digit."""
    v, h = F(at), half_unit(at)
    ends = [f(v - h) - ball(F(target)), f(v + h) - ball(F(target))]
    return (v - h, v + h) if (ends[0] < 0 < ends[1]) or (ends[1] < 0 < ends[0]) else (F(0), F(0))


def one_order(order, tau, x):
    """δ* from both sides: the certificate above, a feasible pair of coins below (the best p by ternary search)."""
    a, t, e = F(order), ball(F(tau)), ball(F(x))
    high = two_point.one_order_upper(a, t, e)

    def value(p):
        return two_point.one_order_lower(a, t, e, p)

    p = F(1, 2)
    best = value(p)
    grid = [F(k, 400) for k in range(1, 401)] + [F(1, 2**k) for k in range(9, 16)]
    for trial in grid:
        if value(trial) > best:
            best, p = value(trial), trial
    step = p / 2
    for _ in range(60):
        for trial in (p - step, p + step):
            if 0 < trial <= 1 and value(trial) > best:
                best, p = value(trial), trial
                break
        else:
            step /= 2
    return rational(best.lower()), rational(high.upper())


def laplace_renyi(e):
    return lambda k: fact(tr.Laplace(1, e), Renyi).curve.divergence(F(k))


def gaussian_renyi(k):
    return ball(F(k, 2))


def rdp_of(p: str, order) -> F:
    """D of binary randomized response at an order, to 35 digits, as a rational."""
    e, a = mpf(p), mpf(order)
    t = mp.exp(e) / (1 + mp.exp(e))
    return F(mp.nstr(mp.log(t**a * (1 - t) ** (1 - a) + (1 - t) ** a * t ** (1 - a)) / (a - 1), 35))


def row(m, delta, route):
    return tr.compare(m, delta)[route].claim.computed


def one_direction(m, epsilon, direction):
    """δ of a composition when a record is removed (0) or added (1)."""
    profile = contour_profile(Loss(fact(m, Loss).curve.directions[direction]))
    return profile.prove(F(epsilon), profile.find(F(epsilon)))


def poisson_replace(sigma, rate, epsilon):
    return tr.delta(tr.Gaussian(sigma).poisson(rate, relation="replace"), epsilon)


def group(rho, xi, size):
    return concentrated.concentrated_for_groups(concentrated.ZeroConcentrated(real(rho), xi), size)


HET = tr.GaussianPair(1, "1.1", 0, 1)
SGM = tr.Gaussian(1).poisson(CENT)
SGM3 = tr.Gaussian(1).poisson("0.3")
WOR = tr.Gaussian(1, 2).without_replacement(3, 10)
MV = tr.Approx(".1", "1e-6") + tr.Approx(".2", 0) + tr.Approx(".3", "1e-7") + tr.Approx(".5", "2e-6")
KRR4, KRR10 = tr.RandomizedResponse(1, k=4), tr.RandomizedResponse(".5", k=10)
TEN = renyi_to_profile(KnownOrders((F(10),), (F(1, 2),)))
TWO = renyi_to_profile(KnownOrders((F(2),), (F(1, 2),)))

ANSWERS = {
    "mironov_eps a=10 tau=.5 d=1e-5": lambda _: row(tr.RDP({10: "0.5"}), "1e-5", "rdp-classic"),
    "cks_eps a=10 tau=.5 d=1e-5": lambda _: row(tr.RDP({10: "0.5"}), "1e-5", "rdp"),
    "cks_delta a=10 tau=.5 eps=1": lambda _: TEN.prove(F(1), {"order": F(10)}),
    "optimal_delta one-sided a=10 tau=.5 eps=1": lambda _: one_order(10, "1/2", 1),
    "optimal_delta two-sided a=10 tau=.5 eps=1": lambda _: one_order(10, "1/2", 1),
    "optimal_delta one-sided a=2 tau=.5 eps=1": lambda _: one_order(2, "1/2", 1),
    "cks same": lambda _: TWO.prove(F(1), {"order": F(2)}),
    "zcdp_delta rho=.1 eps=1": lambda _: cks_delta(TENTH, 1),
    "zcdp_delta classic rho=.1 eps=1": lambda _: renyi_to_profile_classic(linear(TENTH)).prove(
        F(1), {"order": F(11, 2)}
    ),
    "zcdp_eps rho=.1 d=1e-6": lambda _: cks_epsilon(TENTH, MICRO),
    "zcdp_eps classic rho=.1 d=1e-6": lambda _: classic_zcdp_epsilon(ball(TENTH), Ball(0), MICRO),
    "gauss exact eps rho=.1 d=1e-6": lambda _: tr.epsilon(tr.Gaussian(5) * 5, MICRO),
    "rho for eps=1,d=1e-6 classic": lambda v: crosses(lambda r: classic_zcdp_epsilon(ball(r), Ball(0), MICRO), 1, v),
    "rho for eps=1,d=1e-6 cks": lambda v: crosses(lambda r: cks_delta(r, 1), MICRO, v),
    "pure->rdp eps=1 a=2": lambda _: tr.renyi(tr.Pure(1), 2),
    "pure->rdp eps=1 a=1.5": lambda _: tr.renyi(tr.Pure(1), "1.5"),
    "pure->rdp eps=0.1 a=32": lambda _: tr.renyi(tr.Pure("0.1"), 32),
    "pure->zcdp tight eps=1 (eps tanh(eps/2))": lambda _: tr.zcdp(tr.Pure(1)),
    "profile->rdp gaussian mu=1 a=3 (should be 1.5)": lambda _: tr.renyi(tr.Gaussian(1), 3),
    "profile->rdp laplace e0=1 a=3": lambda _: tr.renyi(tr.Laplace(1), 3),
    "laplace rdp e0=1 a=3": lambda _: tr.renyi(tr.Laplace(1), 3),
    "BR delta eta=1 eps=.5": lambda _: tr.delta(tr.Exponential(1), "0.5"),
    "BR rdp eta=1 a=2": lambda _: tr.renyi(tr.Exponential(1), 2),
    "BR KL eta=1 (alpha->1 tight zCDP candidate)": lambda _: tr.zcdp(tr.Exponential(1)),
    "gdp delta mu=1 eps=1": lambda _: tr.delta(tr.GDP(1), 1),
    "gdp delta mu=1 eps=0 (TV)": lambda _: tr.advantage(tr.GDP(1)),
    "gdp delta mu=.5 eps=3": lambda _: tr.delta(tr.GDP("0.5"), 3),
    "gdp delta mu=2 eps=-1": lambda _: call(tr.GDP(2), -1),
    "gdp delta mu=.1 eps=2 (deep tail)": lambda _: tr.delta(tr.GDP("0.1"), 2),
    "gdp eps mu=1 d=1e-5": lambda _: tr.epsilon(tr.GDP(1), "1e-5"),
    "gdp mu for eps=1 d=1e-5": lambda v: crosses(lambda mu: normal_call(ball(mu), Ball(1)), F(1, 10**5), v),
    "analytic gaussian sigma eps=1 d=1e-5 Delta=1": lambda v: crosses(
        lambda s: normal_call(ball(1 / s), Ball(1)), F(1, 10**5), v
    ),
    "G_1(0.05)": lambda _: tr.tradeoff(tr.GDP(1), "0.05"),
    "G_1 fixed point alpha=Phi(-1/2)": lambda v: tr.tradeoff(tr.GDP(1), v),
    "1+f*(-e) G_1 (=delta(1))": lambda _: tr.delta(tr.Gaussian(1), 1),
    "f(.05) from profile over eps in R": lambda _: tr.tradeoff(tr.Gaussian(1), "0.05"),
    "tcdp eps rho=.1 om=20 d=1e-6": lambda v: crosses(
        lambda e: renyi_to_profile_classic(linear(TENTH, 20)).prove(
            e, {"order": F(mp.nstr(1 + mp.sqrt(10 * mp.log(10**6)), 28))}
        ),
        MICRO,
        v,
    ),
    "tcdp eps rho=.1 om=5 d=1e-6": lambda _: renyi_to_profile_classic(linear(TENTH, 5)).epsilon(MICRO)[0],
    "tcdp delta cks rho=.1 om=5 eps=2": lambda _: cks_delta(TENTH, 2, top=5),
    "tcdp delta cks rho=.1 om=20 eps=2": lambda _: cks_delta(TENTH, 2, top=20),
    "approx-zcdp delta d0=1e-7 rho=.1 eps=1": lambda _: LeakyProfile(
        renyi_to_profile(linear(TENTH)), real(F(1, 10**7))
    ).prove(F(1), {"order": best_order(1, TENTH)}),
    "CDP->zCDP mu=.3,tau=.7: xi,rho": [
        lambda _: _mean_concentrated().xi.ball(),
        lambda _: _mean_concentrated().rho.ball(),
    ],
    "krr k=4 eps=1 rdp a=3": lambda _: tr.renyi(KRR4, 3),
    "krr k=4 eps=1 delta(.5)": lambda _: tr.delta(KRR4, "0.5"),
    "krr k=4 eps=1 delta(-.5)": lambda _: call(KRR4, F(-1, 2)),
    "leakyRR eps=1 d=1e-3 delta(.5)": lambda _: tr.delta(tr.LeakyRandomizedResponse(1, "1e-3"), "0.5"),
    "laplace delta e0=1 eps=.3": lambda _: tr.delta(tr.Laplace(1), "0.3"),
    "laplace tradeoff e0=1: f(.1),f(.3),f(.7)": [
        lambda _: tr.tradeoff(tr.Laplace(1), "0.1"),
        lambda _: tr.tradeoff(tr.Laplace(1), "0.3"),
        lambda _: tr.tradeoff(tr.Laplace(1), "0.7"),
    ],
    "laplace KL e0=1 (e0+exp(-e0)-1)": lambda _: tr.zcdp(tr.Laplace(1)),
    "dlaplace rdp t=2 D=3 a=2.5": lambda _: tr.renyi(tr.DiscreteLaplace(2, 3), "2.5"),
    "dlaplace delta t=2 D=3 eps=.4": lambda _: tr.delta(tr.DiscreteLaplace(2, 3), "0.4"),
    "dlaplace delta t=2 D=1 eps=.2": lambda _: tr.delta(tr.DiscreteLaplace(2), "0.2"),
    "dlaplace delta t=2 D=3 eps=1.2": lambda _: tr.delta(tr.DiscreteLaplace(2, 3), "1.2"),
    "dgauss Z s2=4": lambda _: theta.mass(F(4), F(0)),
    "dgauss rdp s2=4 D=1 a=2.5": lambda _: tr.renyi(tr.DiscreteGaussian(2), "2.5"),
    "dgauss rdp s2=.25 D=1 a=2.5": lambda _: tr.renyi(tr.DiscreteGaussian("0.5"), "2.5"),
    "dgauss rdp s2=.25 D=1 a=3 (integer: equality)": lambda _: tr.renyi(tr.DiscreteGaussian("0.5"), 3),
    "dgauss delta s2=4 D=1 eps=.5": lambda _: tr.delta(tr.DiscreteGaussian(2), "0.5"),
    "het rdp N(1,1.1^2)||N(0,1) a=3": lambda _: pair(HET).cumulant(F(2)) / 2,
    "het rdp reverse": lambda _: pair(HET, 1).cumulant(F(2)) / 2,
    "het delta N(1,1.1^2)||N(0,1) eps=.5": lambda _: call(HET, F(1, 2)),
    "het delta reverse N(0,1)||N(1,1.1^2) eps=.5": lambda _: call(HET, F(1, 2), 1),
    "het KL N(1,1.1^2)||N(0,1)": lambda _: pair(HET).mean(),
    "staircase gamma* eps=1": lambda _: tr.Staircase(1).width(),
    "staircase a(gamma)*Delta": lambda _: tr.Staircase(1).height(),
    "staircase PLD at shift Delta: P[+eps],P[0],P[-eps]": [
        lambda _: pair(tr.Staircase(1)).tail(ball(F(1, 2))),
        lambda _: pair(tr.Staircase(1)).tail(ball(F(-1, 2))) - pair(tr.Staircase(1)).tail(ball(F(1, 2))),
        lambda _: 1 - pair(tr.Staircase(1)).tail(ball(F(-1, 2))),
    ],
    "staircase rdp shift Delta a=3": lambda _: tr.renyi(tr.Staircase(1), 3),
    "DRV eps=.1 k=50 dp=1e-6": lambda _: row(tr.Pure("0.1") * 50, "1e-6", "advanced"),
    "DRV tanh form": lambda _: row(tr.Pure("0.1") * 50, "1e-6", "advanced-sharp"),
    "KOV delta eps=.1 k=50 eg=2 d=0": lambda _: tr.delta(tr.Approx("0.1", 0) * 50, 2),
    "KOV delta eps=.1 k=50 eg=2 d=1e-8": lambda _: tr.delta(tr.Approx("0.1", "1e-8") * 50, 2),
    "KOV closed i=15: eg=(k-2i)eps, delta_i": [
        lambda _: ball(F(20) * TENTH),
        lambda _: tr.delta(tr.Pure("0.1") * 50, 2),
    ],
    "KOV eps at dp=1e-6": lambda _: tr.epsilon(tr.Approx("0.1", 0) * 50, "1e-6"),
    "MurtaghVadhan eps=(.1,.2,.3,.5) d=(1e-6,0,1e-7,2e-6) eg=.6: delta_g": lambda _: tr.delta(MV, "0.6"),
    "GDP comp mu=(.1,.2,.3)": lambda _: tr.gdp(tr.GDP("0.1") + tr.GDP("0.2") + tr.GDP("0.3")),
    "approx group k=3 eps=.5 d=1e-6": [
        lambda _: _approx_group().epsilon.ball(),
        lambda _: _approx_group().delta.ball(),
    ],
    "zcdp (xi,rho)=(.01,.1) k=4": [
        lambda _: group(TENTH, real(CENT), 4).xi.ball(),
        lambda _: group(TENTH, real(CENT), 4).rho.ball(),
    ],
    "amp eps=1 q=.01": lambda _: tr.pure(tr.Pure(1).poisson(CENT)),
    "SGM q=.01 s=1 a=2": lambda _: tr.renyi(SGM, 2),
    "SGM q=.01 s=1 a=8": lambda _: tr.renyi(SGM, 8),
    "SGM q=.01 s=4 a=32": lambda _: tr.renyi(tr.Gaussian(4).poisson(CENT), 32),
    "SGM add direction q=.01 s=1 a=8": lambda _: pair(SGM, 1).cumulant(F(7)) / 7,
    "SGM profile remove q=.01 s=1 eps=.5": lambda _: tr.delta(SGM, "0.5"),
    "SGM profile add q=.01 s=1 eps=.005": lambda _: call(SGM, F(5, 1000), 1),
    "SGM profile add q=.01 s=1 eps=.5": lambda _: call(SGM, F(1, 2), 1),
    "SGM profile remove q=.3 s=1 eps=.2": lambda _: call(SGM3, F(1, 5), 0),
    "SGM profile add q=.3 s=1 eps=.2": lambda _: call(SGM3, F(1, 5), 1),
    "ZhuWang general (x3) gaussian s=1 q=.01 a=8": lambda _: (
        sampled_moments.poisson_general(CENT, 8, gaussian_renyi) / 7
    ),
    "ZhuWang tight(x1) same": lambda _: sampled_moments.poisson_general(CENT, 8, gaussian_renyi, 1) / 7,
    "ZhuWang general laplace e0=1 q=.05 a=5": lambda _: (
        sampled_moments.poisson_general(F(1, 20), 5, laplace_renyi(1)) / 4
    ),
    "ZhuWang tight laplace e0=1 q=.05 a=5": lambda _: (
        sampled_moments.poisson_general(F(1, 20), 5, laplace_renyi(1), 1) / 4
    ),
    "WBK thm9 gaussian eps(a)=a/2 g=.01 a=8": lambda _: (
        sampled_moments.without_replacement_general(CENT, 8, gaussian_renyi, None) / 7
    ),
    "WBK thm9 laplace e0=.5 g=.01 a=8": lambda _: (
        sampled_moments.without_replacement_general(CENT, 8, laplace_renyi("1/2"), ball(F(1, 2))) / 7
    ),
    "WBK lower bound gaussian same": lambda _: sampled_moments.without_replacement_lower(CENT, 8, gaussian_renyi) / 7,
    "Bromwich gauss mu=1 eps=2": lambda _: tr.delta(tr.Gaussian(1), 2),
    "CKS bound same (t^t/(1+t)^(1+t) form)": lambda _: renyi_to_profile(linear("1/2")).prove(
        F(2), {"order": F(2919, 1000)}
    ),
    "profile group k=2 mu=1 eps=3 bound": lambda _: tr.delta(tr.Gaussian(1).group(2), 3),
    "Poisson replace-one pair q=.01 C/s=1 eps=.5": lambda _: poisson_replace(1, CENT, "0.5"),
    "Poisson replace-one pair q=.05 C/s=2 eps=1": lambda _: poisson_replace("0.5", "0.05", 1),
    "Poisson replace-one pair q=.3 s=1 clip1 eps=.5": lambda _: poisson_replace(1, "0.3", "0.5"),
    "Poisson replace-one group-2 bound q=.3 eps=.5": lambda _: poisson_replace(1, "0.3", "0.5"),
    "SGM composed q=.01 s=1 T=100 eps=1 remove": lambda _: one_direction(SGM * 100, 1, 0),
    "SGM composed q=.01 s=1 T=1000 eps=2 remove": lambda _: tr.delta(SGM * 1000, 2),
    "SGM composed q=.01 s=1 T=1000 eps=2 add": lambda _: one_direction(SGM * 1000, 2, 1),
    "SGM composed q=.001 s=.8 T=1000 eps=.5 remove": lambda _: tr.delta(
        tr.Gaussian("0.8").poisson("0.001") * 1000, "0.5"
    ),
    "WOR replace-one q=.3 mu=2 eps=.5": lambda _: tr.delta(WOR, "0.5"),
    "Laplace e0=1 2-fold delta(.5)": lambda _: tr.delta(tr.Laplace(1) * 2, "0.5"),
    "KOV k=3 eps=.5 d=1e-3 eg=1": lambda _: tr.delta(tr.Approx("0.5", "1e-3") * 3, 1),
    "laplace PLD cdf F(0) e0=1": lambda _: 1 - pair(tr.Laplace(1)).tail(Ball(0)),
    "gauss PLD cdf mu=1 F(0)=Phi(-1/2)": lambda _: 1 - pair(tr.Gaussian(1)).tail(Ball(0)),
    "SGM PLD remove Pr[L>.1] q=.01 s=1": lambda _: pair(SGM).tail(ball(TENTH)),
    "approx DP (eps=.5,d=1e-6) leaky-RR profile at .2": lambda _: tr.delta(tr.Approx("0.5", "1e-6"), "0.2"),
    "RR f(.1) eps=1": lambda _: tr.tradeoff(tr.RandomizedResponse(1), "0.1"),
    "WOR replace-one tight RDP via glued profile mu=1 q=.01 a=8": lambda _: tr.renyi(
        tr.Gaussian(1).without_replacement(1, 100), 8
    ).computed,
    "lap stable a=3": lambda _: tr.renyi(tr.Laplace(1), 3),
    "lap stable a=2.5 e0=.5": lambda _: tr.renyi(tr.Laplace(2), "2.5"),
    "WOR add/remove m=10 n=100 remove eps=.3": lambda _: call(
        tr.Gaussian(1).without_replacement(10, 100, "add-remove"), F(3, 10)
    ),
    "sgm stable a=8": lambda _: pair(SGM).cumulant(F(7)) / 7,
    "BR tight zCDP eta=1: eta/(e^eta-1)-1+ln((e^eta-1)/eta)": lambda _: tr.zcdp(tr.Exponential(1)),
    "Laplace tight zCDP e0=.5": lambda _: tr.zcdp(tr.Laplace(2)),
    "kRR KL k=4 eps=1": lambda _: tr.zcdp(KRR4),
    "dlap KL t=2 D=3": lambda _: tr.zcdp(tr.DiscreteLaplace(2, 3)),
    "wbk a=2 mu=1 q=.01": lambda _: sampled_moments.without_replacement_general(CENT, 2, gaussian_renyi, None),
    "SGM q=.01 s=1 a=2.5": lambda _: tr.renyi(SGM, "2.5"),
    "SGM q=.01 s=1 a=1.1": lambda _: tr.renyi(SGM, "1.1"),
    "SGM q=.01 s=1 a=1.5": lambda _: tr.renyi(SGM, "1.5"),
    "optimal_delta a=3 tau=2 eps=.5 (p=1 branch, 1-exp(eps-tau))": lambda _: one_order(3, 2, "1/2"),
    "optimal_delta a=32 tau=.1 eps=.2": lambda _: one_order(32, "1/10", "1/5"),
    "optimal_delta a=1.5 tau=.3 eps=.7": lambda _: one_order("3/2", "3/10", "7/10"),
    "optimal_delta a=2 tau=1 eps=3": lambda _: one_order(2, 1, 3),
    "krr k=10 eps=.5 sup_alpha D/alpha": lambda _: tr.zcdp(KRR10),
    "RR eps=1 D_10": lambda _: tr.renyi(tr.RandomizedResponse(1), 10),
    "RR eps=1 D_10 K-interpolated from orders 2,32": lambda _: (
        tr.renyi(tr.RDP({2: rdp_of("1", 2), 32: rdp_of("1", 32)}), 10).computed
    ),
    "WOR replace-one PLD atom at 0 q=.3 mu=2": lambda _: pair(WOR).tail(-(Ball(2) ** -140)) - pair(WOR).tail(Ball(0)),
    "Poisson Laplace e0=1 q=.05 a=5 true remove, add": [
        lambda _: pair(tr.Laplace(1).poisson("0.05")).cumulant(F(4)) / 4,
        lambda _: pair(tr.Laplace(1).poisson("0.05"), 1).cumulant(F(4)) / 4,
    ],
    "BR eta=1 delta(-.3)": lambda _: call(tr.Exponential(1), F(-3, 10)),
}

CORRECTED = {
    # Printed wrong from its twelfth digit on: the truth is 1 − e^{−3/2}.
    "optimal_delta a=3 tau=2 eps=.5 (p=1 branch, 1-exp(eps-tau))": "0.77686983985157017",
    # Printed wrong in its last two digits: this is the maximum over pairs of coins, by bisection with 40 digits.
    "optimal_delta a=1.5 tau=.3 eps=.7": "0.11966574072975864259314",
}


@cache
def _mean_concentrated():
    return mean_concentrated.mean_concentrated_is_concentrated(
        mean_concentrated.MeanConcentrated(real(F(3, 10)), real(F(49, 100)))
    )


@cache
def _approx_group():
    return approximate.approximate_for_groups(approximate.Approximate(real(F(1, 2)), real(MICRO)), 3)


def half_unit(text: str) -> F:
    """Half a unit of the last printed digit."""
    digits, _, power = text.lower().partition("e")
    places = len(digits.partition(".")[2])
    return F(10) ** (int(power or 0) - places) / 2


def rational(x) -> F:
    if isinstance(x, Ball):
        man, exp = x.man_exp()
        return F(int(man)) * F(2) ** int(exp)
    return F(x)


def ends(answer) -> tuple[F, F]:
    if isinstance(answer, Ball):
        assert answer.is_finite()
        return rational(answer.lower()), rational(answer.upper())
    if isinstance(answer, Bound | tr.Claim):
        return F(answer.lower), F(answer.upper)
    return answer
