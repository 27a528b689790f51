"""The online accountant: steps are counted as they are run, and the cost so far can be asked for at any time."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from threading import Lock
from typing import Any

from tightrope.accounting import ask
from tightrope.accounting.assumptions import FIXED_STEPS
from tightrope.accounting.claim import Claim
from tightrope.accounting.text import parse
from tightrope.errors import BadParameter, BadText, RelationMismatch
from tightrope.mechanisms.base import Mechanism, Relation
from tightrope.mechanisms.composed import Composed, Repeated, composed, repeated
from tightrope.mechanisms.stated import Pure
from tightrope.numerics.exact import Number, exact
from tightrope.numerics.exact import count as whole

Asked = Callable[[Mechanism, Number], Claim]

_MOST_STEPS = 10**18  # as for any repetition
_NOTHING = object()
_KEPT = 100  # answers about the same steps
_HINT = "A state is the text that Accountant.to_json() returned."


class Accountant:
    """Count the steps of a training loop, and ask at any time what they have cost so far.

    ``step`` counts, ``epsilon`` and ``delta`` return Claims, ``to_json`` saves the state. Equal steps are merged, so a
    million of them need no more memory than one.

    >>> from tightrope import Gaussian
    >>> spent = Accountant()
    >>> for _ in range(1000):
    ...     spent.step(Gaussian(sigma=1).poisson(0.01))
    >>> print(f"{spent.epsilon(delta=1e-5):.10f}", len(spent))
    1.8282366666 1000
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._counts: dict[Mechanism, list[int]] = {}  # one number each, in a cell that needs no look-up
        self._steps = 0
        self._relation: Relation | None = None
        self._last: object = _NOTHING  # the object that was counted last, which needs no checks, and its cell
        self._cell = [0]
        self._whole: Mechanism | None = None  # all steps so far as one mechanism, once it was asked for
        self._asked: tuple[Mechanism, dict[tuple[Asked, Fraction], Claim]] | None = None  # what was answered of these

    def step(self, mechanism: Mechanism, count: Number = 1) -> None:
        """Count ``count`` runs of the mechanism. A composition is counted part by part."""
        n = count if type(count) is int and 0 <= count <= _MOST_STEPS else whole("count", count, least=0)
        with self._lock:
            if mechanism is not self._last:
                self._add(ask.checked(mechanism), n)
            elif self._steps + n > _MOST_STEPS:
                raise _too_many(self._steps + n)
            else:
                self._cell[0] += n
                self._steps += n
                self._whole = None

    def _add(self, mechanism: Mechanism, n: int) -> None:
        relation = mechanism.relation
        if None not in (relation, self._relation) and relation != self._relation:
            raise RelationMismatch(str(self._relation), str(relation))
        parts = [(part, times * n) for part, times in _parts(mechanism) if times * n]
        total = self._steps + sum(times for _, times in parts)
        if total > _MOST_STEPS:
            raise _too_many(total)
        for part, times in parts:  # nothing is refused from here on
            self._cell = self._counts.setdefault(part, [0])
            self._cell[0] += times
        self._steps, self._whole = total, None
        if parts:
            self._relation = self._relation or relation
        self._last = mechanism if [part for part, _ in parts] == [mechanism] else _NOTHING

    @property
    def mechanism(self) -> Mechanism:
        """All steps so far, equal ones merged, in the order in which each kind came first."""
        with self._lock:
            if self._whole is None:
                parts = [repeated(part, cell[0]) for part, cell in self._counts.items()]
                self._whole = composed(*parts) if len(parts) > 1 else parts[0] if parts else Pure(0)
            return self._whole

    @property
    def steps(self) -> int:
        """How many mechanisms were run."""
        return self._steps

    def __len__(self) -> int:
        return self._steps

    def __bool__(self) -> bool:
        return True  # an accountant without steps is an accountant

    def __eq__(self, other: object) -> bool:
        """Whether the same was run, equal steps merged, in whatever order. What changes has no hash."""
        return self._run() == other._run() if isinstance(other, Accountant) else NotImplemented

    def _run(self) -> dict[Mechanism, int]:
        with self._lock:
            return {part: cell[0] for part, cell in self._counts.items()}

    def epsilon(self, delta: Number) -> Claim:
        """The least ε at this δ for all steps so far."""
        return self._answer(ask.epsilon, exact("delta", delta))

    def delta(self, epsilon: Number) -> Claim:
        """The least δ at this ε for all steps so far."""
        return self._answer(ask.delta, exact("epsilon", epsilon))

    def _answer(self, question: Asked, at: Fraction) -> Claim:
        """Asked again with no step in between, the same claim."""
        mechanism, asked = self.mechanism, self._asked
        if asked is None or asked[0] is not mechanism:
            asked = self._asked = mechanism, {}
        found = asked[1].get((question, at))
        if found is None:
            found = _fixed(question(mechanism, at))
            if len(asked[1]) >= _KEPT:
                asked[1].clear()
            asked[1][question, at] = found
        return found

    def to_json(self) -> str:
        """The state: every kind of step with its number."""
        with self._lock:
            steps = [[str(part), cell[0]] for part, cell in self._counts.items()]
        return json.dumps({"tightrope": 1, "accountant": steps})

    @classmethod
    def from_json(cls, text: str | dict[str, Any]) -> Accountant:
        """An accountant in the state that ``to_json`` wrote."""
        found = cls()
        for part, n in _stored(text):
            found.step(parse(part), n)
        return found

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return Accountant.from_json, (self.to_json(),)

    def __repr__(self) -> str:
        shown = str(self.mechanism) if self._steps else "nothing"
        return f"<Accountant of {shown if len(shown) <= 80 else shown[:77] + '...'}>"


