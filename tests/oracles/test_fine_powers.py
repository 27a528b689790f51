"""Powers of transforms in doubles from moments: against balls, and against errors put in on purpose."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ComplexBall, ball, precision
from tightrope.numerics.contour import blurred_proof
from tightrope.numerics.contour.blurred import BlurredSum
from tightrope.numerics.real import ZERO, real
from tightrope.numerics.sums.finite import FiniteLaw
from tightrope.numerics.transforms import fine_powers as module
from tightrope.numerics.transforms.closed import LaplaceTransform
from tightrope.numerics.transforms.fine_powers import fine_powers
from tightrope.numerics.transforms.finite import FiniteTransform
from tightrope.numerics.transforms.replace import ReplaceSampledNormalTransform
from tightrope.numerics.transforms.transform import unit

F = Fraction
MOST, NONE = Ball(2) ** -20, Ball(0)


@dataclass(frozen=True)
class Law:
    """Masses of sum 1 and losses; ``error`` as it is said to be."""

    masses: tuple[Fraction, ...]
    places: tuple[Fraction, ...]
    error: Ball = NONE

    @property
    def shares(self):
        return [ball(m) for m in self.masses]

    @property
    def losses(self):
        return [ball(p) for p in self.places]

    def power(self, y, copies):
        """φ(y)^copies in balls."""
        with precision(400):
            pairs = zip(self.masses, self.places, strict=True)
            return sum((ball(m) * unit(ball(p * y)) for m, p in pairs), ComplexBall(0)) ** copies


def law(rare=0, heavy=40):
    """Nine losses around a third, lopsided, and rare heavy ones."""
    weights, middle = [F(k + 1) for k in range(9)], F(1, 3)
    masses = [(1 - rare) * w / sum(weights) for w in weights]
    places = [middle + F(k - 5, 100) for k in range(9)]
    if rare:
        masses += [rare / 4] * 4
        places += [middle + heavy + k for k in range(4)]
    return Law(tuple(masses), tuple(places))


CASES = [
    (law(), F(1, 50), 10**4, 200),
    (law(), F(1, 3000), 10**6, 1300),
    (law(rare=F(1, 10**5)), F(1, 40), 10**5, 40),
    (law(rare=F(1, 10**6), heavy=-1000), F(1, 300), 10**5, 400),
]


def worst(found, terms, eta, indices, copies):
    """The largest error in units of the one that is stated."""
    result = 0.0
    for k, value in zip(indices, found.values, strict=True):
        truth = terms.power(int(k) * eta, copies)
        with precision(200):
            off = (truth - ComplexBall(float(value.real), float(value.imag))).abs_upper()
            result = max(result, float(off / (abs(value) * found.error)))
    return result


@pytest.mark.parametrize(("terms", "eta", "copies", "last"), CASES)
def test_powers_are_within_a_small_error(terms, eta, copies, last):
    indices = np.unique(np.linspace(0, last, 30).astype(int))
    found = fine_powers(terms, eta, indices, copies, MOST)
    assert found.error < 2e-11
    assert found.values[0] == 1
    assert abs(found.values[-1]) < 0.1
    assert worst(found, terms, eta, indices, copies) <= 1


@pytest.mark.parametrize("place", ["_series", "sums_at", "Phases"])
@pytest.mark.parametrize(("more", "holds"), [(0.9, True), (1e4, False)])
def test_an_error_of_each_step_is_covered_and_not_much_more(monkeypatch, place, more, holds):
    """A step that is off by all that it says, and by far more."""
    terms, eta, copies, last = CASES[2 if place == "sums_at" else 1]
    indices = np.arange(0, last, 10)
    if place == "Phases":

        class Off(module.Phases):
            def at(self, indices):
                return super().at(indices) * (1 + more * more * self.ERROR * 2.0**-53)

        monkeypatch.setattr(module, "Phases", Off)
    else:
        before = getattr(module, place)

        def off(*args):
            values, error = before(*args)
            return values + more * float(error) * 1j, error

        monkeypatch.setattr(module, place, off)
    found = fine_powers(terms, eta, indices, copies, Ball(1))
    assert (worst(found, terms, eta, indices, copies) <= 1) is holds


def test_what_the_series_leaves_out_is_counted(monkeypatch):
    terms, eta, copies, last = law(), F(1, 2), 200, 12
    indices = np.arange(last + 1)
    monkeypatch.setattr(module, "_TINY", 1e-3)
    rough = fine_powers(terms, eta, indices, copies, Ball(10))
    assert 1e-3 < worst(rough, terms, eta, indices, copies) <= 1
    before = module._moments
    monkeypatch.setattr(module, "_moments", lambda *args: (before(*args)[0], Ball(0)))
    blind = fine_powers(terms, eta, indices, copies, Ball(10))
    assert worst(blind, terms, eta, indices, copies) > 1


def test_a_law_that_is_only_nearly_right_says_so():
    terms, eta, copies, indices = law(), F(1, 3000), 10**6, np.arange(0, 1300, 100)
    masses = list(terms.masses)
    masses[0], masses[8] = masses[0] + F(1, 10**13), masses[8] - F(1, 10**13)
    near = Law(tuple(masses), terms.places, Ball(F(2, 10**13).numerator) / 10**13)
    found = fine_powers(near, eta, indices, copies, Ball(1))
    assert worst(found, terms, eta, indices, copies) <= 1
    blind = fine_powers(Law(near.masses, near.places), eta, indices, copies, Ball(1))
    assert worst(blind, terms, eta, indices, copies) > 1
    light = Law(tuple(m * F(10**12 - 1, 10**12) for m in terms.masses), terms.places)  # masses that do not sum to 1
    found = fine_powers(light, eta, indices, copies, Ball(1))
    assert found.error > 1e-6


def test_refusals():
    terms = law()
    assert fine_powers(terms, F(100), np.arange(50), 1000, MOST) is None  # φ is far from 1
    assert fine_powers(terms, F(1, 50), np.arange(200), 10**4, Ball(2) ** -60) is None
    assert fine_powers(law(rare=F(1, 3)), F(1, 10), np.arange(9), 10**4, MOST) is None  # heavy losses are not rare
    assert fine_powers(terms, F(1, 50), np.arange(1000), 10**4, MOST) is None  # powers beyond doubles
    assert fine_powers(Law((F(1, 2), F(1, 2)), (F(-10), F(10))), F(1), np.arange(3), 9, MOST) is None  # none is light
    assert fine_powers(terms, F(1), np.array([0, 0]), 9, MOST).values.tolist() == [1, 1]


def test_a_blurred_contour_of_many_exchanged_copies_needs_no_balls(monkeypatch):
    """The same value as with nodes in balls, and nearly as narrow; without either it is wider."""
    parts = [(ReplaceSampledNormalTransform(real(F(1, 5)), F(1, 500)), 20_000), (LaplaceTransform(F(1, 3)), 3)]
    total = BlurredSum(parts)
    plan, x = total.plan(1.5, 1e-9), Ball(1.5)
    fine = total.call(x, plan)
    monkeypatch.setattr(blurred_proof, "fine_powers", lambda *_: None)
    in_balls = BlurredSum(parts).call(x, plan)
    monkeypatch.setattr(blurred_proof, "_finer", lambda *_: None)
    plain = BlurredSum(parts).call(x, plan)
    assert fine.overlaps(in_balls)
    assert fine.overlaps(plain)
    assert fine.rad() < 1.1 * in_balls.rad()
    assert fine.rad() < plain.rad()


def finite(numerators, steps):
    """A law of a few losses."""
    total = sum(numerators)
    return FiniteTransform(
        FiniteLaw(tuple(real(F(s, 100)) for s in steps), tuple(real(F(n, total)) for n in numerators), ZERO)
    )


def test_where_few_nodes_are_left_these_are_taken_alone(monkeypatch):
    """Two laws of atoms, one of them often: the other is asked for its few nodes, and says the same."""
    parts = [(finite((3, 3, 4), (31, -20, -11)), 300_000), (finite((5, 4, 1), (17, -23, 1)), 40)]
    total, x = BlurredSum(parts), Ball(-2900)
    plan = total.plan(-2900.0, 1e-8)
    asked = []
    alone = blurred_proof.sums_at
    monkeypatch.setattr(blurred_proof, "sums_at", lambda *args: asked.append(len(args[2])) or alone(*args))
    value = BlurredSum(parts).call(x, plan)
    assert asked
    assert max(asked) * 100 <= plan.count
    monkeypatch.setattr(blurred_proof, "_SPARSE", plan.count + 2)
    number = len(asked)
    other = BlurredSum(parts).call(x, plan)
    assert len(asked) == number
    assert value.overlaps(other)
    assert value.rad() < 1.01 * other.rad()


def test_a_transform_without_fine_nodes_is_taken_in_doubles(monkeypatch):
    parts = [(finite((3, 3, 4), (31, -20, -11)), 30_000)]
    total = BlurredSum(parts)
    plan, x = total.plan(100.0, 1e-8), Ball(100)
    fine = total.call(x, plan)

    def refuse(*_):
        raise NotCertified("nodes in balls", "not here")

    monkeypatch.setattr(FiniteTransform, "at", refuse)
    monkeypatch.setattr(FiniteTransform, "terms_up_to", refuse)
    plain = BlurredSum(parts).call(x, plan)
    assert fine.overlaps(plain)
    assert fine.rad() < plain.rad()
    monkeypatch.setattr(FiniteTransform, "at_cost", lambda *_: 1e9)  # too dear is not tried
    assert BlurredSum(parts).call(x, plan).rad() == plain.rad()


class Listed(FiniteTransform):
    """A finite law whose sum is said to be off by a thousandth."""

    def terms_of(self, t):
        known = super().terms_of(t)
        return type(known)(known.shares, known.losses, known.error + Ball(1) / 1000)

    def terms_up_to(self, t, end):
        del end
        return self.terms_of(t)


def test_blurred_contours_take_over_every_error(monkeypatch):
    """What a sum, a line and a power are said to be off by is in the error of what is made of them."""
    transform = Listed(FiniteLaw((real(F(-1, 3)), real(F(1, 2))), (real(F(2, 5)), real(F(3, 5))), ZERO))
    plan = blurred_proof.BlurPlan(F(1), F(1, 64), 4096, 2**13)
    few = np.array([0, 1, 5])
    thousandth = Ball(1) / 1000
    assert blurred_proof._line(transform, 3, plan, few).error > thousandth * 0.99
    rough = module.FinePowers(np.ones(3, dtype=np.complex128), thousandth)
    monkeypatch.setattr(blurred_proof, "fine_powers", lambda *_: rough)
    assert blurred_proof._finer(transform, 3, plan, few).error > thousandth * 0.99


@pytest.mark.parametrize("copies", [50, 60, 400])
def test_a_power_of_many_copies_is_near_where_it_is_light(copies):
    """Where |φ|^k is e^−50 an error e of φ is larger, relatively, by e^{50/k}."""
    size, error = np.exp(-50.0 / copies), Ball(10) ** -9
    for sign in (1, -1):
        line = blurred_proof.FloatNodes(
            np.array([size + 0j]), error, np.ones(1, dtype=np.bool_)
        )
        found = blurred_proof._power(line, copies)
        with precision(200):
            off = abs((Ball(size) + sign * error) ** copies - Ball(size) ** copies)
            assert off <= found.error * Ball(float(found.weights[0]))
            assert off > found.error * Ball(float(found.weights[0])) * 0.3
