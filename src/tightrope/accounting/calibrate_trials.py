"""The trials of a calibration: what one value of the parameter costs, estimated or certified, each found once."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from tightrope.accounting.claim import Claim
from tightrope.errors import BadParameter, NotCertified
from tightrope.mechanisms.base import Mechanism
from tightrope.numerics.effort import affords, allowed, left
from tightrope.numerics.exact import exact, near
from tightrope.numerics.many_roots import through

Maker = Callable[[Fraction], Mechanism]
LARGEST = Fraction(10**17)  # of whole numbers
_MOST = 150  # trials of one calibration: a user's function may be anything
_APART = 1e-5  # relatively: costs that are closer say nothing about a slope
_ROUGH, _LITTLE = 0.3, 5e4  # of the work left, for an estimate; what is too little for any
_SHARES = (0.45, 0.8, 0.95)  # likewise for the first certified cost, and the next ones: three are mostly enough
_MORE, _SLIGHT = 4.0, 1e-3  # times what estimates were slightly too small by, after each cost that so misses a target
_NONSENSE = 2.0  # nats by which an estimate is off that says nothing about others
_BESIDE = 1e-4  # relatively: where one contour serves both
_STRAIGHT = 2e-8  # product of distances: a line is off by about this times its curvature, a parabola likewise


class Trials:
    """Costs of the mechanisms that ``make`` gives. ``question`` certifies one, perhaps with the help of a claim about
    another that hardly differs; ``quick`` certifies its upper end alone, and ``rough`` estimates it, each None where it
    cannot."""

    def __init__(
        self,
        make: Maker,
        question: Callable[[Mechanism, Claim | None], Claim],
        quick: Callable[[Mechanism], float | None],
        rough: Callable[[Mechanism], float | None],
        target: Fraction,
    ) -> None:
        self._make, self._question, self._quick, self._rough, self.target = make, question, quick, rough, target
        self._made: dict[Fraction, Mechanism | None] = {}
        self._claims: dict[Fraction, Claim] = {}
        self._uppers: dict[Fraction, float] = {}
        self._costs: dict[Fraction, float] = {}
        self._estimates: list[tuple[float, float]] = []  # ln x and ln of the cost
        self._spent, self._missed, self._distrusted = 0, 0, False
        self.whole = self.concluded = False  # concluded: that there is no boundary

    def _spend(self) -> None:
        self._spent += 1
        if self._spent > _MOST:
            raise NotCertified("the calibrated value", f"{_MOST} trials did not close in on it")
        if not affords(_LITTLE):
            raise NotCertified("the calibrated value", f"after {self._spent} trials its work is spent{self._tried()}")

    def _share(self) -> float:
        return _SHARES[min(len(self._uppers), len(_SHARES) - 1)]

    def _tried(self) -> str:
        known = sorted((near(x), upper) for x, upper in self._uppers.items())
        return "".join(f"; {x:.6g} costs at most {upper:.6g}" for x, upper in (*known[:1], *known[1:][-1:]))

    def _mechanism(self, x: Fraction) -> Mechanism | None:
        if x not in self._made:
            try:
                made: object = self._make(x)
            except BadParameter:
                made = None
            else:
                if not isinstance(made, Mechanism):
                    raise BadParameter("mechanism", made, "the function to calibrate must return a mechanism")
            self._made[x] = made
        return self._made[x]

    def accepts(self, x: Fraction) -> bool:
        """Whether the mechanism exists at x."""
        return self._mechanism(x) is not None

    def _known(self, x: Fraction) -> Mechanism:
        self._spend()
        mechanism = self._mechanism(x)
        assert mechanism is not None
        return mechanism

    def claim(self, x: Fraction) -> Claim:
        """The certified cost at x, which must be accepted."""
        if x not in self._claims:
            mechanism = self._known(x)
            hoped = bool(self._uppers) and x in self._costs and self.height(x) <= 0  # as corrected
            with allowed(self._share() * left()):
                claim = self._question(mechanism, self._beside(x))
            if hoped:
                self._missed = 0 if claim.upper <= self.target else self._missed + 1
            if x in self._uppers and claim.upper > self._uppers[x] * (1 + _APART):  # more was proved of it before
                raise NotCertified("the calibrated value", f"too little work is left to certify {near(x):.6g}")
            self._claims[x], self._uppers[x] = claim, claim.upper
            self._compare(x)
        return self._claims[x]

    def _beside(self, x: Fraction) -> Claim | None:
        """The claim nearest to x, if that is near."""
        at = min(self._claims, key=lambda other: abs(other - x), default=None)
        return self._claims[at] if at is not None and abs(at - x) <= _BESIDE * x else None

    def upper(self, x: Fraction) -> float:
        """The upper end of that."""
        if x not in self._uppers:
            with allowed(self._share() * left()):
                quick = None if self._distrusted else self._quick(self._known(x))
            self._uppers[x] = self.claim(x).upper if quick is None else quick
            self._compare(x)
        return self._uppers[x]

    def _compare(self, x: Fraction) -> None:
        """Forget the estimate at x if it was nonsense, as it may be far out: it would correct others by as much."""
        cost, upper = self._costs.get(x, 0.0), self._uppers[x]
        if cost > 0 and not abs(self._log_ratio(upper) - self._log_ratio(cost)) <= _NONSENSE:
            self.doubt(x)

    def forget(self, x: Fraction) -> None:
        """What was estimated at x."""
        place = math.log(x)
        self._estimates = [one for one in self._estimates if one[0] != place]
        self._costs.pop(x, None)

    def doubt(self, x: Fraction) -> float:
        """The height at x by its certified cost alone, whatever was estimated."""
        self.forget(x)
        self._costs[x] = self.upper(x)
        return self.height(x)

    def cost(self, x: Fraction) -> float:
        """About the cost at x, which must be accepted."""
        if x not in self._costs:
            rough = self._continued(x) if self._estimates else None
            if rough is None and not self._distrusted:
                mechanism = self._known(x)
                with allowed(_ROUGH * left()):
                    rough = self._rough(mechanism)
                if rough is not None and 0 < rough < math.inf:
                    self._estimates.append((math.log(x), math.log(rough)))
                else:
                    rough = None  # the search may have seen nothing
            self._costs[x] = self.upper(x) if rough is None else rough
        return self._costs[x]

    def _continued(self, x: Fraction) -> float | None:
        """The parabola through the three nearest estimates, in logarithms, where its error cannot be seen."""
        place, product, chosen = math.log(x), 1.0, list[tuple[float, float]]()
        for at, value in sorted(self._estimates, key=lambda one: abs(one[0] - place)):
            if all(abs(at - other) > _APART for other, _ in chosen) and len(chosen) < 3:
                chosen.append((at, value))
                product *= abs(at - place)
        if len(chosen) < 2 or not product < _STRAIGHT:
            return None
        return math.exp(through(chosen, place))

    def meets(self, x: Fraction) -> bool:
        """Whether the target is certified to be met at x."""
        upper = self.claim(x).upper
        return math.isfinite(upper) and Fraction(upper) <= self.target

    def dearest(self, x: Fraction) -> bool:
        """Whether the nearest other value seen is certified to cost no more."""
        others = [y for y in {**self._costs, **self._uppers} if y != x]
        return not others or self.upper(min(others, key=lambda y: abs(y - x))) <= self.upper(x)

    def misses(self, x: Fraction) -> bool:
        """Whether the target is certified to be missed at x, and not only not to be met."""
        return self.claim(x).lower > self.target

    def has_claim(self, met: bool) -> bool:
        """Whether a claim is known that meets the target, or that does not."""
        return any(self.meets(x) == met for x in self._claims)

    def certified(self) -> tuple[Fraction, Fraction] | None:
        """The closest two values of which claims tell that one meets the target and one does not."""
        good = [x for x in self._claims if self.meets(x)]
        pairs = [(g, b) for g in good for b in self._claims if b not in good]
        return min(pairs, key=lambda pair: abs(math.log(pair[0] / pair[1])), default=None)

    def distrust(self) -> None:
        """From now on every cost is that of a claim."""
        self._distrusted = True
        self._costs.clear()
        self._estimates.clear()
        self._uppers = {x: claim.upper for x, claim in self._claims.items()}

    def height(self, x: Fraction) -> float:
        """About ln(cost/target), positive where the target is missed; of a certified cost the sign is exact."""
        if x in self._uppers:
            upper = self._uppers[x]
            height = self._log_ratio(upper)
            met = math.isfinite(upper) and Fraction(upper) <= self.target
            return min(height, 0.0) if met else max(height, 5e-324)
        height = self._log_ratio(self.cost(x))
        if x in self._uppers:
            return self.height(x)
        return height + self.correction(x) if math.isfinite(height) else height

    def _log_ratio(self, cost: float) -> float:
        target = near(self.target)
        if math.isinf(cost) or not cost > 0 or not target > 0:
            return -math.inf if cost <= target else math.inf
        return math.log(cost) - math.log(target)

    def correction(self, x: Fraction) -> float:
        """About ln(certified/estimated) at x, or more than that where it was too little: with less work left, ends are
        further apart."""
        found = self._line(x)
        return found * _MORE**self._missed if 0 < found < _SLIGHT else found

    def _line(self, x: Fraction) -> float:
        """A line through what is known nearby."""
        known = []
        for value, upper in self._uppers.items():
            cost = self._costs.get(value, 0.0)
            if 0 < cost < math.inf and 0 < upper < math.inf:
                known.append((math.log(value), math.log(upper / cost)))
        if not known:
            return 0.0
        place = math.log(x)
        at, here = min(known, key=lambda one: abs(one[0] - place))
        others = [one for one in known if abs(one[0] - at) > max(_APART, abs(place - at) / 4)]
        if not others:
            return here
        other, there = min(others, key=lambda one: abs(one[0] - place))
        return here + (there - here) * (place - at) / (other - at)

    def certified_near(self, x: Fraction, share: float) -> bool:
        """Whether some cost that close to x is certified."""
        return any(abs(at - x) <= share * x for at in self._uppers)

    def heights(self) -> dict[Fraction, float]:
        """Of all that was tried."""
        return {x: self.height(x) for x in {**self._costs, **self._uppers}}

    def uncorrected(self) -> dict[Fraction, float]:
        """The same where nothing is carried from one value to another, which may be far away."""
        found = {x: self._log_ratio(cost) for x, cost in self._costs.items()}
        return {**found, **{x: self.height(x) for x in self._uppers}}

    def closest(self, rising: bool) -> tuple[Fraction, Fraction] | None:
        """The closest two values seen of which one meets the target and one misses it; ``rising``: as the larger. What
        is certified outweighs estimates on its wrong side."""
        heights, sign = self.heights(), 1 if rising else -1
        met = max((sign * x for x in self._uppers if heights[x] <= 0), default=-math.inf)
        missed = min((sign * x for x in self._uppers if heights[x] > 0), default=math.inf)
        good = [x for x, height in heights.items() if height <= 0 and sign * x < missed]
        bad = [x for x, height in heights.items() if height > 0 and sign * x > met]
        pairs = [(g, b) for g in good for b in bad if (g < b) == rising]
        return min(pairs, key=lambda pair: abs(math.log(pair[0] / pair[1])), default=None)

    def number(self, x: float) -> Fraction:
        """A value near x that is short to write, whole if it must be."""
        if self.whole:
            return Fraction(max(round(min(x, float(LARGEST))), 1))
        return exact("x", f"{min(max(x, 1e-300), 1e300):.12g}")