def _parts(mechanism: Mechanism) -> Iterator[tuple[Mechanism, int]]:
    """The parts that are no compositions, in order, and how often each runs."""
    stack = [(mechanism, 1)]
    while stack:
        part, n = stack.pop()
        if isinstance(part, Composed):
            stack.extend((p, n) for p in reversed(part.parts))
        elif isinstance(part, Repeated):
            stack.append((part.part, n * part.times))
        else:
            yield part, n


def _fixed(claim: Claim) -> Claim:
    """The claim with its assumption: an answer may be looked at, but must not decide how many steps follow."""
    if FIXED_STEPS in claim.assumptions:
        return claim
    return replace(claim, assumptions=(*claim.assumptions, FIXED_STEPS))


def _too_many(total: int) -> BadParameter:
    return BadParameter("count", total, "is more than 10**18 steps in all")


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A dictionary; of a key that stands twice the first would be lost, and its steps with it."""
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a key stands twice")
    return dict(pairs)


def _stored(text: str | dict[str, Any]) -> list[tuple[str, int]]:
    if not isinstance(text, str | dict):
        raise BadParameter("state", text, "must be the text of a state, or its dictionary", _HINT)
    shown = text[:200] if isinstance(text, str) else "a dictionary"
    try:
        data = json.loads(text, object_pairs_hook=_each_once) if isinstance(text, str) else text
        if unknown := set(data) - {"accountant", "tightrope"}:
            raise ValueError(f"it has an unknown key {min(map(str, unknown))!r}")
        listed, version = [(part, n) for part, n in data["accountant"]], data["tightrope"]
    except (LookupError, TypeError, ValueError, RecursionError) as wrong:
        raise BadText(shown, 0, f"not the state of an accountant ({wrong})", _HINT) from None
    if type(version) is not int or version != 1:
        raise BadText(shown, 0, "the state of an unknown version", _HINT)
    if not all(isinstance(part, str) and type(n) is int for part, n in listed):
        raise BadText(shown, 0, "each step must be a text with a whole number", _HINT)
    return listed
