"""True answers by another method than tightrope's: mpmath at 40 digits, no ball, no proof, resolution doubled to check.

δ(ε) = (1/2π) ∫ exp(K(s) − sε)/(s(s+1)) dy on the line s = t + iy, with K by plain quadrature of the definition where
there is no closed form; ε by secant on ln δ. Run as a script it writes ``truths.json`` beside it (some minutes).
"""

from __future__ import annotations

import json
import math
import sys
import time
from functools import cache
from pathlib import Path
from typing import Any

from mpmath import mp, mpc, mpf
from workloads import ALL, Workload

FILE = Path(__file__).with_name("truths.json")


@cache
def nodes(sigma: str, rate: str, order: str, step: str) -> list[tuple[Any, Any]]:
    """(weight, ln w) of the trapezoidal rule for E[w^A e^{iy ln w}], w = 1 − q + q e^{z/σ − 1/2σ²}, A real."""
    s, q, a, h = mpf(sigma), mpf(rate), mpf(order), mpf(step)
    reach = 16 + abs(a) / s
    found, n = [], int(reach / h)
    for j in range(-n, n + 1):
        z = j * h
        log_w = mp.log1p(q * mp.expm1(z / s - 1 / (2 * s * s)))
        weight = h * mp.npdf(z) * mp.exp(a * log_w)
        if weight > mpf(10) ** -60:
            found.append((weight, log_w))
    return found


def log_moment(p: Workload, t: Any, y: Any, direction: str, step: str) -> Any:
    """count · ln E_P[e^{sL}] at s = t + iy."""
    s = mpc(t, y)
    if p["law"] == "laplace":
        e = 1 / mpf(str(p["scale"]))
        one = mp.log((s + 1) / (2 * s + 1) * mp.exp(s * e) + s / (2 * s + 1) * mp.exp(-(s + 1) * e))
    elif p["law"] == "response":
        e = mpf(str(p["epsilon"]))
        top = mp.exp(e) / (1 + mp.exp(e))
        one = mp.log(top * mp.exp(s * e) + (1 - top) * mp.exp(-s * e))
    elif p["rate"] == 1:
        one = s * (s + 1) / (2 * mpf(str(p["sigma"])) ** 2)
    else:
        order, sign = (t + 1, 1) if direction == "remove" else (-t, -1)
        rule = nodes(str(p["sigma"]), str(p["rate"]), mp.nstr(order, 40), step)
        one = mp.log(mp.fsum(c * mp.expjpi(sign * y * w / mp.pi) for c, w in rule))
    return p["count"] * one


class Line:
    """One contour of a workload: values at its nodes, from which δ(ε) is a sum."""

    def __init__(self, parts: list[Workload], t: Any, width: Any, direction: str, step: str) -> None:
        self.t, self.eta = t, 2 * mp.pi / width
        self.terms = []
        start = mp.fsum(log_moment(p, t, mpf(0), direction, step) for p in parts).real
        for n in range(200_000):
            y = n * self.eta
            k = mp.fsum(log_moment(p, t, y, direction, step) for p in parts)
            s = mpc(t, y)
            self.terms.append((y, k - mp.log(s * (s + 1))))
            if k.real - start - 2 * mp.log(1 + y) < -50 and n > 20:  # what is left is below 1e-20 of the first term
                break

    def delta(self, epsilon: Any) -> Any:
        total = mp.fsum(
            (1 if n == 0 else 2) * mp.exp(k - mpc(self.t, y) * epsilon).real for n, (y, k) in enumerate(self.terms)
        )
        return self.eta / (2 * mp.pi) * total


def saddle(parts: list[Workload], goal: Any, direction: str, step: str) -> Any:
    """t near the least of (K(t) − ln δ)/t."""
    grid = [mpf(2) ** (mpf(i) / 2) for i in range(-6, 18)]

    def chernoff(t: Any) -> Any:
        k = mp.fsum(log_moment(p, t, mpf(0), direction, step) for p in parts).real
        return (k + goal + t * mp.log(t) - (t + 1) * mp.log(t + 1)) / t

    best = min(grid, key=chernoff)
    best = min((best * mpf(2) ** (mpf(i) / 16) for i in range(-8, 9)), key=chernoff)
    return best, chernoff(best)


def root(line: Line, goal: Any, start: Any) -> Any:
    """ε with −ln δ(ε) = goal, by secant."""
    return mp.findroot(lambda e: mp.log(line.delta(e)) + goal, (start * 0.95, start * 0.9), tol=1e-30)


