"""A calibrated value keeps the budget, and one just past it does not."""

from fractions import Fraction

import pytest

import tightrope as tr
from tightrope.accounting.solve import Estimates

NEAR = Fraction(1, 500_000)

NOISE = [
    (tr.Gaussian, {"epsilon": 1, "delta": 1e-5}),
    (tr.Gaussian, {"epsilon": "0.01", "delta": "1e-12"}),
    (lambda s: tr.Gaussian(s) * 100 + tr.RandomizedResponse("0.1") * 3, {"epsilon": 2, "delta": 1e-6}),
    (tr.Gaussian, {"rho": "0.125"}),
    (tr.Gaussian, {"mu": "1/3"}),
    (tr.Laplace, {"epsilon": "0.7"}),
    (tr.Laplace, {"epsilon": 1, "delta": 1e-3}),
    (tr.Laplace, {"rho": "0.2"}),
    (lambda s: tr.DiscreteLaplace(s, 2), {"epsilon": "0.5"}),
    (lambda s: tr.Laplace(s) * 5, {"epsilon": 1, "delta": 1e-6}),
]

COST = [
    (tr.Pure, {"epsilon": 1}),
    (lambda e: tr.Approx(e, "1e-9") * 20, {"epsilon": 1, "delta": 1e-6}),
    (lambda e: tr.RandomizedResponse(e, k=4) * 10, {"epsilon": 2, "delta": 1e-5}),
    (tr.ZCDP, {"epsilon": 1, "delta": 1e-6}),
    (lambda q: tr.Gaussian(1).poisson(q), {"epsilon": "0.5", "delta": 1e-6}),
    (lambda q: tr.RandomizedResponse(2).poisson(q) * 4, {"epsilon": 1, "delta": 1e-6}),
]


def cost(m, target):
    if "rho" in target:
        return tr.zcdp(m), Fraction(str(target["rho"]))
    if "mu" in target:
        return tr.gdp(m), Fraction(str(target["mu"]))
    return tr.epsilon(m, delta=target.get("delta", 0)), Fraction(str(target["epsilon"]))


@pytest.mark.parametrize(("make", "target"), NOISE)
def test_the_least_noise(make, target):
    found = tr.calibrate(make, **target)
    claim, budget = cost(make(found.exact), target)
    assert Fraction(claim.upper) <= budget
    assert claim.bound == found.claim.bound
    assert float(found) == found.value == float(found.exact)
    assert 0 <= found.slack <= 1e-6
    past, _ = cost(make(found.exact * (1 - NEAR)), target)
    assert not Fraction(past.upper) <= budget


@pytest.mark.parametrize(("make", "target"), COST)
def test_the_greatest_cost_or_rate(make, target):
    found = tr.calibrate(make, **target)
    claim, budget = cost(make(found.exact), target)
    assert Fraction(claim.upper) <= budget
    past, _ = cost(make(found.exact * (1 + NEAR)), target)
    assert not Fraction(past.upper) <= budget


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("gaussian(sigma=20) * ?", {"epsilon": 1, "delta": 1e-6}),
        ("laplace(scale=100) * ?", {"epsilon": "0.5"}),
        ("approx(epsilon=0.1, delta=1e-9) * ?", {"epsilon": 2, "delta": 1e-6}),
        ("gaussian(sigma=10) * ?", {"rho": "1/2"}),
    ],
)
def test_the_greatest_number_of_runs(text, target):
    found = tr.calibrate(text, **target)
    assert isinstance(found.value, int)
    here, budget = cost(tr.parse(text.replace("?", str(found.value))), target)
    past, _ = cost(tr.parse(text.replace("?", str(found.value + 1))), target)
    assert Fraction(here.upper) <= budget < Fraction(past.upper)


def test_exact_boundaries_are_found_exactly_on_the_feasible_side():
    """1/2 is filled by exactly fifty charges of 1/100: nothing is lost to rounding."""
    assert tr.calibrate("laplace(scale=100) * ?", epsilon="0.5").value == 50
    assert tr.calibrate("gaussian(sigma=10) * ?", rho="1/2").value == 100
    found = tr.calibrate(tr.Laplace, epsilon="0.5")
    assert found.exact >= 2
    assert found.exact <= 2 * (1 + NEAR)


@pytest.mark.parametrize("target", [{"epsilon": 1, "delta": 1e-5}, {"epsilon": "0.3", "delta": "1e-20"}])
def test_text_and_function_agree(target):
    assert tr.calibrate("gaussian(sigma=?)", **target).exact == tr.calibrate(tr.Gaussian, **target).exact


