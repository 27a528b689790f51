"""Transforms in doubles at all nodes: glued normal and exchanged Laplace losses, and transforms that fall to 0."""

from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from flint import acb, arb, ctx
from quick_numbers import flint, integral

import tightrope as tr
from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, precision
from tightrope.numerics.real import real
from tightrope.numerics.transforms.closed import NormalTransform
from tightrope.numerics.transforms.falling_nodes import falling_nodes
from tightrope.numerics.transforms.float_lines import Phases, powers_of
from tightrope.numerics.transforms.glued import GluedNormalTransform
from tightrope.numerics.transforms.glued_far import FarGlued, _Choice
from tightrope.numerics.transforms.near_and_far import near_and_far
from tightrope.numerics.transforms.replace import ReplaceSampledNormalTransform
from tightrope.numerics.transforms.sampled import SampledNormalTransform
from tightrope.numerics.transforms.sampled_panels import _error
from tightrope.numerics.transforms.settled_nodes import Quadrature
from tightrope.numerics.transforms.symmetric_laplace import SymmetricLaplaceTransform

pytestmark = pytest.mark.no_cover  # long, and shorter ones come by the same lines

F = Fraction
ALL = Ball(-200)  # a floor that no node is below


def glued(mu, q, t, y):
    """M(t + iy) of the glued normal loss along a path that leaves the axis."""
    with ctx.workdps(35):
        mu, q, s = flint(mu), flint(q), acb(flint(t), flint(y))

        def path(power, way):
            def f(z, analytic):
                loss = (1 + q * (mu * z - mu * mu / 2).expm1()).log(analytic)
                return (power * loss - z * z / 2).exp() / (2 * arb.pi()).sqrt()

            corner = acb(mu / 2, way / mu)
            return integral(f, [mu / 2, corner, corner + 3, corner + 9, corner + 20])

        return (1 - q) * (mu / arb(8).sqrt()).erf() + path(s + 1, 1) + path(-s, -1)


def laplace(e0, q, low, t, y):
    """M(t + iy) of the symmetric loss of sampled Laplace noise."""
    with ctx.workdps(35):
        e0, q, low, s = flint(e0), flint(q), flint(low), acb(flint(t), flint(y))
        first = (q * low.expm1()).log1p()

        def f(loss, analytic=False):
            at = (1 + q * loss.expm1()).log(analytic) - first
            return ((s + 1) * at).exp() + (-s * at).exp()

        atom = (1 - q) * -(-e0 / 2).expm1() if low == 0 else 0
        smooth = integral(lambda loss, analytic: (-loss / 2).exp() * f(loss, analytic), [low, e0]) * (-e0 / 2).exp() / 4
        return atom + first.exp() * ((-e0).exp() / 2 * f(acb(e0)) + smooth)


@pytest.mark.parametrize(("mu", "q", "t"), [(F(1), F(1, 10), F(2)), (F(1, 5), F(1, 20), F(5)), (F(2), F(1, 2), F(1))])
def test_glued_normal_nodes(mu, q, t):
    transform, eta = GluedNormalTransform(real(mu), q), F(1, 2)
    nodes = transform.float_nodes(t, eta, 6000, ALL)
    assert nodes.alive.all()
    assert nodes.error < 1e-12
    size = glued(mu, q, t, 0)
    for k in (0, 3, 100, 700, 2000, 6000):
        truth = complex(glued(mu, q, t, k * eta) / size)
        assert abs(truth - nodes.values[k]) <= float(nodes.error) + 1e-15
    assert transform.float_nodes(F(-3, 4), eta, 10, ALL) is None
    assert transform.node_cost(7) < 1000


def test_a_kink_far_out_is_within_its_error():
    """Also where the error is far above rounding; without it the series would miss."""
    mu, q, t = F(1), F(1, 10), F(2)
    transform = GluedNormalTransform(real(mu), q)
    with precision(128):
        size = transform.log_real(t)
        far = FarGlued(real(mu), q, t, size, transform.atom() * (-size).exp())
        missed = []
        for y in (F(150), F(300), F(450), F(600)):
            values, error = far.nodes(y, np.array([1]))
            truth = complex(glued(mu, q, t, y) / glued(mu, q, t, 0))
            assert abs(truth - values[0]) <= error
            assert far.log_error(float(y)) == pytest.approx(float(error.log()), abs=5) or error < 1e-14
            missed.append(abs(truth - values[0]))
        assert missed[0] > 1e-10
        assert not far.nodes(F(20), np.array([1]))[1] < 1e-3


