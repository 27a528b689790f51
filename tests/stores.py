"""Where ledgers live in tests: a file, and a database of a throw-away PostgreSQL server."""

from __future__ import annotations

import os
import tempfile
import warnings
from itertools import count
from pathlib import Path

import pytest

import postgres
import tightrope as tr

STORES = ("sqlite", "postgresql")
_numbers = count()
_state: dict[str, object] = {}


def server() -> postgres.Server:
    """The server of this test process, started when first needed. Without one the test is skipped, loudly."""
    if "server" not in _state:
        problem = postgres.install()
        try:
            import psycopg  # noqa: F401
        except ImportError:
            problem = problem or "the package psycopg is not installed"
        if problem and os.environ.get(postgres.REQUIRED):
            raise RuntimeError(f"{postgres.REQUIRED} is set, but {problem}")
        _state["server"] = problem or postgres.Server()
    found = _state["server"]
    if isinstance(found, str):
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            warnings.warn(f"POSTGRESQL TESTS SKIPPED: {found}", stacklevel=2)
        pytest.skip(f"POSTGRESQL TESTS SKIPPED: {found}")
    assert isinstance(found, postgres.Server)
    return found


@pytest.fixture(scope="session", autouse=True)
def _stopped_at_the_end():
    yield
    found = _state.pop("server", None)
    if isinstance(found, postgres.Server):
        found.stop()


@pytest.fixture(params=STORES)
def address(request, tmp_path):
    """A place for a new ledger, in each of the stores."""
    if request.param == "sqlite":
        return str(tmp_path / "budget.db")
    return server().create(f"ledger{os.getpid()}x{next(_numbers)}")


@pytest.fixture
def quick_path():
    """A directory in memory where there is one, for tests that are not about the disk."""
    with tempfile.TemporaryDirectory(dir=postgres.memory()) as place:
        yield Path(place)


@pytest.fixture
def ledger(address, tmp_path):
    """A new signed ledger in each of the stores."""
    with tr.Ledger.open(address, key=tmp_path / "key") as made:
        yield made
