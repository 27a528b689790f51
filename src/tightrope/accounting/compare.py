"""Compare: every route to ε at one δ, best first, with what each loses and whether it is a bound or an estimate."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction

from tightrope.accounting import advanced
from tightrope.accounting.ask import checked, claim, epsilon, positive_delta
from tightrope.accounting.claim import Claim, Question, rounded
from tightrope.accounting.facts import fact
from tightrope.accounting.routes import routes
from tightrope.accounting.solve import BELOW, LAWS, MANY, OTHERS, WORK, Answer, epsilon_by, largest_lower, with_room
from tightrope.accounting.terms import terms
from tightrope.curves.concentrated import ZeroConcentrated
from tightrope.curves.gaussian import GaussianDP
from tightrope.curves.renyi import Renyi
from tightrope.curves.renyi_profile import classic_zcdp_epsilon, renyi_to_profile_classic
from tightrope.errors import NotCertified
from tightrope.mechanisms.base import Mechanism
from tightrope.mechanisms.sampled import Poisson
from tightrope.numerics import effort
from tightrope.numerics.balls import Ball, ball, precision, sharp
from tightrope.numerics.bound import Bound
from tightrope.numerics.exact import Number, shortest
from tightrope.numerics.normal import normal_call
from tightrope.numerics.search import crossing
from tightrope.theorems import Source, Step, theorem

_CLOSE = 1 - 1e-6  # ends of an answer that says what is lost at least
_FORMULAS = 0.5  # of the work left, for each that composes what every part costs
ROUTES = (
    "basic",
    "advanced",
    "advanced-sharp",
    "optimal",
    "zcdp-classic",
    "zcdp",
    "rdp-classic",
    "rdp",
    "rdp-optimal",
    "gdp",
    "group",
    "exact",
    "fewer",
    "clt",
)


@dataclass(frozen=True)
class Row:
    """One route: its ε, whether that is an equality, an upper bound or an estimate, its claim, and what it loses
    against the best."""

    route: str
    value: float
    kind: str
    claim: Claim | None
    loses: float


@dataclass(frozen=True)
class Comparison:
    """The answer of ``compare``: ``rows``, one for each route to ε, best first. Estimates prove nothing and come last.

    ``comparison["rdp"]`` is one row, ``comparison.best`` the first; ``print`` shows a table.
    """

    mechanism: Mechanism
    delta: Fraction
    rows: tuple[Row, ...]

    @property
    def best(self) -> Row:
        """The least proved ε."""
        return self.rows[0]

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, route: str) -> Row:
        for row in self.rows:
            if row.route == route:
                return row
        raise KeyError(f"no row {route!r}; there are {', '.join(row.route for row in self.rows)}")

    def __str__(self) -> str:
        lines = [f"ε of {self.mechanism} at δ = {shortest(self.delta)}", f"{'route':<16}{'ε':>20}  {'kind':<9}loses"]
        for row in self.rows:
            shown = rounded(row.value, "#.12g", up=True) if row.claim is not None else f"{row.value:#.12g}"
            lines.append(f"{row.route:<16}{shown:>20}  {row.kind:<9}{_loss(row)}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        cells = "".join(
            f"<tr><td>{r.route}</td><td>{r.value:.12g}</td><td>{r.kind}</td><td>{_loss(r)}</td></tr>" for r in self.rows
        )
        return f"<table><tr><th>route</th><th>ε</th><th>kind</th><th>loses</th></tr>{cells}</table>"


def _loss(row: Row) -> str:
    if row.kind == "estimate":
        return "proves nothing"
    return "" if row.loses == 0 else "everything" if math.isinf(row.loses) else f"{row.loses:.3g}"


def compare(mechanism: Mechanism, delta: Number) -> Comparison:
    """Find ε at ``delta`` by every route: the exact one, Rényi DP, zCDP, advanced composition and so on.

    Returns a Comparison. Its ``rows`` are sorted, best first, and ``comparison["rdp"]`` is one of them; a row has
    ``route``, ``value`` (an ε), ``kind`` ("equal", "upper" or "estimate"), ``claim`` and ``loses``.

    >>> from tightrope import Approx
    >>> compare(Approx(0.1, 0) * 50, delta=1e-6).best.route
    'optimal'
    """
    m, d = checked(mechanism), positive_delta(delta)
    question = Question("epsilon", (("delta", shortest(d)),))
    with effort.allowed(WORK):
        answers = _answers(m, d)
        low = _lowest(m, d, answers)
    found = [(name, claim(m, question, _raised(answer, low))) for name, answer in answers]
    if not found:  # a mechanism whose ε is not found by composing curves, such as blocks in parallel
        found = [("exact", epsilon(m, d))]
    found.sort(key=lambda pair: (pair[1].upper, not pair[1].tight, ROUTES.index(pair[0])))
    best = found[0][1].upper
    rows = [Row(name, c.upper, "equal" if c.tight else "upper", c, _difference(c.upper, best)) for name, c in found]
    guess = central_limit(m, d)
    if guess is not None:
        rows.append(Row("clt", guess, "estimate", None, _difference(guess, best)))
    return Comparison(m, d, tuple(rows))


def _lowest(m: Mechanism, d: Fraction, answers: list[tuple[str, Answer]]) -> float:
    """What the mechanism costs at least: by a law that it has, where that is known closely; else by any that fits."""
    ends = [with_room(answer.bound) for _, answer in answers if answer.kind == "equal"]
    tight = any(a.kind == "equal" and a.bound.lower >= a.bound.upper * _CLOSE for _, a in answers)
    return max(ends) if tight else max([*ends, largest_lower(m, lambda profile: profile.epsilon(d)[0])])


def _raised(answer: Answer, low: float) -> Answer:
    """What the mechanism costs at least is the same by every route."""
    if answer.kind == "equal":
        return answer
    return replace(answer, bound=Bound(min(low, answer.bound.upper), answer.bound.upper))


def _difference(value: float, best: float) -> float:
    return 0.0 if value == best else value - best


def _answers(m: Mechanism, d: Fraction) -> list[tuple[str, Answer]]:
    found: list[tuple[str, Answer]] = []
    for route in sorted(routes(m), key=lambda route: route.name not in LAWS):  # as much work as a question gives it
        if route.effort > 1 or (route.name == "rdp-optimal" and len(terms(m)) > MANY):
            continue
        try:
            with effort.allowed(effort.left() - BELOW - OTHERS * (route.name in LAWS)):
                found.append((route.name, epsilon_by(route, d)))
        except NotCertified:
            continue
    for name, rule in (
        ("basic", advanced.basic),
        ("advanced", advanced.advanced),
        ("advanced-sharp", advanced.advanced_sharp),
    ):
        result = None
        with effort.allowed(_FORMULAS * effort.left()), suppress(NotCertified):
            result = rule(m, d) if len(terms(m)) > 0 else None
        if result is not None and math.isfinite(result[0].upper):
            steps = (*result[1], Step(rule.id, str(m)))
            found.append((name, Answer(Bound(0.0, result[0].upper), result[0], name, "upper", steps, {})))
    found += _classic(m, d)
    return found


def _classic(m: Mechanism, d: Fraction) -> list[tuple[str, Answer]]:
    found: list[tuple[str, Answer]] = []
    known = fact(m, ZeroConcentrated)
    if known is not None and known.curve.delta.rational == 0:
        c = known.curve
        bound = Bound.around(sharp(lambda: classic_zcdp_epsilon(c.rho.ball(), c.xi.ball(), d)), least=0.0)
        line = Step(zcdp_to_epsilon_classic.id, str(m))
        found.append(
            ("zcdp-classic", Answer(Bound(0.0, bound.upper), bound, "zcdp-classic", "upper", (*known.steps, line), {}))
        )
    curve = fact(m, Renyi)
    if curve is not None:
        with suppress(NotCertified):
            bound, witness = renyi_to_profile_classic(curve.curve).epsilon(d)
            shown, line = Bound(0.0, bound.upper), Step(renyi_to_profile_classic.id, str(m))
            found.append(("rdp-classic", Answer(shown, bound, "rdp-classic", "upper", (*curve.steps, line), witness)))
    return [(name, a) for name, a in found if math.isfinite(a.bound.upper)]


@theorem(
    of=ZeroConcentrated, gives=Bound, kind="upper", role="profile", source=Source("bun2016concentrated", "Prop. 1.3")
)
def zcdp_to_epsilon_classic(rho: Ball, xi: Ball, delta: Fraction) -> Ball:
    """(ξ, ρ)-zCDP implies (ξ + ρ + 2√(ρ ln(1/δ)), δ)-DP."""
    return classic_zcdp_epsilon(rho, xi, delta)


def central_limit(m: Mechanism, delta: Fraction) -> float | None:
    """ε if the composition were exactly Gaussian with the CLT's μ (Bu et al. 2020): an estimate, which may be far too
    small."""
    square = 0.0
    sampled = False
    for part, n in terms(m).items():
        inner, rate = (
            (part.part, float(part.rate))
            if isinstance(part, Poisson) and part.relation == "add-remove"
            else (part, 1.0)
        )
        known = fact(inner, GaussianDP)
        if known is None or known.kind != "equal" or not known.curve.mu_squared.rational:
            return None
        mu_squared = float(min(known.curve.mu_squared.rational, 10**300))
        sampled = sampled or rate < 1
        square += n * (rate**2 * math.expm1(min(mu_squared, 700.0)) if rate < 1 else mu_squared)
    if not sampled or not 0 < square < 1e200:
        return None
    mu = Fraction(math.sqrt(square))

    def value(x: Fraction) -> Ball:
        return sharp(lambda: normal_call(ball(mu), ball(x)), bits=40)

    def log(x: float) -> float:
        middle = value(Fraction(x)).mid()
        with precision(64):
            return float(middle.log()) if middle > 0 else -math.inf

    return crossing(log, value, delta).upper
