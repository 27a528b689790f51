"""Combinators: repeat, compose, run in parallel, look at groups."""

from __future__ import annotations

from dataclasses import dataclass

from tightrope.errors import BadParameter, Unsupported
from tightrope.mechanisms.base import Mechanism, Relation, checked_relation, common_relation, inside
from tightrope.numerics.exact import Number, count


@dataclass(frozen=True, repr=False)
class Wrapped(Mechanism):
    """One mechanism run in another way; bound to its relation, unless the way binds it to one."""

    part: Mechanism

    @property
    def children(self) -> tuple[Mechanism, ...]:
        """The mechanism that is wrapped."""
        return (self.part,)

    @property
    def relation(self) -> Relation | None:
        """That of the part."""
        return self.part.relation

    @property
    def factor(self) -> str:
        """The part in the text form, in parentheses where it is a product or a sum."""
        return f"({self.part})" if isinstance(self.part, Repeated | Composed) else str(self.part)


@dataclass(frozen=True, repr=False)
class Repeated(Wrapped):
    """The same mechanism run ``times`` times."""

    times: int

    def __str__(self) -> str:
        return f"{self.factor} * {self.times}"


@dataclass(frozen=True, repr=False)
class Composed(Mechanism):
    """Different mechanisms run on the same data, each perhaps chosen after seeing the earlier answers."""

    parts: tuple[Mechanism, ...]

    @property
    def children(self) -> tuple[Mechanism, ...]:
        """The mechanisms, in order."""
        return self.parts

    @property
    def relation(self) -> Relation | None:
        """The one the bound parts agree on."""
        return common_relation(self.parts)

    def __str__(self) -> str:
        return " + ".join(str(p) for p in self.parts)


@dataclass(frozen=True, repr=False)
class Grouped(Wrapped):
    """A mechanism seen by ``size`` records at once."""

    size: int

    def __str__(self) -> str:
        return f"{self.factor}.group({self.size})"


class Parallel(Mechanism):
    """Mechanisms on disjoint blocks of records; which block a record is in depends on that record alone.

    One record then costs what the dearest block costs, not the sum. The sensitivities are for one record present or
    absent. Under "replace" a record may leave one block and enter another, which costs what two records cost.

    >>> from tightrope.mechanisms.laplace import Laplace
    >>> print(Parallel(Laplace(1), Laplace(2)))
    parallel(laplace(scale=1), laplace(scale=2))
    """

    blocks: tuple[Mechanism, ...]
    neighbours: Relation
    text_name = "parallel"

    def __init__(self, *blocks: Mechanism, relation: Relation = "add-remove") -> None:
        if not blocks or not all(isinstance(b, Mechanism) for b in blocks):
            raise BadParameter("blocks", blocks, "must be one or more mechanisms")
        if any(b.relation not in (None, "add-remove") for b in blocks):
            raise Unsupported(
                "parallel composition",
                "a block is bound to 'replace', but a record that moves is added to one block and removed from another",
                "State the blocks for add-remove.",
            )
        if any(inside(b, Grouped) for b in blocks):
            raise Unsupported(
                "parallel composition of groups", "a group may be spread over several blocks", "Apply .group(k) last."
            )
        object.__setattr__(self, "blocks", tuple(blocks))
        object.__setattr__(self, "neighbours", checked_relation(relation))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a mechanism is a value: {name} cannot be set")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a mechanism is a value: {name} cannot be deleted")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Parallel) and (self.blocks, self.neighbours) == (other.blocks, other.neighbours)

    def __hash__(self) -> int:
        return hash(("parallel", self.blocks, self.neighbours))

    @property
    def children(self) -> tuple[Mechanism, ...]:
        """The blocks' mechanisms."""
        return self.blocks

    @property
    def relation(self) -> Relation:
        """The relation stated."""
        return self.neighbours

    def __str__(self) -> str:
        end = "" if self.neighbours == "add-remove" else f", relation={self.neighbours}"
        return f"parallel({', '.join(str(b) for b in self.blocks)}{end})"


def repeated(part: Mechanism, times: Number) -> Mechanism:
    """``part`` run ``times`` times; repetitions of repetitions multiply, and once is itself."""
    n = count("times", times, least=0, hint="A mechanism is repeated a whole number of times.")
    if isinstance(part, Repeated):
        return repeated(part.part, part.times * n)
    return part if n == 1 else Repeated(part, n)


def composed(*parts: Mechanism) -> Mechanism:
    """All parts in order; compositions of compositions are flattened."""
    flat: list[Mechanism] = []
    for part in parts:
        flat.extend(part.parts if isinstance(part, Composed) else [part])
    common_relation(tuple(flat))
    return Composed(tuple(flat))


def grouped(part: Mechanism, size: Number) -> Mechanism:
    """``part`` for groups of ``size`` records; groups of groups multiply, and one is itself."""
    k = count("size", size, hint="It is the number of records that change together.")
    if isinstance(part, Grouped):
        return grouped(part.part, part.size * k)
    return part if k == 1 else Grouped(part, k)
