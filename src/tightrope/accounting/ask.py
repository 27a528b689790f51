"""The questions: ε, δ, and the least parameter of every notion. Each answer is a Claim."""

from __future__ import annotations

import math
from fractions import Fraction

from tightrope.accounting.assumptions import assumptions
from tightrope.accounting.attained import largest_attained
from tightrope.accounting.claim import Claim, Question, far_apart
from tightrope.accounting.facts import fact
from tightrope.accounting.known import Fact
from tightrope.accounting.solve import Answer, best_delta, best_epsilon
from tightrope.accounting.solve import epsilon_beside as solve_beside
from tightrope.curves.loss import Loss
from tightrope.curves.pure import Pure
from tightrope.errors import BadParameter
from tightrope.mechanisms.base import Mechanism
from tightrope.mechanisms.composed import Parallel
from tightrope.numerics.balls import sharp
from tightrope.numerics.bound import Bound
from tightrope.numerics.exact import Number, nonnegative, probability, shortest
from tightrope.numerics.real import Real, largest, total
from tightrope.theorems import Kind, Step

_ENDLESS = "What remains of δ however large ε is, is approached from above: ask at a large ε, such as 1e9."
ZERO_BOUND = Bound(0.0, 0.0)


def checked(mechanism: object) -> Mechanism:
    """The mechanism, or an error that says what to give instead."""
    if isinstance(mechanism, str):
        raise BadParameter("mechanism", mechanism, "must be a mechanism, not text", "Read text with tr.parse(...).")
    if not isinstance(mechanism, Mechanism):
        raise BadParameter("mechanism", mechanism, "must be a mechanism", "For example tr.Gaussian(sigma=1).")
    return mechanism


def claim(m: Mechanism, question: Question, answer: Answer) -> Claim:
    """An answer as a claim about ``m``. One whose ends are far apart is no equality to whoever reads it."""
    return Claim(
        question,
        m,
        answer.bound,
        answer.computed,
        answer.route,
        "upper" if far_apart(answer.bound) else answer.kind,
        m.relation or "as stated",
        assumptions(m),
        tuple(step.written() for step in answer.steps),
        answer.witness,
    )


def epsilon(mechanism: Mechanism, delta: Number) -> Claim:
    """Find the least ε for which the mechanism is (ε, δ)-DP, at a ``delta`` in [0, 1].

    Returns a Claim: ``claim.upper`` is safe to publish, ``claim.lower`` is never above the truth, and
    ``claim.explain()`` is the proof. ``delta=0`` asks for pure DP; ε is ∞ where there is none.

    >>> from tightrope import Gaussian
    >>> print(f"{epsilon(Gaussian(sigma=1), delta=1e-5):.12f}")
    4.377178095682
    """
    m = checked(mechanism)
    d = probability("delta", delta, "Usual values lie well below 1 / number of records.")
    question = Question("epsilon", (("delta", shortest(d)),))
    if d == 1:
        return claim(m, question, Answer(ZERO_BOUND, ZERO_BOUND, "trivial", "equal", (), {}))
    if blocks(m):
        return worst_block(m, question, [epsilon(block, d) for block in blocks(m)])
    if d == 0:
        return claim(m, question, pure_answer(m))
    return claim(m, question, best_epsilon(m, d))


def epsilon_beside(m: Mechanism, d: Fraction, other: Claim) -> Claim:
    """The same, of a mechanism that hardly differs from another whose claim is known: on its contour, if that does."""
    found = None if blocks(m) else solve_beside(m, d, other.route, other.witness, other.upper)
    return epsilon(m, d) if found is None else claim(m, other.question, found)


def delta(mechanism: Mechanism, epsilon: Number) -> Claim:
    """Find the least δ for which the mechanism is (ε, δ)-DP, at a finite ``epsilon`` ≥ 0.

    Returns a Claim; ``claim.upper`` is safe to publish.

    >>> from tightrope import Laplace
    >>> delta(Laplace(scale=1), epsilon=1).upper
    0.0
    """
    m = checked(mechanism)
    endless = isinstance(epsilon, float | str) and epsilon in (math.inf, "inf")
    e = nonnegative("epsilon", epsilon, _ENDLESS if endless else "")
    question = Question("delta", (("epsilon", shortest(e)),))
    if blocks(m):
        return worst_block(m, question, [_delta(block, e) for block in blocks(m)])
    return claim(m, question, best_delta(m, e))


_delta = delta  # ``epsilon`` has a parameter of the other's name, and so has ``delta``


def advantage(mechanism: Mechanism) -> Claim:
    """Find the largest difference between an attacker's true-positive and false-positive rates.

    Returns a Claim about a number in [0, 1]: the total variation distance, which is δ at ε = 0.

    >>> from tightrope import RandomizedResponse
    >>> round(advantage(RandomizedResponse(p=0.75)).upper, 12)
    0.5
    """
    found = delta(mechanism, 0)
    return Claim(Question("advantage"), *(getattr(found, name) for name in list(Claim.__dataclass_fields__)[1:]))


def blocks(m: Mechanism) -> tuple[Mechanism, ...]:
    """The different blocks of a parallel composition under add-remove; none for anything else."""
    return tuple(dict.fromkeys(m.blocks)) if isinstance(m, Parallel) and m.relation == "add-remove" else ()


def worst_block(m: Mechanism, question: Question, claims: list[Claim]) -> Claim:
    """On disjoint blocks one record added or removed costs exactly what the worst block costs."""
    worst = max(claims, key=lambda c: c.upper)
    bound = Bound(max(c.lower for c in claims), worst.upper)
    kind: Kind = "equal" if all(c.tight for c in claims) else "upper"
    steps = (*worst.proof, Step("renyi_in_parallel", str(m)))
    return claim(m, question, Answer(bound, worst.computed, "parallel", kind, steps, {}))


def pure_answer(m: Mechanism) -> Answer:
    """D_∞: exactly the sum of the largest losses where the law is known, else the sum of the pure guarantees."""
    law = fact(m, Loss)
    if law is not None and law.kind == "equal":
        top = largest([total(parts) for parts in law.curve.largest()])
        return _number_answer(top, "equal", law, "exact")
    known = fact(m, Pure)
    if known is not None and known.kind == "equal":
        return _number_answer(known.curve.epsilon, known.kind, known, "basic")
    low, steps = largest_attained(m)
    if known is None:
        bound = Bound(low, math.inf)
        return Answer(bound, bound, "basic", "equal" if low == math.inf else "upper", steps, {})
    return _number_answer(known.curve.epsilon, known.kind, known, "basic", low)


def _number_answer(value: Real, kind: Kind, known: Fact, route: str, low: float = 0.0) -> Answer:
    computed = enclosed(value)
    bound = computed if kind == "equal" else Bound(min(low, computed.upper), computed.upper)
    return Answer(bound, computed, route, kind, known.steps, {})


def enclosed(value: Real) -> Bound:
    """A non-negative real number as a bound; exact when it is a float."""
    if value.infinite:
        return Bound(math.inf, math.inf)
    if value.rational is not None:
        return Bound.rational(max(value.rational, Fraction(0)))
    return Bound.around(sharp(value.ball, bits=60), least=0.0)


def positive_delta(value: Number) -> Fraction:
    """A δ strictly between 0 and 1."""
    d = probability("delta", value)
    if d in (0, 1):
        raise BadParameter("delta", value, "must lie strictly between 0 and 1")
    return d
