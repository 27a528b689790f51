"""Many points of one profile: a proof found at one ε serves its neighbours, as long as it says enough there.

A witness may be evaluated at any ε; far from the one it was made for it only says less. How much is enough depends on
the work that is left: the last points of a dear profile are known less well than the first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from fractions import Fraction
from typing import TYPE_CHECKING

from tightrope.curves.shared_roots import SharedRoots
from tightrope.errors import NotCertified
from tightrope.numerics import effort
from tightrope.numerics.balls import Ball, ball, precision
from tightrope.numerics.bound import Bound
from tightrope.numerics.exact import near
from tightrope.numerics.many_roots import spread

if TYPE_CHECKING:
    from tightrope.curves.profile import Profile, Witness

__all__ = ["SharedProofs", "shared_deltas", "shared_epsilons"]

_ENOUGH = ((0.5, 1e-7), (0.25, 1e-6), (0.1, 1e-4))  # while so much of the work is left, δ is wanted so well
_ROUGH = 1e-2
_CLOSE = 1e-9


class SharedProofs:
    """A profile, and the witnesses found so far."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self._found: list[tuple[float, Witness]] = []
        self._work = effort.left()

    def keep(self, x: float, witness: Witness) -> None:
        """Use this witness, made for x, too."""
        self._found.append((x, witness))

    def delta(self, epsilon: Fraction) -> Ball:
        """By the nearest witness, or by a new one where that says too little."""
        x, best = near(epsilon), None
        if self._found:
            best = self._profile.prove(epsilon, min(self._found, key=lambda one: abs(one[0] - x))[1])
            if _width(best) <= self._enough():
                return best
        try:
            witness = self._profile.find(epsilon)
            value = self._profile.prove(epsilon, witness)
        except NotCertified:
            if best is None:
                raise
            return best
        self.keep(x, witness)
        return value if best is None or _width(value) <= _width(best) else best

    def _enough(self) -> float:
        left = effort.left()
        share = left / self._work if math.isfinite(left) else 1.0
        return next((width for least, width in _ENOUGH if share > least), _ROUGH)


def _width(value: Ball) -> float:
    with precision(64):
        middle, radius = float(value.mid()), float(value.rad())
    return radius / middle if middle > 0 else math.inf if radius > 0 else 0.0


def shared_deltas(profile: Profile, epsilons: Sequence[Fraction]) -> list[Ball | None]:
    """δ at many ε; None where nothing was proved."""
    shared, found = SharedProofs(profile), {}
    for x in spread(sorted(set(epsilons))):
        with suppress(NotCertified):
            found[x] = shared.delta(x)
    return [found.get(x) for x in epsilons]


def shared_epsilons(profile: Profile, deltas: Sequence[Fraction], close: float = _CLOSE) -> list[Bound | None]:
    """ε at many δ; None where nothing was proved. ``close``: how near to its target ln δ is brought before both ends
    are proved."""
    found: dict[Fraction, Bound | None] = {}
    shared = SharedProofs(profile)
    for delta in sorted(set(deltas)):  # the first ones may be ∞
        try:
            found[delta], witness = profile.epsilon(delta)
        except NotCertified:
            found[delta] = None
            continue
        last = found[delta]
        if last is not None and math.isfinite(last.upper):
            if last.upper > 0:
                shared.keep(last.upper, witness)
                found |= _up_to(shared, [d for d in deltas if d > delta], last.upper, close)
            break
    for delta in sorted(set(deltas) - set(found), reverse=True):
        with suppress(NotCertified):
            found[delta] = profile.epsilon(delta)[0]
    return [found.get(delta) for delta in deltas]


def _up_to(shared: SharedProofs, deltas: list[Fraction], last: float, close: float) -> dict[Fraction, Bound]:
    """Those between ε = 0 and the last; 0 for a δ that is reached there."""
    roots = SharedRoots(shared.delta)
    try:
        top = roots.delta(Fraction(0))
    except NotCertified:
        return {}
    with precision(160):
        found = {delta: Bound(0.0, 0.0) for delta in deltas if top <= ball(delta)}
    return found | roots.between([delta for delta in deltas if delta not in found], 0.0, last, close)
