"""A mechanism is a value: complete registration, equality, hash, text, and no way to change it."""

import copy
import dataclasses
import pickle
from inspect import isabstract

import pytest
from hypothesis import given, settings

import tightrope as tr
from laws.registered import ALL_LEAVES, COMBINED, EVERYTHING, EXAMPLES
from laws.trees import mechanisms
from tightrope.accounting.text import LEAVES
from tightrope.mechanisms.base import Leaf, Mechanism


def descendants(cls):
    for sub in cls.__subclasses__():
        yield sub
        yield from descendants(sub)


def test_every_registered_leaf_has_an_example_of_its_own_kind():
    assert set(EXAMPLES) == set(LEAVES), "add an example of the new leaf to tests/laws/registered.py"
    for name, examples in EXAMPLES.items():
        assert examples
        assert {type(m) for m in examples} == {LEAVES[name]}


def test_every_leaf_class_can_be_written_and_is_exported():
    named = {cls for cls in descendants(Leaf) if "text_name" in vars(cls)}
    assert named == set(LEAVES.values())
    assert all(getattr(tr, cls.__name__) is cls for cls in named)


def test_the_combined_examples_use_every_combinator():
    seen = {type(part) for m in COMBINED for part in parts_of(m)}
    combinators = {cls for cls in descendants(Mechanism) if not issubclass(cls, Leaf) and not isabstract(cls)}
    assert combinators <= seen


def parts_of(m):
    yield m
    for child in m.children:
        yield from parts_of(child)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("m", EVERYTHING, ids=str)
def test_text_reads_back_as_the_same_value(m):
    again = tr.parse(str(m))
    assert again == m
    assert hash(again) == hash(m)
    assert str(again) == str(m)
    assert repr(m) == f"parse({str(m)!r})"
    assert {m: 1}[again] == 1


@settings(max_examples=400)
@given(mechanisms())
def test_text_reads_back_for_random_trees(m):
    again = tr.parse(str(m))
    assert again == m
    assert hash(again) == hash(m)
    assert str(again) == str(m)
    assert again.relation == m.relation


@pytest.mark.parametrize("m", EVERYTHING, ids=str)
def test_copies_are_equal(m):
    assert copy.deepcopy(m) == m
    assert pickle.loads(pickle.dumps(m)) == m


def test_different_mechanisms_differ():
    assert len(set(EVERYTHING)) == len(EVERYTHING)
    assert len({str(m) for m in EVERYTHING}) == len(EVERYTHING)
    assert tr.Gaussian(1) != tr.GDP(1)
    assert tr.Exponential(1) != tr.NoisyMax(1)
    assert tr.Gaussian(1) != 1


@pytest.mark.parametrize("m", EVERYTHING, ids=str)
def test_nothing_can_be_changed(m):
    m = copy.deepcopy(m)
    names = [f.name for f in dataclasses.fields(m)] if dataclasses.is_dataclass(m) else ["blocks", "neighbours"]
    for name in names:
        with pytest.raises(AttributeError):
            setattr(m, name, 1)
        with pytest.raises(AttributeError):
            delattr(m, name)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("m", ALL_LEAVES, ids=str)
def test_leaves_have_no_relation(m):
    assert m.relation is None
    assert tr.epsilon(m, delta=0.5).relation == "as stated"


def test_spellings_of_one_number_are_one_mechanism():
    from decimal import Decimal
    from fractions import Fraction

    import numpy as np

    spellings = [
        0.1,
        "0.1",
        "1/10",
        Fraction(1, 10),
        Decimal("0.1"),
        np.float64(0.1),
        np.float32(0.1),
        " 0.10 ",
        "1e-1",
        "+.1",
    ]
    assert {tr.Gaussian(x) for x in spellings} == {tr.Gaussian(0.1)}
    assert tr.Gaussian(Fraction(0.1)) != tr.Gaussian(0.1)
    assert {tr.Gaussian(1) * n for n in (3, np.int8(3), np.uint64(3))} == {tr.Gaussian(1) * 3}


def test_composition_flattens_and_repetition_multiplies():
    g, lap = tr.Gaussian(1), tr.Laplace(1)
    assert (g + lap) + g == g + (lap + g)
    assert (g * 3) * 4 == g * 12
    assert 3 * g == g * 3
    assert g * 1 == g
    assert g.group(1) == g
    assert g.group(2).group(3) == g.group(6)
    assert (g + lap) * 2 != g * 2 + lap * 2  # the order of runs is kept
