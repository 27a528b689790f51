"""How well counts fit a law: χ² and Kolmogorov–Smirnov."""

import numpy as np
from scipy import stats

ALARM = 1e-6
MANY_DRAWS = 10_000_000


def chi_square(observed, expected):
    """p of the counts; cells are merged until each expects 20."""
    o, e, merged = 0.0, 0.0, []
    for seen, due in zip(observed, expected, strict=True):
        o, e = o + seen, e + due
        if e >= 20:
            merged.append((o, e))
            o = e = 0.0
    merged[-1] = (merged[-1][0] + o, merged[-1][1] + e)
    seen, due = np.array(merged).T
    return stats.chi2.sf(((seen - due) ** 2 / due).sum(), len(merged) - 1)


def kolmogorov(observed, expected):
    """p of the largest gap between distribution functions (conservative for binned data)."""
    n = observed.sum()
    return stats.kstwobign.sf(np.abs(np.cumsum(observed - expected)).max() / n * np.sqrt(n))
