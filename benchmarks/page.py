"""The comparison as text: one table a workload, the page in docs/ and its chart."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from pathlib import Path
from typing import Any

from chart import svg
from workloads import ALL, Workload

HERE = Path(__file__).parent
TRUTHS: dict[str, Any] = json.loads((HERE / "truths.json").read_text())
PAGE = HERE.parent / "docs" / "benchmarks.md"
CHART = HERE.parent / "docs" / "figures" / "benchmarks.svg"
OURS = "tightrope"
INTRODUCTION = """Measured on {date} by `make bench`: CPU time on one thread, the median of several warm answers, each
library in an environment of its own: {versions}. tightrope's answers are certified intervals; a peer's number is what
it calls an upper bound. Truths come from `benchmarks/truth.py` (mpmath at 40 digits, and convolution on a grid where a
run has few steps), which shares no code with tightrope. Opacus' accountants run without torch, which its package would
import first: with it each takes 230 MB and 2 s more. A row is left out where a library does not offer the question.
tightrope is asked about new parameters every time, since it remembers what it found of a mechanism."""


def ends(work: Workload, value: Any) -> tuple[Any, Any]:
    """(lower or None, upper) of an answer: ours has two ends, a peer's number is its upper one."""
    if work["ask"] == "profile":
        return (value[0], value[1]) if isinstance(value[0], list) else (None, value)
    return (value[0], value[1]) if isinstance(value, list) else (None, value)


def rounding(truth: str) -> float:
    """How far the truth may be off, relatively: half of its last printed digit and a little."""
    exponent = Decimal(truth).as_tuple().exponent
    assert isinstance(exponent, int)
    return float(Decimal(6).scaleb(exponent - 1) / abs(Decimal(truth))) + 2e-12


def relative(upper: float, truth: float) -> float:
    return upper / truth - 1 if truth else math.inf


def verdict(work: Workload, value: Any) -> tuple[str, str, str]:
    """(value, relative error of the upper end, remarks)."""
    lower, upper = ends(work, value)
    truth = TRUTHS.get(work["name"])
    if work["ask"] == "profile":
        errors = [relative(float(u), float(t)) for u, t in zip(upper, truth, strict=True)]
        below = sum(e < -rounding(t) for e, t in zip(errors, truth, strict=True))
        note = f"below the truth at {below} of {len(errors)}" if below else ""
        known = zip(lower or [], truth, strict=False)
        if any(float(lo) > float(t) * (1 + rounding(t)) for lo, t in known):
            note = "LOWER END ABOVE THE TRUTH"
        return f"{len(errors)} values", f"worst {max(errors, key=abs):+.1e}", note
    upper = float(upper)
    shown = f"{upper:.12g}" if lower is None else f"[{float(lower):.14g}, {upper:.14g}]"
    if truth is None:
        return shown, "", ""
    error = relative(upper, float(truth))
    note = "**below the truth**" if error < -rounding(truth) else ""
    if lower is not None and float(lower) > float(truth) * (1 + rounding(truth)):
        note = "LOWER END ABOVE THE TRUTH"
    return shown, f"{error:+.1e}", note


def table(work: Workload, answers: dict[str, dict[str, Any]]) -> str:
    """One workload: every library's row."""
    truth = TRUTHS.get(work["name"])
    told = f" (truth {truth})" if isinstance(truth, str) else ""
    lines = [f"## {work['name']}{told}", "", "| library | answer | error | CPU ms | slower than ours | memory MB | |",
             "|---|---|---|---|---|---|---|"]
    ours = answers.get(OURS, {}).get("warm")
    for name, got in answers.items():
        if "error" in got:
            if "NotImplementedError" not in got["error"]:
                lines.append(f"| {name} | none | | | | | {got['error']} |")
            continue
        value, error, note = verdict(work, got["value"])
        ratio = f"{got['warm'] / ours:.3g}×" if ours and name != OURS else ""
        cells = [name, value, error, f"{got['warm'] * 1000:.3g}", ratio, f"{got['megabytes']:.0f}", note]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def write(results: dict[str, Any]) -> None:
    """docs/benchmarks.md and the chart."""
    versions = ", ".join(f"{name} {version}" for name, version in results["versions"].items())
    parts = [
        "# Benchmarks", "",
        INTRODUCTION.format(date=results["date"], versions=versions), "",
        "![CPU time of each library on each workload](figures/benchmarks.svg)", "",
    ]
    parts += [table(w, results["answers"][w["name"]]) for w in ALL if w["name"] in results["answers"]]
    PAGE.write_text("\n".join(parts))
    CHART.write_text(svg(results))
