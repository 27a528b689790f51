"""Random questions of any kind, every answer recorded: how far apart its ends are, what it cost, which way answered.

    python benchmarks/sweep.py [--ranges usual|any] [--questions 500] [--seed 0] [--save FILE] [--against FILE]

``usual``: σ 0.3–20, rates 1e-5–1, up to 10⁷ steps, δ 1e-40–0.1. ``any``: σ 0.01–10³, rates 1e-7–1, up to 10⁹ steps,
δ 1e-300–0.5. Prints crashes, answers wider than is sought, answers that took more than two seconds, and, against an
earlier file, enclosures of one number that do not overlap. Where the law of the loss is only a bound, as for fixed-size
samples, its own value is judged: what a user sees is set by a theorem.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

import tightrope as tr
from tightrope.accounting.routes import law_route

LIMIT = 30  # seconds of wall time after which a question is given up
SLOW = 2.0


@dataclass(frozen=True)
class Ranges:
    """From which parameters are drawn, evenly on a logarithmic scale."""

    scale: tuple[float, float]
    rate: tuple[float, float]
    steps: float
    nats: float  # the smallest δ is e^−nats
    largest: float  # the largest δ


RANGES = {
    "usual": Ranges((0.3, 20.0), (1e-5, 1.0), 1e7, 40 * math.log(10), 0.1),
    "any": Ranges((0.01, 1e3), (1e-7, 1.0), 1e9, 300 * math.log(10), 0.5),
}

SHARES = {
    "gaussian": 0.4, "laplace": 0.15, "discrete_gaussian": 0.13, "discrete_laplace": 0.08, "randomized_response": 0.12,
    "gaussian_pair": 0.08, "approx": 0.04,
}


@dataclass(frozen=True)
class Answer:
    """One question, and what came of it; ``wrong``: the error, if there was one."""

    seed: int
    tree: str
    delta: str
    lower: float = 0.0
    upper: float = 0.0
    judged: tuple[float, float] = (0.0, 0.0)
    sought: float = 0.0
    seconds: float = 0.0
    way: str = ""
    wrong: str = ""

    @property
    def gap(self) -> float:
        low, high = self.judged
        return 1 - low / high if 0 < high < math.inf else 0.0 if high == 0 or low == high else 1.0


def drawn(rng: np.random.Generator, low: float, high: float) -> float:
    return float(f"{math.exp(rng.uniform(math.log(low), math.log(high))):.3g}")


def leaf(rng: np.random.Generator, ranges: Ranges) -> str:
    kind = rng.choice(list(SHARES), p=list(SHARES.values()))
    scale = drawn(rng, *ranges.scale)
    match kind:
        case "randomized_response":
            return f"randomized_response(epsilon={drawn(rng, 0.05, 2)}, k={rng.choice([2, 3, 10])})"
        case "gaussian_pair":
            return f"gaussian_pair(0, 1, {drawn(rng, 0.03, 3)}, {drawn(rng, 0.4, 2.5)})"
        case "approx":
            return f"approx(epsilon={drawn(rng, 0.01, 2)}, delta=0)"
        case "gaussian":
            return f"gaussian(sigma={scale})"
        case "discrete_gaussian":
            return f"discrete_gaussian(sigma={scale})"
        case _:
            return f"{kind}(scale={scale})"


def part(rng: np.random.Generator, ranges: Ranges, relation: str) -> str:
    """Three quarters are sampled."""
    text, few = leaf(rng, ranges), int(drawn(rng, 1, 100))
    if rng.random() < 0.25:
        return f"{text} * {few}"
    steps, rate = int(drawn(rng, 1, ranges.steps)), drawn(rng, *ranges.rate)
    if relation == "add-remove":
        return f"{text}.poisson({rate}) * {steps}"
    if rng.random() < 0.5 and not text.startswith(("randomized", "approx")):
        return f"{text}.poisson({rate}, relation=replace) * {steps}"
    size = max(1, round(rate * 10**6))
    return f"{text}.without_replacement({size}, 1000000) * {steps}"


def question(seed: int, ranges: Ranges) -> tuple[str, str]:
    """A composition of one to three parts, and a δ."""
    rng = np.random.default_rng(seed)
    relation = "add-remove" if rng.random() < 0.7 else "replace"
    parts = [part(rng, ranges, relation) for _ in range(rng.choice([1, 2, 3], p=[0.55, 0.3, 0.15]))]
    delta = math.exp(-rng.uniform(-math.log(ranges.largest), ranges.nats) * rng.choice([1.0, 0.2]))
    return " + ".join(parts), f"{min(delta, ranges.largest):.3g}"


def too_long(*_: object) -> None:
    raise TimeoutError(f"no answer in {LIMIT} seconds")


def answered(work: tuple[int, str]) -> Answer:
    seed, name = work
    text, delta = question(seed, RANGES[name])
    signal.signal(signal.SIGALRM, too_long)
    signal.alarm(LIMIT)
    start = time.process_time()
    try:
        tree = tr.parse(text)
        claim = tr.epsilon(tree, delta=delta)
    except Exception as wrong:  # whatever it is, it is what is looked for
        return Answer(seed, text, delta, wrong=f"{type(wrong).__name__}: {wrong}")
    finally:
        signal.alarm(0)
    seconds = time.process_time() - start
    law = law_route(tree)
    theorem = law is not None and law.kind != "equal" and claim.route == law.name
    judged = claim.computed if theorem else claim
    return Answer(
        seed, text, delta, claim.lower, claim.upper, (judged.lower, judged.upper),
        1e-6 if law is None else law.width, seconds, str(claim.witness.get("way", claim.route)),
    )


def answers(name: str, seeds: range) -> Iterator[Answer]:
    with multiprocessing.Pool() as pool:
        yield from pool.imap_unordered(answered, [(seed, name) for seed in seeds])


def told(word: str, found: list[Answer]) -> None:
    print(f"{word}: {len(found)}")
    for a in found[:40]:
        ends = "[{:.10g}, {:.10g}]".format(*a.judged)
        print(f"  {a.seed}: {a.tree} at {a.delta}: {ends} gap {a.gap:.1e}, {a.seconds:.2f} s, {a.way} {a.wrong}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranges", choices=tuple(RANGES), default="usual")
    parser.add_argument("--questions", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--save", help="write every answer to this file, a line of JSON each")
    parser.add_argument("--against", help="compare with the answers in this file")
    options = parser.parse_args()
    found = list(answers(options.ranges, range(options.seed, options.seed + options.questions)))
    if options.save:
        Path(options.save).write_text("".join(json.dumps(asdict(a)) + "\n" for a in found))
    told("errors", [a for a in found if a.wrong])
    told("wider than sought", sorted((a for a in found if a.gap > a.sought), key=lambda a: -a.gap))
    told("slower than two seconds", sorted((a for a in found if a.seconds > SLOW), key=lambda a: -a.seconds))
    seconds = np.array([a.seconds for a in found])
    print(f"CPU seconds: {seconds.sum():.1f}, percentiles 50/90/99/100: {np.percentile(seconds, (50, 90, 99, 100))}")
    disjoint = []
    if options.against:
        before = [Answer(**json.loads(line)) for line in Path(options.against).read_text().splitlines()]
        known = {(a.tree, a.delta): a for a in before}
        for a in found:
            other = known.get((a.tree, a.delta))
            if other and not (a.wrong or other.wrong) and (a.lower > other.upper or other.lower > a.upper):
                disjoint.append(a)
        told("disjoint", disjoint)
    sys.exit(bool(disjoint) or any(a.wrong for a in found))


if __name__ == "__main__":
    main()
