"""Certificates proved by sums around atoms, forged: no witness proves a falsehood, and honest ones hold."""

import copy
from fractions import Fraction

import pytest

import tightrope as tr
from attacks.certificates import Found
from tightrope.accounting.facts import fact
from tightrope.curves.engines.atoms_profile import atoms_profile
from tightrope.curves.loss import Loss

NO_PROOF = (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError, tr.NotCertified)


def solved(mechanism, delta):
    profile = atoms_profile(fact(mechanism, Loss).curve)
    delta = Fraction(delta)
    bound, witness = profile.epsilon(delta)
    return profile, delta, bound, witness


PROVED = Found(
    {
        "above the atoms": lambda: solved(
            tr.Gaussian("3.41").poisson("0.0000143") * 2000 + tr.RandomizedResponse(epsilon="0.4") * 4, "1e-22"
        ),
        "between them": lambda: solved(
            tr.Gaussian(1).poisson("0.002") * 9 + tr.RandomizedResponse(epsilon="0.5") * 9, "1e-5"
        ),
        "one direction": lambda: solved(
            tr.Gaussian(2).without_replacement(1, 100) * 5 + tr.RandomizedResponse(epsilon="0.4") * 3, "1e-4"
        ),
    }
)
NUMBERS = ["0/1", "-1/1", "1/1", "1/1000000", "1000000/1", "nan", "inf", "-inf", None, [], {}, "abc"]


def holds(name, witness):
    """Whether a false statement is proved: that an ε below the lower end meets δ, or that one above fails it."""
    profile, delta, bound, _ = PROVED[name]
    found = []
    for prove, at in ((profile.meets, bound.lower * (1 - 1e-5)), (profile.needs, bound.upper * (1 + 1e-5))):
        try:
            found.append(prove(Fraction(at), delta, witness))
        except NO_PROOF:
            found.append(False)
    return any(found)


@pytest.mark.parametrize("name", PROVED)
def test_honest_ones_hold(name):
    profile, delta, bound, witness = PROVED[name]
    assert bound.upper < bound.lower * (1 + 1e-6)
    assert profile.meets(Fraction(bound.upper), delta, witness)
    assert profile.needs(Fraction(bound.lower), delta, witness)
    assert not holds(name, witness)


@pytest.mark.parametrize("name", PROVED)
@pytest.mark.parametrize("field", ["direction", "least", "other", "sides"])
def test_fields_of_the_whole(name, field):
    for value in [*NUMBERS, 0, 1, 2, -1, 0.5, 1e300, {"t": "-1/1"}, {"t": "8/1"}, [[], []], [[{}], [{}]]]:
        assert not holds(name, {**PROVED[name][3], field: value}), value


@pytest.mark.parametrize("name", PROVED)
def test_fields_of_stretches(name):
    witness = PROVED[name][3]
    for side, stretches in enumerate(witness["sides"]):
        for i, stretch in enumerate(stretches):
            for key in {"from", "by", "t", "after"} & set(stretch):  # the plans are the engines' own
                for value in NUMBERS:
                    forged = copy.deepcopy(witness)
                    forged["sides"][side][i][key] = value
                    assert not holds(name, forged), (side, i, key, value)


@pytest.mark.parametrize("name", PROVED)
@pytest.mark.parametrize(
    "stretch",
    [
        {"from": 0.0, "after": 0.0},
        {"from": 0.0, "after": -5.0},
        {"from": 0.0, "after": 1e9},
        {"from": 0.0, "after": "nan"},
        {"from": 0.0, "t": "0/1"},
        {"from": 0.0, "t": "1000/1"},
        {"from": 0.0, "by": "magic"},
        {"from": -1.0, "by": "grid"},
        {},
    ],
)
def test_other_stretches(name, stretch):
    witness = PROVED[name][3]
    for number in range(len(witness["sides"])):
        for stretches in ([stretch], [*witness["sides"][number], stretch], [stretch] * 2, [stretch] * 1000):
            forged = copy.deepcopy(witness)
            forged["sides"][number] = stretches
            assert not holds(name, forged)


def test_plans_of_the_other_direction():
    name = "between them"
    forged = copy.deepcopy(PROVED[name][3])
    forged["sides"].reverse()
    assert not holds(name, forged)
    forged["direction"] = 1 - forged["direction"]
    assert not holds(name, forged)
