"""autodp's Rényi accounting."""

from __future__ import annotations

from typing import Any

from measure import Answer, main


def load() -> Answer:
    from autodp.mechanism_zoo import ExactGaussianMechanism, LaplaceMechanism, PureDP_Mechanism
    from autodp.transformer_zoo import AmplificationBySampling, Composition

    compose, sample = Composition(), AmplificationBySampling(PoissonSampling=True)

    def part(p: dict[str, Any]) -> Any:
        if p["law"] == "laplace":
            return LaplaceMechanism(b=p["scale"])
        if p["law"] == "response":
            return PureDP_Mechanism(p["epsilon"])
        step = ExactGaussianMechanism(p["sigma"])
        if p["rate"] == 1:
            return step
        step.replace_one = False
        return sample(step, p["rate"], improved_bound_flag=True)

    def answer(work: dict[str, Any]) -> Any:
        if work["ask"] != "epsilon":
            raise NotImplementedError("not asked of it")
        parts = work["parts"]
        return compose([part(p) for p in parts], [p["count"] for p in parts]).get_approxDP(work["delta"])

    return answer


main(load)
