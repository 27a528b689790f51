"""A picture as a value: a Vega-Lite specification with its data, drawn without a network."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from tightrope.errors import BadParameter, Unsupported

MIME = "application/vnd.vegalite.v5+json"
SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
SUFFIXES = (".png", ".svg", ".html", ".json")


@dataclass(frozen=True)
class Figure:
    """A titled picture. ``spec`` is its Vega-Lite definition; ``save`` writes png, svg, html or json."""

    title: str
    spec: Mapping[str, Any]

    def to_json(self) -> str:
        """The Vega-Lite definition, for any Vega-Lite viewer."""
        return json.dumps(self.spec, ensure_ascii=False)

    def to_svg(self) -> str:
        """The picture as SVG."""
        return str(_converter().vegalite_to_svg(self.to_json()))

    def to_png(self, scale: float = 2.0) -> bytes:
        """The picture as PNG, ``scale`` pixels a point."""
        return bytes(_converter().vegalite_to_png(self.to_json(), scale=scale))

    def to_html(self) -> str:
        """A page of its own that needs no network: the drawing program is inside."""
        return str(_converter().vegalite_to_html(self.to_json(), bundle=True))

    def save(self, path: str | Path) -> Path:
        """Write the picture; the ending of ``path`` says as what: .png, .svg, .html or .json."""
        target = Path(path)
        match target.suffix.lower():
            case ".png":
                content = self.to_png()
            case ".svg":
                content = self.to_svg().encode()
            case ".html":
                content = self.to_html().encode()
            case ".json":
                content = self.to_json().encode()
            case _:
                raise BadParameter("path", str(path), f"must end in one of {', '.join(SUFFIXES)}")
        target.write_bytes(content)
        return target

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        """What a notebook shows: Vega-Lite where it is understood, else SVG when it can be drawn, else words."""
        bundle: dict[str, Any] = {MIME: dict(self.spec), "text/plain": f"Figure: {self.title}"}
        try:
            bundle["image/svg+xml"] = self.to_svg()
        except Unsupported:
            return bundle
        return bundle


def _converter() -> ModuleType:
    try:
        import vl_convert
    except ImportError:
        raise Unsupported(
            "drawing", "the package vl-convert-python is not installed",
            hint="pip install 'tightrope[plot]' brings it; .json files need nothing.",
        ) from None
    return vl_convert
