"""Entries: the rows of a ledger, each bound to the one before by a hash; requests that become entries; receipts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from typing import Any

from tightrope.budget.costs import Amounts, read
from tightrope.errors import BadParameter, LedgerError

COLUMNS = (
    "seq",
    "at",
    "kind",
    "budget",
    "request_id",
    "refers",
    "mechanism",
    "purpose",
    "cost",
    "spent",
    "held",
    "detail",
    "hash",
)
SPENDING = ("charge", "release", "plan")  # kinds whose cost is spent at once
ORIGIN = "0" * 64  # what the first entry is bound to


@dataclass(frozen=True, slots=True)
class Entry:
    """One row. ``spent`` and ``held`` are the budget's totals after it; amounts are exact, as text."""

    seq: int
    at: str
    kind: str
    budget: str
    request_id: str | None
    refers: int | None
    mechanism: str
    purpose: str
    cost: str
    spent: str
    held: str
    detail: str
    hash: str

    @property
    def amounts(self) -> Amounts:
        """The cost, one exact number for each unit of the budget."""
        return read(self.cost) if self.cost else ()

    def told(self) -> dict[str, Any]:
        """The row by column."""
        return {name: getattr(self, name) for name in COLUMNS}


def digest(previous: str, fields: Sequence[Any]) -> str:
    """The hash of a row without its own hash, and of everything before it."""
    row = json.dumps(list(fields), ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(f"{previous}\n{row}".encode()).hexdigest()


def head_message(ledger: str, seq: int, row_hash: str) -> bytes:
    """What is signed: the hash of an entry stands for every entry up to it."""
    return f"tightrope ledger head\n{ledger}\n{seq}\n{row_hash}\n".encode()


@dataclass(frozen=True)
class Request:
    """What a client wants to have entered. The body decides whether a repeated request id is the same request."""

    kind: str
    budget: str
    request_id: str | None = None
    mechanism: str = ""
    purpose: str = ""
    cost: str = ""
    refers: int | None = None
    detail: dict[str, Any] = field(default_factory=dict)

    @property
    def plan(self) -> str | None:
        """The request id of the plan that this is a step of."""
        found: str | None = self.detail.get("plan")
        return found

    @property
    def body(self) -> tuple[Any, ...]:
        """What must be the same for a repeated request id. Not the cost: a better theorem may have lowered it."""
        return self.kind, self.mechanism, self.purpose, canonical(self.detail)

    def to_json(self) -> str:
        """The request as text, for another process."""
        return json.dumps(self.__dict__, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Request:
        """A request that another process wrote."""
        return cls(**json.loads(text))


def canonical(detail: dict[str, Any]) -> str:
    """The one text of a detail: sorted keys, and nothing at all for none."""
    return json.dumps(detail, ensure_ascii=False, sort_keys=True, separators=(",", ":")) if detail else ""


@dataclass(frozen=True)
class Receipt:
    """Proof that a ledger made an entry. Keep the last one outside the ledger: with it ``Ledger.verify`` can see that
    rows were cut off or an old copy was put back. ``signature`` is None when the ledger is not signed."""

    ledger: str
    seq: int
    at: str
    kind: str
    budget: str
    request_id: str | None
    cost: tuple[Fraction, ...]
    hash: str
    public_key: str | None = None
    signature: str | None = None

    def to_json(self) -> str:
        """The receipt as one line of text."""
        told = {**asdict(self), "cost": [str(x) for x in self.cost]}
        return json.dumps({"tightrope-receipt": 1, **told}, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Receipt:
        """A receipt that was kept. Reading is not trusting: see ``Ledger.verify``."""
        try:
            told = json.loads(text)
            if told.pop("tightrope-receipt") != 1:
                raise ValueError("an unknown version")
            made = cls(**{**told, "cost": tuple(map(Fraction, told["cost"]))})
            if not (isinstance(made.seq, int) and isinstance(made.hash, str) and isinstance(made.ledger, str)):
                raise ValueError("wrong types")
            return made
        except (ValueError, TypeError, KeyError, AttributeError, ZeroDivisionError) as wrong:
            raise LedgerError("the receipt", f"it cannot be read ({wrong})", "Give the line that was kept.") from None


def plain(name: str, value: object, most: int = 1000, least: int = 0) -> str:
    """Text that every store keeps as it is."""
    if not isinstance(value, str):
        raise BadParameter(name, value, "must be text")
    if not least <= len(value) <= most:
        raise BadParameter(name, value, f"must have {least} to {most} characters")
    if "\0" in value or any("\ud800" <= c <= "\udfff" for c in value):
        raise BadParameter(name, value, "must not contain NUL or half of a surrogate pair")
    return value
