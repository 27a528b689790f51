"""Privacy notions from their definitions, in mpmath: sums over atoms, quadrature of densities, thresholds for tests.

Nothing here uses a closed form of the package under test. A pair (P, Q) is ``Atoms`` (two rows of masses) or
``Densities`` (two functions with the points where they are not smooth); both answer the same questions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache, wraps
from itertools import pairwise, product

from flint import arb, ctx
from mpmath import mp, mpf
from quick_numbers import exp, log, of_mpmath, to_mpmath

mp.dps = 30
TAIL = 46  # standard deviations, scales or periods kept of a tail: e^{-46} would show at 1e-20


def number(x) -> mpf:
    """An exact parameter in mpmath: a float stands for the decimal it prints as."""
    if isinstance(x, mpf):
        return x
    exact = x if isinstance(x, Fraction) else Fraction(str(x))
    return mpf(exact.numerator) / exact.denominator


class Atoms:
    """P and Q on finitely many outcomes."""

    def __init__(self, p: Sequence, q: Sequence) -> None:
        self.p, self.q = [number(a) for a in p], [number(b) for b in q]
        assert len(self.p) == len(self.q)

    def reverse(self) -> Atoms:
        return Atoms(self.q, self.p)

    def hockey(self, x) -> mpf:
        """Σ (p − e^x q)₊."""
        e = mp.exp(number(x))
        return mp.fsum(max(a - e * b, mpf(0)) for a, b in zip(self.p, self.q, strict=True))

    def renyi(self, order) -> mpf:
        """ln Σ p^α q^{1−α} / (α − 1)."""
        a = number(order)
        if any(p > 0 and q == 0 for p, q in zip(self.p, self.q, strict=True)):
            return mp.inf
        total = mp.fsum(p**a * q ** (1 - a) for p, q in zip(self.p, self.q, strict=True) if p > 0)
        return mp.log(total) / (a - 1)

    def tail(self, x) -> mpf:
        """P[ln(p/q) > x]."""
        e = mp.exp(number(x))
        return mp.fsum(p for p, q in zip(self.p, self.q, strict=True) if p > e * q)

    def mean(self) -> mpf:
        """Σ p ln(p/q)."""
        if any(p > 0 and q == 0 for p, q in zip(self.p, self.q, strict=True)):
            return mp.inf
        return mp.fsum(p * mp.log(p / q) for p, q in zip(self.p, self.q, strict=True) if p > 0)

    def largest(self) -> mpf:
        """The largest ln(p/q)."""
        return max(mp.log(p / q) if q > 0 else mp.inf for p, q in zip(self.p, self.q, strict=True) if p > 0)

    def missed(self, fpr) -> mpf:
        """The least 1 − P(S) over tests with Q(S) ≤ fpr: take outcomes by likelihood ratio until Q is spent."""
        left, caught = number(fpr), mpf(0)
        ranked = sorted(zip(self.p, self.q, strict=True), key=lambda c: -(c[0] / c[1] if c[1] else mp.inf))
        for p, q in ranked:
            share = mpf(1) if q <= left else left / q
            caught, left = caught + share * p, left - share * q
        return 1 - caught

    def times(self, other: Atoms) -> Atoms:
        """Both mechanisms run side by side."""
        return Atoms([a * b for a, b in product(self.p, other.p)], [a * b for a, b in product(self.q, other.q)])

    def power(self, copies: int) -> Atoms:
        result = Atoms([1], [1])
        for _ in range(copies):
            result = result.times(self).merged()
        return result

    def merged(self) -> Atoms:
        """Outcomes with one likelihood ratio (to 25 digits) as one."""
        groups: dict[str, list[mpf]] = {}
        for p, q in zip(self.p, self.q, strict=True):
            key = mp.nstr(p / q, 25) if q else "inf"
            held = groups.setdefault(key, [mpf(0), mpf(0)])
            held[0] += p
            held[1] += q
        return Atoms([g[0] for g in groups.values()], [g[1] for g in groups.values()])

    def sampled(self, rate) -> Atoms:
        """((1−q)Q + qP, Q): the record takes part with chance q."""
        r = number(rate)
        return Atoms([(1 - r) * b + r * a for a, b in zip(self.p, self.q, strict=True)], self.q)


def lifted(x) -> arb:
    """The same in flint's arithmetic, which is far quicker."""
    return of_mpmath(number(x))


