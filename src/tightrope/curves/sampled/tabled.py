"""Several mechanisms run on one sample: their joint law as a table, from above and from below.

A sample acts on the loss of all of them together, ln(1 − q + q·e^{L₁ + L₂ + …}), and the law of that sum is mostly
known through its profile only. Points of the profile give a finite law that dominates, and one that is dominated.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, reduce
from typing import TypeAlias

from tightrope.curves.composed_loss import loss_has_profile
from tightrope.curves.concentrated import joint_failure
from tightrope.curves.engines.gridded_pair import at_minus
from tightrope.curves.engines.transformed import contour_sum
from tightrope.curves.finite_pair import FinitePair
from tightrope.curves.loss import Loss, Parts
from tightrope.errors import NotCertified
from tightrope.numerics import effort
from tightrope.numerics.balls import Ball, ball, precision, upper_float
from tightrope.numerics.contour.integral import ContourSum
from tightrope.numerics.real import Real, real, total
from tightrope.numerics.remembered import kept, remembered
from tightrope.numerics.sums.connected_dots import connected_dots
from tightrope.numerics.sums.finite import FiniteLaw, scattered
from tightrope.numerics.sums.finite_engines import common_unit
from tightrope.numerics.sums.supporting_lines import Below, supporting_lines
from tightrope.numerics.transforms.sampled_rule import short
from tightrope.theorems import Source, theorem

_DENSE, _GROWTH = 450, Fraction(21, 20)  # points of equal distance on either side of 0; then ever further apart
_WIDE, _TILTED = 6.0, 2.0  # deviations that they cover, and variances, as sampling looks at tilted laws
_NOTHING = -600.0  # ln of a δ that needs no points beyond it
_FARTHEST = 600  # an ε beyond which all is lost
_BITS = 160
_WORK = 4e5
_LEAST, _MOST = 1e-9, 40.0  # deviations of a loss for which this is worth while

Heights: TypeAlias = list[tuple[int, Ball]]  # δ at ε = unit·step


@dataclass(frozen=True)
class _Points:
    """Balls around δ of (P, Q) at ε = unit·step, for steps of both signs in rising order; and P's mass at ∞."""

    unit: Fraction
    points: tuple[tuple[int, Ball], ...]
    leak: Real


@theorem(of=Loss, gives=Loss, kind="upper", role="sampling", source=Source("doroshenko2022connect", "Sec. 4"))
def loss_is_dominated_by_dots(c: Loss) -> Loss | None:
    """Chords between points of a profile lie above it, since it is convex in e^ε, and are the profile of a finite pair:
    that pair dominates, and whatever sampling makes of it."""
    found = _points(c)
    if found is None:
        return None
    law = connected_dots(found.unit, found.points)
    laws = [(("dots", c.remove, c.add, False), law), (("dots", c.remove, c.add, True), _reversed(law))]
    forward, backward = (FinitePair(key, one, composes=False) for key, one in laws)
    return Loss(((forward, 1),), ((backward, 1),))


@theorem(
    of=Loss,
    gives=Loss,
    kind="upper",
    role="sampling",
    relation="replace",
    source=Source("tightrope", "exchanges either way"),
)
def loss_is_dominated_by_even_dots(c: Loss) -> Loss | None:
    """A record that is exchanged for another may be exchanged back: chords between points of the larger of the profiles
    of (P, Q) and (Q, P) are the profile of one finite pair, which dominates either way, and whatever sampling makes of
    it."""
    found = _sides(c.remove, c.add)
    if found is None:
        return None
    unit, sides = found
    heights = [(step, _largest_at(sides, step)) for step in sorted({step for side in sides for step, _ in side})]
    law = connected_dots(unit, (*_mirrored(unit, heights), *heights))
    return Loss(((FinitePair(("even dots", c.remove, c.add), law, composes=False), 1),))


def _largest_at(sides: Sequence[Heights], step: int) -> Ball:
    """At least δ of either at that step: it falls, so what is known further down will do."""
    with precision(_BITS):
        known = [next(height for at, height in reversed(side) if at <= step).upper() for side in sides]
        return reduce(Ball.max, known)


@theorem(of=Loss, gives=Loss, kind="lower", role="sampling", source=Source("tightrope", "tables from below"))
def loss_dominates_lines(c: Loss) -> Loss | None:
    """The largest of finitely many lines below a profile is the profile of a finite pair, which is a function of the
    outputs of the first by Blackwell's theorem; so it costs no more, nor does what sampling makes of it."""
    found = _points(c)
    if found is None:
        return None
    leak = found.leak.rational if found.leak.rational is not None else Fraction(0)
    below = supporting_lines(found.unit, found.points, leak)
    key = ("lines", c.remove, c.add)
    forward, backward = (FinitePair((*key, back), _below(below, back)) for back in (False, True))
    return Loss(((forward, 1),), ((backward, 1),))


