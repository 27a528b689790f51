"""tightrope release: statistics of CSV and Parquet columns, and every way a file can be wrong."""

import json
import sys

import numpy as np
import pytest
from commands import good, refused

import tightrope as tr
from tightrope.cli import columns
from tightrope.noise.rehearsal import NotPrivate, rehearsed

AGES = [39, 50, 38, 53, 28, 37, 49, 52, 31, 42] * 10
TOWNS = ["Ulm", "Bonn", "Ulm", "Kiel", "Ulm"] * 20
BOUNDS = ("--lower", "0", "--upper", "100")


@pytest.fixture(params=["csv", "parquet"])
def table(request, tmp_path):
    path = tmp_path / f"people.{request.param}"
    if request.param == "csv":
        rows = [f"{age},{town}" for age, town in zip(AGES, TOWNS, strict=True)]
        path.write_text("\ufeffage,town\n" + "\n".join(rows) + "\n", encoding="utf-8")
    else:
        import pyarrow
        from pyarrow import parquet

        parquet.write_table(pyarrow.table({"age": AGES, "town": TOWNS}), path)
    return str(path)


def asked(*arguments):
    return json.loads(good("release", *arguments, "--json"))


def test_count(table):
    found = asked(table, "count", "--epsilon", "100")
    assert found["value"] == 100
    assert found["interval"] == [100.0, 100.0]
    assert found["claim"]["upper"] == 100
    assert asked(table, "--column", "age", "count", "--epsilon", "100")["value"] == 100


def test_sum_of_floats_and_of_whole_numbers(table):
    found = asked(table, "--column", "age", "sum", *BOUNDS, "--epsilon", "1e6")
    assert found["value"] == pytest.approx(4190, abs=0.1)
    assert found["mechanism"] == "laplace(scale=0.0001, sensitivity=100)"
    whole = asked(table, "--column", "age", "sum", "--whole", *BOUNDS, "--epsilon", "1e6")
    assert whole["value"] == 4190
    assert whole["mechanism"] == "discrete_laplace(scale=0.0001, sensitivity=100)"


def test_mean_is_what_the_library_says(table):
    with pytest.warns(NotPrivate), rehearsed(seed=7):
        found = asked(table, "--column", "age", "mean", *BOUNDS, "--epsilon", "1", "--confidence", "0.9")
    with pytest.warns(NotPrivate), rehearsed(seed=7):
        expected = tr.mean(np.array(AGES, float), 0, 100, epsilon=1)
    assert found["value"] == expected.value
    assert found["interval"] == list(expected.interval("0.9"))
    assert found["std"] == expected.std
    assert found["claim"] == json.loads(expected.claim.to_json())


def test_median(table):
    found = asked(table, "--column", "age", "quantile", "--whole", *BOUNDS, "--epsilon", "100")
    assert 38 <= found["value"] <= 43
    assert found["interval"] is None
    low = asked(table, "--column", "age", "quantile", "--q", "0", "--step", "10", *BOUNDS, "--epsilon", "100")
    assert low["value"] in (0, 10, 20)


def test_histograms(table):
    found = asked(table, "--column", "age", "histogram", "--bins", "0, 30, 40, 100", "--rho", "1000")
    assert [(e["of"], e["value"]) for e in found["entries"]] == [("0 to 30", 10), ("30 to 40", 40), ("40 to 100", 50)]
    assert found["claim"]["question"] == {"ask": "zcdp"}
    found = asked(table, "--column", "town", "histogram", "--categories", "Bonn, Ulm, Rome", "--epsilon", "100")
    assert [(e["of"], e["value"]) for e in found["entries"]] == [("Bonn", 20), ("Ulm", 60), ("Rome", 0)]


def test_a_claim_at_delta():
    claim = json.loads('{"ask": "epsilon", "delta": "1e-6"}')
    found = asked(__file__.replace("test_cli_release.py", "commands.py"), "count", "--epsilon", "1", "--delta", "1e-6",
                  "--delimiter", "\x01")
    assert found["claim"]["question"] == claim
    assert found["claim"]["upper"] <= 1


