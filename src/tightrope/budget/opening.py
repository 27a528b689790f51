"""From an address to the store of a ledger, with the key that signs it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tightrope.budget.signing import KEY_VARIABLE, Signer, can_sign, new_signer, signer_in
from tightrope.budget.store import Store
from tightrope.errors import BadParameter

SCHEMES = ("postgresql://", "postgres://")


def opened(where: str | os.PathLike[str], create: bool, read_only: bool, key: Any) -> Store:
    """The store at a path or address."""
    if not isinstance(where, str | os.PathLike):
        raise BadParameter("where", where, "must be a path or a postgresql:// address")
    address = os.fspath(where)
    if not isinstance(address, str) or not address or address == ":memory:" or "\0" in address:
        raise BadParameter("where", where, "must be the path of a file", "A ledger in memory would not be durable.")
    store: Store
    if "://" in address:
        if not address.startswith(SCHEMES):
            raise BadParameter("where", where, "must be a path or a postgresql:// address")
        from tightrope.budget.postgres import PostgresStore

        place, store = _key_file(key, None), PostgresStore(address, create, read_only)
    else:
        from tightrope.budget.sqlite import SQLiteStore

        place, store = _key_file(key, Path(f"{address}.key")), SQLiteStore(Path(address), create, read_only)
    try:
        store.begin(lambda: _new(place, required=key is not None), _present(place, key))
        if not read_only:
            store.check_head()
    except BaseException:
        store.close()
        raise
    return store


def _key_file(key: Any, usual: Path | None) -> Path | None:
    if key is False:
        return None
    if key is None:
        named = os.environ.get(KEY_VARIABLE)
        return Path(named) if named else usual
    if not isinstance(key, str | os.PathLike):
        raise BadParameter("key", key, "must be the path of a key file, or False for a ledger without signatures")
    return Path(os.fspath(key))


def _new(place: Path | None, required: bool) -> Signer | None:
    """The key of a new ledger; without the package that signs, none, unless one was asked for."""
    if place is None or not (can_sign() or required):
        return None
    return new_signer(place)


def _present(place: Path | None, key: Any) -> Callable[[bool], Signer | None]:
    """Asked once the ledger is there: its key, if it is at hand. A key that was named must be there and fit."""

    def load(signed: bool) -> Signer | None:
        if place is None or (key is None and not (signed and can_sign() and place.exists())):
            return None
        return signer_in(place)

    return load
