"""The best of several candidates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tightrope.errors import BadParameter
from tightrope.mechanisms.base import Mechanism, Relation
from tightrope.mechanisms.selection import Exponential, NoisyMax, PermuteAndFlip
from tightrope.noise.recorder import source_name
from tightrope.numerics.exact import Number
from tightrope.queries.budgets import budget, neighbours
from tightrope.queries.release import Release

KINDS = {"permute_and_flip": PermuteAndFlip, "exponential": Exponential, "noisy_max": NoisyMax}


def argmax(
    scores: Any,
    *,
    candidates: Sequence[Any] | None = None,
    sensitivity: Number = 1,
    monotone: bool = False,
    method: str = "permute_and_flip",
    epsilon: Number | None = None,
    mechanism: Mechanism | None = None,
    relation: Relation = "add-remove",
) -> Release:
    """Release the candidate with about the highest score; ``scores`` is a list, or a mapping {candidate: score}.

    One record changes every score by at most ``sensitivity``. ``monotone=True`` says that it moves all of them the same
    way, as it does counts. ``method`` is "permute_and_flip", "exponential" or "noisy_max". State ``epsilon`` or a
    ``mechanism``. Returns a Release: ``.value`` is a candidate; for a list, one of ``candidates`` or its position.

    >>> argmax({"tea": 10, "coffee": 5000}, epsilon=1).value
    'coffee'
    """
    neighbours(relation)
    spent = budget(epsilon, None, None, mechanism)
    if not isinstance(method, str) or method not in KINDS:
        raise BadParameter("method", method, f"must be one of {', '.join(KINDS)}")
    m = spent.mechanism or KINDS[method](spent.epsilon or 0, monotone)
    if not isinstance(m, Exponential | NoisyMax | PermuteAndFlip):
        raise BadParameter("mechanism", m, "does not choose among scores", f"Use {', '.join(KINDS)}.")
    source = source_name()
    chosen = m.release(scores, sensitivity=sensitivity, candidates=candidates)
    return Release(chosen, m, relation, None, source)