def response_epsilon(p: Workload, delta: float) -> Any:
    """k randomized responses: δ(ε) is a binomial sum."""
    e, k = mpf(str(p["epsilon"])), p["count"]
    top = mp.exp(e) / (1 + mp.exp(e))
    law = [(mp.binomial(k, j) * top**j * (1 - top) ** (k - j), (2 * j - k) * e) for j in range(k + 1)]

    def above(x: Any) -> Any:
        return mp.fsum(m * (1 - mp.exp(x - loss)) for m, loss in law if loss > x) - mpf(str(delta))

    low, high = mpf(0), k * e
    for _ in range(120):
        middle = (low + high) / 2
        low, high = (middle, high) if above(middle) > 0 else (low, middle)
    return high


def epsilon(parts: list[Workload], delta: float, step: str, widen: int) -> Any:
    """The larger ε of the two directions."""
    goal = -mp.log(mpf(str(delta)))
    answers = []
    for direction in ("remove", "add"):
        t, start = saddle(parts, goal, direction, step)
        line = Line(parts, t, widen * (70 + goal) / t + 3 * start, direction, step)
        answers.append(root(line, goal, start))
        if all(p["law"] != "gaussian" or p["rate"] == 1 for p in parts):
            break  # symmetric
    return max(answers)


def central_limit_sigma(work: Workload) -> Any:
    """Where the search for σ starts: q √(T (e^{1/σ²} − 1)) as the μ of Gaussian DP."""
    e, goal = mpf(str(work["epsilon"])), mpf(str(work["delta"]))
    low, high = mpf("0.01"), mpf(100)
    for _ in range(60):
        mu = mp.sqrt(low * high)
        over = mp.ncdf(mu / 2 - e / mu) - mp.exp(e) * mp.ncdf(-mu / 2 - e / mu) > goal
        low, high = (low, mu) if over else (mu, high)
    return 1 / mp.sqrt(mp.log1p((low / work["rate"]) ** 2 / work["steps"]))


def truth(work: Workload) -> Any:
    """The answer of a workload as decimal text (a list of them for a profile)."""
    if work["ask"] == "profile":
        goals = {}
        for e in work["epsilons"]:
            goals[e] = max(_profile_point(work["parts"], e, d) for d in ("remove", "add"))
        return [mp.nstr(v, 15) for v in goals.values()]
    if work["ask"] == "sigma":
        def parts(s: Any) -> list[Workload]:
            return [{"law": "gaussian", "sigma": mp.nstr(s, 25), "rate": work["rate"], "count": work["steps"]}]

        guess = central_limit_sigma(work)
        found = mp.findroot(
            lambda s: epsilon(parts(s), work["delta"], "0.125", 1) - work["epsilon"], (guess, guess * 1.02), tol=1e-20
        )
        return mp.nstr(found, 13)
    if [p["law"] for p in work["parts"]] == ["response"]:
        return mp.nstr(response_epsilon(work["parts"][0], work["delta"]), 15)
    coarse, fine = (epsilon(work["parts"], work["delta"], step, widen) for step, widen in (("0.125", 1), ("0.1", 2)))
    if abs(coarse - fine) > abs(fine) * mpf(10) ** -13:  # few steps: the line does not resolve the law
        return convolved(work)
    return mp.nstr(fine, 15)


def convolved(work: Workload) -> str:
    """By convolution on a fine grid (the tests' reference), to the digits its error estimate allows."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "oracles"))
    from reference_grid import Part, reference

    parts = [Part(p["count"], sigma=p["sigma"], rate=p["rate"]) for p in work["parts"]]
    value, error = reference(parts, work["delta"], 2**21)
    return f"{value:.{max(2, int(-math.log10(error / value)))}g}"


def _profile_point(parts: list[Workload], e: float, direction: str) -> Any:
    """δ(ε) on the line through the saddle of that ε."""
    grid = [mpf(2) ** (mpf(i) / 2) for i in range(-6, 14)]

    def height(t: Any) -> Any:
        return mp.fsum(log_moment(p, t, mpf(0), direction, "0.125") for p in parts).real - t * e - mp.log(t * (t + 1))

    t = min(grid, key=height)
    return _line(json.dumps(parts), mp.nstr(t, 30), direction).delta(mpf(str(e)))


@cache
def _line(parts: str, t: str, direction: str) -> Line:
    return Line(json.loads(parts), mpf(t), 90 / mpf(t) + 120, direction, "0.125")


def main() -> None:
    mp.dps = 40
    known = json.loads(FILE.read_text()) if FILE.exists() else {}
    for work in ALL:
        if work["name"] in known:
            continue
        start = time.process_time()
        try:
            known[work["name"]] = truth({**work, "ask": "epsilon"} if work["ask"] == "online" else work)
        except (ArithmeticError, ValueError) as error:
            print(work["name"], "no truth:", error)
            continue
        print(work["name"], str(known[work["name"]])[:40], f"{time.process_time() - start:.1f} s", flush=True)
        FILE.write_text(json.dumps(known, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
