"""Cells of Laplace, discrete and mixed losses against mpmath: masses from the noise's own distribution functions."""

import random
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import mpmath as mp
import numpy as np
import pytest
from cell_truths import DIGITS, clipped, complaints, exact, whole
from flint import arb, ctx
from quick_numbers import exp, integral, of_mpmath, to_mpmath

from tightrope.errors import NotCertified
from tightrope.numerics.balls import precision
from tightrope.numerics.grid import discrete_normal_cells, laplace_cells
from tightrope.numerics.grid import growths as growths_module
from tightrope.numerics.grid.cells import Atom
from tightrope.numerics.grid.discrete_normal_cells import DiscreteNormalCells
from tightrope.numerics.grid.growths import GROWTH_ERROR, growths, loss_gaps
from tightrope.numerics.grid.laplace_cells import (
    ExchangedLaplaceCells,
    GluedLaplaceCells,
    LaplaceCells,
    SampledLaplaceCells,
)
from tightrope.numerics.grid.mixture_cells import MixtureCells
from tightrope.numerics.grid.table_cells import TableCells, table_of
from tightrope.numerics.real import ZERO, Real, real


@pytest.fixture(autouse=True)
def _digits():
    with mp.workdps(DIGITS):
        yield


def below(z):
    """Pr[noise ≤ z]."""
    return mp.exp(z) / 2 if z < 0 else 1 - mp.exp(-z) / 2


def away(z, centre, side):
    """|z − centre|, on the side of it where ``side`` is."""
    return z - centre if side >= centre else centre - z


class Sampled:
    """Noise z: without the record around 0, with it around e. The loss rises with z between 0 and e."""

    def __init__(self, e, q, adding=False):
        self.e, self.q, self.adding = exact(e), exact(q), adding
        self.ends = [mp.log(1 - self.q + self.q * mp.exp(s * self.e)) for s in (-1, 1)]

    def place(self, x):
        inner = 1 + mp.expm1(x) / self.q
        return clipped((mp.log(inner) + self.e) / 2, mp.mpf(0), self.e) if inner > 0 else mp.mpf(0)

    def masses(self, a, b):
        if self.adding:
            a, b = -b, -a
        a, b = self.place(a), self.place(b)
        plain, moved = below(b) - below(a), below(b - self.e) - below(a - self.e)
        mixed = (1 - self.q) * plain + self.q * moved
        return (plain, mixed) if self.adding else (mixed, plain)

    def density(self, z, side, e, q):
        """P's and Q's density at z, which may be complex, on the piece of the line around ``side``."""
        plain, moved = exp(-away(z, 0 * e, side)) / 2, exp(-away(z, e, side)) / 2
        mixed = (1 - q) * plain + q * moved
        return (plain, mixed) if self.adding else (mixed, plain)

    def profile(self, x):
        """∫(p − e^x q)₊ over the output."""
        return self.positive_part(x, {mp.mpf(0), self.place(-x if self.adding else x), self.e})

    def positive_part(self, x, marks):
        with ctx.workdps(25):
            e, q, grown, total = of_mpmath(self.e), of_mpmath(self.q), of_mpmath(x).exp(), arb(0)
            for a, b in pairwise(map(of_mpmath, sorted({mp.mpf(-60), *marks, self.e + 60}))):

                def gap(z, _=False, side=(a + b) / 2):
                    p, q_density = self.density(z, side, e, q)
                    return p - grown * q_density

                total += integral(gap, [a, b], 20).real if gap((a + b) / 2) > 0 else 0
            return to_mpmath(total)


class Exchanged(Sampled):
    """The record moves the noise to e, or to −e."""

    def density(self, z, side, e, q):
        plain = (1 - q) * exp(-away(z, 0 * e, side)) / 2
        return tuple(plain + q * exp(-away(z, s * e, side)) / 2 for s in (1, -1))

    def loss(self, z):
        p, q = self.density(z, z, self.e, self.q)
        return mp.log(p / q)

    def place(self, x):
        """The z > 0 whose loss is x > 0: p = e^x q there."""
        top = self.loss(self.e)
        if x <= 0 or x >= top:
            return mp.mpf(0) if x <= 0 else self.e
        inner = (mp.exp(x) * (1 - self.q + self.q * mp.exp(-self.e)) - 1 + self.q) / self.q
        z = (mp.log(inner) + self.e) / 2
        assert mp.almosteq(self.loss(z), x, 1e-25, 1e-25)
        return z

    def masses(self, a, b):
        found = [mp.mpf(0), mp.mpf(0)]
        for low, high, mirrored in ((a, b, False), (-b, -a, True)):
            low, high = self.place(low), self.place(high)
            for side, s in ((0, 1), (1, -1)):
                value = (1 - self.q) * (below(high) - below(low))
                value += self.q * (below(high - s * self.e) - below(low - s * self.e))
                found[side != mirrored] += value
        return tuple(found)

    def profile(self, x):
        z = self.place(abs(x)) * (1 if x > 0 else -1)
        return self.positive_part(x, {-self.e, mp.mpf(0), z, self.e})


