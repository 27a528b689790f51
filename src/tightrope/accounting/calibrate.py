"""Calibrate: the boundary value of one parameter at which a target is still met, certified."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from tightrope.accounting import ask, gaussian_least, least
from tightrope.accounting.calibrate_search import boundary
from tightrope.accounting.calibrate_trials import Maker, Trials
from tightrope.accounting.claim import Claim
from tightrope.accounting.solve import Estimates, least_epsilon
from tightrope.accounting.text import parse
from tightrope.errors import BadParameter, BadText
from tightrope.mechanisms.base import Mechanism, truth_value
from tightrope.numerics.effort import allowed
from tightrope.numerics.exact import Number, near, nonnegative, probability, shortest

_WORK = 3.0e6  # units of work, for all trials together: two claims at least, and what leads to them

Rough = Callable[[Mechanism], float | None]
Question = tuple[Callable[[Mechanism, Claim | None], Claim], Rough, Rough, Fraction]


@dataclass(frozen=True)
class Calibration:
    """The answer of ``calibrate`` and ``steps``: ``value`` meets the target, and ``claim`` proves it.

    ``exact`` is the same value as a fraction. A value better by ``slack`` (relatively) does not meet the target, or was
    not proved to; ``beyond`` is the claim there.
    """

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
    """Find the value of one parameter that just meets a target: the least noise, the greatest rate, the most steps.

    ``mechanism`` is a function of one number, or text with one ``?`` in the number's place. The target is ``epsilon``
    with ``delta``, ``epsilon`` alone (pure DP), ``rho`` (zCDP) or ``mu`` (GDP). ``integer=True`` asks for a whole
    number; parameters that take only whole numbers are recognised.

    Returns a Calibration: ``.value``, ``.claim`` (the proof that the value meets the target), ``.slack`` (its relative
    distance from a value that does not).

    >>> found = calibrate("gaussian(sigma=?)", epsilon=1, delta=1e-5)
    >>> round(found.value, 5)
    3.73063
    """
    make = _maker(mechanism)
    truth_value("integer", integer)
    trials = Trials(make, *_target(epsilon, delta, rho, mu))
    repeats = isinstance(mechanism, str) and "* ?" in mechanism.replace("*?", "* ?")
    trials.whole = integer or repeats
    with allowed(_WORK):
        good, bad = boundary(trials)
        claims = trials.claim(good), None if bad is None else trials.claim(bad)
    slack = 0.0 if bad is None else near(abs(good - bad) / good)
    return Calibration(int(good) if trials.whole else near(good), good, claims[0], slack, claims[1])


def steps(
    mechanism: Mechanism,
    *,
    epsilon: Number | None = None,
    delta: Number | None = None,
    rho: Number | None = None,
    mu: Number | None = None,
) -> Calibration:
    """Find how many times the mechanism can run within a budget: ``epsilon`` with ``delta``, ``rho`` or ``mu``.

    Returns a Calibration: ``.value`` is the number of runs, ``.claim`` their cost, ``.beyond`` that of one run more.

    >>> from tightrope import Gaussian
    >>> steps(Gaussian(sigma=20), epsilon=1, delta=1e-5).value
    28
    """
    step = ask.checked(mechanism)
    return calibrate(lambda n: step * n, epsilon=epsilon, delta=delta, rho=rho, mu=mu, integer=True)


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


def _target(epsilon: Number | None, delta: Number | None, rho: Number | None, mu: Number | None) -> Question:
    """How a cost is certified, how its upper end alone is, how it is estimated, and what it may be."""
    given = [name for name, value in (("epsilon", epsilon), ("rho", rho), ("mu", mu)) if value is not None]
    if len(given) != 1 or (delta is not None and epsilon is None):
        raise BadParameter("epsilon", epsilon, "state one target: epsilon with delta, epsilon alone, rho, or mu")
    if rho is not None:
        return (lambda m, _: least.zcdp(m)), _unknown, _unknown, nonnegative("rho", rho)
    if mu is not None:
        return (lambda m, _: gaussian_least.gdp(m)), _unknown, _unknown, nonnegative("mu", mu)
    d = probability("delta", 0 if delta is None else delta)
    target = nonnegative("epsilon", epsilon if epsilon is not None else 0)

    def upper(m: Mechanism) -> float | None:
        return least_epsilon(m, d) if 0 < d < 1 and not ask.blocks(m) else None

    def certified(m: Mechanism, other: Claim | None) -> Claim:
        return ask.epsilon(m, d) if other is None else ask.epsilon_beside(m, d, other)

    return certified, upper, Estimates(d), target


def _unknown(_: Mechanism) -> None:
    """Nothing quicker: for these, certified costs are quick."""
