"""Hostile values in every place of releases and queries: a typed error or a right answer, never another exception."""

import warnings

import pytest

import tightrope as tr
from attacks.hostile import VALUES
from tightrope.noise.rehearsal import NotPrivate, rehearsed

AGES = [3, 5, 7]
RR = tr.RandomizedResponse(1)
PLACES = {
    "gaussian values": lambda v: tr.Gaussian(1).release(v),
    "gaussian list": lambda v: tr.Gaussian(1).release([v]),
    "discrete values": lambda v: tr.DiscreteLaplace(1).release(v),
    "discrete list": lambda v: tr.DiscreteLaplace(1).release([v, v]),
    "out": lambda v: tr.Gaussian(1).release([1.0], out=v),
    "option": lambda v: tr.Gaussian(1).release(1, seed=v),
    "response": lambda v: RR.release(v),
    "response list": lambda v: RR.release([v]),
    "response named": lambda v: RR.release(v, categories=[0, 1]),
    "categories": lambda v: RR.release(0, categories=v),
    "scores": lambda v: tr.Exponential(1).release(v),
    "score": lambda v: [kind(1).release([v, 1]) for kind in (tr.Exponential, tr.NoisyMax, tr.PermuteAndFlip)],
    "score sensitivity": lambda v: tr.NoisyMax(1).release([1, 2], sensitivity=v),
    "candidates": lambda v: tr.NoisyMax(1).release([1, 2], candidates=v),
    "answers": lambda v: tr.AboveThreshold(1, 1).release(v, threshold=1),
    "answer": lambda v: tr.AboveThreshold(1, 1).release([v], threshold=1),
    "threshold": lambda v: tr.AboveThreshold(1, 1).release([1], threshold=v),
    "staircase": lambda v: tr.Staircase(1).release(v),
    "staircase sensitivity": lambda v: tr.Staircase(1).release(1, sensitivity=v),
    "staircase epsilon": lambda v: (tr.Staircase(v).release(1.5), tr.Staircase(v).interval(0.9)),
    "present": lambda v: tr.Table([1], [1]).release(v),
    "pair": lambda v: tr.GaussianPair(0, 1, 0, 1).release(v),
    "leaky": lambda v: tr.LeakyRandomizedResponse(1, 0.1).release(v),
    "grid": lambda v: tr.Gaussian(1).on_grid(v).release(1.5),
    "confidence": lambda v: [m.interval(v) for m in (tr.Gaussian(1), tr.DiscreteGaussian(1), tr.DiscreteLaplace(1))],
    "sigma": lambda v: (tr.Gaussian(v).release(1.5), tr.Gaussian(v).interval(0.9)),
    "discrete sigma": lambda v: (tr.DiscreteGaussian(v).release(1), tr.DiscreteGaussian(v).interval(0.9)),
    "scale": lambda v: (tr.Laplace(v).release([1.5]), tr.Laplace(v).interval(0.9)),
    "discrete scale": lambda v: (tr.DiscreteLaplace(v).release([1, 2]), tr.DiscreteLaplace(v).interval(0.9)),
    "selection epsilon": lambda v: tr.NoisyMax(v).release([1, 2]),
    "response epsilon": lambda v: tr.RandomizedResponse(v).release(True),
    "response k": lambda v: tr.RandomizedResponse(1, k=v).release(0),
    "count": lambda v: tr.count(v, epsilon=1),
    "count epsilon": lambda v: tr.count(AGES, epsilon=v),
    "count delta": lambda v: tr.count(AGES, epsilon=1, delta=v),
    "count rho": lambda v: tr.count(AGES, rho=v).interval(),
    "count mechanism": lambda v: tr.count(AGES, mechanism=v),
    "count relation": lambda v: tr.count(AGES, epsilon=1, relation=v),
    "sum": lambda v: tr.sum(v, 0, 1, epsilon=1),
    "sum list": lambda v: tr.sum([v, 1], 0, 1, epsilon=1),
    "sum lower": lambda v: tr.sum(AGES, v, 1, epsilon=1),
    "sum upper": lambda v: tr.sum(AGES, 0, v, rho=1).interval(),
    "float sum upper": lambda v: float(tr.sum([1.5], 0, v, epsilon=1)),
    "mean": lambda v: tr.mean(v, 0, 1, epsilon=1),
    "mean upper": lambda v: tr.mean(AGES, 0, v, epsilon=1).interval(),
    "mean share": lambda v: tr.mean(AGES, 0, 9, epsilon=1, count_share=v),
    "mean epsilon": lambda v: tr.mean(AGES, 0, 9, epsilon=v).interval(),
    "histogram": lambda v: tr.histogram(v, [1], epsilon=1),
    "histogram list": lambda v: tr.histogram([v], [1], epsilon=1),
    "histogram categories": lambda v: tr.histogram(AGES, v, epsilon=1),
    "histogram category": lambda v: tr.histogram(AGES, [v], epsilon=1),
    "histogram bins": lambda v: tr.histogram(AGES, bins=v, epsilon=1),
    "histogram bin": lambda v: tr.histogram(AGES, bins=[0, v], epsilon=1),
    "histogram binned": lambda v: tr.histogram([v], bins=[0, 1], epsilon=1),
    "quantile q": lambda v: tr.quantile(AGES, v, 0, 9, epsilon=1),
    "quantile list": lambda v: tr.quantile([v, 1], 0.5, 0, 9, epsilon=1),
    "quantile upper": lambda v: tr.quantile(AGES, 0.5, 0, v, epsilon=1),
    "quantile step": lambda v: tr.quantile(AGES, 0.5, 0, 9, step=v, epsilon=1),
    "quantile epsilon": lambda v: tr.quantile(AGES, 0.5, 0, 9, epsilon=v),
    "quantile rho": lambda v: tr.quantile(AGES, 0.5, 0, 9, rho=v),
    "argmax": lambda v: tr.argmax(v, epsilon=1),
    "argmax method": lambda v: tr.argmax([1, 2], method=v, epsilon=1),
    "argmax monotone": lambda v: tr.argmax([1, 2], monotone=v, epsilon=1),
    "split": lambda v: tr.split(v, 2),
    "split weights": lambda v: tr.split(1, v),
    "split weight": lambda v: tr.split(1, [v, 1]),
    "frequencies": lambda v: tr.frequencies(v, RR),
    "frequencies list": lambda v: tr.frequencies([v], RR),
    "frequencies mechanism": lambda v: tr.frequencies([0], v),
    "frequencies confidence": lambda v: tr.frequencies([0], RR).interval(v),
}


@pytest.mark.parametrize("place", PLACES)
def test_a_typed_error_or_an_answer(place):
    refused = 0
    for value in VALUES:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotPrivate)
            with rehearsed(seed=1):
                try:
                    PLACES[place](value)
                except tr.TightropeError:
                    refused += 1
    assert refused > 10


def test_extreme_values_are_answered():
    assert tr.Staircase(1).release(10**400) == 1.7976931348623157e308
    assert tr.Staircase(1).on_grid(1).release(10**400) > 10**399
    assert tr.quantile([0, 1], 0.5, 0, "1e-310", step="1e-312", epsilon=1).value >= 0
    assert tr.mean([1], 0, "1e300", epsilon=1).interval(0.9)[1] <= 1e300
    assert tr.count(AGES, epsilon="1e-320").interval(0.9)[0] < 0
    assert tr.count(AGES, epsilon="1e-400").interval(0.9) == (-float("inf"), float("inf"))
