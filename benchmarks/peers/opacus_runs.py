"""Opacus' accountants of a training run: ``prv`` or ``rdp``.

They are numpy and scipy only, but the package imports torch before them: gigabytes that account for nothing. So the
package is entered without its first lines, and the optimizer's class, which the accountants merely name, is empty.
``prv`` is calibrated to Opacus' own tolerance, as its ε is no more accurate than that.
"""

from __future__ import annotations

import sys
import warnings
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from measure import Answer, main


def enter_without_torch() -> None:
    """Make ``opacus.accountants`` importable where torch is not installed."""
    found = find_spec("opacus")
    package, optimizers = ModuleType("opacus"), ModuleType("opacus.optimizers")
    package.__path__ = list(found.submodule_search_locations)
    optimizers.DPOptimizer = type("DPOptimizer", (), {})
    sys.modules |= {"opacus": package, "opacus.optimizers": optimizers}


def load() -> Answer:
    warnings.simplefilter("ignore")
    enter_without_torch()
    from opacus.accountants import create_accountant
    from opacus.accountants.utils import get_noise_multiplier

    kind = sys.argv[1]
    tolerance = {"prv": 0.01, "rdp": 1e-6}[kind]

    def answer(work: dict[str, Any]) -> Any:
        if work["ask"] == "sigma":
            return get_noise_multiplier(
                target_epsilon=work["epsilon"], target_delta=work["delta"], sample_rate=work["rate"],
                steps=work["steps"], accountant=kind, epsilon_tolerance=tolerance * work["epsilon"],
            )
        parts = work.get("parts", [])
        if work["ask"] not in ("epsilon", "online") or any(p["law"] != "gaussian" for p in parts):
            raise NotImplementedError("no such question there")
        account = create_accountant(kind)
        if work["ask"] == "epsilon":
            account.history = [(p["sigma"], p["rate"], p["count"]) for p in parts]
            return account.get_epsilon(work["delta"])
        (p,) = parts
        for n in range(1, p["count"] + 1):
            account.step(noise_multiplier=p["sigma"], sample_rate=p["rate"])
            if n % work["every"] == 0:
                value = account.get_epsilon(work["delta"])
        return value

    return answer


main(load)
