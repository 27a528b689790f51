"""The ledger's promises, in every store: exact sums, idempotent requests, reservations, plans."""

from __future__ import annotations

from fractions import Fraction

import pytest

import tightrope as tr
from tightrope.budget.costs import approximate_cost, concentrated_cost, pure_cost, renyi_cost, written
from tightrope.budget.entries import Request

F = Fraction
G10 = tr.Gaussian(sigma=10)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_one_hundred_gaussians_fill_one_half_exactly(ledger):
    ledger.create_budget("census", rho="1/2")
    assert ledger.fits("census", G10) == 100
    for _ in range(100):
        ledger.charge("census", G10, purpose="histogram")
    assert ledger.amounts("census")["ρ"] == {"limit": F(1, 2), "spent": F(1, 2), "held": 0}
    assert ledger.spent("census").upper == ledger.spent("census").lower == 0.5
    assert ledger.remaining("census").upper == 0
    assert ledger.fits("census", G10) == 0
    with pytest.raises(tr.BudgetExceeded) as refused:
        ledger.charge("census", tr.Gaussian(sigma=1000))
    assert (refused.value.asked, refused.value.remaining) == (F(1, 2_000_000), 0)
    assert refused.value.shortfall == F(1, 2_000_000)
    assert (refused.value.budget, refused.value.unit) == ("census", "ρ")
    assert ledger.verify(ledger.head)


@pytest.mark.parametrize(
    ("stated", "rule"),
    [
        ({"epsilon": 1, "delta": 1e-6}, "zcdp"),
        ({"epsilon": 1}, "basic"),
        ({"epsilon": 1, "delta": 0}, "basic"),
        ({"rho": 1}, "zcdp"),
        ({"mu": 1}, "gdp"),
        ({"pure": 1}, "pure"),
        ({"renyi": {4: 1}}, "renyi"),
    ],
)
def test_the_usual_rule(tmp_path, stated, rule):
    with tr.Ledger.open(tmp_path / "b.db") as book:
        book.create_budget("b", **stated)
        assert book.terms("b").rule == rule
        assert f"rule {rule}" in str(book.terms("b"))


def test_every_rule_keeps_its_own_unit(ledger):
    small = tr.Laplace(scale=200)
    stated = {
        "pure": {"pure": 1},
        "basic": {"epsilon": 1, "delta": 1e-6, "rule": "basic"},
        "zcdp": {"epsilon": 1, "delta": 1e-6},
        "renyi": {"epsilon": 1, "delta": 1e-6, "rule": "renyi"},
        "curve": {"renyi": {2: "0.5", 8: 1}},
        "gdp": {"epsilon": 1, "delta": 1e-6, "rule": "gdp"},
        "mu": {"mu": "0.1"},
        "approx": {"epsilon": 1, "delta": 1e-6, "rule": "approx"},
    }
    for name, terms in stated.items():
        ledger.create_budget(name, **terms)
        full = ledger.remaining(name)
        ledger.charge(name, small * 3)
        spent, left = ledger.spent(name), ledger.remaining(name)
        assert 0 < spent.upper < full.upper
        assert left.upper < full.upper
        assert spent.question.ask == left.question.ask
        assert any("whole budget" in line for line in spent.assumptions)
    assert ledger.budgets() == list(stated)
    assert ledger.spent("pure").upper == pytest.approx(0.015)
    assert ledger.spent("approx").question.given == (("delta", "1e-6"),)


def test_a_request_id_charges_once(ledger):
    ledger.create_budget("b", rho=1)
    first = ledger.charge("b", G10, purpose="p", request_id="é/1 ☃")
    again = ledger.charge("b", G10, purpose="p", request_id="é/1 ☃")
    assert first == again
    assert first.request_id == "é/1 ☃"
    assert ledger.amounts("b")["ρ"]["spent"] == F(1, 200)
    for other in ({"purpose": "q"}, {"mechanism": tr.Gaussian(sigma=11)}):
        with pytest.raises(tr.LedgerError, match="something else"):
            ledger.charge("b", **{"mechanism": G10, "purpose": "p", "request_id": "é/1 ☃", **other})
    with pytest.raises(tr.LedgerError, match="something else"):
        ledger.reserve("b", G10, purpose="p", request_id="é/1 ☃")
    ledger.create_budget("c", rho=1)
    assert ledger.charge("c", G10, purpose="p", request_id="é/1 ☃").seq != first.seq  # ids are per budget
    assert ledger.charge("b", G10).request_id != ledger.charge("b", G10).request_id


