"""Every leaf's curves against the definitions: profile, Rényi divergence, trade-off, loss tail, pure ε, ρ and μ."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import definitions as d
import pytest
from mpmath import mp, mpf

import tightrope as tr
from tightrope.accounting.facts import fact
from tightrope.curves.loss import Loss
from tightrope.numerics.balls import ball, lower_float, precision, upper_float
from tightrope.numerics.bound import Bound

F = Fraction


def table(p, q):
    return tr.Table(p, q), d.Atoms(p, q)


THIRDS = (["1/3", "1/3", "1/3"], ["1/6", "1/3", "1/2"])
SKEWED = (["0.7", "0.2", "0.05", "0.05"], ["0.4", "0.1", "0.3", "0.2"])
HOLES = (["0.5", "0.3", "0.2", "0"], ["0.4", "0.35", "0", "0.25"])

# leaf -> the pair it stands for, first with the record
LEAVES = [
    (tr.Gaussian(1), d.normals(1, 1, 0, 1)),
    (tr.Gaussian("2.5", sensitivity=2), d.normals(2, "2.5", 0, "2.5")),
    (tr.Gaussian("0.4"), d.normals(1, "0.4", 0, "0.4")),
    (tr.Laplace(1), d.laplaces(1)),
    (tr.Laplace(2, sensitivity=5), d.laplaces("2.5")),
    (tr.Laplace(10), d.laplaces("0.1")),
    (tr.DiscreteLaplace(2, 3), d.discrete_laplaces(2, 3)),
    (tr.DiscreteLaplace("0.7"), d.discrete_laplaces("0.7", 1)),
    (tr.DiscreteLaplace(3, 4), d.discrete_laplaces(3, 4)),
    (tr.DiscreteGaussian(2), d.discrete_normals(4, 1)),
    (tr.DiscreteGaussian("0.5"), d.discrete_normals("0.25", 1)),
    (tr.DiscreteGaussian("1.5", 3), d.discrete_normals("2.25", 3)),
    (tr.RandomizedResponse(1), d.response(1)),
    (tr.RandomizedResponse("0.5", k=3), d.response("0.5", 3)),
    (tr.RandomizedResponse(1, k=4), d.response(1, 4)),
    (tr.RandomizedResponse("0.5", k=10), d.response("0.5", 10)),
    (tr.RandomizedResponse(p="0.75"), d.Atoms(["0.75", "0.25"], ["0.25", "0.75"])),
    (tr.RandomizedResponse(p="0.1", k=3), d.Atoms(["0.1", "0.45", "0.45"], ["0.45", "0.1", "0.45"])),
    (tr.LeakyInput("0.1"), d.leaky(0, "0.1")),
    (tr.LeakyRandomizedResponse(1, "0.001"), d.leaky(1, "0.001")),
    (tr.GaussianPair(1, "1.1", 0, 1), d.normals(1, "1.1", 0, 1)),
    (tr.GaussianPair(0, 1, "0.5", "1.5"), d.normals(0, 1, "0.5", "1.5")),
    (tr.GaussianPair(2, "0.7", 1, "0.7"), d.normals(2, "0.7", 1, "0.7")),
    (tr.Staircase(1), d.staircase(1)),
    (tr.Staircase(2, "0.7"), d.staircase(2, "0.7")),
    table(*THIRDS),
    table(*SKEWED),
    table(*HOLES),
]
IDS = [str(leaf) for leaf, _ in LEAVES]
each_leaf = pytest.mark.parametrize(("leaf", "truth"), LEAVES, ids=IDS)
SKEWED_TOO = (tr.GaussianPair, tr.Table)


def directions(leaf, truth):
    """The truth in both directions; most leaves are symmetric."""
    return [truth, truth.reverse()] if isinstance(leaf, SKEWED_TOO) else [truth]


def worst(leaf, truth, ask):
    return max(ask(one) for one in directions(leaf, truth))


def bounded(value):
    with precision(160):
        return Bound(lower_float(value), upper_float(value))


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@each_leaf
@pytest.mark.parametrize("epsilon", ["0", "0.05", "0.6", "1.9"])
def test_profile(leaf, truth, epsilon):
    claim = tr.delta(leaf, epsilon)
    assert d.encloses(claim, worst(leaf, truth, lambda t: t.hockey(epsilon)))
    assert claim.tight
    assert d.tight(claim)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@each_leaf
def test_profile_below_zero_in_each_direction(leaf, truth):
    for parts, one in zip(fact(leaf, Loss).curve.directions, directions(leaf, truth), strict=False):
        for x in (F(-7, 10), F(9, 100)):
            with precision(160):
                found = bounded(parts[0][0].call(ball(x)))
            assert d.encloses(found, one.hockey(x))
            assert d.tight(found)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@each_leaf
@pytest.mark.parametrize("order", ["1.05", "2.5", "9"])
def test_renyi(leaf, truth, order):
    claim = tr.renyi(leaf, order)
    expected = worst(leaf, truth, lambda t: t.renyi(order))
    assert d.encloses(claim, expected)
    assert claim.tight
    assert d.tight(claim)


LEAF_FIRST = dict(LEAVES)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@each_leaf
@pytest.mark.parametrize("fpr", ["0.02", "0.3", "0.8"])
def test_tradeoff(leaf, truth, fpr):
    if isinstance(truth, d.Densities) and fpr != "0.3":
        return  # one threshold by quadrature is enough
    claim = tr.tradeoff(leaf, fpr)
    expected = min(t.missed(fpr) for t in directions(leaf, truth))
    assert d.encloses(claim, expected, 1e-11)
    assert d.tight(claim, 1e-8)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@each_leaf
def test_tail_of_the_loss(leaf, truth):
    """P[L > x]; at x not itself an atom."""
    for parts, one in zip(fact(leaf, Loss).curve.directions, directions(leaf, truth), strict=False):
        assert len(parts) == 1
        for x in (F(-81, 100), F(7, 100), F(63, 100)):
            with precision(160):
                found = bounded(parts[0][0].tail(ball(x)))
            assert d.encloses(found, one.tail(x))
            assert d.tight(found)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@each_leaf
def test_mean_of_the_loss(leaf, truth):
    for parts, one in zip(fact(leaf, Loss).curve.directions, directions(leaf, truth), strict=False):
        with precision(160):
            mean = parts[0][0].mean()
            found = bounded(mean)
        assert d.encloses(found, one.mean())


@each_leaf
def test_pure(leaf, truth):
    claim = tr.pure(leaf)
    if isinstance(truth, d.Atoms) and not isinstance(leaf, tr.DiscreteGaussian):
        # truncated tails put mass where the other side has none; the loss there is that of their last atoms
        expected = _largest(leaf, truth)
        assert d.encloses(claim, expected)
        assert d.tight(claim)
    elif isinstance(leaf, tr.Laplace):
        assert d.encloses(claim, d.number(leaf.sensitivity / leaf.scale))
    else:
        assert claim.lower == math.inf or isinstance(leaf, tr.GaussianPair)
    assert claim.tight


def _largest(leaf, truth):
    if isinstance(leaf, tr.DiscreteLaplace | tr.Staircase):
        inner = [(p, q) for p, q in zip(truth.p, truth.q, strict=True) if min(p, q) > mpf(10) ** -12]
        return max(mp.log(p / q) for p, q in inner)
    return worst(leaf, truth, lambda t: t.largest())


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@each_leaf
def test_zcdp_is_never_below_the_ratio_of_any_order(leaf, truth):
    claim = tr.zcdp(leaf)
    orders = ["1.0001", "1.5", "2", "4", "6", "16", "64"]
    ratios = [one.renyi(order) / d.number(order) for one in directions(leaf, truth) for order in orders]
    assert claim.upper >= max(ratios) * (1 - mpf(10) ** -12)
    if mp.isinf(max(ratios)):
        assert claim.upper == math.inf
    elif claim.tight:
        mean = worst(leaf, truth, lambda t: t.mean())
        assert claim.lower <= max(mean, *ratios) * (1 + mpf(10) ** -2)  # the grid comes close to the supremum


TIGHT_RHO = [  # leaves whose least ρ is known to be the mean loss
    leaf for leaf, _ in LEAVES if isinstance(leaf, tr.Laplace | tr.DiscreteLaplace | tr.Gaussian | tr.DiscreteGaussian)
] + [tr.RandomizedResponse(1), tr.RandomizedResponse(1, k=4), tr.RandomizedResponse("0.5", k=3)]


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("leaf", TIGHT_RHO, ids=str)
def test_zcdp_equals_the_mean_loss_where_that_is_a_theorem(leaf):
    claim = tr.zcdp(leaf)
    assert d.encloses(claim, LEAF_FIRST[leaf].mean())
    assert claim.tight
    assert d.tight(claim)


def test_zcdp_of_ten_way_response_is_a_supremum_inside():
    truth, claim = d.response("0.5", 10), tr.zcdp(tr.RandomizedResponse("0.5", k=10))
    best = max(truth.renyi(a) / a for a in (mpf(5) + mpf(k) / 50 for k in range(100)))
    assert claim.lower <= best * (1 + mpf(10) ** -6)
    assert claim.upper >= best
    assert best > truth.mean() * mpf("1.05")


GDP = [leaf for leaf, _ in LEAVES if not isinstance(leaf, tr.GaussianPair | tr.DiscreteGaussian)]


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("leaf", GDP, ids=str)
def test_gdp_is_where_the_gaussian_tradeoff_first_touches(leaf):
    """μ ≥ Φ⁻¹(1−a) − Φ⁻¹(f(a)) for every false-positive rate a, with equality at the worst one."""
    claim = tr.gdp(leaf)
    truth = LEAF_FIRST[leaf]
    if isinstance(truth, d.Densities):  # these touch where both errors are equal: the test L > 0
        needed = _mu(truth.null(0), 1 - truth.tail(0))
    else:
        needed = max(_mu(a, missed) for a, missed in _knots(truth))
    assert claim.upper >= needed * (1 - mpf(10) ** -11)
    if claim.tight:
        assert claim.lower <= needed * (1 + mpf(10) ** -11)


def _mu(fpr, missed):
    if fpr <= 0 or missed >= 1:
        return mp.inf if 0 < missed < 1 or fpr > 0 > missed - 1 else mpf(0)
    if missed <= mpf(10) ** -25:
        return mp.inf if fpr < 1 - mpf(10) ** -20 else mpf(0)
    return _quantile(1 - fpr) - _quantile(missed)


def _quantile(p):
    return mp.sqrt(2) * mp.erfinv(2 * p - 1)


def _knots(truth):
    """The corners of the trade-off polygon, and 0, where a leak shows."""
    ranked = sorted(zip(truth.p, truth.q, strict=True), key=lambda c: -(c[0] / c[1] if c[1] else mp.inf))
    spent = list(itertools.accumulate(q for _, q in ranked))
    missed = [1 - caught for caught in itertools.accumulate(p for p, _ in ranked)]
    corners = [(a, f) for a, f in zip(spent, missed, strict=True) if min(a, f) > mpf(10) ** -12]
    return corners if truth.largest() < 400 else [(mpf(0), truth.missed(0))]


@pytest.mark.parametrize(
    ("p", "q"),
    [(["0.5", "0.5", "0"], ["0.3", "0.3", "0.4"]), (["0.6", "0.4", "0"], ["0.3", "0.3", "0.4"])],
)
def test_gdp_of_a_table_that_leaks_in_the_other_direction_only(p, q):
    """An outcome of the data without the record proves its absence: no Gaussian trade-off is below that."""
    for one in (tr.Table(p, q), tr.Table(q, p)):
        assert tr.gdp(one).upper == math.inf
        assert tr.gdp(one).lower == math.inf


def test_several_coordinates_of_a_discrete_gaussian_multiply():
    one = d.discrete_normals(4, 1)
    both = d.Atoms(one.p, one.q).power(2)
    claim = tr.delta(tr.DiscreteGaussian(2, coordinates=2), "0.5")
    assert d.encloses(claim, both.hockey("0.5"))
    assert d.encloses(tr.renyi(tr.DiscreteGaussian(2, coordinates=2), 3), 2 * one.renyi(3))


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("shift", ["0.2", "0.5", "0.9"])
def test_smaller_shifts_of_staircase_noise_are_dominated(shift):
    for x in ("0", "0.3", "0.8"):
        assert d.staircase(1, None, shift).hockey(x) <= tr.delta(tr.Staircase(1), x).upper + mpf(10) ** -15


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("leaf", [tr.Pure(1), tr.Approx(1, 0), tr.Approx(1, "0.01"), tr.GDP("0.7")], ids=str)
def test_stated_guarantees_cost_what_their_worst_mechanism_costs(leaf):
    truth = {"pure": d.response(1), "gdp": d.normals("0.7", 1, 0, 1)}.get(
        leaf.text_name, d.leaky(1, getattr(leaf, "delta", 0))
    )
    for x in ("0", "0.4", "1.5"):
        claim = tr.delta(leaf, x)
        assert d.encloses(claim, truth.hockey(x))
        assert claim.tight
    assert d.encloses(tr.tradeoff(leaf, "0.2"), truth.missed("0.2"), 1e-11)


@pytest.mark.parametrize("epsilon", ["0.05", "1", "4"])
def test_pure_is_gaussian_with_the_mu_that_touches_at_the_middle_knot(epsilon):
    knot = 1 / (1 + mp.exp(d.number(epsilon)))
    assert d.encloses(tr.gdp(tr.Pure(epsilon)), -2 * _quantile(knot), 1e-12)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("epsilon", ["1", "4"])
def test_laplace_is_gaussian_with_the_mu_that_touches_at_the_middle(epsilon):
    truth = d.laplaces(epsilon)
    middle = mp.exp(-d.number(epsilon) / 2) / 2
    assert abs(truth.missed(middle) - middle) < mpf(10) ** -11
    claim = tr.gdp(tr.Laplace(1, epsilon))
    for a in (middle / 3, middle, (1 + middle) / 2):
        assert claim.upper >= _mu(a, truth.missed(a)) - mpf(10) ** -10
    assert d.encloses(claim, _mu(middle, middle), 1e-11)
