"""The report for programs: JSON, and YAML in the fields of the public registry of differential-privacy deployments."""

from __future__ import annotations

import json
import math
from typing import Any

from tightrope import __version__
from tightrope.reports.statement import Statement

UNKNOWN = "to be filled in"


def as_json(s: Statement) -> str:
    """Everything the page says; ``certificate`` can be checked by itself."""
    return json.dumps(
        {
            "statement": 1,
            "name": s.name,
            "privacy_unit": s.unit,
            "relation": s.claim.relation,
            "sampling": s.sampler,
            "attacker": {
                "sentences": list(s.sentences),
                "advantage": [s.advantage.lower, s.advantage.upper],
                "greatest_true_positive_rate": dict(s.tradeoff),
            },
            "profile": [{"delta": d, "lower": _number(lo), "upper": _number(hi)} for d, lo, hi in s.profile],
            "certificate": json.loads(s.claim.to_json()),
        },
        ensure_ascii=False, indent=1,
    )


def as_yaml(s: Statement) -> str:
    """The registry's fields: what is known is filled in, what only the author knows says so."""
    pure = dict(s.claim.question.given)["delta"] == "0"
    fields: dict[str, Any] = {
        "name": s.name,
        "data_curators": [UNKNOWN],
        "intended_use": UNKNOWN,
        "data_product_type": UNKNOWN,
        "data_product_region": UNKNOWN,
        "description": UNKNOWN,
        "publication_date": UNKNOWN,
        "dp_variant": "Pure" if pure else "Approximate",
        "privacy_loss": {
            "privacy_unit": s.unit,
            "privacy_unit_details": f"neighbours: {s.claim.relation}",
            "privacy_parameters": {
                "epsilon": _number(s.claim.upper),
                "delta": dict(s.claim.question.given)["delta"],
                "epsilon_lower": _number(s.claim.lower),
            },
            "privacy_parameters_details": [
                {"delta": d, "epsilon": _number(hi)} for d, _, hi in s.profile
            ],
        },
        "deployment_model": {"model": UNKNOWN, "actors": UNKNOWN, "release_type": UNKNOWN},
        "accounting": {
            "type": "certified interval (tightrope)",
            "composition": str(s.mechanism),
            "assumptions": list(s.claim.assumptions),
            "sampling": s.sampler,
            "post_processing": UNKNOWN,
        },
        "implementation": {
            "libraries": [f"tightrope {__version__}"],
            "floating_point_defence": "ball arithmetic, rounded outward",
            "timing_defence": UNKNOWN,
            "hyperparameter_tuning": UNKNOWN,
        },
        "additional_information": {"plain_words": list(s.sentences), "certificate": s.claim.to_json()},
    }
    return "\n".join(_lines(fields, 0)) + "\n"


def _lines(value: Any, depth: int) -> list[str]:
    """Block YAML; scalars are written as JSON, which YAML reads."""
    pad = "  " * depth
    found = []
    for key, item in value.items():
        if isinstance(item, dict):
            found += [f"{pad}{key}:", *_lines(item, depth + 1)]
        elif isinstance(item, list):
            found.append(f"{pad}{key}:")
            found += [f"{pad}  - {json.dumps(entry, ensure_ascii=False)}" for entry in item]
        else:
            found.append(f"{pad}{key}: {json.dumps(item, ensure_ascii=False)}")
    return found


def _number(x: float) -> float | str:
    return x if math.isfinite(x) else "inf"
