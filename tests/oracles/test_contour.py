"""The contour integral against closed forms, residues, lattice sums and numbers computed by other programs."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import pytest
from contour_values import Parts, holds, proved, relative_width

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ball, lower_float, precision, upper_float
from tightrope.numerics.contour import aliases as contour_aliases
from tightrope.numerics.contour import proof as contour_proof
from tightrope.numerics.contour.integral import ContourSum, Plan
from tightrope.numerics.normal import normal_call
from tightrope.numerics.real import Real, real
from tightrope.numerics.sums.finite import FiniteLaw, FiniteSum, scattered
from tightrope.numerics.sums.laplace import laplace_call
from tightrope.numerics.transforms.closed import LaplaceTransform, NormalTransform
from tightrope.numerics.transforms.finite import FiniteTransform
from tightrope.numerics.transforms.sampled import SampledNormalTransform

F = Fraction


def sampled(sigma: str, rate: str, adding: bool = False) -> SampledNormalTransform:
    return SampledNormalTransform(real(1 / F(sigma)), F(rate), adding)


def two_values(reach: F) -> FiniteLaw:
    def chance() -> Ball:
        return 1 / (1 + (-ball(reach)).exp())

    masses = Real(None, chance), Real(None, lambda: 1 - chance())
    return FiniteLaw((Real(reach), Real(-reach)), masses, unit=Real(reach), steps=(1, -1))


@pytest.mark.parametrize(
    ("sigma", "rate", "steps", "delta", "low", "high"),
    [
        ("1", "0.01", 10**4, "1e-5", "6.18771238997055", "6.18771238997247"),
        ("0.6", "0.004", 2 * 10**4, "1e-6", "13.5626205160463", "13.5626205160502"),
        ("2", "0.05", 2000, "1e-8", "7.22548923262115", "7.22548923262249"),
        ("1", "0.001", 10**6, "1e-7", "7.30258976695855", "7.30258976696004"),
        ("0.8", "0.01", 1000, "1e-12", "6.99203114618143", "6.99203114618305"),
        ("1", "0.01", 10**4, "1e-20", "13.8797727166719", "13.8797727166731"),
        ("1", "0.01", 10**4, "1e-50", "24.4444913091228", "24.444491309124"),
        ("1", "0.01", 10**4, "1e-100", "40.454844746176", "40.454844747109"),
    ],
)
def test_roots_of_sampled_sums_lie_in_published_brackets(
    sigma: str, rate: str, steps: int, delta: str, low: str, high: str
) -> None:
    total = ContourSum([(sampled(sigma, rate), steps)])
    x = total.root(math.log(float(delta)))
    plan = total.plan(x)
    target = ball(F(delta))
    # The bracket's ends were proved by another program: the call must fall through the target between them.
    assert lower_float(total.call(Ball(low), plan) - target * (1 - Ball("1e-12"))) > 0
    assert upper_float(total.call(Ball(high), plan) - target * (1 + Ball("1e-12"))) < 0
    assert relative_width(total.call(Ball(x), plan)) < 2e-11
    assert float(low) - 1e-12 <= x <= float(high) + 1e-12


@pytest.mark.parametrize(
    ("sigma", "rate", "adding", "steps", "x", "low", "high"),
    [
        ("1", "0.01", False, 1000, F(2), "2.66557192476179115e-6", "2.66557192476179125e-6"),
        ("1", "0.01", True, 1000, F(2), "1.067162021368678135e-9", "1.067162021368678145e-9"),
        ("1", "0.01", False, 100, F(1), "6.67139891554930565e-7", "6.67139891554930575e-7"),
    ],
)
def test_sampled_calls(sigma: str, rate: str, adding: bool, steps: int, x: F, low: str, high: str) -> None:
    value = proved([(sampled(sigma, rate, adding), steps)], x)
    assert holds(value, low, high)
    assert relative_width(value) < 1e-11


def test_mixture() -> None:
    parts: Parts = [
        (sampled("1", "0.01"), 5000),
        (sampled("0.8", "0.02"), 300),
        (NormalTransform(real(F(1, 4))), 1),
        (LaplaceTransform(F(1, 5)), 10),
        (FiniteTransform(two_values(F(1, 10))), 20),
    ]
    total = ContourSum(parts)
    x = total.root(math.log(1e-6))
    assert x == pytest.approx(7.935023481878, abs=2e-12)
    plan = total.plan(x)
    assert total.call(Ball("7.935023481875"), plan) > Ball("1e-6")
    assert total.call(Ball("7.935023481881"), plan) < Ball("1e-6")


def test_laplace_root() -> None:
    total = ContourSum([(LaplaceTransform(F(1)), 100)])
    assert 71.54600365967 < total.root(math.log(1e-6)) < 71.54600365968


def test_normal_sums_hold_the_closed_form() -> None:
    rng = random.Random(5)
    for _ in range(60):
        copies = rng.choice([1, 3, 1000, 10**9, 10**12])
        variance = F(10 ** rng.uniform(-4, 1.5)).limit_denominator(10**6)
        mu = math.sqrt(variance)
        x = F(rng.uniform(-5, 12) * mu).limit_denominator(10**4)
        value = proved([(NormalTransform(real(variance / copies)), copies)], x, 10 ** rng.uniform(-15, -2))
        with precision(300):
            truth = normal_call(ball(variance).sqrt(), ball(x))
            assert value.contains(truth), (variance, copies, x)
        assert relative_width(value) < 0.03


def test_laplace_sums_hold_the_residues() -> None:
    rng = random.Random(6)
    certified = 0
    for _ in range(20):
        copies, reach = rng.choice([40, 100, 250]), F(rng.uniform(0.1, 1.5)).limit_denominator(100)
        x = F(rng.uniform(-2, 5) * math.sqrt(copies) * float(reach)).limit_denominator(100)
        try:
            value = proved([(LaplaceTransform(reach), copies)], x, 10 ** rng.uniform(-8, -2))
        except NotCertified:
            continue
        certified += 1
        with precision(100):
            assert value.contains(laplace_call(reach, copies, ball(x))), (reach, copies, x)
    assert certified >= 12


def test_normal_with_atoms_is_a_mixture_of_normals() -> None:
    """Given the atoms' sum the call is that of a shifted normal."""
    rng = random.Random(7)
    for _ in range(12):
        values = [F(rng.randint(-8, 8), 8) for _ in range(3)]
        masses = [F(rng.randint(1, 9), 40) for _ in range(3)]
        infinite = 1 - sum(masses)
        copies, variance = rng.randint(1, 6), F(rng.randint(1, 40), 20)
        law = scattered([Real(v) for v in values], [Real(m) for m in masses], Real(infinite))
        x = F(rng.randint(-20, 40), 10)
        value = proved([(FiniteTransform(law), copies), (NormalTransform(real(variance)), 1)], x, 1e-9)
        with precision(200):
            spread, truth = ball(variance).sqrt(), Ball(0)
            for at, mass in _convolution(values, masses, copies).items():
                truth += ball(mass) * normal_call(spread, ball(x - at))
            truth += ball(1 - (1 - infinite) ** copies)
            assert value.contains(truth), (values, masses, copies, variance, x)
        assert relative_width(value) < 1e-7


