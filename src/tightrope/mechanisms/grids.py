"""The step of real-valued outputs: a power of two, which changes what is printed and never what is claimed."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from fractions import Fraction

from tightrope.errors import BadParameter, Unsupported
from tightrope.mechanisms.base import Mechanism
from tightrope.numerics.exact import Number, exact

_MOST = 1000


def grid_step(value: Number | None) -> Fraction | None:
    """A power of two between 2^−1000 and 2^1000. A float is taken as the binary number it holds."""
    if value is None:
        return None
    step = Fraction(value) if isinstance(value, float) and abs(value) < float("inf") else exact("grid", value)
    odd = step.numerator if step.denominator == 1 else step.denominator if step.numerator == 1 else 0
    if step <= 0 or odd & (odd - 1) or odd == 0 or odd.bit_length() > _MOST + 1:
        raise BadParameter(
            "grid", value, "must be a power of two between 2**-1000 and 2**1000", "For example 2**-10, 0.25 or 1."
        )
    return step


def with_grid(mechanism: Mechanism, step: Number) -> Mechanism:
    """The mechanism with this step; only real-valued leaves have one."""
    if not is_dataclass(mechanism) or "grid" not in [field.name for field in fields(mechanism)]:
        hint = "Set it on the part that adds real-valued noise: Gaussian, Laplace or Staircase."
        raise Unsupported(f"a grid for {mechanism}", "its outputs are not real numbers of its own", hint)
    arguments = {field.name: getattr(mechanism, field.name) for field in fields(mechanism)}
    return type(mechanism)(**{**arguments, "grid": step})