# One parameter of any kind: text, target, whether more of it costs more
ANY = [
    ("gaussian(sigma=?).poisson(0.01) * 10000", {"epsilon": 6, "delta": 1e-5}, False),
    ("gaussian(sigma=?).poisson(0.001) * 100000", {"epsilon": "0.5", "delta": 1e-10}, False),
    ("gaussian(sigma=1).poisson(?) * 10000", {"epsilon": 2, "delta": 1e-6}, True),
    ("gaussian(sigma=2, sensitivity=?) * 10", {"epsilon": 3, "delta": 1e-6}, True),
    ("laplace(scale=3, sensitivity=?) * 4", {"epsilon": 3}, True),
    ("gaussian(sigma=2).poisson(0.1) * 30 + laplace(scale=?) * 5", {"epsilon": 4, "delta": 1e-6}, False),
    ("approx(0.1, ?) * 10", {"epsilon": "1.5", "delta": "1e-4"}, True),
    ("leaky_input(delta=?)", {"epsilon": 1, "delta": "1e-3"}, True),
    ("randomized_response(p=?)", {"epsilon": 2}, True),
    ("parallel(gaussian(sigma=?), laplace(1))", {"epsilon": 2, "delta": 1e-5}, False),
    ("gaussian(sigma=?)", {"epsilon": 0, "delta": "0.1"}, False),
]


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(("text", "target", "rises"), ANY)
def test_any_one_parameter(text, target, rises):
    found = tr.calibrate(text, **target)
    claim, budget = cost(tr.parse(text.replace("?", str(found.exact))), target)
    assert Fraction(claim.upper) <= budget
    assert 0 < found.slack <= 1e-6
    past = found.exact * (1 + NEAR if rises else 1 - NEAR)
    missed, _ = cost(tr.parse(text.replace("?", str(past))), target)
    assert missed.lower > budget


@pytest.mark.parametrize(
    ("text", "target", "rises"),
    [
        ("gaussian(sigma=1).poisson(0.01) * ?", {"epsilon": 6, "delta": 1e-5}, True),
        ("gaussian(sigma=10).without_replacement(10, ?)", {"epsilon": "0.001", "delta": 1e-6}, False),
        ("gaussian(sigma=10).group(?)", {"epsilon": 2, "delta": 1e-6}, True),
        ("discrete_laplace(scale=10, sensitivity=?)", {"epsilon": "0.75"}, True),
    ],
)
def test_whole_numbers_are_recognised(text, target, rises):
    found = tr.calibrate(text, **target)
    assert isinstance(found.value, int)
    here, budget = cost(tr.parse(text.replace("?", str(found.value))), target)
    past, _ = cost(tr.parse(text.replace("?", str(found.value + (1 if rises else -1)))), target)
    assert Fraction(here.upper) <= budget < Fraction(past.upper)


def test_the_largest_number_of_steps():
    step = tr.Gaussian(1).poisson("0.01")
    found = tr.steps(step, epsilon=2, delta=1e-6)
    assert tr.epsilon(step * found.value, 1e-6) <= 2
    assert tr.epsilon(step * (found.value + 1), 1e-6) > 2
    assert found.beyond.mechanism == step * (found.value + 1)
    assert tr.steps(tr.Laplace(100), epsilon="0.5").value == 50
    assert tr.steps(tr.Gaussian(10), rho="1/2").value == 100
    assert tr.steps(tr.Gaussian(10), mu=1).value == 100


def test_short_decimals_are_found_exactly():
    assert tr.calibrate("discrete_laplace(scale=?) * 3", epsilon=2).exact == Fraction(3, 2)
    assert tr.calibrate("pure(1) + laplace(?)", epsilon="1.5").exact == 2


def test_the_parameter_may_end_before_the_boundary():
    whole = tr.calibrate("gaussian(sigma=10).without_replacement(?, 10000)", epsilon=1, delta=1e-6)
    assert whole.value == 10_000
    assert whole.beyond is None
    assert whole.slack == 0
    rate = tr.calibrate("gaussian(sigma=100).poisson(?)", epsilon=2, delta="0.1")
    assert (rate.value, rate.beyond) == (1, None)


@pytest.mark.parametrize(
    ("mechanism", "target", "told"),
    [
        ("pure(1) + laplace(?)", {"epsilon": "0.5"}, "no value meets the target 0.5: values from .* cost 1 to 2"),
        ("gaussian(sigma=1) * ?", {"epsilon": "0.1", "delta": 1e-5}, "values from 1 to 2 cost 4.37718 to 6.57297"),
        ("gaussian(sigma=?)", {"epsilon": 1}, "no value meets the target 1: .* cost inf to inf.*state delta"),
        ("pure(1) + laplace(1).poisson(?)", {"epsilon": "0.5"}, "no value meets"),
        (lambda _: tr.Pure(1), {"epsilon": 2}, "there is no boundary, every value meets the target 2"),
    ],
)
def test_what_cannot_be_reached_is_told(mechanism, target, told):
    with pytest.raises(tr.NotCertified, match=told):
        tr.calibrate(mechanism, **target)


