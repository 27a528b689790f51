"""Products of laws in cells whose δ is known by other methods: closed forms, sums over atoms, quadrature, residues."""

import math
from collections import Counter
from fractions import Fraction

import mpmath
from flint import arb, ctx
from mpmath import mpf
from quick_numbers import flint, of_mpmath, to_mpmath

import tightrope as tr
from tightrope.accounting.facts import fact
from tightrope.curves.loss import Loss
from tightrope.numerics.balls import lower_float, upper_float
from tightrope.numerics.grid.cells import Atom, Atoms
from tightrope.numerics.grid.laplace_cells import (
    ExchangedLaplaceCells,
    GluedLaplaceCells,
    LaplaceCells,
    SampledLaplaceCells,
)
from tightrope.numerics.grid.mixture_cells import MixtureCells
from tightrope.numerics.grid.normal_cells import NormalCells, SampledNormalCells
from tightrope.numerics.grid.normal_exchanges import ExchangedNormalCells, GluedNormalCells
from tightrope.numerics.real import real

DIGITS = 40
ROUNDING = mpf(10) ** -25  # of the truth


def exact(x):
    return mpf(x.numerator) / x.denominator if isinstance(x, Fraction) else mpf(x)


def tail(z):
    return mpmath.erfc(z / mpmath.sqrt(2)) / 2


def normal_delta(mu, x):
    """δ of N(mu, 1) against N(0, 1); for mu = 0 nothing is lost."""
    if not mu:
        return max(mpf(0), -mpmath.expm1(x))
    return tail(x / mu - mu / 2) - mpmath.exp(x) * tail(x / mu + mu / 2)


def atoms(losses, masses, leak=Fraction(0)):
    return Atoms(
        tuple(Atom(real(Fraction(x)), real(Fraction(m))) for x, m in zip(losses, masses, strict=True)),
        real(Fraction(leak)),
    )


def sum_of_atoms(parts):
    """Losses and masses of a product of atoms, and the chance that every loss is finite."""
    total, finite = Counter({Fraction(0): mpf(1)}), mpf(1)
    for law, copies in parts:
        listed = [(atom.loss.rational, exact(atom.mass.rational)) for atom in law.listed]
        finite *= (1 - exact(law.leak.rational)) ** copies
        for _ in range(copies):
            following = Counter()
            for x, p in total.items():
                for loss, mass in listed:
                    following[x + loss] += p * mass
            total = following
    return total, finite


def quick_delta(mu, x):
    """The same in flint's arithmetic."""
    if not mu:
        return -x.expm1() if x < 0 else arb(0)
    up, down = (x / mu - mu / 2) / arb(2).sqrt(), (x / mu + mu / 2) / arb(2).sqrt()
    return (up.erfc() - x.exp() * down.erfc()) / 2


def delta_around_atoms(finite_parts, normal_parts):
    """δ of atoms and normal losses together, as a function of ε: in many digits."""
    with mpmath.workdps(DIGITS), ctx.workdps(DIGITS + 5):
        total, finite = sum_of_atoms(finite_parts)
        squares = sum((k * law.mu.rational**2 for law, k in normal_parts), Fraction(0))
        mu = flint(squares).sqrt() if squares else 0
        listed = [(loss, of_mpmath(p)) for loss, p in total.items()]

    def delta(x):
        at = x if isinstance(x, Fraction) else Fraction(float(x))
        with mpmath.workdps(DIGITS), ctx.workdps(DIGITS + 5):
            summed = sum((p * quick_delta(mu, flint(at - loss)) for loss, p in listed), arb(0))
            return 1 - finite + to_mpmath(summed)

    return delta


def known(mechanism, x):
    """The answer of an exact route by residues, to its last digits."""
    claim = tr.delta(mechanism, epsilon=Fraction(x))
    assert claim.upper - claim.lower <= 1e-12 * claim.upper
    return mpf((claim.upper + claim.lower) / 2)


def normal(mu):
    return NormalCells(real(Fraction(mu)))


def cells_of(mechanism):
    """The law of one step with a record removed."""
    ((pair, _),) = fact(mechanism, Loss).curve.remove
    return pair.cells()


def share(size, population):
    """Of samples with replacement that hold a record once, twice, …, if they hold it."""
    rate = 1 - (1 - Fraction(1, population)) ** size
    once = Fraction(1, population)
    return rate, [Fraction(math.comb(size, j)) * once**j * (1 - once) ** (size - j) / rate for j in range(1, size + 1)]


