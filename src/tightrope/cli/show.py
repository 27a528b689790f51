"""How answers look on a terminal. Numbers have twelve digits and are rounded to the safe side."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import TYPE_CHECKING

from tightrope.accounting.claim import SYMBOLS, rounded
from tightrope.numerics.exact import near, shortest

if TYPE_CHECKING:
    from tightrope import Calibration, Check, Claim, Comparison

DIGITS = "#.12g"
TIGHT = "yes: the two ends differ only by computing error"
GIVEN = {"epsilon": "ε", "delta": "δ", "fpr": "false-positive rate", "omega": "ω"}
USUAL = ("rdp", "rdp-classic", "zcdp-classic", "advanced", "basic")
RENYI = "the divergence of this order, evaluated"
WHY = {
    "exact": "the law of the privacy loss is known, and δ was evaluated on it",
    "group": "the laws of the loss of such a group are known, and δ was evaluated on each",
    "optimal": "leaky randomized response is the worst mechanism with these guarantees, and was composed exactly",
    "gdp": "through Gaussian DP",
    "rdp": "through the Rényi curve, at its best order",
    "rdp-optimal": "through the whole Rényi curve at once",
    "zcdp": "through zero-concentrated DP, at the best order",
    "basic": "the sum of the pure guarantees",
    "parallel": "the most expensive of the disjoint blocks",
    "trivial": "δ = 1 allows everything",
    "none": "no theorem bounds it",
}


def number(value: float) -> str:
    """Twelve digits, never below ``value``."""
    return "∞" if math.isinf(value) else rounded(value, DIGITS, up=True)


def claim(found: Claim) -> str:
    """An answer in five lines."""
    falls = found.question.ask == "tradeoff"  # a rate of misses: the attacker's side is the lower end
    sign = "=" if found.lower == found.upper else "≥" if falls else "≤"
    shown = rounded(found.safe, DIGITS, up=False) if falls else number(found.upper)
    tight = TIGHT if found.tight else f"no, the {'lower' if falls else 'upper'} end is safe but may overstate"
    return "\n".join(
        [
            f"{SYMBOLS[found.question.ask]} {sign} {shown} at {given(found)} for {found.mechanism}",
            f"  bound     [{found.lower!r}, {found.upper!r}]",
            f"  tight     {tight}",
            f"  relation  {found.relation}",
            f"  why       {why(found)}",
        ]
    )


def given(found: Claim) -> str:
    """The numbers of the question."""
    return ", ".join(f"{GIVEN.get(name, name)} = {value}" for name, value in found.question.given)


def why(found: Claim) -> str:
    """The route in one line, with its sources."""
    sources = dict.fromkeys(str(step.stated.source) for step in found.proof)
    said = RENYI if found.question.ask == "renyi" else WHY.get(found.route, found.route)
    return said + (f" ({'; '.join(sources)})" if sources else "")


def rows_as_json(found: Comparison) -> str:
    """The rows of a comparison as a JSON list; each claim is what its ``to_json`` says."""
    return json.dumps(
        [
            {
                "route": row.route,
                "value": finite(row.value),
                "kind": row.kind,
                "loses": finite(row.loses),
                "claim": None if row.claim is None else json.loads(row.claim.to_json()),
            }
            for row in found.rows
        ],
        ensure_ascii=False,
    )


def finite(value: float) -> float | str:
    """A number JSON can hold; ∞ is text."""
    return value if math.isfinite(value) else "inf" if value > 0 else "-inf"


def table(found: Comparison) -> None:
    """Print every route with its ε, its kind and what it loses."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    grid = Table(title=Text(f"ε of {found.mechanism} at δ = {shortest(found.delta)}"), title_justify="left")
    for name, justify in (("route", "left"), ("ε", "right"), ("kind", "left"), ("loses", "right")):
        grid.add_column(name, justify=justify, no_wrap=True)  # type: ignore[arg-type]  # rich names its literals
    for row in found.rows:
        loss = _loss(row.value, found.best.value, row.kind)
        grid.add_row(row.route, number(row.value), row.kind, loss, style=_style(row.kind))
    Console(soft_wrap=False).print(grid)


def _style(kind: str) -> str:
    return {"equal": "bold green", "estimate": "dim"}.get(kind, "")


