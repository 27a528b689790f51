"""Which mechanisms run, and what the others say when asked to."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any

from tightrope.errors import BadParameter, Unsupported
from tightrope.mechanisms.above_threshold import AboveThreshold
from tightrope.mechanisms.base import Mechanism
from tightrope.mechanisms.composed import Composed, Grouped, Parallel, Repeated
from tightrope.mechanisms.discrete_gaussian import DiscreteGaussian
from tightrope.mechanisms.discrete_laplace import DiscreteLaplace
from tightrope.mechanisms.gaussian import Gaussian
from tightrope.mechanisms.laplace import Laplace
from tightrope.mechanisms.pair import GaussianPair
from tightrope.mechanisms.response import LeakyInput, LeakyRandomizedResponse, RandomizedResponse
from tightrope.mechanisms.running import additive, choices, real
from tightrope.mechanisms.selection import Exponential, NoisyMax, PermuteAndFlip
from tightrope.mechanisms.staircase import Staircase
from tightrope.mechanisms.stated import Stated
from tightrope.mechanisms.table import Table

RUNS: dict[type[Mechanism], Callable[..., Any]] = {
    Gaussian: additive.released_gaussian,
    Laplace: additive.released_laplace,
    DiscreteGaussian: additive.released_discrete_gaussian,
    DiscreteLaplace: additive.released_discrete_laplace,
    Staircase: real.released_staircase,
    GaussianPair: real.released_pair,
    RandomizedResponse: choices.released_response,
    LeakyInput: choices.released_leak,
    LeakyRandomizedResponse: choices.released_leaky_response,
    Table: choices.released_table,
    Exponential: choices.released_selection,
    NoisyMax: choices.released_selection,
    PermuteAndFlip: choices.released_selection,
    AboveThreshold: choices.released_above,
}


def released(m: Mechanism, values: Any, options: dict[str, Any]) -> Any:
    """The mechanism run on ``values``, or a refusal that says what can be run instead."""
    if isinstance(m, Grouped):  # what is run is the same; only who is protected differs
        return released(m.part, values, options)
    run = RUNS.get(type(m))
    if run is None:
        raise _refusal(m)
    known = list(signature(run).parameters)[2:]
    unknown = [name for name in options if name not in known]
    if unknown:
        hint = f"It takes {', '.join(known)}." if known else "It takes none."
        raise BadParameter(unknown[0], options[unknown[0]], f"is no option of {type(m).__name__}.release", hint)
    return run(m, values, **options)


def _refusal(m: Mechanism) -> Unsupported:
    if isinstance(m, Stated):
        why = "it states a guarantee, and many mechanisms satisfy it"
        return Unsupported(f"running {m}", why, "Run the mechanism that has the guarantee, for example Gaussian.")
    if isinstance(m, Repeated | Composed | Parallel):
        why = "its parts may answer different queries, and each may depend on earlier answers"
        return Unsupported(f"running {m}", why, "Run the parts one by one: part.release(value).")
    why = "records are sampled or shuffled first, and the value of a query no longer shows them"
    return Unsupported(f"running {m}", why, "Draw the batch or the order by chance, compute on it, and run the part.")
