"""Lists and categories that a caller names, which may be of any hashable kind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from tightrope.errors import BadParameter


def listed(name: str, values: Any) -> list[Any]:
    """The entries of a list, a range, an array of one dimension, or any other finite series."""
    flat = not isinstance(values, np.ndarray) or values.ndim == 1
    if not isinstance(values, Iterable) or isinstance(values, Mapping | bytes) or not flat:
        raise BadParameter(name, "…", f"must be a list, not {type(values).__name__}")
    return values.tolist() if isinstance(values, np.ndarray) else list(values)


def places(name: str, categories: Any) -> dict[Any, int]:
    """The place of each of some different categories."""
    entries = listed(name, categories)
    try:
        found = {category: i for i, category in enumerate(entries)}
    except TypeError:
        raise BadParameter(name, "…", "must be hashable") from None
    if not entries or len(found) != len(entries):
        raise BadParameter(name, categories, "must be one or more, all different")
    return found


def placed(name: str, values: list[Any], among: dict[Any, int]) -> list[int | None]:
    """The place of each value among the categories, None for others."""
    try:
        return [among.get(value) for value in values]
    except TypeError:
        raise BadParameter(name, "…", "must be hashable, like the categories") from None
