"""Calibrate: the boundary value of one parameter at which a target is still met, certified."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from tightrope.accounting import ask, gaussian_least, least
from tightrope.accounting.claim import Claim
from tightrope.accounting.text import parse
from tightrope.errors import BadParameter, BadText, NotCertified
from tightrope.mechanisms.base import Mechanism, truth_value
from tightrope.numerics.exact import Number, exact, near, nonnegative, probability, shortest

Maker = Callable[[Fraction], Mechanism]
_RELATIVE = Fraction(1, 2_000_000)  # the certified value is this close to one that is certified to fail
_MOST_TRIALS = 400


@dataclass(frozen=True)
class Calibration:
    """``value`` meets the target (``claim`` proves it); a value better by ``slack`` (relative) does not, or was not
    proved to."""

    value: float | int
    exact: Fraction
    claim: Claim
    slack: float
    beyond: Claim | None  # the claim at the value that fails, or None when every allowed value beyond meets the target

    def __float__(self) -> float:
        return float(self.value)

    def __str__(self) -> str:
        end = "no further value is allowed" if self.beyond is None else f"within {self.slack:.1g} of the boundary"
        return f"{self.value!r}: {self.claim} ({end})"


def calibrate(
    mechanism: Callable[..., Mechanism] | str,
    *,
    epsilon: Number | None = None,
    delta: Number | None = None,
    rho: Number | None = None,
    mu: Number | None = None,
    integer: bool = False,
) -> Calibration:
    """The least noise, greatest rate or greatest number of steps that meets the target.

    ``mechanism`` is a function of one number, or text with one ``?`` in its place. The target is (epsilon, delta),
    epsilon alone (pure), rho (zCDP) or mu (GDP).

    >>> found = calibrate("gaussian(sigma=?)", epsilon=1, delta=1e-5)
    >>> round(found.value, 5)
    3.73063
    """
    make = _maker(mechanism)
    truth_value("integer", integer)
    question, target = _target(epsilon, delta, rho, mu)
    if integer or (isinstance(mechanism, str) and "* ?" in mechanism.replace("*?", "* ?")):
        return _Search(make, question, target, whole=True).run()
    return _Search(make, question, target, whole=False).run()


def _maker(mechanism: Callable[..., Mechanism] | str) -> Maker:
    if isinstance(mechanism, str):
        if mechanism.count("?") != 1:
            raise BadText(
                mechanism,
                max(mechanism.find("?"), 0),
                "must contain exactly one '?'",
                "For example gaussian(sigma=?) * 100.",
            )
        return lambda x: parse(mechanism.replace("?", str(x) if x.denominator == 1 else shortest(x)))
    if not callable(mechanism):
        raise BadParameter("mechanism", mechanism, "must be a function of one number, or text with one '?'")
    from inspect import signature  # slow to load, and only needed here

    try:
        signature(mechanism).bind(0)
    except TypeError:
        raise BadParameter("mechanism", mechanism, "must take exactly one number") from None
    return lambda x: mechanism(int(x) if x.denominator == 1 else x)


def _target(
    epsilon: Number | None, delta: Number | None, rho: Number | None, mu: Number | None
) -> tuple[Callable[[Mechanism], Claim], Fraction]:
    given = [name for name, value in (("epsilon", epsilon), ("rho", rho), ("mu", mu)) if value is not None]
    if len(given) != 1 or (delta is not None and epsilon is None):
        raise BadParameter("epsilon", epsilon, "state one target: epsilon with delta, epsilon alone, rho, or mu")
    if rho is not None:
        return least.zcdp, nonnegative("rho", rho)
    if mu is not None:
        return gaussian_least.gdp, nonnegative("mu", mu)
    d = probability("delta", 0 if delta is None else delta)
    return (lambda m: ask.epsilon(m, d)), nonnegative("epsilon", epsilon if epsilon is not None else 0)


class _Search:
    """Bisection on a logarithmic scale between a value that meets the target and one that does not."""

    def __init__(self, make: Maker, question: Callable[[Mechanism], Claim], target: Fraction, whole: bool) -> None:
        self.make, self.question, self.target, self.whole = make, question, target, whole
        self.claims: dict[Fraction, Claim | None] = {}

    def claim(self, x: Fraction) -> Claim | None:
        """The claim at x, or None where the mechanism does not accept x."""
        if x not in self.claims:
            if len(self.claims) > _MOST_TRIALS:
                raise NotCertified("the calibrated value", f"{_MOST_TRIALS} trials did not close in on it")
            try:
                self.claims[x] = self.question(self.make(x))
            except BadParameter:
                self.claims[x] = None
        return self.claims[x]

    def meets(self, x: Fraction) -> bool:
        """Whether the upper end at x is at most the target."""
        found = self.claim(x)
        return found is not None and Fraction(min(found.upper, 1e308)) <= self.target and found.upper < math.inf

    def run(self) -> Calibration:
        """Find both sides, then close in."""
        good, bad = self.bracket()
        same = 0  # how often in a row the same side moved: interpolation then leans the other way
        while bad is not None and not self.closed(good, bad):
            middle = self.between(good, bad, same)
            if self.meets(middle):
                good, same = middle, max(same, 0) + 1
            else:
                bad, same = middle, min(same, 0) - 1
        return self.result(good, bad)

    def bracket(self) -> tuple[Fraction, Fraction | None]:
        """A value that meets the target, and the nearest seen that does not (None: the domain ends first)."""
        seen = [Fraction(1)] if self.claim(Fraction(1)) is not None else []
        if self.whole and seen and not self.meets(seen[0]):
            raise NotCertified("the calibrated value", "not even one run meets the target")
        for factor in self.ladder():
            for x in self.candidates(factor):
                if self.claim(x) is not None:
                    seen.append(x)
            good = [x for x in seen if self.meets(x)]
            bad = [x for x in seen if not self.meets(x)]
            if good and bad:
                return self.nearest(good, bad)
        good = [x for x in seen if self.meets(x)]
        if good:
            return self.last_allowed(good, seen)
        raise NotCertified("the calibrated value", "no value from 1e-300 to 1e300 meets the target")

    def candidates(self, factor: Fraction) -> tuple[Fraction, ...]:
        """Which way to go from 1: both, until the answers at 1 and 2 show whether more is better."""
        if self.whole:
            return (factor,)
        one, two = self.claim(Fraction(1)), self.claims.get(Fraction(2))
        if one is None or two is None or one.upper == two.upper:
            return (factor, 1 / factor) if factor > 2 or one is None or not math.isfinite(one.upper) else (factor,)
        upwards = (two.upper < one.upper) != self.meets(Fraction(1))
        return (factor,) if upwards else (1 / factor,)

    def ladder(self) -> list[Fraction]:
        """Growing factors around 1."""
        if self.whole:
            return [Fraction(16) ** k for k in range(1, 15)]
        return [Fraction(2) ** k for k in range(1, 12)] + [Fraction(10) ** k for k in (5, 8, 15, 30, 60, 120, 200, 300)]

    @staticmethod
    def nearest(good: list[Fraction], bad: list[Fraction]) -> tuple[Fraction, Fraction]:
        return min(((g, b) for g in good for b in bad), key=lambda p: max(p) / min(p))

    def last_allowed(self, good: list[Fraction], seen: list[Fraction]) -> tuple[Fraction, Fraction | None]:
        """All allowed values meet the target: the boundary is where the parameter itself ends, for rates at 1."""
        top = max(seen)
        if self.claim(top * 2) is None and self.claim(Fraction(1)) is not None and top == 1:
            return Fraction(1), None
        return (max(good) if self.whole else min(good)), None

    def closed(self, good: Fraction, bad: Fraction) -> bool:
        if self.whole:
            return abs(good - bad) <= 1
        return abs(good - bad) <= _RELATIVE * good

    def between(self, good: Fraction, bad: Fraction, same: int) -> Fraction:
        """Where to look next: where the line through both ends (in logarithms) meets the target, and a bit beyond."""
        low, high = sorted((near(good), near(bad)))
        share = self.interpolated(good, bad)
        if share is None or abs(same) > 3:
            x = math.sqrt(low) * math.sqrt(high)
        else:
            x = near(good) ** (1 - share) * near(bad) ** share
            x += math.copysign(0.3 * float(_RELATIVE) * x, (near(bad) - near(good)) * (same or 1))
        if self.whole:
            return min(max(Fraction(round(x)), min(good, bad) + 1), max(good, bad) - 1)
        short = exact("x", f"{x:.10g}")
        return short if min(good, bad) < short < max(good, bad) else (good + bad) / 2

    def interpolated(self, good: Fraction, bad: Fraction) -> float | None:
        """How far from good to bad the target lies, if both answers are finite."""
        first, second = self.claim(good), self.claim(bad)
        if first is None or second is None or not 0 < first.upper < second.upper < math.inf or not self.target:
            return None
        return math.log(near(self.target) / first.upper) / math.log(second.upper / first.upper)

    def result(self, good: Fraction, bad: Fraction | None) -> Calibration:
        claim = self.claim(good)
        assert claim is not None
        beyond = None if bad is None else self.claim(bad)
        slack = 0.0 if bad is None else near(abs(good - bad) / good)
        return Calibration(int(good) if self.whole else near(good), good, claim, slack, beyond)
