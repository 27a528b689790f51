"""How the cells of a law are compared with the truth at 40 digits."""

from fractions import Fraction

import mpmath as mp

from tightrope.numerics.balls import precision
from tightrope.numerics.real import ZERO

DIGITS = 40


def exact(x):
    return mp.mpf(x.numerator) / x.denominator if isinstance(x, Fraction) else mp.mpf(float(x))


def clipped(z, low, high):
    return min(max(z, low), high)


def wrong_cells(found, edges, masses, indices):
    """Cells that cannot be the truth for any edges moved by at most the slack, one by one."""
    slack = mp.mpf(found.slack)
    ends = [-mp.inf, *map(mp.mpf, edges), mp.inf]
    for i in indices:
        a, b = ends[i], ends[i + 1]
        outer = masses(a - slack, b + slack)
        inner = masses(a + slack, b - slack) if a + slack < b - slack else (0, 0)
        low, high = (found.p_low[i], found.q_low[i]), (found.p_high[i], found.q_high[i])
        if any(low[j] > outer[j] or high[j] < inner[j] for j in range(2)):
            yield i


def complaints(found, edges, masses, indices):
    """How many of them there are."""
    return len(list(wrong_cells(found, edges, masses, indices)))


def is_wrong(found, edges, masses, indices):
    """Whether there is any: asked no further than the first."""
    return any(True for _ in wrong_cells(found, edges, masses, indices))


def whole(law, found):
    """P and Q, atoms and cells together, at least and at most."""
    with precision(120):
        atoms = law.atoms()
        p = float(sum((a.mass.ball() for a in atoms), law.infinite().ball()).mid())
        q = float(sum((a.mass.ball() * (-a.loss.ball()).exp() for a in atoms), ZERO.ball()).mid())
    return [(p + found.p_low.sum(), p + found.p_high.sum()), (q + found.q_low.sum(), q + found.q_high.sum())]
