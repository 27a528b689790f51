"""Thousands of random compositions against closed forms and convolution on a grid: 0 misses is the only good answer.
Half of them are sampled Gaussians mostly, half any noise, sampled in any way.

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
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "oracles"))
import random_laws
import random_settings

import tightrope as tr

BATCH = 200


@dataclass(frozen=True)
class Answer:
    """What was asked, our CPU seconds, and what came of it."""

    seed: int
    tree: str
    took: float
    found: random_settings.Outcome | random_laws.Verdict


def timed(tree: tr.Mechanism, delta: float) -> float:
    start = time.process_time()
    tr.epsilon(tree, delta=delta)
    return time.process_time() - start


def one(seed: int) -> Answer:
    """Even seeds: sampled Gaussians, mostly; odd ones: any noise and any sample."""
    rng = np.random.default_rng(seed)
    if seed % 2:
        laws, delta = random_laws.random_laws(rng)
        tree = random_laws.mechanism(laws)
        return Answer(seed, str(tree), timed(tree, delta), random_laws.verdict(laws, delta, 2**17))
    parts, delta = random_settings.random_setting(rng)
    tree = random_settings.mechanism(parts)
    return Answer(seed, str(tree), timed(tree, delta), random_settings.outcome(parts, delta, 2**17))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--settings", type=int, default=2000, help="how many must be resolved by the reference")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--save", help="write the figures to this file as JSON")
    options = parser.parse_args()
    answers: list[Answer] = []
    seeds, resolved = count(options.seed), 0
    with multiprocessing.Pool() as pool:
        while resolved < options.settings:
            answers += pool.map(one, islice(seeds, BATCH), chunksize=4)
            resolved = sum(a.found.resolved for a in answers)
    misses = [a for a in answers if a.found.missed]
    for a in misses:
        print(f"MISS {a}")
    gaps = np.array([a.found.gap for a in answers])
    times = np.array([a.took for a in answers]) * 1000
    parts = (50, 90, 99, 100)
    figures = {
        "settings": len(answers), "resolved by the reference": resolved, "misses": len(misses),
        "gap percentiles 50/90/99/100": [float(g) for g in np.percentile(gaps, parts)],
        "milliseconds percentiles 50/90/99/100": [float(t) for t in np.percentile(times, parts)],
    }
    for name, value in figures.items():
        print(f"{name}: {value}")
    if options.save:
        Path(options.save).write_text(json.dumps(figures, indent=1) + "\n")
    for word, order in (("widest", lambda a: -a.found.gap), ("slowest", lambda a: -a.took)):
        for a in sorted(answers, key=order)[:8]:
            gap, delta = f"{a.found.gap:.1e}", a.found.delta
            print(f"{word}: seed {a.seed}, gap {gap}, {a.took * 1000:.0f} ms: {a.tree}, delta {delta}")
    sys.exit(bool(misses))


if __name__ == "__main__":
    main()
