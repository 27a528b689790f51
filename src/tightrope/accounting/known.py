"""What is known so far: facts by notion. The better of two is kept, and every notion that follows is added."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from tightrope.curves.approximate import Approximate
from tightrope.curves.bounded_range import BoundedRange
from tightrope.curves.concentrated import ZeroConcentrated
from tightrope.curves.gaussian import GaussianDP
from tightrope.curves.loss import Loss
from tightrope.curves.loss_renyi import loss_has_renyi
from tightrope.curves.mean_concentrated import MeanConcentrated
from tightrope.curves.profile_renyi import profile_has_renyi
from tightrope.curves.pure import Pure
from tightrope.curves.renyi import LinearRenyi, Renyi, SmallestRenyi
from tightrope.curves.truncated import TruncatedConcentrated
from tightrope.mechanisms.base import Mechanism
from tightrope.numerics.balls import precision
from tightrope.numerics.real import ZERO, Real
from tightrope.theorems import Kind, Step, Theorem, about

# From strong to weak: each notion may be concluded from those before it.
NOTIONS: tuple[type, ...] = (
    BoundedRange,
    Pure,
    Approximate,
    GaussianDP,
    MeanConcentrated,
    ZeroConcentrated,
    TruncatedConcentrated,
    Loss,
    Renyi,
)


@dataclass(frozen=True, eq=False)
class Fact:
    """A curve that is true of a mechanism. ``kind`` is ``equal`` when the worst mechanism that fits attains it."""

    curve: Any
    kind: Kind
    steps: tuple[Step, ...]


Facts = dict[type, Fact]


def line(rule: Theorem[..., Any], mechanism: Mechanism) -> Step:
    """A line of a proof: the theorem, applied to this mechanism."""
    return Step(rule.id, str(mechanism))


def multiplied(step: Step, n: int) -> Step:
    """The same line for so many copies."""
    return replace(step, count=step.count * n)


def converted(known: Facts, stated: type | None = None) -> Facts:
    """Add every notion that follows. A conversion loses nothing only from the notion stated, or from the loss."""
    for premise in NOTIONS:
        for step in about(premise, "conversion"):
            before = known.get(premise)
            curve = None if before is None else step(before.curve)
            if before is None or curve is None:
                continue
            tight = before.kind == step.kind == "equal" and _says_all(premise, before, stated)
            kind: Kind = "equal" if tight else "upper"
            line = Step(step.id, before.steps[-1].of, before.steps[-1].count, curve)
            keep(known, step.gives, Fact(curve, kind, (*before.steps, line)))
    return known


def _says_all(premise: type, before: Fact, stated: type | None) -> bool:
    return premise is stated or (premise is Loss and all(p.composes for d in before.curve.directions for p, _ in d))


def keep(known: Facts, notion: type, new: Fact) -> None:
    """Add a fact, unless a better one of its notion is known."""
    old = known.get(notion)
    if old is None:
        known[notion] = new
    elif notion is Renyi and old.kind != "equal":
        known[notion] = (
            new if new.kind == "equal" else Fact(SmallestRenyi((old.curve, new.curve)), "upper", old.steps + new.steps)
        )
    elif old.kind != "equal" and (new.kind == "equal" or _size(new.curve) < _size(old.curve)):
        known[notion] = new


def _size(curve: Any) -> float:
    """How large a curve is, for choosing between two valid ones of the same notion."""
    with precision(80):
        if isinstance(curve, Pure):
            return _float(curve.epsilon)
        if isinstance(curve, GaussianDP):
            return _float(curve.mu_squared)
        if isinstance(curve, ZeroConcentrated):
            return _float(curve.rho) + max(_float(curve.xi), 0.0) + (1e300 if curve.delta.rational != 0 else 0.0)
        if isinstance(curve, TruncatedConcentrated):
            return _float(curve.rho) + (1e300 if curve.omega is not None else 0.0)
    return 0.0  # the first theorem stated is kept


def _float(x: Real) -> float:
    with precision(80):
        return float(x.ball().mid())


def sharpen_renyi(known: Facts) -> None:
    """The sum of losses knows its direction, so its Rényi curve is at most the sum of the parts' worse curves."""
    whole = known.get(Loss)
    if whole is None:
        return
    curve = loss_has_renyi(whole.curve)
    if curve is None:
        return
    tight = whole.kind == "equal" and _says_all(Loss, whole, None)
    new = Fact(
        curve,
        "equal" if tight else "upper",
        (*whole.steps, Step(loss_has_renyi.id, whole.steps[-1].of if whole.steps else "", 1)),
    )
    if tight:
        known[Renyi] = new
    else:
        keep(known, Renyi, new)


def integrate_renyi(known: Facts, name: str) -> None:
    """A bounded loss without a formula for its moments still has them through its profile."""
    law = known.get(Loss)
    if law is None or loss_has_renyi(law.curve) is not None:
        return
    curve = profile_has_renyi(law.curve)
    if curve is not None:
        keep(known, Renyi, Fact(curve, "upper", (*law.steps, Step(profile_has_renyi.id, name, 1, curve))))


def nothing(name: str) -> Facts:
    """What is known where the record is never seen."""
    line = (Step("nothing_costs_nothing", name, 1, "ε = 0"),)
    return {
        Pure: Fact(Pure(ZERO), "equal", line),
        Approximate: Fact(Approximate(ZERO, ZERO), "equal", line),
        GaussianDP: Fact(GaussianDP(ZERO), "equal", line),
        ZeroConcentrated: Fact(ZeroConcentrated(ZERO), "equal", line),
        TruncatedConcentrated: Fact(TruncatedConcentrated(ZERO, None), "equal", line),
        Loss: Fact(Loss(()), "equal", line),
        Renyi: Fact(LinearRenyi(ZERO), "equal", line),
    }