def test_reservations(ledger):
    ledger.create_budget("b", pure=1)
    half = tr.Pure("1/2")
    held = ledger.reserve("b", half, request_id="r")
    assert held == ledger.reserve("b", half, request_id="r")
    assert ledger.amounts("b")["ε"] == {"limit": 1, "spent": 0, "held": F(1, 2)}
    assert ledger.remaining("b").upper == 0.5
    with pytest.raises(tr.BudgetExceeded):
        ledger.charge("b", tr.Pure("0.6"))
    done = ledger.commit(held)
    assert ledger.commit(held) == done
    with pytest.raises(tr.LedgerError, match="closed"):
        ledger.cancel(held)
    other = ledger.reserve("b", half)
    ledger.cancel(other)
    assert ledger.cancel(other).seq == ledger.cancel(other).seq
    assert ledger.amounts("b")["ε"] == {"limit": 1, "spent": F(1, 2), "held": 0}
    with pytest.raises(tr.LedgerError, match="no such reservation"):
        ledger.commit(ledger.charge("b", tr.Pure("1/4")))
    with pytest.raises(tr.BadParameter):
        ledger.commit("r")
    assert ledger.verify([held, done])


def test_exact_plans(ledger):
    steps = [tr.Gaussian(sigma=20)] * 10 + [tr.Laplace(scale=100)]
    ledger.create_budget("b", epsilon=1, delta=1e-6, rule="exact")
    with pytest.raises(tr.Unsupported, match="plan"):
        ledger.charge("b", steps[0])
    plan = ledger.plan("b", steps, purpose="all", request_id="plan")
    assert plan.cost[0] == pytest.approx(tr.epsilon(tr.Gaussian(20) * 10 + tr.Laplace(100), delta=1e-6).upper)
    assert ledger.spent("b").upper < 1
    for step in steps:
        ledger.charge("b", step, plan="plan")
    for wrong, why in ((steps[0], "10 of 10"), (tr.Gaussian(sigma=21), "not one of its steps")):
        with pytest.raises(tr.LedgerError, match=why):
            ledger.charge("b", wrong, plan="plan")
    with pytest.raises(tr.LedgerError, match="no plan"):
        ledger.charge("b", steps[0], plan="nothing")
    with pytest.raises(tr.LedgerError, match="do not add up"):
        ledger.plan("b", tr.Laplace(scale=1000))
    assert ledger.verify(ledger.head, recount=True)


def test_plans_on_other_rules(ledger):
    ledger.create_budget("basic", epsilon=1, delta=1e-5, rule="basic")
    whole = tr.Gaussian(sigma=50) * 20
    with pytest.raises(tr.Unsupported, match="delta="):
        ledger.plan("basic", whole)
    plan = ledger.plan("basic", whole, request_id="p", delta=1e-6)
    assert plan.cost[1] == F(1, 10**6)
    assert plan.cost[0] == pytest.approx(tr.epsilon(whole, delta=1e-6).upper)
    ledger.charge("basic", tr.Gaussian(sigma=50), plan="p")
    ledger.create_budget("b", rho=1)
    assert ledger.plan("b", whole).cost[0] == F(20, 5000)
    with pytest.raises(tr.BudgetExceeded):
        ledger.plan("b", tr.Gaussian(sigma=1) * 2)


def test_paying_at_a_delta(ledger):
    ledger.create_budget("b", epsilon=1, delta=1e-5, rule="approx")
    paid = ledger.charge("b", tr.Gaussian(sigma=100), delta=1e-7)
    assert paid.cost[0] == pytest.approx(tr.epsilon(tr.Gaussian(100), delta=1e-7).upper ** 2)
    assert paid.cost[1] == F(1, 10**7)
    ledger.create_budget("z", rho=1)
    with pytest.raises(tr.BadParameter, match="says nothing"):
        ledger.charge("z", G10, delta=1e-7)


