"""Values that no careful caller would pass, and every place where one can be passed."""

import math
import time
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

import tightrope as tr


class Unprintable:
    """An object that fails whenever it is looked at."""

    def __repr__(self):
        return "<unprintable>"

    def __eq__(self, other):
        raise RuntimeError("looked at")

    __hash__ = None


VALUES: list[Any] = [
    math.nan,
    math.inf,
    -math.inf,
    -0.0,
    0,
    0.0,
    5e-324,
    -5e-324,
    1e-300,
    1e300,
    1e308,
    -1e308,
    10**400,
    -(10**400),
    10**5000,
    -1,
    -0.5,
    1,
    2,
    0.5,
    1.5,
    True,
    False,
    None,
    "",
    " ",
    "abc",
    "nan",
    "inf",
    "-1",
    "1/0",
    "0/1",
    "1/3",
    "-1/3",
    "1//2",
    "1e99999999",
    "1e-99999999",
    "1e5000",
    "1e-5000",
    "0x10",
    "1_000",
    "1" * 5000,
    "1" * 20000,
    "1e",
    "--1",
    "1 2",
    "\x00",
    "٣",
    "²",
    b"1",
    bytearray(b"1"),
    Decimal("NaN"),
    Decimal("sNaN"),
    Decimal("Infinity"),
    Decimal("-0"),
    Decimal("0.5"),
    Decimal("1e-999999"),
    Decimal("1e999999"),
    1j,
    complex(1, 0),
    [],
    [1],
    (),
    (1,),
    {},
    {1: 1},
    set(),
    object(),
    Unprintable(),
    float,
    print,
    lambda: 1,
    range(3),
    np.bool_(True),
    np.bool_(False),
    np.int8(1),
    np.int16(-1),
    np.int32(2),
    np.int64(3),
    np.uint8(0),
    np.uint16(1),
    np.uint32(1),
    np.uint64(2**64 - 1),
    np.float16(0.5),
    np.float32(0.25),
    np.float64(0.75),
    np.longdouble(0.5),
    np.float32("nan"),
    np.float64("nan"),
    np.float64("inf"),
    np.float16("-inf"),
    np.longdouble("nan"),
    np.complex64(1),
    np.complex128(1j),
    np.str_("0.5"),
    np.bytes_(b"1"),
    np.datetime64("2020-01-01"),
    np.timedelta64(1, "s"),
    np.array(0.5),
    np.array(True),
    np.array([0.5]),
    np.array([1, 2]),
    np.array([]),
    np.array([[1.0]]),
    np.array("x"),
    np.array([True]),
    np.array(None),
    Fraction(1, 3),
    Fraction(-1, 3),
    Fraction(0),
    Fraction(10) ** 400,
    Fraction(1, 10**400),
    Fraction(10) ** 5000,
    Fraction(1, 10**5000),
    tr.Gaussian(1),
    tr.Gaussian,
    tr.epsilon(tr.Laplace(1), 0.1),
    "gaussian(sigma=1)",
]

Maker = Callable[[Any], Any]

