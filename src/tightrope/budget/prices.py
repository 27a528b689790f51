"""What one run of a mechanism adds to a budget, by the budget's rule, or why the rule cannot pay for it."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

from tightrope.accounting.terms import terms as parts
from tightrope.budget import costs
from tightrope.budget.costs import Amounts
from tightrope.mechanisms.base import Mechanism

if TYPE_CHECKING:
    from tightrope.budget.terms import Terms

_SAMPLED = "A subsampled mechanism is far cheaper on a budget with rule='renyi'."


def _pure(terms: Terms, m: Mechanism, _: Fraction | None) -> Amounts:
    found = costs.pure_cost(m)
    if found is None:
        raise costs.no_price(m, terms.rule, "its privacy loss is unbounded, so it has no pure ε", "Use a δ > 0.")
    return found, Fraction(0)


def _basic(terms: Terms, m: Mechanism, delta: Fraction | None) -> Amounts:
    found = costs.approximate_cost(m, delta)
    if found is None:
        hint = "Give delta= to say at which δ its ε is to be paid." if delta is None else ""
        raise costs.no_price(m, terms.rule, "it has no finite ε", hint)
    return found


def _zcdp(terms: Terms, m: Mechanism, _: Fraction | None) -> Amounts:
    found = costs.concentrated_cost(m)
    if found is None:
        raise costs.no_price(m, terms.rule, "it has no finite ρ", _SAMPLED)
    if found[1] > terms.leak == 0:
        raise costs.no_price(
            m, terms.rule, f"it fails with chance {found[1]}", "Create the budget with leak= to set δ aside for that."
        )
    return found


def _gdp(terms: Terms, m: Mechanism, _: Fraction | None) -> Amounts:
    found = costs.gaussian_cost(m)
    if found is None:
        raise costs.no_price(m, terms.rule, "it has no finite μ", _SAMPLED)
    return (found,)


def _renyi(terms: Terms, m: Mechanism, _: Fraction | None) -> Amounts:
    found = [costs.renyi_cost(m, order) for order in terms.orders]
    if None in found and not (terms.any_unit and any(x is not None for x in found)):
        raise costs.no_price(m, terms.rule, "a Rényi divergence of it may be infinite", "Use other orders.")
    # An order that may be infinite is used up for good: more than its limit never fits again.
    return tuple(limit + 1 if x is None else x for x, limit in zip(found, terms.limits, strict=True))


def _approx(terms: Terms, m: Mechanism, delta: Fraction | None) -> Amounts:
    if delta is not None:
        loss, failure = _basic(terms, m, delta)
        return loss**2, failure
    steps = [(n, _basic(terms, part, None)) for part, n in parts(m).items()]  # each step of a composition by itself
    return sum((n * e**2 for n, (e, _) in steps), Fraction(0)), sum((n * d for n, (_, d) in steps), Fraction(0))


def _exact(terms: Terms, m: Mechanism, _: Fraction | None) -> Amounts:
    raise costs.no_price(
        m,
        terms.rule,
        "exact composition is not valid for parameters chosen on the way: an adaptive adversary exceeds it",
        "Register everything in advance with plan(…), or create the budget with another rule.",
    )


PRICES: dict[str, Callable[[Terms, Mechanism, Fraction | None], Amounts]] = {
    "pure": _pure,
    "basic": _basic,
    "zcdp": _zcdp,
    "renyi": _renyi,
    "gdp": _gdp,
    "approx": _approx,
    "exact": _exact,
}
