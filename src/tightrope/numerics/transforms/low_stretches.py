"""Proofs that a product of transforms is low for ALL y of a stretch, by one part here and another there.

A part of k copies is enough where |φ| ≤ e^{−nats/k}: beyond some y, if it decays; else, if φ is a sum over losses, near
the axis by its second and fourth moments, and further out by sums over blocks (``block_sums``), in which the lightest
terms are only counted by their mass.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

from tightrope.errors import NotCertified
from tightrope.numerics import effort
from tightrope.numerics.balls import Ball, precision
from tightrope.numerics.products import product
from tightrope.numerics.transforms import memory as recall
from tightrope.numerics.transforms.block_sums import NearBound, Patience, stretch_bound
from tightrope.numerics.transforms.sampled_rule import short
from tightrope.numerics.transforms.transform import Transform

if TYPE_CHECKING:
    from tightrope.numerics.transforms.fine_powers import LossTerms
    from tightrope.numerics.transforms.transform import Floats

__all__ = ["LowPart", "low_parts", "low_up_to", "near_end"]

_WHAT = "a proof that nodes are low"
_BITS, _DECAY_BITS = 100, 20  # of terms; of decays, beside the bits of the copies
_DECAY, _LOOK = 500.0, 0.1  # tilts that a proved decay is worth, if it does not say; of it, for one in floats
_KEPT = (0.85, 0.97, 0.999, 1 - 1e-10)  # of the mass, in terms that are not merely counted
_TERM, _PRODUCT = 10.0, 0.025  # units of work for a term, and for a term at a place
_FEW = 6  # copies
_PIECE = 4  # y may grow so much in one piece
_SHORTEST = 1.02  # a piece that is not cut again
_MOST_PIECES, _PATIENCE = 80, 3e5  # and units of work for all of them
_SAMPLED, _MOST_SAMPLES, _GOLDEN = 60_000, 200, 0.6180339887498949  # products, places in a piece, and how they fill it
_FURTHEST, _NEARLY = 1e9, 0.6  # a y as good as ∞, and the share of a decay there that makes a quadrature end
_TINY = 1e-9  # a change of a goal that rounding cannot undo


@dataclass(frozen=True, eq=False)
class LowSum:
    """The heaviest terms of a sum: shares, losses, and a bound of what they leave out; the first two in floats, too."""

    shares: Sequence[Ball]
    losses: Sequence[Ball]
    error: Ball
    floats: tuple[Floats, Floats]
    reach: Fraction | None  # up to which y that holds, if there is an end

    @cached_property
    def near(self) -> NearBound:
        """By moments."""
        return NearBound(self.shares, self.losses)

    def sizes(self, y: Floats) -> Floats:
        """About a bound of |φ|."""
        import numpy as np

        shares, losses = self.floats
        effort.spend(_PRODUCT * len(shares) * len(y), _WHAT)
        result: Floats = np.abs(product(np.exp(1j * np.multiply.outer(y, losses)), shares)) + float(self.error)
        return result

    def low(self, start: Fraction, end: Fraction, goal: Ball, patience: Patience) -> bool:
        """Whether |φ| ≤ goal is proved for all y from start to end; no proof is tried where floats see a larger one."""
        import numpy as np

        room = (goal - self.error).lower()
        if not room > 0 or (self.reach is not None and end > self.reach):
            return False
        number = max(4, min(_MOST_SAMPLES, _SAMPLED // len(self.shares)))
        places = float(start) + float(end - start) * ((np.arange(number) * _GOLDEN) % 1.0)
        if not (self.sizes(places) <= float(goal)).all():
            return False
        bound = stretch_bound(self.shares, self.losses, start, end, float(room) - _TINY, patience=patience)
        return bool(bound <= room)


@dataclass(frozen=True)
class LowPart:
    """``copies`` of a transform at the tilt t."""

    transform: Transform
    copies: int
    t: Fraction

    @cached_property
    def sums(self) -> tuple[LowSum, ...]:
        """If it is a sum, ever more of its terms, at last nearly all; nothing for few copies, which are never low."""
        if self.copies < _FEW:
            return ()
        transform, t = self.transform, self.t
        with precision(_BITS):
            found = recall.kept(transform, "low sums", (t,), lambda: tuple(_sums(transform, t)))
        effort.spend(_TERM * len(found[-1].shares) if found else 0.0, _WHAT)
        return found

    def logs(self, y: Floats) -> Floats:
        """About a bound of copies·ln|φ|; 0 if it is no sum."""
        import numpy as np

        if not self.sums:
            return 0.0 * y
        result: Floats = self.copies * np.log(np.maximum(self.sums[-1].sizes(y), 1e-300))
        return result

    def log_decay(self, y: float) -> float:
        """About copies·ln of the decay."""
        import numpy as np

        effort.spend(_LOOK * self.transform.decay_cost, _WHAT)
        return self.copies * float(recall.log_decay_floats(self.transform, float(self.t), np.array([y]))[0])

    def goal(self, nats: float) -> Ball:
        """What |φ| must not exceed."""
        return (Ball(-nats) / self.copies).exp().lower()

    def decays(self, start: Fraction, nats: float) -> bool:
        """Whether it is low from ``start`` on."""
        if not self.log_decay(float(start)) < -nats:
            return False
        effort.spend(max(_DECAY * self.transform.tilt_cost, self.transform.decay_cost), _WHAT)
        try:
            with precision(self.copies.bit_length() + _DECAY_BITS):
                return bool(recall.decay(self.transform, self.t, start) <= self.goal(nats))
        except NotCertified:
            return False

    def near(self, start: Fraction) -> tuple[Ball, Fraction]:
        """A bound of copies·ln|φ| from ``start`` to an end, and that end."""
        if not self.sums:
            return Ball(0), start
        whole = self.sums[-1]
        bound, reach = whole.near.at(start)
        reach = reach if whole.reach is None else min(reach, whole.reach)
        return (bound + whole.error).log() * self.copies, reach


def low_parts(parts: Sequence[tuple[Transform, int]], t: Fraction) -> list[LowPart]:
    """The parts at a tilt, the most copies first: mostly they are enough, and the others need not be looked at."""
    return [LowPart(transform, copies, t) for transform, copies in sorted(parts, key=lambda part: -part[1])]


def _sums(transform: Transform, t: Fraction) -> Iterator[LowSum]:
    import numpy as np

    terms, reach = _terms(transform, t)
    if terms is None:
        return
    sizes, places = (np.array([float(b.mid()) for b in row]) for row in (terms.shares, terms.losses))
    heavy = np.argsort(-sizes)
    reached = np.cumsum(sizes[heavy])
    whole = sum(terms.shares, Ball(0))
    for kept in _KEPT:
        some = heavy[: int(np.searchsorted(reached, kept)) + 1]
        chosen = some[np.argsort(places[some])]  # neighbours are to have near losses
        shares = [terms.shares[i] for i in chosen]
        rest = whole - sum(shares, Ball(0)) if len(some) < len(heavy) else Ball(0)
        error = (terms.error + rest).upper()
        yield LowSum(shares, [terms.losses[i] for i in chosen], error, (sizes[chosen], places[chosen]), reach)


def _terms(transform: Transform, t: Fraction) -> tuple[LossTerms | None, Fraction | None]:
    """A sum that is φ, up to some y: that of a quadrature up to where the decay has nearly all of its effect."""
    import numpy as np

    known = transform.terms_of(t)
    if known is not None:
        return known, None
    y = np.geomspace(1.0, _FURTHEST, 300)
    logs = recall.log_decay_floats(transform, float(t), y)
    reach = short(float(y[int(np.argmax(logs <= _NEARLY * logs[-1]))]), 2)

    try:
        return transform.terms_up_to(t, reach), reach
    except NotCertified:  # too many nodes
        return None, None


def low_up_to(
    parts: Sequence[LowPart], first: Fraction, end: Fraction, nats: float, start: Fraction | None = None
) -> Fraction:
    """Up to which y, at most ``end``, Π|φ|^copies ≤ e^{−nats}·y/first is proved from ``start`` on, or else from
    ``first``. No φ exceeds 1."""
    with precision(_BITS):
        start = first if start is None else start
        if any(part.decays(start, nats) for part in parts):
            return end
        start, cuts, last, patience = near_end(parts, start, end, nats), [end], None, Patience(_PATIENCE)
        for _ in range(_MOST_PIECES):
            needed = nats - math.log(max(float(start / first), 1.0)) + _TINY
            if start >= end or any(part.decays(start, needed) for part in parts):
                return end
            stop = min(cuts[-1], _PIECE * start)
            trials = chain([] if last is None else [last], ((part, one) for part in parts for one in part.sums))
            found = next((one for one in trials if one[1].low(start, stop, one[0].goal(needed), patience)), None)
            if found is not None:
                start, last = stop, found  # the next piece is likely to be like this one
                cuts = [cut for cut in cuts if cut > start]
            elif float(stop / start) > _SHORTEST and patience.left > 0:
                cuts.append(short(math.sqrt(float(start) * float(stop)), 20))
            else:
                break
        return start


def near_end(parts: Sequence[LowPart], start: Fraction, end: Fraction, nats: float) -> Fraction:
    """Up to which y the product is low by the moments of its parts, of as many as are needed."""
    with precision(_BITS):
        total, reached = Ball(0), end
        for part in parts:
            log, reach = part.near(start)
            if reach > start:
                total, reached = total + log, min(reached, reach)
            if total <= -nats:
                return max(min(short(float(reached), 20), end), start)
        return start
