"""Files stay small enough to be read: in the package the median at most 150 lines and none over 300, elsewhere 400."""

import statistics

import pytest
from documents import ROOT

SOURCES = sorted((ROOT / "src" / "tightrope").rglob("*.py"))
FOUND = [p for folder in ("tests", "benchmarks", "docs", "examples") for p in (ROOT / folder).rglob("*.py")]
OTHERS = sorted(p for p in FOUND if not any(part.startswith(".") for part in p.relative_to(ROOT).parts))  # our own


def lines(path):
    return len(path.read_text(encoding="utf-8").splitlines())


@pytest.mark.parametrize("path", [*SOURCES, *OTHERS], ids=lambda p: str(p.relative_to(ROOT)))
def test_no_file_is_long(path):
    assert lines(path) <= (300 if path in SOURCES else 400)


def test_the_median_file_is_short():
    assert statistics.median(lines(path) for path in SOURCES) <= 150
