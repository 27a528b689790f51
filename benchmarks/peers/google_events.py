"""dp_accounting: ``pld`` (loss distributions at the default grid, pessimistic) or ``rdp`` (default orders)."""

from __future__ import annotations

import functools
import math
import sys
from typing import Any

from measure import Answer, main


def load() -> Answer:
    import dp_accounting as dpa
    from dp_accounting import pld, rdp

    accountant = {"pld": pld.PLDAccountant, "rdp": rdp.RdpAccountant}[sys.argv[1]]

    def event(p: dict[str, Any]) -> Any:
        if p["law"] == "laplace":
            return dpa.LaplaceDpEvent(p["scale"])
        if p["law"] == "response":
            return dpa.RandomizedResponseDpEvent(2 / (1 + math.exp(p["epsilon"])), 2)
        step = dpa.GaussianDpEvent(p["sigma"])
        return dpa.PoissonSampledDpEvent(p["rate"], step) if p["rate"] < 1 else step

    def composed(parts: list[dict[str, Any]]) -> Any:
        account = accountant()
        for p in parts:
            account.compose(event(p), p["count"])
        return account

    def distribution(p: dict[str, Any]) -> Any:
        made = pld.privacy_loss_distribution
        if p["law"] == "laplace":
            one = made.from_laplace_mechanism(p["scale"])
        elif p["law"] == "response":
            one = made.from_randomized_response(2 / (1 + math.exp(p["epsilon"])), 2)
        else:
            one = made.from_gaussian_mechanism(p["sigma"], sampling_prob=p["rate"])
        return one.self_compose(p["count"])

    def answer(work: dict[str, Any]) -> Any:
        parts = work.get("parts", [])
        if sys.argv[1] == "pld" and any(p["law"] == "response" for p in parts):
            # its accountant refuses to mix responses with the rest; the distributions themselves do not
            return functools.reduce(lambda a, b: a.compose(b), map(distribution, parts)).get_epsilon_for_delta(
                work["delta"]
            )
        match work["ask"]:
            case "epsilon":
                return composed(work["parts"]).get_epsilon(work["delta"])
            case "sigma":
                def run(s: float) -> Any:
                    step = dpa.PoissonSampledDpEvent(work["rate"], dpa.GaussianDpEvent(s))
                    return dpa.SelfComposedDpEvent(step, work["steps"])

                return dpa.calibrate_dp_mechanism(
                    accountant, run, work["epsilon"], work["delta"],
                    dpa.ExplicitBracketInterval(0.3, 100), tol=1e-6,
                )
            case "profile":
                account = composed(work["parts"])
                return [account.get_delta(e) for e in work["epsilons"]]
        (p,) = work["parts"]
        account, step = accountant(), event(p)
        for n in range(1, p["count"] + 1):
            account.compose(step)
            if n % work["every"] == 0:
                value = account.get_epsilon(work["delta"])
        return value

    return answer


main(load)
