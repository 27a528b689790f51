"""The comparison as a picture: SVG written by hand, no library needed."""

from __future__ import annotations

import math
from typing import Any

from workloads import ALL


def svg(results: dict[str, Any]) -> str:
    """CPU time of each library on each workload, on a logarithmic axis, as SVG."""
    names = list(results["versions"])
    colours = ["#0072b2", "#d55e00", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#999999"]
    works = [w["name"] for w in ALL if w["name"] in results["answers"]]
    left, top, row, width = 300, 60, 20, 560

    def x(seconds: float) -> float:
        return left + width * (math.log10(max(seconds, 1e-4)) + 4) / 6.5

    height = top + row * len(works) + 40
    box = f'viewBox="0 0 {left + width + 20} {height}" font-family="sans-serif" font-size="11"'
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" {box}>', '<rect width="100%" height="100%" fill="white"/>',
           f'<text x="{left}" y="18" font-size="14">CPU time of one answer (logarithmic)</text>']
    for i, name in enumerate(names):
        across = left + (i % 4) * 140
        down = 34 + 14 * (i // 4)
        out.append(f'<circle cx="{across}" cy="{down - 4}" r="4" fill="{colours[i]}"/>')
        out.append(f'<text x="{across + 8}" y="{down}">{name}</text>')
    for power in range(-4, 3):
        label = {-4: "0.1 ms", -3: "1 ms", -2: "10 ms", -1: "0.1 s", 0: "1 s", 1: "10 s", 2: "100 s"}[power]
        at = f"{x(10.0**power):.0f}"
        out.append(f'<line x1="{at}" x2="{at}" y1="{top}" y2="{height - 30}" stroke="#ddd"/>')
        out.append(f'<text x="{at}" y="{height - 14}" text-anchor="middle">{label}</text>')
    for i, work in enumerate(works):
        y = top + row * i + 12
        out.append(f'<text x="{left - 8}" y="{y + 4}" text-anchor="end">{work[:48]}</text>')
        for name, colour in zip(names, colours, strict=False):
            got = results["answers"][work].get(name, {})
            if "warm" in got:
                out.append(f'<circle cx="{x(got["warm"]):.1f}" cy="{y}" r="4" fill="{colour}" fill-opacity="0.85"/>')
    return "\n".join([*out, "</svg>\n"])
