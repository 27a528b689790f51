"""Moments of subsampled laws, as balls: ln of a mean, called K: (order − 1) times the Rényi divergence.

Two kinds: bounds that need only the divergences of the base at whole orders (sums), and exact means over a
base law (Gaussian, Laplace, a finite table). All are ln(1 + X) with X free of cancellation: small rates lose
nothing.
Nothing here is NaN: what cannot be computed is the ball [−∞, ∞], or +∞ where only an upper bound is promised.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from flint import ctx

from tightrope.numerics import effort
from tightrope.numerics.balls import INFINITY, Ball, ComplexBall, ball, between, certain, precision, upper_float
from tightrope.numerics.moments.centred_power import CentredPower
from tightrope.numerics.moments.far_laplace import far_laplace
from tightrope.numerics.moments.sampled_normal_bounds import log_sum
from tightrope.numerics.moments.without_replacement import without_replacement_normal

__all__ = [
    "finite_power_mean",
    "poisson_general",
    "sampled_laplace",
    "without_replacement_general",
    "without_replacement_lower",
    "without_replacement_normal",
]

Renyi = Callable[[int], Ball]
_MOST_TERMS = 2000
_NO_NOISE, _ENOUGH = 100, 60  # from this ε₀ on, or far out, moments are taken from one end; relative bits
_HUGE = 1e6  # exponents above this are scaled before they are raised
_EVALUATIONS, _GOAL, _MOST_BITS = 8000, 112, 192  # of an integrand; and bits, of an integral and on the way to it
_UNITS = 1e3, 150.0  # of work for an integral, and for its length
_NOTHING_KNOWN = between(Ball(0), INFINITY)


def poisson_general(rate: Fraction, order: int, renyi: Renyi, factor: int = 3) -> Ball:
    """Zhu–Wang: ln{b_0 + b_1 + b_2 e^{ε(2)} + factor·Σ_{k≥3} b_k e^{(k−1)ε(k)}}, b binomial (order, q).

    ``renyi(k)`` is the base's divergence ε(k) at the whole order k ≥ 2. Above order 2000 the answer is +∞,
    which is safe for an upper bound.
    """
    if rate == 0 or order < 2:
        return Ball(0)
    if order > _MOST_TERMS:
        return INFINITY
    constant, pieces = Ball(0), []
    for k, weight in _binomial_weights(rate, order):
        times = 1 if k == 2 else factor
        constant += weight * (times - 1)  # the weights sum to 1, so each term is taken less its own weight
        pieces.append((weight * times, (k - 1) * renyi(k)))
    return _finite_or(_log_one_plus(constant, pieces), INFINITY)


def without_replacement_lower(rate: Fraction, order: int, renyi: Renyi) -> Ball:
    """Wang–Balle–Kasiviswanathan, Prop. 11: ln Σ_k b_k e^{(k−1)ε(k)}, b the binomial law (order, q).

    Above order 2000, or where a divergence is not known to be finite, it is 0: safe for a lower bound.
    """
    if order > _MOST_TERMS:
        return Ball(0)
    return _finite_or(poisson_general(rate, order, renyi, factor=1), Ball(0))


def without_replacement_general(rate: Fraction, order: int, renyi: Renyi, pure: Ball | None) -> Ball:
    """Wang–Balle–Kasiviswanathan, Thm 9: ln(1 + Σ_{j≥2} C(order,j) q^j e^{(j−1)ε(j)} min{2, (e^{ε(∞)}−1)^j}).

    For j = 2 the smaller of that term and 4(e^{ε(2)}−1) C(order,2) q² is taken. ``pure`` is ε(∞), None when
    it is infinite. Above order 2000 the answer is +∞, which is safe for an upper bound.
    """
    if rate == 0 or order < 2:
        return Ball(0)
    if order > _MOST_TERMS:
        return INFINITY
    base = None if pure is None or pure > 1.1 else pure.expm1()  # e^1.1 − 1 > 2
    q = ball(rate)
    cap, weight = Ball(2), order * q
    constant, pieces = Ball(0), []
    for j in range(2, order + 1):
        weight = weight * q * (order - j + 1) / j
        exponent = (j - 1) * renyi(j)
        if base is not None:
            cap = (base**j).min(Ball(2))
        if j == 2 and upper_float(exponent) < _HUGE:
            constant += weight * (4 * exponent.expm1()).min(exponent.exp() * cap)
        else:
            least = cap.min(Ball(4)) if j == 2 else cap
            constant += weight * least
            pieces.append((weight * least, exponent))
    return _finite_or(_log_one_plus(constant, pieces), INFINITY)


def _binomial_weights(rate: Fraction, order: int) -> list[tuple[int, Ball]]:
    """(l, C(order,l) q^l (1−q)^{order−l}) for l = 2 … order."""
    if rate == 1:
        return [(order, Ball(1))]
    ratio = ball(rate / (1 - rate))
    weight = ball(1 - rate) ** order * ratio * order
    weights = []
    for k in range(2, order + 1):
        weight = weight * ratio * (order - k + 1) / k
        weights.append((k, weight))
    return weights


def _log_one_plus(constant: Ball, pieces: Sequence[tuple[Ball, Ball]]) -> Ball:
    """ln(1 + constant + Σ weight·(e^y − 1)), scaled when an exponent y would overflow."""
    if all(upper_float(y) < _HUGE for _, y in pieces):
        return sum((weight * y.expm1() for weight, y in pieces), constant).log1p()
    rest = 1 + constant - sum((weight for weight, _ in pieces), Ball(0))
    return _log_weighted([*pieces, (rest, Ball(0))])


def _log_weighted(pieces: Sequence[tuple[Ball, Ball]]) -> Ball:
    """ln Σ weight·e^y for weights that are not negative, without overflow."""
    scale = max((y for _, y in pieces), key=upper_float).mid()
    value = scale + sum((weight * (y - scale).exp() for weight, y in pieces), Ball(0)).log()
    if value.is_finite():
        return value
    # Exponents so large that their radii overflow: n terms are between the largest and n times the largest.
    lows = [weight.lower().log() + y for weight, y in pieces if weight > 0]
    highs = [weight.upper().log() + y for weight, y in pieces if not weight <= 0]
    if not lows:
        return _NOTHING_KNOWN
    return between(_largest(lows), _largest(highs) + Ball(len(highs)).log())


def _largest(balls: Sequence[Ball]) -> Ball:
    largest = balls[0]
    for x in balls[1:]:
        largest = largest.max(x)
    return largest


def _finite_or(value: Ball, otherwise: Ball) -> Ball:
    return value if value.is_finite() else otherwise


def sampled_laplace(epsilon0: Fraction, rate: Fraction, power: Fraction) -> Ball:
    """ln E_Q[w^a], w = 1−q+q·e^L, for the log ratio L of two Laplace laws ε₀ scales apart.

    Under Q the ratio is ε₀ with mass e^{−ε₀}/2, −ε₀ with mass 1/2, and density e^{−(ε₀+x)/2}/4.
    The power a is the order of one direction, or 1 − order for the other.
    """
    bits = int(ctx.prec)
    with precision(bits + 48):
        e, q, a = ball(epsilon0), ball(rate), ball(power)
        if power in (0, 1) or rate == 0 or epsilon0 == 0:
            return Ball(0)
        base = _laplace_moment(e, power)
        if rate == 1:
            return base
        stay = (-q).log1p()
        mixture = log_sum(stay, q.log() + base)
        if power > 1:  # w^a is convex in q, and (x+y)^a ≥ x^a + y^a
            most = a * _log_mixed(e, q)  # at ε₀, where w is largest and Q has mass e^{−ε₀}/2
            apart = log_sum(a * stay, a * q.log() + base).lower()
            low = apart.max((most - e - Ball(2).log()).lower()).max(Ball(0))
            simple = between(low, mixture.upper().min(most.upper()))
        elif power > 0:
            simple = between(mixture, Ball(0))
        else:  # w is least at −ε₀, where Q has half its mass
            least = a * (q * (-e).expm1()).log1p()
            simple = between((least - Ball(2).log()).lower().max(Ball(0)), least)
        if epsilon0 > _NO_NOISE or epsilon0 * max(Fraction(1), abs(power)) > 10**4:
            known = certain(simple, _ENOUGH) or 0 < power < 1
            return simple if known else _better(far_laplace(epsilon0, rate, power, _integral, _log1p), simple)
        return _better(_laplace_centred(e, q, power), simple)


def _laplace_moment(e: Ball, power: Fraction) -> Ball:
    """ln E_Q e^{aL} = ln{[a e^{(a−1)ε₀} + (a−1) e^{−aε₀}]/(2a−1)}."""
    b = max(power, 1 - power)  # the loss is symmetric: a and 1 − a give the same
    if b == Fraction(1, 2):
        return (1 + e / 2).log() - e / 2
    a = ball(b)
    if b > 1 and upper_float(a * e) < 1:  # less 1, with e^x − 1 − x for e^x: the terms of first order cancel
        return ((a * _exp_rest((a - 1) * e) + (a - 1) * _exp_rest(-a * e)) / (2 * a - 1)).log1p()
    return (a - 1) * e + ball(b / (2 * b - 1)).log() + (ball((b - 1) / b) * ((1 - 2 * a) * e).exp()).log1p()


def _exp_rest(x: Ball) -> Ball:
    """e^x − 1 − x for |x| < 1."""
    if upper_float(abs(x)) > 2.0**-20:
        return x.expm1() - x
    rest = between(Ball(0), Ball(2))  # beyond any term the sum of the rest is between 0 and twice it
    for k in range(3 + int(ctx.prec) // 20, 2, -1):
        rest = 1 + rest * x / k
    return rest * x * x / 2


def _laplace_centred(e: Ball, q: Ball, power: Fraction) -> Ball:
    g = CentredPower(power)

    def atom(x: Ball) -> Ball:
        u = q * x.expm1()
        return g.value(u, u.log1p(), float(u.abs_upper()))

    def density(x: ComplexBall, analytic: bool) -> ComplexBall:
        u = q * x.expm1()
        return (x / -2).exp() * g.complex_value(u, lambda: _log1p(u, analytic), float(u.abs_upper()))

    inside = _integral(density, -e, e) * (e / -2).exp() / 4
    return (atom(e) * (-e).exp() / 2 + atom(-e) / 2 + inside).log1p()


def finite_power_mean(
    values: Sequence[Ball],
    q_masses: Sequence[Ball],
    rate: Fraction,
    power: Fraction,
    missing: Ball | None = None,
) -> Ball:
    """ln Σ_i Q_i w_i^a, w_i = 1−q+q·e^{l_i}, for losses l_i (−∞ allowed) with masses Q_i.

    ``missing``, when given, states that ΣQ_i is exactly 1 and ΣQ_i e^{l_i} exactly 1 − missing (0 when P has
    no mass outside Q's support). Then the mean is 1 − a·q·missing + ΣQ_i g(u_i), a small rate loses nothing.
    Without it nothing is assumed of the sums, and a small answer is only as sharp as the masses are.
    """
    q, a = ball(rate), ball(power)
    if missing is not None and all(upper_float(x) < 1e3 for x in values) and rate < 1:
        g = CentredPower(power)
        total = -a * q * missing
        for x, mass in zip(values, q_masses, strict=True):
            u = q * x.expm1()
            total += mass * g.value(u, u.log1p(), float(u.abs_upper()))
        return _finite_or(total.log1p(), _NOTHING_KNOWN)
    logs = list(values) if rate == 1 else [_log_mixed(x, q) for x in values]
    pieces = [(mass, a * x) for mass, x in zip(q_masses, logs, strict=True) if not mass.is_zero()]
    return _finite_or(_log_weighted(pieces), _NOTHING_KNOWN)


def _log_mixed(x: Ball, q: Ball) -> Ball:
    """ln(1 − q + q·e^x) without overflow."""
    return (q * x.expm1()).log1p() if upper_float(x) < _HUGE else log_sum((-q).log1p(), q.log() + x)


def _log1p(u: ComplexBall, analytic: bool) -> ComplexBall:
    """ln(1+u), not finite where it must be analytic and the ball meets the cut."""
    w = 1 + u
    if analytic and not (w.real > 0 or w.imag > 0 or w.imag < 0):
        return ComplexBall("nan")
    return u.log1p()


def _integral(f: Callable[[ComplexBall, bool], ComplexBall], start: Ball, end: Ball) -> Ball:
    """∫ f, rigorous, with a relative goal; it may be wide or not finite when the limit of evaluations is met. A finer
    goal than anybody needs would only meet it sooner, and more bits would not help."""
    effort.spend(_UNITS[0] + _UNITS[1] * float((end - start).mid()), "a moment of a sampled law")
    bits = min(int(ctx.prec), _MOST_BITS)
    with precision(bits):
        goal = Ball(2) ** -min(bits, _GOAL)
        return ComplexBall.integral(f, start, end, rel_tol=goal, abs_tol=Ball(0), eval_limit=_EVALUATIONS).real


def _better(value: Ball, simple: Ball) -> Ball:
    return value if value.is_finite() and value.rad() < simple.rad() else simple