def test_for_people(table):
    printed = good("release", table, "--column", "age", "mean", *BOUNDS, "--epsilon", "1e9", "--relation", "replace")
    assert printed.startswith("mean of age: 41.")
    assert any(end in printed for end in ("[41.89", "[41.90"))  # 41.9, and a noise of a hundred-millionth or so
    for line in ("with chance 0.95", "cost      ε ∈ [1000000000.0, 1000000000.0] (tight)", "relation  replace",
                 "ran       laplace(", "noise     operating system"):
        assert line in printed
    assert good("release", table, "count", "--epsilon", "100").startswith("count: 100   [100, 100] with chance 0.95\n")
    printed = good("release", table, "--column", "age", "histogram", "--bins", "0,40,100", "--epsilon", "99",
                   "--delta", "1e-9")
    assert printed.startswith("0 to 40: ")
    assert "(tight) at δ = 1e-9\n" in printed
    assert " with chance" not in good("release", table, "--column", "age", "quantile", *BOUNDS, "--rho", "1")


@pytest.fixture
def written(tmp_path):
    def written(content, name="t.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    return written


@pytest.mark.parametrize("cell", ["", "x", "nan", "NaN", "inf", "-inf", "1e999", "1_000", "0x10", "3;4"])
def test_cells_that_are_no_numbers_are_refused_by_line_and_not_shown(written, cell):
    path = written(f"name,age\nA,39\nB,{cell}\n")
    told = refused("release", path, "--column", "age", "mean", *BOUNDS, "--epsilon", "1")
    assert "age in line 3 = '…': must be a finite number." in told
    assert ("--missing V" in told) == (cell == "")


@pytest.mark.parametrize("cell", ["3.5", "1e3", "x", "9" * 30, "1_0", "nan"])
def test_cells_that_are_not_whole_are_refused(written, cell):
    path = written(f"age\n{cell}\n")
    told = refused("release", path, "--column", "age", "sum", "--whole", *BOUNDS, "--epsilon", "1")
    assert "age in line 2 = '…': must be a whole number" in told


def test_empty_cells_count_as_the_number_given(written):
    path = written("name,age\nA,39\nB,\n\nC,1\n")
    found = asked(path, "--column", "age", "sum", "--whole", *BOUNDS, "--missing", "60", "--epsilon", "1e6")
    assert found["value"] == 100
    assert asked(path, "--column", "age", "count", "--epsilon", "100")["value"] == 2
    assert asked(path, "count", "--epsilon", "100")["value"] == 3
    told = refused("release", path, "--column", "age", "sum", "--whole", *BOUNDS, "--missing", "1/2", "--epsilon", "1")
    assert "--missing 1/2 is no whole number" in told
    told = refused("release", path, "--column", "age", "sum", *BOUNDS, "--missing", "x", "--epsilon", "1")
    assert "--missing" in told


def test_quoted_cells_and_other_delimiters(written):
    path = written('name;age\n"Q; with ""quotes""\nand a new line";39\nB;61\n')
    found = asked(path, "--delimiter", ";", "--column", "age", "sum", "--whole", *BOUNDS, "--epsilon", "1e6")
    assert found["value"] == 100


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "is empty: its first line must name the columns"),
        ("\n39\n", "is empty"),
        ("name,age\nA\n", "line 2 has 1 cells and the header 2"),
        ("name,age\nA,39,4\n", "line 2 has 3 cells and the header 2"),
        ("name,years\nA,39\n", "--column = 'age': is not in the file. Its columns are 'name', 'years'."),
        ("age,age\n1,2\n", "is the name of several columns"),
        (b"age\n\xff\xfe\n", "is not text in UTF-8"),
        ('age\n"39\n', "is not CSV"),
        ("age\n" + "1" * 200_000 + "\n", "is not CSV"),
    ],
)
def test_files_that_are_no_tables_are_refused(written, content, told):
    assert told in refused("release", written(content), "--column", "age", "mean", *BOUNDS, "--epsilon", "1")


def test_a_wide_table_lists_some_columns(written):
    path = written(",".join(f"c{i}" for i in range(30)) + "\n")
    assert "'c19', …." in refused("release", path, "--column", "age", "count", "--epsilon", "1")


