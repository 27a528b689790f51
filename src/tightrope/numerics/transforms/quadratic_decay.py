"""How fast |E[w^{A+iy}]| falls, w = 1 − q + ρ(z) with ρ = q·e^{l(z)} and a quadratic l: its integral along a bent path.

On z = x + iη(x) the angle of ρ is η·l′(x). With η = gl′/(1 + p), p = g(l′² + c²)/θ, for any g > 0 and c > 0, it lies
between 0 and θ < π, and so arg w is not negative: w has no zero between the real axis and the path. So

    |E[w^{A+iy}]| ≤ ∫ φ(x)e^{η²/2} |w|^A e^{−y·arg w} |1 + iη′| dx,

which falls with y. g is the exponential of a quadratic: y·ρ, or that smoothed, as to second order η should be
y·∫₀¹E[(ρl′)(ux + √(1−u²)Z)]du; θ keeps the angle where it helps, and c the path low where l neither rises nor falls. At
complex x the integrand is e^F with F = ½(A+iy)ln w₊ + ½(A−iy)ln w₋ + …, w± = w(x ± iη(x)), which is analytic. And
η′ = g(l′·(ln g)′ + 2α(1 + g(c² − l′²)/θ))/(1 + p)².
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from flint import ctx

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ComplexBall, ball, precision
from tightrope.numerics.ellipses import Integrand, panels
from tightrope.numerics.transforms.quadratic_loss import QuadraticLoss
from tightrope.numerics.transforms.sampled_rule import short

if TYPE_CHECKING:
    from tightrope.numerics.transforms.transform import Complexes, Floats

__all__ = ["Path", "best_path", "log_path_decays", "path_decay"]

_ANGLES = tuple(Fraction(k, 8) for k in (4, 9, 15, 22))
_LIFTS = (0.4, 1.0, 6.0)  # of what is best to second order
_ROUNDINGS = tuple(Fraction(k, 8) for k in (2, 6, 16))  # c, in units of what l′ grows by in a deviation
_SMOOTH = (0.45, 0.7, 1.0)  # u
_NATS, _CLOSE = 26.0, 7.0  # the integral is found as well as that at most, beside E[w^A] itself, and beside its bound
_MOST_NODES = 2000
_LITTLE = 0.5  # of ρ beside 1 − q: w does not come near 0, whatever the angle
_DENSE, _FEWEST, _MOST = 5.0, 120, 1500  # places a deviation, and at all
_COMPARED = 6  # paths that are looked at closely
_NEAR = 4.0  # times y: one path, lifted, serves as well


@dataclass(frozen=True)
class Path:
    """θ, c, and g = lift·e^{bend·x² + slope·x}."""

    angle: Fraction
    rounding: Fraction
    lift: Fraction
    bend: Fraction
    slope: Fraction


@dataclass(frozen=True)
class _Bent(Integrand):
    """The integrand above, without 1/√2π."""

    law: QuadraticLoss
    power: Fraction
    y: Fraction
    path: Path

    def log_sizes(self, z: Complexes) -> Floats:
        """About ln|f|; ∞ near a pole of η or a cut."""
        import numpy as np

        bend, slope, height, q = self.law.floats
        eta, rise, below = _heights(self.law, self.path, z)
        a, y = float(self.power), float(self.y)
        total = np.zeros(z.shape)
        sure = below.real > 0.2 * np.abs(below)
        for sign in (1, -1):
            at = z + sign * 1j * eta
            log = (bend * at + slope) * at + height
            w = 1 + q * np.expm1(np.minimum(log.real, 600.0) + 1j * log.imag)
            turned = np.log(w)
            total += (a * turned.real - sign * y * turned.imag) / 2 - (at * at).real / 4
            total += np.log(np.abs(1 + sign * 1j * rise)) / 2
            little = q * np.exp(np.minimum(log.real, 600.0)) < _LITTLE * (1 - q)
            sure &= little | ((np.abs(log.imag) < 3.1) & (w.real > -0.8 * np.abs(w)))
        return np.where(sure, total, math.inf)

    def log_size(self, z: ComplexBall, branch: int = 0) -> Ball | None:  # noqa: ARG002 - there is one
        """Proved. 1 + p, w± and 1 ± iη′ must miss (−∞, 0], so that they have no zero within."""
        raised, lean, below, rise = self._shape(z)
        if not _clear(below):
            return None
        eta = raised * lean / below
        turn, power, y = ComplexBall(0, 1), ball(self.power), ball(self.y)
        total = Ball(0)
        for sign in (1, -1):
            at, grown = z + sign * turn * eta, 1 + sign * turn * rise
            w = self.law.ratio(at)
            if not (_clear(w) and _clear(grown)):
                return None
            log = w.log()
            total += (power * log.real - sign * y * log.imag + grown.log().real) / 2 - (at * at).real / 4
        return total

    def _shape(self, x: Any) -> tuple[Any, Any, Any, Any]:
        """g, l′, 1 + p and η′, in balls of either kind."""
        bend, slope, _, _ = self.law.coefficients()
        path = self.path
        a, b, lift, theta, c = map(ball, (path.bend, path.slope, path.lift, path.angle, path.rounding))
        lean = 2 * bend * x + slope
        raised = lift * ((a * x + b) * x).exp()
        below = 1 + raised * (lean * lean + c * c) / theta
        turned = lean * (2 * a * x + b) + 2 * bend * (1 + raised * (c * c - lean * lean) / theta)
        return raised, lean, below, raised * turned / (below * below)

    def value(self, x: Ball) -> Ball:
        """f(x) for a real x."""
        raised, lean, below, rise = self._shape(x)
        eta = raised * lean / below
        log = self.law.ratio(ComplexBall(x, eta)).log()
        size: Ball = (eta * eta - x * x) / 2 + ball(self.power) * log.real - ball(self.y) * log.imag
        return size.exp() * Ball(1 + rise * rise).sqrt()

    def beyond(self, left: Ball, right: Ball) -> Ball:
        """A bound of ∫f/√2π below ``left`` and above ``right``."""
        return self.excess().exp() * self.law.tails(self.power, left, right)

    def excess(self) -> Ball:
        """ln of how much f exceeds φw^A at most. With ρ′ = q·e^{Re l}, Re l = l(x) − αη²:
        cos(θ/2)(1 − q + ρ′) ≤ |w| ≤ 1 − q + ρ′."""
        theta, bend = ball(self.path.angle), ball(self.law.bend)
        high, steep = self._limits()
        log = high * high / 2 + (1 + steep * steep).log() / 2
        if self.power >= 0:
            return log + ball(self.power) * (-bend).max(Ball(0)) * high * high
        return log + ball(self.power) * ((theta / 2).cos().log() - bend.max(Ball(0)) * high * high)

    def _limits(self) -> tuple[Ball, Ball]:
        """Bounds of |η| ≤ θ|l′|/(l′² + c²), and of |η′| ≤ θ|l′·(ln g)′|/(l′² + c²) + 2|α|·g/(1 + p), g/(1 + p) ≤ θ/c².

        (ln g)′ is linear like l′: a/α times that, if ln g has the bend a, and a constant.
        """
        path, law = self.path, self.law
        theta, c, ratio = ball(path.angle), ball(path.rounding), path.bend / law.bend
        rest = ball(abs(path.slope - ratio * law.slope))
        steep = ball(abs(ratio)) + rest / (2 * c) + 2 * ball(abs(law.bend)) / (c * c)
        return theta / (2 * c), theta * steep


def _clear(w: ComplexBall) -> bool:
    return bool(w.real > 0 or w.imag > 0 or w.imag < 0)


def _heights(law: QuadraticLoss, path: Path, x: Complexes) -> tuple[Complexes, Complexes, Complexes]:
    """η, η′ and 1 + p in floats."""
    import numpy as np

    bend, slope, _, _ = law.floats
    a, b, theta, square = float(path.bend), float(path.slope), float(path.angle), float(path.rounding) ** 2
    lean, log = 2 * bend * x + slope, (a * x + b) * x
    raised = float(path.lift) * np.exp(np.minimum(log.real, 300.0) + 1j * log.imag)
    below = 1 + raised * (lean * lean + square) / theta
    turned = lean * (2 * a * x + b) + 2 * bend * (1 + raised * (square - lean * lean) / theta)
    return raised * lean / below, raised * turned / (below * below), below


def _paths(law: QuadraticLoss, y: float) -> Iterator[Path]:
    """Some that may be good at y."""
    bend, slope, height, q = law.floats
    for smooth in _SMOOTH if bend < 0 else (1.0,):
        rest = 1 - 2 * bend * (1 - smooth * smooth)
        size = height + slope * slope * (1 - smooth * smooth) / (2 * rest) - math.log(rest) / 2
        size = math.log(q) + min(max(size, -500.0), 500.0)
        a, b = bend * smooth * smooth / rest, slope * smooth / rest
        quadratic = (short(-a) * -1 if a < 0 else short(a), Fraction(b)) if smooth < 1 else (law.bend, law.slope)
        for lift in _LIFTS:
            raised = short(lift * y * math.exp(size) / smooth)
            for rounding in _ROUNDINGS:
                for angle in _ANGLES:
                    yield Path(angle, abs(2 * law.bend) * rounding, raised, *quadratic)


def path_decay(
    law: QuadraticLoss,
    power: Fraction,
    y: Fraction,
    path: Path,
    window: Callable[[float], tuple[float, float]],
    log: Ball,
) -> Ball:
    """A bound of |E[w^{A+iy'}]|/E[w^A] for all y' ≥ y, ln E[w^A] being ``log``; at most 1. ``window``: where φw^A
    counts, but for e^−nats of it."""
    with precision(ctx.prec + 20):
        bent = _Bent(law, power, y, path)
        if not (path.angle > 0 and ball(path.angle) < Ball.pi() and path.lift > 0 and path.rounding > 0 and y > 0):
            return Ball(1)
        try:
            nats = _accuracy(law, float(power), float(y), path, window(_NATS), float(log.mid()))
            far = window(nats + 4 + float(bent.excess().upper()))
            chosen = panels(bent, far, float(log.mid()) - nats, _MOST_NODES)
            total = sum((weight * bent.value(x) for x, weight in chosen.places()), chosen.error)
            bound = (total / (2 * Ball.pi()).sqrt() + bent.beyond(*chosen.ends)) * (-log).exp()
        except NotCertified:
            return Ball(1)
        return bound.upper().min(Ball(1)) if bound.is_finite() else Ball(1)


def _accuracy(
    law: QuadraticLoss, power: float, y: float, path: Path, window: tuple[float, float], log: float
) -> float:
    """How well, in nats beside E[w^A], the integral should be known. It is raised to the power of all copies, which are
    about as many as make it low: where it is e^−b, some 40/b."""
    import numpy as np

    fallen = abs(log - float(_logs(law, power, np.array([y]), [path], window)[0, 0]))
    return min(_NATS, _CLOSE + fallen - math.log(min(max(fallen, 1e-12), 1.0))) if math.isfinite(fallen) else _NATS


def log_path_decays(law: QuadraticLoss, power: float, y: Floats, window: tuple[float, float], log: float) -> Floats:
    """About the logarithm of the least bound at many y: each by the path that is best at one of a few of them."""
    low, high = float(y.min()), float(y.max())
    middle = math.sqrt(low * high)
    if high < _NEAR * low:  # what is best for one of them is so for all, but for its lift
        best = best_path(law, power, middle, window)
        lifts = dict.fromkeys(short(float(best.lift) * at / middle) for at in (low, middle, high))
        paths = [replace(best, lift=lift) for lift in lifts]
    else:
        paths = list(dict.fromkeys(best_path(law, power, at, window) for at in (low, middle, high)))
    import numpy as np

    result: Floats = np.minimum(np.array([_logs(law, power, y, [path], window)[0] for path in paths]).min(axis=0), log)
    return result - log


def best_path(law: QuadraticLoss, power: float, y: float, window: tuple[float, float]) -> Path:
    """The path with about the least bound at y: a few that seem best at few places are compared."""
    import numpy as np

    at, paths = np.array([y]), list(_paths(law, y))
    first = np.nan_to_num(_logs(law, power, at, paths, window, _FEWEST)[:, 0], nan=math.inf)
    some: list[Path] = [paths[int(i)] for i in np.argsort(first, kind="stable")[:_COMPARED]]
    return min(some, key=lambda path: float(_logs(law, power, at, [path], window)[0, 0]))


def _logs(
    law: QuadraticLoss, power: float, y: Floats, paths: Sequence[Path], window: tuple[float, float], most: int = 0
) -> Floats:
    """About the logarithms of the paths' bounds of |E[w^{A+iy}]|, for each path and y; at no more places than ``most``,
    or else at as many as the paths ask for."""
    import numpy as np

    bend, slope, height, q = law.floats
    least = min(float(path.rounding) for path in paths)
    width = (window[1] - window[0]) * max(math.sqrt(1 + 2 * abs(bend)), 2 * abs(bend) / least)
    x = np.linspace(*window, int(min(max(_DENSE * width, _FEWEST), most or _MOST)))
    fields = [(path.bend, path.slope, path.lift, path.angle, path.rounding) for path in paths]
    a, b, lift, theta, c = np.array([[float(one) for one in row] for row in fields]).T[:, :, None]
    lean = 2 * bend * x + slope
    with np.errstate(all="ignore"):
        raised = lift * np.exp(np.minimum((a * x + b) * x, 300.0))
        below = 1 + raised * (lean * lean + c * c) / theta
        turned = lean * (2 * a * x + b) + 2 * bend * (1 + raised * (c * c - lean * lean) / theta)
        eta, rise = raised * lean / below, raised * turned / (below * below)
        size = np.minimum(bend * (x * x - eta * eta) + slope * x + height, 300.0)
        real = q * (np.expm1(size) * np.cos(eta * lean) - 2 * np.sin(eta * lean / 2) ** 2)  # w − 1, also where tiny
        imag = q * np.exp(size) * np.sin(eta * lean)
        grown = power * np.log1p(2 * real + real * real + imag * imag) / 2
        sizes = grown + (eta * eta - x * x) / 2 + np.log1p(rise * rise) / 2
        logs = sizes[:, None, :] - y[None, :, None] * np.arctan2(imag, 1 + real)[:, None, :]
        top = logs.max(axis=2)
        result: Floats = top + np.log(np.exp(logs - top[:, :, None]).sum(axis=2) * (x[1] - x[0]))
    return result - math.log(2 * math.pi) / 2
