"""Groups of records that are sampled one by one: their laws by enumeration and quadrature, and oracles with teeth."""

from __future__ import annotations

import itertools
from collections import Counter

import definitions as d
from flint import arb
from mpmath import mp, mpf
from quick_numbers import exp
from theorem_checks import F, T, delta_of, equals, one_normal, oracle, profile_at


def mixture(rate, moves):
    """The density of N(0, 1) moved by the sum of those that are sampled, over all subsets of the group."""
    q, found = d.number(rate), Counter()
    for taken in itertools.product((0, 1), repeat=len(moves)):
        chance = mp.fprod(q if t else 1 - q for t in taken)
        found[mp.fsum(m for m, t in zip(moves, taken, strict=True) if t)] += chance / mp.sqrt(2 * mp.pi)
    slow = list(found.items())
    quick = [(d.lifted(m), d.lifted(c)) for m, c in slow]

    def density(z):
        return sum(c * exp(-(z - m) * (z - m) / 2) for m, c in (quick if isinstance(z, arb) else slow))

    return density


def group(mu, rate, present, absent):
    """Both data sets: ``present`` records that move the answer up, against ``absent`` that move it down."""
    mu = d.number(mu)
    ends = [-absent * mu - 14, -absent * mu - 5, mpf(0), present * mu + 5, present * mu + 14]
    return d.Densities(mixture(rate, [mu] * present), mixture(rate, [-mu] * absent), ends, quick=True)


@oracle("loss_of_grouped_poisson_sample")
def members_sampled_one_by_one():
    for present, absent in ((2, 0), (1, 1), (0, 2), (2, 1)):
        loss = T["loss_of_grouped_poisson_sample"](one_normal(), F(3, 10), present, absent)
        truth = group(1, "0.3", present, absent)
        sides = [truth, truth.reverse()]
        for i in range(len(loss.directions)):
            for x in ("0.2", "-0.4", "0.6"):
                equals(delta_of(loss, x, i), sides[i].hockey(x), 1e-12)


@oracle("group_has_profile")
def the_worst_of_three_ways():
    """Two records come, or two go, or one comes and one goes."""
    laws = [T["loss_of_grouped_poisson_sample"](one_normal(), F(3, 10), 2 - b, b) for b in (0, 1)]
    profile = T["group_has_profile"](laws)
    truths = [group(1, "0.3", 2 - b, b) for b in (0, 1, 2)]
    for x in ("0", "0.2", "1"):
        equals(profile_at(profile, x), max(t.hockey(x) for t in truths), 1e-12)
