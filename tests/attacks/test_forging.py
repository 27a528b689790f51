"""Forged certificates: a statement stronger than the truth is never confirmed, and a weaker one still is."""

import copy
import json
import math

import pytest

import tightrope as tr
from attacks.certificates import CLAIMS, DATA, changed, confirmed
from laws.registered import EVERYTHING, QUESTIONS, answers


def number(x):
    return x if math.isfinite(x) else "inf"


def test_there_are_many_certificates():
    assert len(CLAIMS) > 40


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("name", CLAIMS)
def test_a_smaller_upper_end_is_refused_and_a_larger_one_holds(name):
    """Below the proved lower end the statement is false."""
    claim, data = CLAIMS[name], DATA[name]
    assert confirmed(data)
    falsehoods = [claim.lower * (1 - 1e-9), claim.lower / 2, 0.0] if claim.lower > 0 else []
    if claim.tight and claim.upper > 0 and math.isfinite(claim.upper):
        falsehoods.append(claim.upper * (1 - 1e-6))
    for upper in falsehoods:
        if upper < claim.lower:
            assert not confirmed(changed(data, upper=upper, lower=0.0, computed=[0.0, upper])), upper
    if math.isfinite(claim.upper):
        most = 1.0 if claim.question.ask in ("delta", "advantage") else 1e308
        for upper in (min(claim.upper * 1.5 + 1e-3, most), min(claim.upper * (1 + 1e-9), most)):
            assert confirmed(changed(data, upper=max(upper, claim.upper), tight=False)), upper


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("name", CLAIMS)
def test_a_larger_lower_end_is_refused_and_a_smaller_one_holds(name):
    claim, data = CLAIMS[name], DATA[name]
    most = 1.0 if claim.question.ask in ("delta", "advantage") else 1e308
    if math.isfinite(claim.upper):
        for lower in (claim.upper * (1 + 1e-9) + 1e-300, claim.upper * 2 + 1e-12):
            if claim.upper < lower <= most:
                assert not confirmed(changed(data, lower=lower, upper=most)), lower
        assert not confirmed(changed(data, lower=most, upper="inf"))
    for lower in (claim.lower * (1 - 1e-9), claim.lower / 2 if math.isfinite(claim.lower) else 1.0, 0.0):
        assert confirmed(changed(data, lower=number(lower), tight=False)), lower


@pytest.mark.parametrize(
    "name", [n for n, c in CLAIMS.items() if c.tight and 0 < c.upper < math.inf and c.question.ask != "tcdp"]
)
def test_every_digit_of_the_upper_end(name):
    """Lower each of the first twelve digits by one: the number is then below the truth."""
    claim, data = CLAIMS[name], DATA[name]
    text = f"{claim.upper:.17e}"
    digits = [i for i in range(14) if text[i] != "."]
    for i in digits:
        if text[i] == "0":
            continue
        forged = float(text[:i] + str(int(text[i]) - 1) + text[i + 1 :])
        if forged < claim.lower:
            assert not confirmed(changed(data, upper=forged, lower=0.0, computed=[0.0, forged])), forged


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("name", [n for n, c in CLAIMS.items() if c.tight and 0 < c.lower < c.upper < math.inf])
def test_a_changed_digit_of_a_tight_lower_end_is_seen(name):
    """A smaller lower end is a weaker statement, and true; but then it is not tight, and must not say so."""
    claim, data = CLAIMS[name], DATA[name]
    for lower in (0.0, claim.lower / 10, claim.lower * 0.9, claim.lower * (1 - 1e-4)):
        assert not confirmed(changed(data, lower=lower)), lower
        assert "far apart" in str(tr.check(changed(data, lower=lower)))
        assert confirmed(changed(data, lower=lower, tight=False)), lower
    assert not confirmed(changed(data, upper=claim.upper * 1.1))


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("m", EVERYTHING, ids=str)
def test_what_is_called_tight_is_tight(m):
    """Ends of honest certificates are far closer than what check allows, down to the smallest numbers."""
    claims = [claim for _, claim in answers(m, "epsilon", "delta", "zcdp", "tcdp")]
    for claim in [*claims, tr.delta(m, epsilon=30), tr.epsilon(m, delta="1e-100")]:
        if claim.tight and 1e-300 < claim.upper < math.inf:
            assert claim.upper - claim.lower <= 1e-8 * claim.upper, claim


@pytest.mark.parametrize("name", [n for n, c in CLAIMS.items() if not c.tight])
def test_calling_a_loose_bound_tight_is_refused(name):
    assert not confirmed(changed(DATA[name], tight=True))


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("name", CLAIMS)
def test_another_relation_is_refused(name):
    stated = CLAIMS[name].relation
    for relation in ("add-remove", "replace", "as stated", "zero-out", ""):
        if relation != stated:
            assert not confirmed(changed(DATA[name], relation=relation)), relation


