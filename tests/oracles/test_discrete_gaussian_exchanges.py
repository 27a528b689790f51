"""Exchanged records with discrete Gaussian noise: the law against sums over the integers, alone and composed."""

from __future__ import annotations

import cmath
from fractions import Fraction
from functools import cache

import definitions as d
import numpy as np
import pytest
from mpmath import mp, mpf

import tightrope as tr
from tightrope.accounting.facts import fact
from tightrope.curves.loss import Loss
from tightrope.errors import NotCertified
from tightrope.mechanisms.discrete_gaussian import DiscreteNormalPair
from tightrope.mechanisms.discrete_gaussian_exchange import DiscreteGaussianExchange
from tightrope.numerics.balls import Ball, ball, lower_float, precision, upper_float
from tightrope.numerics.discrete_exchange import exchange_thresholds, mass_at_zero
from tightrope.numerics.grid.discrete_normal_exchanges import ExchangedDiscreteNormalCells
from tightrope.numerics.real import Real
from tightrope.numerics.remembered import remembered
from tightrope.numerics.transforms.exchanged_discrete import ExchangedDiscreteNormalTransform
from tightrope.numerics.transforms.mixture import MixtureTransform

F = Fraction
CASES = [(F(9), 1, F(1, 10)), (F(1, 2), 1, F(1, 3)), (F(25), 4, F(3, 4)), (F(4), 3, F(1, 100)), (F(40), 5, F(99, 100))]


@cache
def noise(variance):
    masses = {k: mp.exp(-mpf(k * k) / (2 * d.number(variance))) for k in range(-300, 301)}
    total = mp.fsum(masses.values())
    return lambda k: masses.get(k, mpf(0)) / total


@cache
def law(variance, shift, rate, glued):
    """Pairs (p, q) of probabilities, from the definitions."""
    g, r = noise(variance), d.number(rate)
    span = range(-100, 101)
    if not glued:
        return d.Atoms(
            [(1 - r) * g(k) + r * g(k - shift) for k in span], [(1 - r) * g(k) + r * g(k + shift) for k in span]
        )
    above = [k for k in span if 2 * k > shift]
    over, under = [(1 - r) * g(k) + r * g(k - shift) for k in above], [g(k) for k in above]
    rest = 1 - mp.fsum(over) - mp.fsum(under)
    return d.Atoms([*over, *under, rest], [*under, *over, rest])


def losses(truth):
    return [(mp.log(p / q), p) for p, q in zip(truth.p, truth.q, strict=True) if p > mpf(10) ** -300]


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("glued", [True, False])
@pytest.mark.parametrize(("variance", "shift", "rate"), CASES)
def test_the_transform(variance, shift, rate, glued):
    atoms = losses(law(variance, shift, rate, glued))
    transform = ExchangedDiscreteNormalTransform(variance, shift, rate, glued)

    def moment(s):
        return mp.fsum(p * mp.exp(s * x) for x, p in atoms)

    with precision(80):
        assert abs(d.number(F(float(mass_at_zero(variance, shift, rate, glued).mid()))) - _zero(atoms)) < 1e-15
        for t in (F(1, 3), F(3), F(-1, 2), F(-3, 4), F(-3), F(0), F(-1)):
            value, truth = transform.log_real(t), mp.log(moment(d.number(t)))
            assert abs(mpf(value.mid().str(30, radius=False)) - truth) < mpf(10) ** -18
            assert float(value.rad()) < 1e-20
            assert abs(float(transform.log_floats([float(t)])[0]) - truth) < 1e-12 * (1 + abs(truth))
        t, eta = F(3, 2), F(1, 5)
        _, phi = transform.line(t, eta, 6)
        some = transform.at(t, eta, [0, 5])
        nodes = transform.float_nodes(t, eta, 6, Ball(-100))
    _, floats = transform.float_line(1.5, 0.2, 6)
    for k in range(7):
        truth = complex(moment(mp.mpc(1.5, k * mpf(1) / 5)) / moment(mpf(1.5)))
        assert abs(complex(float(phi[k].real), float(phi[k].imag)) - truth) < 1e-14
        assert abs(nodes.values[k] - truth) <= float(nodes.error)
        assert abs(cmath.exp(complex(floats[k])) - truth) < 1e-12
    assert float(nodes.error) < 1e-12
    assert abs(complex(float(some[1].real), float(some[1].imag)) - complex(nodes.values[5])) < 1e-12
    assert transform.largest() is None
    assert float(transform.log_floats([1e6])[0]) == float("inf")


