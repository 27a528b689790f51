"""Routes: the ways from what is known of a mechanism to its privacy profile. Tightness is known before anything is
evaluated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

from tightrope.accounting.aims import aim
from tightrope.accounting.facts import fact
from tightrope.accounting.group_laws import group_laws
from tightrope.accounting.known import line, multiplied
from tightrope.accounting.terms import terms
from tightrope.curves.approximate import Approximate, approximate_is_dominated_by_leaky_response
from tightrope.curves.composed_loss import composes_tightly, loss_has_profile
from tightrope.curves.concentrated import ZeroConcentrated
from tightrope.curves.engines.coupled_profile import Cut, cut_batches_cost_little
from tightrope.curves.gaussian import GaussianDP, gaussian_is_dominated_by_normals
from tightrope.curves.ladders import loss_is_dominated_by_fewer_kinds
from tightrope.curves.loss import Loss, loss_composes
from tightrope.curves.profile import LeakyProfile, Profile
from tightrope.curves.renyi import LinearRenyi, Renyi, SmallestRenyi, SummedRenyi
from tightrope.curves.renyi_profile import renyi_to_profile, renyi_to_profile_optimally
from tightrope.curves.renyi_units import value_units
from tightrope.curves.sampled.clones import one_shuffle
from tightrope.curves.sampled.draws import nothing_sharper
from tightrope.curves.ways import FAIR, ROUGH, TABLED
from tightrope.curves.worst_law import group_has_profile
from tightrope.errors import NotCertified
from tightrope.mechanisms.base import Mechanism
from tightrope.mechanisms.composed import Grouped, composed, grouped
from tightrope.mechanisms.sampled import Poisson, cut_batches
from tightrope.mechanisms.stated import Stated
from tightrope.theorems import REGISTRY, Kind, Step

_LONGEST = 3e6  # units of work for a value of a Rényi curve
_DRAWS, _DOTS = "loss_with_replacement", {"loss_is_dominated_by_dots", "loss_is_dominated_by_even_dots"}


@dataclass(frozen=True, eq=False)
class Route:
    """One way to a profile: its name in ``compare``, its kind, the lines of its proof, and the profile when it is
    wanted."""

    name: str
    kind: Kind
    steps: tuple[Step, ...]
    build: Callable[[], Profile]
    effort: int = 0  # above 0: left to compare; above 1: to nobody, it would take seconds
    end: Fraction | None = None  # the last order of a line: there the whole curve gains more than a trifle
    final: bool = False  # no other route can be better, even where this one is only an upper bound
    width: float = FAIR  # how close its ends should be, relatively


def exact_route(m: Mechanism) -> Route | None:
    """Through the law of the loss."""
    known = fact(m, Loss)
    if known is None:
        return None
    tight = known.kind == "equal" and composes_tightly(known.curve)
    above = {step.theorem for step in known.steps if REGISTRY[step.theorem].kind != "equal"}
    drawn = known.kind == "equal" or above == {_DRAWS}
    return Route(
        "exact",
        "equal" if tight else "upper",
        (*known.steps, line(loss_has_profile, m)),
        lambda: loss_has_profile(known.curve),
        final=nothing_sharper(known.curve, drawn) or one_shuffle(known.curve),
        width=max(aim(m, known.curve), TABLED if _DOTS & above else 0.0),
    )


def group_route(m: Mechanism) -> Route | None:
    """Through the laws of a group each member of which is sampled by itself."""
    found = group_laws(m)
    if found is None:
        return None
    laws, steps = found
    return Route("group", "equal", (*steps, line(group_has_profile, m)), lambda: group_has_profile(laws))


def fewer_route(m: Mechanism) -> Route | None:
    """Through a law of fewer kinds, where there are too many for others."""
    known = fact(m, Loss)
    law = None if known is None else loss_is_dominated_by_fewer_kinds(known.curve)
    if known is None or law is None:
        return None
    steps = (*known.steps, line(loss_is_dominated_by_fewer_kinds, m), line(loss_has_profile, m))
    return Route("fewer", "upper", steps, lambda: loss_has_profile(law), final=True, width=ROUGH)


def law_route(m: Mechanism) -> Route | None:
    """The route through the law of the loss, or through all laws that a group may have."""
    return group_route(m) or exact_route(m)


def optimal_route(m: Mechanism) -> Route | None:
    """Through the pure and approximate guarantees of the parts only, composed as well as they can be."""
    parts: list[tuple[Loss, int]] = []
    steps: list[Step] = []
    tight = True
    for part, n in terms(m).items():
        known = fact(part, Approximate)
        if known is None:
            return None
        parts.append((approximate_is_dominated_by_leaky_response(known.curve), n))
        steps += [
            *(multiplied(s, n) for s in known.steps),
            Step(approximate_is_dominated_by_leaky_response.id, str(part), n),
        ]
        tight = tight and isinstance(part, Stated) and known.kind == "equal"
    whole = loss_composes(parts)
    steps += [Step(loss_composes.id, str(m)), line(loss_has_profile, m)]
    return Route("optimal", "equal" if tight else "upper", tuple(steps), lambda: loss_has_profile(whole))


def gaussian_route(m: Mechanism) -> Route | None:
    """Through μ-GDP."""
    known = fact(m, GaussianDP)
    if known is None:
        return None
    return Route(
        "gdp",
        "upper",
        (*known.steps, line(gaussian_is_dominated_by_normals, m)),
        lambda: loss_has_profile(gaussian_is_dominated_by_normals(known.curve)),
    )


def concentrated_route(m: Mechanism) -> Route | None:
    """Through (ξ, ρ)-zCDP, with what was set aside added at the end."""
    known = fact(m, ZeroConcentrated)
    if known is None:
        return None
    c: ZeroConcentrated = known.curve

    def build() -> Profile:
        inner = renyi_to_profile(LinearRenyi(c.rho, c.xi))
        return inner if c.delta.rational == 0 else LeakyProfile(inner, c.delta)

    return Route("zcdp", "upper", (*known.steps, line(renyi_to_profile, m)), build)


def renyi_route(m: Mechanism) -> Route | None:
    """Through the Rényi curve, at its best order."""
    known = fact(m, Renyi)
    if known is None:
        return None

    def build() -> Profile:
        if value_units(known.curve) > _LONGEST:
            raise NotCertified("the Rényi curve", f"{len(terms(m))} kinds of mechanisms would take too long")
        return renyi_to_profile(known.curve)

    return Route("rdp", "upper", (*known.steps, line(renyi_to_profile, m)), build)


def renyi_optimal_route(m: Mechanism) -> Route | None:
    """Through the whole Rényi curve at once; of several valid curves only those that are quickly evaluated."""
    known = fact(m, Renyi)
    if known is None:
        return None
    curve: Renyi = _quickest(known.curve)
    steps = (*known.steps, line(renyi_to_profile_optimally, m))
    straight = isinstance(curve, LinearRenyi)  # for zCDP it gains a millionth, which is left to compare
    effort, end = (max(curve.effort, 1), curve.top) if straight else (curve.effort, None)
    return Route("rdp-optimal", "upper", steps, lambda: renyi_to_profile_optimally(curve), effort, end)


def _quickest(curve: Renyi) -> Renyi:
    """A valid curve that costs no more to evaluate: of alternatives the quick ones, in sums part by part."""
    if isinstance(curve, SmallestRenyi):
        parts = [_quickest(part) for part in curve.parts]
        least = min(part.effort for part in parts)
        return SmallestRenyi(tuple(part for part in parts if part.effort == least))
    if isinstance(curve, SummedRenyi):
        return SummedRenyi(tuple((_quickest(part), n) for part, n in curve.parts))
    return curve


MAKERS = (
    group_route,
    exact_route,
    fewer_route,
    optimal_route,
    gaussian_route,
    renyi_route,
    concentrated_route,
    renyi_optimal_route,
)


def routes(m: Mechanism) -> list[Route]:
    """Every route, the tight ones first."""
    if cut_batches(m):
        return _cut_routes(m)
    found = [route for maker in MAKERS if (route := maker(m)) is not None]
    return sorted(found, key=lambda r: r.kind != "equal")


def _cut_routes(m: Mechanism) -> list[Route]:
    """The routes of the run whose batches are not cut, each with what the cuts cost."""
    cuts: list[tuple[Cut, int]] = []
    whole: list[Mechanism] = []
    for part, n in terms(m).items():
        sample, size = (part.part, part.size) if isinstance(part, Grouped) else (part, 1)
        if isinstance(sample, Poisson) and sample.max_batch and sample.population is not None:
            cuts.append(((sample.population, sample.rate, sample.max_batch), n))
            whole.append(grouped(sample.uncut, size) * n)
        else:
            whole.append(part * n)
    if any(cut_batches(part) for part in whole):
        return []  # cut batches inside of blocks
    inner = routes(composed(*whole))
    last = line(cut_batches_cost_little, m)

    def coupled(route: Route) -> Route:
        return replace(
            route, kind="upper", steps=(*route.steps, last), build=lambda: cut_batches_cost_little(route.build(), cuts)
        )

    return [coupled(route) for route in inner]


def route_named(m: Mechanism, name: str) -> Route | None:
    """The route of that name."""
    return next((r for r in routes(m) if r.name == name), None)
