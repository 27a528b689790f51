"""The definitions, computed from scratch with mpmath: sums over outcomes, integrals over densities, normal tails.

Nothing here comes from tightrope; decimals are given as text so that both sides speak of the same number.
"""

from itertools import product

from mpmath import erfc, exp, inf, log, mp, mpf, pi, quad, sqrt

DIGITS = 30  # the tests run at this precision, set around each of them

with mp.workdps(DIGITS):
    L5 = log(mpf(10) ** 5)  # ln(1/δ) for δ = 1e-5


def near(a, b, rel=1e-12):
    """Whether two numbers agree to about as many digits as were printed."""
    a, b = mpf(a), mpf(b)
    return a == b or abs(a - b) <= mpf(rel) * max(abs(a), abs(b))


def numbers(row):
    """Decimals given as text."""
    return [mpf(x) for x in row]


def encloses(claim, truth, width=1e-11):
    """Whether a tight claim contains the truth and says no more than rounding requires."""
    truth = mpf(truth)
    slack = mpf(10) ** -25 * abs(truth)
    inside = mpf(claim.lower) <= truth + slack and truth - slack <= mpf(claim.upper)
    return (
        claim.tight and inside and mpf(claim.upper) - mpf(claim.lower) <= mpf(width) * max(abs(truth), mpf(10) ** -300)
    )


def renyi(p, q, order):
    """D_α of two finite distributions: infinite as soon as something possible under P is impossible under Q."""
    if any(a > 0 and b == 0 for a, b in zip(p, q, strict=True)):
        return inf
    order = mpf(order)
    return log(sum(a**order * b ** (1 - order) for a, b in zip(p, q, strict=True) if a > 0)) / (order - 1)


def kl(p, q):
    """The mean loss."""
    return sum(a * log(a / b) for a, b in zip(p, q, strict=True) if a > 0)


def max_divergence(p, q):
    """D_∞: the largest ln(p/q) over what is possible under P."""
    return max(inf if b == 0 else log(a / b) for a, b in zip(p, q, strict=True) if a > 0)


def hockey_stick(p, q, eps):
    """δ(ε) in one direction as a sum over outcomes."""
    return sum(max(mpf(0), a - exp(eps) * b) for a, b in zip(p, q, strict=True))


def worst_event(p, q, eps):
    """max over all events of P(S) − e^ε Q(S), by trying every event."""
    best = mpf(0)
    for chosen in product((0, 1), repeat=len(p)):
        best = max(best, sum(c * (a - exp(eps) * b) for c, a, b in zip(chosen, p, q, strict=True)))
    return best


def Phi(x):
    """The standard normal distribution function."""
    return erfc(-mpf(x) / sqrt(2)) / 2


def normal(x, mean=0, sigma=1):
    """The normal density."""
    return exp(-((x - mean) ** 2) / (2 * mpf(sigma) ** 2)) / (sigma * sqrt(2 * pi))


def gaussian_delta(eps, mu):
    """δ(ε) of N(μ, 1) against N(0, 1): the event is the half-line where the loss exceeds ε."""
    eps, mu = mpf(eps), mpf(mu)
    return Phi(-eps / mu + mu / 2) - exp(eps) * Phi(-eps / mu - mu / 2)


def gaussian_epsilon(delta, mu):
    """The ε at which δ(ε) is the given δ, by bisection."""
    low, high = mpf(0), mpf(1)
    while gaussian_delta(high, mu) > delta:
        low, high = high, 2 * high
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if gaussian_delta(middle, mu) > delta else (low, middle)
    return high


def cks_delta(order, tau, eps):
    """Theorem 1.3 of the conversion proof."""
    order, tau, eps = mpf(order), mpf(tau), mpf(eps)
    return exp((order - 1) * (tau - eps)) / (order - 1) * (1 - 1 / order) ** order


def cks_epsilon(order, tau, delta):
    """Corollary 1 of the conversion proof, before clipping at 0."""
    order, tau, delta = mpf(order), mpf(tau), mpf(delta)
    return tau + (log(1 / delta) + (order - 1) * log(1 - 1 / order) - log(order)) / (order - 1)


def least(f, low, high):
    """The minimum of a function with one valley on a logarithmic scale, by golden sections: (where, value)."""
    a, b, golden = log(mpf(low)), log(mpf(high)), (sqrt(mpf(5)) - 1) / 2
    c, d = b - golden * (b - a), a + golden * (b - a)
    fc, fd = f(exp(c)), f(exp(d))
    for _ in range(110):
        if fc <= fd:
            b, d, fd = d, c, fc
            c = b - golden * (b - a)
            fc = f(exp(c))
        else:
            a, c, fc = c, d, fd
            d = a + golden * (b - a)
            fd = f(exp(d))
    where = exp((a + b) / 2)
    return where, f(where)


def zcdp_best(rho, value):
    """inf over α > 1 of value(α, αρ): (α*, value)."""
    found, best = least(lambda lam: value(1 + lam, (1 + lam) * mpf(rho)), "1e-6", "1e6")
    return 1 + found, best


__all__ = [
    "DIGITS",
    "L5",
    "Phi",
    "cks_delta",
    "cks_epsilon",
    "encloses",
    "exp",
    "gaussian_delta",
    "gaussian_epsilon",
    "hockey_stick",
    "inf",
    "kl",
    "least",
    "log",
    "max_divergence",
    "mp",
    "mpf",
    "near",
    "normal",
    "pi",
    "quad",
    "renyi",
    "sqrt",
    "worst_event",
    "zcdp_best",
]
