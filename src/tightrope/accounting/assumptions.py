"""What a claim takes for granted: read off the mechanism, said out loud."""

from __future__ import annotations

from tightrope.mechanisms.base import Mechanism, inside
from tightrope.mechanisms.batches import Allocated, ShuffledBatches
from tightrope.mechanisms.composed import Composed, Parallel, Repeated
from tightrope.mechanisms.discrete_gaussian import DiscreteGaussian
from tightrope.mechanisms.sampled import Poisson, WithoutReplacement, WithReplacement, cut_batches
from tightrope.mechanisms.shuffled import Shuffled
from tightrope.mechanisms.stated import Stated

FIXED_STEPS = "steps and their number fixed in advance"


def assumptions(m: Mechanism) -> tuple[str, ...]:
    """The assumptions under which a claim about ``m`` holds."""
    found = [
        "the noise has exactly the stated law (not a floating-point imitation)",
        "one record changes the query by no more than its stated sensitivity",
    ]
    if inside(m, Stated):
        found.append("each stated guarantee is true of what was run")
    if inside(m, Repeated) or inside(m, Composed):
        found.append(FIXED_STEPS)
    if inside(m, Poisson):
        found.append(
            "every batch takes each record independently with the stated chance; shuffled or fixed-size batches do not"
        )
    if cut_batches(m):
        found.append("the data never have more records than the stated population")
    if inside(m, WithReplacement):
        found.append("every draw is uniform among all records, independently of all other draws")
        if inside(m, DiscreteGaussian):
            found.append("discrete Gaussian noise is added to a sum, in which a record drawn j times counts j times")
    if inside(m, WithoutReplacement):
        found.append("every batch is drawn uniformly among all batches of its size, independently of the other batches")
    if inside(m, Shuffled):
        found.append("every user runs the randomizer once on their own datum, and only the shuffled reports are seen")
    if inside(m, ShuffledBatches):
        found.append(
            "every epoch deals all records once into batches of equal size, in a random order that does not depend on "
            "the data and is not published; no amplification by sampling is claimed"
        )
    if inside(m, Allocated):
        found.append("every record takes part in one run, chosen uniformly and independently of the other records")
    if inside(m, Parallel):
        found.append("which block a record falls into depends on that record alone")
    return tuple(found)
