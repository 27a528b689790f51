"""Thousands of random compositions against convolution on a grid: 0 misses is the only good answer.

    python benchmarks/soundness.py [--settings 2000] [--seed 0] [--save FILE]

Prints the misses, the certified relative gaps and the CPU time of the answers.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "oracles"))
from random_settings import Outcome, mechanism, outcome, random_setting

import tightrope as tr


def one(seed: int) -> tuple[int, Outcome, float]:
    """(seed, outcome, CPU seconds of our answer)."""
    parts, delta = random_setting(np.random.default_rng(seed))
    tree = mechanism(parts)
    start = time.process_time()
    tr.epsilon(tree, delta=delta)
    took = time.process_time() - start
    return seed, outcome(parts, delta, 2**17), took


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--settings", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--save", help="write the figures to this file as JSON")
    options = parser.parse_args()
    with multiprocessing.Pool() as pool:
        found = pool.map(one, range(options.seed, options.seed + options.settings), chunksize=8)
    misses = [(seed, o) for seed, o, _ in found if o.missed]
    for seed, o in misses:
        print(f"MISS seed {seed}: {o}")
    gaps = np.array([o.gap for _, o, _ in found])
    times = np.array([took for _, _, took in found]) * 1000
    resolved = sum(o.resolved for _, o, _ in found)
    parts = (50, 90, 99, 100)
    figures = {
        "settings": len(found), "resolved by the reference": resolved, "misses": len(misses),
        "gap percentiles 50/90/99/100": [float(g) for g in np.percentile(gaps, parts)],
        "milliseconds percentiles 50/90/99/100": [float(t) for t in np.percentile(times, parts)],
    }
    for name, value in figures.items():
        print(f"{name}: {value}")
    if options.save:
        Path(options.save).write_text(json.dumps(figures, indent=1) + "\n")
    worst = sorted(found, key=lambda f: -f[1].gap)[:8]
    for seed, o, took in worst:
        print(f"widest: seed {seed}, gap {o.gap:.1e}, {took * 1000:.0f} ms: {o.parts}, delta {o.delta}")
    sys.exit(bool(misses))


if __name__ == "__main__":
    main()
