"""What a ledger refuses, always in its own words and without losing anything."""

from __future__ import annotations

import math
import os
import stat
import sys
import threading
from fractions import Fraction

import pytest

import tightrope as tr
from tightrope.budget import opening, rows, signing
from tightrope.budget.terms import Terms

G10 = tr.Gaussian(sigma=10)
NOT_NUMBERS = [math.nan, math.inf, -1, 0, True, "x", None, [], "1e9999", -0.0, "1/0"]


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("name", ["epsilon", "rho", "mu", "pure"])
@pytest.mark.parametrize("value", NOT_NUMBERS, ids=repr)
def test_amounts_of_budgets(quick_path, name, value):
    with tr.Ledger.open(quick_path / "b.db") as book:
        with pytest.raises(tr.BadParameter):
            book.create_budget("b", **{name: value})
        assert book.budgets() == []


@pytest.mark.parametrize(
    "stated",
    [
        {},
        {"epsilon": 1, "rho": 1},
        {"rho": 1, "delta": 0.1},
        {"epsilon": 1, "delta": 1},
        {"epsilon": 1, "delta": -1e-9},
        {"epsilon": 1, "delta": 1e-6, "rule": "magic"},
        {"epsilon": 1, "delta": 1e-6, "rule": "pure"},
        {"epsilon": 1, "rule": "zcdp"},
        {"rho": 1, "rule": "gdp"},
        {"rho": 1, "rule": 3},
        {"rho": 1, "leak": 1},
        {"rho": 1, "leak": -1},
        {"mu": 1, "leak": 0.1},
        {"epsilon": 1, "delta": 1e-6, "leak": 1e-6},
        {"rho": 1, "orders": [2]},
        {"epsilon": 1, "delta": 1e-6, "rule": "renyi", "orders": []},
        {"epsilon": 1, "delta": 1e-6, "rule": "renyi", "orders": [1]},
        {"epsilon": 1, "delta": 1e-6, "rule": "renyi", "orders": [2, 3]},
        {"epsilon": 1, "delta": 1e-6, "rule": "renyi", "orders": range(2, 300)},
        {"renyi": {}},
        {"renyi": {1: 1}},
        {"renyi": {2: 0}},
        {"renyi": [2]},
        {"renyi": {2: 1, "2": 2}},
        {"renyi": {2: 1}, "orders": [2]},
        {"rho": 1, "relation": "both"},
        {"rho": 1, "unit": ""},
        {"rho": 1, "unit": 3},
        {"rho": 1, "owner": "\0"},
        {"rho": 1, "notes": "\ud800"},
        {"rho": 1, "notes": "x" * 10_001},
    ],
    ids=str,
)
def test_terms_of_budgets(quick_path, stated):
    with tr.Ledger.open(quick_path / "b.db") as book:
        with pytest.raises(tr.BadParameter):
            book.create_budget("b", **stated)
        assert len(list(book.history())) == 1


def test_names_and_requests(ledger):
    ledger.create_budget("b", rho=1)
    with pytest.raises(tr.LedgerError, match="never change"):
        ledger.create_budget("b", rho=1)
    for name in ("", "x" * 201, 3, None, "a\0"):
        with pytest.raises(tr.BadParameter):
            ledger.create_budget(name, rho=1)
    for name in ("B", "census", "b "):
        for ask in (ledger.spent, ledger.remaining, ledger.terms, ledger.amounts, ledger.budget, ledger.recount):
            with pytest.raises(tr.LedgerError, match="no such budget"):
                ask(name)
        with pytest.raises(tr.LedgerError, match="Budgets here: 'b'"):
            ledger.charge(name, G10)
        with pytest.raises(tr.LedgerError):
            list(ledger.history(name))
    for request in ("", "x" * 1001, 3, "a\0b", "\udc00", b"x"):
        with pytest.raises(tr.BadParameter):
            ledger.charge("b", G10, request_id=request)
    with pytest.raises(tr.BadParameter):
        ledger.charge("b", G10, purpose=None)
    for mechanism in ("gaussian(sigma=10)", None, 3, [G10]):
        for ask in (ledger.charge, ledger.reserve, ledger.fits, ledger.plan):
            if not (ask == ledger.plan and mechanism == [G10]):
                with pytest.raises(tr.BadParameter):
                    ask("b", mechanism)
        with pytest.raises(tr.BadParameter):
            ledger.release("b", mechanism, 1)
    for nothing in ([], G10 * 0):
        with pytest.raises(tr.BadParameter):
            ledger.plan("b", nothing)
    for delta in (0, 1, -1, math.nan, "x"):
        with pytest.raises(tr.BadParameter):
            ledger.charge("b", G10, delta=delta)
    assert ledger.amounts("b")["ρ"]["spent"] == 0