def sizes(mu, q, power, y, height, terms):
    """What a series with so many terms leaves out on the way up to i·height, and the size of what comes after, the
    integral of |h(u)e^{su}|."""
    mp.mp.dps = 30
    exact_mu, exact_q, s = mp.mpf(mu.numerator) / mu.denominator, mp.mpf(q.numerator) / q.denominator, mp.mpc(power, y)

    def slow(u):
        part = mp.expm1(u) + exact_q
        return mp.npdf(exact_mu / 2 + mp.log(part / exact_q) / exact_mu) * mp.exp(u) / (exact_mu * part)

    series = sum(c * mp.factorial(m) / (-s) ** (m + 1) for m, c in enumerate(mp.taylor(slow, 0, terms - 1)))
    with ctx.workdps(35):
        mu, q, height, s = flint(mu), flint(q), flint(height), acb(power, y)

        def h(u, analytic):
            part = u.expm1() + q
            at = mu / 2 + (part / q).log(analytic) / mu
            return (u - at * at / 2).exp() / ((2 * arb.pi()).sqrt() * mu * part)

        def size(x, analytic):  # h takes conjugate values at conjugate places
            both = h(x + acb(0, height), analytic) * h(x - acb(0, height), analytic)
            return both.sqrt(analytic) * (x * power).exp()

        up = integral(lambda u, analytic: h(u, analytic) * (u * s).exp(), [0, acb(0, height)])
        after = integral(size, [0, 1, 5, 12], 8) * (-y * height).exp()
    return abs(complex(up) - complex(series)) + float(after.real)


@pytest.mark.parametrize(("height", "terms"), [(0.01, 4), (0.02, 4), (0.03, 8)])
def test_the_error_of_a_kink_has_a_part_for_each_piece_of_the_path(height, terms):
    """Each piece by itself: the integral is far smaller, as they nearly cancel, and would not miss a part."""
    mu, q, t, y = F(1), F(1, 10), F(2), 600
    transform = GluedNormalTransform(real(mu), q)
    with precision(128):
        size = transform.log_real(t)
        far = FarGlued(real(mu), q, t, size, transform.atom() * (-size).exp())
        bound = float(far._error(Ball(y), _Choice(0.05, height, terms, 0.0)))
    left_out = sum(sizes(mu, q, power, y, height, terms) for power in (3, -2)) / float(glued(mu, q, t, 0).real)
    assert bound / 4 < left_out <= bound


def test_choices_that_prove_nothing_have_no_error():
    transform = GluedNormalTransform(real(F(1)), F(1, 10))
    with precision(128):
        size = transform.log_real(F(2))
        far = FarGlued(real(F(1)), F(1, 10), F(2), size, transform.atom() * (-size).exp())
        assert far._error(Ball(600), _Choice(0.05, 0.02, 4, 0.0)).is_finite()
        void = [_Choice(0.2, 0.02, 4, 0.0), _Choice(0.05, 0.06, 4, 0.0), _Choice(0.05, 0.02, 14, 0.0)]
        for choice in void:  # a circle around the pole, a path out of the circle, a path shorter than its terms need
            assert not far._error(Ball(600), choice).is_finite()


@pytest.mark.parametrize(("near", "beyond"), [(1e-9, 1e-12), (1e-12, 1e-9)])
def test_nodes_near_and_far_have_the_larger_error(near, beyond):
    class Far:
        def log_error(self, y):
            return -40.0 if y > 50 else 0.0

        def nodes(self, _, numbers):
            return np.zeros(len(numbers), dtype=np.complex128), Ball(beyond)

    nodes = near_and_far(lambda _: Quadrature([Ball(1)], [Ball(0)], Ball(near)), Far(), F(1), np.arange(101), ALL)
    assert nodes.values[-1] == 0
    assert nodes.error >= 1e-9


@pytest.mark.parametrize("low", [F(0), F(-1)])
@pytest.mark.parametrize("q", [F(1, 10), F(1, 2)])
def test_exchanged_laplace_nodes(low, q):
    e0, t, eta = F(1), F(3, 2), F(1, 2)
    transform = SymmetricLaplaceTransform(e0, q, low == 0)
    nodes = transform.float_nodes(t, eta, 3000, ALL)
    assert nodes.alive.all()
    assert nodes.error < 1e-12
    size = laplace(e0, q, low, t, 0)
    for k in (0, 5, 150, 900, 3000):
        truth = complex(laplace(e0, q, low, t, k * eta) / size)
        assert abs(truth - nodes.values[k]) <= float(nodes.error) + 1e-15
    some = np.array([0, 2, 77, 2999])
    few = transform.few_nodes(t, eta, some, ALL, 3000)
    assert np.abs(few.values - nodes.values[some]).max() < 1e-13
    assert transform.float_nodes(F(-1, 4), eta, 10, ALL) is None


