"""Proofs: none beats an equality, all hold at any precision, and each can be written down and proved again."""

import json
import math
from fractions import Fraction

import pytest
from hypothesis import given, settings

import tightrope as tr
from laws.registered import ALL_LEAVES, EVERYTHING, FIRST, QUICK, SAMPLED, answers
from laws.trees import leaves, mechanisms
from tightrope.accounting.facts import facts
from tightrope.curves.loss import Loss
from tightrope.curves.renyi import Renyi
from tightrope.numerics.balls import Ball, precision

COMPARED = [
    *FIRST,
    *(m * 6 for m in FIRST[::2]),
    tr.Gaussian(2) * 3 + tr.RandomizedResponse(1) * 5,
    tr.Laplace(2) + tr.Approx(0.1, 1e-8) * 4,
]


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("m", COMPARED, ids=str)
def test_no_proof_beats_an_equal_one(m):
    for delta in (1e-6, 0.05):
        comparison = tr.compare(m, delta=delta)
        truth = tr.epsilon(m, delta=delta)
        certified = [row for row in comparison.rows if row.kind != "estimate"]
        floor = max([truth.lower, *(row.claim.lower for row in certified)])
        for row in certified:
            assert row.value >= floor, row.route
            assert row.value == row.claim.upper
            assert row.loses >= 0
        assert [row.value for row in certified] == sorted(row.value for row in certified)
        assert comparison.best.value <= truth.upper * (1 + 1e-9)
        for row in certified:
            if row.kind == "equal":
                assert row.claim.lower <= truth.upper
                assert truth.lower <= row.claim.upper


def balls_of(m):
    """Every function of every curve that is known of a mechanism, by name."""
    for notion, known in facts(m).items():
        curve = known.curve
        if notion is Loss:
            for pair in {pair for parts in curve.directions for pair, _ in parts}:
                for x in ("-1", "0", "0.3", "2"):
                    yield f"{pair} call {x}", lambda pair=pair, x=x: pair.call(Ball(x))
                    yield f"{pair} tail {x}", lambda pair=pair, x=x: pair.tail(Ball(x))
                for s in ("0.01", "1", "7.5"):
                    yield f"{pair} cumulant {s}", lambda pair=pair, s=s: pair.cumulant(Fraction(s))
                yield f"{pair} mean", pair.mean
        elif issubclass(notion, Renyi):
            for order in ("1.01", "2", "8.5"):
                yield f"divergence {order}", lambda curve=curve, order=order: curve.divergence(Fraction(order))
        else:
            for name, value in vars(curve).items():
                if hasattr(value, "ball"):
                    yield f"{notion.__name__} {name}", value.ball


@pytest.mark.parametrize("m", [*ALL_LEAVES, *SAMPLED], ids=str)
def test_enclosures_at_two_precisions_overlap(m):
    for name, evaluate in balls_of(m):
        with precision(64):
            coarse = evaluate()
        with precision(256):
            fine = evaluate()
        if coarse is None or fine is None:
            assert coarse is fine, name
        elif not coarse.is_nan() and not fine.is_nan():
            assert coarse.overlaps(fine), name


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("m", EVERYTHING, ids=str)
def test_fast_floats_lie_near_the_balls(m):
    known = facts(m).get(Renyi)
    if known is None:
        return
    orders = [1.03125, 1.5, 2.0, 5.0, 17.0]
    for order, fast in zip(orders, known.curve.approximations(orders), strict=True):
        with precision(128):
            true = known.curve.divergence(Fraction(order))
        if math.isfinite(fast) and true.is_finite():
            slip = 1e-6 * abs(fast) + 1e-9
            assert float(true.lower()) - slip <= fast <= float(true.upper()) + slip, order  # some are only enclosed
        else:
            assert not math.isfinite(fast)
            assert not true.is_finite()


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("m", QUICK, ids=str)
def test_every_claim_is_a_certificate_that_holds(m):
    for name, claim in answers(m):
        text = claim.to_json()
        again = tr.Claim.from_json(text)
        assert again.bound == claim.bound, name
        assert again.computed == claim.computed, name
        assert (again.mechanism, again.question, again.relation, again.tight) == (
            claim.mechanism,
            claim.question,
            claim.relation,
            claim.tight,
        )
        assert again.assumptions == claim.assumptions
        assert again.to_json() == text, name
        assert tr.Claim.from_json(json.loads(text)) == again
        assert tr.check(text), (name, tr.check(text).problems)


@pytest.mark.parametrize("m", FIRST, ids=str)
def test_every_line_of_a_proof_names_a_theorem_with_a_source(m):
    for _, claim in answers(m * 3, "epsilon", "zcdp", "gdp"):
        explained, cited = claim.explain(), claim.bibtex()
        for step in claim.proof:
            assert step.stated.says in explained
            assert step.stated.source.key in cited
            assert step.count >= 1
        assert str(claim.mechanism) in explained
        if claim.tight:
            assert all(step.stated.kind == "equal" for step in claim.proof) or claim.question.ask in ("zcdp", "gdp")


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@settings(max_examples=40)
@given(leaves())
def test_certificates_of_random_leaves_hold(m):
    for claim in (tr.epsilon(m, delta="1e-5"), tr.delta(m, epsilon="0.7")):
        checked = tr.check(claim.to_json())
        assert checked, checked.problems
        assert checked.claim.bound == claim.bound


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@settings(max_examples=100)
@given(mechanisms(4))
def test_the_text_of_random_trees_survives_json(m):
    """A mechanism goes into a certificate as text and comes out the same."""
    text = json.loads(json.dumps({"mechanism": str(m)}))["mechanism"]
    assert tr.parse(text) == m
