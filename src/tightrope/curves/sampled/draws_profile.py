"""The profile of a product with samples with replacement: which multiplicities are kept depends on what is asked.

What is beyond the last one counts as certain loss, so its chance must be far below δ. Of the others those that hardly
change the moment E[e^{tL}] at the saddle t are counted as the next one that is kept. Either way δ is overstated, by a
10⁻⁷th or so.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TypeVar

from tightrope.curves.engines.flat_profile import flat_profile
from tightrope.curves.engines.grid_profile import grid_profile
from tightrope.curves.engines.smoothed_profile import SmoothedProfile
from tightrope.curves.engines.transformed import transforms
from tightrope.curves.loss import Loss
from tightrope.curves.profile import Profile, Witness
from tightrope.curves.sampled.draws import MOST_BITS, DrawsPair, drawn_pairs, with_counts
from tightrope.curves.sampled.glued import few_mixtures
from tightrope.curves.sampled.multiplicities import doubled, kept_at, sound
from tightrope.curves.shared_proofs import shared_deltas, shared_epsilons
from tightrope.curves.ways import Ways
from tightrope.errors import NotCertified
from tightrope.numerics import effort
from tightrope.numerics.balls import Ball, precision
from tightrope.numerics.bound import Bound
from tightrope.numerics.contour.floats import saddle_start
from tightrope.numerics.contour.integral import ContourSum
from tightrope.numerics.exact import near

__all__ = ["DrawsProfile"]

Counts = tuple[tuple[int, ...], ...]
Answer = TypeVar("Answer")
_BEYOND = (24, 12)  # bits by which what is left out is below the value asked for; fewer where that proves nothing
_FLAT, _SMOOTHED = "flat", "smoothed"
_RELATIVE = (1e-7, 5e-10)  # what a smoothed contour is asked for
_WIDE, _MANY = (1e-6, 1e-9), 20.0  # relatively: then the other way is tried, too; sampled records that ask for more
_RARELY, _SELDOM, _OFTEN = 1.0, 2.0, 150.0  # sampled records on average
_FEW_HITS, _SHORT = 12.0, 8  # so many leave a long contour no chance beside a grid; multiplicities of a short one
_ROUGH_BITS = 60
_DEEPEST = 300.0  # nats: points with a smaller δ are asked alone
_GRIDDED = 3000  # copies
_SHARE, _LEAST = 0.8, 1.5e5  # of the work that is allowed, for the first of two ways; and at least for the second
_SPARE = 4  # bits: Chernoff's bound is above δ
_LOOKS, _FAR_ABOVE = 3, 6.0  # small grids that say how far; nats


@dataclass(frozen=True, eq=False)
class DrawsProfile(Profile):
    """``evaluate`` gives the profile of a product without samples with replacement."""

    loss: Loss
    evaluate: Callable[[Loss], Profile]
    _built: dict[Counts, Profile] = field(default_factory=dict)
    _flat: dict[Counts, Profile | None] = field(default_factory=dict)

    def aiming(self, width: float) -> DrawsProfile:
        """Every product is asked for that."""
        return replace(self, evaluate=lambda loss: self.evaluate(loss).aiming(width), _built={})

    def at(self, counts: Counts) -> Profile:
        """The profile with these multiplicities kept, for each sample with replacement."""
        if counts not in self._built:
            self._built[counts] = self.evaluate(self._cut(counts))
        return self._built[counts]

    def _at(self, counts: Counts, order: tuple[bool, ...]) -> Profile:
        """The same, but for a smoothed contour if a flat one is, in that ``order`` of both."""
        profile = self.at(counts)
        twice = len(order) > 1 and isinstance(self.flat(counts), SmoothedProfile)
        return profile.without(_SMOOTHED) if twice and isinstance(profile, Ways) else profile

    def flat(self, counts: Counts) -> Profile | None:
        """The same by a flat contour, where that can be short."""
        if counts not in self._flat:
            relative = _RELATIVE[self._hits() >= _MANY]
            self._flat[counts] = flat_profile(self._cut(counts), self._drawn() < _RARELY, relative)
        return self._flat[counts]

    def _cut(self, counts: Counts) -> Loss:
        return with_counts(self.loss, dict(zip(drawn_pairs(self.loss), counts, strict=True)))

    def _copies(self) -> int:
        return sum(n for _, n in self.loss.remove)

    def _rough(self, bits: int) -> Loss:
        """Powers of two only."""
        counts = {pair: doubled(pair.kept(bits)) for pair in drawn_pairs(self.loss)}
        return with_counts(self.loss, counts)

    def _counts(self, bits: int, t: float | None) -> Counts:
        """The multiplicities that matter at the tilt t."""
        copies = {pair: n for pair, n in self.loss.remove if isinstance(pair, DrawsPair)}
        return tuple(kept_at(pair, copies[pair], min(bits, 4 * MOST_BITS), t) for pair in drawn_pairs(self.loss))

    def _tilt(self, epsilon: Fraction) -> tuple[float, float] | None:
        """About ln δ, and the tilt there."""
        try:
            parts = transforms(self._rough(_ROUGH_BITS + self._copies().bit_length()).remove)
            return None if parts is None else ContourSum(parts).chernoff(max(near(epsilon), 1e-12))
        except NotCertified:
            return None

    def _tilt_for(self, delta: Fraction, bits: int) -> float | None:
        try:
            parts = transforms(self._rough(bits).remove)
        except NotCertified:
            return None
        start = None if parts is None else saddle_start(parts, delta)
        return None if start is None else -start[1]

    def _tries(self, bits: int, t: float | None) -> list[Counts]:
        """What to keep, with more and with fewer bits."""
        found: list[Counts] = []
        for extra in _BEYOND:
            try:
                found.append(self._counts(bits + extra, t))
            except NotCertified:  # too many of them
                continue
        return found

    def _flat_or_not(self, counts: Counts, level: float) -> tuple[bool, ...]:
        """In which order a flat contour is tried, and any other way: where records are sampled often, no contour need
        be flat, and where they are rarely sampled, none is short. ``level``: about ln δ."""
        if self._hits() < _RARELY:
            return (False,)
        flat = self.flat(counts)
        dear = flat.total.dear() if isinstance(flat, SmoothedProfile) else max(len(one) for one in counts) > _SHORT
        quick = flat is not None and not dear
        gridded = few_mixtures(self._cut(counts))
        if not quick and self._hits(0.0) < _FEW_HITS and gridded:
            return (False, True)
        if isinstance(flat, SmoothedProfile):
            alone = all(isinstance(pair, DrawsPair) for pair, _ in self.loss.remove)
            first = flat.suits(level) or (quick and gridded and alone)  # a grid takes several times as long
        else:
            first = _SELDOM <= self._drawn() <= _OFTEN
        return (True, False) if first else (False, True)

    def _hits(self, whole: float = 1.0) -> float:
        """How many records are sampled on average; ``whole``: of the data as a whole."""
        return sum(n * float(getattr(pair, "rate", whole)) for pair, n in self.loss.remove)

    def _drawn(self) -> float:
        """How many of them with replacement."""
        return sum(n * float(pair.rate) for pair, n in self.loss.remove if isinstance(pair, DrawsPair))

    def _either(self, counts: Counts, level: float) -> Profile:
        """By a flat contour where one is short, else as any product."""
        return (self.flat(counts) if self._flat_or_not(counts, level)[0] else None) or self.at(counts)

    def _first(
        self,
        tries: Sequence[Counts],
        level: float,
        ask: Callable[[Profile], Answer],
        width: Callable[[Profile, Answer], float] = lambda _, __: 0.0,
    ) -> tuple[Witness, Answer]:
        """What was kept, and the first answer that is not wide or the least wide one of the first counts that have
        one."""
        failure = NotCertified("a sample with replacement", "too many multiplicities count")
        for counts in tries:
            found: list[tuple[float, Witness, Answer]] = []
            # a flat contour that fails does so with fewer multiplicities, too
            order = self._flat_or_not(counts, level) if counts is tries[0] else (False,)
            for flat in order:
                try:
                    profile = self.flat(counts) if flat else self._at(counts, order)
                    if profile is None:
                        continue
                    later = flat is not order[-1] and (flat or self.flat(counts) is not None)
                    with effort.proving():
                        most = effort.left() - later * _LEAST
                    with (
                        effort.allowed(most),
                        effort.allowed(effort.left() * (_SHARE if later else 1), searching=True),
                    ):
                        answer = ask(profile)
                    kept: Witness = {"cut": [list(one) for one in counts]} | ({"way": _FLAT} if flat else {})
                    found.append((width(profile, answer), kept, answer))
                except NotCertified as wrong:
                    failure = wrong
                    continue
                if found[-1][0] <= _WIDE[self._hits() >= _MANY]:
                    break
            if found:
                return min(found, key=lambda one: one[0])[1:]
        raise failure

    def find(self, epsilon: Fraction) -> Witness:
        """What matters at about this δ."""

        def width(profile: Profile, witness: Witness) -> float:
            value = profile.prove(epsilon, witness)
            with precision(64):
                return float(2 * value.rad() / value.upper()) if value.upper() > 0 else 0.0

        level, tries = self._tries_at(epsilon)
        kept, witness = self._first(tries, level, lambda profile: profile.find(epsilon), width)
        return {**witness, **kept}

    def _tries_at(self, epsilon: Fraction) -> tuple[float, list[Counts]]:
        """About ln δ, and what to keep."""
        found = self._tilt(epsilon)
        level, t = found if found is not None else (-_ROUGH_BITS * math.log(2), None)
        tries = self._tries(_bits(level) + self._copies().bit_length() + _SPARE, t)
        for _ in range(_LOOKS):  # Chernoff's bound may be far above the δ of rare events
            seen = self._seen(epsilon, tries[0]) if tries and self._hits() < _MANY else None
            if seen is None or seen > level - _FAR_ABOVE:
                break
            level, tries = seen, self._tries(_bits(seen) + self._copies().bit_length() + _SPARE, t) or tries
        return level, tries

    def _seen(self, epsilon: Fraction, counts: Counts) -> float | None:
        """ln of what a small grid says of δ, at most; None where there is none."""
        grid = grid_profile(self._cut(counts)) if self._copies() <= _GRIDDED and epsilon >= 0 else None
        if grid is None:
            return None
        try:
            return grid.rough_level(near(epsilon))
        except NotCertified:
            return None

    def prove(self, epsilon: Fraction, witness: Witness) -> Ball:
        """The proof of the product that was cut."""
        counts = tuple(tuple(int(j) for j in one) for one in witness["cut"])
        pairs = drawn_pairs(self.loss)
        if len(counts) != len(pairs) or not all(sound(pair, one) for pair, one in zip(pairs, counts, strict=False)):
            raise NotCertified("a sample with replacement", f"it cannot be cut at {witness['cut']}")
        profile = self.flat(counts) if witness.get("way") == _FLAT else self.at(counts)
        if profile is None:
            raise NotCertified("a sample with replacement", "no flat contour is short")
        return profile.prove(epsilon, witness)

    def epsilon(self, delta: Fraction) -> tuple[Bound, Witness]:
        """Cut where what is left out is far below delta; nearer where that proves nothing."""

        def width(_: Profile, answer: tuple[Bound, Witness]) -> float:
            bound = answer[0]
            return 1 - bound.lower / bound.upper if 0 < bound.upper < math.inf else 0.0

        tries = self._tries_for(delta)
        kept, (bound, witness) = self._first(tries, _level(delta), lambda profile: profile.epsilon(delta), width)
        return bound, {**witness, **kept}

    def _tries_for(self, delta: Fraction) -> list[Counts]:
        bits = delta.denominator.bit_length() - delta.numerator.bit_length() + self._copies().bit_length()
        return self._tries(bits, self._tilt_for(delta, bits + _BEYOND[1]))

    def estimate(self, delta: Fraction) -> float:
        """By the same product; on a grid where the copies are not many, since floats may not see a contour."""
        tries = self._tries_for(delta)[-1:]
        if tries and self._copies() <= _GRIDDED:
            grid = grid_profile(self._cut(tries[0]))
            if grid is not None:
                return grid.estimate(delta)
        return self._first(tries, _level(delta), lambda profile: profile.estimate(delta))[1]

    def deltas(self, epsilons: Sequence[Fraction]) -> list[Ball | None]:
        """One product for all, but for those far beyond the others."""
        rising = sorted(set(epsilons))
        shared = rising[: bisect_left(rising, True, key=self._far)]  # δ falls
        values: dict[Fraction, Ball | None] = {}
        if shared:
            level, tries = self._tries_at(max(shared))
            for counts in tries[:1]:
                values.update(zip(shared, self._either(counts, level).deltas(shared), strict=True))
        missing = [x for x in epsilons if values.get(x) is None]
        values.update(zip(missing, shared_deltas(self, missing), strict=True))
        return [values[x] for x in epsilons]

    def _far(self, epsilon: Fraction) -> bool:
        """Whether δ is too small there to share a product with others."""
        found = self._tilt(epsilon)
        return found is None or found[0] <= -_DEEPEST

    def epsilons(self, deltas: Sequence[Fraction]) -> list[Bound | None]:
        """One product for all."""
        tries = self._tries_for(min(deltas))[:1] if deltas else []
        found = self._either(tries[0], _level(min(deltas))).epsilons(deltas) if tries else [None] * len(deltas)
        values = dict(zip(deltas, found, strict=True))
        missing = [delta for delta, one in values.items() if one is None]
        values.update(zip(missing, shared_epsilons(self, missing), strict=True))
        return [values[delta] for delta in deltas]


def _level(delta: Fraction) -> float:
    return math.log(delta.numerator) - math.log(delta.denominator)


def _bits(level: float) -> int:
    """−log₂ of e^level, rounded up."""
    return math.ceil(min(max(-level / math.log(2), 0.0), 4.0 * MOST_BITS))
