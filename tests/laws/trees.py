"""Random mechanisms: a Hypothesis strategy over everything the text form can say."""

from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

import tightrope as tr


def decimals(low: str, high: str) -> st.SearchStrategy[Fraction]:
    return st.decimals(low, high, places=3).map(Fraction).filter(lambda x: x > 0)


def numbers() -> st.SearchStrategy[Any]:
    """Positive numbers in every spelling a user may choose."""
    return st.one_of(
        decimals("0.05", "8"),
        decimals("0.05", "8").map(float),
        st.integers(1, 9),
        st.fractions(Fraction(1, 20), 8, max_denominator=50),
        decimals("0.05", "8").map(str),
    )


def chances() -> st.SearchStrategy[Any]:
    return st.one_of(st.fractions(0, 1, max_denominator=40), st.sampled_from([0, 1, 1e-9, "1e-30", 0.25, "1/3"]))


def rows(size: int) -> st.SearchStrategy[list[Fraction]]:
    return (
        st.lists(st.integers(0, 9), min_size=size, max_size=size)
        .filter(sum)
        .map(lambda w: [Fraction(x, sum(w)) for x in w])
    )


def leaves() -> st.SearchStrategy[Any]:
    small = st.integers(1, 4)
    flag = st.booleans()
    x, q = numbers(), chances()
    order = st.fractions(Fraction(11, 10), 64, max_denominator=10)
    return st.one_of(
        st.builds(tr.Gaussian, x, x),
        st.builds(tr.Laplace, x, x),
        st.builds(tr.DiscreteGaussian, x, small, small),
        st.builds(tr.DiscreteLaplace, x, small),
        st.builds(lambda e, k: tr.RandomizedResponse(epsilon=e, k=k), x, st.integers(2, 9)),
        st.builds(lambda p, k: tr.RandomizedResponse(p=p, k=k), q, st.integers(2, 9)),
        st.builds(tr.LeakyInput, q),
        st.builds(tr.LeakyRandomizedResponse, x, q),
        st.builds(tr.GaussianPair, x, x, x, x),
        st.integers(1, 4).flatmap(lambda n: st.builds(tr.Table, rows(n), rows(n))),
        st.builds(tr.Exponential, x, flag),
        st.builds(tr.NoisyMax, x, flag),
        st.builds(tr.PermuteAndFlip, x, flag),
        st.builds(tr.AboveThreshold, x, x, small, flag),
        st.builds(tr.Staircase, x, st.none() | q),
        st.builds(tr.Pure, x),
        st.builds(tr.Approx, x, q),
        st.builds(tr.ZCDP, x, x, q),
        st.builds(lambda r: tr.ZCDP(r, xi=-Fraction(r) / 2), x.map(lambda v: Fraction(str(v)))),
        st.builds(tr.TCDP, x, order),
        st.builds(tr.CDP, x, x),
        st.builds(tr.GDP, x),
        st.builds(tr.RDP, st.dictionaries(order, x, min_size=1, max_size=4)),
    )


def _kept(part: Any, make: Any) -> Any:
    """The combination, or the part itself where the two do not go together."""
    try:
        return make(part)
    except (tr.Unsupported, tr.RelationMismatch):
        return part


def _grown(parts: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    relation = st.sampled_from(["add-remove", "replace"])
    batch = st.tuples(st.integers(0, 50), st.integers(50, 500))
    return st.one_of(
        st.builds(lambda m, n: m * n, parts, st.integers(0, 1000)),
        st.builds(
            lambda m, others: _kept(m, lambda a: sum(others, start=a)), parts, st.lists(parts, min_size=1, max_size=3)
        ),
        st.builds(lambda m, k: _kept(m, lambda a: a.group(k)), parts, st.integers(1, 5)),
        st.builds(lambda m, q, r: _kept(m, lambda a: a.poisson(q, relation=r)), parts, chances(), relation),
        st.builds(lambda m, b, r: _kept(m, lambda a: a.without_replacement(*b, relation=r)), parts, batch, relation),
        st.builds(
            lambda m, way, n: _kept(m, lambda a: getattr(a, way)(n)),
            parts,
            st.sampled_from(["shuffled", "shuffled_batches", "allocated"]),
            st.integers(1, 200),
        ),
        st.builds(
            lambda ms, r: _kept(ms[0], lambda _: tr.Parallel(*ms, relation=r)),
            st.lists(parts, min_size=1, max_size=3),
            relation,
        ),
    )


def mechanisms(most: int = 8) -> st.SearchStrategy[Any]:
    """Trees with at most ``most`` leaves."""
    return st.recursive(leaves(), _grown, max_leaves=most)
