"""Hockey-stick integrals of finite sums against brute force, exact fractions and published values."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction

import mpmath
import pytest

from tightrope.numerics.balls import Ball, ball, between, precision
from tightrope.numerics.real import ZERO, Real, real
from tightrope.numerics.sums.finite import FiniteLaw, FiniteSum, on_lattice, scattered

F = Fraction


def computed(compute: Callable[[], Ball]) -> Real:
    return Real(None, compute)


def two_sided(e: str, leak: str = "0") -> FiniteLaw:
    def power() -> Ball:
        return ball(F(e)).exp()

    kept = 1 - F(leak)
    up = computed(lambda: power() / (1 + power()) * ball(kept))
    down = computed(lambda: ball(kept) / (1 + power()))
    return scattered([real(F(e)), real(-F(e))], [up, down], real(F(leak)))


def mixed(values: list[F], masses: list[tuple[int, int]], rate: F) -> FiniteLaw:
    """Masses are multiples (a·e + b) of one number; the values and masses of the law ln(1 − q + q e^v)."""
    e = Ball(1).exp

    def weight(i: int) -> Ball:
        a, b = masses[i]
        return a * e() + b

    def factor(i: int) -> Ball:
        return 1 - ball(rate) + ball(rate) * ball(values[i]).exp()

    every = range(len(values))
    base = [computed(lambda i=i: factor(i).log()) if values[i] else ZERO for i in every]

    def mass(i: int) -> Ball:  # under P: Q-mass times factor, Q-mass = P0-mass times e^{−v}
        below = sum((weight(j) for j in every), Ball(0))
        return weight(i) / below * (-ball(values[i])).exp() * factor(i)

    return scattered(base, [computed(lambda i=i: mass(i)) for i in every])


def contains(value: Ball, digits: str) -> bool:
    places = len(digits.split("e")[0].replace("0.", "").replace(".", "").lstrip("0"))
    mid = F(digits)
    slack = abs(mid) * F(1, 10 ** (places - 2))
    return bool(value.overlaps(between(ball(mid - slack), ball(mid + slack))))


K_ARY = on_lattice(
    real(1),
    {
        1: computed(lambda: Ball(1).exp() / (Ball(1).exp() + 3)),
        0: computed(lambda: 2 / (Ball(1).exp() + 3)),
        -1: computed(lambda: 1 / (Ball(1).exp() + 3)),
    },
)


def geometric() -> FiniteLaw:
    def r() -> Ball:
        return (-ball(F(1, 2))).exp()

    masses = {3: computed(lambda: 1 / (1 + r())), -3: computed(lambda: r() ** 3 / (1 + r()))}
    for j in (1, 2):
        masses[3 - 2 * j] = computed(lambda j=j: (1 - r()) / (1 + r()) * r() ** j)
    return on_lattice(real(F(1, 2)), masses)


UNEQUAL = [two_sided(e, m) for e, m in (("0.1", "1e-6"), ("0.2", "0"), ("0.3", "1e-7"), ("0.5", "2e-6"))]
SAMPLED = mixed([F(1), F(-1), F(0)], [(1, 0), (0, 1), (0, 2)], F(1, 10))


@pytest.mark.parametrize(
    ("parts", "x", "digits"),
    [
        ([(two_sided("0.1"), 50)], "2", "0.00102138074484149673310"),
        ([(two_sided("0.1"), 50)], "3.17290273401918965260", "1.00000000000000000e-6"),
        ([(two_sided("0.5", "0.001"), 3)], "1", "0.097607712200946538491"),
        ([(two_sided("0.5", "1e-6"), 30)], "7.3", "0.047108792852841826584"),
        ([(law, 1) for law in UNEQUAL], "0.6", "0.072860321513436626201"),
        ([(two_sided("1"), 100)], "83.5307016784836", "1.00000000000e-6"),
        ([(K_ARY, 20)], "9.5", "0.099549060593393098282"),
        ([(geometric(), 10)], "4.2", "0.74958385642138966615"),
        ([(mixed([F(1), F(-1)], [(1, 0), (0, 1)], F(1, 10)), 50)], "1.1", "0.03761644347645157361"),
        ([(SAMPLED, 10)], "0.5", "0.00552160353587479132"),
    ],
)
def test_published_values(parts: list[tuple[FiniteLaw, int]], x: str, digits: str) -> None:
    law = FiniteSum(parts)
    assert law.exact
    with precision(100):
        value = law.call(ball(F(x)))
        assert contains(value, digits)
        assert value.rel_accuracy_bits() >= 60


def binomial_call(k: int, e: mpmath.mpf, x: mpmath.mpf) -> mpmath.mpf:
    """Σ_{j} C(k, j) p^{k−j} (1−p)^j (1 − e^{x−(k−2j)e})₊, every term from scratch."""
    p = mpmath.exp(e) / (1 + mpmath.exp(e))
    total, last = mpmath.mpf(0), int(mpmath.floor((k - x / e) / 2))
    for j in range(min(last, k), -1, -1):
        term = mpmath.binomial(k, j) * p ** (k - j) * (1 - p) ** j
        total += term * max(0, 1 - mpmath.exp(x - (k - 2 * j) * e))
        if total and term < total * mpmath.mpf(10) ** -40:
            break
    return total


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(
    ("k", "e", "x"),
    [
        (7, "0.3", "0.95"),
        (300, "0.1", "12"),
        (9000, "0.01", "5"),
        (9000, "0.01", "40.001"),
        (100_000, "0.01", "60"),
    ],
)
def test_binomials_keep_relative_accuracy(k: int, e: str, x: str) -> None:
    with mpmath.workdps(60):
        truth = binomial_call(k, mpmath.mpf(e), mpmath.mpf(x))
        text = mpmath.nstr(truth, 40)
    with precision(100):
        value = FiniteSum([(two_sided(e), k)]).call(ball(F(x)))
        assert value.overlaps(Ball(text) * Ball(1, 1e-36))
        assert value.rel_accuracy_bits() >= 60


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("k", [5000, 10**6, 10**9])
def test_many_copies_match_the_incomplete_beta_function(k: int) -> None:
    """P[Bin > m] and its tilted twin by quadrature of the beta density around its peak."""
    with mpmath.workdps(50):
        e = mpmath.mpf(1) / math.isqrt(k)
        p = 1 / (1 + mpmath.exp(-e))
        x = mpmath.mpf(3)
        ups = int(mpmath.floor((k + x / e) / 2)) + 1  # first number of +e steps with sum above x

        def upper(q: mpmath.mpf) -> mpmath.mpf:
            a, b = mpmath.mpf(ups), mpmath.mpf(k - ups + 1)
            width = mpmath.sqrt(q * (1 - q) / k)
            log = mpmath.loggamma(a + b) - mpmath.loggamma(a) - mpmath.loggamma(b)

            def density(t: mpmath.mpf) -> mpmath.mpf:
                return mpmath.exp(log + (a - 1) * mpmath.log(t) + (b - 1) * mpmath.log1p(-t))

            return mpmath.quad(density, [q - width * c for c in (10, 6, 3, 1, 0)])

        truth = upper(p) - mpmath.exp(x) * upper(1 - p)
        text = mpmath.nstr(truth, 25)
    step = F(1, math.isqrt(k))
    with precision(100):
        value = FiniteSum([(two_sided(str(step)), k)]).call(Ball(3))
        assert value.rel_accuracy_bits() >= 60
        assert abs(value / Ball(text) - 1) < Ball("1e-18")


def decimal(number: F) -> mpmath.mpf:
    return mpmath.mpf(number.numerator) / number.denominator


def brute(parts: list[tuple[list[F], list[F], int]], x: F) -> tuple[mpmath.mpf, F]:
    """E[(1 − e^{x−S})₊] and P[S > x] over every outcome; what is missing from the masses is at +∞."""
    outcomes: dict[F, F] = {F(0): F(1)}
    for values, masses, copies in parts:
        for _ in range(copies):
            after: dict[F, F] = {}
            for (s, m), (v, w) in itertools.product(outcomes.items(), zip(values, masses, strict=True)):
                after[s + v] = after.get(s + v, F(0)) + m * w
            outcomes = after
    lost = 1 - sum(outcomes.values())
    call = sum((decimal(m) * -mpmath.expm1(decimal(x - s)) for s, m in outcomes.items() if s > x), decimal(lost))
    return call, lost + sum((m for s, m in outcomes.items() if s > x), F(0))


CASES: list[list[tuple[list[F], list[F], int]]] = [
    [([F(1, 2), F(-1, 3), F(0)], [F(1, 2), F(1, 3), F(1, 6)], 6)],
    [([F(3), F(-2)], [F(1, 10), F(8, 10)], 9), ([F(1, 7), F(2, 7), F(-1)], [F(1, 3), F(1, 3), F(1, 4)], 4)],
    [([F(5)], [F(9, 10)], 3), ([F(-1), F(1)], [F(10**6 - 1, 10**6), F(1, 10**6)], 12)],
]


@pytest.mark.parametrize("parts", CASES)
@pytest.mark.parametrize("x", [F(-30), F(-1, 3), F(0), F(2, 7), F(3), F(29001, 2000), F(60)])
def test_lattices_against_every_outcome(parts: list[tuple[list[F], list[F], int]], x: F) -> None:
    laws = [(scattered([real(v) for v in vs], [real(m) for m in ms], real(1 - sum(ms))), k) for vs, ms, k in parts]
    law = FiniteSum(laws)
    with mpmath.workdps(40):
        call, tail = brute(parts, x)
        text = mpmath.nstr(call, 35)
    with precision(90):
        assert law.call(ball(x)).overlaps(Ball(text) * Ball(1, 1e-30))
        assert law.tail(ball(x)).overlaps(ball(tail))
        if x.denominator == 2000:  # no atom: nothing is undecided
            assert law.tail(ball(x)).rad() < Ball("1e-20")


@pytest.mark.parametrize("parts", CASES)
def test_the_integral_against_every_outcome(
    parts: list[tuple[list[F], list[F], int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same sums forced through the lattice integral, on and between the atoms."""
    monkeypatch.setattr("tightrope.numerics.sums.finite_engines._TABLE", 0)
    laws = [(scattered([real(v) for v in vs], [real(m) for m in ms], real(1 - sum(ms))), k) for vs, ms, k in parts]
    law = FiniteSum(laws)
    for x in (F(-12), F(-1, 3), F(1, 4), F(2, 7), F(5, 2)):
        with mpmath.workdps(40):
            text = mpmath.nstr(brute(parts, x)[0], 35)
        with precision(90):
            value = law.call(ball(x))
            assert value.overlaps(Ball(text) * Ball(1, 1e-30))
            assert value.rel_accuracy_bits() >= 50


