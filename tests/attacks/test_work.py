"""The work of a question is counted, bounded, and never a matter of the clock."""

from __future__ import annotations

import math
import threading

import pytest

import tightrope as tr
from tightrope.accounting import solve
from tightrope.curves.ways import Ways
from tightrope.errors import NotCertified
from tightrope.numerics import effort
from tightrope.numerics.bound import Bound

pytestmark = pytest.mark.no_cover  # long, and shorter ones come by the same lines

_SLOW = [  # each took more than two seconds before its work was counted
    (
        "discrete_gaussian(sigma=14.9) * 14 + randomized_response(epsilon=1.94) * 30"
        " + discrete_gaussian(sigma=12).with_replacement(610, 5093) * 3113",
        "4.19e-20",
    ),
    ("discrete_gaussian(sigma=12).without_replacement(121, 47625) * 60", "4.28e-20"),
    (
        "gaussian(sigma=10.9).poisson(0.000177, relation=replace) * 91"
        " + staircase(epsilon=0.828).poisson(0.000103, relation=replace) * 16741",
        "2.99e-08",
    ),
    (
        "discrete_laplace(scale=6.5).poisson(0.32, relation=replace) * 15"
        " + gaussian(sigma=6.25).with_replacement(1, 622) * 420"
        " + discrete_gaussian(sigma=4.83).with_replacement(754, 13753) * 154",
        "4.99e-09",
    ),
]
_PLENTY = 1e12


@pytest.mark.parametrize(("text", "delta"), _SLOW)
def test_exotic_questions_end_within_their_budget(text, delta):
    with effort.allowed(_PLENTY):
        claim = tr.epsilon(tr.parse(text), delta=delta)
        spent = _PLENTY - effort.left()
    assert 0 < spent <= solve.WORK
    assert 0 < claim.lower <= claim.upper < math.inf


def test_less_work_gives_a_wider_answer_that_is_still_proved():
    run = tr.Gaussian(sigma=1).without_replacement(10, 100_000) * 1000
    full = tr.epsilon(run, delta=1e-6)
    with effort.allowed(2.5e5):
        short = tr.epsilon(run, delta=1e-6)
        assert effort.left() >= 0
    assert short.upper - short.lower > 1.01 * (full.upper - full.lower)
    assert full.computed.lower <= short.upper
    assert short.lower <= full.upper
    assert tr.check(short.to_json())  # outside of the allowance, nothing is counted


def test_without_any_work_the_claim_is_wide_and_sound():
    run = tr.Gaussian(sigma=1).poisson(0.01) * 10_000
    with effort.allowed(0):
        poor = tr.epsilon(run, delta=1e-5)
        assert -5e4 < effort.left() <= 0  # a quick search for an order is never refused: it may be all that answers
    exact = tr.epsilon(run, delta=1e-5)
    assert poor.lower <= exact.lower
    assert exact.upper < poor.upper < math.inf
    assert exact.route == "exact" != poor.route


def test_delta_is_counted_as_well():
    run = tr.RandomizedResponse(epsilon=1) * 30 + tr.Gaussian(sigma=1).poisson(0.001) * 100 + tr.Laplace(scale=3)
    with effort.allowed(_PLENTY):
        tr.delta(run, epsilon=20)
        assert 0 < _PLENTY - effort.left() <= solve.WORK


def test_the_same_question_costs_the_same_again():
    costs = []
    for _ in range(2):
        with effort.allowed(_PLENTY):
            tr.epsilon(tr.parse(_SLOW[1][0]), delta=_SLOW[1][1])
            costs.append(_PLENTY - effort.left())
    assert costs[0] == costs[1]


def test_allowances_nest_and_end():
    assert effort.left() == math.inf
    effort.spend(1e300, "nothing is counted here")
    with effort.allowed(10):
        with effort.allowed(100):
            assert effort.left() == 10
        with effort.allowed(4):
            effort.spend(3, "a step")
            assert not effort.affords(2)
            with pytest.raises(NotCertified, match="the work allowed to one question is spent"):
                effort.spend(2, "a step")
            assert effort.left() == 1  # a refused step costs nothing
        assert effort.left() == 7
    assert effort.left() == math.inf


def test_a_proof_may_use_what_a_search_may_not():
    with effort.allowed(10), effort.allowed(6, searching=True), effort.allowed(4, searching=True):
        assert not effort.affords(5)
        with effort.proving():
            assert effort.left() == 10
            effort.spend(9, "the proof")
        assert effort.left() == 1  # of all that is left
    with effort.proving():
        assert effort.left() == math.inf


def test_what_must_not_depend_on_the_rest_is_never_refused():
    with effort.allowed(10):
        with effort.owing():
            assert effort.left() == math.inf
            effort.spend(25, "a proof")
        assert effort.left() == -15  # it was counted all the same
        with effort.paid():
            effort.spend(1e9, "a part of what was paid for")
        assert effort.left() == -15


def test_a_question_costs_the_same_whatever_is_remembered():
    run = tr.parse("gaussian(sigma=1.18) * 4 + gaussian(sigma=0.7).with_replacement(12, 3207) * 46104")
    costs = []
    for _ in range(2):
        with effort.allowed(_PLENTY):
            tr.epsilon(run, delta=1.19e-13)
            costs.append(_PLENTY - effort.left())
    assert costs[0] == costs[1]


def test_threads_do_not_share_an_allowance():
    seen = []
    with effort.allowed(5):
        thread = threading.Thread(target=lambda: seen.append(effort.left()))
        thread.start()
        thread.join()
    assert seen == [math.inf]


def test_lower_ends_leave_room_for_whoever_checks_them():
    assert solve.with_room(Bound(2.0, 2.0)) == 2.0
    assert 1 - 1e-8 < solve.with_room(Bound(1.0, 1 + 1e-9)) < 1
    assert solve.with_room(Bound(1.0, math.inf)) == 1 - solve._ROOM
    assert solve.with_room(Bound(math.inf, math.inf)) == math.inf


def test_other_routes_have_work_of_their_own(monkeypatch):
    """An exact route that spends all it is given leaves the Rényi answer, not a worse one."""
    run = tr.Laplace(scale=2) * 30 + tr.Gaussian(sigma=2).poisson(0.01) * 100
    by_orders = tr.compare(run, delta=1e-9)["rdp"].value

    def spent(*_):
        effort.spend(effort.left(), "an exact profile")
        raise NotCertified("an exact profile", "it found nothing")

    monkeypatch.setattr(Ways, "epsilon", spent)
    assert tr.epsilon(run, delta=1e-9).upper <= by_orders * (1 + 1e-9)


def test_a_way_leaves_work_to_the_next():
    """Windows are tried in vain where the atoms of other parts reach ε; a sum around these atoms or a contour is still
    found."""
    mixed = "randomized_response(epsilon=0.521) * 24 + gaussian(sigma=15.6).poisson(0.0000107) * 306913"
    claim = tr.epsilon(tr.parse(mixed + " + laplace(scale=2.72) * 3"), delta=1.28e-7)
    assert claim.upper - claim.lower <= 1e-9 * claim.upper
    assert claim.witness["way"] in ("atoms", "contour")
