"""What a picture is about: mechanisms, their names in legends, the relation they share, the parameter that varies."""

from __future__ import annotations

import re

from tightrope.accounting import ask
from tightrope.accounting.text import parse
from tightrope.errors import BadParameter
from tightrope.mechanisms.base import Mechanism

NOISE = re.compile(r"\b(sigma|scale|epsilon)=([^,()]+)")
WIDTH = 64


def subjects(mechanisms: tuple[Mechanism | str, ...]) -> dict[str, Mechanism]:
    """Legend name → mechanism; texts are parsed."""
    if not mechanisms:
        raise BadParameter("mechanisms", (), "needs at least one mechanism")
    found = [parse(m) if isinstance(m, str) else ask.checked(m) for m in mechanisms]
    named: dict[str, Mechanism] = {}
    for mechanism in dict.fromkeys(found):
        name = shortened(str(mechanism))
        named[name if name not in named else f"{name} ({len(named) + 1})"] = mechanism
    return named


def shortened(text: str) -> str:
    """A text that fits a legend."""
    return text if len(text) <= WIDTH else text[: WIDTH - 1] + "…"


def relation(mechanisms: dict[str, Mechanism]) -> str:
    """The neighbouring relations in words, for the subtitle."""
    found = sorted({m.relation or "as stated" for m in mechanisms.values()})
    return "neighbours: " + ", ".join(found)


def template(text: str) -> str:
    """The mechanism with one ``?``: as given, or in the place of its first noise parameter."""
    if "?" in text:
        return text
    whole = str(parse(text))
    asked, count = NOISE.subn(lambda m: f"{m[1]}=?", whole, count=1)
    if not count:
        raise BadParameter("mechanism", text, "has no noise parameter", hint="Put a ? where the number should vary.")
    return asked


def parameter(asked: str) -> str:
    """The name of what ``?`` stands for, for the axis."""
    named = re.search(r"(\w+)\s*=\s*\?", asked)
    return named[1] if named else "?"