def exactly(method: Callable) -> Callable:
    """In as many digits as mpmath has."""

    @wraps(method)
    def asked(*arguments):
        with ctx.workdps(mp.dps + 4):
            return to_mpmath(method(*arguments))

    return asked


class Densities:
    """P and Q with densities on the line, smooth between ``points`` (the first and last end the integration).

    ``quick``: they take numbers of flint's too.
    """

    def __init__(self, p: Callable, q: Callable, points: Sequence, tilted: Callable | None = None, quick=False) -> None:
        self.p, self.q, self.points = p, q, [number(x) for x in points]
        self.tilted = tilted or (lambda _: self.points)  # where p^α q^{1−α} has its mass; None if it diverges
        self.quick, self._own = quick, lifted if quick else number

    def reverse(self) -> Densities:
        return Densities(self.q, self.p, self.points, lambda a: self.tilted(1 - a), self.quick)

    def _between(self, points) -> list[tuple]:
        return list(pairwise(map(self._own, points)))

    def _pieces(self, x) -> list[tuple]:
        """Intervals on which L > x holds or fails throughout."""
        level, found = self._own(x), []

        def f(z):
            return log(self.p(z)) - log(self.q(z)) - level

        for a, b in self._between(self.points):
            cells = [a + (b - a) * i / 24 for i in range(25)]
            inner = (b - a) * self._own("1e-25")  # stay inside: densities may jump at the ends
            cells[0], cells[-1] = a + inner, b - inner
            cuts, values = [a], [f(z) for z in cells]
            for (u, above), (v, below) in pairwise(zip(cells, values, strict=True)):
                if (above > 0) != (below > 0):
                    cuts.append(_crossing(f, u, v, above, below))
            cuts.append(b)
            found += [(u, v, f((u + v) / 2) > 0) for u, v in pairwise(cuts) if v > u]
        return found

    @exactly
    def hockey(self, x) -> mpf:
        """∫ (p − e^x q)₊."""
        e = exp(self._own(x))
        return sum(_integral(lambda z: self.p(z) - e * self.q(z), u, v) for u, v, above in self._pieces(x) if above)

    @exactly
    def renyi(self, order) -> mpf:
        """ln ∫ p^α q^{1−α} / (α − 1)."""
        a, points = self._own(order), self.tilted(number(order))
        if points is None:
            return mp.inf
        total = sum(
            _integral(lambda z: exp(a * log(self.p(z)) + (1 - a) * log(self.q(z))), u, v)
            for u, v in self._between(points)
        )
        return log(total) / (a - 1)

    @exactly
    def mean(self) -> mpf:
        """∫ p ln(p/q)."""
        return sum(
            _integral(lambda z: self.p(z) * (log(self.p(z)) - log(self.q(z))), u, v)
            for u, v in self._between(self.points)
        )

    @exactly
    def tail(self, x) -> mpf:
        """P[ln(p/q) > x]."""
        return sum(_integral(self.p, u, v) for u, v, above in self._pieces(x) if above)

    def missed(self, fpr) -> mpf:
        """The least 1 − P(S) with Q(S) ≤ fpr: S = {L > t} with the threshold that spends fpr, ties split at random."""
        a, low, high = number(fpr), mpf(-8), mpf(8)
        below, above, kept = self.null(low) - a, self.null(high) - a, 0
        for step in range(90):  # bisection, then false position with halving; at a jump it ends as bisection
            t = (low + high) / 2 if step < 5 or step % 4 == 0 else high - above * (high - low) / (above - below)
            value = self.null(t) - a
            if value > 0:
                low, below, above, kept = t, value, above / 2 if kept > 0 else above, 1
            else:
                high, above, below, kept = t, value, below / 2 if kept < 0 else below, -1
            if abs(value) < mpf(10) ** -14 or high - low < mpf(10) ** -14:  # the threshold's error enters squared
                break
        return 1 - self.tail(t) - mp.exp(t) * (a - self.null(t))

    @exactly
    def null(self, t) -> mpf:
        """Q[ln(p/q) > t]."""
        return sum(_integral(self.q, u, v) for u, v, above in self._pieces(t) if above)

    def sampled(self, rate) -> Densities:
        """((1−q)Q + qP, Q)."""
        r, quick = number(rate), lifted(rate)

        def mixed(z):
            share = quick if isinstance(z, arb) else r
            return (1 - share) * self.q(z) + share * self.p(z)

        return Densities(mixed, self.q, self.points, None, self.quick)


