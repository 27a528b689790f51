"""What verification says of each kind of damage, and what opening says of a damaged head."""

from __future__ import annotations

import sqlite3
from dataclasses import replace

import pytest

import tightrope as tr
from tightrope.budget.entries import COLUMNS, digest
from tightrope.budget.signing import new_signer

G10 = tr.Gaussian(sigma=10)


@pytest.fixture
def path(quick_path):
    """An unsigned ledger: budget 1, charge 2, reserve 3, commit 4, reserve 5, charge 6."""
    place = quick_path / "b.db"
    with tr.Ledger.open(place, key=False) as book:
        book.create_budget("b", rho="1/20")
        book.charge("b", G10, request_id="c")
        book.commit(book.reserve("b", G10))
        book.reserve("b", G10)
        book.charge("b", G10)
    return place


def sql(path, *statements):
    with sqlite3.connect(path) as base:
        for statement in statements:
            base.execute(statement)
    base.close()


def hashed_anew(path):
    """What a tamperer without a key can do: every hash and the head fit the rows."""
    with sqlite3.connect(path) as base:
        previous = "0" * 64
        for row in base.execute(f"SELECT {', '.join(COLUMNS)} FROM ledger_entries ORDER BY seq").fetchall():
            previous = digest(previous, row[:-1])
            base.execute("UPDATE ledger_entries SET hash = ? WHERE seq = ?", (previous, row[0]))
        base.execute("UPDATE ledger_head SET (seq, at, hash) = (SELECT MAX(seq), at, hash FROM ledger_entries)")
    base.close()


def problems(path, *receipts, **how):
    with tr.Ledger.open(path, read_only=True) as book:
        return "\n".join(book.verify(receipts, **how).problems)


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("DELETE FROM ledger_entries WHERE seq = 3", "entry 3 is missing"),
        ("UPDATE ledger_entries SET at = '2000' WHERE seq = 3", "dated before"),
        ("UPDATE ledger_entries SET purpose = 3 WHERE seq = 3", ""),
        ("UPDATE ledger_entries SET cost = X'00' WHERE seq = 3", "not of its type"),
        ("UPDATE ledger_entries SET cost = 'x' WHERE seq = 3", "entry 3 cannot be read"),
        ("UPDATE ledger_entries SET budget = 'other' WHERE seq = 3", "entry 3 cannot be read"),
        ("UPDATE ledger_entries SET detail = '{' WHERE seq = 0", "the first entry cannot be read"),
        ("UPDATE ledger_entries SET kind = 'x' WHERE seq = 0", "does not agree"),
        ("DELETE FROM ledger_entries WHERE seq = 0", "the first entry is missing"),
        ("UPDATE ledger_about SET value = 'x' WHERE name = 'ledger'", "does not agree"),
        ("UPDATE ledger_head SET hash = 'x'", "the head names"),
        ("UPDATE ledger_head SET signature = 'x'", "says that it is not signed"),
        ("DELETE FROM ledger_head", "cannot be read"),
        ("CREATE TRIGGER t AFTER INSERT ON ledger_entries BEGIN SELECT 1; END", "'t' does not belong"),
        ("DROP INDEX ledger_requests", "'ledger_requests' is missing"),
    ],
)
def test_damage_is_named(path, statement, found):
    sql(path, statement)
    assert found in problems(path) != ""


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("UPDATE ledger_entries SET cost = '1 0' WHERE seq = 2", "entry 2 exceeds the budget"),
        ("UPDATE ledger_entries SET cost = '1 0' WHERE seq = 5", "entry 5 exceeds the budget"),
        ("UPDATE ledger_entries SET cost = '-1/200 0' WHERE seq = 2", "negative cost"),
        ("UPDATE ledger_entries SET cost = '1/400 0' WHERE seq = 4", "not open"),
        ("UPDATE ledger_entries SET refers = NULL WHERE seq = 4", "not open"),
        ("UPDATE ledger_entries SET spent = '0 0' WHERE seq = 6", "totals after entry 6"),
        ("UPDATE ledger_entries SET kind = 'recount' WHERE seq = 6", "totals after entry 6"),
    ],
)
def test_sums_are_checked_even_when_hashes_fit(path, statement, found):
    sql(path, statement)
    hashed_anew(path)
    assert found in problems(path)


def test_prices_are_checked_on_request(path):
    sql(path, "UPDATE ledger_entries SET mechanism = 'gaussian(sigma=9)' WHERE seq IN (2, 6)")
    hashed_anew(path)
    assert problems(path) == ""
    assert problems(path, recount=True).count("charged less") == 2
    sql(path, "UPDATE ledger_entries SET mechanism = 'lost(sigma=9)' WHERE seq IN (2, 6)")
    hashed_anew(path)
    assert problems(path, recount=True) == ""  # what is not known any more keeps its price


def test_many_problems_are_not_all_listed(path):
    with tr.Ledger.open(path) as book:
        for _ in range(3):
            book.charge("b", tr.Gaussian(sigma=1000))
    sql(path, "UPDATE ledger_entries SET hash = 'x', at = '', spent = 'y'")
    assert 10 < problems(path).count("\n") + 1 <= 25


def test_receipts(path, quick_path):
    with tr.Ledger.open(path) as book:
        last = book.head
        assert book.verify(last)
        assert not book.verify(replace(last, hash="0" * 64))
        assert not book.verify(replace(last, ledger="0" * 32))
        assert not book.verify(replace(last, seq=99))
        assert not book.verify(replace(last, signature="00"))
        assert tr.Receipt.from_json(last.to_json()) == last
        told = []
        book.verify(progress=lambda done, total: told.append((done, total)))
        assert told[-1] == (7, 7)
    with tr.Ledger.open(quick_path / "signed.db") as book:
        last = book.create_budget("b", rho=1)
        assert book.verify(last)
        assert not book.verify(replace(last, signature="00"))
        assert not book.verify(replace(last, signature="z"))
        assert not book.verify(replace(last, signature=None))
        assert not book.verify(replace(last, public_key=new_signer(quick_path / "k").public_key))
        assert bool(book.verify(last)) is True


def test_nobody_goes_on_from_a_damaged_head(quick_path):
    place = quick_path / "b.db"
    with tr.Ledger.open(place) as book:
        book.create_budget("b", rho=1)
    for damage in (
        "UPDATE ledger_head SET signature = NULL",
        "UPDATE ledger_head SET hash = 'x'",
        "UPDATE ledger_head SET seq = 99",
    ):
        sql(place, damage)
        with pytest.raises(tr.LedgerError, match="head was changed"):
            tr.Ledger.open(place)
        with tr.Ledger.open(place, read_only=True) as book:
            assert not book.verify()
    with tr.Ledger.open(place, read_only=True) as book, pytest.raises(tr.LedgerError, match="missing"):
        _ = book.head
    sql(place, "DELETE FROM ledger_about WHERE name = 'ledger'")
    with pytest.raises(tr.LedgerError, match="not a whole ledger"):
        tr.Ledger.open(place)


def test_damaged_bytes_are_found(path):
    data = bytearray(path.read_bytes())
    start = data.index(b"gaussian(sigma=10)")
    data[start] ^= 1
    path.write_bytes(data)
    assert problems(path)
    data[100:200] = bytes(100)
    path.write_bytes(data)
    with pytest.raises(tr.LedgerError):
        problems(path)