def _loss(value: float, best: float, kind: str) -> str:
    if kind == "estimate":
        return "proves nothing"
    if value == best:
        return ""
    if math.isinf(value):
        return "everything"
    return f"+{value - best:.3g}" + (f" ({share(value, best)})" if best > 0 else "")


def share(value: float, best: float) -> str:
    """By how much ``value`` is larger, in per cent, or how many times it is the best."""
    ratio = value / best
    return f"×{ratio:.0f}" if ratio >= 10 else f"+{(ratio - 1) * 100:.2g} %"


def overstated(found: Comparison) -> str:
    """One line on what the usual routes would have said."""
    best = found.best.value
    usual = [row for row in found.rows if row.route in USUAL and row.value > best > 0]
    if not usual:
        return "No usual route overstates this answer."
    told = ", ".join(f"{row.route} says {row.value:.4g} ({share(row.value, best)})" for row in usual)
    return f"The usual answers overstate ε ≤ {number(best)}: {told}."


def calibration(found: Calibration, what: str) -> str:
    """The value that meets a target, the proof that it does, and how far the boundary may be."""
    if found.beyond is None:
        end = "every allowed value beyond it meets the target too"
    elif found.slack == 0 or isinstance(found.value, int):
        end = f"one more does not: {found.beyond}"
    else:
        end = f"a value better by {found.slack:.1g} (relative) does not"
    return "\n".join(
        [
            f"{what} {found.value!r} meets the target",
            f"  because   {found.claim}",
            f"  of        {found.claim.mechanism}",
            f"  boundary  {end}",
        ]
    )


def calibration_as_json(found: Calibration) -> str:
    """value, slack and the claims on both sides of the boundary."""
    return json.dumps(
        {
            "value": found.value,
            "exact": str(found.exact),
            "slack": found.slack,
            "claim": json.loads(found.claim.to_json()),
            "beyond": None if found.beyond is None else json.loads(found.beyond.to_json()),
        },
        ensure_ascii=False,
    )


def usual_epsilons(end: float) -> list[str]:
    """Sixteen ε from 0 to ``end``, rounded to three digits."""
    top = end if math.isfinite(end) and end > 0 else 10.0
    return [f"{top * i / 15:.3g}" for i in range(16)]


def profile(rows: list[tuple[str, float, float]]) -> str:
    """δ at each ε, in columns."""
    lines = [f"{'ε':>12}  {'δ at least':>24}  {'δ at most':>24}"]
    return "\n".join(lines + [f"{e:>12}  {low!r:>24}  {high!r:>24}" for e, low, high in rows])


def profile_as_json(rows: list[tuple[str, float, float]]) -> str:
    """A list of {epsilon, lower, upper}."""
    return json.dumps([{"epsilon": e, "lower": low, "upper": high} for e, low, high in rows])


_VERDICTS = {
    True: "holds",
    False: "does not hold",
    None: "is not proved: the goal lies inside the certified interval",
}


def verdict(found: Claim, goal: Fraction, holds: bool | None) -> str:
    """Whether ε ≤ ``goal`` was proved, and by how much it holds or fails."""
    lines = [f"ε ≤ {shortest(goal)} at {given(found)} {_VERDICTS[holds]}"]
    lines.append(f"  bound     [{found.lower!r}, {found.upper!r}]")
    end = found.upper if holds else found.lower
    if holds is not None and math.isfinite(end):
        lines.append(f"  margin    {near(goal - Fraction(end)):+.6g}")
    lines.append(f"  of        {found.mechanism}")
    return "\n".join(lines)


def verdict_as_json(found: Claim, goal: Fraction, holds: bool | None) -> str:
    """{holds, epsilon, claim}; ``holds`` is null when it was not decided."""
    said = {"holds": holds, "epsilon": shortest(goal), "claim": json.loads(found.to_json())}
    return json.dumps(said, ensure_ascii=False)


def check(outcome: Check) -> str:
    """The outcome of proving a certificate again."""
    lines = [f"{'holds' if outcome else 'does not hold'}: {outcome.claim.question} of {outcome.claim.mechanism}",
             f"  stated    {outcome.claim}"]
    return "\n".join(lines + [f"  problem   {problem}" for problem in outcome.problems])


def check_as_json(outcome: Check) -> str:
    """{holds, problems}."""
    return json.dumps({"holds": outcome.holds, "problems": list(outcome.problems)}, ensure_ascii=False)