def test_what_a_rule_cannot_pay_for(ledger):
    ledger.create_budget("zcdp", epsilon=1, delta=1e-6)
    ledger.create_budget("pure", pure=1)
    ledger.create_budget("gdp", mu=1)
    ledger.create_budget("renyi", renyi={2: 1, 8: 2})
    ledger.create_budget("any", epsilon=1, delta=1e-6, rule="renyi", orders=[16, 64])
    ledger.create_budget("basic", epsilon=1, delta=1e-6, rule="basic")
    ledger.create_budget("leaks", epsilon=1, delta=1e-6, leak=1e-7)
    for budget, mechanism, why in (
        ("zcdp", tr.Approx(0.1, 1e-9), "leak="),
        ("zcdp", tr.RDP({2: 1}), "no finite ρ"),
        ("pure", G10, "unbounded"),
        ("gdp", tr.ZCDP(0.1), "no finite μ"),
        ("renyi", tr.RDP({4: 0.1}), "may be infinite"),
        ("any", tr.Approx(0.1, 1e-9), "may be infinite"),
        ("basic", G10, "delta="),
    ):
        with pytest.raises(tr.Unsupported, match=why):
            ledger.charge(budget, mechanism)
    ledger.charge("leaks", tr.Approx(0.01, 1e-8))
    with pytest.raises(tr.BudgetExceeded) as refused:
        ledger.charge("leaks", tr.Approx(0.01, 1e-7))
    assert refused.value.unit == "δ"
    ledger.charge("any", tr.RDP({16: "0.01"}))  # order 64 is used up for good, order 16 goes on
    used = ledger.amounts("any")["D of order 64"]
    assert used["spent"] > used["limit"]
    assert ledger.fits("any", tr.RDP({16: "0.01"})) > 1
    assert ledger.spent("any").upper < 1
    assert ledger.fits("zcdp", tr.Pure(0)) == math.inf
    with pytest.raises(tr.BudgetExceeded):
        ledger.charge("any", tr.Gaussian(sigma=1))


def test_a_rule_of_the_future_is_refused():
    with pytest.raises(tr.Unsupported, match="newer"):
        Terms.from_json({"rule": "better"})


def test_clocks_that_go_back(ledger, monkeypatch):
    ledger.create_budget("b", rho=1)
    first = ledger.charge("b", G10)

    class Past(rows.datetime):
        @classmethod
        def now(cls, zone):
            return cls(2001, 1, 1, tzinfo=zone)

    monkeypatch.setattr(rows, "datetime", Past)
    assert ledger.charge("b", G10).at == first.at
    assert ledger.verify(ledger.head)


def test_keys(tmp_path, monkeypatch):
    path, key = tmp_path / "b.db", tmp_path / "elsewhere"
    with tr.Ledger.open(path, key=key) as book:
        assert book.signed
    assert stat.S_IMODE(os.stat(key).st_mode) == 0o600
    with tr.Ledger.open(path) as book:  # not beside the file: it can be read, not written
        assert book.signed
        with pytest.raises(tr.LedgerError, match="key"):
            book.create_budget("b", rho=1)
    monkeypatch.setenv(signing.KEY_VARIABLE, str(key))
    with tr.Ledger.open(path) as book:
        book.create_budget("b", rho=1)
    monkeypatch.delenv(signing.KEY_VARIABLE)
    (tmp_path / "bad").write_text("zz")
    (tmp_path / "short").write_text("00")
    signing.new_signer(tmp_path / "other")
    for wrong in ("bad", "short", "missing", "other"):
        with pytest.raises(tr.LedgerError, match="key"):
            tr.Ledger.open(path, key=tmp_path / wrong)
    with pytest.raises(tr.BadParameter):
        tr.Ledger.open(path, key=True)
    with pytest.raises(tr.LedgerError, match="written"):
        tr.Ledger.open(tmp_path / "c.db", key=tmp_path / "no" / "folder")
    with tr.Ledger.open(tmp_path / "d.db", key=False) as book:
        assert not book.signed
        assert book.create_budget("b", rho=1).signature is None
    with pytest.raises(tr.LedgerError, match="without signatures"):
        tr.Ledger.open(tmp_path / "d.db", key=key)
    assert signing.new_signer(key).public_key == signing.signer_in(key).public_key


def test_without_the_package_that_signs(tmp_path, monkeypatch):
    path = tmp_path / "b.db"
    with tr.Ledger.open(path) as book:
        last = book.create_budget("b", rho=1)
    for module in (signing, opening, sys.modules["tightrope.budget.verify"], sys.modules["tightrope.budget.store"]):
        monkeypatch.setattr(module, "can_sign", lambda: False, raising=False)
    with tr.Ledger.open(path) as book:
        assert book.spent("b").upper == 0
        with pytest.raises(tr.LedgerError, match="key"):
            book.charge("b", G10)
        assert any("cryptography" in problem for problem in book.verify(last).problems)
    with tr.Ledger.open(tmp_path / "c.db") as book:
        assert not book.signed
        last = book.create_budget("b", rho=1)
        assert "NOT signed" in str(book.verify(last))
    with pytest.raises(tr.LedgerError, match="cryptography"):
        tr.Ledger.open(tmp_path / "d.db", key=tmp_path / "key")
    for use in (lambda: signing.signature_holds("", b"", ""), lambda: signing.signer_in(tmp_path / "b.db.key")):
        with pytest.raises(tr.LedgerError, match="cryptography"):
            use()


def test_receipts_that_cannot_be_read():
    for text in ("", "{}", "[]", "null", '{"tightrope-receipt": 2}', '{"tightrope-receipt": 1, "cost": ["1/0"]}'):
        with pytest.raises(tr.LedgerError):
            tr.Receipt.from_json(text)


def test_threads_share_one_ledger(ledger):
    ledger.create_budget("b", rho=Fraction(50, 200))
    outcomes = []

    def work():
        for _ in range(10):
            try:
                ledger.charge("b", G10)
                outcomes.append(1)
            except tr.BudgetExceeded:
                outcomes.append(0)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (sum(outcomes), len(outcomes)) == (50, 80)