def _convolution(values: list[F], masses: list[F], copies: int) -> dict[F, F]:
    law = {F(0): F(1)}
    for _ in range(copies):
        following: dict[F, F] = {}
        for at, mass in law.items():
            for value, share in zip(values, masses, strict=True):
                following[at + value] = following.get(at + value, F(0)) + mass * share
        law = following
    return law


def test_atoms_alone_are_refused_or_held() -> None:
    law = two_values(F(1, 10))
    total = ContourSum([(FiniteTransform(law), 50)])
    with pytest.raises(NotCertified):
        total.plan(1.0)
    value = total.call(Ball(1), Plan(F(1), F(1, 4), 400, 60))  # a plan by hand: wide, since atoms do not decay
    assert value.contains(FiniteSum([(law, 50)]).call(Ball(1)))


def test_two_plans_overlap_and_the_upper_bound_is_above() -> None:
    rng = random.Random(8)
    for _ in range(25):
        sigma, rate = F(rng.randint(6, 30), 10), F(rng.randint(2, 60), 200)
        copies = rng.randint(30, 3000)
        total = ContourSum([(SampledNormalTransform(real(1 / sigma), rate, rng.random() < 0.5), copies)])
        x = total.root(rng.uniform(-40, -1))
        try:
            plans = [total.plan(x, relative) for relative in (1e-12, 1e-6)]
        except NotCertified:
            continue
        first, second = plans
        other = Plan(second.t * F(9, 8), second.eta * F(3, 4), second.count * 2, second.bits + 40)
        values = [total.call(Ball(x), plan) for plan in (first, second, other)]
        assert values[0].overlaps(values[1])
        assert values[0].overlaps(values[2])
        assert total.upper(Ball(x), first.t) >= values[0].lower()
        assert abs(total.estimate(x) - math.log(float(values[0]))) < 1e-7