ROOTS = scattered(
    [computed(lambda n=n: (Ball(n).sqrt() - 2) / 3) for n in (2, 3, 5, 7)],
    [real(F(n, 10)) for n in (1, 2, 3, 4)],
)


def roots_call(copies: int, x: float) -> mpmath.mpf:
    values = [(mpmath.sqrt(n) - 2) / 3 for n in (2, 3, 5, 7)]
    total = mpmath.mpf(0)
    for counts in itertools.product(range(copies + 1), repeat=3):
        last = copies - sum(counts)
        if last < 0:
            continue
        every = (*counts, last)
        ways = math.factorial(copies) // math.prod(math.factorial(c) for c in every)
        mass = F(ways * math.prod(n**c for n, c in zip((1, 2, 3, 4), every, strict=True)), 10**copies)
        s = sum(c * v for c, v in zip(every, values, strict=True))
        if s > x:
            total += decimal(mass) * (1 - mpmath.exp(x - s))
    return total


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("x", [-2.0, 0.0, 0.75, 1.5, 2.5])
def test_values_without_a_lattice_and_the_grid_around_them(x: float, monkeypatch: pytest.MonkeyPatch) -> None:
    with mpmath.workdps(40):
        text = mpmath.nstr(roots_call(12, x), 35)
    exact = FiniteSum([(ROOTS, 12)])
    monkeypatch.setattr("tightrope.numerics.sums.finite_engines._JOINT", 0)
    monkeypatch.setattr("tightrope.numerics.sums.finite_engines._LISTED", 0)
    grid = FiniteSum([(ROOTS, 12)])
    assert exact.exact
    assert not grid.exact
    with precision(90):
        value, enclosure = exact.call(Ball(x)), grid.call(Ball(x))
        assert value.overlaps(Ball(text) * Ball(1, 1e-30))
        assert value.rel_accuracy_bits() >= 60
        assert enclosure.lower() <= value.lower()
        assert enclosure.upper() >= value.upper()
        assert enclosure.rad() < Ball("1e-3") * value  # the grid is a proof, and not a useless one


def test_two_incommensurable_parts_against_every_outcome() -> None:
    values = [computed(lambda: Ball(2).sqrt()), computed(lambda: -Ball(2).sqrt())]
    root = scattered(values, [real(F(3, 4)), real(F(1, 4))])
    law = FiniteSum([(two_sided("0.3"), 40), (root, 5)])
    with mpmath.workdps(40):
        total = mpmath.mpf(0)
        for j in range(6):
            mass = mpmath.binomial(5, j) * mpmath.mpf(3) ** (5 - j) / mpmath.mpf(4) ** 5
            total += mass * binomial_call(40, mpmath.mpf("0.3"), 9 - (5 - 2 * j) * mpmath.sqrt(2))
        text = mpmath.nstr(total, 30)
    with precision(90):
        assert law.call(Ball(9)).overlaps(Ball(text) * Ball(1, 1e-27))
        atoms = law.atoms(300)
        assert atoms is not None
        assert len(atoms) == 41 * 6
        assert sum((m for _, m in atoms), Ball(0)).overlaps(Ball(1))
        assert law.atoms(200) is None
