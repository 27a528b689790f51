"""How fast the smooth part of a glued normal transform falls: its path is shifted off the axis.

M(s) − a = ∫_{μ/2}^∞ φ·w^{s+1} dz + ∫_{μ/2}^∞ φ·w^{−s} dz. The first path goes up from μ/2 to μ/2 + iθ/μ and then to the
right, where |w^{iy}| = e^{−y·arg w}; the second goes down, in mirror image. The two pieces at μ/2 nearly cancel: with
w = 1 − q + q·e^{iα} they differ only by |w|^{t+1} against |w|^{−t} and by the phase arg w − α + 2y·ln|w|, so that

    |their sum| ≤ (φ(μ/2)/μ) ∫_0^θ e^{α²/2μ²} |w|^{−t} e^{−y·arg w} [(2t+1)|ln|w|| + α − arg w + 2y|ln|w||] dα.

There arg w ≥ cα (concave for q ≤ ½, so that c = arg w(θ)/θ; convex for q > ½, c = q) and |ln|w|| ≤ rα², which leaves
incomplete gamma functions of X = ycθ. All but y·γ(3, X)/X³ fall in y; γ(3, X)/X² falls from 1.4508 on and is never
above ½·1.45·e^{−1.45}.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from flint import ctx

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ComplexBall, ball, precision
from tightrope.numerics.real import Real
from tightrope.numerics.transforms.glued_floats import float_nodes
from tightrope.numerics.transforms.glued_rule import Growth, log_factor, nodes, panel_errors, panels
from tightrope.numerics.transforms.sampled_rule import short

if TYPE_CHECKING:
    from tightrope.numerics.transforms.transform import Floats

__all__ = ["best_angle", "glued_decay", "log_decays"]

_WIDEST = 2.2


def glued_decay(
    mu: Real,
    rate: Fraction,
    t: Fraction,
    y: Fraction,
    theta: Fraction,
    log_size: float,
    cut: Fraction | None = None,
) -> Ball:
    """A bound of |M − a| at t + iy' for all y' ≥ y, proved at this θ; t ≥ 0. ``log_size``: what it is compared to.
    Where the integrals are cut off at μ/2 + ``cut``, both paths come back to the axis there."""
    with precision(ctx.prec + 20):
        m, q, angle = mu.ball(), ball(rate), ball(theta)
        if not (angle > 0 and angle < Ball.pi()):
            raise NotCertified("a decay", f"no path at the angle {theta}")
        nats = ctx.prec * math.log(2) + float((angle * angle / (2 * m * m)).mid())
        growth = Growth(y, theta)
        chosen = panels(float(m.mid()), min(float(rate), 1 - 2.0**-53), float(t), growth, nats, log_size, cut)
        top, other, fall = ball(t + 1), ball(-t), ball(-y)
        turn = ComplexBall(angle.cos(), angle.sin())
        total = Ball(0)
        for z, weight in nodes(m, chosen):
            log = (turn * (q * (m * z - m * m / 2).exp()) + (1 - q)).log()
            total += weight * ((top * log.real).exp() + (other * log.real).exp()) * (fall * log.imag).exp()
        total += panel_errors(m, q, t, growth, chosen, cut) + (0 if cut is None else _way_back(m, q, t, angle, cut))
        gain = (angle * angle / (2 * m * m)).exp()
        return (gain * (total + _corner(m, q, t, y, angle))).upper()


def _way_back(mu: Ball, q: Ball, t: Fraction, angle: Ball, cut: Fraction) -> Ball:
    """The two pieces at the cut z, but for e^{θ²/2μ²}: there cos(θ/2)·w(z) ≤ |w| ≤ w(z), and no angle helps."""
    z = mu / 2 + ball(cut)
    log = log_factor(mu, q, z)
    size = (ball(t + 1) * log).exp() + (ball(-t) * ((angle / 2).cos().log() + log)).exp()
    return angle / mu * (z * z / -2).exp() / (2 * Ball.pi()).sqrt() * size


def _corner(mu: Ball, q: Ball, t: Fraction, y: Fraction, angle: Ball) -> Ball:
    """The two pieces at μ/2 together, but for e^{θ²/2μ²}."""
    with precision(ctx.prec + 80):  # the incomplete gamma functions cancel
        u = 4 * q * (1 - q) * (angle / 2).sin() ** 2
        bend = -(-u).log1p() / u * q * (1 - q) / 2
        end = Ball.atan2(q * angle.sin(), 1 - q + q * angle.cos()) / angle
        slope = end.min(q)  # the lesser is right in both cases: concave has end ≤ q, convex end ≥ q
        size = ((-u).log1p() * ball(-t) / 2).exp()
        rate = ball(y) * slope
        x = rate * angle
        decay = (-x).exp()
        second, third = 1 - decay * (1 + x), 2 - decay * (x * x + 2 * x + 2)
        most = third / (x * x) if x >= 1.5 else (Ball(29) / 20 * (Ball(-29) / 20).exp() / 2)
        pieces = (1 - slope) * second / rate**2 + ball(2 * t + 1) * bend * third / rate**3
        pieces += 2 * bend * angle * angle / slope * most
        density = (mu * mu / -8).exp() / (2 * Ball.pi()).sqrt()
        return density / mu * size * pieces


def _float_corners(mu: float, q: float, t: float, y: Floats, theta: Floats) -> Floats:
    """About the same on angles × y; the angles are a column."""
    import numpy as np

    u = 4 * q * (1 - q) * np.sin(theta / 2) ** 2
    bend = np.where(u > 1e-290, -np.log1p(-u) / np.maximum(u, 1e-290) * q * (1 - q) / 2, q / 2)
    slope = np.minimum(np.arctan2(q * np.sin(theta), 1 - q + q * np.cos(theta)) / theta, q)
    x = y * slope * theta
    near = np.minimum(x, 0.05)
    small = x < 0.05
    decay = np.exp(-x)
    second = np.where(small, near**2 * (0.5 - near / 3), 1 - decay * (1 + x)) / x**2 * theta**2
    third = np.where(small, near**3 / 3 * (1 - 0.75 * near), 2 - decay * (x * x + 2 * x + 2))
    most = np.where(x >= 1.5, third / x**2, 0.1701)
    pieces = (1 - slope) * second + (2 * t + 1) * bend * third / x**3 * theta**3 + 2 * bend * theta**2 / slope * most
    size = -t * np.log1p(-u) / 2 - mu * mu / 8
    result: Floats = pieces * (np.exp(np.minimum(size, 600.0)) / (mu * math.sqrt(2 * math.pi)))
    return result


@lru_cache(maxsize=64)
def _table(mu: float, q: float, t: float, cut: Fraction | None) -> tuple[Floats, Floats]:
    """ln of the weights and ln(ρ) at float nodes."""
    import numpy as np

    top = max(0.0, (t + 1) * (t * mu * mu / 2 + math.log(q))) if cut is None else 0.0
    z, logs = float_nodes(mu, panels(mu, q, t, Growth(Fraction(0)), 26.0, top, cut))
    return logs, np.minimum(math.log(q) + mu * z - mu * mu / 2, 300.0)


def _logs(mu: float, q: float, t: float, y: Floats, thetas: Floats, cut: Fraction | None) -> Floats:
    """About ln of the bound on angles × y."""
    import numpy as np

    logs, rise = _table(mu, q, t, cut)
    angles = thetas[:, None]
    real, imag = np.exp(rise) * np.cos(angles) - q, np.exp(rise) * np.sin(angles)
    size = np.log1p(np.maximum(real * (2 + real) + imag * imag, -1 + 1e-16)) / 2
    up, down = logs + (t + 1) * size, logs - t * size
    top = float(np.maximum(up, down).max())
    falls = np.exp(-y[None, :, None] * np.arctan2(imag, 1 + real)[:, None, :])
    paths = top + np.log((falls * (np.exp(up - top) + np.exp(down - top))[:, None, :]).sum(axis=2) + 1e-300)
    corners = np.maximum(_float_corners(mu, q, t, y, angles), 1e-300)
    result: Floats = np.logaddexp(paths, np.log(corners)) + angles**2 / (2 * mu * mu)
    return result


def _angles(mu: float, q: float, t: float, y: float, cut: Fraction | None) -> Floats:
    """Five angles around the best one at y."""
    import numpy as np

    least = min(0.3, max(1e-12, 0.1 * mu * mu * q * y))
    coarse = np.geomspace(least, _WIDEST, max(8, min(40, math.ceil(math.log(_WIDEST / least) / 0.35))))
    best = int(_logs(mu, q, t, np.array([y]), coarse, cut)[:, 0].argmin())
    result: Floats = np.minimum(coarse[best] * float(coarse[1] / coarse[0]) ** np.linspace(-1, 1, 5), _WIDEST)
    return result


@lru_cache(maxsize=64)
def best_angle(mu: float, q: float, t: float, y: float, cut: Fraction | None = None) -> Fraction:
    """The θ at which the bound at y is about least."""
    import numpy as np

    angles = _angles(mu, q, t, y, cut)
    return short(float(angles[_logs(mu, q, t, np.array([y]), angles, cut)[:, 0].argmin()]))


def log_decays(mu: float, q: float, t: float, y: Floats, cut: Fraction | None = None) -> Floats:
    """About ln of the least bound, at many y within a small range."""
    import numpy as np

    angles = _angles(mu, q, t, float(np.sqrt(y[0] * y[-1])), cut)
    result: Floats = _logs(mu, q, t, y, angles, cut).min(axis=0)
    return result
