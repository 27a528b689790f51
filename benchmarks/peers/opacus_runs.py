"""Opacus' accountants of a training run: ``prv`` or ``rdp``."""

from __future__ import annotations

import sys
import warnings
from typing import Any

from measure import Answer, main


def load() -> Answer:
    warnings.simplefilter("ignore")
    from opacus.accountants import create_accountant
    from opacus.accountants.utils import get_noise_multiplier

    kind = sys.argv[1]

    def answer(work: dict[str, Any]) -> Any:
        if work["ask"] == "sigma":
            return get_noise_multiplier(
                target_epsilon=work["epsilon"], target_delta=work["delta"], sample_rate=work["rate"],
                steps=work["steps"], accountant=kind, epsilon_tolerance=1e-6 * work["epsilon"],
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
