"""Many points of a profile by windowed contours: one plan for each direction serves a whole stretch of ε."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from tightrope.curves.engines.lesser_direction import bounded_by, chernoff_bound
from tightrope.curves.profile import within_unit
from tightrope.curves.shared_roots import SharedRoots
from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ball, precision
from tightrope.numerics.bound import Bound
from tightrope.numerics.contour.integral import ContourSum
from tightrope.numerics.exact import near
from tightrope.numerics.windowed.plan import WindowPlan
from tightrope.numerics.windowed.total import WindowedSum

__all__ = ["WindowedStretches"]

_STRETCH, _NATS = 3.0, 12.0  # how far a stretch reaches at most, relatively, and how far δ may fall there
_HALVINGS = 5
_PATIENCE, _FURTHER = 2, 0.05  # so many failures in a row are followed by none before an ε that much larger
_HOPELESS = 5  # and so many by none at all
_SETTLED = 1e-10  # how near to its target ln δ is brought
_ENOUGH = 24  # bits to which a call is wanted


@dataclass(frozen=True)
class Stretch:
    """From one ε to another, the plan of removing a record, and that of adding one, unless it is bounded."""

    first: float
    last: float
    plan: WindowPlan
    lesser: WindowPlan | None


class WindowedStretches:
    """δ of sampled Gaussian steps beside other parts; points in rising order need the fewest plans.

    ``beyond`` tells whether no loss is as large as an ε when a record is added.
    """

    def __init__(self, steps: WindowedSum, adding: ContourSum, beyond: Callable[[Fraction], bool]) -> None:
        self._steps, self._adding, self._beyond = steps, adding, beyond
        self.kept: list[Stretch] = []
        self._failed, self._next = 0, 0.0  # stretches one after the other, and where the next may begin
        self._covered = False  # then there are no more

    def delta(self, epsilon: Fraction) -> Ball | None:
        """δ by the plans of a stretch, or of a new one; None if neither is good enough."""
        x = near(epsilon)
        try:
            for stretch in self.kept:
                value = self._value(epsilon, stretch) if stretch.first <= x <= stretch.last else None
                if value is not None:
                    return value
            if self._covered or not (x > 0 and self._hopeful(x)):
                return None
            return self._value(epsilon, self._begun(x))
        except NotCertified:
            return None

    def needed(self, epsilon: Fraction) -> Ball:
        """The same, or NotCertified."""
        value = self.delta(epsilon)
        if value is None:
            raise NotCertified("a windowed contour", "no stretch serves here")
        return value

    def epsilons(self, deltas: Sequence[Fraction], first: float, last: float) -> dict[Fraction, Bound]:
        """ε at those δ that are taken between the two, but where stretches fail."""
        ends = self.cover(first, last)
        return {} if ends is None else SharedRoots(self.needed).between(deltas, *ends, _SETTLED)

    def cover(self, first: float, last: float) -> tuple[float, float] | None:
        """Stretches for all ε between these, but where they fail; between which they serve, if anywhere."""
        x = first
        while x < last and self._failed < _HOPELESS:
            try:
                x = self._begun(x).last
            except NotCertified:
                x *= 1 + _FURTHER
        self._covered = True
        places = [*(stretch.first for stretch in self.kept), *(stretch.last for stretch in self.kept[-1:])]
        good = [place for place in places if self.delta(Fraction(place)) is not None]
        return (good[0], good[-1]) if good else None

    def _hopeful(self, x: float) -> bool:
        """Whether a new stretch is worth its search: not right after some have failed."""
        return self._failed < _PATIENCE or (x > self._next and self._failed < _HOPELESS)

    def _begun(self, x: float) -> Stretch:
        """A stretch from x on; without a plan for the lesser direction where it is bounded."""
        self._failed, self._next = self._failed + 1, x * (1 + _FURTHER)
        level, slope = self._steps.estimate(x)
        last = x * min(_STRETCH, 1 + _NATS / max(slope, 1.0))
        for _ in range(_HALVINGS):  # beside atoms δ may fall off a cliff
            if level - self._steps.estimate(last)[0] <= _NATS + 1:
                break
            last = (x + last) / 2
        bounded = self._beyond(Fraction(x)) or bounded_by(self._adding, x, level - 1e-6)
        lesser = None if bounded else self._steps.wide_plan(x, last, adding=True)  # first, as it fails sooner
        found = Stretch(x, last, self._steps.wide_plan(x, last), lesser)
        self._failed = 0
        self.kept.append(found)
        return found

    def _value(self, epsilon: Fraction, stretch: Stretch) -> Ball | None:
        """The larger of both directions, if it is known well enough."""
        with precision(stretch.plan.bits + 64):
            value = self._steps.call(ball(epsilon), stretch.plan)
        if int(value.rel_accuracy_bits()) >= _ENOUGH and not self._beyond(epsilon):
            with precision(64):
                t = bounded_by(self._adding, near(epsilon), float(value.lower().log()) - 1e-6)
            if t is not None:
                other = chernoff_bound(self._adding, epsilon, t)
            elif stretch.lesser is not None:
                with precision(stretch.lesser.bits + 64):
                    other = self._steps.call(ball(epsilon), stretch.lesser, adding=True)
            else:
                return None
            with precision(256):
                value = value.max(other)
        return within_unit(value) if int(value.rel_accuracy_bits()) >= _ENOUGH else None
