"""The law that is found alone is the one among all facts, with the same proof."""

import pytest

import tightrope as tr
from laws.registered import EXAMPLES
from tightrope.accounting.facts import fact, facts
from tightrope.accounting.sure_laws import sure_law
from tightrope.curves.loss import Loss

LEAVES = [m for examples in EXAMPLES.values() for m in examples]
FREE = [m for m in LEAVES if m.relation is None]
TREES = [
    *LEAVES,
    *(m * 7 for m in LEAVES),
    *(m.poisson("0.01") for m in FREE),
    *(m.poisson("0.01") * 5 + tr.Gaussian(3) for m in FREE),
    tr.Gaussian(2).poisson(1),
    tr.Gaussian(2).poisson(0) * 3,
    tr.Gaussian(2).poisson("0.01", relation="replace") * 3,
    tr.Gaussian(2).poisson("0.01").group(2),
    (tr.Gaussian(2) + tr.Laplace(3)).poisson("0.01"),
    (tr.Pure(1) * 3).poisson("0.01"),
    tr.Gaussian(2) * 0,
]


@pytest.mark.parametrize("m", TREES, ids=str)
def test_it_is_the_law_among_all_facts(m):
    alone, among = sure_law(m), facts(m).get(Loss)
    assert fact(m, Loss) is not None or among is None
    if alone is None:
        return
    assert alone.kind == among.kind == "equal"
    assert [(s.theorem, s.of, s.count) for s in alone.steps] == [(s.theorem, s.of, s.count) for s in among.steps]
    assert str(alone.curve) == str(among.curve)
    assert [[n for _, n in parts] for parts in alone.curve.directions] == [
        [n for _, n in parts] for parts in among.curve.directions
    ]
    assert [type(p) for parts in alone.curve.directions for p, _ in parts] == [
        type(p) for parts in among.curve.directions for p, _ in parts
    ]


@pytest.mark.parametrize("m", [tr.Gaussian(2).poisson("0.01") * 9, tr.Laplace(1), tr.Gaussian(1) + tr.Laplace(2)])
def test_the_usual_ones_are_found(m):
    assert sure_law(m) is not None


def test_a_part_has_one_law_whatever_its_count():
    """Its transform remembers lines, which an accountant that asks again and again lives on."""
    step = tr.Gaussian(2).poisson("0.01")
    pairs = [[p for parts in sure_law(step * n).curve.directions for p, _ in parts] for n in (2, 3)]
    assert all(a is b for a, b in zip(*pairs, strict=True))
