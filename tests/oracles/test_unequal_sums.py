"""Few steps of normal laws of unequal variance, sampled or not, beside others: δ and ε against quadrature and lattices
that share nothing with the engine."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import grid_reference as ref
import mpmath as mp
import numpy as np
import pytest
from flint import ctx
from quick_numbers import flint
from unequal_truth import FloatPair, Pair

import tightrope as tr
from tightrope.accounting.facts import fact
from tightrope.curves.engines.grid_profile import grid_profile
from tightrope.curves.loss import Loss
from tightrope.numerics.balls import lower_float, upper_float

ROUGH = 3e-8  # of δ: borders lie on no lattice, and the errors of lattices are not quite a series
WIDE, NARROW, CENTRED = (1, "1.2", 0, 1), ("0.5", 1, 0, "1.3"), (0, 2, 0, 1)  # P the wider law, the narrower, one mean


def pair(setting, rate=None):
    found = tr.GaussianPair(*setting)
    return found if rate is None else found.poisson(rate)


def both(setting, rate=None, kind=Pair):
    """The pair of a record removed, and of one added."""
    given = [Fraction(x) for x in setting]
    if kind is Pair:
        kind = partial(Pair, number=flint)
    else:
        given = list(map(float, given))
    if rate is None:
        return kind(*given), kind(*given[2:], *given[:2])
    share = float(rate) if kind is FloatPair else Fraction(rate)
    return kind(*given, share), kind(*given, share, True)


TWO = [
    ((WIDE, None), (NARROW, None), "3"),
    ((WIDE, None), (NARROW, None), "18"),
    ((WIDE, "0.1"), (WIDE, "0.1"), "0.5"),
    ((NARROW, "0.1"), (NARROW, "0.1"), "0.1"),
    ((WIDE, "1e-3"), (NARROW, "0.4"), "0.7"),
    ((CENTRED, "0.02"), (WIDE, "0.9"), "4"),
]


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(("first", "second", "epsilon"), TWO)
def test_two_steps_by_quadrature(first, second, epsilon):
    with mp.workdps(22), ctx.workdps(30):
        x = flint(Fraction(epsilon))
        truth = max(one.beside(other, x) for one, other in zip(both(*first), both(*second), strict=True))
        mechanism = pair(*first) + pair(*second)
        found = [tr.delta(mechanism, epsilon=epsilon)]
        profile = grid_profile(fact(mechanism, Loss).curve)
        value = profile.prove(Fraction(epsilon), profile.find(Fraction(epsilon)))
        ends = [(one.lower, one.upper) for one in found] + [(lower_float(value), upper_float(value))]
        for low, high in ends:
            assert low <= truth * (1 + mp.mpf(10) ** -14)
            assert high >= truth * (1 - mp.mpf(10) ** -14)
            assert high - low <= 3e-6 * high


@dataclass(frozen=True)
class Response:
    """A binary answer."""

    epsilon: float
    infinite = 0.0

    def cells(self, edges):
        return np.zeros(len(edges) - 1), np.zeros(len(edges) - 1)

    def atoms(self):
        top = 1 / (1 + math.exp(-self.epsilon))
        return [(self.epsilon, top), (-self.epsilon, 1 - top)]


def gaussian(sigma, rate):
    return [ref.Sampled(ref.Normal(), 1 / sigma, rate, adding) for adding in (False, True)]


LAPLACE = ref.Sampled(ref.Laplace(), 1.0, 1.0)


@dataclass(frozen=True)
class Case:
    """A mechanism, its laws in both directions (the last of them in closed form), δ, and how far losses reach."""

    mechanism: tr.Mechanism
    parts: list
    delta: float
    reach: float

    def value(self, x):
        """δ at x and its error."""
        values = []
        for number in range(2):
            parts = [(laws[number], count) for laws, count in self.parts]
            values.append(ref.reference(parts, x, 1.0, self.reach, 2**12))
        value, error = max(values)
        return value, error + ROUGH * value


def sampled(setting, rate, copies, delta, reach):
    return Case(pair(setting, rate) * copies, [(both(setting, rate, FloatPair), copies)], delta, reach)


def beside(setting, rate, copies, other, delta, reach):
    """``other``: its mechanism, laws and count."""
    mechanism, laws, count = other
    own = (both(setting, rate, FloatPair), copies)
    return Case(pair(setting, rate) * copies + mechanism * count, [(laws, count), own], delta, reach)


CASES = {
    "two and another": Case(
        pair(WIDE) * 2 + pair(NARROW),
        [(both(NARROW, None, FloatPair), 1), (both(WIDE, None, FloatPair), 2)],
        1e-6,
        40,
    ),
    **{f"wide, {k}": sampled(WIDE, "0.1", k, 1e-5, 25) for k in (2, 5, 20)},
    **{f"narrow, {k}": sampled(NARROW, "0.2", k, 1e-4, 3) for k in (3, 20)},
    "one mean": sampled(CENTRED, "0.05", 6, 1e-3, 60),
    "rare": sampled(WIDE, "0.01", 12, 1e-4, 12),
    "often": sampled(NARROW, "0.97", 4, 1e-5, 25),
    "laplace": beside(NARROW, "0.1", 3, (tr.Laplace(1), [LAPLACE] * 2, 2), 1e-5, 6),
    "plain, laplace": beside(WIDE, None, 2, (tr.Laplace(1), [LAPLACE] * 2, 3), 1e-6, 40),
    "response": beside(WIDE, "0.1", 3, (tr.RandomizedResponse(epsilon=1), [Response(1.0)] * 2, 2), 1e-5, 25),
    "gaussian": beside(NARROW, "0.1", 3, (tr.Gaussian(2).poisson("0.05"), gaussian(2.0, 0.05), 4), 1e-5, 6),
}


COUNTED = ("wide, 2", "narrow, 3", "plain, laplace")  # the others are long, and come by the same lines


@pytest.mark.parametrize(
    "name", [name if name in COUNTED else pytest.param(name, marks=pytest.mark.no_cover) for name in CASES]
)
def test_few_steps_by_lattices(name):
    case = CASES[name]
    claim = tr.epsilon(case.mechanism, delta=case.delta)
    assert claim.tight
    assert 0 < claim.upper - claim.lower <= 1e-6 * claim.upper
    assert tr.check(claim.to_json())
    (high, off_high), (low, off_low) = case.value(claim.upper), case.value(claim.lower)
    assert max(off_high, off_low) < 1e-6 * case.delta
    assert high <= case.delta + off_high
    assert low >= case.delta - off_low
    beyond, off = case.value(claim.upper * (1 + 1e-5))
    assert beyond + off < case.delta
    middle = round(claim.upper * 0.7, 3)
    there = tr.delta(case.mechanism, epsilon=middle)
    value, off = case.value(middle)
    assert there.lower - off <= value <= there.upper + off
    assert there.upper - there.lower <= 2e-6 * there.upper
