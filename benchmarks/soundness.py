"""Thousands of random compositions against closed forms and convolution on a grid: 0 misses is the only good answer.

    python benchmarks/soundness.py [--settings 2000] [--seed 0] [--save FILE]

Goes on until the reference has resolved so many settings: where δ is tiny and steps are few, a grid of floats sees
nothing. Prints the misses, the certified relative gaps and CPU times of all answers, the widest and the slowest.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
import time
from itertools import count, islice
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "oracles"))
from random_settings import Outcome, mechanism, outcome, random_setting

import tightrope as tr

BATCH = 200


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
    parser.add_argument("--settings", type=int, default=2000, help="how many must be resolved by the reference")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--save", help="write the figures to this file as JSON")
    options = parser.parse_args()
    found: list[tuple[int, Outcome, float]] = []
    seeds, resolved = count(options.seed), 0
    with multiprocessing.Pool() as pool:
        while resolved < options.settings:
            found += pool.map(one, islice(seeds, BATCH), chunksize=4)
            resolved = sum(o.resolved for _, o, _ in found)
    misses = [(seed, o) for seed, o, _ in found if o.missed]
    for seed, o in misses:
        print(f"MISS seed {seed}: {o}")
    gaps = np.array([o.gap for _, o, _ in found])
    times = np.array([took for _, _, took in found]) * 1000
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
    for word, order in (("widest", lambda f: -f[1].gap), ("slowest", lambda f: -f[2])):
        for seed, o, took in sorted(found, key=order)[:8]:
            print(f"{word}: seed {seed}, gap {o.gap:.1e}, {took * 1000:.0f} ms: {mechanism(o.parts)}, delta {o.delta}")
    sys.exit(bool(misses))


if __name__ == "__main__":
    main()
