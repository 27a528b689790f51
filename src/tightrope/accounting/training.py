"""DP-SGD in the words people use: noise multiplier, sample rate, steps, epochs."""

from __future__ import annotations

from fractions import Fraction
from math import ceil

from tightrope.errors import BadParameter
from tightrope.mechanisms.base import Mechanism
from tightrope.mechanisms.gaussian import Gaussian
from tightrope.numerics.exact import Number, count, positive, probability

SAMPLERS = ("poisson", "fixed", "shuffle")


def dpsgd(
    noise_multiplier: Number,
    *,
    sample_rate: Number | None = None,
    steps: Number | None = None,
    batch_size: Number | None = None,
    dataset_size: Number | None = None,
    epochs: Number | None = None,
    sampler: str = "poisson",
) -> Mechanism:
    """A DP-SGD run. Give ``sample_rate`` or ``batch_size`` and ``dataset_size``; ``steps`` or ``epochs``
    (⌈epochs/rate⌉ steps).

    ``sampler`` must say how batches are really drawn. «poisson»: each record independently, add-remove. «fixed»: a
    uniformly random batch of fixed size, replace, where one record exchanged moves a clipped sum by twice the clipping
    norm. «shuffle»: every record once per epoch in a data-independent order, replace: no amplification, one unsampled
    step per epoch.

    >>> print(dpsgd(1.1, batch_size=256, dataset_size=60000, epochs=10))
    gaussian(sigma=1.1).poisson(8/1875) * 2344
    """
    sigma = positive(
        "noise_multiplier", noise_multiplier, "It is the noise's standard deviation over the clipping norm."
    )
    if not isinstance(sampler, str) or sampler not in SAMPLERS:
        raise BadParameter("sampler", sampler, f"must be one of {', '.join(SAMPLERS)}")
    rate, batch, size = _rate(sample_rate, batch_size, dataset_size)
    if sampler == "shuffle":
        return _shuffled(sigma, rate, steps, epochs)
    n = _steps(rate, steps, epochs)
    if sampler == "poisson":
        return Gaussian(sigma).poisson(rate) * n
    if batch is None or size is None:
        raise BadParameter("batch_size", batch_size, "must be given with dataset_size when batches have a fixed size")
    return Gaussian(sigma, 2).without_replacement(batch, size) * n


def _rate(
    sample_rate: Number | None, batch_size: Number | None, dataset_size: Number | None
) -> tuple[Fraction, int | None, int | None]:
    if sample_rate is not None:
        if batch_size is not None or dataset_size is not None:
            raise BadParameter("sample_rate", sample_rate, "must not be given together with batch_size or dataset_size")
        return probability("sample_rate", sample_rate, "It is batch size / number of records."), None, None
    if batch_size is None or dataset_size is None:
        raise BadParameter("sample_rate", sample_rate, "must be given, or batch_size together with dataset_size")
    batch, size = count("batch_size", batch_size), count("dataset_size", dataset_size)
    if batch > size:
        raise BadParameter("batch_size", batch_size, f"must not exceed dataset_size ({size})")
    return Fraction(batch, size), batch, size


def _steps(rate: Fraction, steps: Number | None, epochs: Number | None) -> int:
    if (steps is None) == (epochs is None):
        raise BadParameter("steps", steps, "exactly one of steps and epochs must be given")
    if steps is not None:
        return count("steps", steps, 0)
    assert epochs is not None
    if rate == 0:
        raise BadParameter("epochs", epochs, "cannot be counted at a sampling rate of 0", "Give steps.")
    return ceil(positive("epochs", epochs) / rate)


def _shuffled(sigma: Fraction, rate: Fraction, steps: Number | None, epochs: Number | None) -> Mechanism:
    if (steps is None) == (epochs is None):
        raise BadParameter("steps", steps, "exactly one of steps and epochs must be given")
    passes = (
        ceil(positive("epochs", epochs))
        if epochs is not None
        else ceil(count("steps", steps if steps is not None else 0, 0) * rate)
    )
    return Gaussian(sigma, 2) * passes
