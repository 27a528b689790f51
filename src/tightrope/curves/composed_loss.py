"""The profile of a product of pairs, in closed form or as an exact sum.

The loss of a composition is a sum of independent losses. Here its hockey-stick is evaluated when all parts but one are
finite laws (atoms): δ(x) = Σ p_i δ_smooth(x − l_i) + mass at ∞. Normal parts merge into one beforehand.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, partial

from tightrope.curves.concentrated import joint_failure
from tightrope.curves.engines.atoms_profile import atoms_profile
from tightrope.curves.engines.blurred_profile import blurred_profile
from tightrope.curves.engines.contour_profile import contour_profile
from tightrope.curves.engines.grid_profile import few, grid_profile
from tightrope.curves.engines.smoothed_profile import has_few_values, scattered, scattered_profile
from tightrope.curves.engines.transformed import transforms
from tightrope.curves.engines.windowed_profile import rare, windowed_profile
from tightrope.curves.finite_pair import FinitePair
from tightrope.curves.loss import Loss, Parts, merged
from tightrope.curves.normal_pair import NormalPair
from tightrope.curves.pair import Call
from tightrope.curves.profile import DirectProfile, Profile
from tightrope.curves.revealed import Revealed
from tightrope.curves.sampled.allocated import allocated_profile, has_allocation
from tightrope.curves.sampled.draws import has_draws
from tightrope.curves.sampled.draws_profile import DrawsProfile
from tightrope.curves.sampled.glued import few_mixtures
from tightrope.curves.sampled.poisson import PoissonRemove
from tightrope.curves.ways import Way, Ways
from tightrope.errors import NotCertified
from tightrope.numerics import effort
from tightrope.numerics.balls import Ball, precision
from tightrope.numerics.contour.floats import saddle_start
from tightrope.numerics.real import ZERO, Real, largest
from tightrope.numerics.search import Start
from tightrope.numerics.sums.finite import FiniteSum
from tightrope.theorems import Source, theorem

SEVERAL = 6  # copies from which on a guess saves more than it costs
SHORT = 20.0  # milliseconds that an exact sum may take for each point before an integral is tried
FEW_ATOMS = 60  # the same as atoms around a closed form
MOST_GRIDDED = 400  # copies that a certified grid multiplies out; more would take a second for each point
SPARSE = 0.3  # sampled records on average
_SIZABLE = 20.0  # over a loss: smaller ones count less, as they do not reach as far
_LONG, _CALL = 8e5, 30.0  # units of work of a sum that is not quick; of a closed form around an atom
_FEW_SAMPLED = 0.7  # records on average
MOST_ATOMS = 4000  # more atoms around a smooth part would take longer than a second to search over


@dataclass(frozen=True)
class Evaluator:
    """A way to evaluate δ in one direction: the function, whether its balls shrink with precision, and its name."""

    call: Call
    exact: bool
    method: str


def evaluator(parts: Parts, quick: bool = False) -> Evaluator:
    """The hockey-stick of the product of pairs; NotCertified when no closed form or exact sum is known for it, or
    (``quick``) none of a few milliseconds."""
    parts = merged(parts)
    smooth = [(pair, n) for pair, n in parts if not isinstance(pair, FinitePair)]
    finite = [(pair.law, n) for pair, n in parts if isinstance(pair, FinitePair)]
    if not smooth:
        total = FiniteSum(finite)
        if not total.exact and (quick or sum(n for _, n in finite) > MOST_GRIDDED):
            raise NotCertified("the exact profile", "the atoms lie on no common lattice")
        if quick and total.patience > SHORT:
            raise NotCertified("the exact profile", "the composed atoms are many")
        return Evaluator(total.call, total.exact, "sum over the composed atoms")
    if len(smooth) > 1:
        raise NotCertified("the exact profile", "more than one part has a continuous loss")
    pair, n = smooth[0]
    call = pair.repeated(n)
    if call is None:
        raise NotCertified("the exact profile", f"no closed form for {n} copies of {type(pair).__name__}")
    if not finite:
        method = "Gaussian closed form" if isinstance(pair, NormalPair) else "closed form"
        return Evaluator(call, True, method)
    most = MOST_ATOMS if not quick else FEW_ATOMS if isinstance(pair, NormalPair) or n == 1 else 1
    return _around_atoms(call, FiniteSum(finite), most, _CALL * (1 if isinstance(pair, NormalPair) else 1 + n / 8))


def _around_atoms(call: Call, atoms: FiniteSum, most: int, units: float) -> Evaluator:
    if not atoms.exact or atoms.atoms(most) is None:
        raise NotCertified("the exact profile", f"more than {most} atoms around a continuous part")

    def mixed(x: Ball) -> Ball:
        listed = atoms.atoms(most)
        assert listed is not None
        effort.spend(units * len(listed), "a sum over atoms")
        return atoms.infinite() + sum((mass * call(x - value) for value, mass in listed), Ball(0))

    return Evaluator(mixed, True, "closed form around the composed atoms")


@theorem(of=Loss, gives=Profile, kind="equal", role="profile", source=Source("balle2018privacy", "Thm 2"))
def loss_has_profile(c: Loss) -> Profile:
    """δ(ε) = E[(1 − e^{ε−L})₊], the larger of both directions."""
    if has_draws(c):
        return DrawsProfile(c, loss_has_profile)
    if has_allocation(c):
        return allocated_profile(c)
    try:
        return _summed(c, quick=True)
    except NotCertified:
        return _by_contour(c)


def _summed(c: Loss, quick: bool) -> Profile:
    """By closed forms and exact sums."""
    if not quick:
        effort.spend(_LONG, "a long sum")
    found = [evaluator(parts, quick) for parts in c.directions]
    leaks = [joint_failure([(pair.infinite(), n) for pair, n in parts]) for parts in c.directions]
    return DirectProfile(
        tuple(f.call for f in found), all(f.exact for f in found), largest(leaks), _start(c), _top(c, leaks)
    )


def _top(c: Loss, leaks: list[Real]) -> Real | None:
    """The largest finite loss, where all parts are finite laws and both directions leak the same."""
    if len({leak.rational for leak in leaks}) != 1 or leaks[0].rational is None:
        return None
    tops = []
    for parts in c.directions:
        total = ZERO
        for pair, n in parts:
            if not isinstance(pair, FinitePair) or pair.law.infinite.rational == 1:
                return None
            total = total + pair.largest_finite() * n
        tops.append(total)
    return largest(tops)


def _has_transforms(c: Loss) -> bool:
    try:
        return all(transforms(parts) is not None for parts in c.directions)
    except NotCertified:  # a part is out of the reach of its transform
        return False


def _by_contour(c: Loss) -> Profile:
    """By a contour integral: as it stands where the transform decays, with a blurred kink where it does not;
    around what matters of sampled steps; on a grid where the steps are few; in the last resort by long sums."""
    grid: Way = ("grid", partial(grid_profile, c))
    long: Way = ("sum", partial(_summed, c, quick=False))
    if not _has_transforms(c):
        return Ways((long, grid))
    plain = cache(partial(contour_profile, c, deep=False))
    contour: Way = ("contour", plain)
    deep: Way = ("deep", lambda: None if (known := plain()) is None else replace(known, deep=True))
    windowed: Way = ("windowed", partial(windowed_profile, c))
    blurred: Way = ("blurred", partial(blurred_profile, c))
    smoothed: Way = ("smoothed", partial(scattered_profile, c))
    atoms: Way = ("atoms", partial(atoms_profile, c))
    if few_mixtures(c):
        return Ways((grid, contour, deep, blurred, windowed, long))
    if all(not pair.decays for parts in c.directions for pair, _ in parts):
        blurry = (blurred, smoothed) if has_few_values(c) else (smoothed, blurred)
        atomic = (smoothed, grid, blurred) if _sparse(c) else (*blurry, grid)
        return Ways((*atomic, windowed, contour, deep, long))
    if few(c):
        return Ways((windowed, grid, contour, deep, blurred, long))
    first: tuple[Way, ...] = (windowed, contour) if rare(c) else (contour, smoothed, windowed)
    found = [(pair, k) for pair, k in c.remove if isinstance(pair, PoissonRemove) and isinstance(pair.base, NormalPair)]
    sampled, hits = bool(found), sum(k * float(pair.rate) for pair, k in found)
    # around atoms only windowed contours are quicker than these; few sampled steps hardly decay, however blurred
    rest = (grid, deep, blurred) if sampled and hits < _FEW_SAMPLED else (deep, blurred, grid)
    if sampled and any(scattered(pair) for pair, _ in c.remove):  # the terms around other atoms would be dear
        return Ways((*first, grid, deep, blurred, atoms, long))
    if sampled:
        return Ways((*first, atoms, *rest, long))
    return Ways((*first, deep, blurred, atoms, grid, long) if _alone(c) else (*first, *rest, atoms, long))


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
    return 0 < sum(n * float(getattr(pair, "rate", 1)) for pair, n in parts) < SPARSE and finite < SEVERAL


def _start(c: Loss) -> Callable[[Fraction], Start | None] | None:
    """For sums of several losses, about where δ is that small: the saddle point of the integrand, in floats."""
    if all(n < SEVERAL for parts in c.directions for _, n in parts):
        return None

    def start(delta: Fraction) -> Start | None:
        found = []
        for parts in c.directions:
            known = transforms(parts)
            if known is None:
                return None
            try:
                found.append(saddle_start(known, delta))
            except NotCertified:  # a transform out of reach leaves the search without a guess
                return None
        starts = [one for one in found if one is not None]
        return max(starts) if starts else None

    return start


def composes_tightly(loss: Loss) -> bool:
    """Whether a mechanism attains the profile of this product: always, but for pairs that are suprema themselves.

    Such a supremum is attained at each ε when it stands alone, by a pair that depends on ε.
    """
    if all(pair.composes for parts in loss.directions for pair, _ in parts):
        return True
    return all(len(parts) == 1 and parts[0][1] == 1 for parts in loss.directions)
