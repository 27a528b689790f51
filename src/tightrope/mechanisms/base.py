"""Mechanism: what was run, as a frozen, hashable, printable value."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, ClassVar

from tightrope.errors import BadParameter, RelationMismatch
from tightrope.numerics.exact import Number, shortest

Relation = str
RELATIONS = ("add-remove", "replace")


class Mechanism(ABC):
    """A description of what was run, with exact parameters. Describing costs nothing; ask ``tr.epsilon`` and the like.

    ``m * 10`` is ten runs, ``a + b`` both; the methods sample, shuffle, group and run it.

    >>> from tightrope import Gaussian, Laplace
    >>> print(Gaussian(sigma=1).poisson(0.01) * 10_000 + Laplace(scale=2) * 20)
    gaussian(sigma=1).poisson(0.01) * 10000 + laplace(scale=2) * 20
    """

    text_name: ClassVar[str]

    @property
    def relation(self) -> Relation | None:
        """The neighbouring relation this is bound to; None while only the leaf's sensitivity speaks of it."""
        return None

    @property
    def children(self) -> tuple[Mechanism, ...]:
        """The mechanisms it is made of."""
        return ()

    @abstractmethod
    def __str__(self) -> str: ...

    def __repr__(self) -> str:
        return f"parse({str(self)!r})"

    def __add__(self, other: Mechanism) -> Mechanism:
        from tightrope.mechanisms.composed import composed

        if not isinstance(other, Mechanism):
            return NotImplemented
        return composed(self, other)

    def __mul__(self, times: int) -> Mechanism:
        from tightrope.mechanisms.composed import repeated

        return repeated(self, times)

    __rmul__ = __mul__

    def release(self, values: Any, **options: Any) -> Any:
        """Run the mechanism on ``values`` with exact noise, and return the noisy answer in the same form.

        Numbers and arrays for noise, scores for selection; docs/release.md lists what each mechanism takes.
        """
        from tightrope.mechanisms.running.release import released

        return released(self, values, options)

    def on_grid(self, step: Number) -> Mechanism:
        """The same mechanism with released numbers rounded to multiples of ``step``, a power of two.

        No claim changes.
        """
        from tightrope.mechanisms.grids import with_grid

        return with_grid(self, step)

    def interval(self, confidence: Number) -> float:
        """Half the width of an interval around a released number that holds the exact one with chance ``confidence``.

        It depends on the noise only, so it is known before anything is spent.
        """
        from tightrope.mechanisms.running.intervals import half_width

        return half_width(self, confidence)

    def group(self, size: Number) -> Mechanism:
        """Protect ``size`` records at once instead of one, for example all records of one user. Apply it last."""
        from tightrope.mechanisms.composed import grouped

        return grouped(self, size)

    def poisson(
        self,
        rate: Number,
        relation: Relation = "add-remove",
        max_batch: Number | None = None,
        population: Number | None = None,
    ) -> Mechanism:
        """Run on a batch that takes each record independently with chance ``rate``, from 0 to 1.

        The sensitivity is for one record present or absent (C for a sum clipped to C), under both relations. If
        ``max_batch`` is given, larger batches are cut to that size; ``population`` is then the largest number of
        records the data may have.
        """
        from tightrope.mechanisms.sampled import Poisson

        return Poisson(self, rate, relation, max_batch, population)

    def without_replacement(self, size: Number, population: Number, relation: Relation = "replace") -> Mechanism:
        """Run on a batch of exactly ``size`` of ``population`` records, all batches equally likely.

        The sensitivity is for one record exchanged for another (2C for a sum clipped to C), under both relations.
        Under add-remove, ``population`` is the smaller of the two data sets.
        """
        from tightrope.mechanisms.sampled import WithoutReplacement

        return WithoutReplacement(self, size, population, relation)

    def with_replacement(self, size: Number, population: Number) -> Mechanism:
        """Run on ``size`` records, each drawn from all ``population`` records, so that one may be drawn several times.

        The relation is replace. The sensitivity is for one record exchanged for another (2C for a sum clipped to C).
        """
        from tightrope.mechanisms.sampled import WithReplacement

        return WithReplacement(self, size, population)

    def shuffled(self, users: Number) -> Mechanism:
        """Each of ``users`` users runs it on their own datum, and the reports are shuffled before anyone sees them.

        The relation is replace: one user's datum is exchanged for another.
        """
        from tightrope.mechanisms.shuffled import Shuffled

        return Shuffled(self, users)

    def shuffled_batches(self, steps: Number) -> Mechanism:
        """Run once on each of the ``steps`` batches of one epoch: the records in a random order, cut into batches.

        The relation is replace. The sensitivity is for one record exchanged for another (2C for a sum clipped to C).
        """
        from tightrope.mechanisms.batches import ShuffledBatches

        return ShuffledBatches(self, steps)

    def allocated(self, steps: Number) -> Mechanism:
        """Run ``steps`` times; each record takes part in just one of the runs, chosen at random (balls into bins).

        The relation is add-remove. The sensitivity is for one record present or absent (C for a sum clipped to C).
        """
        from tightrope.mechanisms.batches import Allocated

        return Allocated(self, steps)


class Leaf(Mechanism):
    """A mechanism that is not made of others. Subclasses are frozen dataclasses whose fields are the arguments.

    ``notion`` is the notion that says all there is to know of the leaf: some mechanism that fits it attains each value.
    """

    notion: ClassVar[type | None] = None

    def _set(self, **fields: Any) -> None:
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    @property
    def arguments(self) -> Mapping[str, Any]:
        """The arguments by name, in order."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}  # type: ignore[attr-defined]  # every leaf is a dataclass

    @property
    def defaults(self) -> Mapping[str, Any]:
        """Arguments that are not printed when they have this value."""
        return {}

    def __str__(self) -> str:
        shown = [
            f"{name}={written(value)}"
            for name, value in self.arguments.items()
            if not (name in self.defaults and self.defaults[name] == value)
        ]
        return f"{self.text_name}({', '.join(shown)})"


def written(value: Any) -> str:
    """An argument in the text form."""
    if value is True or value is False:
        return "true" if value else "false"
    if isinstance(value, Fraction):
        return shortest(value)
    if isinstance(value, tuple):
        return "[" + ", ".join(written(v) for v in value) + "]"
    return str(value)


def checked_relation(value: str) -> Relation:
    """One of the two relations."""
    if not isinstance(value, str) or value not in RELATIONS:
        raise BadParameter("relation", value, "must be 'add-remove' or 'replace'")
    return value


def common_relation(parts: tuple[Mechanism, ...]) -> Relation | None:
    """The relation that bound parts agree on."""
    bound = list(dict.fromkeys(p.relation for p in parts if p.relation is not None))
    if len(bound) > 1:
        raise RelationMismatch(bound[0], bound[1])
    return bound[0] if bound else None


def truth_value(name: str, value: object) -> bool:
    """A plain bool."""
    if not isinstance(value, bool):
        raise BadParameter(name, value, "must be True or False")
    return value


def inside(mechanism: Mechanism, kind: type[Mechanism]) -> bool:
    """Whether a part of the tree is of this kind."""
    return isinstance(mechanism, kind) or any(inside(child, kind) for child in mechanism.children)
