"""Routes: the ways from what is known of a mechanism to its privacy profile. Tightness is known before anything is
evaluated."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from tightrope.accounting.aims import aim
from tightrope.accounting.facts import fact
from tightrope.accounting.instances import gaussian_instance
from tightrope.accounting.known import Fact
from tightrope.accounting.terms import terms
from tightrope.curves.approximate import Approximate, approximate_is_dominated_by_leaky_response
from tightrope.curves.composed_loss import composes_tightly, loss_has_profile
from tightrope.curves.concentrated import ZeroConcentrated
from tightrope.curves.engines.coupled_profile import Cut, cut_batches_cost_little
from tightrope.curves.finite_pair import FinitePair
from tightrope.curves.gaussian import GaussianDP, gaussian_is_dominated_by_normals
from tightrope.curves.loss import Loss, loss_composes
from tightrope.curves.normal_pair import NormalPair
from tightrope.curves.profile import LeakyProfile, Profile
from tightrope.curves.renyi import LinearRenyi, Renyi, SmallestRenyi, SummedRenyi
from tightrope.curves.renyi_profile import renyi_to_profile, renyi_to_profile_optimally
from tightrope.curves.sampled.attained import loss_attained_without_replacement
from tightrope.curves.sampled.clones import one_shuffle
from tightrope.curves.sampled.draws import drawn_rates, loss_attained_with_replacement, nothing_sharper
from tightrope.curves.sampled.exchanged import loss_attained_by_poisson_replacement
from tightrope.curves.sampled.shuffled_count import loss_attained_by_shuffling
from tightrope.curves.shared_records import loss_attained_by_sharing, sharing_cuts
from tightrope.curves.ways import FAIR
from tightrope.mechanisms.base import Mechanism
from tightrope.mechanisms.batches import Allocated, ShuffledBatches
from tightrope.mechanisms.composed import composed
from tightrope.mechanisms.sampled import Poisson, WithoutReplacement, WithReplacement, cut_batches
from tightrope.mechanisms.shuffled import Shuffled
from tightrope.mechanisms.stated import Stated
from tightrope.theorems import REGISTRY, Kind, Step, Theorem

_DRAWS = "loss_with_replacement"


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


def _line(rule: Theorem[..., Any], mechanism: Mechanism) -> Step:
    return Step(rule.id, str(mechanism))


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
        (*known.steps, _line(loss_has_profile, m)),
        lambda: loss_has_profile(known.curve),
        final=nothing_sharper(known.curve, drawn) or one_shuffle(known.curve),
        width=aim(m, known.curve),
    )


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
            *(_counted(s, n) for s in known.steps),
            Step(approximate_is_dominated_by_leaky_response.id, str(part), n),
        ]
        tight = tight and isinstance(part, Stated) and known.kind == "equal"
    whole = loss_composes(parts)
    steps += [Step(loss_composes.id, str(m)), _line(loss_has_profile, m)]
    return Route("optimal", "equal" if tight else "upper", tuple(steps), lambda: loss_has_profile(whole))


def _counted(step: Step, n: int) -> Step:
    return Step(step.theorem, step.of, step.count * n, step.value)


def gaussian_route(m: Mechanism) -> Route | None:
    """Through μ-GDP."""
    known = fact(m, GaussianDP)
    if known is None:
        return None
    return Route(
        "gdp",
        "upper",
        (*known.steps, _line(gaussian_is_dominated_by_normals, m)),
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

    return Route("zcdp", "upper", (*known.steps, _line(renyi_to_profile, m)), build)


def renyi_route(m: Mechanism) -> Route | None:
    """Through the Rényi curve, at its best order."""
    known = fact(m, Renyi)
    if known is None:
        return None
    return Route("rdp", "upper", (*known.steps, _line(renyi_to_profile, m)), lambda: renyi_to_profile(known.curve))


def renyi_optimal_route(m: Mechanism) -> Route | None:
    """Through the whole Rényi curve at once; of several valid curves only those that are quickly evaluated."""
    known = fact(m, Renyi)
    if known is None:
        return None
    curve: Renyi = _quickest(known.curve)
    steps = (*known.steps, _line(renyi_to_profile_optimally, m))
    line = isinstance(curve, LinearRenyi)  # for zCDP it gains a millionth, which is left to compare
    effort, end = (max(curve.effort, 1), curve.top) if line else (curve.effort, None)
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


MAKERS = (exact_route, optimal_route, gaussian_route, renyi_route, concentrated_route, renyi_optimal_route)


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
        if isinstance(part, Poisson) and part.max_batch is not None and part.population is not None:
            cuts.append(((part.population, part.rate, part.max_batch), n))
            whole.append(part.uncut * n)
        else:
            whole.append(part * n)
    if any(cut_batches(part) for part in whole):
        return []  # cut batches inside of groups or blocks
    inner = routes(composed(*whole))
    line = _line(cut_batches_cost_little, m)

    def coupled(route: Route) -> Route:
        return replace(
            route, kind="upper", steps=(*route.steps, line), build=lambda: cut_batches_cost_little(route.build(), cuts)
        )

    return [coupled(route) for route in inner]


def route_named(m: Mechanism, name: str) -> Route | None:
    """The route of that name."""
    return next((r for r in routes(m) if r.name == name), None)


def lower_losses(m: Mechanism) -> Iterator[tuple[Loss, tuple[Step, ...]]]:
    """Laws that some mechanism fitting the description really has, for lower bounds: all parts together, then each
    alone."""
    parts: list[tuple[Loss, int, tuple[Step, ...]]] = []
    for part, n in terms(m).items():
        found = _attained(part, n)
        if found is not None:
            parts.append((found[0], n, found[1]))
    together = [(law, n) for law, n, _ in parts]
    if together:
        yield loss_composes(together), tuple(_counted(s, n) for _, n, steps in parts for s in steps)
    easy = [(law, n, s) for law, n, s in parts if _easy(law)]
    if easy and len(easy) < len(parts):
        yield (
            loss_composes([(law, n) for law, n, _ in easy]),
            tuple(_counted(s, n) for _, n, steps in easy for s in steps),
        )
    for law, n, steps in parts:
        if (n > 1 or _easy(law)) and len(parts) > 1:
            yield loss_composes([(law, n)]), tuple(_counted(s, n) for s in steps)
        if not _easy(law) and (n > 1 or len(parts) > 1):
            yield law, steps
    for part, n in terms(m).items():
        yield from _shared(part, n)


def _shared(part: Mechanism, times: int) -> Iterator[tuple[Loss, tuple[Step, ...]]]:
    """Laws that shuffled reports, shuffled batches or an allocation attain, taken so often."""
    if isinstance(part, Shuffled):
        found = _attained_by_shuffling(part, 1)
        if found is not None:
            yield found
    if not isinstance(part, ShuffledBatches | Allocated) or part.steps == 1:
        return
    known = fact(part, Loss)
    if known is not None and known.kind == "equal" and times > 1:
        yield known.curve, known.steps  # the runs of one epoch
    base = _attained_law(part.part)
    for cuts in [] if base is None else sharing_cuts(base.curve, part.steps, times):
        assert base is not None
        law = loss_attained_by_sharing(base.curve, part.steps, cuts)
        if law is not None:
            steps = (*base.steps, _line(loss_attained_by_sharing, part))
            yield loss_composes([(law, times)]), tuple(_counted(s, times) for s in steps)


def _easy(law: Loss) -> bool:
    return all(isinstance(pair, NormalPair | FinitePair) for parts in law.directions for pair, _ in parts)


def _attained(part: Mechanism, times: int) -> tuple[Loss, tuple[Step, ...]] | None:
    if isinstance(part, WithoutReplacement) and part.relation == "replace":
        return _attained_by_sample(part, loss_attained_without_replacement, part.rate)
    if isinstance(part, WithReplacement):
        return _attained_by_sample(part, loss_attained_with_replacement, drawn_rates(part.size, part.population)[0])
    if isinstance(part, Shuffled) and part.users > 1:
        return _attained_by_shuffling(part, times)
    known = _attained_law(part)
    if known is not None:
        return known.curve, known.steps
    if isinstance(part, Poisson) and part.relation == "replace" and part.max_batch is None:
        return _attained_by_sample(part, loss_attained_by_poisson_replacement, part.rate)
    if isinstance(part, Stated):
        mu_squared = gaussian_instance(part)
        if mu_squared is not None:
            return Loss(((NormalPair(mu_squared), 1),)), (
                Step(gaussian_instance.id, str(part), 1, f"μ² = {mu_squared}"),
            )
    return None


def _attained_law(part: Mechanism) -> Fact | None:
    known = fact(part, Loss)
    if known is None or known.kind != "equal" or not all(p.composes for d in known.curve.directions for p, _ in d):
        return None
    return known


def _attained_by_sample(
    part: WithoutReplacement | WithReplacement | Poisson, rule: Theorem[[Loss, Fraction], Loss | None], rate: Fraction
) -> tuple[Loss, tuple[Step, ...]] | None:
    """One pair of data sets, on a base whose own law is attained."""
    base = _attained_law(part.part)
    law = None if base is None else rule(base.curve, rate)
    if base is None or law is None:
        return None
    return law, (*base.steps, _line(rule, part))


def _attained_by_shuffling(part: Shuffled, times: int) -> tuple[Loss, tuple[Step, ...]] | None:
    """One user among others who all hold the second datum, on a base whose own law is attained."""
    base = _attained_law(part.part)
    law = None if base is None else loss_attained_by_shuffling(base.curve, part.users, times)
    return None if base is None or law is None else (law, (*base.steps, _line(loss_attained_by_shuffling, part)))