def _crossing(f: Callable, u, v, at_u, at_v):
    """Where f changes its sign between u and v: false position with halving, and bisection at every fourth step."""
    for step in range(120):
        w = (u + v) / 2 if step % 4 == 3 else v - at_v * (v - u) / (at_v - at_u)
        w = arb(w.mid()) if isinstance(w, arb) else w
        value = f(w)
        if (value > 0) == (at_v > 0):
            v, at_v, at_u = w, value, at_u / 2
        else:
            u, at_u, v, at_v = v, at_v, w, value
        if abs(value) < 1e-27:
            break
    return v


@cache
def _nodes(quick: bool) -> list[tuple]:
    with mp.workdps(34):  # whoever asks first
        return [(lifted(x), lifted(w)) for x, w in _nodes(False)] if quick else _gauss(24)


def _integral(f: Callable, a, b):
    """Gauss–Legendre, 24 nodes on each of 4 equal parts: 20 digits for a normal density over a dozen deviations."""
    total, nodes = 0, _nodes(isinstance(a, arb))
    for i in range(4):
        left, half = a + (b - a) * i / 4, (b - a) / 8
        total += half * sum(w * f(left + half * (1 + x)) for x, w in nodes)
    return total


def _gauss(n: int) -> list[tuple[mpf, mpf]]:
    found = []
    for i in range(1, n + 1):
        x = mp.cos(mp.pi * (i - mpf("0.25")) / (n + mpf("0.5")))
        for _ in range(60):
            value, slope = _legendre(n, x)
            step = value / slope
            x -= step
            if abs(step) < mpf(10) ** -28:
                break
        found.append((x, 2 / ((1 - x * x) * _legendre(n, x)[1] ** 2)))
    return found


def _legendre(n: int, x: mpf) -> tuple[mpf, mpf]:
    before, now = mpf(1), x
    for k in range(2, n + 1):
        before, now = now, ((2 * k - 1) * x * now - (k - 1) * before) / k
    return now, n * (x * now - before) / (x * x - 1)


def normals(m1, s1, m2, s2) -> Densities:
    """N(m1, s1²) against N(m2, s2²)."""
    m1, s1, m2, s2 = (number(x) for x in (m1, s1, m2, s2))

    def density(m: mpf, s: mpf) -> Callable:
        slow = m, s, s * mp.sqrt(2 * mp.pi)
        quick = [lifted(x) for x in slow]

        def at(z):
            middle, scale, whole = quick if isinstance(z, arb) else slow
            z = (z - middle) / scale
            return exp(-z * z / 2) / whole

        return at

    low, high, wide = min(m1, m2), max(m1, m2), 14 * max(s1, s2)
    middle = (m1 + m2) / 2
    points = [low - wide, low - wide / 2, middle, high + wide / 2, high + wide]

    def tilted(a: mpf) -> list[mpf] | None:
        weight = a / s1**2 + (1 - a) / s2**2
        if weight <= 0:
            return None
        centre, s = (a * m1 / s1**2 + (1 - a) * m2 / s2**2) / weight, 1 / mp.sqrt(weight)
        return [centre + s * k for k in (-14, -7, 0, 7, 14)]

    return Densities(density(m1, s1), density(m2, s2), points, tilted, quick=True)


def laplaces(epsilon) -> Densities:
    """Laplace noise of scale 1, shifted by ε."""
    e, quick = number(epsilon), lifted(epsilon)
    return Densities(
        lambda z: exp(-abs(z - (quick if isinstance(z, arb) else e))) / 2,
        lambda z: exp(-abs(z)) / 2,
        [-TAIL - e, -TAIL / 4, 0, e, e + TAIL / 4, 2 * e + TAIL],
        quick=True,
    )