class Glued(Sampled):
    """What a removal has above 0, and its mirror image."""

    def masses(self, a, b):
        up = super().masses(max(a, 0), max(b, 0))
        down = super().masses(max(-b, 0), max(-a, 0))
        return up[0] + down[1], up[1] + down[0]

    def profile(self, x):
        if x < 0:
            return -mp.expm1(x) + mp.exp(x) * self.profile(-x)
        base = mp.log(1 + mp.expm1(x) / self.q)
        return self.q * max(1 - mp.exp((base - self.e) / 2), 0)


def profile(law, found, edges, i):
    """The profile at the i-th edge from cells and atoms."""
    x = float(edges[i])
    value = (found.p_low - np.exp(x) * found.q_low)[i + 1 :].sum()
    with precision(120):
        for atom in law.atoms():
            loss, mass = float(atom.loss.ball().mid()), float(atom.mass.ball().mid())
            value += mass * max(-np.expm1(x - loss), 0.0)
    return value


def settings():
    """Kinds of cells, of truths, and what both are made of."""
    draw, found = random.Random(7), []
    kinds = [(SampledLaplaceCells, Sampled)] * 2 + [(GluedLaplaceCells, Glued), (ExchangedLaplaceCells, Exchanged)]
    for _ in range(5):
        for n, (kind, truth) in enumerate(kinds):
            e = Fraction(round(10 ** draw.uniform(-2, 1.2), 4)).limit_denominator(10**5)
            q = Fraction(round(10 ** draw.uniform(-4, -0.01), 5)).limit_denominator(10**6)
            found.append((kind, truth, e, (q, True) if n == 1 else (q,)))
    found.append((GluedLaplaceCells, Glued, Fraction(2), (Fraction(1),)))
    found.append((ExchangedLaplaceCells, Exchanged, Fraction(2), (Fraction(1),)))
    found.append((SampledLaplaceCells, Sampled, Fraction(25), (Fraction(999_999, 10**6),)))
    return [*found, *((LaplaceCells, Sampled, e, ()) for e in (Fraction(1, 3), Fraction(40)))]