def _below(below: Below, back: bool) -> FiniteLaw:
    sign = -1 if back else 1
    losses = [remembered(lambda ratio=p / q: sign * ball(ratio).log()) for p, q in below.masses]  # type: ignore[misc]  # bound now
    leak = below.missing if back else below.leak
    return scattered(losses, [real(q if back else p) for p, q in below.masses], real(leak))


def _reversed(law: FiniteLaw) -> FiniteLaw:
    """Of the pair the other way round: e^{−l}·mass at −l, and at ∞ what is missing."""
    atoms = zip(law.values, law.masses, strict=True)
    masses = [remembered(lambda v=v, m=m: m.ball() * (-v.ball()).exp()) for v, m in atoms]  # type: ignore[misc]  # bound now
    missing = Real(None, lambda: (1 - sum((m.ball() for m in masses), Ball(0))).nonnegative_part())
    return scattered([kept(v * -1) for v in law.values], masses, missing)


def _points(c: Loss) -> _Points | None:
    """None if little is known of it."""
    found = _sides(c.remove, c.add)
    if found is None:
        return None
    unit, heights = found
    leak = joint_failure([(pair.infinite(), n) for pair, n in c.remove])
    return _Points(unit, (*_mirrored(unit, heights[-1]), *heights[0]), leak)


def _mirrored(unit: Fraction, heights: Heights) -> Heights:
    """Those of the reverse below 0."""
    with precision(_BITS):
        return [(-step, at_minus(ball(unit * step), height)) for step, height in reversed(heights[1:])]


@lru_cache(maxsize=64)
def _sides(remove: Parts, add: Parts | None) -> tuple[Fraction, list[Heights]] | None:
    """A unit, and δ of each direction at its multiples from 0 on; None if little is known of it."""
    sides = [remove] if add is None else [remove, add]
    sums = [whole for parts in sides if (whole := contour_sum(parts)) is not None]
    if len(sums) < len(sides):
        return None
    spread = max(math.sqrt(whole.spread()) for whole in sums)
    if not _LEAST < spread < _MOST:
        return None
    unit = _aligned(sides, short((_WIDE * spread + _TILTED * spread**2) / _DENSE))
    try:
        with effort.allowed(_WORK):  # what a question about the mechanism on all records may be
            return unit, [_heights(parts, whole, unit) for parts, whole in zip(sides, sums, strict=True)]
    except NotCertified:
        return None


def _aligned(sides: list[Parts], unit: Fraction) -> Fraction:
    """About that distance, or a little less, such that atoms lie on points: between them the profile is a line, or
    smooth."""
    units = [pair.atom_unit() for parts in sides for pair, _ in parts]
    atoms = [one for one in units if one]
    if None in units or not atoms:
        return unit
    common = common_unit(atoms)
    return common / math.ceil(common / unit) if common >= unit else unit


def _heights(parts: Parts, whole: ContourSum, unit: Fraction) -> Heights:
    """δ at ε = unit·step from 0 to where it is 0, or next to nothing."""
    top, steps = total([(pair.largest(), n) for pair, n in parts]), [0]
    with precision(_BITS):
        end = None if top.infinite else math.ceil(upper_float(top.ball()) / float(unit)) + 1
    while end is None or steps[-1] < end:
        step = steps[-1] + 1 if steps[-1] < _DENSE else math.ceil(steps[-1] * _GROWTH)
        steps.append(step if end is None else min(step, end))
        if step >= _DENSE and whole.chernoff(float(unit * step), _NOTHING)[0] < _NOTHING:
            break
        if unit * step > _FARTHEST:
            break
    inner = steps[:-1] if steps[-1] == end else steps
    found = loss_has_profile(Loss(parts)).deltas([unit * step for step in inner])
    heights = [(step, height) for step, height in zip(inner, found, strict=True) if height is not None]
    if not heights or heights[0][0] != 0:
        raise NotCertified("a table of losses", "δ(0) is not known")
    return [*heights, (end, _zero(parts))] if steps[-1] == end and end is not None else heights


def _zero(parts: Parts) -> Ball:
    """δ beyond the largest finite loss."""
    return joint_failure([(pair.infinite(), n) for pair, n in parts]).ball()
