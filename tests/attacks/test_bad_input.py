"""Thousands of bad inputs: each is refused with a typed error that says what is wrong, or answered soundly."""

import contextlib
import math
import time

import pytest

import tightrope as tr
from attacks.hostile import COMBINATOR_PARAMETERS, LEAF_PARAMETERS, QUESTION_PARAMETERS, VALUES, shown, sound

MOST_SECONDS = 5.0
PLACES = {**LEAF_PARAMETERS, **COMBINATOR_PARAMETERS, **QUESTION_PARAMETERS}
ASKED: dict = {}


def test_there_are_thousands_of_cases():
    assert len(VALUES) * len(PLACES) >= 2000
    assert set(PLACES) > LONG


def asked(m):
    """Every mechanism that was accepted must answer; equal ones are asked once."""
    if m in ASKED:
        return
    ASKED[m] = True
    assert tr.parse(str(m)) == m
    for question in (
        lambda: tr.epsilon(m, delta=1e-5),
        lambda: tr.delta(m, epsilon=1),
        lambda: tr.renyi(m, order=2),
        lambda: tr.pure(m),
        lambda: tr.zcdp(m),
        lambda: tr.gdp(m),
    ):
        with contextlib.suppress(tr.Unsupported, tr.NotCertified):
            sound(question())


def sound_result(result):
    if isinstance(result, tr.Mechanism):
        asked(result)
    elif isinstance(result, tr.Claim):
        sound(result)
    elif isinstance(result, tr.Calibration):
        assert result.value == result.value
        sound(result.claim)
    elif isinstance(result, tr.Comparison):
        assert all(row.value >= 0 for row in result.rows)
    elif isinstance(result, tr.Check):
        assert not result or isinstance(result.claim, tr.Claim)
    elif isinstance(result, tuple):
        assert all(0 <= low <= high for low, high in zip(*result, strict=True))


def refused_well(error):
    assert str(error)
    if isinstance(error, tr.BadParameter):
        assert isinstance(error.name, str)
        assert error.name
        assert error.problem
        assert hasattr(error, "value")
        assert error.name in str(error)


def wrong(place, make, value):
    """What is wrong with how this value is treated at this place, or None."""
    start = time.process_time()
    try:
        sound_result(make(value))
    except tr.TightropeError as error:
        refused_well(error)
    except TypeError as error:
        # Python's own refusals: operators that do not apply, and calibrate's user function
        if place not in ("plus", "times from the left") or "unsupported operand" not in str(error):
            return f"{place} <- {shown(value)}: {type(error).__name__}: {error}"
    except AssertionError as error:
        return f"{place} <- {shown(value)}: UNSOUND or badly refused: {str(error)[:200]}"
    except Exception as error:
        return f"{place} <- {shown(value)}: {type(error).__name__}: {str(error)[:200]}"
    seconds = time.process_time() - start
    return f"{place} <- {shown(value)}: {seconds:.1f} s" if seconds > MOST_SECONDS else None


LONG = {  # and others come by the same lines
    *("delta epsilon of stated", "TCDP rho", "calibrate epsilon", "CDP mu", "CDP tau", "RDP value", "ZCDP rho"),
    *("DiscreteGaussian sigma", "profile deltas", "profile epsilons"),
}


@pytest.mark.parametrize("place", [pytest.param(p, marks=pytest.mark.no_cover) if p in LONG else p for p in PLACES])
def test_every_bad_value_is_refused_or_answered_soundly(place):
    problems = [found for value in VALUES if (found := wrong(place, PLACES[place], value)) is not None]
    assert not problems, "\n".join(problems)


NEVER = [math.nan, math.inf, -math.inf, True, False, "", "abc", None, "1/0", "1e99999999", 1j, [], {}, -1]


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("place", [p for p in LEAF_PARAMETERS if "monotone" not in p and p not in ("Staircase gamma",)])
@pytest.mark.parametrize("value", NEVER, ids=shown)
def test_what_must_be_refused_is_refused(place, value):
    """A fail-open accountant returns ε = 0 from NaN, q = True or σ = −1; here none of them makes a mechanism."""
    if value == -1 and place in ("GaussianPair mean", "GaussianPair other_mean", "ZCDP xi"):
        return
    with pytest.raises(tr.BadParameter):
        LEAF_PARAMETERS[place](value)


@pytest.mark.parametrize("value", [*NEVER, 2, 1.5, "2"], ids=shown)
def test_a_rate_or_delta_outside_the_unit_interval_is_refused(value):
    for make in (
        lambda x: tr.Gaussian(1).poisson(x),
        lambda x: tr.epsilon(tr.Gaussian(1), delta=x),
        lambda x: tr.tradeoff(tr.Gaussian(1), fpr=x),
    ):
        with pytest.raises(tr.BadParameter) as caught:
            make(value)
        assert caught.value.name in ("rate", "delta", "fpr")


@pytest.mark.parametrize("times", [-1, -5, 2.5, "100.5", "abc", True, None, math.nan, math.inf, 10**19], ids=shown)
def test_counts_are_whole_numbers(times):
    for make in (lambda n: tr.Gaussian(1) * n, lambda n: tr.dpsgd(1, sample_rate=0.01, steps=n)):
        with pytest.raises(tr.BadParameter):
            make(times)


def test_the_misuse_table_of_the_peers():
    """One DP-SGD run with one thing wrong at a time: numbers came back silently from other accountants."""
    base = {"noise_multiplier": 1, "sample_rate": 0.01, "steps": 100}
    for name, values in {
        "noise_multiplier": [0, -1, math.nan, math.inf],
        "sample_rate": [1.5, -0.1, math.nan],
        "steps": [-5, 2.5, True, "abc"],
    }.items():
        for value in values:
            with pytest.raises(tr.BadParameter) as caught:
                tr.dpsgd(**{**base, name: value})
            assert caught.value.name == name
            assert caught.value.value is value
    run = tr.dpsgd(**base)
    for delta in (2, -1e-5, math.nan):
        with pytest.raises(tr.BadParameter):
            tr.epsilon(run, delta=delta)
    assert tr.epsilon(run, delta=0).upper == math.inf
    assert tr.epsilon(run, delta=1).upper == 0
    assert tr.epsilon(tr.dpsgd(**{**base, "sample_rate": 0}), delta=1e-5).upper == 0
    assert tr.epsilon(tr.dpsgd(**{**base, "steps": 0}), delta=1e-5).upper == 0
    assert tr.dpsgd("1", sample_rate="1/100", steps="100") == run
    claim = tr.epsilon(run, delta=1e-5)
    assert claim.lower <= 0.71803566134
    assert claim.upper >= 0.71803566133
    small = tr.epsilon(run, delta="1e-300")
    assert claim.lower <= small.upper < math.inf
    tiny = tr.epsilon(tr.dpsgd(**{**base, "noise_multiplier": 1e-3}), delta=1e-5)
    assert tiny.upper >= 4.9e5
    many = tr.epsilon(tr.dpsgd(1, sample_rate="1e-5", steps=10**9), delta=1e-5)
    assert many.lower <= 1.61790381
    assert many.upper >= 1.61790380
