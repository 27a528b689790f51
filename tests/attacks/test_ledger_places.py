"""Where a ledger lives: files that are none, older and newer schemas, read-only places."""

from __future__ import annotations

import os
import sqlite3
import stat
from fractions import Fraction

import pytest

import tightrope as tr
from tightrope.budget import schema, sqlite

G10 = tr.Gaussian(sigma=10)


@pytest.mark.parametrize("where", ["", ":memory:", 3, None, "http://x", "a\0b", b"x"])
def test_places(where):
    with pytest.raises(tr.BadParameter):
        tr.Ledger.open(where)


def test_files_that_are_no_ledgers(tmp_path):
    text, other, folder = tmp_path / "text", tmp_path / "other.db", tmp_path / "folder"
    text.write_text("this is not a database, and long enough to be read as one" * 100)
    with sqlite3.connect(other) as made:
        made.execute("CREATE TABLE t (a)")
    made.close()
    before = other.read_bytes()
    folder.mkdir()
    for place in (text, other, folder, tmp_path / "no" / "such" / "folder.db"):
        with pytest.raises(tr.LedgerError):
            tr.Ledger.open(place)
    assert other.read_bytes() == before
    assert text.read_text().startswith("this is not")
    with pytest.raises(tr.LedgerError, match="no such file"):
        tr.Ledger.open(tmp_path / "new.db", create=False)
    with pytest.raises(tr.LedgerError, match="no such file"):
        tr.Ledger.open(tmp_path / "new.db", read_only=True)
    (tmp_path / "empty.db").touch()
    with pytest.raises(tr.LedgerError, match="empty"):
        tr.Ledger.open(tmp_path / "empty.db", read_only=True)


def test_a_newer_schema_is_refused(tmp_path):
    tr.Ledger.open(tmp_path / "b.db").close()
    for value, why in (("99", "newer"), ("x", "no version")):
        with sqlite3.connect(tmp_path / "b.db") as base:
            base.execute("UPDATE ledger_about SET value = ? WHERE name = 'schema'", (value,))
        base.close()
        with pytest.raises(tr.LedgerError, match=why):
            tr.Ledger.open(tmp_path / "b.db")


def test_an_older_ledger_is_brought_up_to_date(address, tmp_path, monkeypatch):
    with monkeypatch.context() as old:
        old.setattr(schema, "MIGRATIONS", schema.MIGRATIONS[:1])
        old.setattr(schema, "VERSION", 1)
        old.setattr("tightrope.budget.store.VERSION", 1)
        with tr.Ledger.open(address, key=tmp_path / "key") as book:
            book.create_budget("b", rho=1)
            last = book.charge("b", G10)
    with tr.Ledger.open(address, read_only=True) as book:
        assert any("version 1" in problem for problem in book.verify(last).problems)
    with tr.Ledger.open(address, key=tmp_path / "key") as book:
        assert book.verify(last)
        book.charge("b", G10)
        assert book.amounts("b")["ρ"]["spent"] == Fraction(1, 100)


def test_a_read_only_ledger_can_be_looked_at(tmp_path):
    with tr.Ledger.open(tmp_path / "b.db") as book:
        book.create_budget("b", rho=1)
        last = book.charge("b", G10)
        with tr.Ledger.open(tmp_path / "b.db", read_only=True) as other:  # while somebody writes
            assert other.verify(last)
    with tr.Ledger.open(tmp_path / "b.db", read_only=True) as book:
        assert book.spent("b").upper == 0.005
        with pytest.raises(tr.LedgerError, match="reading only"):
            book.charge("b", G10)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_directory(tmp_path):
    tr.Ledger.open(tmp_path / "b.db").close()
    os.chmod(tmp_path / "b.db", stat.S_IRUSR)
    os.chmod(tmp_path, stat.S_IRUSR | stat.S_IXUSR)
    try:
        with pytest.raises(tr.LedgerError):
            tr.Ledger.open(tmp_path / "b.db").create_budget("b", rho=1)
        with tr.Ledger.open(tmp_path / "b.db", read_only=True) as book:
            assert book.verify()
    finally:
        os.chmod(tmp_path, stat.S_IRWXU)


def test_immutable_media(tmp_path, monkeypatch):
    tr.Ledger.open(tmp_path / "b.db").close()
    monkeypatch.setattr(sqlite.os, "access", lambda *_: False)
    with tr.Ledger.open(tmp_path / "b.db", read_only=True) as book:
        assert book.verify()
