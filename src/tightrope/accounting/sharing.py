"""What shuffling reports, shuffling batches and random allocation do to the curves of the part they act on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tightrope.accounting.sampling import Sampled, symmetric_pair
from tightrope.curves.approximate import Approximate
from tightrope.curves.concentrated import ZeroConcentrated
from tightrope.curves.gaussian import GaussianDP
from tightrope.curves.loss import Loss
from tightrope.curves.pure import Pure
from tightrope.curves.renyi import Renyi
from tightrope.curves.sampled.allocated import loss_of_allocation
from tightrope.curves.sampled.clones import pure_is_shuffled, shuffling_keeps_pure
from tightrope.curves.shared_records import allocation_keeps_pure, record_meets_one_run, renyi_of_allocation
from tightrope.curves.truncated import TruncatedConcentrated
from tightrope.mechanisms.batches import Allocated, ShuffledBatches
from tightrope.mechanisms.response import RandomizedResponse
from tightrope.mechanisms.shuffled import Shuffled, response_is_shuffled
from tightrope.theorems import Source, theorem

Sharing = Shuffled | ShuffledBatches | Allocated
_CARRIED = (Pure, Approximate, GaussianDP, ZeroConcentrated, TruncatedConcentrated, Loss, Renyi)


def shared(base: dict[type, Any], mechanism: Sharing) -> Iterator[Sampled]:
    """Every conclusion that a theorem draws from the base's curves; the better of two laws comes first."""
    if isinstance(mechanism, Shuffled):
        yield from _shuffled(base, mechanism)
        rule = shuffling_never_hurts
    else:
        rule = record_meets_one_run
    if isinstance(mechanism, Allocated):
        if Pure in base:
            yield Sampled(Pure, Pure, allocation_keeps_pure, allocation_keeps_pure(base[Pure]))
        law = loss_of_allocation(base[Loss], mechanism.steps) if Loss in base else None
        if law is not None:
            yield Sampled(Loss, Loss, loss_of_allocation, law)
        if Renyi in base:
            yield Sampled(Renyi, Renyi, renyi_of_allocation, renyi_of_allocation(base[Renyi], mechanism.steps))
    for notion in _CARRIED:
        if notion in base:
            yield Sampled(notion, notion, rule, rule(base[notion]))


def _shuffled(base: dict[type, Any], mechanism: Shuffled) -> Iterator[Sampled]:
    if Pure not in base:
        return
    pure, users, law = base[Pure], mechanism.users, symmetric_pair(base.get(Loss))  # it bounds shuffled reports too
    yield Sampled(Pure, Pure, shuffling_keeps_pure, shuffling_keeps_pure(pure))
    if isinstance(mechanism.part, RandomizedResponse):
        found = response_is_shuffled(mechanism.part, pure, users, law)
        if found is not None:
            yield Sampled(Pure, Loss, response_is_shuffled, found)
    else:
        found = pure_is_shuffled(pure, users, law)
        if found is not None:
            yield Sampled(Pure, Loss, pure_is_shuffled, found)


@theorem(
    of=Loss,
    gives=Loss,
    kind="upper",
    role="sampling",
    relation="replace",
    source=Source("dwork2014algorithmic", "Prop. 2.1"),
)
def shuffling_never_hurts(c: Any) -> Any:
    """To shuffle is to forget the order: what holds of a user's report, next to independent ones, holds of all reports
    shuffled."""
    return c
