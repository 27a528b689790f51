"""Cells of Gaussian losses, sampled or not, against the definitions in many digits."""

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from mpmath import mpf

from tightrope.numerics.balls import Ball, precision
from tightrope.numerics.grid.normal_cells import NormalCells, SampledNormalCells
from tightrope.numerics.grid.normal_exchanges import ExchangedNormalCells, GluedNormalCells
from tightrope.numerics.real import Real, real


@pytest.fixture(autouse=True)
def _digits():
    with mpmath.workdps(80):
        yield


def tail(z):
    return mpmath.erfc(z / mpmath.sqrt(2)) / 2


def normal(a, b, centre):
    """N(centre, 1) between a and b."""
    a, b = a - centre, b - centre
    if a >= b:
        return mpf(0)
    return tail(a) - tail(b) if a > 0 else tail(-b) - tail(-a) if b < 0 else 1 - tail(-a) - tail(b)


@dataclass
class Truth:
    """A law by its definition: P's and Q's mass of losses between x and y."""

    kind: str
    mu: mpf
    q: mpf

    def z(self, x):
        """Where ln w is x, or where ln w(z)/w(−z) is x."""
        mu, q = self.mu, self.q
        if mpmath.isinf(x):
            return x
        if self.kind == "normal":
            return x / mu + mu / 2
        if self.kind == "exchanged":
            a, b, e = 1 - q, q * mpmath.exp(-mu * mu / 2), mpmath.exp(x)
            root = mpmath.sqrt((a * (e - 1)) ** 2 + 4 * b * b * e)
            t = (a * (e - 1) + root) / (2 * b) if x >= 0 else 2 * b * e / (root - a * (e - 1))
            return mpmath.log(t) / mu
        inside = 1 + mpmath.expm1(x) / q
        return mpmath.log(inside) / mu + mu / 2 if inside > 0 else -mpmath.inf

    def masses(self, x, y):
        if x >= y:
            return mpf(0), mpf(0)
        if self.kind == "adding":
            return Truth("removing", self.mu, self.q).masses(-y, -x)[::-1]
        if self.kind == "glued":
            up, down = self._above(max(x, mpf(0)), y), self._above(max(-y, mpf(0)), -x)
            return up[0] + down[1], up[1] + down[0]
        return self._between(self.z(x), self.z(y))

    def _above(self, x, y):
        return self._between(self.z(x), self.z(y)) if y > x else (mpf(0), mpf(0))

    def _between(self, a, b):
        q, mu = self.q, self.mu
        rest, plus = normal(a, b, 0), normal(a, b, mu)
        if self.kind == "normal":
            return plus, rest
        other = (1 - q) * rest + q * normal(a, b, -mu) if self.kind == "exchanged" else rest
        return (1 - q) * rest + q * plus, other


LAWS = {
    "normal": lambda mu, _: NormalCells(mu),
    "removing": lambda mu, q: SampledNormalCells(mu, q, adding=False),
    "adding": lambda mu, q: SampledNormalCells(mu, q, adding=True),
    "exchanged": ExchangedNormalCells,
    "glued": GluedNormalCells,
}


def exact_mu(mu):
    with precision(300):
        return mpf(mu.ball().mid().str(85, radius=False))


def truth_of(kind, mu, q):
    return Truth(kind, exact_mu(mu), mpf(q.numerator) / q.denominator)


def enclosed(truth, edges, slack):
    """For each cell the masses of the losses between its edges, narrowed and widened by the slack."""
    ends, slack = [-mpmath.inf, *map(mpf, edges), mpmath.inf], mpf(slack)
    pairs = pairwise(ends)
    return [(truth.masses(x + slack, y - slack), truth.masses(x - slack, y + slack)) for x, y in pairs]


