"""What is particular to PostgreSQL: servers that are not there, conflicts, triggers, passwords."""

from __future__ import annotations

import builtins
import socket

import pytest

import stores
import tightrope as tr
from tightrope.budget import postgres as store

G10 = tr.Gaussian(sigma=10)


@pytest.fixture
def address(monkeypatch):
    monkeypatch.setattr(store, "FIRST_PAUSE", 0.001)
    return stores.server().create(f"particular{next(stores._numbers)}")


def test_no_ledger_in_a_database(address):
    for how in ({"create": False}, {"read_only": True}):
        with pytest.raises(tr.LedgerError, match="no ledger"):
            tr.Ledger.open(address, **how)


def test_no_server(monkeypatch):
    pytest.importorskip("psycopg")
    monkeypatch.setattr(store, "FIRST_PAUSE", 0.001)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        nowhere = f"postgresql://ada:secret@127.0.0.1:{probe.getsockname()[1]}/db"
        with pytest.raises(tr.LedgerError) as refused:
            tr.Ledger.open(nowhere)
    assert "secret" not in str(refused.value)
    assert refused.value.what.startswith("postgresql://127.0.0.1:")
    assert store._without_password("postgresql:///db") == "postgresql:///db"


def test_without_the_package(monkeypatch):
    real = builtins.__import__

    def missing(name, *rest):
        if name == "psycopg":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(tr.LedgerError, match="psycopg"):
        tr.Ledger.open("postgresql://localhost/db")


def test_a_lost_connection_is_found_again(address, tmp_path):
    import psycopg

    with tr.Ledger.open(address, key=tmp_path / "key") as book, psycopg.connect(address, autocommit=True) as other:
        book.create_budget("b", rho=1)
        for act in (lambda: book.charge("b", G10), lambda: book.amounts("b"), lambda: book.verify(book.head)):
            other.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE application_name = 'tightrope ledger' AND datname = current_database()"
            )
            assert act()
        book._store.close()
        assert book.charge("b", G10)
        assert len(list(book.history("b"))) == 3


def test_conflicts_are_tried_again_and_not_for_ever(address, monkeypatch):
    import psycopg

    with tr.Ledger.open(address) as book:
        assert not book.signed
        book.create_budget("b", rho=1)
        real, calls = store.posted, []

        def conflicting(*given):
            calls.append(1)
            if len(calls) < 3:
                raise psycopg.errors.SerializationFailure
            return real(*given)

        monkeypatch.setattr(store, "posted", conflicting)
        book.charge("b", G10)
        assert len(calls) == 3
        monkeypatch.setattr(store, "posted", lambda *_: (_ for _ in ()).throw(psycopg.errors.DeadlockDetected()))
        with pytest.raises(tr.LedgerError, match="DeadlockDetected"):
            book.charge("b", G10)
        monkeypatch.setattr(store, "posted", lambda *_: (_ for _ in ()).throw(psycopg.errors.UndefinedTable("gone")))
        with pytest.raises(tr.LedgerError, match="gone"):
            book.charge("b", G10)
        assert book.verify(book.head)
        monkeypatch.setattr("tightrope.budget.queue._folder", lambda *_: (_ for _ in ()).throw(OSError(28, "full")))
        book._store._line = None
        with pytest.raises(tr.LedgerError, match="full"):
            book.charge("b", G10)


def test_triggers_and_broken_tables_are_found(address):
    import psycopg

    with tr.Ledger.open(address) as book, psycopg.connect(address, autocommit=True) as other:
        other.execute("CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'")
        other.execute("CREATE TRIGGER t BEFORE INSERT ON ledger_entries FOR EACH ROW EXECUTE FUNCTION f()")
        assert any("'t' does not belong" in problem for problem in book.verify().problems)
        with tr.Ledger.open(address, read_only=True) as looking, pytest.raises(tr.LedgerError, match="reading only"):
            looking.create_budget("b", rho=1)
        other.execute("DROP TABLE ledger_entries")
        with pytest.raises(tr.LedgerError, match="ledger_entries"):
            book.budgets()
        assert not book.verify()