def test_a_better_theorem_lowers_old_bills(ledger, monkeypatch):
    from tightrope.budget import costs

    ledger.create_budget("b", rho=1)
    real = costs.concentrated_cost
    with monkeypatch.context() as patched:
        patched.setattr(costs, "concentrated_cost", lambda m: (2 * real(m)[0], F(0)))
        ledger.charge("b", G10)
        ledger.commit(ledger.reserve("b", G10 * 2))
        ledger.cancel(ledger.reserve("b", G10 * 3))
    ledger.charge("b", G10)
    assert ledger.amounts("b")["ρ"]["spent"] == F(7, 200)
    assert ledger.recount("b").kind == "recount"
    assert ledger.amounts("b")["ρ"]["spent"] == F(4, 200)
    assert ledger.recount("b") is None
    assert ledger.verify(ledger.head, recount=True)


def test_tiny_amounts_are_never_lost(ledger):
    tiny = F(5, 10**324)
    ledger.create_budget("b", pure=1)
    ledger.charge("b", tr.Pure(5e-324) * 7)
    ledger.charge("b", tr.Pure("1/3"))
    ledger.charge("b", tr.Pure("1/3"))
    ledger.charge("b", tr.Pure(1e-9) * 10**6)
    assert ledger.amounts("b")["ε"]["spent"] == 7 * tiny + F(2, 3) + F(1, 1000)
    left = 1 - (7 * tiny + F(2, 3) + F(1, 1000))
    with pytest.raises(tr.BudgetExceeded) as refused:
        ledger.charge("b", tr.Pure(left + tiny))
    assert refused.value.shortfall == tiny
    ledger.charge("b", tr.Pure(left))
    assert ledger.amounts("b")["ε"]["spent"] == 1


def test_what_a_budget_says_of_itself(ledger):
    ledger.create_budget("b", rho=1, unit="household", owner="Ada", notes="the 2026 wave", relation="replace")
    about = ledger.budget("b")
    assert (about["unit"], about["owner"], about["notes"]) == ("household", "Ada", "the 2026 wave")
    assert about["relation"] == "replace"
    with pytest.raises(tr.RelationMismatch):
        ledger.charge("b", tr.Gaussian(sigma=1).poisson(0.1))
    ledger.charge("b", tr.Gaussian(sigma=10).poisson(0.1, relation="replace"))
    assert ledger.signed
    assert "Ledger" in repr(ledger)


def test_two_recounts_at_once(ledger, monkeypatch):
    ledger.create_budget("b", rho=1)
    with monkeypatch.context() as patched:
        patched.setattr("tightrope.budget.costs.concentrated_cost", lambda _: (F(1, 10), F(0)))
        ledger.charge("b", G10)
    before = [e.seq for e in ledger.history()][-1]
    assert ledger.recount("b")
    with pytest.raises(tr.LedgerError, match="somebody else"):
        ledger._store.write(Request("recount", "b", "late", cost="1/200 0", detail={"upto": before}))


def test_a_connection_is_not_carried_over_a_fork(ledger):
    ledger.create_budget("b", rho=1)
    ledger._store._owner = -1  # as a child process sees it
    assert ledger.charge("b", G10)
    ledger._store._owner = -1
    assert ledger.amounts("b")["ρ"]["spent"] == F(1, 200)
    assert ledger.verify(ledger.head)
    assert len(ledger._store._inherited) == 2
    for connection in ledger._store._inherited:
        connection.close()


def test_long_histories_are_read_in_pieces(quick_path):
    with tr.Ledger.open(quick_path / "b.db", key=False) as book:
        book.create_budget("b", rho=100)
        cost = book.terms("b").cost(G10)
        requests = [Request("charge", "b", f"r{n}", str(G10), "", written(cost)) for n in range(5500)]
        book._store._serve(requests)
        assert [e.seq for e in book.history()] == list(range(5502))
        assert book.amounts("b")["ρ"]["spent"] == F(5500, 200)
        told = []
        assert book.verify(book.head, progress=lambda done, _: told.append(done))
        assert told == [5000, 5502]


def test_filters_and_plans_refuse_what_has_no_price():
    assert pure_cost(tr.Gaussian(sigma=1)) is None
    assert approximate_cost(tr.ZCDP("0.1"), None) is None
    assert renyi_cost(tr.LeakyInput("0.1"), F(2)) is None
    assert concentrated_cost(tr.RDP({2: 1})) is None
    budget = tr.Filter(rho="0.001")
    with pytest.raises(tr.BudgetExceeded, match="the budget: ρ"):
        budget.charge(G10)
    assert budget.remaining.upper >= 0.001
