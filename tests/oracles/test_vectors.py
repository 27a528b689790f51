"""Every printed test vector that the package reaches lies in the enclosure of the function that computes it.

Three tables cover ``vectors.json`` exactly: ANSWERS (enclosed, and the enclosure is narrow), BOUNDS (a printed bound
that the package improves on, or one it meets from above), LATER (what belongs to work not here yet, with the reason).
"""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
from vector_answers import ANSWERS, CORRECTED, KRR10, MICRO, SGM, TENTH, ends, group, half_unit, linear, row

import tightrope as tr
from tightrope.accounting.compare import central_limit
from tightrope.accounting.facts import fact
from tightrope.curves import pure
from tightrope.curves.renyi import Renyi
from tightrope.curves.renyi_profile import renyi_to_profile_classic, renyi_to_profile_optimally
from tightrope.numerics.balls import Ball, ball, precision
from tightrope.numerics.normal import normal_call, upper_tail
from tightrope.numerics.real import Real, real

F = Fraction
VECTORS = json.loads((Path(__file__).parents[1] / "vectors.json").read_text())


def cases():
    for name, how in ANSWERS.items():
        printed = CORRECTED.get(name, VECTORS[name])
        if isinstance(how, list):
            yield from ((f"{name} [{i}]", one, printed[i]) for i, one in enumerate(how))
        else:
            yield name, how, printed.rpartition("= ")[2]


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(("how", "printed"), [pytest.param(h, p, id=n) for n, h, p in cases()])
def test_a_vector_lies_in_its_narrow_enclosure(how, printed):
    with precision(180):
        low, high = ends(how(printed))
    value, room = F(printed), half_unit(printed)
    assert low - room <= value <= high + room
    assert high - low <= max(F(1, 10**9) * abs(value), 2 * room)


def pure_mean():
    return pure.pure_is_mean_concentrated(pure.Pure(real(F(1, 2))))


def poisson_run(sigma, rate, steps):
    return fact(tr.Gaussian(sigma).poisson(rate) * steps, Renyi).curve


def classic(sigma, rate, steps):
    return renyi_to_profile_classic(poisson_run(sigma, rate, steps)).epsilon(F(1, 10**5))[0]


# name -> (our value, "at most": a printed upper bound that ours does not exceed; "at least": a value ours must cover)
BOUNDS = {
    "pure eps=.5->CDP (mu,tau)": (
        "at most",
        [lambda: pure_mean().mu.ball(), lambda: pure_mean().tau_squared.ball().sqrt()],
    ),
    "KOV3.4 second form": ("at most", lambda: tr.epsilon(tr.Pure("0.1") * 50, "1e-6")),
    "hetero adv: sum e tanh(e/2)+sqrt(2 ln(1/dp) sum e^2), dp=1e-6": (
        "at most",
        lambda: row(tr.Pure("0.1") + tr.Pure("0.2") + tr.Pure("0.3") + tr.Pure("0.5"), "1e-6", "advanced-sharp"),
    ),
    "WOR tight RDP Laplace e0=.5 q=.01 a=8": (
        "at least",
        lambda: tr.renyi(tr.Laplace(2).without_replacement(1, 100), 8),
    ),
    "optimal full-curve zCDP rho=.1 eps=1 delta": ("just above", lambda: _whole_curve()),
    "published: Abadi 2016 q=.01 s=4 T=10000 d=1e-5 moments accountant, printed 1.26": (
        "at most",
        lambda: classic(4, "0.01", 10000),
    ),
    "published: TF-privacy README noise 1.12 N=60000 b=256 60 epochs d=1e-5, printed 2.92": (
        "at most",
        lambda: classic("1.12", F(256, 60000), 14062),
    ),
    "published: TF-privacy README noise 1.2 10 epochs, printed 1.20": (
        "at most",
        lambda: classic("1.2", F(256, 60000), 2343),
    ),
    "published: Bu et al 2020 s=.7 70 epochs d=1e-5 moments accountant, printed 8.68": (
        "at most",
        lambda: classic("0.7", F(256, 60000), 16406),
    ),
}


