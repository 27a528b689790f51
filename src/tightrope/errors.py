"""Every error tightrope raises.

TightropeError
├── BadParameter (also ValueError)   a number or name that cannot be accepted: name, value, problem, hint
├── BadText (also ValueError)        a description that cannot be read: text, position, problem, hint
├── Unsupported                      a question or conclusion that no theorem supports: what, why, hint
├── RelationMismatch                 parts that speak of different neighbours: first, second
├── NotCertified                     the work budget ended before a proof: what, tried
├── Undecided                        a comparison that the enclosure cannot decide: lower, upper, other
├── BudgetExceeded                   a charge that does not fit: budget, unit, asked, remaining, shortfall
└── LedgerError                      a ledger that cannot be read, written or trusted: what, why, hint
"""

from __future__ import annotations

from decimal import Context, Decimal
from fractions import Fraction


class TightropeError(Exception):
    """Every error of this package is one of these. Its arguments are its fields, so it can be copied and pickled."""

    def __reduce__(self) -> tuple[type[TightropeError], tuple[object, ...]]:
        code = getattr(type(self).__init__, "__code__", None)
        if code is None:
            return type(self), self.args
        return type(self), tuple(getattr(self, name) for name in code.co_varnames[1 : code.co_argcount])


class BadParameter(TightropeError, ValueError):
    """A parameter that cannot be accepted: ``name``, ``value``, ``problem``, and a ``hint`` on what to give instead."""

    def __init__(self, name: str, value: object, problem: str, hint: str = "") -> None:
        self.name, self.value, self.problem, self.hint = name, value, problem, hint
        super().__init__(f"{name} = {_shown(value)}: {problem}." + (f" {hint}" if hint else ""))


def _shown(value: object) -> str:
    """A value in at most 80 characters, whatever its own repr does."""
    try:
        shown = " ".join((str if isinstance(value, Fraction) else repr)(value).split())  # 1/3, not Fraction(1, 3)
    except Exception:  # a repr may fail in any way, and the error must still be told
        shown = f"<{type(value).__name__}>"
    return shown if len(shown) <= 80 else shown[:77] + "..."


class BadText(TightropeError, ValueError):
    """A text that cannot be read: ``problem`` at ``position`` of ``text``, and a ``hint`` on what to write instead."""

    def __init__(self, text: str, position: int, problem: str, hint: str = "") -> None:
        self.text, self.position, self.problem, self.hint = text, position, problem, hint
        start = max(0, position - 30)
        shown = text[start : position + 30]
        caret = " " * (position - start) + "^"
        super().__init__(f"{problem}, at character {position}:\n  {shown}\n  {caret}" + (f"\n{hint}" if hint else ""))


class Unsupported(TightropeError):
    """No theorem supports what was asked: ``what``, ``why``, and a ``hint`` on what to ask instead."""

    def __init__(self, what: str, why: str, hint: str = "") -> None:
        self.what, self.why, self.hint = what, why, hint
        super().__init__(f"{what}: {why}." + (f" {hint}" if hint else ""))


class RelationMismatch(TightropeError):
    """Two parts of a composition are bound to different neighbouring relations, ``first`` and ``second``."""

    def __init__(self, first: str, second: str) -> None:
        self.first, self.second = first, second
        super().__init__(
            f"one part is for {first!r} neighbours and another for {second!r} ones: their costs cannot be added. "
            f"State every part for the same relation."
        )


class NotCertified(TightropeError):
    """No proof was found within the work allowed to one question: ``what`` was sought, and what was ``tried``."""

    def __init__(self, what: str, tried: str) -> None:
        self.what, self.tried = what, tried
        super().__init__(f"{what} was not certified: {tried}.")


class Undecided(TightropeError):
    """A claim was compared with a number, ``other``, that lies between its two ends, ``lower`` and ``upper``."""

    def __init__(self, lower: float, upper: float, other: object) -> None:
        self.lower, self.upper, self.other = lower, upper, other
        super().__init__(
            f"{other!r} lies between the ends {lower!r} and {upper!r}: undecided. Compare .lower or .upper."
        )


class BudgetExceeded(TightropeError):
    """A charge that does not fit in a budget. Nothing was charged.

    ``asked``, ``remaining`` and ``shortfall`` are exact, in the ``unit`` that the budget adds up.
    """

    def __init__(self, budget: str, unit: str, asked: Fraction, remaining: Fraction) -> None:
        self.budget, self.unit, self.asked, self.remaining = budget, unit, asked, remaining
        self.shortfall = asked - remaining
        name = f"budget {budget!r}" if budget else "the budget"
        super().__init__(
            f"{name}: {unit} = {_amount(asked)} was asked for and {_amount(remaining)} is left; "
            f"{_amount(self.shortfall)} is missing. Nothing was charged."
        )


def _amount(x: Fraction) -> str:
    """The exact amount if it is short, else near it."""
    near = Context(prec=28).divide(Decimal(x.numerator), Decimal(x.denominator))
    if Fraction(near) == x:
        return f"{near.normalize():f}" if abs(near.adjusted()) < 12 else str(near)
    return str(x) if len(str(x)) <= 40 else f"about {near:.17g}"


class LedgerError(TightropeError):
    """A ledger that cannot be read, written or trusted: ``what``, ``why``, and a ``hint`` on what to do."""

    def __init__(self, what: str, why: str, hint: str = "") -> None:
        self.what, self.why, self.hint = what, why, hint
        super().__init__(f"{what}: {why}." + (f" {hint}" if hint else ""))
