"""Tiny δ of bounded losses: ε right below the largest loss, against sums over all outcomes in exact arithmetic."""

import json
import math
from fractions import Fraction
from itertools import product

import mpmath
import pytest

import tightrope as tr
from tightrope.accounting.facts import fact
from tightrope.curves.composed_loss import loss_has_profile
from tightrope.curves.engines.top_profile import top_profile
from tightrope.curves.loss import Loss
from tightrope.errors import NotCertified

F = Fraction
RARE = "laplace(scale=0.754) + laplace(scale=9.23).poisson(0.000141) * 2"


def law_of(m):
    return fact(tr.parse(m) if isinstance(m, str) else m, Loss).curve


def sampled(p, q, rate):
    """The atoms of one step of a table on a Poisson sample where the record is removed: masses and ratios."""
    mixed = [rate * a + (1 - rate) * b for a, b in zip(p, q, strict=True)]
    return [(m, m / b) for m, b in zip(mixed, q, strict=True)]


def delta_of(laws, epsilon):
    """Σ (P − e^ε·Q)₊ over all outcomes, by eighty digits."""
    with mpmath.workdps(80):
        level, total = mpmath.exp(mpmath.mpf(epsilon)), mpmath.mpf(0)
        for outcome in product(*laws):
            p, ratio = math.prod(m for m, _ in outcome), math.prod(r for _, r in outcome)
            p, ratio = (mpmath.mpf(x.numerator) / x.denominator for x in (p, ratio))
            total += max(p * (1 - level / ratio), mpmath.mpf(0))
        return total


@pytest.mark.parametrize("delta", ["1e-20", "1e-30", "1e-60"])
def test_ends_are_around_the_sum_over_all_outcomes(delta):
    rows = [([F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)], F(1, 1000)), ([F(7, 10), F(3, 10)], [F(2, 5), F(3, 5)], F(1, 3))]
    m = tr.Table(*rows[0][:2]).poisson(rows[0][2]) * 3 + tr.Table(*rows[1][:2]).poisson(rows[1][2]) * 2
    bound, witness = top_profile(law_of(m)).epsilon(F(delta))
    laws = [sampled(*rows[0])] * 3 + [sampled(*rows[1])] * 2
    assert delta_of(laws, bound.lower) > mpmath.mpf(delta) >= delta_of(laws, bound.upper)
    assert bound.gap < 1e-11
    assert witness["direction"] == 0


@pytest.mark.parametrize("share", [F(1, 2), F(1, 2**22), F(1, 2**42)])
def test_the_chance_of_nearly_the_largest_losses(share):
    """A Laplace loss is ε₀ − 2y with density e^{−y}/2 up to y = ε₀, and ε₀ with chance 1/2."""
    found = top_profile(law_of("laplace(scale=0.8) * 3"))._chance(0, share)
    truth = (1 - math.exp(-float(share) * 1.25 / 2) / 2) ** 3
    assert float(found.mid()) == pytest.approx(truth, rel=1e-14)


def test_what_lies_between_the_bounds():
    """δ itself, where it is known otherwise, lies between what is proved of it at any share."""
    m = "laplace(scale=0.754) * 2"
    profile, other = top_profile(law_of(m)), loss_has_profile(law_of(m))
    for x in (F(1), F(2), F(26, 10), F(2652, 1000)):
        exact = other.prove(x, other.find(x))
        for share in (F(1, 2), F(1, 10), F(1, 1000)):
            value = profile.prove(x, {"direction": 0, "below": share})
            assert value.lower() <= exact.upper()
            assert value.upper() >= exact.lower()


@pytest.mark.parametrize(
    ("text", "delta", "epsilon"),
    [
        (RARE, "1.32e-14", 1.326292216),
        ("laplace(11.8).poisson(0.00191, relation=replace) * 20 + laplace(2.06) * 2", "5.37e-28", 0.97735607),
        ("laplace(scale=0.617) + laplace(scale=5.67).without_replacement(43, 1000000) * 10", "3.73e-37", 1.62082848),
    ],
)
def test_few_rare_losses_beside_an_atom(text, delta, epsilon):
    """A grid left 1e-5 to 1e-4 of ε open."""
    claim = tr.epsilon(tr.parse(text), delta=delta)
    assert claim.computed.gap < 1e-9
    assert claim.computed.upper == pytest.approx(epsilon, rel=1e-8)
    assert claim.witness["way"] == "top"
    assert tr.check(claim.to_json())


def test_what_is_not_near_the_largest_loss_is_left_to_others():
    with pytest.raises(NotCertified, match="too few losses"):
        top_profile(law_of(RARE)).epsilon(F(1, 10**6))
    with pytest.raises(NotCertified, match="says little of δ"):
        top_profile(law_of(RARE)).find(F(1))
    assert top_profile(law_of("gaussian(1).poisson(0.01) * 2")) is None
    assert top_profile(law_of("approx(epsilon=1, delta=1e-9) * 2")) is None


@pytest.mark.parametrize(
    "forged", [{"direction": 2, "below": F(1, 8)}, {"direction": 0, "below": F(1)}, {"direction": 0, "below": F(-1)}]
)
def test_forged_witnesses_are_refused(forged):
    with pytest.raises(NotCertified, match="no direction"):
        top_profile(law_of(RARE)).prove(F(1), forged)


@pytest.mark.parametrize("end", ["lower", "upper"])
def test_a_forged_end_is_refused(end):
    stored = json.loads(tr.epsilon(tr.parse(RARE), delta="1.32e-14").to_json())
    by = 1e-9 * stored["upper"]
    moved = {"lower": stored["lower"] + by, "upper": stored["upper"] + 2 * by}
    if end == "upper":
        moved = {"lower": stored["lower"] - 2 * by, "upper": stored["upper"] - by}
    assert not tr.check({**stored, **moved, "computed": list(moved.values())})
