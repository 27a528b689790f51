"""Fixtures of the ledger's tests: each runs in every store."""

from stores import _stopped_at_the_end, address, ledger, quick_path  # noqa: F401 - fixtures are found by name
