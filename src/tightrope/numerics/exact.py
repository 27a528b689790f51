"""Exact parameters: a float stands for the decimal it prints as."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from typing import SupportsFloat, SupportsIndex

from tightrope.errors import BadParameter

Number = int | float | Fraction | Decimal | str | SupportsFloat | SupportsIndex

LARGEST = 1.7976931348623157e308  # the largest float

_DECIMAL = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\Z", re.ASCII)
_RATIO = re.compile(r"[+-]?\d+/\d+\Z", re.ASCII)
_MAX_EXPONENT = 2000  # far beyond floats, and small enough that every number can be written out
_MAX_SIZE = 10**_MAX_EXPONENT


def exact(name: str, value: Number, hint: str = "") -> Fraction:
    """The rational number that ``value`` means: 0.1, "0.1", "1/10" and Fraction(1, 10) are all one tenth.

    >>> exact("rate", 0.1) == exact("rate", "1/10")
    True
    """
    number = _read(name, value, hint)
    if abs(number.numerator) > _MAX_SIZE or number.denominator > _MAX_SIZE:
        raise BadParameter(name, value, f"has more than {_MAX_EXPONENT} digits", hint)
    return number


def _read(name: str, value: Number, hint: str) -> Fraction:
    if isinstance(value, bool):
        raise BadParameter(name, value, "must be a number, not a truth value", hint)
    if isinstance(value, Fraction):
        return value
    if isinstance(value, int):
        return Fraction(value)
    if isinstance(value, float):  # numpy.float64 is one too
        return _from_text(name, value, repr(float(value)), hint)
    if isinstance(value, Decimal):
        return _from_text(name, value, str(value), hint)
    if isinstance(value, str):
        return _from_text(name, value, value.strip(), hint)
    kind = getattr(getattr(value, "dtype", None), "kind", "")  # numpy scalars, and arrays without a dimension
    if kind == "b":
        raise BadParameter(name, value, "must be a number, not a truth value", hint)
    if kind in ("i", "u", "f") and getattr(value, "shape", None) == ():
        return _from_text(name, value, str(value), hint)  # each prints the decimal it stands for
    raise BadParameter(name, value, f"must be a number, not {type(value).__name__}", hint)


def near(x: Fraction) -> float:
    """A float near x, for searches; the largest float for what lies beyond."""
    try:
        return float(x)
    except OverflowError:
        return LARGEST if x > 0 else -LARGEST


def _from_text(name: str, value: object, text: str, hint: str) -> Fraction:
    if len(text) > 2 * _MAX_EXPONENT:
        raise BadParameter(name, value, "has too many digits", hint)
    if text.lower().lstrip("+-") in ("nan", "inf", "infinity", "snan"):
        raise BadParameter(name, value, "must be a finite number", hint)
    if _RATIO.match(text):
        top, bottom = text.split("/")
        if int(bottom) == 0:
            raise BadParameter(name, value, "divides by zero", hint)
        return Fraction(int(top), int(bottom))
    if not _DECIMAL.match(text):
        raise BadParameter(name, value, "is not a number", hint or "Write it as 0.1, 1e-5 or 1/10.")
    _, _, exponent = text.lower().partition("e")
    if exponent and (len(exponent) > 6 or abs(int(exponent)) > _MAX_EXPONENT):
        raise BadParameter(name, value, f"has an exponent beyond ±{_MAX_EXPONENT}", hint)
    return Fraction(text)


def count(name: str, value: Number, least: int = 1, hint: str = "") -> int:
    """A whole number that is at least ``least``."""
    number = exact(name, value, hint)
    if number.denominator != 1:
        raise BadParameter(name, value, "must be a whole number", hint)
    if number < least:
        raise BadParameter(name, value, f"must be at least {least}", hint)
    if number > 10**18:
        raise BadParameter(name, value, "must be at most 10**18", hint)
    return int(number)


def positive(name: str, value: Number, hint: str = "") -> Fraction:
    """A number above zero."""
    number = exact(name, value, hint)
    if number <= 0:
        raise BadParameter(name, value, "must be greater than 0", hint)
    return number


def nonnegative(name: str, value: Number, hint: str = "") -> Fraction:
    """A number that is zero or more."""
    number = exact(name, value, hint)
    if number < 0:
        raise BadParameter(name, value, "must not be negative", hint)
    return number


def probability(name: str, value: Number, hint: str = "") -> Fraction:
    """A number in [0, 1]."""
    number = exact(name, value, hint)
    if not 0 <= number <= 1:
        raise BadParameter(name, value, "must lie in [0, 1]", hint)
    return number


def shortest(x: Fraction) -> str:
    """The shortest text that means exactly this number: a decimal where there is one, else p/q.

    >>> shortest(Fraction(1, 100)), shortest(Fraction(1, 3)), shortest(Fraction(1, 10**7))
    ('0.01', '1/3', '1e-7')
    """
    bottom, twos, fives = x.denominator, 0, 0
    while bottom % 2 == 0:
        bottom, twos = bottom // 2, twos + 1
    while bottom % 5 == 0:
        bottom, fives = bottom // 5, fives + 1
    if bottom != 1:
        return f"{x.numerator}/{x.denominator}"
    places = max(twos, fives)
    digits = str(abs(x.numerator) * 10**places // x.denominator)
    sign = "-" if x < 0 else ""
    stripped = digits.rstrip("0") or "0"
    if stripped == "0":
        return "0"
    power = len(digits) - len(stripped) - places  # value = stripped * 10**power
    lead = power + len(stripped) - 1
    if -5 < lead < 16:  # the range in which Python prints plain decimals too
        return sign + _plain(stripped, power)
    mantissa = stripped[0] + ("." + stripped[1:] if len(stripped) > 1 else "")
    return f"{sign}{mantissa}e{lead}"


def _plain(digits: str, power: int) -> str:
    if power >= 0:
        return digits + "0" * power
    if -power < len(digits):
        return digits[:power] + "." + digits[power:]
    return "0." + "0" * (-power - len(digits)) + digits
