"""Claim: a bound with its question, relation, assumptions and proof. It explains itself."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction
from importlib import import_module
from typing import TYPE_CHECKING, Any, SupportsFloat

from tightrope.errors import Undecided
from tightrope.mechanisms.base import Mechanism
from tightrope.numerics.bound import Bound
from tightrope.numerics.exact import exact, near, shortest
from tightrope.theorems import Kind, Step, bibliography

if TYPE_CHECKING:
    from tightrope.plotting.figure import Figure

SYMBOLS = {
    "epsilon": "ε",
    "delta": "δ",
    "renyi": "D",
    "tradeoff": "least false-negative rate",
    "advantage": "largest TPR − FPR",
    "pure": "ε",
    "zcdp": "ρ",
    "tcdp": "ρ",
    "gdp": "μ",
}


@dataclass(frozen=True)
class Question:
    """What was asked, with its exact numbers."""

    ask: str
    given: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        inner = ", ".join(f"{name} = {value}" for name, value in self.given)
        return f"{self.ask}({inner})" if inner else self.ask

    def number(self, name: str) -> Fraction:
        """One of the given numbers."""
        return exact(name, dict(self.given)[name])


@dataclass(frozen=True)
class Claim:
    """A certified answer: ``lower`` ≤ truth ≤ ``upper``; the truth is the cost of the worst mechanism that fits the
    description. Publish ``safe``. ``tight``: every theorem used is an equality. ``explain()`` is the proof."""

    question: Question
    mechanism: Mechanism
    bound: Bound
    computed: Bound
    route: str
    kind: Kind
    relation: str
    assumptions: tuple[str, ...] = ()
    proof: tuple[Step, ...] = ()
    witness: dict[str, Any] = field(default_factory=dict, compare=False)

    @property
    def lower(self) -> float:
        """Never above the truth."""
        return self.bound.lower

    @property
    def upper(self) -> float:
        """Never below the truth."""
        return self.bound.upper

    @property
    def safe(self) -> float:
        """The end that is safe to publish: the upper one, but for a false-negative rate the lower one."""
        return self.lower if self.question.ask == "tradeoff" else self.upper

    @property
    def tight(self) -> bool:
        """Whether every theorem used is an equality, so that the two ends differ only by computing error."""
        return self.kind == "equal" and not far_apart(self.bound)

    def __float__(self) -> float:
        return self.safe

    def __le__(self, other: SupportsFloat | str) -> bool:
        x = _number(other)
        if self.upper <= x:
            return True
        if self.lower > x:
            return False
        raise Undecided(self.lower, self.upper, other)

    def __lt__(self, other: SupportsFloat | str) -> bool:
        x = _number(other)
        if self.upper < x:
            return True
        if self.lower >= x:
            return False
        raise Undecided(self.lower, self.upper, other)

    def __ge__(self, other: SupportsFloat | str) -> bool:
        return not self < other

    def __gt__(self, other: SupportsFloat | str) -> bool:
        return not self <= other

    def __format__(self, spec: str) -> str:
        """The safe end, rounded to the safe side: ``f"{claim:.3f}"`` is never on the wrong side of the truth."""
        return rounded(self.safe, spec, up=self.question.ask != "tradeoff") if spec else str(self)

    def __str__(self) -> str:
        return f"{SYMBOLS[self.question.ask]} ∈ [{self.lower!r}, {self.upper!r}]" + (" (tight)" if self.tight else "")

    def __repr__(self) -> str:
        return f"<Claim {self.question} of {self.mechanism}: {self}>"

    def explain(self) -> str:
        """A short proof in words: what was asked, the answer, and each theorem with its source and number."""
        lines = [
            f"Question: {self.question} of {self.mechanism}",
            f"Relation: {self.relation}",
            f"Answer:   {self}",
            "",
            "Proof",
        ]
        for i, step in enumerate(self.proof, 1):
            stated = step.stated
            times = f" (×{step.count})" if step.count != 1 else ""
            lines.append(f"{i:>3}. {step.of}{times}: {stated.says}")
            yields = f"  →  {step.value}" if step.value else ""
            lines.append(f"     [{stated.source}; {_KINDS[stated.kind]}]{yields}")
        if self.witness:
            shown = [f"{len(v)} {k}" if isinstance(v, list) else f"{k} = {_short(v)}" for k, v in self.witness.items()]
            lines.append(f"     evaluated at {', '.join(shown)}")
        if not self.tight:
            lines.append(
                f"The formula itself is {self.computed.lower!r} to {self.computed.upper!r}; it may overstate the truth."
            )
        if self.assumptions:
            lines += ["", "Assumes"] + [f"  - {a}" for a in self.assumptions]
        return "\n".join(lines)

    def to_json(self) -> str:
        """A certificate that ``check`` proves again without any search."""
        return json.dumps(
            {
                "tightrope": 1,
                "question": {"ask": self.question.ask, **dict(self.question.given)},
                "mechanism": str(self.mechanism),
                "relation": self.relation,
                "lower": _json_number(self.lower),
                "upper": _json_number(self.upper),
                "tight": self.tight,
                "proof": [
                    {
                        "theorem": s.theorem,
                        "of": s.of,
                        "count": s.count,
                        "kind": s.stated.kind,
                        "source": str(s.stated.source),
                    }
                    for s in self.proof
                ],
                "witness": {"route": self.route, **{k: _json_value(v) for k, v in self.witness.items()}},
                "computed": [_json_number(self.computed.lower), _json_number(self.computed.upper)],
                "assumptions": list(self.assumptions),
                "version": _version(),
            },
            ensure_ascii=False,
        )

    @classmethod
    def from_json(cls, text: str | dict[str, Any]) -> Claim:
        """Read a certificate. Reading is not proving: see ``check``."""
        from tightrope.accounting.certificate import read

        return read(text)

    def bibtex(self) -> str:
        """The sources of the theorems used, each once."""
        keys = dict.fromkeys(step.stated.source.key for step in self.proof)
        return "\n".join(bibliography()[key] for key in keys)

    def plot(self) -> Figure:
        """The whole curve behind this answer, with its point marked; a notebook shows it.

        >>> from tightrope import Gaussian, epsilon
        >>> epsilon(Gaussian(sigma=1), delta=1e-5).plot().title
        'Privacy profile'
        """
        # Pictures live upstairs: the door is opened by name when somebody asks, so that accounting needs none of them.
        drawn: Figure = import_module("tightrope.plotting").of_claim(self)
        return drawn

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{i}</td><td>{_html(step.of)}{f' ×{step.count}' if step.count != 1 else ''}</td>"
            f"<td>{_html(step.stated.says)}</td><td>{_html(str(step.stated.source))}</td><td>{_html(str(step.value))}</td></tr>"
            for i, step in enumerate(self.proof, 1)
        )
        return (
            f"<div><b>{_html(str(self.question))}</b> of <code>{_html(str(self.mechanism))}</code><br>"
            f"<b>{_html(str(self))}</b><br>relation: {_html(self.relation)}"
            f"<table><tr><th></th><th>of</th><th>theorem</th><th>source</th><th>yields</th></tr>{rows}</table></div>"
        )


APART = 1e-5  # tight answers are computed to 1e-9 or better; ends farther apart than this are not called tight
SMALLEST = 1e-300  # below, one float is far from the next


def far_apart(bound: Bound) -> bool:
    """Whether more than the error of a computation separates the ends."""
    return bound.upper > SMALLEST and bound.lower < (1 - APART) * bound.upper


_BEYOND = 400  # digits: 10^400 is beyond all floats
_KINDS = {"equal": "loses nothing", "upper": "may overstate", "lower": "may understate"}


def _number(other: object) -> float | Fraction:
    """What a claim is compared with, exactly. Text is read as a number; truth values are none."""
    if isinstance(other, str):
        return exact("other", other, "Compare a claim with a number, such as 0.1, '0.1' or '1/10'.")
    if isinstance(other, bool) or not isinstance(other, int | float | Fraction | Decimal | Claim):
        kind = getattr(getattr(other, "dtype", None), "kind", "")
        if kind not in ("i", "u", "f") or getattr(other, "shape", None) != ():
            raise TypeError(f"a claim can be compared with a number, not with {type(other).__name__}")
    if isinstance(other, int | float | Fraction):
        return other
    if isinstance(other, Decimal):
        return _among_floats(other) if other.is_finite() else float(other)
    return float(other)  # type: ignore[arg-type]  # a claim's safe end, or a numpy number


def _among_floats(x: Decimal) -> Fraction:
    """The number, or one of the same sign that is beyond all floats, or nearer to 0 than any, as it is."""
    if x and abs(x.adjusted()) > _BEYOND:
        return Fraction(10) ** (_BEYOND if x.adjusted() > 0 else -_BEYOND) * (-1 if x < 0 else 1)
    return Fraction(x)


def rounded(value: float, spec: str, up: bool) -> str:
    """``value`` in the given format, every digit left out rounded to the safe side."""
    if not math.isfinite(value):
        return format(value, spec)
    plain = spec.replace("#", "").replace("_", ",")  # decimals know neither sign
    if "." not in plain and plain[-1:] in ("e", "E", "f", "F", "g", "G", "%"):
        plain = f"{plain[:-1]}.6{plain[-1]}"  # the precision a float would have
    with localcontext() as context:
        context.prec, context.rounding = 2000, ROUND_CEILING if up else ROUND_FLOOR
        text = format(Decimal(value), plain)
    if "#" in spec and plain[-1] in "gG":
        text = _padded(text, int(plain[:-1].partition(".")[2]))
    return text.replace(",", "_") if "_" in spec else text


def _padded(text: str, digits: int) -> str:
    """Zeros at the end up to so many significant digits, as the sign # asks."""
    mantissa, sign, exponent = text.partition("e")
    seen = len(mantissa.lstrip("+-0.").replace(".", "").replace(",", ""))
    point = "" if "." in mantissa else "."
    return mantissa + point + "0" * max(digits - seen, 0) + sign + exponent


def _short(value: Any) -> str:
    if isinstance(value, Fraction):
        return shortest(value) if value.denominator < 10**6 else f"{near(value):.10g}"
    if isinstance(value, dict):
        return "(" + ", ".join(f"{k} = {_short(v)}" for k, v in value.items()) + ")"
    return str(value)


def _json_number(x: float) -> float | str:
    return x if math.isfinite(x) else "inf" if x > 0 else "-inf"


def _json_value(value: Any) -> Any:
    if isinstance(value, Fraction):
        return f"{value.numerator}/{value.denominator}"
    if isinstance(value, list | tuple):
        return [_json_value(v) for v in value]
    if isinstance(value, dict):
        return {k: _json_value(v) for k, v in value.items()}
    return value


def _html(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _version() -> str:
    from tightrope import __version__

    return __version__
