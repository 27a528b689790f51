"""How a budget is stated: (ε, δ), ρ, μ, pure ε or a Rényi curve become terms, once and for ever."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from tightrope.budget import limits
from tightrope.budget.terms import RULES, Terms
from tightrope.errors import BadParameter
from tightrope.numerics.exact import Number, exact, nonnegative, positive, probability, shortest

STATEMENTS = ("epsilon", "rho", "mu", "pure", "renyi")
DEFAULT_ORDERS = tuple(map(Fraction, (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 256)))


def terms(
    *,
    epsilon: Number | None = None,
    delta: Number | None = None,
    rho: Number | None = None,
    mu: Number | None = None,
    pure: Number | None = None,
    renyi: Mapping[Any, Any] | None = None,
    rule: str | None = None,
    orders: Iterable[Number] | None = None,
    leak: Number | None = None,
) -> Terms:
    """The terms of a budget stated as (ε, δ), ρ, μ, pure ε or a Rényi curve. ``leak`` is the part of δ that is set
    aside for mechanisms which fail with a chance of their own."""
    given = dict(zip(STATEMENTS, (epsilon, rho, mu, pure, renyi), strict=True))
    named = [name for name, value in given.items() if value is not None]
    if len(named) != 1:
        hint = f"Give one of {', '.join(STATEMENTS)}."
        raise BadParameter("budget", ", ".join(named) or None, "must be stated in exactly one way", hint)
    if delta is not None and epsilon is None:
        raise BadParameter("delta", delta, f"belongs to epsilon, not to {named[0]}", "For leaks on ρ give leak=.")
    d = probability("delta", delta if delta is not None else 0)
    if d == 1:
        raise BadParameter("delta", delta, "must be less than 1", "With δ = 1 everything is allowed.")
    chosen = _rule(rule, named[0], d)
    if orders is not None and (chosen != "renyi" or renyi is not None):
        raise BadParameter("orders", orders, "are for budgets of ε and δ with rule='renyi'")
    part = _leak(leak, chosen, named[0], d)
    if renyi is not None:
        return _curve(renyi)
    if epsilon is None:
        return _direct(chosen, named[0], given[named[0]], part)
    e = positive("epsilon", epsilon)
    stated = (("epsilon", shortest(e)), ("delta", shortest(d)))
    return _converted(chosen, stated, e, d, part, tuple(orders) if orders is not None else None)


_NATURAL = {"rho": ("zcdp",), "mu": ("gdp",), "pure": ("pure", "basic"), "renyi": ("renyi",)}


def _rule(rule: str | None, named: str, delta: Fraction) -> str:
    allowed: tuple[str, ...] = _NATURAL.get(named, ())
    if named == "epsilon":
        allowed = ("zcdp", "basic", "renyi", "gdp", "approx", "exact") if delta else ("basic", "pure", "exact")
    if rule is None:
        return allowed[0]
    if not isinstance(rule, str) or rule not in RULES:
        raise BadParameter("rule", rule, "is not a known rule", f"Known: {', '.join(RULES)}.")
    if rule not in allowed:
        what = f"a budget of {named}" + (" and delta" if delta else "")
        raise BadParameter("rule", rule, f"does not go with {what}", f"It may be {' or '.join(map(repr, allowed))}.")
    return rule


def _leak(leak: Number | None, rule: str, named: str, delta: Fraction) -> Fraction:
    part = delta if rule == "basic" else delta / 2 if rule == "approx" else Fraction(0)
    if leak is None:
        return part
    if rule not in ("zcdp", "approx"):
        raise BadParameter("leak", leak, f"says nothing to the rule {rule!r}", "It is for zcdp and approx.")
    chosen = nonnegative("leak", leak)
    if chosen >= (delta if named == "epsilon" else 1):
        raise BadParameter("leak", leak, "must be less than " + ("δ" if named == "epsilon" else "1"))
    return chosen


def _direct(rule: str, name: str, value: Any, leak: Fraction) -> Terms:
    amount = positive(name, value)
    stated: tuple[tuple[str, str], ...] = ((name, shortest(amount)),)
    if rule == "zcdp":
        return Terms(rule, stated, ("ρ", "δ"), (amount, leak), leak)
    if rule == "gdp":
        return Terms(rule, stated, ("μ²",), (amount**2,))
    return Terms(rule, stated, ("ε", "δ"), (amount, Fraction(0)))


def _curve(renyi: Mapping[Any, Any]) -> Terms:
    """Every order is kept (AND): the outcome then has this Rényi curve."""
    if not isinstance(renyi, Mapping) or not renyi:
        raise BadParameter("renyi", renyi, "must be a dictionary {order: epsilon} with at least one order")
    points = sorted((_order(a), positive(f"epsilon at order {a}", e)) for a, e in renyi.items())
    orders = tuple(a for a, _ in points)
    if len(set(orders)) < len(orders):
        raise BadParameter("renyi", renyi, "states one order twice")
    inner = ", ".join(f"{shortest(a)}: {shortest(e)}" for a, e in points)
    units = tuple(f"D of order {shortest(a)}" for a in orders)
    return Terms("renyi", (("renyi", f"{{{inner}}}"),), units, tuple(e for _, e in points), orders=orders)


def _order(value: Number) -> Fraction:
    order = exact("order", value)
    if order <= 1:
        raise BadParameter("order", value, "must be greater than 1")
    return order


def _converted(
    rule: str,
    stated: tuple[tuple[str, str], ...],
    epsilon: Fraction,
    delta: Fraction,
    leak: Fraction,
    orders: tuple[Number, ...] | None,
) -> Terms:
    if rule in ("pure", "basic"):
        return Terms(rule, stated, ("ε", "δ"), (epsilon, delta), leak)
    if rule == "exact":
        return Terms(rule, stated, ("ε",), (epsilon,))
    if rule == "zcdp":
        return Terms(rule, stated, ("ρ", "δ"), (limits.largest_rho(epsilon, delta, leak), leak), leak)
    if rule == "gdp":
        return Terms(rule, stated, ("μ²",), (limits.largest_mu(epsilon, delta) ** 2,))
    if rule == "approx":
        return Terms(rule, stated, ("ε²", "δ"), (limits.largest_squares(epsilon, delta - leak), leak), leak)
    return _orders(stated, epsilon, delta, orders)


def _orders(
    stated: tuple[tuple[str, str], ...], epsilon: Fraction, delta: Fraction, orders: tuple[Number, ...] | None
) -> Terms:
    """δ is split evenly over the orders that can meet it, and one of them must stay within its own limit (OR)."""
    fixed = sorted({_order(a) for a in orders}) if orders is not None else list(DEFAULT_ORDERS)
    if not 1 <= len(fixed) <= 200:
        raise BadParameter("orders", len(fixed), "must be 1 to 200 orders")
    useful = [a for a in fixed if limits.largest_divergence(epsilon, delta, a) > 0]
    met = [(a, limits.largest_divergence(epsilon, delta / len(useful), a)) for a in useful]
    kept = [(a, limit) for a, limit in met if limit > 0]
    if not kept:
        raise BadParameter("orders", orders or "the usual ones", "none can meet this ε and δ", "Add larger orders.")
    units = tuple(f"D of order {shortest(a)}" for a, _ in kept)
    fitting = tuple(limit for _, limit in kept)
    return Terms("renyi", stated, units, fitting, orders=tuple(a for a, _ in kept), any_unit=True)
