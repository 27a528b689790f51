"""Proofs are counted before they are made, also where their plans come from others: what is too dear is refused."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

import tightrope as tr
from attacks.certificates import confirmed
from tightrope.accounting import certificate, compare, solve
from tightrope.accounting.facts import fact
from tightrope.curves.engines.grid_profile import grid_profile
from tightrope.curves.engines.windowed_profile import WindowedProfile, windowed_profile
from tightrope.curves.engines.windowed_witness import read_plan, written_plan
from tightrope.curves.loss import Loss
from tightrope.errors import NotCertified
from tightrope.numerics import effort
from tightrope.numerics.balls import Ball, precision
from tightrope.numerics.grid.any_grid import read_units
from tightrope.numerics.grid.listed import ListedSum
from tightrope.numerics.windowed.floats import FloatLaw, FloatOthers
from tightrope.numerics.windowed.search import window_plan
from tightrope.numerics.windowed.work import proof_work

RARE = tr.Gaussian("1.02").poisson("0.0001") * 300
PLENTY = 1e12


def law_of(mechanism: tr.Mechanism) -> Loss:
    known = fact(mechanism, Loss)
    assert known is not None
    return known.curve


def windowed(mechanism: tr.Mechanism) -> WindowedProfile:
    found = windowed_profile(law_of(mechanism))
    assert found is not None
    return found


def test_a_plan_that_was_read_costs_what_it_cost_when_it_was_found():
    steps = windowed(RARE).steps
    plan = steps.plan(0.5, *steps.estimate(0.5))
    read = read_plan(json.loads(json.dumps(written_plan(plan), default=str)) | {"way": "windowed"})
    assert read == plan
    assert read.work == 0 < plan.work == proof_work(steps._floats[0], read)
    with effort.allowed(plan.work / 2), precision(plan.bits + 64), pytest.raises(NotCertified, match="work"):
        steps.call(Ball(0.5), read)
    with effort.allowed(PLENTY), precision(plan.bits + 64):
        assert steps.call(Ball(0.5), read) > 0
        spent = PLENTY - effort.left()
        steps.call(Ball(0.4), plan)  # the same proof serves another ε
        assert spent >= plan.work
        assert effort.left() == PLENTY - spent


def searched(mu: float) -> float:
    """The work of a search for steps of that signal."""
    with effort.allowed(PLENTY):
        window_plan(FloatLaw(((mu, 1e-3, 50),), FloatOthers(())), (1.0, 1.0), -12.0, 1e-6)
        return PLENTY - effort.left()


def test_searches_are_counted_by_what_they_look_at():
    """Steep steps have narrow windows, and these many outcomes."""
    assert searched(8.0) > 2 * searched(1.0)


def test_a_search_beyond_its_work_is_refused():
    with effort.allowed(8e3), pytest.raises(NotCertified, match="work"):
        window_plan(FloatLaw(((8.0, 1e-3, 50),), FloatOthers(())), (1.0, 1.0), -12.0, 1e-6)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_a_forged_plan_that_is_too_dear_is_refused(monkeypatch):
    """It may be valid, but no plan that is found takes so long."""
    data = json.loads(tr.epsilon(RARE, delta="1e-9").to_json())
    assert data["witness"]["way"] == "windowed"
    assert confirmed(data)
    monkeypatch.setattr(certificate, "_WORK", 2e5)
    assert confirmed(data)
    data["witness"] |= {"count": 4000, "eta": "9/1"}  # so that w turns often
    refused = tr.check(json.dumps(data))
    assert not refused
    assert any("the work allowed" in problem for problem in refused.problems)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_lower_ends_are_sought_within_limits(monkeypatch):
    """Of a claim by a route that overstates the lower end is found again, with less work than a question has."""
    claim = next(row.claim for row in tr.compare(RARE, delta="1e-9").rows if row.route == "rdp")
    assert claim is not None
    assert claim.lower > 0
    seen = []
    found = WindowedProfile.find

    def watched(self, epsilon):
        seen.append(effort.left())
        return found(self, epsilon)

    monkeypatch.setattr(WindowedProfile, "find", watched)
    assert tr.check(claim.to_json())
    assert seen
    assert seen[0] <= certificate._SEARCHES[0]
    monkeypatch.setattr(certificate, "_SEARCHES", (10.0,))
    assert not tr.check(claim.to_json())


def test_all_routes_together_are_one_question():
    with effort.allowed(PLENTY):
        tr.compare(tr.DiscreteGaussian("0.709").poisson("1.22e-5", relation="replace") * 20, delta="0.000307")
        assert 0 < PLENTY - effort.left() <= solve.WORK


def test_a_tight_answer_is_the_lower_end_of_all_routes(monkeypatch):
    monkeypatch.setattr(compare, "largest_lower", None)  # nobody may call it
    rows = tr.compare(tr.Gaussian(2) * 3, delta=1e-6).rows
    claims = [row.claim for row in rows if row.claim is not None]
    assert len(claims) > 3
    assert all(one.lower >= claims[0].lower * (1 - 1e-5) for one in claims)
    assert all(tr.check(row.claim.to_json()) for row in rows if row.route in ("exact", "gdp", "rdp", "zcdp"))


def test_a_wide_answer_is_not(monkeypatch):
    monkeypatch.setattr(compare, "largest_lower", lambda *_: 0.25)
    wide = solve.Answer(solve.Bound(0.1, 0.5), solve.Bound(0.1, 0.5), "exact", "equal", (), {})
    assert compare._lowest(RARE, Fraction(1, 10), [("exact", wide)]) == 0.25


def test_a_grid_that_was_forgotten_is_counted_again_and_never_refused():
    profile = grid_profile(law_of(tr.Laplace(1).poisson("0.01", relation="replace") * 10))
    assert profile is not None
    with effort.allowed(PLENTY):
        witness = profile.find(Fraction(1, 100))
        profile._value(0, Fraction(1, 100), witness)
    direction = profile.directions[0]
    plan = next(reversed(direction._grids))
    direction._grids.clear()
    with effort.allowed(10.0):
        assert direction.grid(plan) is not None
        assert effort.left() < -1e3
    before = effort.left()
    with effort.allowed(before):
        direction.grid(plan)  # it is remembered again
        assert effort.left() == before


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_lists_are_read_at_many_places():
    claim = tr.epsilon(tr.DiscreteGaussian("0.431").poisson("1.51e-5") * 95, delta="3.38e-12")
    assert "lists" in claim.witness
    profile = grid_profile(law_of(tr.DiscreteGaussian("0.431").poisson("1.51e-5") * 95))
    assert profile is not None
    profile.prove(Fraction(claim.upper), claim.witness)
    grids = [grid for one in profile.directions for grid in one._grids.values()]
    lists = [grid for grid in grids if isinstance(grid, ListedSum)]
    assert lists
    assert all(read_units(grid) > 1e3 for grid in lists)
    assert all(number > 1 and places > number for number, places in (grid.reads for grid in lists))
