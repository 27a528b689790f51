"""Junk in certificates: refused with a typed error or a false check, never confirmed."""

import json
import math

import pytest

import tightrope as tr
from attacks.certificates import CLAIMS, DATA, changed, confirmed

FIELDS = [
    "tightrope",
    "question",
    "mechanism",
    "relation",
    "lower",
    "upper",
    "tight",
    "proof",
    "witness",
    "assumptions",
]
JUNK = [
    None,
    True,
    False,
    "",
    "abc",
    "nan",
    "-inf",
    -1,
    -1e-9,
    1e400,
    10**400,
    [],
    [1],
    {},
    {"ask": "epsilon"},
    {"a": [{}]},
    "1e999999999",
    2,
    "1/0",
]


@pytest.mark.parametrize("field", FIELDS)
def test_junk_in_any_field_is_refused_with_a_typed_error_or_a_false_check(field):
    for name in list(CLAIMS)[::10]:
        claim = CLAIMS[name]
        for junk in JUNK:
            forged = changed(DATA[name], **{field: junk})
            if confirmed(forged):
                assert _weaker(claim, field, junk), (name, junk)
        missing = {k: v for k, v in DATA[name].items() if k != field}
        assert not confirmed(missing)


def _weaker(claim, field, junk):
    """The only junk that may stand: wider numbers, a dropped «tight», other assumptions, or no change at all."""
    if field in ("upper", "lower") and claim.tight:
        return math.isclose(float(junk), getattr(claim, field), rel_tol=1e-5)  # ends far apart are not tight
    if field == "upper":
        return float(junk) >= claim.upper
    if field == "lower":
        return float(junk) <= claim.lower
    if field == "tight":
        return junk is not True or claim.tight
    if field == "tightrope":
        return junk == 1  # true is the number 1 in Python, too: nothing else is said by it
    if field == "witness":
        return True  # the statement is the same: it was proved another way
    return field == "assumptions" and junk in ("", [], {}) and not claim.assumptions


@pytest.mark.parametrize(
    "given", ["1e999999999", "1e-999999999", "nan", "inf", "-1", "2", "1/0", "abc", "", "1" * 5000, None, [], {}, True]
)
def test_hostile_numbers_in_the_question(given):
    for ask, key in (
        ("epsilon", "delta"),
        ("delta", "epsilon"),
        ("renyi", "order"),
        ("tradeoff", "fpr"),
        ("tcdp", "omega"),
    ):
        data = json.loads(tr.epsilon(tr.Gaussian(1), delta=1e-5).to_json())
        data["question"] = {"ask": ask, key: given}
        data["lower"], data["upper"], data["computed"] = 0.0, 0.001, [0.0, 0.001]
        if (ask, given) == ("delta", "2"):
            continue
        assert not confirmed(data), (ask, given)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        "{}",
        "1",
        '"a"',
        "{",
        "NaN",
        '{"tightrope": 1}',
        '{"tightrope": 2}',
        "[" * 100_000,
        "\x00",
        b"{}",
        None,
        7,
        object(),
    ],
)
def test_what_is_not_a_certificate_is_refused(text):
    for read in (tr.check, tr.Claim.from_json):
        with pytest.raises(tr.TightropeError):
            read(text)
