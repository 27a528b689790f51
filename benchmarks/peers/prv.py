"""prv_accountant with ε error 0.01 and δ error δ/1000; its answer is the upper end."""

from __future__ import annotations

from typing import Any

from measure import Answer, main


def load() -> Answer:
    from prv_accountant import PRVAccountant
    from prv_accountant.privacy_random_variables import (
        GaussianMechanism,
        LaplaceMechanism,
        PoissonSubsampledGaussianMechanism,
        PureDPMechanism,
    )

    def variable(p: dict[str, Any]) -> Any:
        if p["law"] == "laplace":
            return LaplaceMechanism(mu=1 / p["scale"])
        if p["law"] == "response":
            return PureDPMechanism(p["epsilon"])
        if p["rate"] < 1:
            return PoissonSubsampledGaussianMechanism(p["rate"], noise_multiplier=p["sigma"])
        return GaussianMechanism(p["sigma"])

    def accountant(parts: list[dict[str, Any]], delta: float) -> Any:
        return PRVAccountant(
            prvs=[variable(p) for p in parts], max_self_compositions=[p["count"] for p in parts],
            eps_error=0.01, delta_error=delta / 1000,
        )

    def answer(work: dict[str, Any]) -> Any:
        match work["ask"]:
            case "epsilon":
                counts = [p["count"] for p in work["parts"]]
                return accountant(work["parts"], work["delta"]).compute_epsilon(work["delta"], counts)[2]
            case "online":
                (p,) = work["parts"]
                account = accountant(work["parts"], work["delta"])
                for n in range(work["every"], p["count"] + 1, work["every"]):
                    value = account.compute_epsilon(work["delta"], [n])[2]
                return value
        raise NotImplementedError("no such question there")

    return answer


main(load)
