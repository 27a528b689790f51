"""What the core costs, in CPU time on one thread: import, certified Rényi orders, and one claim for each leaf.

Run with ``make bench``. Peers are measured in the same run when they are installed in the same environment.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import time
from fractions import Fraction

import tightrope as tr
from tightrope.numerics.balls import precision
from tightrope.numerics.moments.sampled_normal import log_power_means_certified
from tightrope.numerics.real import real

GOAL = 5.0
LEAVES = [
    "gaussian(sigma=1)",
    "laplace(scale=1)",
    "discrete_gaussian(sigma=10)",
    "discrete_gaussian(sigma=1000)",
    "discrete_gaussian(sigma=1e6)",
    "discrete_laplace(scale=2, sensitivity=3)",
    "randomized_response(epsilon=1)",
    "randomized_response(epsilon=1, k=10)",
    "leaky_input(delta=1e-6)",
    "leaky_randomized_response(epsilon=1, delta=1e-7)",
    "gaussian_pair(mean=1, sigma=1.1, other_mean=0, other_sigma=1)",
    "table(p=[0.75, 0.25], q=[0.25, 0.75])",
    "exponential(epsilon=1)",
    "noisy_max(epsilon=1)",
    "permute_and_flip(epsilon=1)",
    "above_threshold(0.5, 0.5)",
    "staircase(epsilon=1)",
    "pure(epsilon=1)",
    "approx(epsilon=1, delta=1e-6)",
    "zcdp(rho=0.1)",
    "zcdp(rho=0.1, xi=0.1, delta=1e-7)",
    "tcdp(rho=0.1, omega=20)",
    "tcdp(rho=0.1, omega=2)",
    "cdp(mu=0.3, tau=0.7)",
    "gdp(mu=1)",
    "rdp({2: 0.1})",
    "rdp({2: 0.1, 8: 0.5})",
    "rdp({2: 0.1, 4: 0.2, 8: 0.5, 16: 1, 32: 2, 64: 4})",
]

OTHERS = [
    "approx(epsilon=0.1, delta=0) * 50",
    "randomized_response(epsilon=1) * 1000000",
    "laplace(scale=1) * 100",
    "gaussian(sigma=1).poisson(0.01) * 10000",
]


COMPARED = [
    "gaussian(sigma=1).poisson(0.01) * 10000",
    "gaussian(sigma=1).without_replacement(10, 100) * 10",
    "laplace(scale=1).without_replacement(10, 100) * 10",
    "discrete_gaussian(sigma=3).poisson(0.1) * 10",
    "zcdp(rho=0.1).without_replacement(10, 100) * 10",
    "gaussian_pair(mean=1, sigma=1.1, other_mean=0, other_sigma=1).poisson(0.1) * 5",
]


def import_seconds(module: str, use: str = "") -> float:
    code = f"import time; t = time.process_time(); import {module}; {use or 'pass'}; print(time.process_time() - t)"
    return min(
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
        for _ in range(5)
    )


def claim_milliseconds(text: str) -> float:
    """Least of several fresh questions: another δ each time, so that nothing is remembered."""
    times = []
    for k in range(5):
        mechanism = tr.parse(text)
        start = time.process_time()
        tr.epsilon(mechanism, Fraction(1, 10**5 + k))
        times.append(time.process_time() - start)
    return 1e3 * min(times)


def compare_seconds(text: str) -> float:
    """One fresh comparison; the first pays for imports and tables."""
    times = []
    for k in range(2):
        start = time.process_time()
        tr.compare(tr.parse(text), Fraction(1, 10**5 + k))
        times.append(time.process_time() - start)
    return min(times)


def orders_seconds() -> float:
    orders = [Fraction(105, 100) + Fraction(k, 1000) * Fraction(6295, 100) for k in range(1000)]
    times = []
    for _ in range(3):
        start = time.process_time()
        with precision(70):
            balls = log_power_means_certified(real(1), Fraction(1, 100), orders)
        times.append(time.process_time() - start)
        assert all(b.is_finite() for b in balls)
    return min(times)


def main() -> None:
    print(f"import tightrope          {import_seconds('tightrope'):8.3f} s CPU   (goal 0.2)")
    first = import_seconds("tightrope", "tightrope.epsilon(tightrope.Gaussian(1), 1e-5)")
    print(f"and a first claim         {first:8.3f} s CPU")
    print(f"tightrope --help          {import_seconds('tightrope.cli.main'):8.3f} s CPU   (goal 0.2; its imports)")
    if importlib.util.find_spec("dp_accounting"):
        print(f"import dp_accounting      {import_seconds('dp_accounting'):8.3f} s CPU")
    setting = "sigma 1, rate 0.01, orders 1.05 to 64"
    print(f"1000 certified RDP orders {orders_seconds():8.3f} s CPU   (goal 0.4; {setting})")
    print(f"\none claim of a leaf, epsilon at delta = 1e-5 (goal {GOAL:.0f} ms)")
    for text in LEAVES:
        taken = claim_milliseconds(text)
        print(f"  {taken:9.2f} ms  {text}{'   over the goal' if taken > GOAL else ''}")
    print("\none claim of a composition")
    for text in OTHERS:
        print(f"  {claim_milliseconds(text):9.2f} ms  {text}")
    print("\ncompare, every route (goal 1 s)")
    for text in COMPARED:
        print(f"  {compare_seconds(text):9.3f} s   {text}")


if __name__ == "__main__":
    main()