def _whole_curve():
    profile = renyi_to_profile_optimally(linear(TENTH))
    return profile.prove(F(1), profile.find(F(1)))


def bound_cases():
    for name, (relation, how) in BOUNDS.items():
        hows = how if isinstance(how, list) else [how]
        printed = VECTORS[name] if isinstance(VECTORS[name], list) else [VECTORS[name]]
        for i, (one, text) in enumerate(zip(hows, printed, strict=True)):
            yield pytest.param(relation, one, text, id=f"{name} [{i}]")


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(("relation", "how", "printed"), list(bound_cases()))
def test_a_printed_bound_is_kept(relation, how, printed):
    with precision(128):
        low, high = ends(how())
    value, room = F(printed), half_unit(printed)
    if relation == "at most":
        assert high <= value + max(room, value / 10**12)  # ours is the better bound
    else:
        assert high >= value - room  # ours must not be below what is attained
        assert relation == "at least" or high <= value * (1 + F(1, 10**6))
        assert relation == "just above" or low <= value + room


def test_where_the_ratio_of_ten_way_response_is_largest():
    order = F(VECTORS["krr k=10 eps=.5 argsup alpha"])
    found, most = tr.renyi(KRR10, order), tr.zcdp(KRR10)
    assert found.lower / float(order) <= most.upper
    assert found.upper / float(order) >= most.lower * (1 - 1e-12)


def test_the_central_limit_estimate_uses_the_printed_mu():
    mu = F(VECTORS["CLT poisson mu q=.01 T=1000 s=1"])
    epsilon = central_limit(SGM * 1000, MICRO)
    with precision(128):
        assert abs(normal_call(ball(mu), Ball(epsilon)) / ball(MICRO) - 1) < Ball(1e-12)


def test_the_tradeoff_of_laplace_is_above_the_coarse_one():
    """This vector is the maximum of a grid of lines, a lower bound on the true value."""
    coarse = float(VECTORS["laplace f(.3) from profile"])
    assert coarse < tr.tradeoff(tr.Laplace(1), "0.3").lower < coarse * (1 + 1e-6)


def test_groups_with_a_negative_offset():
    """(−ln 10, 1/0.18)-zCDP, two records, order 20: the attained D, the false rule and the right one."""
    attained, false, right = (
        F(v) for v in VECTORS["zCDP group xi<0 counterexample q=.1 s=.3 two records a=20: D, kH_k rule, k rule"]
    )
    minus_log_ten = Real(None, lambda: -Ball(10).log())
    with precision(128):
        curve = group(F(100, 18), minus_log_ten, 2)
        found = ends(curve.xi.ball() + 20 * curve.rho.ball())[1]
    assert found >= attained > false
    assert abs(found - right) <= F(1, 1000)


NAMED = {
    "krr k=10 eps=.5 argsup alpha",
    "CLT poisson mu q=.01 T=1000 s=1",
    "laplace f(.3) from profile",
    "zCDP group xi<0 counterexample q=.1 s=.3 two records a=20: D, kH_k rule, k rule",
}

