"""The ledger does what a model of fifty lines does, step by step, whatever is asked and however often it reopens."""

from __future__ import annotations

import os
import shutil
import tempfile
from fractions import Fraction

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

import tightrope as tr
from laws.ledger_model import Exceeded, Model, Refused

MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # speed: durability is tested elsewhere
STEPS = {"taken": 0}
budgets = st.sampled_from(["a", "b", "missing"])
requests = st.sampled_from([f"r{n}" for n in range(12)])
amounts = st.sampled_from([Fraction(1, n) for n in (2, 3, 7, 10, 40)] + [Fraction(5, 10**324), Fraction(1, 10**9)])
SEVENTH = tr.Pure("1/7")
purposes = st.sampled_from(["", "p"])


class Compared(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.folder = tempfile.mkdtemp(dir=MEMORY)
        self.model, self.receipts = Model(), {}
        self.book = tr.Ledger.open(f"{self.folder}/b.db")

    def both(self, ask, model):
        """The same outcome on both sides; the receipt of the real one."""
        STEPS["taken"] += 1
        try:
            model()
            expected = None
        except (Exceeded, Refused) as refusal:
            expected = tr.BudgetExceeded if isinstance(refusal, Exceeded) else tr.LedgerError
        if expected is None:
            return ask()
        with pytest.raises(expected):
            ask()
        return None

    @initialize()
    def first(self):
        self.create("a", Fraction(1))

    @rule(budget=st.sampled_from(["a", "b"]), limit=st.sampled_from([Fraction(1), Fraction(2, 3)]))
    def create(self, budget, limit):
        self.both(lambda: self.book.create_budget(budget, pure=limit), lambda: self.model.create(budget, limit))

    @rule(budget=budgets, request=requests, amount=amounts, purpose=purposes)
    def charge(self, budget, request, amount, purpose):
        self.entered("charge", budget, request, amount, purpose)

    @rule(budget=budgets, request=requests, amount=amounts, purpose=purposes)
    def reserve(self, budget, request, amount, purpose):
        self.entered("reserve", budget, request, amount, purpose)

    def entered(self, kind, budget, request, amount, purpose):
        receipt = self.both(
            lambda: getattr(self.book, kind)(budget, tr.Pure(amount), purpose=purpose, request_id=request),
            lambda: getattr(self.model, kind)(budget, request, amount, purpose),
        )
        if receipt is not None:
            assert self.receipts.setdefault((kind, budget, request), receipt) == receipt

    @precondition(lambda self: self.model.reserved)
    @rule(data=st.data(), how=st.sampled_from(["commit", "cancel"]))
    def close(self, data, how):
        budget, request = data.draw(st.sampled_from(sorted(self.model.reserved)))
        receipt = self.receipts["reserve", budget, request]
        self.both(lambda: getattr(self.book, how)(receipt), lambda: self.model.close(how, budget, request))

    @rule(really=st.integers(0, 9))
    def reopen(self, really):
        STEPS["taken"] += 1
        if really:
            return
        self.book.close()
        self.book = tr.Ledger.open(f"{self.folder}/b.db")

    @invariant()
    def sums_agree(self):
        if not self.model.limit:
            return
        for budget, limit in self.model.limit.items():
            found = self.book.amounts(budget)["ε"]
            assert found == {"limit": limit, "spent": self.model.spent[budget], "held": self.model.held[budget]}
        assert self.book.fits("a", SEVENTH) == self.model.fits("a", Fraction(1, 7))

    def teardown(self):
        found = self.book.verify(list(self.receipts.values()))
        assert found, found
        self.book.close()
        shutil.rmtree(self.folder)


def steps_compared(examples, length):
    """How many steps were compared, all with the same outcome."""
    STEPS["taken"] = 0
    run_state_machine_as_test(
        Compared, settings=settings(max_examples=examples, stateful_step_count=length, deadline=None)
    )
    return STEPS["taken"]


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_the_ledger_does_what_the_model_does():
    assert steps_compared(80, 100) > 5000
