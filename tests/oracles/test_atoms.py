"""Sums of losses that do not decay: doubles with proved errors, and the blurred contour."""

from fractions import Fraction
from itertools import product

import mpmath as mp
import numpy as np
import pytest

import tightrope as tr
from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ball, precision
from tightrope.numerics.contour.blurred import BlurPlan, BlurredSum
from tightrope.numerics.contour.blurred_proof import BlurredProof
from tightrope.numerics.contour.floats import saddle_start
from tightrope.numerics.real import ZERO, real
from tightrope.numerics.sums.finite import FiniteLaw, FiniteSum
from tightrope.numerics.sums.laplace import laplace_call
from tightrope.numerics.transforms.closed import LaplaceTransform, NormalTransform
from tightrope.numerics.transforms.finite import FiniteTransform
from tightrope.numerics.transforms.float_lines import Phases, bell, block_sum, exponential_sums, rounded
from tightrope.numerics.transforms.transform import Transform

F = Fraction


def law(values, masses, infinite=0):
    """Rational values that are not told to share a lattice."""
    return FiniteLaw(tuple(real(F(v)) for v in values), tuple(real(F(m)) for m in masses), real(F(infinite)))


THREE = law(["0.31", "-0.07", "-0.2939"], ["0.5", "0.3", "0.2"])
LEAKY = law(["0.25", "-0.1"], ["0.6", "0.3999"], "0.0001")
SPARSE = law(["1.7", "-0.4"], ["0.1", "0.9"])


def test_doubles_stay_within_their_errors():
    with precision(128):
        angles = [ball(F("0.731")), ball(F("-2.0003")), ball(F("41.7"))]
        weights = [ball(F("0.2")), ball(F("0.5")), ball(F("0.3"))]
    values, error = exponential_sums(weights, angles, 70_000)
    mp.mp.dps = 30
    exact = mp.mpf("0.731"), mp.mpf("-2.0003"), mp.mpf("41.7")
    assert len(values) == 70_001
    for k in (0, 1, 2, 999, 4097, 69_999, 70_000):
        truth = sum(mp.mpf(w) * mp.expj(k * a) for w, a in zip(("0.2", "0.5", "0.3"), exact, strict=True))
        assert abs(complex(truth) - values[k]) <= float(error) < 1e-14
    phases = Phases(angles[0], 70_000)
    assert np.array_equal(phases.at(np.array([5, 70_000])), phases.all()[[5, 70_000]])
    with precision(128):
        curve, relative = bell(ball(F(1, 10**8)), 70_000)
    for k in (0, 1, 263, 264, 265, 70_000):
        truth = mp.exp(-(mp.mpf(k) ** 2) / 10**8)
        assert abs(mp.mpf(curve[k]) - truth) <= truth * float(relative)
    with pytest.raises(NotCertified):
        bell(Ball(1), 100)
    with pytest.raises(NotCertified):
        rounded(Ball(1, 0.1))
    total, share = block_sum(np.full(100_000, 0.1))
    assert abs(total.real - 10_000) <= float(share) * 10_000 < 1e-8
    assert block_sum(np.array([]))[0] == 0


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(
    ("parts", "x"),
    [
        ([(THREE, 20)], 2.5),
        ([(THREE, 3)], 0.2),
        ([(THREE, 3)], 0.5501),
        ([(THREE, 12), (LEAKY, 30)], 4.0),
        ([(SPARSE, 9)], 3.0),
        ([(SPARSE, 9)], -3.3),
        ([(THREE, 40), (SPARSE, 2)], 6.0),
    ],
)
def test_atoms_agree_with_the_listed_sum(parts, x):
    blurred = BlurredSum([(FiniteTransform(one), n) for one, n in parts])
    with precision(200):
        truth = FiniteSum(parts).call(Ball(x))
    value = blurred.call(Ball(x), blurred.plan(x, 1e-8))
    assert value.lower() <= truth <= value.upper()
    assert value.rad() < 1e-6 * truth
    assert abs(blurred.estimate(x) - float(truth.log())) < 1e-3
    wide = blurred.call(Ball(x, 1e-3), blurred.plan(x, 1e-8))
    assert wide.lower() < truth < wide.upper()


