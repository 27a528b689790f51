"""The text form: one language for Python, the command line, URLs, JSON and stored rows.

expr := term ("+" term)*; term := factor ("*" INT)?; factor := call ("." call)* | "(" expr ")" ("." call)*;
call := NAME "(" args ")"; values are numbers, p/q, true, false, relation names, lists, {order: value}.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from tightrope.errors import BadParameter, BadText
from tightrope.mechanisms import (
    above_threshold,
    discrete_gaussian,
    discrete_laplace,
    gaussian,
    laplace,
    pair,
    response,
    selection,
    staircase,
    stated,
    table,
)
from tightrope.mechanisms.base import Leaf, Mechanism
from tightrope.mechanisms.composed import Parallel, composed
from tightrope.numerics.exact import exact

LEAVES: dict[str, type[Leaf]] = {
    leaf.text_name: leaf
    for leaf in (
        gaussian.Gaussian,
        laplace.Laplace,
        discrete_gaussian.DiscreteGaussian,
        discrete_laplace.DiscreteLaplace,
        response.RandomizedResponse,
        response.LeakyInput,
        response.LeakyRandomizedResponse,
        pair.GaussianPair,
        table.Table,
        selection.Exponential,
        selection.NoisyMax,
        selection.PermuteAndFlip,
        above_threshold.AboveThreshold,
        staircase.Staircase,
        stated.Pure,
        stated.Approx,
        stated.ZCDP,
        stated.TCDP,
        stated.CDP,
        stated.GDP,
        stated.RDP,
    )
}
METHODS = (
    "poisson",
    "without_replacement",
    "with_replacement",
    "shuffled",
    "shuffled_batches",
    "allocated",
    "group",
    "on_grid",
)

_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?(?:\s*/\s*\d+)?)|(?P<name>[A-Za-z_][A-Za-z0-9_]*(?:-remove)?)|(?P<sign>[-+*.,:=()\[\]{}]))",
    re.ASCII,
)
_MOST_DEPTH = 50
_RELATIONS = ["add-remove", "replace"]
_MOST_TEXT = 200_000


def parse(text: str) -> Mechanism:
    """Read the text form of a mechanism, which ``str(m)`` prints: ``parse(str(m)) == m``.

    Returns a Mechanism; text that cannot be read raises BadText, which shows where.

    >>> print(parse("gaussian(sigma=1).poisson(0.01) * 10000"))
    gaussian(sigma=1).poisson(0.01) * 10000
    """
    if not isinstance(text, str):
        raise BadParameter("text", text, "must be text")
    if len(text) > _MOST_TEXT:
        raise BadText(text[:60], 0, f"the text is longer than {_MOST_TEXT} characters")
    return _Parser(text).whole()


class _Parser:
    def __init__(self, text: str) -> None:
        self.text, self.at, self.depth = text, 0, 0
        self.tokens: list[tuple[str, str, int]] = []
        position, end = 0, len(text.rstrip())
        while position < end:
            found = _TOKEN.match(text, position)
            if not found:
                while text[position].isspace():
                    position += 1
                raise BadText(text, position, f"unexpected character {text[position]!r}", _GRAMMAR)
            kind = found.lastgroup or ""
            self.tokens.append((kind, found.group(kind), found.start(kind)))
            position = found.end()
        self.tokens.append(("end", "", len(text)))

    def whole(self) -> Mechanism:
        mechanism = self.expression()
        kind, value, position = self.tokens[self.at]
        if kind != "end":
            raise BadText(self.text, position, f"unexpected {value!r} after the mechanism", _GRAMMAR)
        return mechanism

    def peek(self, value: str) -> bool:
        return self.tokens[self.at][1] == value and self.tokens[self.at][0] == "sign"

    def take(self, value: str, told: str = "") -> None:
        kind, seen, position = self.tokens[self.at]
        if kind != "sign" or seen != value:
            raise BadText(self.text, position, f"expected {told or repr(value)}, found {seen or 'the end'!r}", _GRAMMAR)
        self.at += 1

    def expression(self) -> Mechanism:
        self.depth += 1
        if self.depth > _MOST_DEPTH:
            raise BadText(self.text, self.tokens[self.at][2], f"nested more than {_MOST_DEPTH} deep")
        parts = [self.term()]
        while self.peek("+"):
            self.take("+")
            parts.append(self.term())
        self.depth -= 1
        return parts[0] if len(parts) == 1 else composed(*parts)

    def term(self) -> Mechanism:
        factor = self.factor()
        if self.peek("*"):
            self.take("*")
            kind, value, position = self.tokens[self.at]
            if kind != "number" or not value.isdigit() or len(value) > 18:
                raise BadText(
                    self.text,
                    position,
                    f"expected a whole number below 10**18 after '*', found {value[:30] or 'the end'!r}",
                    "Write the number of runs out, such as gaussian(sigma=1) * 1000000.",
                )
            self.at += 1
            return factor * int(value)
        return factor

    def factor(self) -> Mechanism:
        if self.peek("("):
            self.take("(")
            mechanism = self.expression()
            self.take(")")
        else:
            mechanism = self.leaf()
        while self.peek("."):
            self.take(".")
            mechanism = self.method(mechanism)
        return mechanism

    def name(self, known: list[str], what: str) -> tuple[str, int]:
        kind, value, position = self.tokens[self.at]
        if kind == "number" and what == "mechanism":
            raise BadText(self.text, position, f"expected a mechanism, found {value!r}", _COUNT)
        if kind != "name" or value not in known:
            raise BadText(self.text, position, f"{value or 'the end'!r} is not a known {what}", _hint(value, known))
        self.at += 1
        return value, position

    def leaf(self) -> Mechanism:
        name, position = self.name([*LEAVES, "parallel"], "mechanism")
        made: Callable[..., Mechanism] = Parallel if name == "parallel" else LEAVES[name]
        return self.made(made, name, position)

    def method(self, mechanism: Mechanism) -> Mechanism:
        name, position = self.name(list(METHODS), "combinator")
        return self.made(getattr(mechanism, name), name, position)

    def made(self, maker: Callable[..., Mechanism], name: str, position: int) -> Mechanism:
        from inspect import Signature, signature  # slow to load, and only needed to read text

        args, named = self.arguments()
        try:
            known = list(signature(maker).parameters)
            for other in (other for other in named if other not in known):
                raise BadText(self.text, position, f"{name} has no parameter {other!r}", _hint(other, known))
            signature(maker).bind(*args, **named)
        except TypeError as wrong:
            given = f"{name}{signature(maker).replace(return_annotation=Signature.empty)}"
            plain = re.sub(r": [^,=)]+", "", given).replace("'", "").replace("= ", "=")
            raise BadText(self.text, position, f"{name}: {wrong}", f"Its form is {plain}.") from None
        return maker(*args, **named)

    def arguments(self) -> tuple[list[Any], dict[str, Any]]:
        self.take("(")
        args: list[Any] = []
        named: dict[str, Any] = {}
        while not self.peek(")"):
            if args or named:
                self.take(",", "',' or ')'")
            kind, value, position = self.tokens[self.at]
            if kind == "name" and self.tokens[self.at + 1][1] == "=":
                self.at += 2
                if value in named:
                    raise BadText(self.text, position, f"{value!r} is given twice")
                named[value] = self.name(_RELATIONS, "relation")[0] if value == "relation" else self.value()
            elif named:
                raise BadText(self.text, position, "an argument without a name follows one with a name")
            else:
                args.append(self.value())
        self.take(")")
        return args, named

    def value(self) -> Any:
        self.depth += 1
        if self.depth > _MOST_DEPTH:
            raise BadText(self.text, self.tokens[self.at][2], f"nested more than {_MOST_DEPTH} deep")
        found = self.one_value()
        self.depth -= 1
        return found

    def one_value(self) -> Any:
        kind, value, position = self.tokens[self.at]
        if kind == "name" and value in ("true", "false"):
            self.at += 1
            return value == "true"
        if kind == "name" and value in _RELATIONS:
            self.at += 1
            return value
        if kind == "name" and value.lower() in ("nan", "inf", "infinity"):
            raise BadText(self.text, position, f"{value!r} is not a number that can be used", "Parameters are finite.")
        if kind == "name" or self.peek("("):
            return self.expression()
        if self.peek("["):
            return self.listed()
        if self.peek("{"):
            return self.dictionary()
        return self.number(position)

    def number(self, position: int) -> Fraction:
        negative = self.peek("-")
        if negative:
            self.take("-")
        kind, value, _ = self.tokens[self.at]
        if kind != "number":
            raise BadText(self.text, position, f"expected a value, found {value or 'the end'!r}", _GRAMMAR)
        self.at += 1
        compact = value.replace(" ", "")
        if "/" in compact and not compact.replace("/", "").isdigit():
            raise BadText(self.text, position, f"{value!r} is not a fraction of whole numbers")
        number = exact("number", compact)
        return -number if negative else number

    def listed(self) -> list[Any]:
        self.take("[")
        values: list[Any] = []
        while not self.peek("]"):
            if values:
                self.take(",")
            values.append(self.value())
        self.take("]")
        return values

    def dictionary(self) -> dict[Fraction, Any]:
        self.take("{")
        values: dict[Fraction, Any] = {}
        while not self.peek("}"):
            if values:
                self.take(",")
            position = self.tokens[self.at][2]
            key = self.number(position)
            if key in values:
                raise BadText(self.text, position, f"{key} is given twice")
            self.take(":")
            values[key] = self.value()
        self.take("}")
        return values


def _hint(found: str, known: list[str]) -> str:
    """The name that was meant, or all there are."""
    from difflib import get_close_matches  # slow to load, and only needed to help

    close = get_close_matches(found, known, 1)
    return f"Did you mean {close[0]!r}?" if close else f"Known: {', '.join(sorted(known))}."


_COUNT = "The number of runs comes last: gaussian(sigma=1) * 10."
_GRAMMAR = "Write mechanisms as gaussian(sigma=1).poisson(0.01) * 10000 + laplace(scale=2) * 20."
