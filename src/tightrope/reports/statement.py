"""What a report says, gathered once: every format prints the same numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import tightrope as tr
from tightrope.accounting import ask
from tightrope.accounting.claim import Claim, rounded
from tightrope.accounting.profiles import profile
from tightrope.errors import BadParameter, TightropeError
from tightrope.mechanisms.base import Mechanism
from tightrope.numerics.exact import Number

DELTAS = ("1e-3", "1e-4", "1e-5", "1e-6", "1e-7", "1e-8", "1e-9", "1e-10", "1e-12")
RATES = ("0.001", "0.01", "0.05", "0.1", "0.25", "0.5")
FORMATS = ("html", "md", "json", "yaml")


@dataclass(frozen=True)
class Statement:
    """Everything a report says. ``unit`` and ``name`` are the author's words; the rest is proved."""

    name: str
    unit: str
    mechanism: Mechanism
    claim: Claim
    advantage: Claim
    profile: tuple[tuple[str, float, float], ...]  # δ as text, ε lower, ε upper
    tradeoff: tuple[tuple[str, float], ...]  # false-positive rate as text, greatest true-positive rate

    def to_html(self) -> str:
        """A self-contained page."""
        from tightrope.reports.page import html

        return html(self)

    def to_markdown(self) -> str:
        """The same in Markdown."""
        from tightrope.reports.page import markdown

        return markdown(self)

    def to_json(self) -> str:
        """The same for programs; ``certificate`` is what ``tightrope check`` proves again."""
        from tightrope.reports.records import as_json

        return as_json(self)

    def to_yaml(self) -> str:
        """The fields of the public registry of deployments, those known filled in."""
        from tightrope.reports.records import as_yaml

        return as_yaml(self)

    def save(self, path: str | Path) -> Path:
        """Write the report; the ending of ``path`` says in which format: .html, .md, .json, .yaml."""
        target = Path(path)
        made = {".html": self.to_html, ".md": self.to_markdown, ".json": self.to_json, ".yaml": self.to_yaml}
        made[".yml"] = self.to_yaml
        if target.suffix.lower() not in made:
            raise BadParameter("path", str(path), f"must end in one of {', '.join('.' + f for f in FORMATS)}")
        target.write_text(made[target.suffix.lower()](), encoding="utf-8")
        return target

    @property
    def sentences(self) -> tuple[str, ...]:
        """What an attacker can do, in plain words; every number is rounded to the attacker's side."""
        given = dict(self.claim.question.given)["delta"]
        bound = self.claim.upper
        odds = math.exp(min(bound, 700.0))
        said = []
        if math.isfinite(bound) and bound < 700:
            said.append(
                "Whatever is done with the output: what happens with probability p when a given record is not used "
                f"happens with probability at most {rounded(odds, '.4g', up=True)}·p + {given} when it is."
            )
        else:
            said.append("The output may show with certainty whether a given record was used.")
        share = (1 + self.advantage.upper) / 2
        said.append(
            "An attacker who guesses whether a record was used, both being equally likely beforehand, is right at "
            f"most {percent(share)} of the time (50 % is blind guessing)."
        )
        at_one = dict(self.tradeoff)["0.01"]
        said.append(
            f"Allowed to accuse 1 % of those who were not used, an attacker finds at most {percent(at_one)} of those "
            "who were."
        )
        return tuple(said)

    @property
    def sampler(self) -> str:
        """What has to be true of how batches were drawn."""
        found = [a for a in self.claim.assumptions if "batch" in a or "draw" in a]
        return "; ".join(found) if found else "no sampling is relied upon"


def percent(share: float) -> str:
    """A share as a percentage, rounded up."""
    return rounded(min(share, 1.0) * 100, ".4g", up=True) + " %"


def report(mechanism: Mechanism | str, *, delta: Number, name: str = "", unit: str = "one record") -> Statement:
    """Gather what a privacy reviewer has to sign about ``mechanism`` (a value or text), with ε at ``delta``.

    ``name`` says what the report is about, ``unit`` what is protected. Returns a Statement: ``.sentences`` in plain
    words, and ``.save("report.html")`` (or .md, .json, .yaml).

    >>> statement = report("gaussian(sigma=2)", delta=1e-5, name="age survey", unit="one person")
    >>> print(statement.sentences[2])
    Allowed to accuse 1 % of those who were not used, an attacker finds at most 3.390 % of those who were.
    """
    for given, value in (("name", name), ("unit", unit)):
        if not isinstance(value, str) or len(value) > 500:
            raise BadParameter(given, value, "must be text of at most 500 characters")
    ran = tr.parse(mechanism) if isinstance(mechanism, str) else ask.checked(mechanism)
    claim = ask.epsilon(ran, delta=delta)
    if math.isinf(claim.lower):
        raise TightropeError(f"{ran} protects nothing at δ = {delta}: ε is infinite, and there is nothing to sign.")
    whole = profile(ran)
    lower, upper = whole.epsilon(DELTAS)
    missed, _ = whole.tradeoff(RATES)
    caught = [1 - least for least in missed.tolist()]
    return Statement(
        name or str(ran), unit, ran, claim, ask.advantage(ran),
        tuple(zip(DELTAS, lower.tolist(), upper.tolist(), strict=True)),
        tuple(zip(RATES, (math.nextafter(c, 1.0) if c < 1 else 1.0 for c in caught), strict=True)),
    )