@pytest.mark.parametrize("name", [n for n, c in CLAIMS.items() if c.lower > 0 and c.upper < math.inf])
def test_a_costlier_mechanism_under_the_same_number_is_refused(name):
    """The same text for ten times as many runs: the truth is then above the upper end stated."""
    claim, data = CLAIMS[name], DATA[name]
    dearer = claim.mechanism * 10
    asked = QUESTIONS[name.split(" of ")[0]](dearer)
    if asked.lower > claim.upper:
        assert not confirmed(changed(data, mechanism=str(dearer)))
        assert not confirmed(changed(data, mechanism=str(dearer), lower=0.0))
    free = str(claim.mechanism * 0)
    assert not confirmed(changed(data, mechanism=free))


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(
    "name",
    [n for n, c in CLAIMS.items() if c.question.ask in ("epsilon", "delta") and c.lower > 0 and c.upper < math.inf],
)
def test_a_harder_question_under_the_same_number_is_refused(name):
    claim, data = CLAIMS[name], DATA[name]
    key, harder = ("delta", "1e-30") if claim.question.ask == "epsilon" else ("epsilon", "0")
    truth = (tr.epsilon if claim.question.ask == "epsilon" else tr.delta)(claim.mechanism, harder)
    if truth.lower > claim.upper:
        question = {**data["question"], key: harder}
        assert not confirmed(changed(data, question=question, lower=0.0))


WITNESSES = [
    {},
    {"order": "1/1"},
    {"order": "1/2"},
    {"order": "-3/1"},
    {"order": "0/1"},
    {"order": 1},
    {"order": 1.5},
    {"order": "inf"},
    {"order": None},
    {"order": []},
    {"order": "100000000000000000000/1"},
    {"order": "1000001/1000000"},
    {"order": "abc"},
    {"order": "1/0"},
    {"order": True},
    {"cuts": []},
    {"cuts": [[0, 0, 2]]},
    {"cuts": [["1/2", "1/2", "1/2"]]},
    {"cuts": [[0.5, 0.5, 0]]},
    {"cuts": [["2/1", "-1/1", "2/1"]]},
    {"cuts": [[1, 0, 2]]},
    {"cuts": [[0, 1, 2]]},
    {"cuts": "abc"},
    {"cuts": [[]]},
    {"cuts": None},
    {"cuts": [["1/2", "1/2", "1/1"]]},
    {"cuts": [["1/3", "1/1000000000", "-5/1"]]},
    {"epsilon": "1/2"},
    {"direction": 7},
    {"direction": -1},
    {"t": "0/1"},
    {"t": -5},
]
ROUTES = [
    "exact",
    "group",
    "optimal",
    "gdp",
    "rdp",
    "zcdp",
    "rdp-optimal",
    "basic",
    "advanced",
    "clt",
    "none",
    "trivial",
    "parallel",
    "",
    "__class__",
]


@pytest.mark.parametrize(
    "name",
    [n for n, c in CLAIMS.items() if c.question.ask in ("epsilon", "delta") and c.lower > 0 and c.upper < math.inf][
        ::4
    ],
)
def test_no_witness_and_no_route_proves_a_falsehood(name):
    """Orders below 1, tangents that cut nothing, routes that do not apply: they never confirm what is false."""
    claim, data = CLAIMS[name], DATA[name]
    false = changed(data, upper=claim.lower * 0.9, lower=0.0, tight=False, computed=[0.0, claim.lower * 0.9])
    for route in ROUTES:
        for witness in [data["witness"], *WITNESSES]:
            assert not confirmed(changed(false, witness={**witness, "route": route})), (route, witness)


@pytest.mark.parametrize("name", list(CLAIMS)[::7])
def test_proof_lines_name_known_theorems(name):
    data = DATA[name]
    if not data["proof"]:
        return
    for theorem in ("no_such_theorem", "", None, 7, "__init__"):
        proof = copy.deepcopy(data["proof"])
        proof[0]["theorem"] = theorem
        assert not confirmed(changed(data, proof=proof)), theorem
    for proof in ("abc", [1], [{}], {"theorem": 1}, None):
        assert not confirmed(changed(data, proof=proof)), proof


@pytest.mark.parametrize("name", [n for n, c in CLAIMS.items() if c.proof and c.upper < math.inf][::5])
def test_a_proof_that_is_not_the_proof_is_refused(name):
    """The lines are part of what is certified: swapping theorems, dropping lines or changing counts is seen."""
    data = DATA[name]
    swapped = copy.deepcopy(data["proof"])
    swapped[0]["theorem"] = "stated_pure" if swapped[0]["theorem"] != "stated_pure" else "stated_gaussian"
    counted = copy.deepcopy(data["proof"])
    counted[0]["count"] += 1
    for proof in (swapped, counted, data["proof"][1:], []):
        if proof != data["proof"]:
            assert not confirmed(changed(data, proof=proof))


@pytest.mark.parametrize("name", [n for n, c in CLAIMS.items() if c.assumptions][::3])
def test_dropping_an_assumption_is_refused(name):
    """A statement that assumes less is stronger."""
    data = DATA[name]
    assert not confirmed(changed(data, assumptions=[]))
    assert not confirmed(changed(data, assumptions=data["assumptions"][1:]))


def test_the_same_certificate_as_dictionary_text_or_claim():
    claim = tr.epsilon(tr.Gaussian(1) * 3, delta=1e-6)
    for form in (claim, claim.to_json(), json.loads(claim.to_json())):
        assert tr.check(form)
    forged = json.loads(claim.to_json())
    forged["upper"] = forged["lower"] = claim.lower / 2
    for form in (forged, json.dumps(forged), tr.Claim.from_json(forged)):
        found = tr.check(form)
        assert not found
        assert found.problems
        assert "does not hold" in str(found)
