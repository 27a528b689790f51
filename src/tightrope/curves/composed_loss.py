"""The profile of a product of pairs, in closed form or as an exact sum.

The loss of a composition is a sum of independent losses. Here its hockey-stick is evaluated when all parts but one are
finite laws (atoms): δ(x) = Σ p_i δ_smooth(x − l_i) + mass at ∞. Normal parts merge into one beforehand.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from tightrope.curves.chosen_ways import SEVERAL, chosen_ways
from tightrope.curves.concentrated import joint_failure
from tightrope.curves.engines.transformed import transforms
from tightrope.curves.finite_pair import FinitePair
from tightrope.curves.loss import Loss, Parts, merged
from tightrope.curves.normal_pair import NormalPair
from tightrope.curves.pair import Call, Pair
from tightrope.curves.profile import DirectProfile, Profile
from tightrope.curves.sampled.allocated import allocated_profile, has_allocation
from tightrope.curves.sampled.draws import has_draws
from tightrope.curves.ways import Ways
from tightrope.errors import NotCertified
from tightrope.numerics import effort
from tightrope.numerics.balls import Ball, precision
from tightrope.numerics.contour.floats import saddle_start
from tightrope.numerics.contour.tilts import normal_root
from tightrope.numerics.real import ZERO, Real, largest
from tightrope.numerics.search import Start
from tightrope.numerics.sums.finite import FiniteSum
from tightrope.theorems import Source, theorem

SHORT = 20.0  # milliseconds that an exact sum may take for each point before an integral is tried
FEW_ATOMS = 60  # the same as atoms around a closed form
MOST_GRIDDED = 400  # copies that a certified grid multiplies out; more would take a second for each point
MOST_VALUES = 200  # of all laws: likewise
_LONG, _CALL = 8e5, 30.0  # units of work of a sum that is not quick; of a closed form around an atom
SEVERAL_DEAR = 2  # copies, where a value of their formula is dear
MANY = 10**4  # copies
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
        long = sum(n for _, n in finite) > MOST_GRIDDED or sum(len(law.values) for law, _ in finite) > MOST_VALUES
        if not total.exact and (quick or long):
            raise NotCertified("the exact profile", "the atoms lie on no common lattice")
        if quick and total.patience > SHORT:
            raise NotCertified("the exact profile", "the composed atoms are many")
        return Evaluator(total.call, total.exact, "sum over the composed atoms")
    pair, n, call = _closed(smooth)
    if quick and not pair.briefly(n):
        raise NotCertified("the exact profile", f"the closed form for {n} copies is long")
    if not finite:
        method = "Gaussian closed form" if isinstance(pair, NormalPair) else "closed form"
        return Evaluator(call, True, method)
    most = MOST_ATOMS if not quick else FEW_ATOMS if isinstance(pair, NormalPair) or n == 1 else 1
    return _around_atoms(call, FiniteSum(finite), most, _CALL * (1 if isinstance(pair, NormalPair) else 1 + n / 8))


def _closed(smooth: Sequence[tuple[Pair, int]]) -> tuple[Pair, int, Call]:
    """The one part that has no atoms, and the formula of all its copies."""
    if len(smooth) > 1:
        raise NotCertified("the exact profile", "more than one part has a continuous loss")
    pair, n = smooth[0]
    call = pair.repeated(n)
    if call is None:
        raise NotCertified("the exact profile", f"no closed form for {n} copies of {type(pair).__name__}")
    return pair, n, call


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
        from tightrope.curves.sampled.draws_profile import DrawsProfile  # with engines that others do without

        return DrawsProfile(c, loss_has_profile)
    if has_allocation(c):
        return allocated_profile(c)
    others = partial(chosen_ways, c, partial(_summed, c, quick=False))
    try:
        summed = _summed(c, quick=True)
    except NotCertified:
        return others()
    if all(n < MANY for parts in c.directions for _, n in parts):
        return summed
    after = others()  # of so many a sum may be longer than it seemed
    if not isinstance(after, Ways):
        return summed
    return Ways((("sum", lambda: summed), *(way for way in after.ways if way[0] != "sum")))


def _summed(c: Loss, quick: bool) -> Profile:
    """By closed forms and exact sums."""
    if not quick:
        for parts in c.directions:  # where there is no formula, nothing is spent
            smooth = [(pair, n) for pair, n in merged(parts) if not isinstance(pair, FinitePair)]
            if smooth:
                _closed(smooth)
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


def _start(c: Loss) -> Callable[[Fraction], Start | None] | None:
    """For sums of several losses, about where δ is that small: the saddle point of the integrand, in floats."""
    if len(c.remove) == 1 and isinstance(c.remove[0][0], NormalPair):
        return partial(_normal_start, c.remove[0][0], c.remove[0][1])
    if all(n < (SEVERAL_DEAR if pair.dear else SEVERAL) for parts in c.directions for pair, n in parts):
        return None

    def start(delta: Fraction) -> Start | None:
        found = []
        for parts in c.directions:
            try:
                if (known := transforms(parts)) is None:
                    return None
                found.append(saddle_start(known, delta))
            except NotCertified:  # a transform out of reach leaves the search without a guess
                return None
        starts = [one for one in found if one is not None]
        return max(starts) if starts else None

    return start


def _normal_start(pair: NormalPair, copies: int, delta: Fraction) -> Start | None:
    """Of normal losses, by Chernoff's bound."""
    with precision(64):
        mean = float(pair.mu_squared.ball().mid()) * copies
    if not 1e-100 < mean < 1e100 or delta.numerator << 1000 < delta.denominator:
        return None
    x, t = normal_root(math.sqrt(mean), math.log(delta))
    return (x, -t) if 0 < x < math.inf else None


def composes_tightly(loss: Loss) -> bool:
    """Whether a mechanism attains the profile of this product: always, but for pairs that are suprema themselves.

    Such a supremum is attained at each ε when it stands alone, by a pair that depends on ε.
    """
    if all(pair.composes for parts in loss.directions for pair, _ in parts):
        return True
    return all(len(parts) == 1 and parts[0][1] == 1 for parts in loss.directions)
