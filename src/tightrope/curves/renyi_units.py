"""What values of a Rényi curve cost, where many are wanted."""

from __future__ import annotations

from contextlib import nullcontext

from tightrope.curves.loss_renyi import LossRenyi
from tightrope.curves.renyi import GroupedRenyi, LargestRenyi, Renyi, SmallestRenyi, SummedRenyi
from tightrope.errors import NotCertified
from tightrope.numerics import effort

__all__ = ["refuse_long", "spend_on_value", "value_units"]

_UNITS = 100.0, 500.0, 3e3  # by what a value in floats costs
_LONG = 3e4  # a value that costs less is not refused: after other routes gave up this may be all that answers


def value_units(curve: Renyi) -> float:
    """About how many units of work a value in balls is; curves that are part of it more than once count as often."""
    if isinstance(curve, LossRenyi):
        return sum((pair.units for parts in curve.loss.directions for pair, _ in parts), 0.0)
    if isinstance(curve, GroupedRenyi):
        return curve.size * value_units(curve.base)
    if isinstance(curve, SummedRenyi):
        return sum((value_units(part) for part, _ in curve.parts), 0.0)
    if isinstance(curve, LargestRenyi | SmallestRenyi):
        return sum((value_units(part) for part in curve.parts), 0.0)
    return _UNITS[curve.effort]


def refuse_long(curve: Renyi) -> None:
    """NotCertified where a value in balls could not be proved: then no search for it is worth the time."""
    units = value_units(curve)
    if units >= _LONG and not effort.affords(units):
        raise NotCertified("a Rényi curve", "the work allowed to one question is spent")


def spend_on_value(curve: Renyi) -> None:
    """Count a value in balls that is about to be proved; NotCertified if it is long and too little work is left."""
    units = value_units(curve)
    with effort.owing() if units < _LONG else nullcontext():
        effort.spend(units, "a Rényi curve")
