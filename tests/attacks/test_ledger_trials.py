"""Races, kills, failing disks, crashing servers and tampering: a tenth of what ``make bench`` runs, with figures."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import failing_disk
import ledger_crashes
import stores
import tightrope as tr

TESTS = Path(__file__).parents[1]


def trial(script, *arguments):
    """Run a trial in a process of its own, which forks or breaks its SQLite, and read its figures."""
    paths = os.pathsep.join([str(Path(tr.__file__).parents[1]), str(TESTS)])
    done = subprocess.run(
        [sys.executable, "-W", "error", str(TESTS / script), *map(str, arguments)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": paths},
    )
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    print(f"{script}: {figures}")
    return figures


def test_many_processes_grant_exactly_the_cap(address, tmp_path):
    found = trial("ledger_races.py", address, tmp_path / "key", 32, 2016, 1500)
    assert (found["granted"], found["refused"], found["recorded"]) == (1500, 516, "1500")
    assert found["problems"] == []


def test_nothing_acknowledged_is_lost_by_kill_9(tmp_path):
    found = trial("ledger_kills.py", tmp_path / "b.db", tmp_path / "key", 100, 6)
    assert found["acknowledged"] > 30
    assert (found["lost"], found["unpaid"], found["other_answers"]) == (0, 0, 0)
    assert found["exact"]
    assert found["problems"] == []


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.skipif(failing_disk.library() is None, reason="this Python does not show the functions of its SQLite")
def test_failing_disks_never_corrupt_and_never_fail_open(quick_path):
    found = trial("ledger_faults.py", quick_path, 4)
    assert found["faults"] > 150
    assert found["wrong"] == []


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_tampering_is_found(quick_path):
    found = trial("ledger_tampering.py", quick_path, 500, 6)
    assert found["undetected"] == []
    assert len(found["kinds"]) == 11


def test_a_crashing_server_neither_loses_nor_doubles(tmp_path):
    server = stores.server()
    found = ledger_crashes.crashes(server, server.create("crashes"), tmp_path / "key", 10, 6)
    print(f"ledger_crashes: {found}")
    assert found["acknowledged"] >= 60
    assert (found["lost"], found["doubles"], found["problems"]) == (0, 0, [])