FALLING = [
    SampledNormalTransform(real(F(1)), F(1, 10), False),
    SampledNormalTransform(real(F(1)), F(1, 10), True),
    ReplaceSampledNormalTransform(real(F(1, 2)), F(1, 5)),
    NormalTransform(real(F(1, 10**4))),
    SampledNormalTransform(real(F(1, 7)), F(1, 5000), False),  # by panels
    SampledNormalTransform(real(F(1, 7)), F(1, 5000), True),
]


@pytest.mark.parametrize("transform", FALLING)
def test_falling_transforms(transform):
    """What is kept is as exact as it says, and what is not is below the floor."""
    t, eta = F(2), F(1, 4) if transform not in FALLING[4:] else F(8)
    for floor in (-30.0, -2.0, -0.1):
        nodes = transform.float_nodes(t, eta, 3000, Ball(floor))
        kept = int(nodes.alive.sum())
        assert nodes.alive[:kept].all()
        with precision(80):
            line = transform.line(t, eta, min(2 * kept, 1200))[1]
        exact = np.array([complex(float(b.real.mid()), float(b.imag.mid())) for b in line])
        near = min(kept, len(exact))
        assert np.abs(exact[:near] - nodes.values[:near]).max() <= float(nodes.error) + 1e-15
        assert (np.abs(exact[kept:]) <= np.exp(floor)).all()
    with precision(64):
        long = transform.float_nodes(t, F(1, 10**6), 10**4, Ball(-1))
    assert long is None or abs(long.values[-1]) > 0.9


class DearNormal(NormalTransform):
    def cost(self, *_):
        return 1e9


def test_out_of_reach():
    assert GluedNormalTransform(real(F(3)), F(1, 100)).float_nodes(F(1), F(1, 5), 200_000, ALL) is None
    assert NormalTransform(real(F(1, 10**12))).float_nodes(F(5), F(1), 10**6, Ball(-1)) is None
    assert SampledNormalTransform(real(F(9)), F(1, 100), True).float_nodes(F(5), F(1), 5 * 10**6, ALL) is None

    class Nothing:
        def log_error(self, y):
            return 0.0 * y

        def nodes(self, *_):
            raise AssertionError("it serves nowhere")

    def rule(_):
        raise NotCertified("a test", "it always fails")

    assert near_and_far(rule, Nothing(), F(1), np.arange(101), ALL) is None

    def long(_):
        return Quadrature([Ball(1)] * 10**4, [Ball(0)] * 10**4, Ball(0))

    assert near_and_far(long, Nothing(), F(1), np.arange(10**5), ALL) is None
    normal = NormalTransform(real(F(1)))
    assert falling_nodes(normal, lambda *_: long(0), F(1), F(1, 10**5), np.arange(10**5), ALL) is None
    with precision(64), pytest.raises(NotCertified):
        _error(Ball(3), Ball(0.1), F(1), Ball(1), (Ball(0), Ball(0.5)), Ball(2), 8, Ball(0))
    assert DearNormal(real(F(1))).float_nodes(F(1), F(1, 100), 400, ALL) is None


@pytest.mark.parametrize(
    ("text", "delta", "epsilon"),
    [
        ("gaussian(sigma=0.773).without_replacement(24,275)*17 + pure(epsilon=1.01).without_replacement(172,2159)*1365",
         "9.61e-18", 38.7441836),
        ("laplace(scale=2.83).without_replacement(1,636)*5 + pure(epsilon=0.141).without_replacement(399,11619)*10772",
         "1.23e-30", None),
    ],
)  # fmt: skip
def test_few_fixed_size_steps_beside_many_atoms(text, delta, epsilon):
    claim = tr.epsilon(tr.parse(text), delta)
    assert claim.witness["way"] == "blurred"
    assert 1 - claim.computed.lower / claim.computed.upper < 1e-9
    assert epsilon is None or claim.computed.upper == pytest.approx(epsilon, rel=1e-8)
    assert tr.check(claim.to_json())


def test_phases_and_powers_in_blocks():
    """All places between two, or some of them; and Horner's rule in blocks as it is at once."""
    phases = Phases(Ball(0.375), 20_000)
    whole = phases.all()
    some = [np.array(row) for row in ([3], [0, 5, 9, 20_000], [4, 6, 5, 7])]
    for numbers in (np.arange(20_001), np.arange(777, 15_111), *some):
        assert np.array_equal(phases.at(numbers), whole[numbers])
    ratio = 0.9 / (1.3 + 1j * np.linspace(0, 50, 9001))
    coefficients = [Ball(k % 5 - 2) / 2**k for k in range(12)]
    direct = sum(float(c.mid()) * ratio ** (m + 1) for m, c in enumerate(coefficients))
    assert np.abs(powers_of(ratio, coefficients) - direct).max() < 1e-14
