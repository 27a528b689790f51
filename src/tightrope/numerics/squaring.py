"""Whole powers of many complex doubles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["power"]

Numbers = TypeVar("Numbers", bound="NDArray[Any]")


def power(base: Numbers, copies: int) -> Numbers:
    """base^copies by squaring, copies ≥ 1: copies − 1 products lie behind it, each off by at most 3u of its size."""
    result: Numbers | None = None
    while copies:
        if copies & 1:
            result = base if result is None else result * base
        copies >>= 1
        if copies:
            base = base * base
    assert result is not None
    return result
