"""Where proofs that nodes are low must end: at a recurrence, at the end of a quadrature, and within its error."""

import math
from fractions import Fraction

import numpy as np
import pytest

from tightrope.numerics.balls import Ball, precision
from tightrope.numerics.real import Real
from tightrope.numerics.sums.finite import scattered
from tightrope.numerics.transforms.block_sums import Patience, stretch_bound
from tightrope.numerics.transforms.finite import FiniteTransform
from tightrope.numerics.transforms.low_stretches import low_parts, low_up_to, near_end
from tightrope.numerics.transforms.settled_nodes import Quadrature

F = Fraction
TILT = F(1, 2)


class Ruled:
    """|φ| = |cos(y/2)| but for an error, by a quadrature that serves up to 1."""

    tilt_cost, decay_cost, fall_cost = 1.0, 0.0, 0.0

    def __init__(self, error):
        self.error = error

    def terms_of(self, t):  # noqa: ARG002
        return None

    def terms_up_to(self, t, end):  # noqa: ARG002
        assert end == 1
        return Quadrature([Ball(0.5), Ball(0.5)], [Ball(-0.5), Ball(0.5)], Ball(self.error))

    def log_decay_floats(self, t, y):  # noqa: ARG002
        return 0.0 * y


def test_a_recurrence_ends_a_stretch():
    """Two losses one apart: |φ| is 1 again at 2π, which is not far enough for e^{−4}·y/y₀ to be 1."""
    law = scattered([Real(F(0)), Real(F(1))], [Real(F(5, 8)), Real(F(3, 8))], Real(F(0)))
    first = F(1, 2)
    reached = low_up_to(low_parts([(FiniteTransform(law), 200)], TILT), first, F(20), 4.0)
    y = np.linspace(float(first), float(reached), 4000)
    shares = np.array([5.0, 3.0 * math.exp(0.5)])
    sizes = np.abs(np.exp(1j * np.multiply.outer(y, [0.0, 1.0])) @ (shares / shares.sum()))
    assert (200 * np.log(sizes) <= -4.0 + np.log(y / float(first))).all()
    assert 4 < reached < 2 * math.pi


def test_a_quadrature_says_nothing_beyond_its_end():
    (part,) = low_parts([(Ruled(0.0), 100)], TILT)
    assert part.near(F(1, 2))[1] == 1  # its moments alone would reach 2.4
    with precision(100):
        whole = part.sums[-1]
        assert whole.low(F(1, 2), F(1), Ball(0.98), Patience())
        assert not whole.low(F(1, 2), F(5, 4), Ball(0.98), Patience())
    assert near_end([part], F(1, 2), F(3), 2.0) == 1
    assert low_up_to([part], F(1, 2), F(3), 2.0) == 1


def test_the_error_of_a_quadrature_counts():
    (part,) = low_parts([(Ruled(0.01), 100)], TILT)
    exact = math.cos(0.25)
    with precision(100):
        log = part.near(F(1, 2))[0]
        assert log >= 100 * math.log(exact + 0.01)
        assert log <= 100 * math.log(exact + 0.0101)
        whole = part.sums[-1]
        assert not whole.low(F(1, 2), F(1), Ball(exact + 0.0085), Patience())
        assert whole.low(F(1, 2), F(1), Ball(exact + 0.018), Patience())


def test_parts_help_each_other_as_far_as_each_reaches():
    near, far = Ruled(0.0), FiniteTransform(scattered([Real(F(0)), Real(F(1, 2))], [Real(F(1, 2))] * 2, Real(F(0))))
    parts = low_parts([(near, 60), (far, 60)], TILT)
    alone = [part.near(F(1, 2)) for part in parts]
    with precision(100):
        both = -float((alone[0][0] + alone[1][0]).upper())
        assert min(-float(log.upper()) for log, _ in alone) < 0.9 * both
        assert near_end(parts, F(1, 2), F(3), 0.95 * both) == 1
        assert near_end(parts, F(1, 2), F(3), 1.05 * both) == F(1, 2)


@pytest.mark.parametrize("goal", [0.9, 0.97, 0.99])
def test_a_peak_between_the_places_of_a_grid_is_seen(goal):
    """|cos(y/2)| is 1 at 2π, wherever the places lie."""
    with precision(100):
        for k in range(40):
            low = F(4) + F(k, 40)
            bound = stretch_bound([Ball(0.5), Ball(0.5)], [Ball(-0.5), Ball(0.5)], low, low + F(7, 2), goal)
            assert bound >= 1
            lower = stretch_bound([Ball(0.5), Ball(0.5)], [Ball(-0.5), Ball(0.5)], F(1), F(2) + F(k, 40), goal)
            assert math.cos(0.5) <= lower
            assert lower <= goal
