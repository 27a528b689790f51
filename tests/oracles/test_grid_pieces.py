"""Parts of laws: their cells enclose what lies between two losses, and both parts are the whole."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from grid_cases import atoms, drawn, normal
from scipy.special import ndtr

from tightrope.numerics.balls import Ball
from tightrope.numerics.grid.cells import Atom, Atoms, CellLaw
from tightrope.numerics.grid.laplace_cells import GluedLaplaceCells
from tightrope.numerics.grid.normal_exchanges import ExchangedNormalCells, GluedNormalCells
from tightrope.numerics.grid.pieces import Piece
from tightrope.numerics.real import ZERO, Real, real

ONE = real(Fraction(1))
LAWS = [
    normal(1),
    ExchangedNormalCells(ONE, Fraction(1, 100)),
    GluedNormalCells(ONE, Fraction(1, 100)),
    GluedLaplaceCells(ONE, Fraction(1, 5)),
    drawn(),
]
EDGES = [
    np.linspace(-2, 2, 81),
    np.array([-0.25 - 1e-12, -0.25 + 1e-12, 0.125 - 1e-12, 0.125 + 1e-12]),
    np.array([0.3]),
    np.array([-5.0, -0.25, 0.125, 7.0]),
    np.array([10.0, 11.0]),
]


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("law", LAWS, ids=lambda law: type(law).__name__)
@pytest.mark.parametrize("edges", EDGES, ids=len)
@pytest.mark.parametrize(("low", "high"), [(-0.25, 0.125), (-math.inf, 0.01), (-3.0, math.inf), (0.05, 0.06)])
def test_both_parts_are_the_whole(law, edges, low, high):
    whole = law.cells(edges)
    parts = [Piece(law, low, high, inside).cells(edges) for inside in (True, False)]
    for end, sign in (("p_low", 1), ("q_low", 1), ("p_high", -1), ("q_high", -1)):
        both = sum(getattr(one, end) for one in parts)
        opposite = getattr(whole, end.replace("low", "high") if sign > 0 else end.replace("high", "low"))
        assert (sign * both <= sign * opposite * (1 + sign * 1e-15) + 1e-280).all()
        assert np.allclose(both, getattr(whole, end), rtol=1e-9, atol=1e-11)


def test_masses_between_borders():
    """Normal losses: l = z − 1/2 for z from N(1, 1) under P, N(0, 1) under Q."""
    edges = np.array([-1.0, 0.5, 2.0])
    inside, outside = (Piece(normal(1), -0.5, 1.0, one).cells(edges) for one in (True, False))
    pieces = [(-np.inf, -1.0), (-1.0, -0.5), (-0.5, 0.5), (0.5, 1.0), (1.0, 2.0), (2.0, np.inf)]
    p = [ndtr(b - 0.5) - ndtr(a - 0.5) for a, b in pieces]
    q = [ndtr(b + 0.5) - ndtr(a + 0.5) for a, b in pieces]
    for masses, low, high in ((p, "p_low", "p_high"), (q, "q_low", "q_high")):
        for found, exact in (
            (inside, [0, masses[2], masses[3], 0]),
            (outside, [masses[0], masses[1], masses[4], masses[5]]),
        ):
            assert (getattr(found, low) <= np.array(exact) * (1 + 1e-14)).all()
            assert (getattr(found, high) >= np.array(exact) * (1 - 1e-14)).all()
            assert np.allclose(getattr(found, low), exact, rtol=1e-9, atol=1e-12)


def test_atoms_and_leaks_belong_to_one_part():
    law = atoms([-1, "1/2", 3], ["2/10", "5/10", "2/10"], "1/10")
    inside, outside = (Piece(law, -0.5, 1.0, one) for one in (True, False))
    assert [atom.loss.rational for atom in inside.atoms()] == [Fraction(1, 2)]
    assert [atom.loss.rational for atom in outside.atoms()] == [-1, 3]
    assert inside.infinite() is ZERO
    assert outside.infinite().rational == Fraction(1, 10)
    assert inside.effort == law.effort
    assert inside.scattered is law.scattered


def test_an_atom_at_the_border_is_refused():
    for low, high in ((0.5, 1.0), (0.0, 0.5)):
        with pytest.raises(ArithmeticError, match="border"):
            Piece(atoms(["1/2"], [1]), low, high, inside=True).atoms()
    wide = Atoms((Atom(Real(None, lambda: Ball(0).union(Ball(1))), ONE),))
    with pytest.raises(ArithmeticError, match="border"):
        Piece(wide, 0.25, 0.5, inside=True).atoms()


class Blurred(CellLaw):
    """A law that moves its edges."""

    def __init__(self, slack):
        self.slack = slack

    def cells(self, edges):
        return replace(normal(1).cells(edges), slack=self.slack)


def test_the_margin_is_wider_than_the_slack():
    edges, found = np.array([0.0, 1.0]), {}
    for slack in (0.0, 1e-6):
        found[slack] = Piece(Blurred(slack), -0.5, 0.75, inside=True).cells(edges)
    density = math.exp(-(0.25**2) / 2) / math.sqrt(2 * math.pi)
    near = found[1e-6].p_high[1] - found[1e-6].p_low[1]
    assert near == pytest.approx(2 * 4e-6 * density, rel=1e-2)
    assert found[0.0].p_high[1] - found[0.0].p_low[1] < 1e-9
    with pytest.raises(ArithmeticError, match="borders"):
        Piece(Blurred(math.nan), -0.5, 0.75, inside=True).cells(edges)
