"""The work every library is given: the same questions, as plain data that any environment can read."""

from __future__ import annotations

from typing import Any

Workload = dict[str, Any]


def gaussian(sigma: float, count: int = 1, rate: float = 1.0) -> Workload:
    return {"law": "gaussian", "sigma": sigma, "rate": rate, "count": count}


def laplace(scale: float, count: int = 1) -> Workload:
    return {"law": "laplace", "scale": scale, "count": count}


def response(epsilon: float, count: int = 1) -> Workload:
    return {"law": "response", "epsilon": epsilon, "count": count}


def epsilon(name: str, parts: list[Workload], delta: float) -> Workload:
    return {"name": name, "ask": "epsilon", "parts": parts, "delta": delta}


def sigma(name: str, target: float, delta: float, rate: float, steps: int) -> Workload:
    return {"name": name, "ask": "sigma", "epsilon": target, "delta": delta, "rate": rate, "steps": steps}


# 50 Gaussians, 20 Laplaces and 5 randomized responses, no two alike.
MIXTURE = (
    [gaussian(20 + i) for i in range(50)] + [laplace(30 + 2 * i) for i in range(20)]
    + [response(round(0.1 + 0.02 * i, 2)) for i in range(5)]
)

DPSGD = [(1.0, 0.01, 10_000, 1e-5), (0.6, 0.004, 20_000, 1e-6), (2.0, 0.05, 2_000, 1e-8),
         (1.0, 0.001, 1_000_000, 1e-7), (0.8, 0.01, 1_000, 1e-12), (1.0, 0.01, 10_000, 1e-20)]

CALIBRATIONS = [(6, 1e-5, 0.01, 10_000), (1, 1e-6, 0.01, 10_000), (8, 1e-6, 0.004, 20_000),
                (3, 1e-8, 0.05, 2_000), (2, 1e-7, 0.001, 1_000_000), (0.5, 1e-10, 0.001, 100_000)]

RUN = gaussian(1.0, 10_000, 0.01)

ALL: list[Workload] = [
    epsilon("one Gaussian", [gaussian(1.0)], 1e-5),
    epsilon("Laplace x 100", [laplace(1.0, 100)], 1e-6),
    epsilon("randomized response x 100", [response(1.0, 100)], 1e-6),
    *[epsilon(f"DP-SGD {i}: σ {s}, q {q}, T {t}, δ {d}", [gaussian(s, t, q)], d)
      for i, (s, q, t, d) in enumerate(DPSGD, 1)],
    *[epsilon(f"DP-SGD 1 at δ {d}", [RUN], d) for d in (1e-9, 1e-11, 1e-13, 1e-50, 1e-300)],
    epsilon("T = 10⁹, q = 1e-5, δ 1e-5", [gaussian(1.0, 10**9, 1e-5)], 1e-5),
    epsilon("few steps: σ 1, q 0.01, T 10, δ 1e-6", [gaussian(1.0, 10, 0.01)], 1e-6),
    epsilon("tiny rate: σ 1, q 1e-3, T 100, δ 1e-7", [gaussian(1.0, 100, 0.001)], 1e-7),
    epsilon("50 Gaussians + 20 Laplaces + 5 responses", MIXTURE, 1e-6),
    *[sigma(f"calibrate {i}: ε {e}, δ {d}, q {q}, T {t}", e, d, q, t)
      for i, (e, d, q, t) in enumerate(CALIBRATIONS, 1)],
    {"name": "profile at 200 ε", "ask": "profile", "parts": [RUN], "epsilons": [i / 10 for i in range(1, 201)]},
    {"name": "online: 10,000 steps, ε every 100", "ask": "online", "parts": [RUN], "every": 100, "delta": 1e-5},
]
