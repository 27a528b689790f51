"""Draws gaussian-queries.svg: ε against the number of Gaussian queries (sigma = 200, delta = 1e-5), by six routes.

Run from anywhere: python docs/figures/make.py. Every number comes from tightrope.compare; nothing else is needed.
"""

from __future__ import annotations

import math
from pathlib import Path

import tightrope as tr

SIGMA, DELTA = 200, "1e-5"
COUNTS = (1, 2, 4, 7, 12, 20, 35, 55, 80, 110, 150, 200, 250, 300, 350, 400, 450, 500)
ROUTES = {  # route: (label, colour, dashes)
    "basic": ("basic", "#999999", ""),
    "advanced": ("advanced", "#cc6677", ""),
    "zcdp-classic": ("zCDP, classic", "#ddaa33", ""),
    "zcdp": ("zCDP and RDP", "#88ccee", ""),
    "rdp": ("", "#332288", "5 5"),
    "exact": ("exact", "#117733", ""),
}
LEFT, RIGHT, TOP, BOTTOM = 64, 560, 24, 356
LOW, HIGH = 0.01, 20.0


def curves() -> dict[str, list[tuple[int, float]]]:
    """ε of each route at each number of queries."""
    found: dict[str, list[tuple[int, float]]] = {route: [] for route in ROUTES}
    for count in COUNTS:
        comparison = tr.compare(tr.Gaussian(sigma=SIGMA) * count, delta=DELTA)
        for route in ROUTES:
            found[route].append((count, comparison[route].value))
    return found


def across(count: float) -> float:
    """Horizontal position of a number of queries."""
    return LEFT + (RIGHT - LEFT) * count / COUNTS[-1]


def down(epsilon: float) -> float:
    """Vertical position of an ε, on a logarithmic scale."""
    share = math.log(epsilon / LOW) / math.log(HIGH / LOW)
    return BOTTOM - (BOTTOM - TOP) * share


def text(x: float, y: float, words: str, colour: str = "#333333", anchor: str = "start") -> str:
    """A line of text."""
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" text-anchor="{anchor}">{words}</text>'


def axes() -> list[str]:
    """Frame, ticks and titles."""
    lines = [f'<path d="M{LEFT} {TOP}V{BOTTOM}H{RIGHT}" fill="none" stroke="#333333"/>']
    for tick in (0.01, 0.03, 0.1, 0.3, 1, 3, 10):
        lines.append(f'<path d="M{LEFT} {down(tick):.1f}H{RIGHT}" stroke="#e5e5e5"/>')
        lines.append(text(LEFT - 8, down(tick) + 4, f"{tick:g}", anchor="end"))
    for tick in (0, 100, 200, 300, 400, 500):
        lines.append(text(across(tick), BOTTOM + 18, str(tick), anchor="middle"))
    lines.append(text((LEFT + RIGHT) / 2, BOTTOM + 40, "Gaussian queries (σ = 200, sensitivity 1)", anchor="middle"))
    lines.append(text(LEFT + 8, TOP + 4, "ε at δ = 1e-5"))
    return lines


def figure() -> str:
    """The whole picture."""
    lines = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 680 408" font-family="sans-serif" font-size="13">',
        "<title>ε of k Gaussian queries by basic, advanced, zCDP, RDP and exact accounting</title>",
        '<rect width="680" height="408" fill="#ffffff"/>',
        *axes(),
    ]
    for route, points in curves().items():
        label, colour, dashes = ROUTES[route]
        path = "L".join(f"{across(count):.1f} {down(epsilon):.1f}" for count, epsilon in points)
        dash = f' stroke-dasharray="{dashes}"' if dashes else ""
        lines.append(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2.5"{dash}/>')
        nudge = {"zcdp-classic": -2.0, "zcdp": 3.0, "exact": 13.0}.get(route, 4.0)
        lines.append(text(RIGHT + 8, down(points[-1][1]) + nudge, label, colour="#333333") if label else "")
    return "\n".join(line for line in [*lines, "</svg>"] if line) + "\n"


if __name__ == "__main__":
    Path(__file__).with_name("gaussian-queries.svg").write_text(figure(), encoding="utf-8")