def misses(known, cells):
    """Cells that claim more than the widened ones have, or less than the narrowed ones."""
    rows = zip(
        known, zip(cells.p_low, cells.q_low, strict=True), zip(cells.p_high, cells.q_high, strict=True), strict=True
    )
    return [
        (i, low, high, inner, outer)
        for i, ((least, most), lows, highs) in enumerate(rows)
        for low, high, inner, outer in zip(lows, highs, least, most, strict=True)
        if not (0 <= low <= outer and inner <= high and low <= high)
    ]


def scaled(cells, factor):
    return replace(
        cells,
        p_low=cells.p_low * factor,
        p_high=cells.p_high * factor,
        q_low=cells.q_low * factor,
        q_high=cells.q_high * factor,
    )


def losses_of(truth, rng, count):
    """Edges where the law has its mass, some close together, and some beyond."""
    mu, q = float(truth.mu), float(truth.q)
    z = np.concatenate((rng.uniform(-6, 6 + mu, count), rng.uniform(-30, 30 + mu, count // 3)))
    if truth.kind == "normal":
        x = mu * z - mu * mu / 2
    else:
        up = np.log1p(q * np.expm1(np.minimum(mu * z - mu * mu / 2, 590)))
        down = np.log1p(q * np.expm1(np.minimum(-mu * z - mu * mu / 2, 590)))
        x = {"removing": up, "adding": -up, "exchanged": up - down, "glued": np.where(z > mu / 2, up, -up)}[truth.kind]
    size = np.abs(x).max()
    close = x[0] + size * np.array([1e-6, 2e-6, 2.1e-6])
    return np.unique(np.concatenate((x[np.abs(x) < 560], close)))


MUS = [
    Real(None, lambda: Ball(2).sqrt()),
    real(1),
    real(Fraction(1, 3)),
    real(Fraction(1, 10**4)),
    real(Fraction(31, 7)),
    real(12),
    real(30),
]
RATES = [Fraction(1, 100), Fraction(1, 2), Fraction(1, 10**9), 1 - Fraction(1, 10**9), Fraction(1, 3000)]
SETTINGS = [(kind, mu, q) for kind in LAWS for mu in MUS for q in (RATES if kind != "normal" else RATES[:1])]


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("kind", LAWS)
def test_every_cell_encloses_its_masses_up_to_the_slack(kind):
    rng = np.random.default_rng(11)
    for _, mu, q in (s for s in SETTINGS if s[0] == kind):
        truth = truth_of(kind, mu, q)
        edges = losses_of(truth, rng, 9)
        cells = LAWS[kind](mu, q).cells(edges)
        known = enclosed(truth, edges, cells.slack)
        assert misses(known, cells) == []
        for low, high in ((cells.p_low, cells.p_high), (cells.q_low, cells.q_high)):
            heavy = high > 1e-280
            assert np.all((high - low)[heavy] <= 1e-11 * high[heavy] + 1e-16)
        assert misses(known, scaled(cells, 1 + 1e-9))
        assert misses(known, scaled(cells, 1 - 1e-9))


def loss_at(truth, z):
    mu, q = truth.mu, truth.q

    def ratio(z):
        return 1 + q * mpmath.expm1(mu * z - mu * mu / 2)

    if truth.kind == "normal":
        return mu * z - mu * mu / 2
    return mpmath.log(ratio(z) / ratio(-z)) if truth.kind == "exchanged" else mpmath.log(ratio(z))


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("kind", ["normal", "removing", "exchanged", "glued"])
def test_the_slack_is_true_small_and_not_idle(kind):
    rng = np.random.default_rng(12)
    for _, mu, q in (s for s in SETTINGS if s[0] == kind):
        truth = truth_of(kind, mu, q)
        edges = losses_of(truth, rng, 60)
        edges = edges[edges > 0] if kind == "glued" else edges
        law = LAWS[kind](mu, q)
        z, slack = (law._removed if kind == "removing" else law)._edges(edges)
        off = max(float(abs(loss_at(truth, mpf(a)) - x)) for a, x in zip(z, edges, strict=True) if np.isfinite(a))
        assert off <= slack
        assert slack <= 300 * off or (kind == "normal" and mu.rational is not None)  # which may be off by nothing
        assert slack <= 2e-14 * (1 + float(truth.mu) ** 2) * min(1.0, 10 * np.abs(edges).max())


def mass(law):
    with precision(100):
        return float(sum((atom.mass.ball() for atom in law.atoms()), Ball(0)))


@pytest.mark.parametrize("kind", LAWS)
def test_all_cells_and_atoms_together_have_mass_one(kind):
    edges = np.linspace(-3, 5, 20_001)  # among them 0, and many in every block
    for mu, q in ((real(1), Fraction(1, 10)), (MUS[0], Fraction(9, 10))):
        law = LAWS[kind](mu, q)
        cells = law.cells(edges)
        assert cells.p_low.size == edges.size + 1
        for low, high in ((cells.p_low, cells.p_high), (cells.q_low, cells.q_high)):
            assert low.sum() + mass(law) == pytest.approx(1, abs=3e-14)
            assert high.sum() + mass(law) == pytest.approx(1, abs=3e-14)


def test_below_the_least_loss_cells_are_empty():
    q = Fraction(1, 10)
    bottom = np.log(0.9)
    edges = np.array([bottom - 2, bottom - 1, bottom + 0.01, 0.0])
    cells = SampledNormalCells(real(1), q, adding=False).cells(edges)
    assert list(cells.p_high[:2]) == list(cells.q_high[:2]) == [0.0, 0.0]
    assert 0 < cells.q_low[2] < cells.q_low[3]
    mirrored = SampledNormalCells(real(1), q, adding=True).cells(-edges[::-1])
    assert np.array_equal(mirrored.p_high, cells.q_high[::-1])
    assert np.array_equal(mirrored.q_low, cells.p_low[::-1])
    assert mirrored.slack == cells.slack


@pytest.mark.parametrize("kind", LAWS)
def test_edges_out_of_sight_leave_light_cells(kind):
    edges = np.array([-450.0, -400.0, 0.1, 400.0, 450.0, 1e5])
    cells = LAWS[kind](real(1), Fraction(1, 10)).cells(edges)
    for low, high in ((cells.p_low, cells.p_high), (cells.q_low, cells.q_high)):
        assert list(low[[0, 1, 4, 5, 6]]) == [0.0] * 5
        assert np.all(high[[0, 1, 4, 5, 6]] <= 1e-289)
        assert np.all(low[[2, 3]] > 1e-3)
    assert LAWS[kind](real(1), Fraction(1, 10)).cells(np.array([1e4])).slack == 0


@pytest.mark.parametrize("kind", LAWS)
def test_the_bottom_of_the_losses_is_flat_and_does_no_harm(kind):
    mu, q = real(2), Fraction(1, 4)
    truth = truth_of(kind, mu, q)
    bottom = float(mpmath.log(1 - truth.q)) * (-1 if kind == "adding" else 1)
    edges = np.unique(bottom + np.array([-1e-3, -4e-16, 0.0, 1e-16, 3e-16, 1e-15, 1e-12, 1e-3]))
    cells = LAWS[kind](mu, q).cells(edges)
    assert cells.slack < 1e-13
    assert misses(enclosed(truth, edges, cells.slack), cells) == []


def test_glued_cells_around_zero():
    mu, q = MUS[0], Fraction(1, 5)
    truth, law = truth_of("glued", mu, q), GluedNormalCells(mu, q)
    for edges in (
        [-0.5, 0.0, 0.5],
        [-0.5, 0.5],
        [0.5],
        [-0.5],
        [0.0],
        [-1e-3, -1e-18, 1e-30, 1e-18, 1e-17, 1e-15, 1e-3],
        [1e-20, 1e-19, 2e-3],
    ):
        cells = law.cells(np.array(edges))
        known = enclosed(truth, edges, cells.slack)
        assert misses(known, cells) == []
        assert misses(known, scaled(cells, 1 + 1e-13)) or len(edges) > 3
        assert cells.slack < 1e-14
    (atom,) = law.atoms()
    with precision(200):
        half = mpf(mu.ball().mid().str(50, radius=False)) / 2
        assert atom.loss.ball() == 0
        assert (
            float(abs(mpf(atom.mass.ball().mid().str(50, radius=False)) - (1 - truth.q) * (1 - 2 * tail(half)))) < 1e-45
        )
    assert NormalCells(mu).atoms() == []
    assert law.infinite().rational == 0


@pytest.mark.parametrize("mu", [0, -1, Fraction(1, 10**14), 10**5])
@pytest.mark.parametrize("kind", LAWS)
def test_shifts_out_of_reach_are_refused(kind, mu):
    with pytest.raises(ArithmeticError, match="standard deviations"):
        LAWS[kind](real(mu), Fraction(1, 10)).cells(np.array([-0.1, 0.1]))


@pytest.mark.parametrize("rate", [0, 1, Fraction(1, 10**20), 1 - Fraction(1, 10**20), -1, 2])
@pytest.mark.parametrize("kind", [k for k in LAWS if k != "normal"])
def test_rates_out_of_reach_are_refused(kind, rate):
    with pytest.raises(ArithmeticError, match="rate"):
        LAWS[kind](real(1), Fraction(rate)).cells(np.array([-0.1, 0.1]))


@pytest.mark.parametrize("kind", ["removing", "adding", "exchanged", "glued"])
def test_losses_beyond_the_exponentials_are_refused(kind):
    with pytest.raises(ArithmeticError, match="exponent"):
        LAWS[kind](real(30), Fraction(1, 10)).cells(np.array([-700.0, 700.0]))
    assert NormalCells(real(30)).cells(np.array([-700.0, 700.0])).slack < 1e-11


@pytest.mark.parametrize("square", [2, 3, 5, 7, 11, 13])
def test_glued_cells_know_that_half_the_shift_is_rounded(square):
    mu, q = Real(None, lambda: Ball(square).sqrt()), Fraction(1, 5)
    truth, law = truth_of("glued", mu, q), GluedNormalCells(mu, q)
    half = truth.mu / 2
    for losses in ([1e-25, 2e-16], [1e-16, 3e-16], [4e-16]):
        z, _ = law._edges(np.array(losses))
        side = law._side(np.array(losses))
        known = [truth._between(a, b) for a, b in pairwise([half, *(max(mpf(x), half) for x in z), mpmath.inf])]
        assert misses([(pair, pair) for pair in known], side) == []


@pytest.mark.parametrize("kind", LAWS)
def test_edges_one_float_apart_never_turn_back(kind):
    edges = 0.05 + np.arange(3000) * 2.0**-57
    cells = LAWS[kind](MUS[0], Fraction(1, 10)).cells(edges)
    for low, high in ((cells.p_low, cells.p_high), (cells.q_low, cells.q_high)):
        assert np.all(low >= 0)
        assert np.all(high >= low)
        assert 0 <= low[1:-1].sum() <= high[1:-1].sum() < 1e-11


def test_edges_found_carelessly_only_cost_slack(monkeypatch):
    edges = np.linspace(-1, 3, 12) + np.tile([0.0, -0.3635], 6)  # in pairs close together
    turned = np.tile([1e-3, -1e-3], 6)
    for kind in ("normal", "exchanged"):
        truth, law = truth_of(kind, real(2), Fraction(1, 3)), LAWS[kind](real(2), Fraction(1, 3))
        careful = law.cells(edges)
        found = type(law)._coordinates
        monkeypatch.setattr(type(law), "_coordinates", lambda law, x, found=found: found(law, x) + turned[: x.size])
        cells = law.cells(edges)
        assert careful.slack < 1e-13 < 1e-4 < cells.slack < 1e-2
        assert np.all(cells.p_low >= 0)
        assert misses(enclosed(truth, edges, cells.slack), cells) == []
        assert misses(enclosed(truth, edges, careful.slack), cells)
