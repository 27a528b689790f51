"""The notebook's queries on a census table: the error of each variant of differential privacy at equal (ε, δ).

Without an argument it uses a small made-up table; ``python examples/census.py adult.csv`` uses the census one.
"""

import csv
import math
import sys
from pathlib import Path

import numpy as np

import tightrope as tr

EPSILON, DELTA = 1, 1e-5
path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "data" / "people.csv"
with path.open(encoding="utf-8") as file:
    people = list(csv.DictReader(file))
ages = np.array([int(person["age"]) for person in people])
rich = np.array([person["income"] == ">50K" for person in people])

# Twenty counts: how many people older than 20, 22, … earn more than 50K? One person can change all of them.
limits = range(20, 60, 2)
exact = np.array([int((rich & (ages > limit)).sum()) for limit in limits])
k = len(exact)


def noise_of(found):
    """The mechanism with the noise that a calibration found."""
    return tr.Gaussian(found.value, grid=1)


advanced = math.sqrt(16 * k * math.log(2 / DELTA) * math.log(2.5 * k / DELTA)) / EPSILON
rho = (math.sqrt(math.log(1 / DELTA) + EPSILON) - math.sqrt(math.log(1 / DELTA))) ** 2  # ε = ρ + 2√(ρ ln(1/δ))
variants = {
    "pure: Laplace, costs add up": tr.DiscreteLaplace(scale=k),
    "pure parts, composed optimally": tr.DiscreteLaplace(
        tr.calibrate(lambda scale: tr.DiscreteLaplace(scale) * k, epsilon=EPSILON, delta=DELTA).value
    ),
    "(ε, δ): advanced composition": tr.Gaussian(advanced, grid=1),
    "zCDP, textbook conversion": tr.Gaussian(math.sqrt(k / (2 * rho)), grid=1),
    "exact (Gaussian DP)": noise_of(tr.calibrate(lambda s: tr.Gaussian(s) * k, epsilon=EPSILON, delta=DELTA)),
}
print(f"{len(people)} people, {k} counts, ε = {EPSILON}, δ = {DELTA}")
print(f"{'variant':34s} {'error':>8s}   95 % of answers within   certified ε")
for name, mechanism in variants.items():
    errors = [100 * np.abs(mechanism.release(exact) - exact) / np.maximum(exact, 1) for _ in range(50)]
    spent = tr.epsilon(mechanism * k, delta=DELTA)
    print(f"{name:34s} {np.mean(errors):7.1f}%   ± {mechanism.interval(0.95):<20.0f} {spent:.4f}")

mean, median = tr.mean(ages, 0, 100, epsilon=0.5), tr.quantile(ages, 0.5, 0, 100, epsilon=0.5)
print(
    f"mean age {mean.value:.2f} in [{mean.interval(0.95)[0]:.2f}, {mean.interval(0.95)[1]:.2f}], median {median.value}"
)
hours = [int(person["hours_per_week"]) for person in people]
print("hours worked, by twenties:", tr.histogram(hours, bins=range(0, 101, 20), epsilon=0.5).value)
poll = tr.RandomizedResponse(epsilon=1)
estimate = tr.frequencies(poll.release(rich), poll)
print(f"asked one by one: {estimate.counts[1]:.0f} ± {2 * estimate.std[1]:.0f} earn more, in truth {rich.sum()}")
