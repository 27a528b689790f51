"""The profile of a product of pairs, in closed form or as an exact sum.

The loss of a composition is a sum of independent losses. Here its hockey-stick is evaluated when all parts but one are
finite laws (atoms): δ(x) = Σ p_i δ_smooth(x − l_i) + mass at ∞. Normal parts merge into one beforehand.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from tightrope.curves.concentrated import joint_failure
from tightrope.curves.contour_profile import contour_profile
from tightrope.curves.loss import Call, FinitePair, Loss, NormalPair, Parts, loss_has_renyi, merged
from tightrope.curves.profile import DirectProfile, Profile
from tightrope.curves.renyi_profile import renyi_to_profile
from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball
from tightrope.numerics.exact import near
from tightrope.numerics.finite import FiniteSum
from tightrope.numerics.real import largest
from tightrope.numerics.search import Start
from tightrope.theorems import Source, theorem

MOST_GRIDDED = 400  # copies that a certified grid multiplies out; more would take a second for each point
LONG = 1000  # copies from which on a guess saves more than it costs
MOST_ATOMS = 4000  # more atoms around a smooth part would take longer than a second to search over


@dataclass(frozen=True)
class Evaluator:
    """A way to evaluate δ in one direction: the function, whether its balls shrink with precision, and its name."""

    call: Call
    exact: bool
    method: str


def evaluator(parts: Parts) -> Evaluator:
    """The hockey-stick of the product of pairs; NotCertified when no closed form or exact sum is known for it."""
    parts = merged(parts)
    smooth = [(pair, n) for pair, n in parts if not isinstance(pair, FinitePair)]
    finite = [(pair.law, n) for pair, n in parts if isinstance(pair, FinitePair)]
    if not smooth:
        total = FiniteSum(finite)
        if not total.exact and sum(n for _, n in finite) > MOST_GRIDDED:
            raise NotCertified(
                "the exact profile", "the atoms lie on no common lattice, and a grid for them would take long"
            )
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
    return _around_atoms(call, FiniteSum(finite))


def _around_atoms(call: Call, atoms: FiniteSum) -> Evaluator:
    if not atoms.exact or atoms.atoms(MOST_ATOMS) is None:
        raise NotCertified("the exact profile", f"more than {MOST_ATOMS} atoms around a continuous part")

    def mixed(x: Ball) -> Ball:
        listed = atoms.atoms(MOST_ATOMS)
        assert listed is not None
        return atoms.infinite() + sum((mass * call(x - value) for value, mass in listed), Ball(0))

    return Evaluator(mixed, True, "closed form around the composed atoms")


@theorem(of=Loss, gives=Profile, kind="equal", role="profile", source=Source("balle2018privacy", "Thm 2"))
def loss_has_profile(c: Loss) -> Profile:
    """δ(ε) = E[(1 − e^{ε−L})₊], the larger of both directions."""
    try:
        found = [evaluator(parts) for parts in c.directions]
    except NotCertified:
        contour = contour_profile(c)
        if contour is None:
            raise
        return contour
    leak = largest([joint_failure([(pair.infinite(), n) for pair, n in parts]) for parts in c.directions])
    return DirectProfile(tuple(f.call for f in found), all(f.exact for f in found), leak, _chernoff(c))


def _chernoff(c: Loss) -> Callable[[Fraction], Start | None] | None:
    """For long sums, the ε that the Rényi curve proves: a little too large, and a good place to start."""
    if all(n <= LONG for parts in c.directions for _, n in parts):
        return None
    curve = loss_has_renyi(c)

    def start(delta: Fraction) -> Start | None:
        if curve is None:
            return None
        bound, witness = renyi_to_profile(curve).epsilon(delta)
        return (bound.upper, 1 - near(witness["order"])) if 0 < bound.upper < math.inf else None

    return start


def composes_tightly(loss: Loss) -> bool:
    """Whether a mechanism attains the profile of this product: always, but for pairs that are suprema themselves.

    Such a supremum is attained at each ε when it stands alone, by a pair that depends on ε.
    """
    if all(pair.composes for parts in loss.directions for pair, _ in parts):
        return True
    return all(len(parts) == 1 and parts[0][1] == 1 for parts in loss.directions)