def test_any_plan_is_valid():
    """Tilts, steps, lattices and numbers of nodes chosen at random enclose the truth, however widely."""
    blurred = BlurredSum([(FiniteTransform(THREE), 20)])
    x = Ball(2.5)
    with precision(200):
        truth = FiniteSum([(THREE, 20)]).call(x)
    tried = 0
    for t, eta, points, share in product((F(1, 4), F(3), F(40)), (F(1, 8), F(1)), (16, 500, 7001), (1, 4)):
        try:
            value = blurred.call(x, BlurPlan(t, eta, points // share - 1, points))
        except NotCertified:  # too coarse a lattice
            assert (t + 1) * 6 / (eta * points) > 1
            continue
        tried += 1
        assert value.lower() <= truth <= value.upper()
    assert tried > 20


def test_an_atom_at_x_costs_the_first_order():
    blurred = BlurredSum([(FiniteTransform(THREE), 3)])
    with precision(200):
        truth = FiniteSum([(THREE, 3)]).call(Ball(0.55))  # 2·0.31 − 0.07, nearly
    value = blurred.call(Ball(0.55), blurred.plan(0.55))
    assert value.lower() <= truth <= value.upper()
    assert value.rad() < 1e-4 * truth


@pytest.mark.parametrize(
    "plan", [BlurPlan(F(0), F(1), 9, 99), BlurPlan(F(1), F(0), 9, 99), BlurPlan(F(1), F(1), 0, 99),
             BlurPlan(F(1), F(1), 9, 9), BlurPlan(F(1), F(1), 4, 5), BlurPlan(F(1), F(1), 10**9, 10**10),
             BlurPlan(F(1), F(1), 9, 10**15)]
)  # fmt: skip
def test_void_plans_are_refused(plan):
    with pytest.raises(NotCertified):
        BlurredSum([(FiniteTransform(THREE), 20)]).call(Ball(1), plan)


def test_many_copies_are_evaluated_in_balls():
    """10⁷ copies of a law on a lattice, of which only the blurred sum is not told."""
    steps, masses = (3, -2, -1), ("0.3", "0.3", "0.4")
    told = FiniteLaw(
        tuple(real(F(s, 2000)) for s in steps), tuple(real(F(m)) for m in masses), ZERO, real(F(1, 2000)), steps
    )
    number = 10**7
    with precision(200):
        x = Ball(-490)
        truth = FiniteSum([(told, number)]).call(x)
    blurred = BlurredSum([(FiniteTransform(told), number)])
    value = blurred.call(x, blurred.plan(-490.0))
    assert value.lower() <= truth <= value.upper()
    assert value.rad() < 1e-5 * truth


def test_beyond_the_largest_loss_only_the_leak_is_left():
    blurred = BlurredSum([(FiniteTransform(LEAKY), 4)])
    assert blurred.estimate(1.5) == pytest.approx(np.log(1 - 0.9999**4))
    value = blurred.call(Ball(1.5), blurred.plan(1.5))
    with precision(80):
        assert value.overlaps(blurred.infinite())
    assert blurred.root(-20.0) == np.inf
    assert blurred.root(0.0) == -np.inf
    unbounded = BlurredSum([(FiniteTransform(THREE), 2), (NormalTransform(real(F(1))), 0)])
    assert unbounded.chernoff(0.1)[1] > 0
    proof = BlurredProof(blurred._parts, blurred._saddles, blurred.plan(0.3))
    assert proof.call(Ball("nan")).contains(0.5)


def test_parts_without_doubles_are_refused():
    class Silent(NormalTransform):
        float_nodes, few_nodes, node_cost = Transform.float_nodes, Transform.few_nodes, Transform.node_cost

    blurred = BlurredSum([(Silent(real(F(1))), 1)])
    with pytest.raises(NotCertified):
        blurred.plan(1.0)
    with pytest.raises(NotCertified):
        BlurredProof(blurred._parts, blurred._saddles, BlurPlan(F(1), F(1), 9, 99))


@pytest.mark.parametrize(
    ("scale", "copies", "x"), [(F(1), 2, 1.5), (F(1), 10, 3.3), (F(1, 10), 401, 9.0), (F(3), 4, 11.9)]
)
def test_laplace_agrees_with_its_residues(scale, copies, x):
    blurred = BlurredSum([(LaplaceTransform(scale), copies)])
    value = blurred.call(Ball(x), blurred.plan(x, 1e-8))
    with precision(200):
        if copies <= 400:
            truth = laplace_call(scale, copies, Ball(x))
            assert value.lower() <= truth <= value.upper()
    assert value.rad() < 1e-6 * value.upper()


def test_fewer_nodes_are_tried_where_a_part_has_not_so_many():
    """Parts may have no nodes far out: then the lattice is coarser, and at last there is none."""

    class Near(FiniteTransform):
        most = 10**9

        def float_nodes(self, t, eta, count, floor):
            return super().float_nodes(t, eta, count, floor) if count <= self.most else None

    part = Near(THREE)
    blurred = BlurredSum([(part, 20)])
    fine = blurred.plan(2.5, 1e-8)
    part.most = fine.count - 1
    again = BlurredSum([(part, 20)])
    coarse = again.plan(2.5, 1e-8)
    assert coarse.points < fine.points
    assert again.call(Ball(2.5), coarse).overlaps(blurred.call(Ball(2.5), fine))
    part.most = again._rough[2].plan.count
    with pytest.raises(NotCertified):
        BlurredSum([(part, 20)]).plan(2.5, 1e-12)


def test_two_laplace_scales_by_quadrature():
    """δ(x) = E δ₂(x − L₁) over the atoms and the density of L₁."""
    mp.mp.dps = 25
    first, second, x = mp.mpf(1), mp.mpf(1) / 3, mp.mpf("0.5")

    def one(e0, at):
        return max(0, 1 - mp.exp((at - e0) / 2)) if at >= -e0 else 1 - mp.exp(at)

    cuts = sorted({-first, first, x - second, x + second, *[c for c in (x,) if -first < c < first]})
    cuts = [c for c in cuts if -first <= c <= first]
    smooth = mp.quad(lambda v: mp.exp(-(first - v) / 2) / 4 * one(second, x - v), cuts)
    truth = one(second, x - first) / 2 + mp.exp(-first) / 2 * one(second, x + first) + smooth
    found = tr.delta(tr.Laplace(1) + tr.Laplace(3), epsilon="0.5")
    assert found.tight
    assert found.lower <= truth <= found.upper
    assert found.upper - found.lower < 1e-7 * truth


def test_starts_of_searches():
    parts = [(FiniteTransform(LEAKY), 30)]
    x, slope = saddle_start(parts, F("0.01"))
    assert 0 < x < 30 * 0.25
    assert slope < 0
    assert saddle_start(parts, F("1e-9")) is None
