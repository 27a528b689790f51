"""All 153 rows of the register are covered, by tests that exist and say so themselves."""

import ast
import re
from pathlib import Path

import pytest
from register import REGISTER

HERE = Path(__file__).parent


def rows_named():
    """{row: tests whose docstring names it}, from the files themselves."""
    found = {}
    for file in sorted(HERE.glob("test_notes_*.py")):
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                said = re.match(r"Rows? (\d+(?:, \d+)*)\. ", ast.get_docstring(node) or "")
                assert said, f"{file.name}::{node.name} does not say which rows it checks"
                for row in said.group(1).split(", "):
                    found.setdefault(int(row), []).append(f"{file.name}::{node.name}")
    return found


def test_every_row_is_covered():
    assert sorted(REGISTER) == list(range(1, 154))
    assert {kind for kind, _ in REGISTER.values()} == {"test", "no content"}
    assert sum(kind == "no content" for kind, _ in REGISTER.values()) == 4


def test_named_tests_exist_and_agree():
    found = rows_named()
    for row, (kind, what) in REGISTER.items():
        if kind == "test":
            assert what in found.get(row, []), f"row {row}: {what} does not exist or does not name the row"
        else:
            assert row not in found
            assert len(what) > 10


@pytest.mark.parametrize(
    ("file", "first", "last"),
    [
        ("test_notes_relaxations.py", 1, 23),
        ("test_notes_relaxations_mechanisms.py", 24, 41),
        ("test_notes_notebook.py", 42, 70),
        ("test_notes_notebook_composition.py", 71, 82),
        ("test_notes_lecture.py", 83, 103),
        ("test_notes_renyi_post.py", 104, 133),
        ("test_notes_conversion_proof.py", 134, 153),
    ],
)
def test_rows_are_where_they_belong(file, first, last):
    inside = {row for row, (_, what) in REGISTER.items() if what.startswith(f"{file}::")}
    assert inside <= set(range(first, last + 1))
    assert inside | {4, 71, 99, 126} >= set(range(first, last + 1))
