"""Answers in the ledger: paid for before they are given, stored once, and read back as they were."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import tightrope as tr
from tightrope.budget import answers
from tightrope.budget.entries import Request
from tightrope.mechanisms.base import Mechanism

F = Fraction
G10 = tr.Gaussian(sigma=10)


class Counted:
    """Counts how often noise was drawn."""

    def __init__(self, monkeypatch, fail=()):
        self.runs, self.fail = 0, fail
        monkeypatch.setattr(Mechanism, "release", self)

    def __call__(self, *_, **__):
        self.runs += 1
        if self.runs in self.fail:
            raise KeyboardInterrupt
        return np.array([0.5 + self.runs, 2.0])


def test_release_pays_before_it_answers_and_answers_once(ledger, monkeypatch):
    noise = Counted(monkeypatch)
    ledger.create_budget("b", rho="0.01")
    first = ledger.release("b", G10, [1, 2], purpose="p", request_id="q")
    again = ledger.release("b", G10, [1, 2], purpose="p", request_id="q")
    assert noise.runs == 1
    assert first.tolist() == again.tolist() == [1.5, 2.0]
    assert first.dtype == np.float64
    ledger.release("b", G10, [1, 2])
    with pytest.raises(tr.BudgetExceeded):
        ledger.release("b", G10, [1, 2])
    assert noise.runs == 2  # no noise without money
    with pytest.raises(tr.LedgerError, match="something else"):
        ledger.charge("b", G10, purpose="p", request_id="q")
    assert [e.kind for e in ledger.history("b")] == ["budget", "release", "answer", "release", "answer"]
    assert ledger.verify(ledger.head)


def test_a_crash_between_leaves_a_spend_and_no_answer(ledger, monkeypatch):
    noise = Counted(monkeypatch, fail={1})
    ledger.create_budget("b", rho="0.005")
    with pytest.raises(KeyboardInterrupt):
        ledger.release("b", G10, [1], request_id="q")
    assert ledger.amounts("b")["ρ"]["spent"] == F(1, 200)
    assert ledger.release("b", G10, [1], request_id="q").tolist() == [2.5, 2.0]
    assert noise.runs == 2
    assert ledger.amounts("b")["ρ"]["spent"] == F(1, 200)


def test_real_noise(ledger):
    ledger.create_budget("b", rho=10)
    answer = ledger.release("b", tr.Gaussian(sigma=2), 100, request_id="q")
    assert isinstance(answer, float)
    assert ledger.release("b", tr.Gaussian(sigma=2), 100, request_id="q") == answer
    assert isinstance(ledger.release("b", tr.DiscreteGaussian(sigma=2).group(2), 10**30), int)
    for whole in (tr.Pure(1), tr.Gaussian(1) * 3, tr.Gaussian(1).poisson(0.5)):
        before = ledger.amounts("b")
        with pytest.raises(tr.Unsupported, match="cannot be run"):
            ledger.release("b", whole, 1)
        assert ledger.amounts("b") == before


def test_answers_are_stored_as_they_are():
    for answer in (None, True, "x", 10**400, -0.0, 0.1, float("inf"), F(1, 3), [1, (2.5, "y")], np.float32(0.1)):
        again = answers.read(answers.written(answer))
        assert repr(again) == repr(answer)
        assert type(again) is type(answer)
    for dtype in ("int8", "uint64", "float32", "float64", "bool", "object"):
        whole = np.arange(6).reshape(2, 3).astype(dtype)
        again = answers.read(answers.written(whole))
        assert again.dtype == whole.dtype
        assert again.tolist() == whole.tolist()
    for unknown in (object(), {"a": 1}, np.array(["x"])):
        with pytest.raises(tr.LedgerError, match="not revealed"):
            answers.written(unknown)


def test_the_first_answer_stored_is_the_only_one(ledger, monkeypatch):
    """Two programs ask with one id at once: both get the answer that was stored first."""
    ledger.create_budget("b", rho=1)
    inner = []

    def race(*_):
        if not inner:
            inner.append(None)
            inner.append(ledger.release("b", G10, 1, request_id="q"))
            return 1.5
        return 2.5

    monkeypatch.setattr(Mechanism, "release", race)
    assert ledger.release("b", G10, 1, request_id="q") == inner[1] == 2.5
    assert ledger.amounts("b")["ρ"]["spent"] == F(1, 200)
    with pytest.raises(tr.LedgerError, match="no such release"):
        ledger._store.write(Request("answer", "b", refers=0, detail={"answer": 1}))
