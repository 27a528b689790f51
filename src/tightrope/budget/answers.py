"""Answers as text, so that the same request gets the same answer for ever."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from tightrope.errors import LedgerError


def written(answer: Any) -> Any:
    """The answer in JSON. Arrays keep their shape and type; exact numbers stay exact."""
    if answer is None or isinstance(answer, bool | str):
        return answer
    if isinstance(answer, Fraction):
        return {"fraction": str(answer)}
    kind = getattr(getattr(answer, "dtype", None), "kind", "")
    if kind:
        return _array(answer, kind)
    if isinstance(answer, int):
        return {"int": str(answer)}
    if isinstance(answer, float):
        return {"float": answer.hex()}
    if isinstance(answer, list | tuple):
        return {type(answer).__name__: [written(x) for x in answer]}
    raise LedgerError("the answer", f"{type(answer).__name__} cannot be stored; it was paid for, and was not revealed")


def _array(answer: Any, kind: str) -> Any:
    if kind not in "biufO":
        raise LedgerError("the answer", f"an array of {answer.dtype} cannot be stored; it was not revealed")
    values = [written(x) for x in answer.reshape(-1).tolist()]
    return {"array": values, "shape": list(answer.shape), "dtype": str(answer.dtype)}


def read(told: Any) -> Any:
    """The inverse of ``written``."""
    if not isinstance(told, dict):
        return told
    if "array" in told:
        import numpy as np

        values = np.empty(math.prod(told["shape"]), dtype=told["dtype"])
        for index, value in enumerate(told["array"]):
            values[index] = read(value)
        whole = values.reshape(told["shape"])
        return whole if told["shape"] else whole[()]
    ((name, value),) = told.items()
    if name == "fraction":
        return Fraction(value)
    if name == "int":
        return int(value)
    if name == "float":
        return float.fromhex(value)
    return (list if name == "list" else tuple)(read(x) for x in value)