LEAF_PARAMETERS: dict[str, Maker] = {
    "Gaussian sigma": lambda x: tr.Gaussian(x),
    "Gaussian sensitivity": lambda x: tr.Gaussian(1, x),
    "Laplace scale": lambda x: tr.Laplace(x),
    "Laplace sensitivity": lambda x: tr.Laplace(1, x),
    "DiscreteGaussian sigma": lambda x: tr.DiscreteGaussian(x),
    "DiscreteGaussian sensitivity": lambda x: tr.DiscreteGaussian(2, x),
    "DiscreteGaussian coordinates": lambda x: tr.DiscreteGaussian(2, 1, x),
    "DiscreteLaplace scale": lambda x: tr.DiscreteLaplace(x),
    "DiscreteLaplace sensitivity": lambda x: tr.DiscreteLaplace(2, x),
    "RandomizedResponse epsilon": lambda x: tr.RandomizedResponse(epsilon=x),
    "RandomizedResponse p": lambda x: tr.RandomizedResponse(p=x),
    "RandomizedResponse k": lambda x: tr.RandomizedResponse(1, k=x),
    "RandomizedResponse p with k": lambda x: tr.RandomizedResponse(p=0.5, k=x),
    "LeakyInput delta": lambda x: tr.LeakyInput(x),
    "LeakyRandomizedResponse epsilon": lambda x: tr.LeakyRandomizedResponse(x, 1e-6),
    "LeakyRandomizedResponse delta": lambda x: tr.LeakyRandomizedResponse(1, x),
    "GaussianPair mean": lambda x: tr.GaussianPair(x, 1, 0, 2),
    "GaussianPair sigma": lambda x: tr.GaussianPair(0, x, 1, 2),
    "GaussianPair other_mean": lambda x: tr.GaussianPair(0, 1, x, 1),
    "GaussianPair other_sigma": lambda x: tr.GaussianPair(0, 1, 1, x),
    "Table p": lambda x: tr.Table(x, [1]),
    "Table q": lambda x: tr.Table([1], x),
    "Table entry": lambda x: tr.Table([x, 0.5], [0.5, 0.5]),
    "Exponential epsilon": lambda x: tr.Exponential(x),
    "Exponential monotone": lambda x: tr.Exponential(1, x),
    "NoisyMax epsilon": lambda x: tr.NoisyMax(x),
    "NoisyMax monotone": lambda x: tr.NoisyMax(1, x),
    "PermuteAndFlip epsilon": lambda x: tr.PermuteAndFlip(x),
    "PermuteAndFlip monotone": lambda x: tr.PermuteAndFlip(1, x),
    "AboveThreshold epsilon_threshold": lambda x: tr.AboveThreshold(x, 1),
    "AboveThreshold epsilon_queries": lambda x: tr.AboveThreshold(1, x),
    "AboveThreshold count": lambda x: tr.AboveThreshold(1, 1, x),
    "AboveThreshold monotone": lambda x: tr.AboveThreshold(1, 1, 1, x),
    "Staircase epsilon": lambda x: tr.Staircase(x),
    "Staircase gamma": lambda x: tr.Staircase(1, x),
    "Pure epsilon": lambda x: tr.Pure(x),
    "Approx epsilon": lambda x: tr.Approx(x, 1e-6),
    "Approx delta": lambda x: tr.Approx(1, x),
    "ZCDP rho": lambda x: tr.ZCDP(x),
    "ZCDP xi": lambda x: tr.ZCDP(1, x),
    "ZCDP delta": lambda x: tr.ZCDP(1, 0, x),
    "TCDP rho": lambda x: tr.TCDP(x, 10),
    "TCDP omega": lambda x: tr.TCDP(1, x),
    "CDP mu": lambda x: tr.CDP(x, 1),
    "CDP tau": lambda x: tr.CDP(1, x),
    "GDP mu": lambda x: tr.GDP(x),
    "RDP curve": lambda x: tr.RDP(x),
    "RDP order": lambda x: tr.RDP([(x, 1)] if _unhashable(x) else {x: 1}),
    "RDP value": lambda x: tr.RDP({2: x}),
}

