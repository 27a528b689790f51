"""Terms: what a budget allows, fixed when it is created. The rule says which unit is added up and never changes.

Picking the best rule after seeing answers is not valid, and neither is composing exactly what was chosen on the way.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tightrope.budget import costs
from tightrope.budget.costs import Amounts
from tightrope.budget.prices import PRICES
from tightrope.errors import BadParameter, BudgetExceeded, Unsupported
from tightrope.mechanisms.base import Mechanism
from tightrope.numerics.exact import exact, shortest

RULES = {
    "pure": "adds up pure ε",
    "basic": "adds up ε and δ",
    "zcdp": "adds up ρ, and the δ of approximate zCDP",
    "renyi": "adds up the Rényi divergences of a fixed set of orders",
    "gdp": "adds up μ²",
    "approx": "adds up ε² and δ (Whitehouse et al.)",
    "exact": "takes one plan, fixed in advance and composed exactly",
}


@dataclass(frozen=True)
class Terms:
    """A budget's rule and its limits, one for each unit that is added up."""

    rule: str
    stated: tuple[tuple[str, str], ...]
    units: tuple[str, ...]
    limits: Amounts
    leak: Fraction = Fraction(0)
    orders: tuple[Fraction, ...] = ()
    any_unit: bool = False

    @property
    def delta(self) -> Fraction:
        """The budget's δ; 0 when it has none."""
        return exact("delta", dict(self.stated).get("delta", "0"))

    def cost(self, m: Mechanism, delta: Fraction | None = None) -> Amounts:
        """What one run of the mechanism adds, or a refusal that says why this rule cannot pay for it."""
        if delta is not None and self.rule not in ("basic", "approx"):
            raise BadParameter("delta", delta, f"says nothing to a budget with the rule {self.rule!r}", "Leave it out.")
        return PRICES[self.rule](self, m, delta)

    def fits(self, held: Amounts, more: Amounts) -> bool:
        """Whether ``more`` may be added to what is spent or held already."""
        within = [h + c <= limit for h, c, limit in zip(held, more, self.limits, strict=True)]
        return any(within) if self.any_unit else all(within)

    def shortfall(self, name: str, held: Amounts, more: Amounts) -> BudgetExceeded:
        """The error that says by how much ``more`` does not fit."""
        rows = list(zip(self.units, more, (x - h for x, h in zip(self.limits, held, strict=True)), strict=True))
        if self.any_unit:
            unit, asked, left = min(rows, key=lambda row: row[1] - row[2])
        else:
            unit, asked, left = next(row for row in rows if row[1] > row[2])
        return BudgetExceeded(name, unit, asked, max(left, Fraction(0)))

    def count(self, held: Amounts, each: Amounts) -> int | float:
        """How many more of ``each`` fit; ∞ for what costs nothing."""
        room = [
            math.inf if c == 0 and h <= limit else max(math.floor((limit - h) / c), 0) if c else 0
            for h, c, limit in zip(held, each, self.limits, strict=True)
        ]
        return max(room) if self.any_unit else min(room)

    @property
    def nothing(self) -> Amounts:
        """Zero in every unit."""
        return (Fraction(0),) * len(self.units)

    def __str__(self) -> str:
        told = ", ".join(f"{name} = {value}" for name, value in self.stated)
        leak = f", of which {shortest(self.leak)} of δ for leaks" if self.leak and self.rule != "basic" else ""
        return f"{told}{leak}; rule {self.rule}: {RULES[self.rule]}"

    def to_json(self) -> dict[str, Any]:
        """The terms as they are stored: limits are stored too, because terms never change."""
        return {
            "rule": self.rule,
            "stated": [list(pair) for pair in self.stated],
            "units": list(self.units),
            "limits": costs.written(self.limits),
            "leak": str(self.leak),
            "orders": [str(order) for order in self.orders],
            "any": self.any_unit,
        }

    @classmethod
    def from_json(cls, told: Mapping[str, Any]) -> Terms:
        """The terms stored."""
        if told["rule"] not in RULES:
            raise Unsupported(f"the rule {told['rule']!r}", "this version does not know it", "Use a newer tightrope.")
        return cls(
            told["rule"],
            tuple((name, value) for name, value in told["stated"]),
            tuple(told["units"]),
            costs.read(told["limits"]),
            Fraction(told["leak"]),
            tuple(map(Fraction, told["orders"])),
            bool(told["any"]),
        )
