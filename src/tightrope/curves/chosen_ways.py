"""Which ways to the profile of a composition are tried, and in which order. An engine is loaded when it is tried: most
questions need one, and all of them take longer to load than it takes to answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial

from tightrope.curves.engines.contour_profile import contour_profile
from tightrope.curves.engines.rarity import few, hits, loud, rare, rare_and_long, sampled_normal, scattered, seen
from tightrope.curves.engines.transformed import transforms
from tightrope.curves.engines.windowed_laws import MOST_SAMPLERS
from tightrope.curves.finite_pair import FinitePair
from tightrope.curves.loss import Loss, merged
from tightrope.curves.normal_pair import NormalPair
from tightrope.curves.pair import Pair
from tightrope.curves.profile import Profile
from tightrope.curves.revealed import Revealed
from tightrope.curves.sampled.exchanged import PoissonReplace
from tightrope.curves.sampled.glued import Glued, few_mixtures
from tightrope.curves.sampled.poisson import PoissonRemove
from tightrope.curves.ways import Way, Ways
from tightrope.errors import NotCertified
from tightrope.numerics.balls import precision
from tightrope.numerics.transforms.families import with_families

__all__ = ["SEVERAL", "chosen_ways"]

_VERY_MANY, _FOR_MANY = 40, ("contour", "deep", "smoothed", "blurred")  # laws; other ways take too long for each,
_GRIDDED = 100  # but for a grid of sampled normal laws, if there are no more
_MOST_TILT = 1500.0  # microseconds for a look at a tilt: beyond, nothing is found in time
_DEAR = ("grid", "smoothed", "blurred", "windowed")
SEVERAL = 6  # copies from which on a guess saves more than it costs
_SPARSE, _SPARSER, _SIX = 0.3, 0.05, 6  # sampled records on average: of few kinds, and of more than six
_SIZABLE = 20.0  # over a loss: smaller ones count less, as they do not reach as far
_FEW_SAMPLED = 0.7  # records on average
_SEVERAL_HITS = 2.5  # records that many laws sample, on average, of which a contour sees enough
_FAINT = 3e-3  # about the variance of all losses where no record is sampled, if so little that a contour is very long
_FEW_DEAR, _RARE_DEAR = 100, 3.0  # steps, some with a dear transform; sampled records that a contour rarely sees


def chosen_ways(c: Loss, summed: Callable[[], Profile]) -> Profile:
    """By a contour integral: as it stands where the transform decays, with a blurred kink where it does not;
    around what matters of sampled steps; on a grid where the steps are few; in the last resort by long sums. Right
    after a plain contour of laws with heavy tails comes one without these; of bounded laws a look at the largest loss
    comes before all that is dear."""
    found = _chosen(c, summed)
    kinds = max(len(merged(parts)) for parts in c.directions)
    if kinds > _VERY_MANY:
        if _tilt_cost(c) > _MOST_TILT:
            return Ways((("contour", lambda: None),))
        gridded = kinds <= _GRIDDED and all(sampled_normal(pair) for pair, _ in c.remove)
        names = (*_FOR_MANY, "grid") if gridded else _FOR_MANY
        found = replace(found, ways=tuple(way for way in found.ways if way[0] in names))
    present = [name for name, _ in found.ways]
    if any(isinstance(pair, Glued) and isinstance(pair.base, NormalPair) for pair, _ in c.remove):
        place = present.index("contour") + 1 if "contour" in present else 0
        return replace(found, ways=(*found.ways[:place], ("cut", partial(_cut, c)), *found.ways[place:]))
    place = min((present.index(name) for name in _DEAR if name in present), default=len(present))
    return replace(found, ways=(*found.ways[:place], ("top", partial(_top, c)), *found.ways[place:]))


def _chosen(c: Loss, summed: Callable[[], Profile]) -> Ways:
    grid: Way = ("grid", partial(_grid, c))
    long: Way = ("sum", summed)
    if not _has_transforms(c):
        return Ways((long, grid))
    plain = cache(partial(contour_profile, c, deep=False))
    contour: Way = ("contour", plain)
    deep: Way = ("deep", lambda: None if (known := plain()) is None else replace(known, deep=True))
    windowed: Way = ("windowed", partial(_windowed, c))
    blurred: Way = ("blurred", partial(_blurred, c))
    smoothed: Way = ("smoothed", partial(_smoothed, c))
    atoms: Way = ("atoms", partial(_atoms, c))
    if few_mixtures(c):
        return Ways((grid, contour, deep, blurred, windowed, long))
    if all(not pair.decays for parts in c.directions for pair, _ in parts):
        blurry = (blurred, smoothed) if _has_few_values(c) else (smoothed, blurred)
        atomic = (smoothed, grid, blurred) if _sparse(c) else (*blurry, grid)
        return Ways((*atomic, windowed, contour, deep, long))
    dear = [(pair, k) for pair, k in c.remove if isinstance(pair, PoissonRemove) and pair.base.dear]
    if dear:  # all but these two would take seconds
        rarely = sum(k * float(pair.rate) for pair, k in dear if pair.base.largest().infinite)
        hardly = sum(k * float(pair.rate) for pair, k in dear) < _SPARSE
        quick = (grid, contour) if 0 < rarely < _RARE_DEAR or hardly else (contour, grid)
        if sum(k for _, k in c.remove) <= _FEW_DEAR:
            return Ways((*quick, long))
        if rarely >= _RARE_DEAR:  # so many heavy losses leave little to a grid
            return Ways((contour, blurred, grid, deep, windowed, atoms, long))
        return Ways((*quick, deep, blurred, windowed, atoms, long))
    laws = merged(c.remove)
    if len(laws) > MOST_SAMPLERS and all(sampled_normal(pair) for pair, _ in laws):  # others take too long for each
        if rare_and_long(c):
            return Ways((contour,))  # fewer kinds tell more than others here
        if hits(c) >= _SEVERAL_HITS:
            return Ways((contour, deep))
        faint = sum(k * float(pair.rate) ** 2 for pair, k in laws if sampled_normal(pair)) < _FAINT
        return Ways((grid, contour, deep) if faint else (contour, grid, deep))
    if few(c):
        return Ways((windowed, contour, grid, deep, blurred, long))
    first: tuple[Way, ...] = (windowed, contour) if rare(c) else (contour, smoothed, windowed)
    sampled = [(pair, k) for pair, k in c.remove if sampled_normal(pair)]
    scatter = [(pair, k) for pair, k in c.remove if scattered(pair)]
    if sampled and any(_lattice(pair) for pair, _ in c.remove):
        around = (windowed, atoms) if loud(c) else (atoms, windowed)
        near = (blurred, *around, grid, deep) if seen(c) else (*around, grid, deep, blurred)
        return Ways((contour, *near, long))
    # around atoms only windowed contours are quicker than these; few sampled steps hardly decay, however blurred
    rest = (grid, deep, blurred) if _few_sampled([*sampled, *scatter]) else (deep, blurred, grid)
    if sampled and scatter:  # the terms around other atoms would be dear
        replaced = all(isinstance(pair, PoissonReplace) for pair, _ in sampled)
        return Ways((*first, *(rest if replaced else (grid, deep, blurred)), atoms, long))
    if sampled:
        return Ways((*first, atoms, *rest, long))
    others = [(pair, k) for pair, k in c.remove if not isinstance(pair, FinitePair)]
    # beside few sampled losses that are bounded a grid lists all atoms, in less time
    listed = _few_sampled(others) and not any(pair.largest().infinite for pair, _ in others)
    if _alone(c) and not listed:
        return Ways((*first, deep, blurred, atoms, grid, long))
    return Ways((*first, *rest, atoms, long))


def _tilt_cost(c: Loss) -> float:
    """Of all laws together, families counted once."""
    try:
        known = [transforms(parts) for parts in c.directions]
    except NotCertified:
        return 0.0
    return sum(one.tilt_cost for parts in known if parts is not None for one, _ in with_families(parts))


def _lattice(pair: Pair) -> bool:
    """Whether losses are the many atoms of a noise without end, and no record is sampled."""
    return not (pair.decays or hasattr(pair, "rate") or isinstance(pair, FinitePair)) and pair.largest().infinite


def _few_sampled(parts: Sequence[tuple[Pair, int]]) -> bool:
    return bool(parts) and sum(n * float(getattr(pair, "rate", 1)) for pair, n in parts) < _FEW_SAMPLED


def _has_transforms(c: Loss) -> bool:
    try:
        return all(transforms(parts) is not None for parts in c.directions)
    except NotCertified:  # a part is out of the reach of its transform
        return False


def _alone(c: Loss) -> bool:
    """Whether one kind of loss, and no mixture, is beside the finite laws: then one grid of it serves all atoms, and
    that is closer than a grid of the whole."""
    others = [pair for pair, _ in merged(c.remove) if not isinstance(pair, FinitePair)]
    return len(others) == 1 and not isinstance(getattr(others[0], "base", None), Revealed)


def _sparse(c: Loss) -> bool:
    """Whether so few records are sampled, with noise of many values, that no tilt finds the tail; many other losses
    have one."""
    parts = [(pair, n) for pair, n in merged(c.remove) if not isinstance(pair, FinitePair)]
    with precision(64):
        sizes = [(pair.largest_finite().ball(), n) for pair, n in merged(c.remove) if isinstance(pair, FinitePair)]
        finite = sum(n * min(1.0, _SIZABLE * float(size.mid())) for size, n in sizes)
    most = _SPARSE if len(parts) <= _SIX else _SPARSER
    return 0 < sum(n * float(getattr(pair, "rate", 1)) for pair, n in parts) < most and finite < SEVERAL


def _cut(c: Loss) -> Profile | None:
    from tightrope.curves.engines.cut_profile import cut_profile

    return cut_profile(c)


def _top(c: Loss) -> Profile | None:
    from tightrope.curves.engines.top_profile import top_profile

    return top_profile(c)


def _windowed(c: Loss) -> Profile | None:
    from tightrope.curves.engines.windowed_profile import windowed_profile

    return windowed_profile(c)


def _blurred(c: Loss) -> Profile | None:
    from tightrope.curves.engines.blurred_profile import blurred_profile

    return blurred_profile(c)


def _has_few_values(c: Loss) -> bool:
    from tightrope.curves.engines.smoothed_profile import has_few_values

    return has_few_values(c)


def _smoothed(c: Loss) -> Profile | None:
    from tightrope.curves.engines.smoothed_profile import scattered_profile

    return scattered_profile(c)


def _atoms(c: Loss) -> Profile | None:
    from tightrope.curves.engines.atoms_profile import atoms_profile

    return atoms_profile(c)


def _grid(c: Loss) -> Profile | None:
    from tightrope.curves.engines.grid_profile import grid_profile

    return grid_profile(c)