def _zero(atoms):
    return mp.fsum(p for x, p in atoms if abs(x) < mpf(10) ** -25)


def test_windows_that_would_be_too_long():
    with pytest.raises(NotCertified):
        ExchangedDiscreteNormalTransform(F(10**6), 1, F(1, 2), glued=True)
    with pytest.raises(NotCertified):
        ExchangedDiscreteNormalTransform(F(9), 1, F(1, 2), glued=True).log_real(F(10**5))
    for variance in (F(1, 10**4), F(10**12)):
        with pytest.raises(NotCertified):
            ExchangedDiscreteNormalCells(variance, 1, F(1, 2), glued=False)


@pytest.mark.parametrize(("variance", "shift", "rate"), CASES)
def test_the_exchanged_pair(variance, shift, rate):
    truth, pair = law(variance, shift, rate, False), DiscreteGaussianExchange(variance, shift, rate)
    with precision(100):
        for x in (-2.0, -0.3, 0.0, 1e-3, 0.05, 0.4, 2.5):
            for value, expected in ((pair.call(Ball(x)), truth.hockey(F(x))), (pair.tail(Ball(x)), truth.tail(F(x)))):
                assert abs(mpf(value.mid().str(40, radius=False)) - expected) < mpf(10) ** -22
        wide = Ball(0.3, 0.01)
        assert pair.call(wide).contains(pair.call(Ball(0.3)).mid())
        assert pair.tail(Ball(0, 0.1)).contains(0.5)
        assert pair.call(Ball("inf")) == 0
        assert pair.tail(Ball("inf")) == 0
        assert pair.call(Ball("nan")).contains(1)
    assert pair.largest().infinite
    assert pair.mean() is None


def test_an_atom_that_cannot_be_told_from_x():
    """At the loss of k = 2 itself the least k above is 2 or 3: both are tried, and the call does not care."""
    pair = DiscreteGaussianExchange(F(9), 1, F(1, 10))
    with precision(100):
        q, step = ball(F(1, 10)), ball(F(1, 9))
        up, down = (1 + q * (step * (k - 0.5)).expm1() for k in (2, -2))
        x = (up / down).log()
        assert len(exchange_thresholds(F(9), 1, F(1, 10), x)) == 2
        assert pair.call(x).rad() < Ball(10) ** -20
        jump = pair.tail(x)
        assert 0.05 < upper_float(jump) - lower_float(jump) < 0.2


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("glued", [True, False])
@pytest.mark.parametrize(("variance", "shift", "rate"), [*CASES, (F(1, 4), 4, F(1, 100)), (F(2), 11, F(1, 50))])
def test_the_cells(variance, shift, rate, glued):
    cells = ExchangedDiscreteNormalCells(variance, shift, rate, glued)
    edges = np.sort(np.concatenate([np.linspace(-3, 3, 301), [1e-9, -1e-9]]))
    found = cells.cells(edges)
    p, q = [mpf(0)] * (len(edges) + 1), [mpf(0)] * (len(edges) + 1)
    for x, mass in losses(law(variance, shift, rate, glued)):
        if abs(x) > mpf(10) ** -25:
            i = int(np.searchsorted(edges, float(x)))
            p[i], q[i] = p[i] + mass, q[i] + mass * mp.exp(-x)
    for low, high, truth in ((found.p_low, found.p_high, p), (found.q_low, found.q_high, q)):
        assert all(a <= b <= c for a, b, c in zip(low, truth, high, strict=True))
        large = low > 1e-10
        assert np.all(high[large] <= low[large] * (1 + 1e-12))
    assert found.slack < 1e-12
    (zero,) = cells.atoms()
    with precision(80):
        assert abs(float(zero.mass.ball().mid()) - float(_zero(losses(law(variance, shift, rate, glued))))) < 1e-15