@pytest.mark.parametrize("factor", [1.0001, 0.9, 1.5])
@pytest.mark.parametrize("text", ["gaussian(sigma=?) * 3", "gaussian(sigma=20) * ?"])
def test_estimates_are_not_believed(monkeypatch, factor, text):
    """Whatever leads the search, certificates decide."""
    right = tr.calibrate(text, epsilon=1, delta=1e-6)
    monkeypatch.setattr(Estimates, "__call__", lambda self, m: factor * tr.epsilon(m, self._delta).upper)
    found = tr.calibrate(text, epsilon=1, delta=1e-6)
    assert found.claim.upper <= 1 < found.beyond.upper
    assert float(found) == pytest.approx(float(right), rel=1e-6)


def test_an_end_that_only_seems_to_meet_the_target_is_not_believed(monkeypatch):
    right = tr.calibrate("gaussian(sigma=5).poisson(?)", epsilon="0.1", delta=1e-6)
    monkeypatch.setattr(Estimates, "__call__", lambda *_: 0.01)
    found = tr.calibrate("gaussian(sigma=5).poisson(?)", epsilon="0.1", delta=1e-6)
    assert found.value == pytest.approx(right.value, rel=1e-6)


@pytest.mark.parametrize("budget", ["2.45", "2.4999"])
def test_the_boundary_may_lie_close_to_where_the_parameter_ends(budget):
    def limited(x):
        if x > Fraction(5, 2):
            raise tr.BadParameter("x", x, "must be at most 5/2")
        return tr.Pure(x)

    assert tr.calibrate(limited, epsilon=budget).value == pytest.approx(float(budget), rel=1e-6)
    at_the_end = tr.calibrate(limited, epsilon=3)
    assert at_the_end.value == pytest.approx(2.5, rel=1e-6)
    assert at_the_end.beyond is None


def test_values_that_cannot_be_told_apart_are_halved(monkeypatch):
    """Rounding never keeps a search where it is."""
    monkeypatch.setattr("tightrope.accounting.calibrate_trials.Trials.number", lambda _, x: Fraction(round(x, 1) or 1))
    assert tr.calibrate(tr.Pure, epsilon="1.2345678").value == pytest.approx(1.2345678, rel=1e-6)


def test_a_search_ends(monkeypatch):
    monkeypatch.setattr("tightrope.accounting.calibrate_trials._MOST", 5)
    with pytest.raises(tr.NotCertified, match="5 trials did not close in"):
        tr.calibrate("gaussian(sigma=?)", epsilon=1, delta=1e-5)


def test_a_function_that_jumps_is_cut_where_it_jumps():
    found = tr.calibrate(lambda x: tr.Pure(1 if x < 3 else 5), epsilon=2)
    assert found.exact < 3
    assert found.exact == pytest.approx(3, rel=1e-6)


def test_a_maker_must_make_mechanisms():
    with pytest.raises(tr.BadParameter):
        tr.calibrate(lambda x: x, epsilon=1)
    with pytest.raises(tr.NotCertified, match="accepts none"):
        tr.calibrate(lambda _: tr.Gaussian(-1), epsilon=1, delta=1e-5)


@pytest.mark.parametrize(
    ("text", "target", "near"),
    [
        ("gaussian(1000).without_replacement(?, 1000000)", {"epsilon": "1e-3", "delta": "1e-5"}, 579749),
        ("gaussian(10).without_replacement(?, 1000)", {"epsilon": "0.01", "delta": "0.01"}, 357),
    ],
)
def test_a_boundary_beyond_values_that_cost_the_same(text, target, near):
    """Small samples cost nothing at this δ, and say nothing about where the boundary is: the first end that was met
    was once taken for it."""
    found = tr.calibrate(text, **target)
    assert found.value == near
    assert found.claim.upper <= Fraction(target["epsilon"])
    assert tr.epsilon(tr.parse(text.replace("?", str(near + 1))), delta=target["delta"]).lower > Fraction(
        target["epsilon"]
    )


def test_more_steps_than_are_tried():
    with pytest.raises(tr.NotCertified, match="every value meets the target"):
        tr.steps(tr.Gaussian(10**9), epsilon=10, delta="1e-5")
    found = tr.steps(tr.Gaussian(10**9), epsilon=1, delta="1e-5")
    assert found.claim.upper <= 1 < found.beyond.lower
    assert found.slack < 1e-6


def test_all_values_meet_the_target():
    """The dearest is the answer, whichever end of the parameter it is."""
    assert tr.calibrate("gaussian(1000).without_replacement(?, 1000)", epsilon=1, delta="1e-5").value == 1000
    assert tr.calibrate("gaussian(1).poisson(?)", epsilon=100, delta="1e-5").value == 1
