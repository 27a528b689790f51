"""Which parts of a sum are many losses of one kind, and may be taken together."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from tightrope.numerics.transforms.family_discs import Axis, NoiseAxis, RateAxis
from tightrope.numerics.transforms.sampled import SampledNormalTransform
from tightrope.numerics.transforms.sampled_family import SampledNormalFamily
from tightrope.numerics.transforms.transform import Transform

__all__ = ["with_families"]

_MANY = 40  # as many as are worth it

Parts = Sequence[tuple[Transform, int]]


def with_families(parts: Parts) -> Parts:
    """The same sum, in which sampled normal losses that differ in μ only, or in the rate only, are one part."""
    if len(parts) < _MANY:
        return parts
    others, found = _grouped(parts, by_rate=True)
    others, more = _grouped(others, by_rate=False)
    return [*others, *found, *more]


def _grouped(parts: Parts, by_rate: bool) -> tuple[list[tuple[Transform, int]], list[tuple[Transform, int]]]:
    """What belongs to no family, and the families of one rate, or of one μ."""
    groups: dict[Axis, list[tuple[Fraction, int, Transform]]] = {}
    others: list[tuple[Transform, int]] = []
    for transform, copies in parts:
        mu, rate, adding = transform.numbers if isinstance(transform, SampledNormalTransform) else (None, None, False)
        if mu is None or rate is None or not mu > 0:
            others.append((transform, copies))
        elif by_rate:
            groups.setdefault(NoiseAxis(rate, adding), []).append((mu, copies, transform))
        else:
            groups.setdefault(RateAxis(mu, adding), []).append((rate, copies, transform))
    families: list[tuple[Transform, int]] = []
    for axis, members in groups.items():
        if len(members) < _MANY:
            others += [(transform, copies) for _, copies, transform in members]
        else:
            families.append((SampledNormalFamily(axis, [(x, copies) for x, copies, _ in members]), 1))
    return others, families
