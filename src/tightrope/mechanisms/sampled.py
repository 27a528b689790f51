"""Running on a random batch: Poisson sampling and sampling without replacement."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from tightrope.errors import BadParameter, Unsupported
from tightrope.mechanisms.base import Mechanism, Relation, checked_relation, inside
from tightrope.mechanisms.composed import Grouped, _as_factor
from tightrope.numerics.exact import Number, count, probability, shortest


def _base(part: Mechanism, sampler: str) -> Mechanism:
    if inside(part, Grouped):
        raise Unsupported(
            f"{sampler} sampling of a mechanism for groups",
            "the members of a group are sampled one by one",
            "Apply .group(k) last; or give the leaf sensitivity=k when whole users are sampled.",
        )
    if part.relation is not None:
        raise Unsupported(
            f"{sampler} sampling of {part}",
            "it is already bound to a neighbouring relation",
            "Sample once; for a Poisson sample of a Poisson sample multiply the rates.",
        )
    return part


@dataclass(frozen=True, init=False, repr=False)
class Poisson(Mechanism):
    """``part`` on a batch that takes each record independently with chance ``rate``."""

    part: Mechanism
    rate: Fraction
    neighbours: Relation

    def __init__(self, part: Mechanism, rate: Number, relation: Relation = "add-remove") -> None:
        hint = "If this is a batch size, divide it by the number of records."
        object.__setattr__(self, "part", _base(part, "Poisson"))
        object.__setattr__(self, "rate", probability("rate", rate, hint))
        object.__setattr__(self, "neighbours", checked_relation(relation))

    @property
    def children(self) -> tuple[Mechanism, ...]:
        """What runs on the batch."""
        return (self.part,)

    @property
    def relation(self) -> Relation:
        """The relation stated."""
        return self.neighbours

    def __str__(self) -> str:
        end = "" if self.neighbours == "add-remove" else f", relation={self.neighbours}"
        return f"{_as_factor(self.part)}.poisson({shortest(self.rate)}{end})"


@dataclass(frozen=True, init=False, repr=False)
class WithoutReplacement(Mechanism):
    """``part`` on a uniformly random batch of ``size`` of ``population`` records."""

    part: Mechanism
    size: int
    population: int
    neighbours: Relation

    def __init__(self, part: Mechanism, size: Number, population: Number, relation: Relation = "replace") -> None:
        object.__setattr__(self, "part", _base(part, "without-replacement"))
        object.__setattr__(self, "population", count("population", population))
        object.__setattr__(self, "size", count("size", size, 0, "It is the number of records in a batch."))
        object.__setattr__(self, "neighbours", checked_relation(relation))
        if self.size > self.population:
            raise BadParameter("size", size, f"must not exceed the population ({self.population})")

    @property
    def rate(self) -> Fraction:
        """The chance that a record is in the batch: m/n, or m/(n+1) for the larger set under add-remove."""
        return Fraction(self.size, self.population + (self.neighbours == "add-remove"))

    @property
    def children(self) -> tuple[Mechanism, ...]:
        """What runs on the batch."""
        return (self.part,)

    @property
    def relation(self) -> Relation:
        """The relation stated."""
        return self.neighbours

    def __str__(self) -> str:
        end = "" if self.neighbours == "replace" else f", relation={self.neighbours}"
        return f"{_as_factor(self.part)}.without_replacement({self.size}, {self.population}{end})"