COMBINATOR_PARAMETERS: dict[str, Maker] = {
    "times": lambda x: tr.Gaussian(10) * x,
    "times from the left": lambda x: x * tr.Gaussian(10),
    "times of finite": lambda x: tr.RandomizedResponse("0.01") * x,
    "plus": lambda x: tr.Gaussian(1) + x,
    "group size": lambda x: tr.Gaussian(10).group(x),
    "group size of pure": lambda x: tr.Pure(1).group(x),
    "group size of rdp": lambda x: tr.RDP({8: 0.1}).group(x),
    "poisson rate": lambda x: tr.Gaussian(1).poisson(x),
    "poisson rate of finite": lambda x: tr.RandomizedResponse(1).poisson(x),
    "poisson relation": lambda x: tr.Gaussian(1).poisson(0.5, relation=x),
    "without_replacement size": lambda x: tr.Gaussian(1).without_replacement(x, 100),
    "without_replacement population": lambda x: tr.Gaussian(1).without_replacement(1, x),
    "without_replacement relation": lambda x: tr.Gaussian(1).without_replacement(1, 10, relation=x),
    "parallel block": lambda x: tr.Parallel(tr.Laplace(1), x),
    "parallel relation": lambda x: tr.Parallel(tr.Laplace(1), relation=x),
    "dpsgd noise_multiplier": lambda x: tr.dpsgd(x, sample_rate=0.5, steps=1),
    "dpsgd sample_rate": lambda x: tr.dpsgd(1, sample_rate=x, steps=1),
    "dpsgd steps": lambda x: tr.dpsgd(1, sample_rate=1, steps=x),
    "dpsgd epochs": lambda x: tr.dpsgd(100, sample_rate=1, epochs=x),
    "dpsgd batch_size": lambda x: tr.dpsgd(1, batch_size=x, dataset_size=100, steps=1),
    "dpsgd dataset_size": lambda x: tr.dpsgd(1, batch_size=1, dataset_size=x, steps=1),
    "dpsgd sampler": lambda x: tr.dpsgd(1, batch_size=1, dataset_size=2, steps=1, sampler=x),
    "shuffled users": lambda x: tr.RandomizedResponse(1).shuffled(x),
    "shuffled_batches steps": lambda x: tr.Gaussian(1).shuffled_batches(x),
    "allocated steps": lambda x: tr.Gaussian(1).allocated(x),
    "parse": lambda x: tr.parse(x),
    "parse argument": lambda x: tr.parse(f"gaussian(sigma={printed(x)})"),
}

