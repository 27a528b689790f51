"""Curves given as points, drawn the way all pictures of the package are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tightrope.plotting import Figure
from tightrope.plotting.layers import Layer, Row, axis, coloured, line, picture

Points = Sequence[tuple[float, float]]


def drawn(
    title: str, under: str, across: str, up: str, curves: Mapping[str, Points], *,
    log: str = "", ends: Sequence[float] | None = None, points: bool = False,
) -> Figure:
    """Named curves; ``log`` names the logarithmic axes ("x", "y", "xy"), ``ends`` are those of the y axis."""
    rows: list[Row] = [{"x": x, "y": y, "curve": name} for name, found in curves.items() for x, y in found]
    x, y = channels(across, up, log, ends)
    return picture(title, under, rows, [line(x, y, *coloured(list(curves), ""), points=points)])


def channels(across: str, up: str, log: str = "", ends: Sequence[float] | None = None) -> tuple[Layer, Layer]:
    """The two axes with their titles."""
    x, y = axis("x", across, log="x" in log), axis("y", up, log="y" in log, domain=ends)
    for name, channel in (("x", x), ("y", y)):
        channel["axis"] = {"labelOverlap": True, **({"format": "~g"} if name in log else {})}
    return x, y
