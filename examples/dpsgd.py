"""What does a DP-SGD run cost, and how much noise would a target need?"""

import tightrope as tr

run = tr.dpsgd(noise_multiplier=1.1, batch_size=256, dataset_size=60_000, epochs=10)
claim = tr.epsilon(run, delta=1e-5)
print(run)
print(f"epsilon = {claim:.6f} at delta = 1e-5, relation {claim.relation}")

found = tr.calibrate(lambda sigma: tr.dpsgd(sigma, batch_size=256, dataset_size=60_000, epochs=10), epsilon=1, delta=1e-5)
print(f"noise multiplier for epsilon = 1: {found.value}")