def drawn():
    """Three records drawn with replacement from ten, noise that each moves by 1/2."""
    rate, shares = share(3, 10)
    return MixtureCells([(real(s), GluedNormalCells(real(Fraction(j, 2)), rate)) for j, s in enumerate(shares, 1)])


TENTH, FIFTH, ONE = Fraction(1, 10), Fraction(1, 5), real(Fraction(1))
LATTICE = atoms(["1/2", "-1/4", 0], ["3/10", "2/10", "5/10"])
SCATTERED = atoms(["0.7123", "-0.31", "0.05"], ["3/10", "2/10", "4/10"], "1/10")
RESPONSE = tr.RandomizedResponse(epsilon=1)
GLUED_TOP = math.log1p(math.expm1(1) / 5)
EXCHANGED_TOP = GLUED_TOP - math.log1p(math.expm1(-1) / 5)

#: name: (parts, ε, δ(ε), the relative distance of the ends that a planned grid reaches)
CASES = {
    "normal": ([(normal("0.3"), 20)], 2.0, delta_around_atoms([], [(normal("0.3"), 20)]), 1e-6),
    "two normals": (
        [(normal("0.5"), 3), (normal(2), 1)],
        7.0,
        delta_around_atoms([], [(normal("0.5"), 3), (normal(2), 1)]),
        1e-6,
    ),
    "normal, far": ([(normal(1), 4)], 25.0, delta_around_atoms([], [(normal(1), 4)]), 1e-5),
    "normal, ε = 0": ([(normal("0.1"), 5)], 0.0, delta_around_atoms([], [(normal("0.1"), 5)]), 1e-6),
    "atoms on the lattice": ([(LATTICE, 6)], 0.8, delta_around_atoms([(LATTICE, 6)], []), 1e-3),
    "atoms anywhere, a leak": ([(SCATTERED, 5)], 1.0, delta_around_atoms([(SCATTERED, 5)], []), 1e-3),
    "atoms and a normal": (
        [(SCATTERED, 3), (normal(1), 2)],
        3.0,
        delta_around_atoms([(SCATTERED, 3)], [(normal(1), 2)]),
        1e-4,
    ),
    "response": ([(cells_of(RESPONSE), 9)], 2.5, lambda x: known(RESPONSE * 9, x), 1e-6),
    "laplace": ([(LaplaceCells(ONE), 5)], 2.25, lambda x: known(tr.Laplace(scale=1) * 5, x), 1e-5),
    # These by quadrature or residues with many digits: see test_grid_reference.py.
    "sampled normal": ([(SampledNormalCells(ONE, TENTH, False), 2)], 1.5, 6.11304935242823951e-5, 1e-5),
    "glued normal": ([(GluedNormalCells(ONE, TENTH), 2)], 0.4, 0.00769604553164, 1e-6),
    "exchanged normal": ([(ExchangedNormalCells(ONE, TENTH), 2)], 0.5, 0.00922195192450914, 1e-6),
    "ten exchanged": ([(ExchangedNormalCells(ONE, TENTH), 10)], 1.5, 0.00626682673923836, 1e-6),
    "drawn": ([(drawn(), 2)], 0.5, 0.0083015395796, 1e-6),
    "sampled laplace": ([(SampledLaplaceCells(ONE, TENTH, False), 2)], 0.15, 0.0112124754218833, 1e-4),
    "sampled laplace, adding": ([(SampledLaplaceCells(ONE, TENTH, True), 2)], 0.1, 0.009832455357411, 1e-4),
    "glued laplace": ([(GluedLaplaceCells(ONE, FIFTH), 2)], GLUED_TOP * 0.75, 0.0443049566590423, 1e-4),
    "exchanged laplace": ([(ExchangedLaplaceCells(ONE, FIFTH), 2)], EXCHANGED_TOP * 0.75, 0.06879002007387872, 1e-4),
}


def truth(name):
    """δ and how well it is known, relatively."""
    _, x, delta, _ = CASES[name]
    return (delta(x), 1e-12) if callable(delta) else (mpf(delta), 1e-11)


def no_falsehood(grid, places, delta):
    """Both ends of a grid enclose δ at these places, but for the rounding of the truth."""
    for x in places:
        value, low, high = delta(x), grid.lower(x), grid.upper(x)
        assert not low.is_nan(), x
        assert not high.is_nan(), x
        assert mpf(lower_float(low)) <= value + ROUNDING, x
        assert mpf(upper_float(high)) >= value - ROUNDING, x
