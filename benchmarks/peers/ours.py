"""tightrope's answers. Each is [lower, upper].

Every round asks about a new mechanism, so that nothing remembered from an earlier round helps: its parameters differ in
the 13th digit, and the target of a calibration in the fourth (a search for nearly the same target would meet some of
the values that an earlier one has tried). The value that is shown is the first round's.
"""

from __future__ import annotations

from itertools import count
from typing import Any

from measure import Answer, main


def load() -> Answer:
    import tightrope as tr

    rounds = count()
    nudge = 1.0

    def part(p: dict[str, Any]) -> tr.Mechanism:
        if p["law"] == "laplace":
            return tr.Laplace(p["scale"] * nudge) * p["count"]
        if p["law"] == "response":
            return tr.RandomizedResponse(epsilon=p["epsilon"] * nudge) * p["count"]
        step = tr.Gaussian(p["sigma"] * nudge)
        return (step.poisson(p["rate"]) if p["rate"] < 1 else step) * p["count"]

    def tree(parts: list[dict[str, Any]]) -> tr.Mechanism:
        whole = part(parts[0])
        for p in parts[1:]:
            whole = whole + part(p)
        return whole

    def answer(work: dict[str, Any]) -> Any:
        nonlocal nudge
        number = next(rounds)
        nudge = 1 + 1e-13 * number
        match work["ask"]:
            case "epsilon":
                claim = tr.epsilon(tree(work["parts"]), delta=work["delta"])
                return [claim.lower, claim.upper]
            case "sigma":
                found = tr.calibrate(
                    lambda s: tr.Gaussian(s).poisson(work["rate"]) * work["steps"],
                    epsilon=work["epsilon"] * (1 + 1e-3 * number), delta=work["delta"],
                )
                return float(found.value)
            case "profile":
                lower, upper = tr.profile(tree(work["parts"])).delta(work["epsilons"])
                return [list(lower), list(upper)]
        (run,) = work["parts"]
        account, step = tr.Accountant(), tr.Gaussian(run["sigma"] * nudge).poisson(run["rate"])
        for n in range(1, run["count"] + 1):
            account.step(step)
            if n % work["every"] == 0:
                claim = account.epsilon(work["delta"])
        return [claim.lower, claim.upper]

    return answer


main(load)
