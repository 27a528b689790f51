"""The ledger on a terminal: every command, what it prints, and its exit codes."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
import sqlite3
import xml.etree.ElementTree as ElementTree

import pytest
from click.testing import CliRunner

import tightrope as tr
from tightrope.budget.picture import picture
from tightrope.cli import ledger as commands
from tightrope.cli.main import cli


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run(*arguments, code=0):
        result = CliRunner().invoke(cli, ["ledger", *arguments])
        assert result.exit_code == code, result.output
        return result.output

    return run


@pytest.fixture
def book(run):
    run("init", "b.db")
    run("budget", "b.db", "census", "--rho", "1/2", "--owner", "Ada", "--unit", "household")
    run("charge", "b.db", "census", "gaussian(sigma=10) * 60", "--purpose", "ages", "--request-id", "q")
    return "b.db"


def test_from_the_beginning_to_the_end(run, book):
    told = run("status", book, "--fits", "gaussian(sigma=10)")
    assert "census: spent 0.3, left 0.2 (ρ)" in told
    assert "fits      40 more" in told
    assert "one household, add-remove; owner Ada" in told
    assert "rule zcdp" in told
    refused = run("charge", book, "census", "gaussian(sigma=1)", code=1)
    assert "0.3 is missing" in refused
    assert run("charge", book, "census", "gaussian(sigma=10) * 60", "--purpose", "ages", "--request-id", "q")
    assert "something else" in run("charge", book, "census", "gaussian(sigma=10)", "--request-id", "q", code=2)
    history = run("history", book).splitlines()
    assert len(history) == 3
    assert "gaussian(sigma=10) * 60  'ages'" in history[2]
    assert len(run("history", book, "census", "--json").splitlines()) == 2


def test_status_as_json(run, book):
    told = json.loads(run("status", book, "census", "--json", "--fits", "pure(epsilon=0)"))["census"]
    assert told["amounts"]["ρ"] == {"limit": "1/2", "spent": "3/10", "held": "0"}
    assert told["fits"] == "inf"
    assert told["spent"]["lower"] <= 0.3 <= told["spent"]["upper"]
    assert tr.check(json.dumps(told["spent"]))
    assert json.loads(run("status", book, "--json", "--fits", "gaussian(sigma=10)"))["census"]["fits"] == 40


def test_the_examples_of_every_command_run(run, tmp_path):
    seen = set()
    for name in ("init", "budget", "charge", "status", "history", "verify", "export", "plot"):
        if name == "verify":
            (tmp_path / "receipts.txt").write_text(run("charge", "budget.db", "census", "gaussian(sigma=40)", "--json"))
        for line in re.findall(r"tightrope ledger (.+)$", run(name, "--help"), re.M):
            run(*shlex.split(line))
            seen.add(name)
    assert seen == set(commands.ledger.commands)


def test_verify(run, book, tmp_path):
    (tmp_path / "r").write_text(run("charge", book, "census", "gaussian(sigma=100)", "--json"))
    assert "1 receipt(s) found in place" in run("verify", book, "--receipt", "r", "--recount")
    assert "no receipt was given" in run("verify", book)
    assert json.loads(run("verify", book, "--json"))["ok"]
    with sqlite3.connect("b.db") as base:
        base.execute("UPDATE ledger_entries SET cost = '0 0' WHERE seq = 2")
    base.close()
    told = run("verify", book, "--receipt", "r", code=1)
    assert "entry 2 was changed" in told
    assert "totals after entry 2" in told
    assert json.loads(run("verify", book, "--json", code=1))["problems"]
    run("verify", book, "--receipt", "nothing", code=2)
    (tmp_path / "bad").write_text("x\n")
    run("verify", book, "--receipt", "bad", code=2)


def test_a_progress_bar_on_a_terminal(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(commands.sys, "stderr", Terminal())
    with commands._bar() as progress:
        progress(1, 4)
        progress(4, 4)
    assert "verifying" in commands.sys.stderr.getvalue()


def test_export(run, book, tmp_path):
    rows = list(csv.DictReader(io.StringIO(run("export", book, "--format", "csv"))))
    assert [row["kind"] for row in rows] == ["ledger", "budget", "charge"]
    assert rows[2]["cost"] == "3/10 0"
    run("export", book, "--output", "all.json")
    told = json.loads((tmp_path / "all.json").read_text())
    assert [entry["seq"] for entry in told["entries"]] == [0, 1, 2]
    assert told["head"]["hash"] == told["entries"][2]["hash"]
    assert told["head"]["signature"]
    with tr.Ledger.open("b.db") as found, pytest.raises(tr.BadParameter):
        found.export("x", "xml")


def test_plot(run, book, tmp_path):
    run("plot", book, "census")
    drawn = (tmp_path / "census.svg").read_text()
    assert ElementTree.fromstring(drawn).tag.endswith("svg")
    assert "60.0 % spent" in drawn
    run("budget", book, "<b & c>", "--epsilon", "1", "--delta", "1e-6", "--rule", "renyi", "--orders", "8,16,32")
    run("plot", book, "<b & c>", "--output", "x.svg")
    assert ElementTree.fromstring((tmp_path / "x.svg").read_text()) is not None


def test_a_long_picture_stays_small(tmp_path):
    with tr.Ledger.open(tmp_path / "b.db") as found:
        found.create_budget("b", rho=1)
        found.charge("b", tr.Gaussian(sigma=10))
        entries = list(found.history("b"))
        drawn = picture("b", found.terms("b"), [*entries, *[entries[-1]] * 10_000])
    assert len(drawn) < 200_000


def test_every_way_to_state_a_budget(run):
    run("init", "b.db", "--key", "k")
    ways = (["--epsilon", "1"], ["--mu", "1"], ["--pure", "1/3"], ["--rho", "1", "--leak", "1e-9"])
    for n, stated in enumerate(ways):
        run("budget", "b.db", f"b{n}", *stated, "--key", "k", "--relation", "replace", "--notes", "n")
    run("budget", "b.db", "b0", "--epsilon", "1", "--key", "k", code=2)
    run("budget", "b.db", "c", "--key", "k", code=2)
    run("budget", "b.db", "c", "--rho", "1", code=2)  # the key is not beside the file
    assert run("init", "u.db", "--unsigned").endswith("give --key to sign it\n")
    assert "NOT signed" in run("verify", "u.db")
    assert "no such file" in run("status", "no.db", code=2)
    assert "no such budget" in run("status", "b.db", "no", code=2)


def test_paying_at_a_delta_and_plans(run):
    run("init", "b.db")
    run("budget", "b.db", "b", "--epsilon", "1", "--delta", "1e-5", "--rule", "basic")
    assert "δ: 1e-6 of 1e-5" in run("charge", "b.db", "b", "gaussian(sigma=100)", "--delta", "1e-6")
    with tr.Ledger.open("b.db") as found:
        found.plan("b", tr.Laplace(scale=100) * 2, request_id="p")
    run("charge", "b.db", "b", "laplace(scale=100)", "--plan", "p")
    assert "not one of its steps" in run("charge", "b.db", "b", "laplace(scale=10)", "--plan", "p", code=2)


def test_commands_are_described():
    from documents import ROOT

    page = (ROOT / "docs" / "ledger.md").read_text(encoding="utf-8")
    for command in commands.ledger.commands.values():
        row = next(line for line in page.splitlines() if f"`tightrope ledger {command.name}" in line)
        for option in [p for p in command.params if p.param_type_name == "option"]:
            assert any(f"`{form}" in row for form in option.opts), f"{option.opts} of {command.name} is not described"
