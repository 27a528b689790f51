"""Categories and choices: randomized response, tables, selection by score, the sparse vector technique."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from tightrope.errors import BadParameter, Unsupported
from tightrope.mechanisms.above_threshold import AboveThreshold
from tightrope.mechanisms.response import LeakyInput, LeakyRandomizedResponse, RandomizedResponse
from tightrope.mechanisms.running.categories import listed, placed, places
from tightrope.mechanisms.running.values import read
from tightrope.mechanisms.selection import Exponential, NoisyMax, PermuteAndFlip
from tightrope.mechanisms.table import Table
from tightrope.noise import selection
from tightrope.noise.laws import Coin, Law, Rational
from tightrope.noise.recorder import drawing
from tightrope.noise.response import responses
from tightrope.noise.table import sampler
from tightrope.noise.uniform import coin
from tightrope.numerics.exact import Number, positive

Selection = Exponential | NoisyMax | PermuteAndFlip


def released_response(m: RandomizedResponse, values: Any, categories: Sequence[Any] | None = None) -> Any:
    """Each answer kept with chance p, otherwise replaced by one of the others. Each is one person's own release."""
    law: Law = Rational((1 - m.p, m.p)) if m.p is not None else Coin(m.epsilon or Fraction(0), m.k - 1)
    if categories is not None:
        return _among(m, law, values, categories)
    array = np.asarray(values)
    if array.dtype.kind not in "biu" or (array.dtype.kind == "b" and m.k != 2):
        hint = "Give truth values (k = 2), whole numbers from 0 to k − 1, or categories=[…]."
        raise BadParameter("values", "…", f"must be categories, not {array.dtype.name}", hint)
    if array.size and not (int(array.min()) >= 0 and int(array.max()) < m.k):
        raise BadParameter("values", "…", f"must lie between 0 and {m.k - 1}")
    source = drawing(str(m), array.size, array)
    given = responses(source, law, array.reshape(-1).astype(np.int64), m.k).reshape(array.shape)
    typed = given.astype(bool) if array.dtype.kind == "b" else given
    return typed if array.shape or isinstance(values, np.ndarray) else typed.item()


def _among(m: RandomizedResponse, law: Law, values: Any, categories: Any) -> Any:
    among = places("categories", categories)
    if len(among) != m.k:
        raise BadParameter("categories", categories, f"must be {m.k} different categories")
    many = isinstance(values, list | np.ndarray)
    found = placed("values", listed("values", values) if many else [values], among)
    if None in found:
        raise BadParameter("values", "…", "must all be among the categories", "Give a list for several people.")
    numbers = np.array(found, np.int64)
    given = responses(drawing(str(m), len(numbers), numbers), law, numbers, m.k)
    names = list(among)
    named = [names[i] for i in given]
    return named if many else named[0]


def released_table(m: Table, values: Any) -> int:
    """The number of an outcome, by row p if the record is there (True), by row q if not."""
    row = m.p if _present(values) else m.q
    return int(sampler(Rational(row)).draw(drawing(str(m), 1, values), 1)[0])


def _present(values: Any) -> bool:
    if not isinstance(values, bool | np.bool_):
        raise BadParameter("values", values, "must be True (with the record) or False (without)")
    return bool(values)


def released_leak(m: LeakyInput, values: Any) -> Any:
    """The input with chance δ, otherwise None."""
    return values if coin(drawing(str(m), 1, values), m.delta) else None


def released_leaky_response(m: LeakyRandomizedResponse, values: Any) -> tuple[bool, bool]:
    """(answer, leaked): the input itself with chance δ, otherwise randomized response."""
    truth, source = _present(values), drawing(str(m), 1, values)
    if coin(source, m.delta):
        return truth, True
    kept = int(sampler(Coin(m.epsilon, 1)).draw(source, 1)[0])
    return (truth if kept else not truth), False


def released_selection(
    m: Selection, values: Any, sensitivity: Number = 1, candidates: Sequence[Any] | None = None
) -> Any:
    """The candidate chosen, by scores that one record moves by at most ``sensitivity``; its number without names."""
    if isinstance(values, Mapping):
        candidates, values = list(values.keys()), list(values.values())
    scores = exact_scores(values)
    named = None if candidates is None else listed("candidates", candidates)
    if named is not None and len(named) != len(scores):
        raise BadParameter("candidates", candidates, f"must be as many as there are scores ({len(scores)})")
    rate = m.epsilon / (positive("sensitivity", sensitivity) * (1 if m.monotone else 2))
    source = drawing(f"{m}, sensitivity {sensitivity}", len(scores), scores)
    if rate == 0 or len(scores) == 1:
        chosen = selection.any_of(source, len(scores))
    elif isinstance(m, Exponential):
        chosen = selection.exponential(source, scores, rate)
    elif isinstance(m, NoisyMax):
        chosen = selection.noisy_max(source, scores, 1 / rate)
    else:
        chosen = selection.permute_and_flip(source, scores, rate)
    return chosen if named is None else named[chosen]


def exact_scores(values: Any) -> list[Fraction]:
    """Scores of any size as exact numbers."""
    found = read(values, "scores")
    if found.shape is None or len(found.shape) != 1 or len(found.flat) == 0:
        raise BadParameter("scores", values, "must be a list of at least one score")
    return [Fraction(x) for x in found.flat.tolist()]


def released_above(
    m: AboveThreshold, values: Iterable[Any], threshold: Number | None = None, sensitivity: Number = 1
) -> list[bool]:
    """For each answer in turn whether it is above the threshold with noise, until ``count`` are."""
    if threshold is None:
        raise BadParameter("threshold", threshold, "must be given", "m.release(answers, threshold=100)")
    if 0 in (m.epsilon_threshold, m.epsilon_queries):
        raise Unsupported(f"running {m}", "noise without an ε is infinite", "Give both parts a positive ε.")
    width = positive("sensitivity", sensitivity)
    queries = width * m.count * (1 if m.monotone else 2) / m.epsilon_queries
    limit = exact_scores([threshold])[0]
    flat = not isinstance(values, np.ndarray) or values.ndim == 1
    if not isinstance(values, Iterable) or isinstance(values, str | bytes | Mapping) or not flat:
        raise BadParameter("values", "…", "must be a list of answers, or any other series of them")
    answers = (exact_scores([v])[0] for v in values)
    source = drawing(f"{m}, sensitivity {sensitivity}", 1, threshold)
    return selection.above_threshold(source, answers, limit, (width / m.epsilon_threshold, queries), m.count)