def integers(mass: Callable[[int], mpf], shift: int, reach: int) -> Atoms:
    """Integer noise with weights ``mass``, against itself shifted."""
    weights = {k: mass(k) for k in range(-reach - shift, reach + shift + 1)}
    total = mp.fsum(weights[k] for k in range(-reach, reach + 1))
    span = range(-reach, reach + shift + 1)
    return Atoms([weights.get(k - shift, mpf(0)) / total for k in span], [weights.get(k, mpf(0)) / total for k in span])


def discrete_laplaces(scale, shift: int) -> Atoms:
    """P(k) ∝ e^{−|k|/t}."""
    t = number(scale)
    return integers(lambda k: mp.exp(-abs(k) / t), shift, int(TAIL * 2 * t) + 5)


def discrete_normals(variance, shift: int) -> Atoms:
    """P(k) ∝ e^{−k²/2σ²}."""
    v = number(variance)
    return integers(lambda k: mp.exp(-(mpf(k) ** 2) / (2 * v)), shift, int(14 * mp.sqrt(v)) + 10 * shift + 5)


def response(epsilon, k: int = 2) -> Atoms:
    """k-ary randomized response, true answers 0 and 1."""
    w = mp.exp(number(epsilon))
    rest = [1 / (w + k - 1)] * (k - 2)
    return Atoms([w / (w + k - 1), 1 / (w + k - 1), *rest], [1 / (w + k - 1), w / (w + k - 1), *rest])


def leaky(epsilon, delta) -> Atoms:
    """With chance δ the input, otherwise randomized response."""
    d, base = number(delta), response(epsilon)
    return Atoms([d, 0, *((1 - d) * p for p in base.p)], [0, d, *((1 - d) * q for q in base.q)])


def staircase(epsilon, gamma=None, shift=1) -> Atoms:
    """Staircase noise: the density is constant on the cells cut by n and n ± γ (and by the same, shifted)."""
    e, s = number(epsilon), number(shift)
    g = 1 / (1 + mp.exp(e / 2)) if gamma is None else number(gamma)
    height = (1 - mp.exp(-e)) / (2 * (g + mp.exp(-e) * (1 - g)))
    periods = int(2 * TAIL / e) + 3
    cuts = {mpf(n) + d for n in range(-periods, periods + 1) for d in (-g, mpf(0), g)}
    cuts = sorted(cuts | {c + s for c in cuts})

    def density(z: mpf) -> mpf:
        whole = mp.floor(abs(z))
        return height * mp.exp(-e * (whole + (0 if abs(z) - whole < g else 1)))

    cells = [((u + v) / 2, v - u) for u, v in pairwise(cuts) if v > u + mpf(10) ** -25]
    return Atoms([density(z - s) * w for z, w in cells], [density(z) * w for z, w in cells])


def without_replacement(base: Atoms, rate) -> Callable[[mpf], mpf]:
    """The profile of the worst neighbours under sampling without replacement, from the mixtures themselves.

    With chance 1−q the batch is common, with chance q it holds the exchanged record. For x ≥ 0 the worst common batch
    gives the neighbour's own law, ((1−q)Q + qP, Q); below 0 it gives P, by duality.
    """
    r = number(rate)

    def hockey(x) -> mpf:
        other = base.q if number(x) >= 0 else base.p
        first = [(1 - r) * o + r * a for o, a in zip(other, base.p, strict=True)]
        second = [(1 - r) * o + r * b for o, b in zip(other, base.q, strict=True)]
        return Atoms(first, second).hockey(x)

    return hockey


def two_point_renyi(p: mpf, q: mpf, order) -> mpf:
    """D_α between coins of bias p and q."""
    return Atoms([p, 1 - p], [q, 1 - q]).renyi(order)


def encloses(bound, truth, slack: float = 1e-13) -> bool:
    """Whether lower ≤ truth ≤ upper, up to the oracle's own rounding."""
    room = abs(truth) * slack + mpf(10) ** -25 if mp.isfinite(truth) else mpf(0)
    return bound.lower <= truth + room and truth - room <= bound.upper


def tight(bound, gap: float = 1e-9) -> bool:
    """Whether the bound is also narrow (the least positive float counts as 0)."""
    return bound.lower == bound.upper or bound.upper - bound.lower <= max(gap * bound.upper, 1e-320)
