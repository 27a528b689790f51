"""Conclusions that no theorem supports, refused by name."""

from __future__ import annotations

from tightrope.accounting.terms import terms
from tightrope.errors import Unsupported
from tightrope.mechanisms.base import Mechanism
from tightrope.mechanisms.composed import Grouped
from tightrope.mechanisms.sampled import Poisson, WithoutReplacement
from tightrope.mechanisms.stated import CDP, RDP, TCDP, ZCDP, Approx

_NAMES = {ZCDP: "zCDP", TCDP: "tCDP", CDP: "mean-concentrated DP", RDP: "RDP", Approx: "(ε, δ > 0)"}
_ASKED = {"pure": "pure", "gdp": "GDP", "renyi": "RDP", "zcdp": "zCDP", "tcdp": "tCDP"}
_WHY = {
    "pure": "a bound on Rényi divergences allows an unbounded loss, as the Gaussian mechanism shows",
    "gdp": "a bound on moments does not bound the trade-off curve by a Gaussian one",
    "zcdp": "nothing is said of the largest orders",
    "renyi": "with chance δ everything may be revealed, so every Rényi divergence may be infinite",
}
_REFUSED: dict[str, tuple[type, ...]] = {
    "pure": (ZCDP, TCDP, CDP, RDP),
    "gdp": (ZCDP, TCDP, CDP, RDP),
    "renyi": (Approx,),
    "zcdp": (Approx, TCDP, RDP),
    "tcdp": (Approx,),
}


def refuse_unconcluded(m: Mechanism, ask: str) -> None:
    """Raise Unsupported when a stated part says too little for this question."""
    for part in terms(m):
        inner = part
        while isinstance(inner, Grouped | Poisson | WithoutReplacement):
            inner = inner.part
        if not isinstance(inner, _REFUSED[ask]):
            continue
        leak = isinstance(inner, Approx | ZCDP) and inner.delta > 0
        if isinstance(inner, Approx) and not leak:
            continue
        why = _WHY["renyi"] if leak else _WHY[ask]
        raise Unsupported(
            f"{_NAMES[type(inner)]} → {_ASKED[ask]}", f"{why} (asked of {inner})", "Ask for epsilon at a δ > 0 instead."
        )
