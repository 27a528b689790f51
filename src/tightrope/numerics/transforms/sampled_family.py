"""Very many sampled normal losses that differ in one number, as in a schedule of noise, by interpolation.

The moments of a loss are analytic in μ, or in the rate (``family_discs``). So they are evaluated at some twenty
places for each stretch of a schedule and interpolated between them, with a proved error: it costs about the same
however many steps there are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from flint import arb_mat, ctx

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ComplexBall, ball, between, precision
from tightrope.numerics.real import Real
from tightrope.numerics.transforms import memory as recall
from tightrope.numerics.transforms.family_discs import Axis
from tightrope.numerics.transforms.family_sample import FLOAT_PLACES, float_rule
from tightrope.numerics.transforms.interpolation import Disc, Interpolation, chebyshev, nodes_needed
from tightrope.numerics.transforms.products import Products
from tightrope.numerics.transforms.sampled_decay import shifted_angle, shifted_moment
from tightrope.numerics.transforms.sampled_rule import short
from tightrope.numerics.transforms.transform import Transform, whole_power

if TYPE_CHECKING:
    from tightrope.numerics.transforms.transform import Complexes, Floats

__all__ = ["SampledNormalFamily"]

_RADII = (1.0, 0.6, 0.35, 0.2, 0.1, 0.05, 0.02)  # of the largest disc on which there are bounds
_SHARES = (0.1, 0.2, 0.35, 0.5)  # of a disc that is interpolated
_EASIER = 0.8  # of what a line costs alone
_ENTRY = 4.0  # microseconds for a node of one member
_PLACE, _POWER, _MEMBER = 350.0, 0.5, 20.0  # and for a moment: of a place, for its power, and of a member
_MORE_BITS = 16  # with which members are taken together
_LOOK = 30  # bits of bounds that only say how many nodes are needed
_SPARE = 4.0  # nats
_CENTRE = 12  # bits
_MOST_SPARE = 2000


@dataclass(frozen=True)
class _Stretch:
    """Members next to each other, and where their moments are evaluated; at themselves if there is no ``rule``."""

    members: tuple[tuple[Fraction, int], ...]
    rule: Interpolation | None
    spare: int = 0  # bits by which their moments differ

    @property
    def places(self) -> tuple[Fraction, ...]:
        return tuple(x for x, _ in self.members) if self.rule is None else self.rule.places


class SampledNormalFamily(Transform):
    """The sum of all losses of a family: (parameter, number of copies) for each member."""

    longest_line, longest_proof = math.inf, 2e6  # a line of floats does not ask the members

    def __init__(self, axis: Axis, members: Iterable[tuple[Fraction, int]]) -> None:
        self._axis = axis
        self._members = tuple(sorted(members))
        self._copies = sum(copies for _, copies in self._members)
        self.kinds = len(self._members)
        self._at = lru_cache(maxsize=4096)(axis.transform)
        self._layout = lru_cache(maxsize=64)(self._laid)
        self._weights = lru_cache(maxsize=256)(_weights)
        self._sample = [(self._at(x), weight) for x, weight in float_rule(self._members)]
        self.tilt_cost = sum(transform.tilt_cost for transform, _ in self._sample)

    # searches

    def log_floats(self, t: Floats | Sequence[float]) -> Floats:
        """Σ ln M(t) in floats."""
        import numpy as np

        total = np.zeros(len(t))
        for transform, weight in self._sample:
            total += weight * recall.log_floats(transform, t)
        return total

    def float_line(self, t: float, eta: float, count: int) -> tuple[float, Complexes]:
        """Σ ln M(t) and Σ ln φ in floats."""
        import numpy as np

        log_moment, logs = 0.0, np.zeros(count + 1, dtype=np.complex128)
        for transform, weight in self._sample:
            one, phases = transform.float_line(t, eta, count)
            log_moment += weight * one
            logs += weight * phases
        return log_moment, logs

    def log_decay_floats(self, t: float, y: Floats) -> Floats:
        """About the logarithm of ``decay``."""
        total = y * 0.0
        for transform, weight in self._sample:
            total = total + weight * recall.log_decay_floats(transform, t, y)
        return total.clip(max=0.0)

    def cost(self, t: float, eta: float, count: int, bits: int) -> float:
        """Of the places, and of the members' nodes between them."""
        stretches = self._layout(*self._key(Fraction(t), Fraction(eta * count), bits))
        places = sum(len(stretch.places) for stretch in stretches)
        some = [transform.cost(t, eta, count, bits) for transform, _ in self._sample[:: FLOAT_PLACES // 3]]
        return _EASIER * places * sum(some) / len(some) + _ENTRY * (count + 1) * len(self._members)

    def line_cost(self, t: float, eta: float, count: int) -> float:
        """Of the sample."""
        return sum(transform.line_cost(t, eta, count) for transform, _ in self._sample)

    def moment_cost(self, t: float, bits: int) -> float:
        """Of the places, and of the members between them."""
        stretches = self._layout(*self._key(Fraction(t), Fraction(0), bits + self._copies.bit_length() + _MORE_BITS))
        place = _PLACE + _POWER * abs(t)
        return place * sum(len(stretch.places) for stretch in stretches) + _MEMBER * len(self._members)

    # proofs

    def _key(self, t: Fraction, y: Fraction, bits: int) -> tuple[Fraction, Fraction, int]:
        """Few layouts serve all lines: larger numbers will do."""
        return _rounded(t, 3), _rounded(y, 2), -(-bits // 16) * 16

    def _laid(self, t: Fraction, y: Fraction, bits: int) -> tuple[_Stretch, ...]:
        """The stretches that need the fewest places: a choice, in floats. Any is valid."""
        nats = (bits + self._copies.bit_length()) * math.log(2) + _SPARE
        power, last = self._axis.power(t), self._members[-1][0]
        best: tuple[float, Fraction, float] | None = None
        with precision(_LOOK):
            for radius in _RADII:
                share = Fraction(radius).limit_denominator(100)
                disc = Disc(last, self._axis.largest_radius(last) * share)
                excess = self._excess(disc, disc.centre, power, y)
                for reach in _SHARES:
                    needed = nodes_needed(reach, nats + excess) if math.isfinite(excess) else None
                    if needed is not None:
                        price = needed / (reach * radius)
                        best = min(best or (math.inf, share, reach), (price, share, reach))
        if best is None:
            return (_Stretch(self._members, None),)
        return tuple(self._stretches(power, y, nats, best[1], best[2]))

    def _excess(self, disc: Disc, least: Fraction, power: Fraction, y: Fraction) -> float:
        """How much larger, in nats, moments may be on the disc than for the least member."""
        try:
            most = float(self._axis.log_most(disc, power, y, None).mid())
            return most - max(float(self._at(least).log_real(self._tilt(power)).mid()), 0.0)
        except NotCertified:
            return math.inf

    def _tilt(self, power: Fraction) -> Fraction:
        return -power if self._axis.adding else power - 1

    def _stretches(
        self, power: Fraction, y: Fraction, nats: float, share: Fraction, reach: float
    ) -> Iterable[_Stretch]:
        """From the smallest member on, each as long as its disc allows."""
        left = self._members
        while left:
            first = left[0][0]
            guess = self._axis.largest_radius(first) * share
            end = first + 2 * guess * Fraction(reach)
            taken = sum(1 for x, _ in left if x <= end)
            members, left = left[:taken], left[taken:]
            yield self._stretch(members, power, y, nats, share)

    def _stretch(
        self, members: tuple[tuple[Fraction, int], ...], power: Fraction, y: Fraction, nats: float, share: Fraction
    ) -> _Stretch:
        plain = _Stretch(members, None)
        first, last = members[0][0], members[-1][0]
        centre = short(float(first + last) / 2, _CENTRE)
        if len(members) < 4 or not first <= centre <= last:
            return plain
        disc = Disc(centre, short(float(self._axis.largest_radius(centre) * share), _CENTRE))
        reach = max(last - centre, centre - first)
        with precision(_LOOK):
            excess = self._excess(disc, first, power, y)
        needed = nodes_needed(float(reach / disc.radius), nats + excess) if math.isfinite(excess) else None
        if needed is None or needed >= len(members):
            return plain
        rule = chebyshev(disc, short(1.01 * float(reach), _CENTRE), needed)
        return _Stretch(members, rule, self._spare(members, power))

    def _spare(self, members: tuple[tuple[Fraction, int], ...], power: Fraction) -> int:
        with precision(_LOOK):
            logs = [self._at(x).log_real(self._tilt(power)) for x, _ in (members[0], members[-1])]
            apart = float((logs[1] - logs[0]).mid())
        return min(max(math.ceil(apart / math.log(2)), 0), _MOST_SPARE) if math.isfinite(apart) else 0

    def _values(
        self, stretch: _Stretch, find: Callable[[Fraction], Sequence[ComplexBall]], log_most: Callable[[Disc], Ball]
    ) -> list[list[ComplexBall]]:
        """Of each member what ``find`` gives for one, by interpolation; ``log_most``: ln of its bound on a disc."""
        found = [find(x) for x in stretch.places]
        rule = stretch.rule
        if rule is None:
            return [list(row) for row in found]
        weights = self._weights(stretch, int(ctx.prec))
        matrix = arb_mat(len(weights), len(found), [w for row, _ in weights for w in row])
        width = len(found[0])
        real = (matrix * arb_mat(len(found), width, [v.real for row in found for v in row])).entries()
        imag = (matrix * arb_mat(len(found), width, [v.imag for row in found for v in row])).entries()
        most = log_most(rule.disc).exp()
        rows = []
        for i, (_, share) in enumerate(weights):
            error = (most * share).upper()
            off = between(-error, error)
            chosen = slice(i * width, (i + 1) * width)
            rows.append([ComplexBall(a + off, b + off) for a, b in zip(real[chosen], imag[chosen], strict=True)])
        return rows

    def _moments(self, t: Fraction, eta: Fraction, count: int) -> Iterable[tuple[_Stretch, list[list[ComplexBall]]]]:
        """M at the nodes, of each member."""
        y, power = eta * count, self._axis.power(t)

        def find(x: Fraction) -> list[ComplexBall]:
            log, phi = recall.line(self._at(x), t, eta, count)
            moment = ComplexBall(log.exp())
            return [moment * one for one in phi]

        for stretch in self._layout(*self._key(t, y, int(ctx.prec))):
            with precision(ctx.prec + stretch.spare):
                rows = self._values(stretch, find, partial(self._axis.log_most, power=power, y=y, shift=None))
            yield stretch, rows

    def line(self, t: Fraction, eta: Fraction, count: int) -> tuple[Ball, list[ComplexBall]]:
        """Σ ln M(t), and the products of the nodes."""
        with precision(ctx.prec + self._copies.bit_length() + _MORE_BITS):
            total = Ball(0)
            products = Products(count + 1)
            for stretch, rows in self._moments(t, eta, count):
                for (_, copies), row in zip(stretch.members, rows, strict=True):
                    whole = row[0].real
                    total += whole.log() * copies
                    products.take([whole_power(moment / whole, copies) for moment in row])
            return total, [ComplexBall(1), *products.values()[1:]]

    def log_real(self, t: Fraction) -> Ball:
        """Σ ln M(t)."""
        return self.line(t, Fraction(0), 0)[0]

    def decay(self, t: Fraction, y: Fraction) -> Ball:
        """The product of bounds on shifted paths (``sampled_decay``), with one angle for each stretch."""
        power, total = self._axis.power(t), Ball(0)
        for stretch, moments in self._moments(t, Fraction(0), 0):
            mu, rate = self._axis.law(stretch.members[len(stretch.members) // 2][0])
            angle = shifted_angle(float(mu), float(rate), float(power), float(y))

            def find(x: Fraction, angle: Fraction = angle) -> list[ComplexBall]:
                mu, rate = self._axis.law(x)
                log = self._at(x).log_real(t)  # what aliases are bounded beside
                return [ComplexBall(shifted_moment(Real(mu), rate, power, y, angle, log) * log.exp())]

            try:
                with precision(ctx.prec + stretch.spare):
                    rows = self._values(stretch, find, partial(self._axis.log_most, power=power, y=y, shift=angle))
            except NotCertified:  # these do not count
                continue
            for (_, copies), (moment,), (shifted,) in zip(stretch.members, moments, rows, strict=True):
                total += (shifted.real / moment.real).upper().min(Ball(1)).log() * copies
        return total.exp()

    def largest(self) -> Ball | None:
        """When adding, the sum of all."""
        if not self._axis.adding:
            return None
        return sum((-(-ball(self._axis.law(x)[1])).log1p() * copies for x, copies in self._members), Ball(0))

    def reverse_mass(self) -> Ball:
        """1."""
        return Ball(1)


def _weights(stretch: _Stretch, bits: int) -> list[tuple[list[Ball], Ball]]:
    """Those of the members, at this precision."""
    assert stretch.rule is not None
    with precision(bits):
        return stretch.rule.weights([x for x, _ in stretch.members])


def _rounded(x: Fraction, bits: int) -> Fraction:
    """A number of so many bits that is not closer to 0 than x."""
    if x == 0:
        return x
    size = short(float(abs(x)), bits)
    if size < abs(x):
        size = short(float(size) * (1 + 2.0 ** (1 - bits)), bits)
    return size if x > 0 else -size
