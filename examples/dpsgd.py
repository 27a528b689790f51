"""What does a DP-SGD run cost, and how much noise would a target need?"""

import tightrope as tr


def training(noise_multiplier):
    """Ten epochs over 60000 records in Poisson batches of 256."""
    return tr.dpsgd(noise_multiplier, batch_size=256, dataset_size=60_000, epochs=10)


run = training(1.1)
claim = tr.epsilon(run, delta=1e-5)
print(run)
print(f"epsilon = {claim:.10f} at delta = 1e-5, relation {claim.relation}, tight: {claim.tight}")
print(f"Renyi accounting would say {tr.compare(run, delta=1e-5)['rdp'].value:.10f}")

found = tr.calibrate(training, epsilon=1, delta=1e-5)
print(f"noise multiplier for epsilon = 1: {found.value}")