def test_a_root_is_polished() -> None:
    total = ContourSum([(sampled("1", "0.01"), 10**4)])
    target = math.log(1e-5)
    x = total.root(target)
    plan = total.plan(x)
    assert total.polished(x + 1e-7, target, plan) == pytest.approx(x, abs=1e-11)


def test_a_wide_point_holds_both_ends() -> None:
    total = ContourSum([(sampled("1", "0.01"), 10**4)])
    plan = total.plan(6.0)
    wide = total.call(Ball("6.0").union(Ball("6.1")), plan)
    assert wide.contains(total.call(Ball("6.05"), plan))
    assert total.call(Ball("inf"), plan).contains(0)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_every_plan_is_a_proof() -> None:
    """Plans taken at random are poor, but what they prove is true."""
    rng = random.Random(9)
    narrow = 0
    for _ in range(200):
        variance, x = F(rng.randint(1, 80), 20), F(rng.randint(-60, 120), 10)
        plan = Plan(F(rng.randint(1, 300), 64), F(rng.randint(1, 200), 64), rng.randint(1, 40), rng.randint(4, 60))
        value = ContourSum([(NormalTransform(real(variance)), 1)]).call(ball(x), plan)
        with precision(200):
            assert value.contains(normal_call(ball(variance).sqrt(), ball(x))), (variance, x, plan)
        narrow += relative_width(value) < 1e-3
        copies, reach = rng.randint(1, 60), F(rng.randint(1, 40), 20)
        value = ContourSum([(LaplaceTransform(reach), copies)]).call(ball(x), plan)
        with precision(120):
            assert value.contains(laplace_call(reach, copies, ball(x))), (reach, copies, x, plan)
        narrow += relative_width(value) < 1e-3
    assert narrow > 20


SHORT_PERIOD = Plan(F(2), F(5, 2), 12, 80)  # the aliases are far above everything else
FEW_NODES = Plan(F(2), F(1, 2), 7, 80)  # the node tail is far above everything else


@pytest.mark.parametrize(
    ("owner", "term", "plan"),
    [
        (contour_aliases.Aliases, "_below", SHORT_PERIOD),
        (contour_aliases.Aliases, "_above", SHORT_PERIOD),
        (contour_proof.Proof, "_node_tail", FEW_NODES),
    ],
)
def test_every_error_term_is_needed(owner: type, term: str, plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    parts: Parts = [(NormalTransform(real(F(1, 2))), 1)]
    with precision(200):
        truth = normal_call(ball(F(1, 2)).sqrt(), Ball(1))
    assert ContourSum(parts).call(Ball(1), plan).contains(truth)
    monkeypatch.setattr(owner, term, lambda *_: Ball(0))
    assert not ContourSum(parts).call(Ball(1), plan).contains(truth)


def test_extremes_give_wide_balls_or_refuse() -> None:
    for copies in (1, 10**12):
        for rate in (F(1, 10**12), 1 - F(1, 10**9)):
            for mu in (F(1, 100), F(9)):
                total = ContourSum([(SampledNormalTransform(real(mu), rate, False), copies)])
                x = total.root(-20.0)
                try:
                    value = total.call(Ball(x) if math.isfinite(x) else Ball(1), total.plan(x if x < 1e300 else 1.0))
                except NotCertified:
                    continue
                assert value.is_finite()
                assert value >= 0 or value.contains(0)


@pytest.mark.parametrize("off", [0.0, 1e-6, 0.05, 0.2])
def test_a_root_is_polished_from_afar(off: float) -> None:
    """ln of the call falls by 1.4 from x = 6.1877 on to 6.3877, so floats may be rather wrong."""
    total = ContourSum([(SampledNormalTransform(real(F(1)), F(1, 100), False), 10_000)])
    root = total.root(math.log(1e-5))
    plan = total.plan(root)
    found = total.polished(root + off, math.log(1e-5), plan)
    assert abs(found - root) < 1e-9
    value = total.call(Ball(found), plan)
    assert abs(float(value.mid()) / 1e-5 - 1) < 1e-9
