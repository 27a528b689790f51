"""Products of transforms that are low for all y of a stretch: what is proved holds at every y that is tried."""

import math
from fractions import Fraction

import numpy as np
import pytest

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, precision
from tightrope.numerics.real import Real
from tightrope.numerics.sums.finite import scattered
from tightrope.numerics.transforms.block_sums import Patience
from tightrope.numerics.transforms.closed import LaplaceTransform, NormalTransform
from tightrope.numerics.transforms.exchanged_discrete import ExchangedDiscreteNormalTransform
from tightrope.numerics.transforms.finite import FiniteTransform
from tightrope.numerics.transforms.glued import GluedNormalTransform
from tightrope.numerics.transforms.low_stretches import low_parts, low_up_to, near_end
from tightrope.numerics.transforms.mixture import MixtureTransform
from tightrope.numerics.transforms.symmetric_laplace import SymmetricLaplaceTransform

F = Fraction
TILT = F(1, 2)


def exchanged(shift=1, variance=5):
    return ExchangedDiscreteNormalTransform(F(variance), shift, F(1, 20), True)


def three_losses(part=3):
    loss = 1 / F(part)
    return FiniteTransform(
        scattered([Real(F(0)), Real(loss), Real(-loss)], [Real(F(1, 2)), Real(F(3, 10)), Real(F(1, 5))], Real(F(0)))
    )


def sizes(parts, y):
    """ln of the product at some y, from the transforms in balls."""
    total = np.zeros(len(y))
    for transform, copies in parts:
        for i, at in enumerate(y):
            with precision(80):
                phi = transform.nodes(TILT, F(float(at)), 1)[1]
                total[i] += copies * float(abs(phi).upper().log())
    return total


MIXED = MixtureTransform([(Real(F(9, 10)), exchanged()), (Real(F(1, 100)), exchanged(3))])
RULED = MixtureTransform([(Real(F(9, 10)), SymmetricLaplaceTransform(F(1), F(1, 20), True))])
SUMS = [
    ([(exchanged(), 4000)], 40.0, F(5000)),
    ([(MIXED, 3000), (three_losses(), 5)], 30.0, F(4000)),
    ([(exchanged(1, 100), 2000), (exchanged(1, 57), 2500)], 35.0, F(9000)),
    ([(SymmetricLaplaceTransform(F(1, 2), F(1, 10), False), 900)], 30.0, F(10**7)),
    ([(RULED, 3000)], 25.0, F(10**6)),
]


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(("parts", "nats", "end"), SUMS)
def test_what_is_called_low_is_low(parts, nats, end):
    deviation = math.sqrt(
        sum(n * float(np.diff(transform.log_floats([0.45, 0.5, 0.55]), 2)[0]) / 0.05**2 for transform, n in parts)
    )
    first = F(math.ceil(16 * math.sqrt(2 * nats) / deviation * 1.6)) / 16
    found = low_parts(parts, TILT)
    assert low_up_to(found, first, end, nats) == end
    places = np.concatenate(
        [np.geomspace(float(first), min(float(end), 4000.0), 25), np.linspace(float(first), 4 * float(first), 15)]
    )
    allowed = -nats + np.log(places / float(first))
    assert (sizes(parts, places) <= allowed + 1e-9).all()
    # and nothing is called low that is not: right before the first node it is far from it
    assert low_up_to(found, first / 8, end, nats) < first
    with precision(80):
        y = near_end(found, first, end, nats)
    assert first <= y <= end
    assert (sizes(parts, np.linspace(float(first), float(y), 7)) <= -nats + 1e-9).all()


def test_a_lattice_comes_back():
    parts = [(three_losses(), 400)]
    found = low_parts(parts, TILT)
    back = 2 * math.pi * 3
    assert low_up_to(found, F(4), F(14), 40.0) == 14
    reached = float(low_up_to(found, F(4), F(100), 40.0))
    assert 14 <= reached < back
    assert float(sizes(parts, [back])[0]) > -1e-6
    # a second part that is low there helps, a few copies of it do not
    for copies, enough in ((500, True), (3, False)):
        both = low_parts([*parts, (three_losses(F(7, 2)), copies)], TILT)
        assert (low_up_to(both, F(4), F(100), 20.0) == 100) is enough


def test_what_decays_is_low_for_good():
    normal = low_parts([(NormalTransform(Real(F(1, 100))), 100), (three_losses(), 3)], TILT)
    assert low_up_to(normal, F(10), F(10) ** 9, 49.0) == F(10) ** 9
    assert low_up_to(normal, F(10), F(10) ** 9, 51.0) < 20
    assert normal[0].log_decay(10.0) == pytest.approx(-50, abs=1e-6)
    assert normal[0].logs(np.array([10.0]))[0] == 0.0
    glued = low_parts([(GluedNormalTransform(Real(F(1, 2)), F(1, 20)), 3000)], TILT)
    assert low_up_to(glued, F(60), F(10) ** 6, 30.0) == F(10) ** 6


def test_what_neither_decays_nor_is_a_sum_is_not_low():
    parts = low_parts([(LaplaceTransform(F(1)), 2)], TILT)  # there are atoms, and two copies only
    assert low_up_to(parts, F(10), F(100), 30.0) == 10
    assert near_end(parts, F(10), F(100), 30.0) == 10


def test_what_gives_up_is_not_low(monkeypatch):
    glued = GluedNormalTransform(Real(F(1, 2)), F(1, 20))

    def gives_up(*_):
        raise NotCertified("a decay", "there is none")

    monkeypatch.setattr(glued, "terms_up_to", gives_up)
    (part,) = low_parts([(glued, 3000)], TILT)
    assert part.sums == ()
    monkeypatch.setattr(glued, "decay", gives_up)
    assert low_up_to([part], F(60), F(10) ** 6, 30.0) == 60
    (light,) = low_parts([(MIXED, 10)], TILT)  # what the lightest terms leave out is more than is asked for
    assert not light.sums[0].low(F(10), F(11), light.goal(100.0), Patience())


def test_lighter_terms_are_counted_by_their_mass():
    with precision(100):
        (part,) = low_parts([(MIXED, 100)], TILT)
        numbers = [len(one.shares) for one in part.sums]
        assert numbers == sorted(numbers)
        assert numbers[0] < numbers[-1]
        for one in part.sums:
            assert sum(one.shares, Ball(0)) + one.error >= 1 - Ball(10) ** -20
            y = np.array([3.0, 50.0])
            assert (one.sizes(y) >= part.sums[-1].sizes(y) - 1e-12).all()


def test_patience_has_an_end():
    """What a trial costs is taken from it, and where none is left nothing is proved."""
    parts = low_parts([(exchanged(1, 57), 2500)], TILT)
    (whole,) = parts[0].sums[-1:]
    with precision(100):
        patience = Patience(1e6)
        assert whole.low(F(200), F(600), Ball(0.99), patience)
        assert 0 < patience.left < 1e6
        spent = 1e6 - patience.left
        assert not whole.low(F(200), F(600), Ball(0.99), Patience(spent / 100))
        assert whole.low(F(200), F(600), Ball(0.99), Patience(2 * spent))
