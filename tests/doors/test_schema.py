"""The JSON Schema of certificates: every kind of claim follows it, and what is malformed does not."""

import copy
import json

import jsonschema
import pytest
from documents import ROOT

import tightrope as tr
from laws.registered import EVERYTHING, QUESTIONS, answers
from tightrope.accounting.certificate import _ASKS

SCHEMA = json.loads((ROOT / "docs" / "certificate.schema.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
CERTIFICATE = json.loads(tr.epsilon(tr.Gaussian(1).poisson("1/3") * 5, delta="1e-5").to_json())


def test_the_schema_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("m", EVERYTHING[::3], ids=str)
def test_claims_follow_it(m):
    for _, claim in answers(m, "epsilon", "delta", "renyi", "pure", "advantage"):
        VALIDATOR.validate(json.loads(claim.to_json()))


def test_every_kind_of_question_follows_it():
    m = tr.Laplace(2) + tr.RandomizedResponse(epsilon=1)
    asked = dict(answers(m, *QUESTIONS))
    for claim in asked.values():
        VALIDATOR.validate(json.loads(claim.to_json()))
    assert {claim.question.ask for claim in asked.values()} == set(_ASKS)
    for claim in (tr.renyi(m, order=float("inf")), tr.epsilon(tr.Gaussian(1), delta=0), tr.epsilon(m, delta="1/3")):
        VALIDATOR.validate(json.loads(claim.to_json()))


@pytest.mark.parametrize("field", ["tightrope", "question", "mechanism", "relation", "lower", "upper", "tight", "proof",
                                   "witness", "assumptions"])
@pytest.mark.parametrize("junk", [None, 7.5, "abc", [1], {"ask": "gamma"}], ids=str)
def test_junk_does_not(field, junk):
    forged = copy.deepcopy(CERTIFICATE)
    forged[field] = junk
    if (field, junk) in (("lower", 7.5), ("upper", 7.5), ("mechanism", "abc")):
        return  # well formed; check refuses it
    assert not VALIDATOR.is_valid(forged)
    del forged[field]
    assert not VALIDATOR.is_valid(forged)


@pytest.mark.parametrize(
    "question",
    [
        {"ask": "epsilon"},
        {"ask": "epsilon", "delta": 1e-5},
        {"ask": "pure", "delta": "0"},
        {"ask": "epsilon", "delta": "nan"},
        {"ask": "delta", "delta": "0.1"},
    ],
)
def test_questions_must_be_whole(question):
    assert not VALIDATOR.is_valid({**CERTIFICATE, "question": question})


def test_unknown_fields_are_not_allowed():
    assert not VALIDATOR.is_valid({**CERTIFICATE, "checksum": "0"})
