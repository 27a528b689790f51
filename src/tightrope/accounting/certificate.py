"""Certificates: a claim as JSON, read back and proved again without any search."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, product
from typing import Any

from tightrope.accounting import ask, gaussian_least, least, tradeoff
from tightrope.accounting.assumptions import assumptions
from tightrope.accounting.attained import within
from tightrope.accounting.claim import Claim, Question, far_apart
from tightrope.accounting.facts import fact
from tightrope.accounting.lower_laws import MOST_LAWS, lower_losses
from tightrope.accounting.routes import Route, route_named
from tightrope.accounting.text import parse
from tightrope.curves.composed_loss import loss_has_profile
from tightrope.curves.ladders import loss_dominates_fewer_kinds
from tightrope.curves.loss import Loss
from tightrope.curves.profile import Profile, Witness
from tightrope.errors import BadParameter, BadText, NotCertified, TightropeError
from tightrope.mechanisms.base import Mechanism
from tightrope.numerics import effort
from tightrope.numerics.balls import ball, precision
from tightrope.numerics.bound import Bound
from tightrope.theorems import REGISTRY, Step

# What a witness from a stranger may cause: it can be anything.
_NO_WITNESS = (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError, NotCertified)
_WORK = 2.9e6  # units of work for a witness: no proof that is found takes as many
_SEARCHES = 2.5e5, 2.4e6  # for a lower end that is not in the witness, by each law: first, and then as a question has
_ALL, _FEW, _FIRST = 1e7, 12, 3  # of it for all laws; so many are few; and of many the first
_HINT = "A certificate is the text that Claim.to_json() returned; if it is in a file, give what the file holds."
_ASKS = ("epsilon", "delta", "renyi", "tradeoff", "advantage", "pure", "zcdp", "tcdp", "gdp")


@dataclass(frozen=True)
class Check:
    """The answer of ``check``: ``if outcome:`` is true exactly when everything was proved.

    ``claim`` is what the certificate states, ``problems`` what was not proved of it.
    """

    claim: Claim
    holds: bool
    problems: tuple[str, ...]

    def __bool__(self) -> bool:
        return self.holds

    def __str__(self) -> str:
        return f"holds: {self.claim}" if self.holds else "does not hold: " + "; ".join(self.problems)


def read(text: str | dict[str, Any]) -> Claim:
    """The claim that a certificate states. Reading is not proving."""
    data = _loaded(text)
    try:
        question = dict(data["question"])
        asked = Question(str(question.pop("ask")), tuple((k, str(v)) for k, v in question.items()))
        if data["tightrope"] != 1 or asked.ask not in _ASKS:
            raise BadText(str(text)[:200], 0, "a certificate of an unknown kind", _HINT)
        witness = {k: _value(v) for k, v in data["witness"].items()}
        computed = data.get("computed", [data["lower"], data["upper"]])
        return Claim(
            asked,
            parse(data["mechanism"]),
            _bound(data["lower"], data["upper"]),
            _bound(*computed),
            str(witness.pop("route", "none")),
            "equal" if data["tight"] is True else "upper",
            str(data["relation"]),
            tuple(data["assumptions"]),
            _steps(data["proof"]),
            witness,
        )
    except (LookupError, TypeError, ValueError, AttributeError, AssertionError, ArithmeticError) as wrong:
        if isinstance(wrong, TightropeError):
            raise
        raise BadText(str(text)[:200], 0, f"not a certificate ({_why(wrong)})", _HINT) from None


def _why(wrong: Exception) -> str:
    return f"{wrong} is missing" if isinstance(wrong, KeyError) else f"{type(wrong).__name__}: {wrong}"


def _loaded(text: str | dict[str, Any]) -> dict[str, Any]:
    if isinstance(text, dict):
        return text
    if not isinstance(text, str):
        raise BadParameter("certificate", text, "must be the text of a certificate, or its dictionary", _HINT)
    try:
        data = json.loads(text)
    except (TypeError, ValueError, RecursionError) as wrong:
        raise BadText(text[:200], 0, f"not JSON ({wrong})", _HINT) from None
    if not isinstance(data, dict):
        raise BadText(str(text)[:200], 0, "not a certificate", _HINT)
    return data


def _bound(lower: Any, upper: Any) -> Bound:
    if isinstance(lower, bool) or isinstance(upper, bool):
        raise TypeError("a bound must be two numbers")
    return Bound(float(lower), float(upper))


def _steps(lines: list[dict[str, Any]]) -> tuple[Step, ...]:
    for line in lines:
        known = REGISTRY.get(line["theorem"])
        if known is None:
            raise BadText(str(line["theorem"]), 0, "an unknown theorem", "It may come from a newer version.")
        if (line["kind"], line["source"]) != (known.kind, str(known.source)):
            raise BadText(str(line), 0, "not what this theorem says of itself", "It may come from another version.")
    return tuple(Step(str(line["theorem"]), str(line["of"]), int(line["count"])) for line in lines)


def _value(v: Any) -> Any:
    if isinstance(v, str) and "/" in v:
        return Fraction(v)
    if isinstance(v, list):
        return [_value(x) for x in v]
    if isinstance(v, dict):
        return {k: _value(x) for k, x in v.items()}
    return v


def check(certificate: str | dict[str, Any] | Claim) -> Check:
    """Prove a certificate again, without any search: the text that ``claim.to_json()`` returned, its dictionary, or a
    claim.

    Returns a Check, which is true in a condition exactly when everything was proved; ``.problems`` says what was not.

    >>> from tightrope import Gaussian, epsilon
    >>> bool(check(epsilon(Gaussian(sigma=1), delta=1e-5).to_json()))
    True
    """
    stated = certificate if isinstance(certificate, Claim) else read(certificate)
    problems = list(_problems(stated))
    return Check(stated, not problems, tuple(problems))


def _problems(stated: Claim) -> list[str]:
    m, question = stated.mechanism, stated.question
    found = []
    if stated.relation != (m.relation or "as stated"):
        found.append(f"the relation is {m.relation or 'as stated'!r}, not {stated.relation!r}")
    if stated.kind == "equal" and far_apart(stated.bound):
        found.append("it is called tight, but its ends are far apart: one of them was altered")
    dropped = [told for told in assumptions(m) if told not in stated.assumptions]
    if dropped:
        found.append(f"it leaves out an assumption: {dropped[0]}")
    route = route_named(m, stated.route)
    try:
        with effort.allowed(_WORK):
            if question.ask == "epsilon" and route is not None and 0 < question.number("delta") < 1:
                return found + _epsilon(stated, route, question.number("delta"))
            if question.ask == "delta" and route is not None:
                return found + _delta(stated, route, question.number("epsilon"))
        return found + _again(stated)
    except _NO_WITNESS as wrong:
        return [*found, f"the witness proves nothing ({type(wrong).__name__}: {wrong})"]


def _epsilon(stated: Claim, route: Route, delta: Fraction) -> list[str]:
    found, profile = [], route.build()
    if math.isfinite(stated.upper) and not _at_most(profile, Fraction(stated.upper), stated.witness, delta):
        found.append(f"δ at ε = {stated.upper!r} was not proved to be at most {float(delta)!r}")
    if stated.lower > 0 and not _exceeds(stated, route, profile, _finite(stated.lower), delta):
        found.append(f"δ at ε = {stated.lower!r} was not proved to exceed {float(delta)!r}")
    return found + _honest(stated, route)


def _delta(stated: Claim, route: Route, epsilon: Fraction) -> list[str]:
    found, profile = [], route.build()
    if stated.upper < 1 and not _at_most(profile, epsilon, stated.witness, Fraction(stated.upper)):
        found.append(f"δ was not proved to be at most {stated.upper!r}")
    if stated.lower > 0 and not _exceeds(stated, route, profile, epsilon, Fraction(stated.lower), strict=False):
        found.append(f"δ was not proved to be at least {stated.lower!r}")
    return found + _honest(stated, route)


def _exceeds(
    stated: Claim, route: Route, profile: Profile, epsilon: Fraction, target: Fraction, strict: bool = True
) -> bool:
    """Whether δ at ε is proved to exceed the target: at the witness where the route is an equality, or by some
    mechanism that fits the description."""
    if route.kind == "equal":
        try:
            if _above(profile, epsilon, stated.witness, target, strict):
                return True
        except _NO_WITNESS:
            pass  # a witness of the upper end only: the other proofs are tried
    with effort.paid(), effort.allowed(_ALL):
        for most, law in _tries(_attained(stated.mechanism, route)):
            with suppress(NotCertified), effort.allowed(most):
                other, last = loss_has_profile(law), strict and most == _SEARCHES[-1]
                try:
                    witness = other.find(epsilon)
                except NotCertified:
                    if not last:
                        raise
                    witness = None
                seen = witness is not None and _above(other, epsilon, witness, target, strict)
                if seen or (last and _undecided(other, epsilon, witness, target)):
                    return True
    return False


def _undecided(profile: Profile, epsilon: Fraction, witness: Witness | None, target: Fraction) -> bool:
    """Whether a proof at ε does not tell, or none was found, but one at the least ε for the target does: beside an atom
    that is closer."""
    if witness is not None:
        value = profile.prove(epsilon, witness)
        with precision(256):
            if value < ball(target):
                return False
    with effort.paid(), effort.allowed(_SEARCHES[-1]):  # as much as the question itself had
        return profile.epsilon(target)[0].lower >= epsilon


def _honest(stated: Claim, route: Route) -> list[str]:
    found = []
    if stated.kind == "equal" and route.kind != "equal":
        found.append("it is called tight, but its route only overstates")
    return found + _same_proof(stated, route.steps)


def _same_proof(stated: Claim, steps: tuple[Step, ...]) -> list[str]:
    """The theorems listed are those of the route, applied to the same parts as often."""
    listed = [[(s.theorem, s.of, s.count) for s in proof] for proof in (stated.proof, steps)]
    return [] if listed[0] == listed[1] else ["the theorems listed are not the proof"]


def _finite(x: float) -> Fraction:
    return Fraction(min(x, 1.7976931348623157e308))


def _tries(laws: list[Loss]) -> Iterator[tuple[float, Loss]]:
    """Laws, with the work that each may take; of many the first, which a search ends with, mostly."""
    few: list[Loss] = []
    many: list[Loss] = []
    for law in laws:  # of very many kinds one of fewer follows, which is mostly the one that was found
        (few if loss_dominates_fewer_kinds(law) is None else many).append(law)
    first = len(few) if len(few) <= _FEW else _FIRST
    for some in (few[:first], many, few[first:]):
        yield from product(_SEARCHES, some)


def _attained(m: Mechanism, route: Route) -> list[Loss]:
    """Laws that some mechanism fitting the description really has; last the one that the witness was about."""
    laws = [law for law, _ in islice(lower_losses(m), MOST_LAWS)]
    exact, known = route_named(m, "exact"), fact(m, Loss)
    if exact is not None and exact.kind == "equal" and known is not None:
        whole = [law for law in laws if not (within(law, known.curve) and within(known.curve, law))]
        laws = [*whole, known.curve] if route.kind == "equal" else [known.curve, *whole]
    return laws


def _at_most(profile: Profile, epsilon: Fraction, witness: Witness, target: Fraction) -> bool:
    return profile.meets(epsilon, target, witness)


def _above(profile: Profile, epsilon: Fraction, witness: Witness, target: Fraction, strict: bool) -> bool:
    if strict:
        return profile.needs(epsilon, target, witness)
    value = profile.prove(epsilon, witness)
    with precision(256):
        return bool(value >= ball(target))


def _again(stated: Claim) -> list[str]:
    """Answers by formula: evaluate the formula again; a certificate may be wider, never narrower."""
    q = dict(stated.question.given)
    m = stated.mechanism
    answers = {
        "epsilon": lambda: ask.epsilon(m, q["delta"]),
        "delta": lambda: ask.delta(m, q["epsilon"]),
        "advantage": lambda: ask.advantage(m),
        "renyi": lambda: least.renyi(m, q["order"]),
        "pure": lambda: least.pure(m),
        "zcdp": lambda: least.zcdp(m),
        "tcdp": lambda: least.tcdp(m, q["omega"]),
        "gdp": lambda: gaussian_least.gdp(m),
        "tradeoff": lambda: tradeoff.tradeoff(m, q["fpr"]),
    }
    mine = answers[stated.question.ask]()
    found = []
    if stated.upper < mine.upper:
        found.append(f"the upper end is {mine.upper!r}, not {stated.upper!r}")
    if stated.lower > mine.lower:
        found.append(f"the lower end is {mine.lower!r}, not {stated.lower!r}")
    if stated.kind == "equal" and not mine.tight:
        found.append("it is called tight, but its route only overstates")
    return found + _same_proof(stated, mine.proof)
