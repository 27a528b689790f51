"""How fast exact noise is drawn, in CPU time on one thread, with numpy's unsafe noise and opendp beside it.

Run with ``python benchmarks/noise.py``. ``--timing`` measures how far the time of a release tells the noise drawn;
``--long`` releases 10^8 values in bounded memory.
"""

from __future__ import annotations

import importlib.util
import sys
import tempfile
import time
from collections.abc import Callable
from fractions import Fraction

import numpy as np

import tightrope as tr
from tightrope.noise.entropy import system_source
from tightrope.noise.integers import discrete_laplace, discrete_normal
from tightrope.noise.laws import DiscreteLaplace, DiscreteNormal
from tightrope.noise.table import TableSampler

MILLION = 1_000_000


def rate(work: Callable[[], object], size: int = MILLION, runs: int = 7) -> float:
    """Millions a CPU second, the best of several runs; the first, which makes tables, is not counted."""
    work()
    best = float("inf")
    for _ in range(runs):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return size / best / 1e6


def peers() -> dict[str, float]:
    rng = np.random.default_rng()
    found = {"numpy normal (unsafe)": rate(lambda: rng.normal(size=MILLION))}
    found["numpy laplace (unsafe)"] = rate(lambda: rng.laplace(size=MILLION))
    if importlib.util.find_spec("opendp") is not None:
        import opendp.prelude as dp

        dp.enable_features("contrib")
        space = dp.vector_domain(dp.atom_domain(T=int)), dp.l2_distance(T=float)
        measurement = dp.m.make_gaussian(*space, scale=10.0)
        found["opendp discrete gaussian, sigma 10"] = rate(lambda: measurement([0] * 20_000), 20_000, 3)
    return found


def noise() -> None:
    source = system_source()
    print(f"random bits: {source.name}, {rate(lambda: source.block(8 * MILLION), 8 * MILLION) / 1000:.1f} GB/s")
    others = peers()
    for name, value in others.items():
        print(f"{name:50s} {value:8.2f} M/s")
    opendp = others.get("opendp discrete gaussian, sigma 10")
    for sigma in (1, 10, 1000, 10**6, 10**9):
        value = rate(lambda sigma=sigma: discrete_normal(source, Fraction(sigma), MILLION))
        ratio = f", {value / opendp:.0f} times opendp's" if opendp else ""
        print(f"discrete gaussian, sigma {sigma:<25d} {value:8.1f} M/s{ratio}")
    for scale in (1, 10, 10**6):
        value = rate(lambda scale=scale: discrete_laplace(source, Fraction(scale), MILLION))
        print(f"discrete laplace, scale {scale:<26d} {value:8.1f} M/s")
    for law in (DiscreteNormal(Fraction(100)), DiscreteNormal(Fraction(10**6)), DiscreteLaplace(Fraction(10))):
        print(f"set-up of {law!s:60s} {1e3 / rate(lambda law=law: TableSampler(law), MILLION):8.1f} ms")


def releases() -> None:
    floats, wholes = np.linspace(-1e3, 1e3, MILLION), np.arange(MILLION)
    bits = wholes % 2 == 0
    runs = [
        (tr.Gaussian(3), floats), (tr.Laplace(3), floats), (tr.Gaussian(3, grid=1), wholes),
        (tr.DiscreteGaussian(10), wholes), (tr.DiscreteLaplace(10), wholes), (tr.RandomizedResponse(1), bits),
        (tr.RandomizedResponse(1, k=10), wholes % 10),
    ]  # fmt: skip
    for m, values in runs:
        print(
            f"release of 10^6 {values.dtype.name:8s} by {m!s:40s} {rate(lambda m=m, v=values: m.release(v)):8.1f} M/s"
        )
    for query in (
        "count(wholes, epsilon=1)",
        "sum(floats, -100, 100, epsilon=1)",
        "quantile(floats, 0.5, -1000, 1000, epsilon=1)",
    ):
        run = eval(f"lambda: tr.{query}", {"tr": tr, "wholes": wholes, "floats": floats})
        print(f"tr.{query:60s} {1e3 / rate(run, MILLION, 3):8.2f} ms")


def timing(batches: int = 4000) -> None:
    """Spearman's rank correlation of the time of one release with the size of its noise."""
    for m in (
        tr.DiscreteGaussian(10),
        tr.DiscreteLaplace(10),
        tr.Gaussian(3),
        tr.Laplace(3),
        tr.DiscreteGaussian(10**6),
    ):
        for size in (1, 1000):
            values = np.zeros(size, np.int64)
            m.release(values)
            spent, seen = [], []
            for _ in range(batches):
                start = time.perf_counter_ns()
                out = m.release(values)
                spent.append(time.perf_counter_ns() - start)
                seen.append(float(np.abs(np.asarray(out, float)).mean()))
            ranks = [np.argsort(np.argsort(x)) for x in (spent, seen)]
            rho = float(np.corrcoef(*ranks)[0, 1])
            print(f"time against |noise|, {m!s:35s} batches of {size:5d}: Spearman {rho:+.3f}")


def long(size: int = 10**8) -> None:
    with tempfile.NamedTemporaryFile() as file:
        out = np.memmap(file.name, np.int64, "w+", shape=(size,))
        start = time.process_time()
        tr.DiscreteGaussian(10).release(np.broadcast_to(np.int8(0), (size,)), out=out, progress=True)
        print(f"10^8 values into a file: {size / (time.process_time() - start) / 1e6:.0f} M/s")


if __name__ == "__main__":
    if "--timing" in sys.argv:
        timing()
    elif "--long" in sys.argv:
        long()
    else:
        noise()
        releases()