def laplace_edges(truth, count, shift):
    top = float(max(abs(end) for end in truth.ends))
    if isinstance(truth, Exchanged):
        top = float(truth.ends[1] - truth.ends[0])
    return np.linspace(-1.1, 1.1, count) * top + shift * top


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(("kind", "true", "epsilon", "more"), settings())
def test_laplace_cells_enclose_the_truth(kind, true, epsilon, more):
    law, truth = kind(real(epsilon), *more), true(epsilon, *(more or (Fraction(1),)))
    for count, shift in ((2001, 0.0), (1500, 1e-4)):
        edges = laplace_edges(truth, count, shift)
        found = law.cells(edges)
        assert 0 < found.slack < 3e-16 + 2e-14 * max(abs(edges[0]), abs(edges[-1]))
        steps = np.random.default_rng(count).integers(0, count + 1, 12)
        zero = int(np.searchsorted(edges, 0))
        indices = [0, 1, count - 1, count, zero - 1, zero, zero + 1, *map(int, steps)]
        indices += [int(np.searchsorted(edges, float(s * end))) for end in truth.ends for s in (-1, 1)]
        assert complaints(found, edges, truth.masses, indices) == 0
        for low, high in ((found.p_low, found.p_high), (found.q_low, found.q_high)):
            assert np.all(low >= 0)
            assert np.all(high - low <= 1e-8 * high + 1e-15)
            assert (high - low).sum() < 1e-13
        for low, high in whole(law, found):
            assert low - 1e-14 < 1 < high + 1e-14
        for i in (count // 2, count // 2 + 100, count // 3):
            assert profile(law, found, edges, i) == pytest.approx(float(truth.profile(mp.mpf(edges[i]))), abs=1e-13)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_the_comparison_has_teeth():
    law, truth = GluedLaplaceCells(real(1), Fraction(1, 10)), Glued(Fraction(1), Fraction(1, 10))
    edges = laplace_edges(truth, 801, 1e-4)
    found = law.cells(edges)
    indices = range(100, 700, 7)
    assert complaints(found, edges, truth.masses, indices) == 0
    assert complaints(replace(found, p_low=found.p_low * (1 + 1e-10)), edges, truth.masses, indices) > 50
    assert complaints(replace(found, q_high=found.q_high * (1 - 1e-10)), edges, truth.masses, indices) > 50
    assert complaints(found, edges + 1e-11, truth.masses, indices) > 20
    assert complaints(found, edges, Glued(Fraction(1), Fraction(1, 10) + Fraction(1, 10**10)).masses, indices) > 20


def test_laplace_cells_refuse_what_floats_do_not_reach():
    edges = np.linspace(-1, 1, 9)
    for law in (LaplaceCells(real(1000)), ExchangedLaplaceCells(real(300), Fraction(1, 2)), LaplaceCells(real(0))):
        with pytest.raises(NotCertified, match="out of reach"):
            law.cells(edges)
    vague = Real(None, lambda: real(1).ball().union(real(2).ball()))
    with pytest.raises(NotCertified, match="not known"):
        LaplaceCells(vague).cells(edges)


def test_a_wrong_choice_of_edges_is_paid_or_refused(monkeypatch):
    edges, truth = np.linspace(-0.15, 0.15, 801), Sampled(Fraction(1), Fraction(1, 10))
    for module, law in (
        (laplace_cells, SampledLaplaceCells(real(1), Fraction(1, 10))),
        (discrete_normal_cells, DiscreteNormalCells(Fraction(400), 20, Fraction(1, 10))),
    ):
        right = law.cells(edges).slack
        monkeypatch.setattr(module, "lifted", lambda *given: growths_module.lifted(*given) * (1 + 1e-3))
        found = law.cells(edges)
        assert found.slack > 1e-5 > 1e9 * right
        if module is laplace_cells:
            assert complaints(found, edges, truth.masses, range(0, 801, 20)) == 0
        monkeypatch.setattr(module, "lifted", lambda *given: np.linspace(given[3], given[4], len(given[2])))
        wide = SampledLaplaceCells(real(20), Fraction(1, 10)) if module is laplace_cells else law
        with pytest.raises(NotCertified, match="edge"):
            wide.cells(np.linspace(17, 17.6, 801) if module is laplace_cells else np.linspace(-40, -39, 801))
        monkeypatch.undo()


def test_edges_far_from_a_piece_have_empty_cells():
    law, edges = SampledLaplaceCells(real(1), Fraction(1, 10)), np.linspace(-0.02, 0.12, 301)
    near = law.cells(edges)
    far = law.cells(np.concatenate([[-40.0, -3.0], edges, [0.5, 7.0]]))
    for one, other in ((near.p_low, far.p_low), (near.p_high, far.p_high), (near.q_low, far.q_low)):
        assert np.array_equal(other[2:-2], one)
        assert not other[:2].any()
        assert not other[-2:].any()
    outside = law.cells(np.array([3.0, 4.0]))
    assert outside.p_high[1:].tolist() == [0.0, 0.0]
    assert outside.p_low[0] > 0.3


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_growths_keep_their_error():
    draw = np.random.default_rng(5)
    sizes = 10.0 ** draw.uniform(-20, 2.7, 400)
    x = np.concatenate([sizes, -sizes, [0.0, 0.35, -0.35, 0.3500001, -0.3500001]])
    for part in (x, x[np.abs(x) < 1e-3], x[np.abs(x) < 0.2]):
        for at, value in zip(part, growths(part), strict=True):
            assert abs(mp.mpf(value) - mp.expm1(mp.mpf(at))) <= GROWTH_ERROR * abs(mp.expm1(mp.mpf(at)))


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("rate", [0.5, 1e-3, 0.9999])
def test_loss_gaps_are_not_too_small(rate):
    base = np.random.default_rng(3).uniform(-30, 30, 400) * np.logspace(-6, 0, 400)
    exactly = [mp.log1p(mp.mpf(rate) * mp.expm1(mp.mpf(b))) for b in base]
    x = np.array([float(v) for v in exactly])
    for moved in (0.0, 1e-12, -1e-12, 0.01, -3.0):
        above, below_ = loss_gaps(rate, float(1 - mp.mpf(rate)), base, x + moved)
        for value, at, up, down in zip(exactly, x + moved, above, below_, strict=True):
            assert value - mp.mpf(at) <= up <= max(mp.expm1(value - mp.mpf(at)), 0) * (1 + mp.mpf(10) ** -13) + 1e-13
            assert mp.mpf(at) - value <= down
        if abs(moved) < 0.1:
            assert below_.max() < max(moved, 0) * 1.02 + 1e-13


def table(count, error):
    draw = np.random.default_rng(11)
    true = draw.normal(0, 1, count)
    p = draw.dirichlet(np.ones(count)) * 0.9
    q = p * np.exp(-true)
    return (
        true,
        p,
        q,
        TableCells(
            true + draw.uniform(-error, error, count),
            p * (1 + draw.uniform(-1e-13, 1e-13, count)),
            q * (1 + draw.uniform(-1e-12, 1e-12, count)),
            error * (1 + 1e-9) + 1e-15,
            np.full(count, 2e-13),
            np.full(count, 2e-12),
            above=(0.1, 1e-9),
        ),
    )


def test_tables_enclose_the_truth():
    true, p, q, law = table(3000, 1e-6)
    edges = np.linspace(-2, 2, 201)

    def masses(a, b):
        inside = (true > float(a)) & (true <= float(b))
        return mp.fsum(map(mp.mpf, p[inside])), mp.fsum(map(mp.mpf, q[inside]))

    found = law.cells(edges)
    assert complaints(found, edges, masses, range(201)) == 0
    assert found.p_high[-1] - found.p_low[-1] == pytest.approx(0.1)
    assert np.all((found.p_high - found.p_low)[:-1] <= 1e-12 * found.p_high[:-1])
    assert complaints(replace(found, p_low=found.p_low * (1 + 1e-11), slack=0.0), edges, masses, range(201)) > 100


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_mixtures_add_up():
    shares = [(Fraction(1, 2), Fraction(1)), (Fraction(1, 5), Fraction(2)), (Fraction(1, 7), Fraction(3))]
    rate = Fraction(1, 4)
    parts = [
        (Real(s) if n else Real(None, real(s).ball), GluedLaplaceCells(real(e), rate))
        for n, (s, e) in enumerate(shares)
    ]
    truths = [(exact(s), Glued(e, rate)) for s, e in shares]
    law = MixtureCells(parts, real(Fraction(1, 100)))
    edges = np.linspace(-1.7, 1.7, 1000)
    found = law.cells(edges)

    def masses(a, b):
        each = [(s, t.masses(a, b)) for s, t in truths]
        return tuple(sum(s * m[j] for s, m in each) for j in range(2))

    assert complaints(found, edges, masses, range(0, 1001, 13)) == 0
    assert complaints(replace(found, q_low=found.q_low * (1 + 1e-10)), edges, masses, range(0, 1001, 13)) > 30
    assert found.slack == max(law.cells(edges).slack for _, law in parts)
    (low, high), (under, over) = whole(law, found)
    assert low - 1e-14 < 1 < high + 1e-14
    assert under - 1e-14 < 0.99 < over + 1e-14  # where all is revealed Q has nothing
    assert law.infinite().rational == Fraction(1, 100)


def test_mixtures_of_mixtures_keep_what_is_infinite():
    inner = MixtureCells([(real(Fraction(1, 2)), LaplaceCells(real(1)))], real(Fraction(1, 2)))
    assert len(inner.atoms()) == 2  # nothing is left for 0
    outer = MixtureCells([(real(Fraction(1, 4)), inner), (real(Fraction(1, 4)), LaplaceCells(real(2)))])
    with precision(80):
        assert float(outer.infinite().ball().mid()) == 0.125
        assert float(outer.atoms()[-1].mass.ball().mid()) == 0.5
    assert outer.atoms()[-1].loss is ZERO


def test_atoms_beyond_floats_are_bounded_and_not_forgotten():
    """Q of a loss of 700, and P of one of −700, are no normal floats: both are counted beyond the others."""
    atoms = [(-700, "0.001e-303"), (-1, "0.3"), (1, "0.6"), (700, "0.1")]
    table = table_of([Atom(real(Fraction(loss)), real(Fraction(mass))) for loss, mass in atoms], real(Fraction(0)))
    assert list(table.losses) == [-1.0, 1.0]
    cells = table.cells(np.array([-2.0, 0.0, 2.0]))
    assert cells.p_high[-2:].sum() >= 0.7  # 0.6 and 0.1 lie above 0, where exactly the latter does is not said
    assert cells.p_low.sum() <= 0.9 + 1e-12
    below = 0.001e-303 * np.exp(350.0) * np.exp(350.0)
    assert cells.q_high[:2].sum() >= 0.3 * np.e + below * (1 - 1e-12)
    assert table_of([Atom(real(Fraction(700)), real(Fraction(1)))], real(Fraction(0))) is None
