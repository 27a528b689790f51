"""Which parts of a loss a windowed contour splits: Poisson-sampled Gaussian steps."""

from __future__ import annotations

from tightrope.curves.engines.transformed import transforms
from tightrope.curves.loss import Parts, merged
from tightrope.curves.normal_pair import NormalPair
from tightrope.curves.sampled.exchanged import PoissonReplace
from tightrope.curves.sampled.poisson import PoissonAdd, PoissonRemove
from tightrope.numerics.windowed.parts import Sampler, WindowLaw

__all__ = ["MOST_SAMPLERS", "window_law"]

MOST_SAMPLERS = 12  # kinds; more take longer than a question may


def window_law(parts: Parts, reverse: bool = False) -> WindowLaw | None:
    """The sampled Gaussian steps of one direction, and the rest; None if there are none, or one has no transform."""
    samplers, others, kind = [], [], PoissonAdd if reverse else PoissonRemove
    for pair, copies in merged(parts):
        if isinstance(pair, kind) and isinstance(pair.base, NormalPair) and 0 < pair.rate < 1:
            samplers.append(Sampler(pair.base.root(), pair.rate, copies))
        elif isinstance(pair, PoissonReplace) and 0 < pair.rate < 1:
            samplers.append(Sampler(pair.base.root(), pair.rate, copies, exchanged=True))
        else:
            others.append((pair, copies))
    known = transforms(tuple(others))
    return WindowLaw.of(samplers, known) if 0 < len(samplers) <= MOST_SAMPLERS and known is not None else None