LATER = {
    "exact noise and its moments": [
        "dgauss var s2=4",
        "staircase E|X|/Delta (e^{e/2}/(e^e-1))",
        "staircase gamma* l2 eps=1",
        "dlap pmf t=2: P(0),P(1),P(5)",
        "dgauss pmf s2=4: P(0),P(1),P(5)",
        "CKS DG acceptance prob s2=4 t=floor(2)+1=3",
        "permute-and-flip eps=1 q=(1,.5,0)",
        "exp mech eps=1 q=(1,.5,0)",
    ],
    "the replace pair of other Poisson samples, its moments, antithetic and zero-out pairs": [
        "Poisson replace-one proved upper q=.3 C/s=1 eps=.5",
        "Poisson replace-one proved upper q=.01 C/s=1 eps=.5",
        "Poisson replace-one Laplace e0=1 q=.3 eps=.5",
        "Poisson replace-one Gaussian RDP q=.01 C/s=1 a=2",
        "Poisson replace-one Gaussian RDP q=.01 C/s=1 a=8",
        "pure eps=1 -> replace-one antithetic pair delta(0)",
        "pure eps=1 -> replace-one antithetic pair delta(1)",
        "WOR zero-out Gaussian C/s=1 q=.3 eps=.5 upper bound",
        "WOR zero-out Gaussian C/s=1 q=.3 eps=.5 attained lower bound",
    ],
    "filters and odometers": [
        "zCDP filter eps: sum eps^2=.5,d=1e-6",
        "odometer fixed-lambda tuned at V=.25, at V=.1",
        "filter DP: eps_i=.1 x 20, dp=1e-6",
        "OR filter counterexample eps=2 d=.01 orders 4,64: reached delta (must be refused)",
        "optimal-composition filter counterexample eps=1 d=.05 RR steps .2,.4,.8 max 8: "
        "reached delta (must be refused)",
        "Chernoff Pr[L>5] SGM T=1000",
    ],
    "sampling with replacement": ["amp with replacement n=1000 m=10: q", "with-repl eta n=10 m=3"],
    "allocation, truncated batches and matrix mechanisms": [
        "alloc t=2 s=1 a=2",
        "alloc t=10 s=1 a=4",
        "alloc t=100 s=2 a=8",
        "allocation t=2 s=1 add direction a=2,3,8",
        "trunc Poisson n=1000 q=.01 B=30: tail",
        "sqrt-Toeplitz coeffs",
    ],
    "shuffling": [
        "FMT21 closed n=1e5 e0=4 d=1e-6 (if cond)",
        "FMT21 closed n=1e4 e0=1 d=1e-6",
        "clones FMT21 n=100 e0=1 eps=.3 p=e^-e0",
        "clones binaryRR p=2/(e^e0+1) n=100 e0=1 eps=.3",
        "true shuffled RR n=100 e0=1 eps=.3 others all 0",
    ],
    "saddle-point estimates and discretised losses": [
        "SPA t0",
        "SPA-MSD order1 estimate",
        "CTD mass at eps=0 and +inf",
        "CTD delta(.1)",
        "CTD 2-fold delta(1) h=.25 trunc 4",
    ],
    "audits": [
        "CP upper k=5 n=1000 a=.025",
        "CP upper k=600 n=1000 a=.025",
        "audit eps lb FP=5/1000 FN=600/1000 d=1e-5 95%",
        "audit mu lb",
        "audit GDP->eps at d=1e-5",
        "one-run pval m=1000 r=100 v=75 eps=.5 d=0",
        "one-run pval d=1e-5",
        "one-run eps lb m=1000 r=100 v=75 d=1e-5 p=.05",
        "one-run p_safe m=1000 r=100 v=75 eps=.5 d=1e-5",
        "one-run p_safe eps_lb m=1000 r=100 v=75 d=1e-5 b=.05",
        "one-run p_safe eps_lb m=1000 r=100 v=75 d=1e-4 b=.05",
        "one-run LP optimum m=2 eps=1 d=.05 v=1 (published p-value 0.942136 is below it)",
        "published: Steinke-Nasr-Jagielski 2023 App. D m=1000 r=100 v=75 d=1e-4 b=.05 their formula, printed 0.673",
    ],
    "a remark about a search over vector shifts, not a number to compute": ["max (split - single)"],
}


def test_the_tables_cover_the_file_exactly():
    later = [name for names in LATER.values() for name in names]
    covered = [*ANSWERS, *BOUNDS, *NAMED, *later]
    assert len(covered) == len(set(covered))
    assert set(covered) == set(VECTORS)


def test_the_middle_of_the_gaussian_tradeoff_is_its_fixed_point():
    with precision(128):
        low, high = ends(upper_tail(ball(F(1, 2))))
    printed = VECTORS["G_1 fixed point alpha=Phi(-1/2)"]
    assert low - half_unit(printed) <= F(printed) <= high + half_unit(printed)
