"""The pictures of the lessons, by the name under which a lesson shows them."""

from __future__ import annotations

from collections.abc import Callable

from tightrope.plotting import Figure

FIGURES: dict[str, Callable[[], Figure]] = {}
