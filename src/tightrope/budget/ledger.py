"""The ledger: budgets that many people spend from many programs, and that cannot be overspent."""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import islice
from typing import IO, Any

from tightrope.accounting.ask import checked
from tightrope.accounting.claim import Claim
from tightrope.budget import answers, costs
from tightrope.budget.book import stored_terms
from tightrope.budget.entries import Entry, Receipt, Request, head_message, plain
from tightrope.budget.export import export
from tightrope.budget.filters import payable
from tightrope.budget.opening import opened
from tightrope.budget.recount import savings
from tightrope.budget.requests import planning, refuse_unrunnable, spending, whole
from tightrope.budget.spending import claimed
from tightrope.budget.stating import terms
from tightrope.budget.store import Store
from tightrope.budget.terms import Terms
from tightrope.budget.verify import Verification, verified
from tightrope.errors import BadParameter, LedgerError, RelationMismatch
from tightrope.mechanisms.base import Mechanism, Relation, checked_relation
from tightrope.numerics.exact import Number


class Ledger:
    """Budgets in one SQLite file or one PostgreSQL database. Open it with ``Ledger.open``.

    >>> import tempfile
    >>> from tightrope import Gaussian
    >>> folder = tempfile.TemporaryDirectory()
    >>> ledger = Ledger.open(f"{folder.name}/budget.db")
    >>> _ = ledger.create_budget("census", rho="1/2")
    >>> receipt = ledger.charge("census", Gaussian(sigma=10), purpose="age histogram", request_id="age-1")
    >>> ledger.fits("census", Gaussian(sigma=10))
    99
    >>> ledger.charge("census", Gaussian(sigma=10), purpose="age histogram", request_id="age-1") == receipt
    True
    >>> print(ledger.remaining("census"))
    ρ ∈ [0.495, 0.49500000000000005] (tight)
    >>> ledger.close(); folder.cleanup()
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._terms: dict[str, tuple[Terms, Relation]] = {}

    @classmethod
    def open(
        cls, where: str | os.PathLike[str], *, create: bool = True, read_only: bool = False, key: Any = None
    ) -> Ledger:
        """The ledger in a file, or in the database of a ``postgresql://`` address; it is founded if it is not there.

        ``key`` is the file of the Ed25519 key that signs it; ``False`` founds a ledger without signatures.
        """
        return cls(opened(where, create, read_only, key))

    def create_budget(
        self,
        name: str,
        *,
        relation: Relation = "add-remove",
        unit: str = "person",
        owner: str = "",
        notes: str = "",
        **stated: Any,
    ) -> Receipt:
        """A budget for one data set: ``epsilon`` and ``delta``, ``rho``, ``mu``, ``pure`` or ``renyi``, with its
        ``rule``. Its terms are fixed for ever."""
        fixed = terms(**stated)
        detail = {
            "terms": fixed.to_json(),
            "relation": checked_relation(relation),
            "unit": plain("unit", unit, least=1),
            "owner": plain("owner", owner),
            "notes": plain("notes", notes, most=10_000),
        }
        request = Request("budget", plain("name", name, 200, 1), str(uuid.uuid4()), detail=detail)
        return self._receipt(self._store.write(request))

    def budgets(self) -> list[str]:
        """The names of all budgets, oldest first."""
        with self._store.reading() as rows:
            return rows.budgets()

    def terms(self, name: str) -> Terms:
        """The rule and the limits of a budget, as they were fixed."""
        return self._known(name)[0]

    def budget(self, name: str) -> Mapping[str, Any]:
        """What a budget says of itself: ``relation``, ``unit``, ``owner``, ``notes``, ``terms``."""
        with self._store.reading() as rows:
            entry, fixed = stored_terms(rows, plain("name", name, 200, 1))
        return {**json.loads(entry.detail), "terms": fixed, "created": entry.at}

    def charge(
        self,
        name: str,
        mechanism: Mechanism,
        purpose: str = "",
        request_id: str | None = None,
        *,
        delta: Number | None = None,
        plan: str | None = None,
    ) -> Receipt:
        """Spend, durably, or raise BudgetExceeded and spend nothing. The same ``request_id`` charges once.

        ``delta`` says at which δ an ε is paid (rules basic and approx); ``plan`` names the plan this is a step of.
        """
        return self._receipt(self._spend("charge", name, mechanism, purpose, request_id, delta=delta, plan=plan))

    def release(
        self,
        name: str,
        mechanism: Mechanism,
        values: Any,
        purpose: str = "",
        request_id: str | None = None,
        *,
        delta: Number | None = None,
        plan: str | None = None,
        **options: Any,
    ) -> Any:
        """Spend, then run the mechanism on the values and store the answer before it is returned. The same request id
        returns the stored answer; the values are no part of the request, because even their digest would reveal them.
        """
        refuse_unrunnable(checked(mechanism))
        spend = self._spend("release", name, mechanism, purpose, request_id, delta=delta, plan=plan)
        with self._store.reading() as rows:
            stored = rows.referring(spend.seq, ("answer",))
        if stored is None:
            told = answers.written(mechanism.release(values, **options))
            stored = self._store.write(Request("answer", name, refers=spend.seq, detail={"answer": told}))
        return answers.read(json.loads(stored.detail)["answer"])

    def reserve(
        self,
        name: str,
        mechanism: Mechanism,
        purpose: str = "",
        request_id: str | None = None,
        *,
        delta: Number | None = None,
    ) -> Receipt:
        """Hold an amount for a mechanism that may run soon; then ``commit`` it, or ``cancel`` it if it did not run."""
        return self._receipt(self._spend("reserve", name, mechanism, purpose, request_id, delta=delta))

    def commit(self, receipt: Receipt) -> Receipt:
        """Spend what a reservation holds."""
        return self._close("commit", receipt)

    def cancel(self, receipt: Receipt) -> Receipt:
        """Free what a reservation holds. Only if nothing of the mechanism's output was seen."""
        return self._close("cancel", receipt)

    def plan(
        self,
        name: str,
        mechanisms: Mechanism | Iterable[Mechanism],
        purpose: str = "",
        request_id: str | None = None,
        *,
        delta: Number | None = None,
    ) -> Receipt:
        """Register mechanisms in advance and pay for all of them at once, composed exactly where the rule allows it.
        Each step is then charged or released with ``plan=request_id``, in any order, and costs nothing more. On the
        rules basic and approx the whole is composed exactly at the ``delta`` given."""
        planned = whole(mechanisms)
        return self._receipt(
            self._store.write(planning(name, planned, self._fixed(name, planned), purpose, request_id, delta))
        )

    def spent(self, name: str) -> Claim:
        """What is spent, in the budget's own unit: ρ, μ, pure ε, or ε at the budget's δ."""
        fixed, (spent, _) = self._totals(name)
        return claimed(fixed, spent)

    def remaining(self, name: str) -> Claim:
        """What is neither spent nor held, in the budget's own unit."""
        fixed, (spent, held) = self._totals(name)
        left = (limit - s - h for limit, s, h in zip(fixed.limits, spent, held, strict=True))
        return claimed(fixed, tuple(left), up=False)

    def fits(self, name: str, mechanism: Mechanism, *, delta: Number | None = None) -> int | float:
        """How many more of these fit; ∞ for what costs nothing."""
        each = self._fixed(name, mechanism).cost(mechanism, None if delta is None else payable(delta))
        fixed, (spent, held) = self._totals(name)
        return fixed.count(tuple(s + h for s, h in zip(spent, held, strict=True)), each)

    def amounts(self, name: str) -> dict[str, dict[str, Fraction]]:
        """The exact sums: for each unit its limit, what is spent and what is held."""
        fixed, (spent, held) = self._totals(name)
        rows = zip(fixed.units, fixed.limits, spent, held, strict=True)
        return {unit: {"limit": limit, "spent": s, "held": h} for unit, limit, s, h in rows}

    def history(self, name: str | None = None) -> Iterator[Entry]:
        """All entries in order, of one budget or of all; the tree that was charged is in ``entry.mechanism``."""
        if name is not None:
            self._known(name)
        after = -1
        while True:  # in pieces: a long reading must not hold up the store
            with self._store.reading() as rows:
                found = list(islice(rows.every(name, after), 5000))
            yield from found
            if len(found) < 5000:
                return
            after = found[-1].seq

    def recount(self, name: str) -> Receipt | None:
        """Price every stored tree with today's theorems and lower the total by what they save; None if nothing."""
        fixed = self.terms(name)
        saved, upto = savings(fixed, self.history(name))
        if not any(saved):
            return None
        request = Request("recount", name, str(uuid.uuid4()), cost=costs.written(saved), detail={"upto": upto})
        return self._receipt(self._store.write(request))

    def export(self, target: str | os.PathLike[str] | IO[str], format: str = "json") -> int:
        """Write all entries as ``json`` or ``csv``; the number of entries written."""
        return export(self._store, self.history(), target, format)

    def verify(
        self,
        receipts: Receipt | Iterable[Receipt] = (),
        *,
        recount: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> Verification:
        """Look for every changed, missing, reordered or cut row, and with the last receipt for an old copy put back."""
        known = [receipts] if isinstance(receipts, Receipt) else list(receipts)
        return verified(self._store, known, recount, progress)

    @property
    def signed(self) -> bool:
        """Whether heads and receipts carry signatures."""
        return self._store.public_key is not None

    @property
    def head(self) -> Receipt:
        """The last entry as a receipt: keep it somewhere else."""
        with self._store.reading() as rows:
            entry = rows.entry(rows.head[0])
        if entry is None:
            raise LedgerError(self._store.name, "its last entry is missing", "Run tightrope ledger verify.")
        return self._receipt(entry)

    def close(self) -> None:
        """Give back files and connections."""
        self._store.close()

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Ledger {self._store.name}>"

    def _known(self, name: str) -> tuple[Terms, Relation]:
        if name not in self._terms:
            with self._store.reading() as rows:
                entry, fixed = stored_terms(rows, plain("name", name, 200, 1))
            self._terms[name] = fixed, json.loads(entry.detail)["relation"]
        return self._terms[name]

    def _fixed(self, name: str, mechanism: Mechanism) -> Terms:
        m = checked(mechanism)
        fixed, relation = self._known(name)
        if m.relation not in (None, relation):
            raise RelationMismatch(relation, m.relation or "")
        return fixed

    def _totals(self, name: str) -> tuple[Terms, tuple[costs.Amounts, costs.Amounts]]:
        fixed, _ = self._known(name)
        with self._store.reading() as rows:
            return fixed, rows.totals(name)

    def _spend(self, kind: str, name: str, m: Mechanism, purpose: str, request_id: str | None, **paid: Any) -> Entry:
        return self._store.write(spending(kind, name, m, self._fixed(name, m), purpose, request_id, **paid))

    def _close(self, kind: str, receipt: Receipt) -> Receipt:
        if not isinstance(receipt, Receipt) or receipt.ledger != self._store.ledger:
            raise BadParameter("receipt", receipt, "must be the receipt of a reservation in this ledger")
        return self._receipt(self._store.write(Request(kind, receipt.budget, refers=receipt.seq)))

    def _receipt(self, entry: Entry) -> Receipt:
        store = self._store
        message = head_message(store.ledger, entry.seq, entry.hash)
        signature = store.signer.sign(message) if store.signer is not None else None
        named = (entry.seq, entry.at, entry.kind, entry.budget, entry.request_id)
        return Receipt(store.ledger, *named, entry.amounts, entry.hash, store.public_key, signature)
