"""Theorem: the one type for every step from a premise to a conclusion, and the registry of all of them.

A theorem has a statement (its docstring), a source in ``references.bib``, hypotheses, the relation and adaptivity it
allows, and a kind: ``equal`` (the conclusion is exactly true of the worst mechanism that fits the premise), ``upper``
(it overstates) or ``lower`` (it understates). There is no other way from a mechanism to a number.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from typing import Any, Generic, Literal, ParamSpec, TypeVar

Kind = Literal["equal", "upper", "lower"]
Role = Literal["analysis", "conversion", "composition", "group", "sampling", "parallel", "profile", "filter"]

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True)
class Source:
    """Where a theorem is proved: a key of ``references.bib`` and the place in it."""

    key: str
    where: str = ""

    def __str__(self) -> str:
        name = short_name(self.key)
        return f"{name}, {self.where}" if self.where else name


@dataclass(frozen=True)
class Theorem(Generic[P, R]):
    """One proved step. Calling it applies it."""

    id: str
    says: str
    source: Source
    kind: Kind
    role: Role
    of: Any
    gives: Any
    apply: Callable[P, R] = field(compare=False)
    relation: str = "any one fixed relation"
    adaptive: str = (
        "each step may be chosen after seeing the earlier answers; parameters and their number are fixed in advance"
    )
    hypotheses: tuple[str, ...] = ()

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Apply the theorem."""
        return self.apply(*args, **kwargs)

    @property
    def tight(self) -> bool:
        """Whether nothing is lost by this step."""
        return self.kind == "equal"


class Registry(Mapping[str, Theorem[..., Any]]):
    """Every theorem by its id. The public names load late; reading this loads them, so that none is missing."""

    def __init__(self) -> None:
        self.stated: dict[str, Theorem[..., Any]] = {}
        self._complete = False

    def _load(self) -> None:
        if not self._complete:
            package = sys.modules["tightrope"]  # a package is there before its modules; it knows its public names
            for name in package.__all__:
                getattr(package, name)
            self._complete = True

    def __getitem__(self, name: str) -> Theorem[..., Any]:
        if name not in self.stated:
            self._load()
        return self.stated[name]

    def __iter__(self) -> Iterator[str]:
        """By module, and in each as written: the order does not depend on what was loaded first."""
        self._load()
        return iter([t.id for t in sorted(self.stated.values(), key=_module)])

    def __len__(self) -> int:
        self._load()
        return len(self.stated)


def _module(stated: Theorem[..., Any]) -> str:
    return stated.apply.__module__


REGISTRY = Registry()


def theorem(
    *,
    of: Any,
    gives: Any,
    source: Source,
    kind: Kind,
    role: Role = "conversion",
    relation: str = "any one fixed relation",
    adaptive: str = "",
    hypotheses: tuple[str, ...] = (),
) -> Callable[[Callable[P, R]], Theorem[P, R]]:
    """Register a function as a theorem. Its name is the id, its docstring the statement."""

    def register(apply: Callable[P, R]) -> Theorem[P, R]:
        name = apply.__name__
        says = " ".join((apply.__doc__ or "").split())
        if not says or name in REGISTRY.stated:
            raise AssertionError(f"theorem {name}: needs a statement and a name of its own")
        extra = {"adaptive": adaptive} if adaptive else {}
        made: Theorem[P, R] = Theorem(
            name, says, source, kind, role, of, gives, apply, relation, hypotheses=hypotheses, **extra
        )
        REGISTRY.stated[name] = made
        return made

    return register


def about(premise: Any, role: Role | None = None) -> list[Theorem[..., Any]]:
    """Every theorem whose premise is ``premise``, among the modules that are loaded."""
    return _about(premise, role, len(REGISTRY.stated))


@lru_cache(maxsize=1024)
def _about(premise: Any, role: Role | None, stated: int) -> list[Theorem[..., Any]]:  # noqa: ARG001 - grows with imports
    found = [t for t in REGISTRY.stated.values() if t.of is premise and (role is None or t.role == role)]
    return sorted(found, key=_module)


@dataclass(frozen=True)
class Step:
    """One line of a proof: which theorem, applied to what, how often, and what it yields."""

    theorem: str
    of: str
    count: int = 1
    # A curve until somebody reads it: words about a curve may take a millisecond. Certificates leave it out, so that
    # it does not make one claim differ from another.
    value: object = field(default="", compare=False)

    def written(self) -> Step:
        """The same in words only."""
        return self if isinstance(self.value, str) else replace(self, value=str(self.value))

    @property
    def stated(self) -> Theorem[..., Any]:
        """The theorem itself."""
        return REGISTRY[self.theorem]


@cache
def bibliography() -> dict[str, str]:
    """The entries of ``references.bib`` by key."""
    from importlib import resources  # slow to load, and only needed to cite

    text = resources.files("tightrope").joinpath("references.bib").read_text(encoding="utf-8")
    entries: dict[str, str] = {}
    for chunk in text.split("\n@")[0:]:
        entry = chunk if chunk.startswith("@") else "@" + chunk
        if "{" in entry and "," in entry:
            key = entry.split("{", 1)[1].split(",", 1)[0].strip()
            entries[key] = entry.strip() + "\n"
    return entries


def short_name(key: str) -> str:
    """Authors and year of a reference, as in «Bun and Steinke 2016»."""
    entry = bibliography()[key]
    fields = dict(_field(line) for line in entry.splitlines()[1:] if "=" in line)
    names = [n.split(",")[0].strip("{} ") for n in fields["author"].split(" and ")]
    people = names[0] if len(names) == 1 else f"{names[0]} and {names[1]}" if len(names) == 2 else f"{names[0]} et al."
    return f"{people} {fields['year']}"


def _field(line: str) -> tuple[str, str]:
    name, _, value = line.partition("=")
    return name.strip().lower(), value.strip().rstrip(",").strip('{}" ')
