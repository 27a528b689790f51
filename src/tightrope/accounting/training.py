"""DP-SGD in the words people use: noise multiplier, sample rate, steps, epochs."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from tightrope.accounting.ask import epsilon
from tightrope.accounting.claim import Claim, rounded
from tightrope.accounting.terms import terms
from tightrope.curves.composed_loss import loss_has_profile
from tightrope.curves.loss import loss_composes
from tightrope.curves.shared_records import loss_attained_by_sharing, sharing_cuts
from tightrope.errors import BadParameter
from tightrope.mechanisms.base import Mechanism
from tightrope.mechanisms.batches import ShuffledBatches
from tightrope.mechanisms.gaussian import Gaussian, gaussian_mechanism_loss
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
    """Describe a DP-SGD training run. Returns a Mechanism, to be asked with ``epsilon`` and the other questions.

    ``noise_multiplier`` is the noise's standard deviation divided by the clipping norm. Give either ``sample_rate`` or
    both ``batch_size`` and ``dataset_size``, and either ``steps`` or ``epochs`` (rounded up to whole steps).

    ``sampler`` must say how batches are really drawn:

    - "poisson": each record enters each batch independently, with chance ``sample_rate``; relation add-remove.
    - "fixed": each batch is a uniformly random set of ``batch_size`` records; relation replace, where exchanging one
      record moves a clipped sum by twice the clipping norm.
    - "shuffle": every record is used once per epoch, in a random order, as most data loaders do; relation replace.
      An epoch counts as one unsampled step, because no amplification is proved; a started epoch counts in full.

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
        lacking = "batch_size" if batch_size is None else "dataset_size"
        hint = "" if batch_size is dataset_size else f"{lacking} is missing."
        problem = "must be given, or batch_size together with dataset_size"
        raise BadParameter("sample_rate", sample_rate, problem, hint)
    batch, size = count("batch_size", batch_size), count("dataset_size", dataset_size)
    if batch > size:
        raise BadParameter("batch_size", batch_size, f"must not exceed dataset_size ({size})")
    return Fraction(batch, size), batch, size


def _one(steps: Number | None, epochs: Number | None) -> None:
    if (steps is None) == (epochs is None):
        hint = "Neither was given." if steps is None else "Both were given: leave one out."
        raise BadParameter("steps", steps, "exactly one of steps and epochs must be given", hint)


def _steps(rate: Fraction, steps: Number | None, epochs: Number | None) -> int:
    _one(steps, epochs)
    if steps is not None:
        return count("steps", steps, 0)
    assert epochs is not None
    if rate == 0:
        raise BadParameter("epochs", epochs, "cannot be counted at a sampling rate of 0", "Give steps.")
    return ceil(positive("epochs", epochs) / rate)


def _shuffled(sigma: Fraction, rate: Fraction, steps: Number | None, epochs: Number | None) -> Mechanism:
    _one(steps, epochs)
    if steps is not None:
        passes = ceil(count("steps", steps, 0) * rate)
    else:
        assert epochs is not None
        passes = ceil(positive("epochs", epochs))
    if rate == 0:
        return Gaussian(sigma, 2) * 0  # no record is ever used
    return Gaussian(sigma, 2).shuffled_batches(ceil(1 / rate)) * passes


@dataclass(frozen=True)
class Samplers:
    """One training run under each way of drawing its batches: what it costs in ε at one δ.

    ``zeroed``: what shuffled batches cost at least if a record is not exchanged but its gradient set to 0, which is
    what comes closest to Poisson's add-remove (Chua et al. 2024).
    """

    poisson: Claim
    fixed: Claim | None
    shuffle: Claim
    zeroed: float

    def __str__(self) -> str:
        rows = [("poisson", self.poisson), ("fixed", self.fixed), ("shuffle", self.shuffle)]
        lines = [f"{'sampler':<9}{'relation':<12}{'at least':>12}{'at most':>12}"]
        for name, claim in rows:
            if claim is not None:
                low, high = rounded(claim.lower, "#.6g", up=False), rounded(claim.upper, "#.6g", up=True)
                lines.append(f"{name:<9}{claim.relation:<12}{low:>12}{high:>12}")
        low = rounded(self.zeroed, "#.6g", up=False)
        return "\n".join([*lines, f"{'shuffle':<9}{'zero-out':<12}{low:>12}"])


def samplers(
    noise_multiplier: Number,
    *,
    delta: Number,
    sample_rate: Number | None = None,
    steps: Number | None = None,
    batch_size: Number | None = None,
    dataset_size: Number | None = None,
    epochs: Number | None = None,
) -> Samplers:
    """What a training run costs in ε at ``delta`` if its batches are Poisson samples, of fixed size, or shuffled.

    Takes the arguments of ``dpsgd``. Returns an object with the claims ``poisson``, ``fixed`` (None unless the sizes
    are given) and ``shuffle``. Poisson's number is not a bound for shuffled batches, which cost at least
    ``shuffle.lower``.

    >>> print(samplers(0.5, delta=1e-6, sample_rate=1e-4, epochs=1))
    sampler  relation        at least     at most
    poisson  add-remove       1.95322     1.95323
    shuffle  replace          17.1446     26.3570
    shuffle  zero-out         10.9945
    """
    given = {"sample_rate": sample_rate, "batch_size": batch_size, "dataset_size": dataset_size}
    runs = {
        name: epsilon(dpsgd(noise_multiplier, **given, steps=steps, epochs=epochs, sampler=name), delta)
        for name in SAMPLERS
        if name != "fixed" or batch_size is not None
    }
    return Samplers(runs["poisson"], runs.get("fixed"), runs["shuffle"], _zeroed(runs["shuffle"].mechanism, delta))


def _zeroed(run: Mechanism, delta: Number) -> float:
    """The largest ε that shuffled batches are proved to exceed when one record's gradient may be set to 0."""
    best, d = 0.0, probability("delta", delta)
    for part, times in terms(run).items() if 0 < d < 1 else ():
        if not isinstance(part, ShuffledBatches):  # one batch an epoch: a clipped sum moves by the clipping norm
            assert isinstance(part, Gaussian)
            return epsilon(Gaussian(part.sigma) * times, d).lower
        assert isinstance(part.part, Gaussian)
        base = gaussian_mechanism_loss(part.part)
        for cuts in sharing_cuts(base, part.steps, times):
            law = loss_attained_by_sharing(base, part.steps, cuts, Fraction(1, 2))
            if law is not None:
                best = max(best, loss_has_profile(loss_composes([(law, times)])).epsilon(d)[0].lower)
    return best
