"""Profiles of losses that are atoms: their claims, their witnesses, and the order in which ways are tried."""

import json
from fractions import Fraction

import pytest

import tightrope as tr
from tightrope.accounting.facts import fact
from tightrope.curves.engines.blurred_profile import BlurredProfile, blurred_profile
from tightrope.curves.loss import Loss
from tightrope.curves.profile import Profile
from tightrope.curves.ways import Ways
from tightrope.errors import NotCertified
from tightrope.numerics.contour.blurred import BlurredSum

F = Fraction

CLAIMS = [
    (tr.RandomizedResponse(1, k=4).poisson("0.1") * 1000, "1e-6", 15.745363004),
    (
        tr.Table(["0.2", "0.3", "0.1", "0.15", "0.25"], ["0.21", "0.28", "0.12", "0.14", "0.25"]) * 1000,
        "1e-6",
        14.968470285,
    ),
    (tr.Laplace(1) * 5 + tr.Laplace(3) * 5, "1e-6", 6.665644756),
    (tr.Laplace(1).poisson("0.1") * 10, "1e-4", 0.992926036),
    (tr.DiscreteGaussian(10) * 100 + tr.RandomizedResponse("0.1") * 30, "1e-6", 5.654621870),
    (tr.DiscreteLaplace(2000, 3000) * 100, "1e-6", 117.544675825),
    (tr.LeakyRandomizedResponse(1, "1e-9").poisson("0.1") * 500 + tr.RandomizedResponse(p="0.6") * 40, "1e-6", None),
]


@pytest.mark.parametrize(("mechanism", "delta", "epsilon"), CLAIMS)
def test_claims_are_narrow_and_prove_again_without_search(mechanism, delta, epsilon, monkeypatch):
    claim = tr.epsilon(mechanism, delta)
    assert claim.tight
    assert claim.upper - claim.lower < 1e-7 * claim.upper
    assert epsilon is None or claim.lower - 1e-8 < epsilon < claim.upper + 1e-8
    assert claim.witness["way"] == "blurred"

    def search(*_):
        raise AssertionError("a check must not search")

    monkeypatch.setattr(BlurredSum, "root", search)
    monkeypatch.setattr(BlurredSum, "plan", search)
    assert tr.check(claim.to_json())
    stated = json.loads(claim.to_json())
    assert not tr.check({**stated, "upper": claim.lower, "lower": 0.0})
    assert not tr.check({**stated, "lower": claim.upper})


PROFILE = blurred_profile(fact(tr.RandomizedResponse(1, k=4).poisson("0.1") * 60, Loss).curve)


def test_both_directions_may_be_integrated():
    assert isinstance(PROFILE, BlurredProfile)
    witness = PROFILE.find(F(2))
    plan = PROFILE.sums[1 - witness["direction"]].plan(2.0)
    both = {**witness, "other": {"t": plan.t, "eta": plan.eta, "count": plan.count, "points": plan.points}}
    assert PROFILE.prove(F(2), both).overlaps(PROFILE.prove(F(2), witness))
    for wrong in ({"direction": 2}, {"direction": -1}, {"other": {"t": F(0)}}):
        with pytest.raises(NotCertified):
            PROFILE.prove(F(2), {**witness, **wrong})


def test_small_epsilons_and_large_deltas():
    assert PROFILE.epsilon(F("0.9"))[0].upper == 0
    assert PROFILE.estimate(F("0.9")) == 0
    assert PROFILE.estimate(F("1e-6")) == pytest.approx(PROFILE.epsilon(F("1e-6"))[0].upper, rel=1e-2)
    leaky = blurred_profile(fact(tr.LeakyRandomizedResponse(1, "0.01").poisson("0.5") * 3, Loss).curve)
    assert leaky.epsilon(F("1e-4"))[0].upper == float("inf")


def test_profiles_without_a_transform_are_none():
    assert blurred_profile(fact(tr.Exponential(1).poisson("0.1") * 3, Loss).curve) is None


def test_ways_are_tried_in_turn():
    class Fails(Profile):
        def find(self, *_):
            raise NotCertified("a test", "it always fails")

        prove = epsilon = find

    def unbuilt():
        raise NotCertified("a test", "it cannot be built")

    ways = Ways((("first", Fails), ("second", unbuilt), ("third", lambda: None), ("last", lambda: PROFILE)))
    witness = ways.find(F(2))
    assert witness["way"] == "last"
    assert ways.prove(F(2), witness).overlaps(PROFILE.prove(F(2), witness))
    assert ways.epsilon(F("1e-5"))[1]["way"] == "last"
    assert ways.estimate(F("1e-5")) > 0
    with pytest.raises(NotCertified):
        ways.prove(F(2), {**witness, "way": "third"})
    with pytest.raises(NotCertified):
        Ways((("first", Fails),)).find(F(2))
    with pytest.raises(NotCertified):
        Ways((("third", lambda: None),)).epsilon(F("1e-5"))


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("delta", ["0.4", "0.01", "1e-7", "1e-12", "1e-40"])
@pytest.mark.parametrize("mechanism", [tr.Laplace(1) * 3 + tr.Laplace(2) * 2, tr.Laplace(1).poisson("0.1") * 2])
def test_few_copies_at_any_delta(mechanism, delta):
    """Down to the last atom, where ε is the largest loss but for a trifle."""
    claim = tr.epsilon(mechanism, delta)
    assert claim.tight
    assert claim.upper - claim.lower <= 1e-6 * claim.upper
    assert tr.check(claim.to_json())
