"""What a claim takes for granted: read off the mechanism, said out loud."""

from __future__ import annotations

from tightrope.mechanisms.base import Mechanism, inside
from tightrope.mechanisms.composed import Composed, Parallel, Repeated
from tightrope.mechanisms.sampled import Poisson, WithoutReplacement
from tightrope.mechanisms.stated import Stated


def assumptions(m: Mechanism) -> tuple[str, ...]:
    """The assumptions under which a claim about ``m`` holds."""
    found = [
        "the noise has exactly the stated law (not a floating-point imitation)",
        "one record changes the query by no more than its stated sensitivity",
    ]
    if inside(m, Stated):
        found.append("each stated guarantee is true of what was run")
    if inside(m, Repeated) or inside(m, Composed):
        found.append("steps and their number fixed in advance")
    if inside(m, Poisson):
        found.append(
            "every batch takes each record independently with the stated chance; shuffled or fixed-size batches do not"
        )
    if inside(m, WithoutReplacement):
        found.append("every batch is drawn uniformly among all batches of its size, independently of the other batches")
    if inside(m, Parallel):
        found.append("which block a record falls into depends on that record alone")
    return tuple(found)