QUESTION_PARAMETERS: dict[str, Maker] = {
    "epsilon mechanism": lambda x: tr.epsilon(x, 1e-5),
    "epsilon delta": lambda x: tr.epsilon(tr.Gaussian(1), x),
    "epsilon delta of finite": lambda x: tr.epsilon(tr.RandomizedResponse(1, k=3) * 4, x),
    "epsilon delta of stated": lambda x: tr.epsilon(tr.RDP({2: 0.1, 8: 1}), x),
    "epsilon delta of sampled": lambda x: tr.epsilon(tr.Gaussian(1).poisson(0.5), x),
    "delta epsilon": lambda x: tr.delta(tr.Gaussian(1), x),
    "delta epsilon of finite": lambda x: tr.delta(tr.RandomizedResponse(1, k=3) * 4, x),
    "delta epsilon of stated": lambda x: tr.delta(tr.ZCDP(0.1), x),
    "delta epsilon of sampled": lambda x: tr.delta(tr.Gaussian(1).poisson(0.5), x),
    "renyi order": lambda x: tr.renyi(tr.Gaussian(1), x),
    "renyi order of laplace": lambda x: tr.renyi(tr.Laplace(1), x),
    "renyi order of sampled": lambda x: tr.renyi(tr.RandomizedResponse(1).poisson(0.5), x),
    "renyi mechanism": lambda x: tr.renyi(x, 2),
    "tradeoff fpr": lambda x: tr.tradeoff(tr.Gaussian(1), x),
    "tradeoff fpr of finite": lambda x: tr.tradeoff(tr.RandomizedResponse(1, k=3), x),
    "tradeoff fpr of stated": lambda x: tr.tradeoff(tr.GDP(1), x),
    "tcdp omega": lambda x: tr.tcdp(tr.Gaussian(1), x),
    "tcdp omega of laplace": lambda x: tr.tcdp(tr.Laplace(1), x),
    "advantage mechanism": lambda x: tr.advantage(x),
    "pure mechanism": lambda x: tr.pure(x),
    "zcdp mechanism": lambda x: tr.zcdp(x),
    "gdp mechanism": lambda x: tr.gdp(x),
    "profile mechanism": lambda x: tr.profile(x),
    "compare mechanism": lambda x: tr.compare(x, 1e-5),
    "compare delta": lambda x: tr.compare(tr.Laplace(1), x),
    "check": lambda x: tr.check(x),
    "from_json": lambda x: tr.Claim.from_json(x),
    "profile points": lambda x: tr.profile(tr.Laplace(1)).delta([x]),
    "profile array": lambda x: tr.profile(tr.Laplace(1)).epsilon(x),
    "calibrate mechanism": lambda x: tr.calibrate(x, epsilon=1, delta=1e-5),
    "calibrate epsilon": lambda x: tr.calibrate(tr.Gaussian, epsilon=x, delta=1e-5),
    "calibrate delta": lambda x: tr.calibrate(tr.Gaussian, epsilon=1, delta=x),
    "calibrate pure epsilon": lambda x: tr.calibrate(tr.Laplace, epsilon=x),
    "calibrate rho": lambda x: tr.calibrate(tr.Gaussian, rho=x),
    "calibrate mu": lambda x: tr.calibrate(tr.Gaussian, mu=x),
    "calibrate integer": lambda x: tr.calibrate(lambda n: tr.Laplace(10) * n, epsilon=1, integer=x),
    "calibrate result": lambda x: tr.calibrate(lambda _: x, epsilon=1, delta=1e-5),
    "steps mechanism": lambda x: tr.steps(x, epsilon=1, delta=1e-5),
    "steps epsilon": lambda x: tr.steps(tr.Laplace(10), epsilon=x),
    "steps delta": lambda x: tr.steps(tr.Gaussian(10), epsilon=1, delta=x),
    "steps rho": lambda x: tr.steps(tr.Gaussian(10), rho=x),
    "accountant mechanism": lambda x: tr.Accountant().step(x),
    "accountant count": lambda x: _counting(x).epsilon(1e-5),
    "accountant epsilon": lambda x: _counting(2).epsilon(x),
    "accountant delta": lambda x: _counting(2).delta(x),
    "accountant state": lambda x: tr.Accountant.from_json(x),
    "accountant stored step": lambda x: tr.Accountant.from_json({"tightrope": 1, "accountant": [[x, 1]]}),
    "accountant stored number": lambda x: tr.Accountant.from_json({"tightrope": 1, "accountant": [["laplace(1)", x]]}),
    "accountant version": lambda x: tr.Accountant.from_json({"tightrope": x, "accountant": []}),
    "profile epsilons": lambda x: tr.profile(tr.Gaussian(1).poisson(0.1) * 50).delta([0, x, 1]),
    "profile deltas": lambda x: tr.profile(tr.Gaussian(1).poisson(0.1) * 50).epsilon([0.1, x]),
    "profile fprs": lambda x: tr.profile(tr.Laplace(1)).tradeoff([0.1, x]),
}


def _counting(count: Any) -> tr.Accountant:
    accountant = tr.Accountant()
    accountant.step(tr.Gaussian(10), count)
    return accountant


def _unhashable(x: Any) -> bool:
    try:
        hash(x)
    except Exception:
        return True
    return False


def printed(x: Any) -> str:
    """The value as text; Python refuses to print whole numbers of more than 4300 digits."""
    try:
        return str(x)
    except ValueError:
        return "9" * 5000


def shown(x: Any) -> str:
    """A short name of a hostile value; big numbers cannot be printed."""
    try:
        text = f"{type(x).__name__} {x!r}"
    except ValueError:
        text = f"{type(x).__name__} too long to print"
    return text[:60]


def sound(claim: Any) -> None:
    """What a claim promises whatever was asked."""
    assert 0 <= claim.lower <= claim.upper, claim
    if claim.question.ask in ("delta", "advantage", "tradeoff"):
        assert claim.upper <= 1, claim
    str(claim)


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    """The result and the CPU time of this process."""
    start = time.process_time()
    result = call()
    return result, time.process_time() - start
