"""A few different queries on the same data: what they cost together, by every route, and the proof."""

import tightrope as tr

release = tr.Gaussian(sigma=8) * 12 + tr.RandomizedResponse(epsilon=0.1) * 20 + tr.Pure(0.05)
print(tr.compare(release, delta=1e-6))
print()
print(tr.epsilon(release, delta=1e-6).explain())
