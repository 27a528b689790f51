"""The report as a list of sections, before any format: headings, paragraphs, tables, code and pictures."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal

from tightrope import __version__
from tightrope.accounting.claim import rounded
from tightrope.errors import TightropeError, Unsupported
from tightrope.plotting.attacker import profile, tradeoff
from tightrope.reports.statement import Statement, percent

RELATIONS = {
    "add-remove": "data sets with and without one record",
    "replace": "data sets of equal size that differ in one record",
    "as stated": "whatever change the stated sensitivity or guarantee is about",
}


@dataclass(frozen=True)
class Table:
    """Rows under column heads."""

    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Code:
    """Text to be shown as it is."""

    text: str


@dataclass(frozen=True)
class Picture:
    """An SVG drawing with what it shows."""

    svg: str
    says: str


Block = str | Table | Code | Picture


def sections(s: Statement, drawn: bool = True) -> list[tuple[str, list[Block]]]:
    """(heading, blocks), in the order a reviewer reads; ``drawn``: with pictures."""
    delta = dict(s.claim.question.given)["delta"]
    facts = Table(
        ("", ""),
        (
            ("What ran", str(s.mechanism)),
            ("Privacy unit", s.unit),
            ("Neighbours", f"{s.claim.relation}: {RELATIONS[s.claim.relation]}"),
            ("Sampling", s.sampler),
            ("Guarantee", f"({upper(s.claim.upper)}, {delta})-differential privacy"),
            ("Certified interval for ε", f"[{s.claim.lower!r}, {s.claim.upper!r}]"),
            ("Tight", "yes: the two ends differ only by computing error" if s.claim.tight
             else "no: the truth may be smaller"),
        ),
    )
    steps = Table(
        ("of", "theorem", "source", "yields"),
        tuple(
            (f"{p.of}{f' ×{p.count}' if p.count != 1 else ''}", p.stated.says, str(p.stated.source), str(p.value))
            for p in s.claim.proof
        ),
    )
    return [
        ("The claim", [facts]),
        ("What an attacker can do", [*s.sentences, caught(s), *(pictures(s) if drawn else [])]),
        ("The whole profile", [Table(("δ", "ε at least", "ε at most"), tuple(
            (d, lower(lo), upper(hi)) for d, lo, hi in s.profile))]),
        ("What is assumed", ["\n".join(f"- {a}" for a in s.claim.assumptions)]),
        ("Why", ["Each step is a theorem; the numbers are evaluated in ball arithmetic and rounded outward.", steps]),
        ("References", [Code(s.claim.bibtex())]),
        ("How to check it again", [
            f"Made by tightrope {__version__}. Save the certificate below as certificate.json and run",
            Code("tightrope check certificate.json"),
            "It is proved again from its witness, without any search; a changed digit does not hold.",
            Code(s.claim.to_json()),
        ]),
    ]


def caught(s: Statement) -> Table:
    """Greatest true-positive rates."""
    return Table(
        ("falsely accused, of those not used", "found at most, of those used"),
        tuple((f"{(Decimal(rate) * 100).normalize():f} %", percent(caught)) for rate, caught in s.tradeoff),
    )


def pictures(s: Statement) -> list[Block]:
    """The profile and the trade-off curve, where drawing is installed."""
    delta = dict(s.claim.question.given)["delta"]
    try:
        return [
            Picture(profile(s.mechanism, delta=delta).to_svg(), "δ against ε, with the claim marked"),
            Picture(tradeoff(s.mechanism).to_svg(), "the least false-negative rate at each false-positive rate"),
        ]
    except Unsupported:
        return ["(Pictures are left out: drawing is not installed.)"]
    except TightropeError as why:
        return [f"(No picture: {why})"]


def upper(value: float) -> str:
    """Seven digits, never below the value."""
    return "∞" if math.isinf(value) else rounded(value, ".7g", up=True)


def lower(value: float) -> str:
    """Seven digits, never above the value."""
    return "∞" if math.isinf(value) else rounded(value, ".7g", up=False)
