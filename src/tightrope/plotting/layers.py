"""The parts pictures are made of: axes, bands between two ends, lines, and one palette that colour-blind readers can
tell apart (Okabe and Ito), with dashes beside the colours.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tightrope.plotting.figure import SCHEMA, Figure

Row = dict[str, Any]
Layer = dict[str, Any]

PALETTE = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999999"]
DASHES = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [4, 4], [10, 4], [1, 3], [3, 6]]


def axis(field: str, title: str, log: bool = False, domain: Sequence[float] | None = None) -> Layer:
    """A quantitative channel."""
    scale: dict[str, Any] = {"type": "log", "nice": False} if log else {"zero": False, "nice": domain is None}
    if domain is not None:
        scale["domain"] = list(domain)
    look: dict[str, Any] = {"format": "~g"} if log else {}
    if field in ("upper", "lower") and log:  # δ spans many powers of ten
        look = {"labelExpr": "datum.value == 1 ? '1' : format(datum.value, '.0e')"}
    ticks = {"labelOverlap": True, **look}
    return {"field": field, "type": "quantitative", "title": title, "scale": scale, "axis": ticks}


def coloured(names: Sequence[str], title: str) -> tuple[Layer, Layer]:
    """(colour, dash) channels that tell the curves apart; no legend for a single one."""
    shape = {"symbolType": "stroke", "symbolStrokeWidth": 2.5, "symbolSize": 600, "symbolOpacity": 1}
    legend = None if len(names) == 1 else {
        "orient": "bottom", "columns": 2 if len(names) > 5 else 1, "labelLimit": 520, **shape,
    }
    shared = {"field": "curve", "type": "nominal", "title": title, "sort": list(names), "legend": legend}
    colours = [PALETTE[i % len(PALETTE)] for i in range(len(names))]
    dashes = [DASHES[(i + i // len(PALETTE)) % len(DASHES)] for i in range(len(names))]
    return (
        {**shared, "scale": {"domain": list(names), "range": colours}},
        {**shared, "scale": {"domain": list(names), "range": dashes}},
    )


def band(x: Layer, y: Layer, colour: Layer) -> Layer:
    """The enclosure: everything between the lower and the upper end."""
    return {
        "mark": {"type": "area", "opacity": 0.25, "clip": True},
        "encoding": {"x": x, "y": {**y, "field": "lower"}, "y2": {"field": "upper"}, "color": colour},
    }


def line(x: Layer, y: Layer, colour: Layer, dash: Layer, points: bool = False) -> Layer:
    """A curve."""
    mark: dict[str, Any] = {"type": "line", "clip": True, "strokeWidth": 2}
    if points:
        mark["point"] = {"size": 25}
    return {"mark": mark, "encoding": {"x": x, "y": y, "color": colour, "strokeDash": dash}}


def note(rows: list[Row], x: Layer, y: Layer, words: str = "words") -> Layer:
    """Marked points with a text beside each, by turns above and below, on a white halo that lines do not cross."""
    text = {"text": {"field": words}}
    texts = []
    across = sorted(rows, key=lambda row: float(row[x["field"]]))
    for part, dy in ((across[::2], -9), (across[1::2], 11)):
        place = {"type": "text", "align": "left", "dx": 9, "dy": dy, "fontSize": 11}
        texts += [
            {"data": {"values": part}, "mark": {**place, **look}, "encoding": text}
            for look in ({"color": "white", "stroke": "white", "strokeWidth": 4}, {"color": "#333333"})
        ]
    return {
        "data": {"values": rows},
        "encoding": {"x": x, "y": y},
        "layer": [
            {"mark": {"type": "point", "filled": True, "size": 60, "color": "#333333", "opacity": 1}},
            *texts,
        ],
    }


def reference_line(rows: list[Row], x: Layer, y: Layer) -> Layer:
    """A thin grey line to compare with."""
    return {
        "data": {"values": rows},
        "mark": {"type": "line", "color": "#888888", "strokeDash": [3, 3], "strokeWidth": 1.5, "clip": True},
        "encoding": {"x": x, "y": y},
    }


def picture(title: str, under: str, rows: list[Row], layers: list[Layer]) -> Figure:
    """The whole: title, what is assumed under it, data, layers."""
    return Figure(
        title,
        {
            "$schema": SCHEMA,
            "title": {"text": title, "subtitle": under, "anchor": "start", "fontSize": 15, "subtitleFontSize": 11},
            "width": 520,
            "height": 320,
            "background": "white",
            "data": {"values": rows},
            "layer": layers,
            "config": {"view": {"stroke": None}, "axis": {"gridColor": "#eeeeee"}, "font": "sans-serif"},
        },
    )