def test_losses_beyond_all_edges_do_not_blur_them():
    cells = ExchangedDiscreteNormalCells(F(4), 9, F(1, 1000), glued=True)
    narrow, wide = (np.linspace(-reach, reach, 101) for reach in (0.01, 60.0))
    assert 5 * cells.cells(narrow).slack < cells.cells(wide).slack
    found = cells.cells(narrow)
    truth = [mpf(0)] * 102
    for x, mass in losses(law(F(4), 9, F(1, 1000), True)):
        if abs(x) > mpf(10) ** -25:
            truth[int(np.searchsorted(narrow, float(x)))] += mass
    assert all(a <= b <= c for a, b, c in zip(found.p_low, truth, found.p_high, strict=True))


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(("sigma", "rate"), [(2, F(1, 10)), (1, F(2, 5))])
def test_poisson_under_replace(sigma, rate):
    m = tr.DiscreteGaussian(sigma).poisson(rate, relation="replace")
    truth = law(F(sigma**2), 1, rate, False)
    for x in ("0", "0.05", "0.4"):
        claim = tr.delta(m, x)
        assert claim.tight
        assert d.encloses(claim, truth.hockey(x), 1e-12)
    assert d.encloses(tr.renyi(m, 3), truth.renyi(3), 1e-9)
    for copies in (2, 3):
        claim = tr.delta(m * copies, "0.3")
        assert claim.tight
        assert d.encloses(claim, _composed(truth, copies).hockey("0.3"), 1e-5)


def _composed(truth, copies):
    """Outcomes with a chance below 10⁻¹⁶ left out."""
    pairs = [(p, q) for p, q in zip(truth.p, truth.q, strict=True) if p + q > mpf(10) ** -12]
    short = d.Atoms([p for p, _ in pairs], [q for _, q in pairs])
    return short.power(copies)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(("size", "sigma"), [(1, 2), (4, 1)])
def test_without_replacement(size, sigma):
    m = tr.DiscreteGaussian(sigma).without_replacement(size, 10)
    truth = law(F(sigma**2), 1, F(size, 10), True)
    for x in ("0.05", "0.4"):
        assert d.encloses(tr.delta(m, x), truth.hockey(x), 1e-12)
    assert d.encloses(tr.renyi(m, 3).computed, truth.renyi(3), 1e-9)
    for copies in (2, 3):
        claim = tr.delta(m * copies, "0.3")
        assert not claim.tight
        assert d.encloses(claim.computed, _composed(truth, copies).hockey("0.3"), 1e-5)


def test_a_sample_of_everything_is_twice_as_far():
    pair = fact(tr.DiscreteGaussian(3).poisson(1, relation="replace"), Loss).curve.remove[0][0]
    assert pair == DiscreteNormalPair(F(9), 2)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_wide_noise_is_answered_on_a_grid():
    m = tr.DiscreteGaussian(1000).without_replacement(10, 100) * 5
    near = tr.Gaussian(1000).without_replacement(10, 100) * 5
    mine, other = (tr.epsilon(one, "1e-9") for one in (m, near))
    assert mine.route == "exact"
    assert mine.upper == pytest.approx(other.upper, rel=1e-3)


def test_mixtures_in_doubles():
    """The nodes of a mixture are those of its parts; a light one only widens the error."""
    parts = [ExchangedDiscreteNormalTransform(F(9), j, F(1, 5), glued=True) for j in (1, 2, 3)]
    shares = [Real(F(3, 4)), Real(F(1, 5)), Real(F(1, 10**30))]
    mixture = MixtureTransform(list(zip(shares, parts, strict=True)), Real(F(1, 100)))
    t, eta = F(2), F(1, 3)
    nodes = mixture.float_nodes(t, eta, 8, Ball(-100))
    with precision(100):
        exact = mixture.at(t, eta, list(range(9)))
    assert nodes.alive.all()
    for k in range(9):
        assert abs(complex(float(exact[k].real), float(exact[k].imag)) - nodes.values[k]) <= float(nodes.error)
    assert float(nodes.error) < 1e-12
    assert mixture.node_cost(1) > sum(part.node_cost(1) for part in parts)


def test_remembered_numbers():
    asked = []

    def compute():
        asked.append(1)
        return Ball(2).sqrt()

    number = remembered(compute)
    for _ in range(3):
        for bits in (60, 100):
            with precision(bits):
                assert number.ball().rad() < Ball(2) ** (5 - bits)
    assert len(asked) == 2
    for bits in (65, 110, 128, 33, 64):  # about the same precisions
        with precision(bits):
            assert number.ball().rad() < Ball(2) ** (5 - bits)
    assert len(asked) == 2
    for bits in (180, 250, 300, 380):  # more than are kept
        with precision(bits):
            assert number.ball().rad() < Ball(2) ** (5 - bits)
    with precision(60):
        number.ball()
    assert len(asked) == 7
