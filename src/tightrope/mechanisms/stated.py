"""Stated guarantees as mechanisms: «somebody proved this of what was run». The truth is the worst mechanism that
fits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tightrope.curves import approximate, concentrated, gaussian, mean_concentrated, pure, renyi, truncated
from tightrope.errors import BadParameter
from tightrope.mechanisms.base import Leaf, written
from tightrope.numerics.exact import Number, exact, nonnegative, positive, probability
from tightrope.numerics.real import real
from tightrope.theorems import Source, theorem


class Stated(Leaf):
    """A guarantee taken as given. ``notion`` is the curve it states."""

    @property
    def vanishes(self) -> bool:
        """Whether it says that the output does not depend on the record at all: a divergence of 0 means P = Q."""
        return False


@dataclass(frozen=True, init=False, repr=False)
class Pure(Stated):
    """The guarantee of ε-DP: the worst mechanism that satisfies it. Use it where only the guarantee is known.

    >>> print(Pure(0.5))
    pure(epsilon=0.5)
    """

    epsilon: Fraction
    text_name = "pure"
    notion = pure.Pure

    def __init__(self, epsilon: Number) -> None:
        self._set(epsilon=nonnegative("epsilon", epsilon))

    @property
    def vanishes(self) -> bool:
        """Whether P = Q follows."""
        return self.epsilon == 0


@dataclass(frozen=True, init=False, repr=False)
class Approx(Stated):
    """The guarantee of (ε, δ)-DP: the worst mechanism that satisfies it.

    >>> print(Approx(0.1, 1e-8) * 50)
    approx(epsilon=0.1, delta=1e-8) * 50
    """

    epsilon: Fraction
    delta: Fraction
    text_name = "approx"
    notion = approximate.Approximate

    def __init__(self, epsilon: Number, delta: Number) -> None:
        self._set(epsilon=nonnegative("epsilon", epsilon), delta=probability("delta", delta))


@dataclass(frozen=True, init=False, repr=False)
class ZCDP(Stated):
    """The guarantee of δ-approximate (ξ, ρ)-zCDP; plain ρ-zCDP by default.

    >>> print(ZCDP(0.1))
    zcdp(rho=0.1)
    """

    rho: Fraction
    xi: Fraction
    delta: Fraction
    text_name = "zcdp"
    notion = concentrated.ZeroConcentrated

    def __init__(self, rho: Number, xi: Number = 0, delta: Number = 0) -> None:
        self._set(rho=nonnegative("rho", rho), xi=exact("xi", xi), delta=probability("delta", delta))
        if self.xi + self.rho < 0:
            raise BadParameter(
                "xi", xi, "must be at least −rho", "No divergence is negative, so ξ + ρα ≥ 0 at every order α > 1."
            )

    @property
    def defaults(self) -> Mapping[str, Any]:
        """ξ = δ = 0 is not printed."""
        return {"xi": 0, "delta": 0}

    @property
    def vanishes(self) -> bool:
        """Whether P = Q follows."""
        return self.delta == 0 and self.rho + self.xi == 0


@dataclass(frozen=True, init=False, repr=False)
class TCDP(Stated):
    """The guarantee of (ρ, ω)-tCDP: D_α ≤ ρα at the Rényi orders 1 < α < ω.

    >>> print(TCDP(0.1, 20))
    tcdp(rho=0.1, omega=20)
    """

    rho: Fraction
    omega: Fraction
    text_name = "tcdp"
    notion = truncated.TruncatedConcentrated

    def __init__(self, rho: Number, omega: Number) -> None:
        self._set(rho=nonnegative("rho", rho), omega=exact("omega", omega))
        if self.omega <= 1:
            raise BadParameter("omega", omega, "must be greater than 1")

    @property
    def vanishes(self) -> bool:
        """Whether P = Q follows."""
        return self.rho == 0


@dataclass(frozen=True, init=False, repr=False)
class CDP(Stated):
    """The guarantee of (μ, τ)-mean-concentrated DP: the loss has mean at most μ and is τ-subgaussian around it.

    >>> print(CDP(0.3, 0.7))
    cdp(mu=0.3, tau=0.7)
    """

    mu: Fraction
    tau: Fraction
    text_name = "cdp"
    notion = mean_concentrated.MeanConcentrated

    def __init__(self, mu: Number, tau: Number) -> None:
        self._set(mu=nonnegative("mu", mu), tau=nonnegative("tau", tau))

    @property
    def vanishes(self) -> bool:
        """Whether P = Q follows."""
        return self.mu == 0


@dataclass(frozen=True, init=False, repr=False)
class GDP(Stated):
    """The guarantee of μ-GDP: neighbours are at least as hard to tell apart as N(0, 1) and N(μ, 1).

    >>> print(GDP(1))
    gdp(mu=1)
    """

    mu: Fraction
    text_name = "gdp"
    notion = gaussian.GaussianDP

    def __init__(self, mu: Number) -> None:
        self._set(mu=nonnegative("mu", mu))

    @property
    def vanishes(self) -> bool:
        """Whether P = Q follows."""
        return self.mu == 0


@dataclass(frozen=True, init=False, repr=False)
class RDP(Stated):
    """The guarantee of Rényi DP at some orders, ``{order: epsilon}``.

    Between two orders (α − 1)·ε(α) is interpolated linearly; below the first order its value holds, and above the last
    nothing is known.

    >>> print(RDP({2: 0.1, 8: 0.5}))
    rdp({2: 0.1, 8: 0.5})
    """

    orders: tuple[Fraction, ...]
    values: tuple[Fraction, ...]
    text_name = "rdp"
    notion = renyi.Renyi

    def __init__(self, curve: Mapping[Any, Any]) -> None:
        if not isinstance(curve, Mapping) or not curve:
            raise BadParameter("curve", curve, "must be a dictionary {order: epsilon} with at least one order")
        points = sorted((positive("order", a), nonnegative(f"epsilon at order {a}", e)) for a, e in curve.items())
        if points[0][0] <= 1:
            raise BadParameter("order", points[0][0], "must be greater than 1")
        if len({a for a, _ in points}) != len(points):
            raise BadParameter("curve", curve, "states one order twice")
        self._set(orders=tuple(a for a, _ in points), values=tuple(e for _, e in points))

    @property
    def vanishes(self) -> bool:
        """Whether P = Q follows."""
        return min(self.values) == 0

    def __str__(self) -> str:
        inner = ", ".join(f"{written(a)}: {written(e)}" for a, e in zip(self.orders, self.values, strict=True))
        return f"rdp({{{inner}}})"


_STATED = Source("dwork2014algorithmic", "definitions")


@theorem(of=Pure, gives=pure.Pure, kind="equal", role="analysis", source=_STATED)
def stated_pure(m: Pure) -> pure.Pure:
    """As stated: ε-DP."""
    return pure.Pure(real(m.epsilon))


@theorem(of=Approx, gives=approximate.Approximate, kind="equal", role="analysis", source=_STATED)
def stated_approximate(m: Approx) -> approximate.Approximate:
    """As stated: (ε, δ)-DP."""
    return approximate.Approximate(real(m.epsilon), real(m.delta))


@theorem(of=Approx, gives=pure.Pure, kind="equal", role="analysis", source=_STATED)
def stated_approximate_is_pure(m: Approx) -> pure.Pure | None:
    """(ε, 0)-DP is ε-DP."""
    return pure.Pure(real(m.epsilon)) if m.delta == 0 else None


@theorem(
    of=ZCDP,
    gives=concentrated.ZeroConcentrated,
    kind="equal",
    role="analysis",
    source=Source("bun2016concentrated", "Defs 1.1, 8.1"),
)
def stated_concentrated(m: ZCDP) -> concentrated.ZeroConcentrated:
    """As stated: δ-approximate (ξ, ρ)-zCDP."""
    return concentrated.ZeroConcentrated(real(m.rho), real(m.xi), real(m.delta))


@theorem(
    of=TCDP,
    gives=truncated.TruncatedConcentrated,
    kind="equal",
    role="analysis",
    source=Source("bun2018composable", "Def. 1"),
)
def stated_truncated(m: TCDP) -> truncated.TruncatedConcentrated:
    """As stated: (ρ, ω)-tCDP."""
    return truncated.TruncatedConcentrated(real(m.rho), m.omega)


@theorem(
    of=CDP,
    gives=mean_concentrated.MeanConcentrated,
    kind="equal",
    role="analysis",
    source=Source("dwork2016concentrated", "Def. 1.2"),
)
def stated_mean_concentrated(m: CDP) -> mean_concentrated.MeanConcentrated:
    """As stated: (μ, τ)-CDP."""
    return mean_concentrated.MeanConcentrated(real(m.mu), real(m.tau**2))


@theorem(
    of=GDP, gives=gaussian.GaussianDP, kind="equal", role="analysis", source=Source("dong2022gaussian", "Def. 2.6")
)
def stated_gaussian(m: GDP) -> gaussian.GaussianDP:
    """As stated: μ-GDP."""
    return gaussian.GaussianDP(real(m.mu**2))


@theorem(of=RDP, gives=renyi.Renyi, kind="equal", role="analysis", source=Source("mironov2017renyi", "Def. 4"))
def stated_renyi(m: RDP) -> renyi.Renyi:
    """As stated: D_α at the orders given; linear in K between them, because K is convex."""
    return renyi.KnownOrders(m.orders, m.values)
