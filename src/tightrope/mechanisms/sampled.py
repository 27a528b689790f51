"""Running on a random batch: Poisson samples, with or without a largest batch, and samples of a fixed size."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from tightrope.errors import BadParameter, Unsupported
from tightrope.mechanisms.base import Mechanism, Relation, checked_relation, inside
from tightrope.mechanisms.composed import Grouped, Wrapped
from tightrope.numerics.exact import Number, count, probability, shortest


def unbound(part: Mechanism, sampler: str) -> Mechanism:
    """``part``, refused if it is bound to a relation or for groups."""
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
class Poisson(Wrapped):
    """``part`` on a batch that takes each record independently with chance ``rate``.

    Batches of more than ``max_batch`` records are cut to that size by dropping records; ``population`` is then the
    largest number of records the data may have.
    """

    rate: Fraction
    neighbours: Relation
    max_batch: int | None
    population: int | None

    def __init__(
        self,
        part: Mechanism,
        rate: Number,
        relation: Relation = "add-remove",
        max_batch: Number | None = None,
        population: Number | None = None,
    ) -> None:
        hint = "If this is a batch size, divide it by the number of records."
        object.__setattr__(self, "part", unbound(part, "Poisson"))
        object.__setattr__(self, "rate", probability("rate", rate, hint))
        object.__setattr__(self, "neighbours", checked_relation(relation))
        if (max_batch is None) != (population is None):
            raise BadParameter(
                "population" if population is None else "max_batch",
                None,
                "must be given: max_batch and population come together",
                "How often a batch is cut depends on the largest number of records the data may have.",
            )
        most = None if max_batch is None else count("max_batch", max_batch, 0, "It is the size batches are cut to.")
        size = None if population is None else count("population", population)
        if most is not None and size is not None and most >= size:
            raise BadParameter("max_batch", max_batch, f"must be below the population ({size})", "Leave it out.")
        object.__setattr__(self, "max_batch", most)
        object.__setattr__(self, "population", size)

    @property
    def uncut(self) -> Poisson:
        """The same without a largest batch."""
        return self if self.max_batch is None else Poisson(self.part, self.rate, self.neighbours)

    @property
    def relation(self) -> Relation:
        """The relation stated."""
        return self.neighbours

    def __str__(self) -> str:
        end = "" if self.neighbours == "add-remove" else f", relation={self.neighbours}"
        if self.max_batch is not None:
            end += f", max_batch={self.max_batch}, population={self.population}"
        return f"{self.factor}.poisson({shortest(self.rate)}{end})"


@dataclass(frozen=True, init=False, repr=False)
class WithoutReplacement(Wrapped):
    """``part`` on a uniformly random batch of ``size`` of ``population`` records."""

    size: int
    population: int
    neighbours: Relation

    def __init__(self, part: Mechanism, size: Number, population: Number, relation: Relation = "replace") -> None:
        object.__setattr__(self, "part", unbound(part, "without-replacement"))
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
    def relation(self) -> Relation:
        """The relation stated."""
        return self.neighbours

    def __str__(self) -> str:
        end = "" if self.neighbours == "replace" else f", relation={self.neighbours}"
        return f"{self.factor}.without_replacement({self.size}, {self.population}{end})"


@dataclass(frozen=True, init=False, repr=False)
class WithReplacement(Wrapped):
    """``part`` on ``size`` records drawn one after the other from ``population``, each time from all of them."""

    size: int
    population: int

    def __init__(self, part: Mechanism, size: Number, population: Number) -> None:
        object.__setattr__(self, "part", unbound(part, "with-replacement"))
        object.__setattr__(self, "population", count("population", population))
        object.__setattr__(self, "size", count("size", size, 0, "It is the number of draws."))

    @property
    def relation(self) -> Relation:
        """One record exchanged."""
        return "replace"

    def __str__(self) -> str:
        return f"{self.factor}.with_replacement({self.size}, {self.population})"


def cut_batches(mechanism: Mechanism) -> bool:
    """Whether some sampler in the tree cuts its batches to a largest size, but not to nothing."""
    if isinstance(mechanism, Poisson) and mechanism.max_batch:
        return True
    return any(cut_batches(child) for child in mechanism.children)
