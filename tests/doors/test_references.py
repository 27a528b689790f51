"""The bibliography: every source a theorem names exists, and every entry can be read and cited."""

import re

import pytest
from documents import everything

from tightrope.theorems import REGISTRY, bibliography, short_name

ENTRIES = bibliography()
KINDS = {"article", "inproceedings", "misc", "book", "phdthesis"}


@pytest.mark.parametrize("theorem", REGISTRY.values(), ids=list(REGISTRY))
def test_sources_exist(theorem):
    assert theorem.source.key in ENTRIES
    assert theorem.source.where
    assert re.search(r"\d{4}", str(theorem.source))


@pytest.mark.parametrize("key", ENTRIES)
def test_entries_are_well_formed(key):
    entry = ENTRIES[key].strip()
    head = re.match(r"@(\w+)\{([a-z]+\d{4}[a-z]+|tightrope),\n", entry)
    assert head, entry
    assert head.group(1) in KINDS
    assert head.group(2) == key
    assert entry.endswith("\n}")
    assert entry.count("{") == entry.count("}")
    fields = re.findall(r"^  (\w+) = \{(.+)\},?$", entry, re.M)
    assert len(fields) == len(entry.splitlines()) - 2, "a line is not a field"
    names = [name for name, _ in fields]
    assert {"author", "title", "year"} <= set(names)
    assert len(set(names)) == len(names)
    assert re.fullmatch(r"\d{4}", dict(fields)["year"])
    lines = entry.splitlines()[1:-1]
    assert all(line.endswith(",") for line in lines[:-1]), "a comma is missing"


@pytest.mark.parametrize("key", ENTRIES)
def test_years_agree_with_keys(key):
    if key != "tightrope":
        assert re.search(r"\d{4}", key).group() == re.search(r"year = \{(\d{4})\}", ENTRIES[key]).group(1)


@pytest.mark.parametrize("key", ENTRIES)
def test_short_names_can_be_read(key):
    assert re.fullmatch(r"[\w' .-]+ \d{4}", short_name(key))


def test_every_key_is_stated_once():
    from importlib import resources

    text = resources.files("tightrope").joinpath("references.bib").read_text(encoding="utf-8")
    keys = re.findall(r"^@\w+\{([^,]+),", text, re.M)
    assert sorted(keys) == sorted(set(keys)) == sorted(ENTRIES)


def test_every_entry_is_cited():
    cited = {t.source.key for t in REGISTRY.values()}
    told = everything()
    for key in sorted(set(ENTRIES) - cited):
        family = re.search(r"author = \{([^,}]+)", ENTRIES[key]).group(1)
        assert family in told, f"{key} is cited nowhere"
