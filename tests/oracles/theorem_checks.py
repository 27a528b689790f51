"""What every oracle of a theorem needs: small pairs with their truth, and how to read a conclusion."""

from __future__ import annotations

from fractions import Fraction

import definitions as d
from mpmath import mp, mpf

import tightrope as tr
from tightrope.curves.loss import Loss
from tightrope.curves.normal_pair import NormalPair
from tightrope.curves.renyi import KnownOrders
from tightrope.numerics.balls import Ball, ball, lower_float, precision, sharp, upper_float
from tightrope.numerics.bound import Bound
from tightrope.numerics.real import Real, real
from tightrope.theorems import REGISTRY

F = Fraction


def equals(found, truth, slack=1e-12):
    if isinstance(found, Real):
        found = sharp(found.ball)
    if isinstance(found, Ball):
        with precision(160):
            found = Bound(lower_float(found), upper_float(found))
    assert d.encloses(found, truth, slack), (found, truth)
    assert d.tight(found, 1e-6), found


def delta_of(loss, x, direction=0):
    """δ in one direction, of a loss of one pair."""
    ((pair, n),) = loss.directions[direction]
    assert n == 1
    return sharp(lambda: pair.call(ball(F(x))))


def at(curve, order):
    return sharp(lambda: curve.divergence(F(order)))


def exact(x: mpf) -> F:
    return F(mp.nstr(x, 40))


P, Q = ["0.7", "0.2", "0.1"], ["0.4", "0.35", "0.25"]
TABLE, RR = d.Atoms(P, Q), d.response(1)
FIFTH = mp.sqrt(mpf(1) / 5)
NORMAL = d.normals(1, 1, 0, 1)
SMALL = d.normals(FIFTH, 1, 0, 1)  # μ² = 1/5, ρ = 1/10
LAPLACE = d.laplaces(1)
T = REGISTRY


def known(truth, order=3):
    return KnownOrders((F(order),), (exact(truth.renyi(order)),))


def profile_at(profile, x):
    return profile.prove(F(x), profile.find(F(x)))


def one_normal(mu_squared=1):
    return Loss(((NormalPair(real(mu_squared)), 1),))


def table_loss():
    return T["table_loss"](tr.Table(P, Q))


ORACLES = {}


def oracle(*names):
    def register(check):
        for name in names:
            assert name not in ORACLES, name
            ORACLES[name] = check
        return check

    return register
