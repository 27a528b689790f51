"""Samples without replacement under replace, composed: transforms against quadrature, products against the truth."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import definitions as d
import numpy as np
import pytest
from mpmath import mp, mpc, mpf

import tightrope as tr
from tightrope.accounting.facts import fact
from tightrope.curves.composed_loss import loss_has_profile
from tightrope.curves.loss import Loss
from tightrope.curves.normal_pair import NormalPair
from tightrope.curves.sampled.glued import Glued, glued_loss, only_glued_overstates
from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ball, precision
from tightrope.numerics.real import real
from tightrope.numerics.transforms.glued import GluedNormalTransform
from tightrope.numerics.transforms.glued_decay import glued_decay
from tightrope.numerics.transforms.glued_rule import Growth, Panel, panel_errors, panels
from tightrope.numerics.transforms.mixture import MixtureTransform
from tightrope.numerics.transforms.symmetric_laplace import SymmetricLaplaceTransform

F = Fraction


def normal(mu, q, s):
    """The atom and both halves of the glued law, integrated."""
    m, r = d.number(mu), d.number(q)

    def factor(z):
        return 1 - r + r * mp.exp(m * z - m * m / 2)

    atom = (1 - r) * mp.erf(m / mp.sqrt(8))
    end = (abs(mp.re(s)) + 1) * m + 12
    points = [m / 2 + (end - m / 2) * i / 12 for i in range(13)]
    with mp.workdps(17):
        return atom + mp.quad(lambda z: mp.npdf(z) * (factor(z) ** (s + 1) + factor(z) ** (-s)), points)


def laplace(e, q, s):
    """E[(dP/dQ)^s] of the mixtures with ε₀ and with −ε₀, from their densities."""
    e, q = d.number(e), d.number(q)

    def density(z, at):
        return (1 - q) * mp.exp(-abs(z)) / 2 + q * mp.exp(-abs(z - at)) / 2

    with mp.workdps(20):
        points = [-50, -20, -e - 5, -e, 0, e, e + 5, 20, 50]
        return mp.quad(lambda z: density(z, e) ** (s + 1) * density(z, -e) ** (-s), points)


def glued_laplace(e, q, s):
    """From the profile: E[e^{sL}] = M(0) + s(s+1)∫ e^{sx} δ(x) dx, the glued δ."""
    e, q = d.number(e), d.number(q)

    def above(x):
        lifted = mp.log1p(mp.expm1(x) / q)
        return q * max(1 - mp.exp((lifted - e) / 2), 0)

    top = mp.log1p(q * mp.expm1(e))
    with mp.workdps(20):
        return 1 + s * (s + 1) * mp.quad(lambda x: above(x) * (mp.exp(s * x) + mp.exp(-(s + 1) * x)), [0, top / 2, top])


CASES = [
    (GluedNormalTransform(real(1), F(1, 10)), lambda s: normal(1, F(1, 10), s), F(2), F(1, 2), 12),
    (GluedNormalTransform(real(F(1, 2)), F(1, 100)), lambda s: normal(F(1, 2), F(1, 100), s), F(30), F(9), 12),
    (GluedNormalTransform(real(2), F(3, 5)), lambda s: normal(2, F(3, 5), s), F(1, 4), F(2), 12),
    (SymmetricLaplaceTransform(F(1), F(3, 10), glued=False), lambda s: laplace(1, F(3, 10), s), F(2), F(1), 12),
    (SymmetricLaplaceTransform(F(2), F(1, 50), glued=True), lambda s: glued_laplace(2, F(1, 50), s), F(5), F(3), 12),
]
IDS = ["normal", "small rate", "large rate", "laplace exchanged", "laplace glued"]


@cache
def truth(case, k):
    _, definition, t, eta, _ = CASES[case]
    return definition(mpc(d.number(t), d.number(eta) * k))


def holds(found, value):
    with mp.workdps(25):
        gap = abs(mpf(found.mid().str(30, radius=False)) - value)
        return gap <= mpf(found.rad().str(20, radius=False)) + mpf(10) ** -15


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("case", range(len(CASES)), ids=IDS)
def test_lines_enclose_the_definition(case):
    transform, _, t, eta, count = CASES[case]
    with precision(80):
        log, phi = transform.line(t, eta, count)
        back, mirrored = transform.line(-1 - t, eta, count)
        assert transform.log_real(F(0)).is_zero()
        assert transform.mass() == transform.reverse_mass() == 1
    whole = truth(case, 0).real
    assert holds(log, mp.log(whole))
    assert log.overlaps(back)
    for k in (1, 5, count):
        value = truth(case, k) / whole
        assert holds(phi[k].real, value.real)
        assert holds(phi[k].imag, value.imag)
        assert phi[k].real.overlaps(mirrored[k].real)
        assert phi[k].imag.overlaps(-mirrored[k].imag)
        assert phi[k].real.rad() < 1e-20


@pytest.mark.parametrize("case", range(len(CASES)), ids=IDS)
def test_floats_lie_beside_the_balls(case):
    transform, _, t, eta, count = CASES[case]
    with precision(80):
        log, phi = transform.line(t, eta, count)
    found, phases = transform.float_line(float(t), float(eta), count)
    assert found == pytest.approx(float(log.mid()), rel=1e-11)
    for k in range(count + 1):
        assert complex(np.exp(phases[k])) == pytest.approx(complex(float(phi[k].real), float(phi[k].imag)), abs=1e-12)
    points = [float(t), 0.3, 1e-6, -0.4, -1 - float(t), 40.0]
    many = transform.log_floats(points)
    for point, value in zip(points, many, strict=True):
        with precision(90):
            assert value == pytest.approx(float(transform.log_real(F(point)).mid()), rel=1e-9)


@pytest.mark.parametrize("case", range(len(CASES)), ids=IDS)
def test_decays_bound_everything_beyond(case):
    transform, _, t, eta, count = CASES[case]
    whole = truth(case, 0).real
    for k in (2, 5):
        with precision(40):
            bound = float(transform.decay(t, eta * k).upper())
        assert 0 < bound <= 1
        assert bound >= max(abs(truth(case, j)) / whole for j in (k, count)) * (1 - mpf(10) ** -9)
        near = np.exp(transform.log_decay_floats(float(t), np.array([float(eta) * k])))[0]
        assert near == pytest.approx(bound, rel=1e-3)
    assert transform.decay(F(-1, 3), F(1)) == 1


def test_a_normal_decay_is_sharp_where_many_copies_need_it():
    """1 − |φ| is tiny near 0, and thousands of copies live on it: the bound keeps half of it and more."""
    transform, y = GluedNormalTransform(real(1), F(1, 100)), F(4)
    with precision(60):
        found = 1 - float(transform.decay(F(2), y).upper())
        _, phi = transform.line(F(2), y, 1)
        true = 1 - float(abs(phi[1]))
    assert 0.5 * true < found < true


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_mixtures_add_what_they_mix():
    parts = [(real(F(1, 2)), CASES[0][0]), (real(F(1, 4)), GluedNormalTransform(real(2), F(1, 10)))]
    mixed = MixtureTransform(parts, real(F(1, 20)))

    definition = cache(lambda s: normal(1, F(1, 10), s) / 2 + normal(2, F(1, 10), s) / 4 + mpf(1) / 5)
    whole = definition(mpc(2)).real
    with precision(70):
        log, phi = mixed.line(F(2), F(1), 8)
        bound = mixed.decay(F(2), F(3))
        assert mixed.infinite().overlaps(ball(F(1, 20)))
        assert mixed.reverse_mass().overlaps(mixed.mass())
    assert holds(log, mp.log(whole))
    for k in (1, 8):
        assert holds(phi[k].real, (definition(mpc(2, k)) / whole).real)
        assert holds(phi[k].imag, (definition(mpc(2, k)) / whole).imag)
    found, phases = mixed.float_line(2.0, 1.0, 8)
    assert found == pytest.approx(float(log.mid()), rel=1e-12)
    assert complex(np.exp(phases[8])) == pytest.approx(complex(float(phi[8].real), float(phi[8].imag)), abs=1e-12)
    assert float(bound) >= max(abs(definition(mpc(2, y))) for y in (3, 8)) / whole
    assert np.exp(mixed.log_decay_floats(2.0, np.array([3.0])))[0] == pytest.approx(float(bound), rel=1e-3)
    assert mixed.largest() is None
    bounded = MixtureTransform([(real(F(1, 2)), CASES[3][0]), (real(F(1, 2)), CASES[4][0])])
    assert bounded.largest().overlaps(CASES[3][0].largest().max(CASES[4][0].largest()))


VECTORS = [(2, "0.4", "0.00769604553164"), (30, "1.5", "0.02467742469825137")]


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(("steps", "x", "value"), VECTORS)
def test_few_glued_normals(steps, x, value):
    """Values on which two other methods agree to the digits shown."""
    claim = tr.delta(tr.Gaussian(1).without_replacement(1, 10) * steps, x)
    assert claim.computed.lower <= float(value) * (1 + 1e-12)
    assert claim.computed.upper >= float(value) * (1 - 1e-12)
    assert claim.computed.upper - claim.computed.lower < 1e-6 * claim.upper
    assert not claim.tight
    assert claim.lower < claim.computed.lower
    assert tr.check(claim.to_json())


def grid(mu, q, steps, x, up, h=2e-4):
    """δ of the glued law rounded to a grid, all up or all down, in floats: on either side of the truth."""
    from scipy.special import ndtr

    edges = np.arange(0, 30000) * h
    z = (np.log1p(np.expm1(edges) / q)) / mu + mu / 2
    under_q = np.diff(np.append(ndtr(-z), 0.0)) * -1
    under_p = np.diff(np.append(ndtr(mu - z), 0.0)) * -1
    first = (1 - q) * under_q + q * under_p
    law = np.zeros(2**17)
    law[0] = (1 - q) * (2 * ndtr(mu / 2) - 1)
    law[(np.arange(len(edges)) + up) % len(law)] += first
    law[-(np.arange(len(edges)) + (not up)) % len(law)] += under_q
    composed = np.fft.irfft(np.fft.rfft(law) ** steps, len(law))
    losses = np.fft.fftfreq(len(law), 1 / len(law)) * h
    return float(np.maximum(composed, 0) @ np.maximum(-np.expm1(x - losses), 0))


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(("sigma", "size", "steps", "x"), [(1, 10, 100, 1.0), (2, 100, 60, 2.0), (1, 300, 40, 6.0)])
def test_many_glued_normals_lie_between_two_grids(sigma, size, steps, x):
    claim = tr.delta(tr.Gaussian(sigma).without_replacement(size, 1000) * steps, x)
    low, high = (grid(1 / sigma, size / 1000, steps, x, up) for up in (0, 1))
    assert low * (1 - 1e-6) - 1e-12 <= claim.computed.upper
    assert claim.computed.lower <= high * (1 + 1e-6) + 1e-12
    assert high < 1.3 * low + 1e-12
    assert claim.route == "exact"
    assert claim.computed.upper - claim.computed.lower < 1e-9 * claim.upper


def test_glued_parts_mix_with_others():
    whole = tr.Gaussian(1).without_replacement(10, 100) * 50
    mixed = whole + tr.Gaussian(3) * 2 + tr.Laplace(4) * 3 + tr.RandomizedResponse("0.2")
    claim = tr.epsilon(mixed, "1e-5")
    assert claim.route == "exact"
    assert tr.epsilon(whole, "1e-5").upper < claim.upper
    assert claim.computed.upper - claim.computed.lower < 1e-10 * claim.upper
    assert tr.check(claim.to_json())


def test_the_product_of_glued_pairs_is_not_attained():
    """Randomized response on one of two records, twice. The others may side with either record, also after the first
    answer is seen; the best such choice stays strictly below the glued product, so no claim calls that tight."""
    base = tr.RandomizedResponse(1).without_replacement(1, 2)
    p, q = d.response(1).p, d.response(1).q
    one = d.Atoms([(a + b) / 2 for a, b in zip(p, q, strict=True)], q)  # the others side with the second record
    sides = [one, d.Atoms(p, [(a + b) / 2 for a, b in zip(p, q, strict=True)])]
    for x in ("0.1", "0.3", "0.6"):

        def last(y):
            return max(side.hockey(y) for side in sides)

        pairs = [list(zip(side.p, side.q, strict=True)) for side in sides]
        best = max(mp.fsum(a * last(d.number(x) - mp.log(a / b)) for a, b in pair) for pair in pairs)
        claim = tr.delta(base * 2, x)
        assert not claim.tight
        assert claim.lower <= best * (1 + mpf(10) ** -14)
        assert best < claim.computed.lower < claim.upper * (1 + 1e-12)
    assert tr.delta(base, "0.1").tight
    assert not tr.renyi(base, 3).tight


def test_few_glued_parts_are_sharp():
    few = tr.Gaussian(1).without_replacement(1, 10)
    two = few * 3 + tr.Gaussian(2).without_replacement(1, 5) * 4
    claim = tr.epsilon(two, "0.001")
    assert claim.computed.upper - claim.computed.lower < 1e-6 * claim.upper
    assert tr.epsilon(few * 2, "0.5").upper == 0.0
    assert only_glued_overstates(fact(two, Loss).curve)
    assert not only_glued_overstates(fact(tr.Exponential(1) * 2, Loss).curve)


def test_what_is_out_of_reach_is_refused_and_another_route_answers():
    with pytest.raises(NotCertified):
        GluedNormalTransform(real(1000), F(1, 10))
    with pytest.raises(NotCertified):
        SymmetricLaplaceTransform(F(1000), F(1, 10), glued=True)
    for wrong in (F(0), F(1)):
        with pytest.raises(AssertionError):
            GluedNormalTransform(real(1), wrong)
        with pytest.raises(AssertionError):
            SymmetricLaplaceTransform(F(1), wrong, glued=True)
    with pytest.raises(AssertionError):
        MixtureTransform([])
    rare = tr.epsilon(tr.Gaussian("0.001").without_replacement(1, 10**6) * 5, "1e-6")
    assert 0 < rare.upper < float("inf")
    assert Glued(NormalPair(real(0)), F(1, 2)).transform() is None
    assert Glued(NormalPair(real(1)), F(1)).transform() is None
    assert loss_has_profile(fact(tr.Gaussian(1).without_replacement(1, 10), Loss).curve).prove(F(1), {}) < 1
    far = Glued(NormalPair(real(10**6)), F(1, 2))
    assert far.approximate_cumulants([1.0])[0] > 1e5
    assert far.cumulant(F(1)) > 1e5
    leaky = fact(tr.Gaussian(1), Loss).curve.remove[0][0]
    assert Glued(leaky, F(1, 3)).approximate_cumulants([2.0])[0] == pytest.approx(
        float(Glued(leaky, F(1, 3)).cumulant(F(2))), rel=1e-12
    )
    assert glued_loss(fact(tr.Laplace(1) + tr.Gaussian(1), Loss).curve, F(1, 2)) is None
    exponential = fact(tr.Exponential(1).without_replacement(1, 3), Loss).curve.remove[0][0]
    assert exponential.transform() is None
    with precision(60):
        wide = Ball(-0.01).union(Ball(0.01))
        assert exponential.call(wide).contains(exponential.call(Ball(0)))
        assert exponential.tail(wide).contains(0.5)


def test_far_tilts_are_out_of_reach_in_floats():
    assert GluedNormalTransform(real(50), F(1, 10)).log_floats([1e9, 1e200])[0] == float("inf")


def test_rules_refuse_what_they_cannot_bound():
    growth = Growth(F(1), F(3))
    with precision(60):
        with pytest.raises(NotCertified):
            panel_errors(Ball(1), Ball(0.1), F(1), growth, (Panel(F(0), F(1), 8, F(1)),))
        with pytest.raises(NotCertified):
            panel_errors(Ball(1), Ball(0.1), F(50), Growth(F(1)), (Panel(F(0), F(1), 8, F(1)),))
        with pytest.raises(NotCertified):
            glued_decay(real(1), F(1, 10), F(1), F(1), F(4), 0.0)
    with pytest.raises(NotCertified):
        panels(1.0, 0.1, 2.0, Growth(F(10**6)), 40.0, 0.0)
    with pytest.raises(NotCertified):
        SymmetricLaplaceTransform(F(90), F(1, 10), glued=True).line(F(1), F(10), 50)
