"""The command that answers a private query on a file: a thin shell over count, sum, mean, histogram and quantile."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import tightrope as tr
from tightrope.accounting.claim import rounded
from tightrope.cli import asked, columns, show
from tightrope.cli.waiting import waiting
from tightrope.numerics.exact import exact, near, probability

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tightrope import Claim, Release

STATISTICS = ("count", "sum", "mean", "histogram", "quantile")
NEEDS = {  # what each statistic cannot do without, and what it may have besides
    "count": ((), ("column", "delta")),
    "sum": (("column", "lower", "upper"), ("missing", "whole", "delta")),
    "mean": (("column", "lower", "upper"), ("missing", "whole")),
    "histogram": (("column",), ("bins", "categories", "missing", "delta")),
    "quantile": (("column", "lower", "upper"), ("missing", "whole", "q", "step")),
}
NEIGHBOURS = "One record more or less (the default), or one exchanged for another."
SETTINGS = ("column", "lower", "upper", "bins", "categories", "q", "step", "missing", "whole", "delta")


@click.command()
@click.argument("file", metavar="FILE", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("statistic", metavar="STATISTIC", type=click.Choice(STATISTICS))
@click.option("--column", metavar="C", help="The column; count without it counts all records.")
@asked.number("epsilon", "E", "The budget: Laplace noise, or with --delta Gaussian noise.", required=False)
@asked.number("delta", "D", "The δ beside --epsilon (count, sum, histogram).", required=False)
@asked.number("rho", "R", "The budget in zero-concentrated DP instead: Gaussian noise.", required=False)
@asked.number("lower", "L", "Values below count as L (sum, mean, quantile).", required=False)
@asked.number("upper", "U", "Values above count as U (sum, mean, quantile).", required=False)
@click.option("--bins", metavar="B,B,…", help="Edges of a histogram of numbers; the last bin is closed.")
@click.option("--categories", metavar="C,C,…", help="Categories of a histogram of texts.")
@asked.number("q", "Q", "Which quantile, from 0 to 1 (default 0.5, the median).", required=False)
@asked.number("step", "S", "The distance between possible answers of a quantile.", required=False)
@asked.number("missing", "V", "The number that stands for empty cells; without it they are refused.", required=False)
@click.option("--whole", is_flag=True, help="The column holds whole numbers; that is not guessed from the cells.")
@click.option("--relation", type=click.Choice(["add-remove", "replace"]), default="add-remove", help=NEIGHBOURS)
@click.option("--confidence", default="0.95", metavar="P", help="The chance that the interval holds the exact answer.")
@click.option("--delimiter", default=",", metavar="X", help="What separates the cells of a CSV file.")
@asked.as_json
def release(
    file: Path, statistic: str, relation: str, confidence: str, delimiter: str, as_json: bool, **options: Any
) -> None:
    """A private statistic of a column: count, sum, mean, histogram or quantile.

    FILE is CSV with a header (UTF-8) or Parquet. Fix bounds, bins and categories without looking at the data.
    Every release spends its budget again; tightrope ledger keeps count.

    \b
    Examples:
      tightrope release ages.csv --column age mean --lower 0 --upper 100 --epsilon 1
      tightrope release ages.csv --column age histogram --bins 0,18,65,120 --rho 0.01 --json
      tightrope release ages.csv count --epsilon 0.5
    """
    _fitting(statistic, options)
    if len(delimiter) != 1 or delimiter in '\r\n"':
        raise click.UsageError(f"--delimiter must be one character, not {delimiter!r}.")
    level = exact("--confidence", confidence)
    probability("--confidence", level)
    with waiting(f"reading {file.name}"):
        released, labels = _answer(file, statistic, relation, delimiter, options)
    claim = _claim(released, options["delta"])
    interval = None if statistic == "quantile" else released.interval(level)
    if as_json:
        click.echo(_as_json(released, claim, interval, statistic, options["column"], confidence, labels))
    else:
        click.echo(_for_people(released, claim, interval, statistic, options["column"], confidence, labels))


def _fitting(statistic: str, options: dict[str, Any]) -> None:
    """The options must be those of the statistic."""
    needed, allowed = NEEDS[statistic]
    for name in needed:
        if options[name] is None:
            raise click.UsageError(f"Missing option '{asked.flag(name)}', which {statistic} needs.")
    for name in SETTINGS:
        if options[name] not in (None, False) and name not in (*needed, *allowed):
            raise click.UsageError(f"{asked.flag(name)} has no meaning for {statistic}.")
    if statistic == "histogram" and (options["bins"] is None) == (options["categories"] is None):
        raise click.UsageError("A histogram needs either --bins or --categories.")
    if (options["epsilon"] is None) == (options["rho"] is None):
        raise click.UsageError("Give the budget: --epsilon, --epsilon with --delta, or --rho.")


def _answer(
    file: Path, statistic: str, relation: Any, delimiter: str, options: dict[str, Any]
) -> tuple[Release, list[str]]:
    """The release, and what each of its entries is about."""
    column = options["column"]
    found = columns.cells(file, column, delimiter)
    budget = {name: options[name] for name in ("epsilon", "rho", "delta") if options[name] is not None}
    if statistic == "count":
        n = columns.records(found) if column is None else columns.held(found)
        return tr.count(range(n), relation=relation, **budget), []
    if options["categories"] is not None:
        names = [name.strip() for name in options["categories"].split(",")]
        here = columns.places(found, names)
        return tr.histogram(here, range(len(names)), relation=relation, **budget), names
    where, stand_in = f"{column} in {columns.place_word(file)}", _stand_in(options["missing"], options["whole"])
    values = columns.numbers(found, where, stand_in, options["whole"])
    if statistic == "histogram":
        edges = [edge.strip() for edge in options["bins"].split(",")]
        between = [f"{a} to {b}" for a, b in pairwise(edges)]
        return tr.histogram(values, bins=edges, relation=relation, **budget), between
    ends = (options["lower"], options["upper"])
    if statistic == "quantile":
        q = "0.5" if options["q"] is None else options["q"]
        return tr.quantile(values, q, *ends, step=options["step"], relation=relation, **budget), []
    return (tr.sum if statistic == "sum" else tr.mean)(values, *ends, relation=relation, **budget), []


def _stand_in(missing: str | None, whole: bool) -> float | int | None:
    """What is taken for an empty cell."""
    if missing is None:
        return None
    value = exact("--missing", missing)
    if whole and value.denominator != 1:
        raise click.UsageError(f"--missing {missing} is no whole number, and --whole was given.")
    return int(value) if whole else near(value)


def _claim(released: Release, delta: str | None) -> Claim:
    """What it cost, in the unit that was asked for."""
    return released.claim if delta is None else tr.epsilon(released.mechanism, delta=delta)


def _rows(released: Release, interval: Any, labels: Sequence[str]) -> list[tuple[str, Any, Any]]:
    """(label, value, interval) of each entry."""
    if not labels:
        return [("", released.value, interval)]
    low, high = interval
    return [
        (label, value, (a, b))
        for label, value, a, b in zip(labels, released.value.tolist(), low.tolist(), high.tolist(), strict=True)
    ]


def _for_people(
    released: Release, claim: Claim, interval: Any, statistic: str, column: str | None, confidence: str,
    labels: list[str],
) -> str:
    lines = []
    for label, value, ends in _rows(released, interval, labels):
        around = "" if ends is None else f"   {_shown(*ends)} with chance {confidence}"
        what = f"{statistic} of {column}" if column else statistic
        lines.append(f"{label or what}: {value!r}{around}")
    return "\n".join(
        [
            *lines,
            f"  cost      {claim}" + (f" at δ = {dict(claim.question.given)['delta']}" if claim.question.given else ""),
            f"  relation  {released.relation}",
            f"  ran       {released.mechanism}",
            f"  noise     {released.source}",
        ]
    )


def _shown(low: float, high: float) -> str:
    """An interval in ten digits, rounded outward."""
    return f"[{rounded(float(low), '.10g', up=False)}, {rounded(float(high), '.10g', up=True)}]"


def _as_json(
    released: Release, claim: Claim, interval: Any, statistic: str, column: str | None, confidence: str,
    labels: list[str],
) -> str:
    rows: list[dict[str, Any]] = []
    for label, value, ends in _rows(released, interval, labels):
        shown = None if ends is None else [show.finite(float(end)) for end in ends]
        rows.append({**({"of": label} if label else {}), "value": value, "interval": shown})
    return json.dumps(
        {
            "statistic": statistic,
            "column": column,
            **({"entries": rows} if labels else rows[0]),
            "confidence": confidence,
            "std": None if released.std is None else show.finite(released.std),
            "relation": released.relation,
            "mechanism": str(released.mechanism),
            "noise": released.source,
            "claim": json.loads(claim.to_json()),
        },
        ensure_ascii=False,
    )