def test_a_table_without_records(written):
    assert asked(written("age\n"), "count", "--epsilon", "100")["value"] == 0
    found = asked(written("age\n"), "--column", "age", "histogram", "--bins", "0,9", "--epsilon", "100")
    assert found["entries"][0]["value"] == 0


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("count",), "Give the budget"),
        (("count", "--epsilon", "1", "--rho", "1"), "Give the budget"),
        (("count", "--epsilon", "0"), "epsilon"),
        (("count", "--rho", "1", "--delta", "1e-5"), "exactly one budget"),
        (("mean", "--epsilon", "1", *BOUNDS), "Missing option '--column', which mean needs"),
        (("mean", "--column", "age", "--lower", "0", "--epsilon", "1"), "Missing option '--upper', which mean needs"),
        (("mean", "--column", "age", "--lower", "9", "--upper", "1", "--epsilon", "1"), "must be greater than lower"),
        (("mean", "--column", "age", *BOUNDS, "--epsilon", "1", "--delta", "1e-5"), "--delta has no meaning for mean"),
        (("count", "--epsilon", "1", "--whole"), "--whole has no meaning for count"),
        (("sum", "--column", "age", *BOUNDS, "--q", "0.5", "--epsilon", "1"), "--q has no meaning for sum"),
        (("histogram", "--column", "age", "--epsilon", "1"), "needs either --bins or --categories"),
        (("histogram", "--column", "age", "--bins", "3,2", "--epsilon", "1"), "increasing edges"),
        (("histogram", "--column", "age", "--bins", "3,x", "--epsilon", "1"), "bins[1]"),
        (("histogram", "--column", "age", "--categories", "a,a", "--epsilon", "1"), "all different"),
        (("quantile", "--column", "age", *BOUNDS, "--q", "2", "--epsilon", "1"), "q = "),
        (("median", "--column", "age", *BOUNDS, "--epsilon", "1"), "'quantile'"),
        (("count", "--epsilon", "1", "--confidence", "95"), "--confidence"),
        (("count", "--epsilon", "1", "--delimiter", "ab"), "one character"),
        (("count", "--epsilon", "1", "--relation", "zero-out"), "'replace'"),
    ],
)
def test_bad_questions_are_refused(written, arguments, told):
    assert told in refused("release", written("age\n39\n"), *arguments)


def test_a_file_that_is_not_there():
    assert "does not exist" in refused("release", "nowhere.csv", "count", "--epsilon", "1")


def test_what_is_not_parquet(written):
    assert "is not Parquet" in refused("release", written("age\n39\n", "t.parquet"), "count", "--epsilon", "1")


def test_parquet_without_its_reader(written, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    told = refused("release", written("age\n39\n", "t.parquet"), "count", "--epsilon", "1")
    assert "pip install 'tightrope[tables]'" in told


def test_cells_of_parquet(tmp_path):
    from decimal import Decimal

    import pyarrow
    from pyarrow import parquet

    path = tmp_path / "t.parquet"
    rows = {"b": [True, False], "d": [Decimal("1.5"), Decimal("2.0")], "n": [1, None], "f": [1.0, 2.5]}
    parquet.write_table(pyarrow.table(rows), path)
    for column, row in (("b", 1), ("n", 2)):
        told = refused("release", str(path), "--column", column, "sum", *BOUNDS, "--epsilon", "1")
        assert f"{column} in row {row} = '…'" in told
    for column, row in (("b", 1), ("d", 1), ("f", 2)):
        told = refused("release", str(path), "--column", column, "sum", "--whole", *BOUNDS, "--epsilon", "1")
        assert f"{column} in row {row} = '…'" in told
    found = asked(str(path), "--column", "d", "sum", *BOUNDS, "--epsilon", "1e9")
    assert found["value"] == pytest.approx(3.5, abs=1e-3)
    assert asked(str(path), "--column", "n", "count", "--epsilon", "100")["value"] == 1


def test_a_large_file_is_read_in_bounded_memory(written):
    import tracemalloc

    path = written("name,age\n" + "somebody with a long name indeed,41\n" * 60_000)
    tracemalloc.start()
    found = asked(path, "--column", "age", "count", "--epsilon", "100")
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found["value"] == 60_000
    assert most < 1_500_000  # the file has 2.2 MB
    assert columns.held(iter([(1, None), (2, "x")])) == 1
