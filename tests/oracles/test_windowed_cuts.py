"""What windowed contours cut off is counted: for every copy, and for LOW steps beyond their own end.

Each plan cuts where much is lost, so that the proof is wide by just that. A share of it would miss the truth.
"""

from dataclasses import replace
from fractions import Fraction

import mpmath as mp
import pytest
from mixture_truth import contains, profile, two_steps

from tightrope.numerics.balls import ball, precision
from tightrope.numerics.windowed.bounds import MIDDLE, Split
from tightrope.numerics.windowed.integral import WindowProof
from tightrope.numerics.windowed.law import Step


def proved(rate, copies, split, low_end, x):
    """The call at x of steps with little noise, by a plan with this split."""
    found = profile(f"gaussian(sigma=1/3).poisson({rate}) * {copies}")
    plan = found.steps.plan(float(x), *found.steps.estimate(float(x)))
    piece = replace(plan.pieces[0], split=split, low_end=low_end, put=None, angle=Fraction(1, 2), low_angle=Fraction(0))
    line = {"t": Fraction(1, 2), "eta": Fraction(1, 8), "count": 400, "bits": 60, "above": Fraction(3, 2)}
    fine = replace(plan, pieces=(piece,), **line, below=None, all_low=Fraction(40))
    with precision(160):
        return WindowProof(found.steps._laws[0], fine).call(ball(x))


def truth(rate, x):
    with mp.workdps(22):
        step = mp.mpf(3), mp.mpf(rate.numerator) / rate.denominator
        return two_steps(step, step, mp.mpf(x.numerator) / x.denominator)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_a_cut_counts_for_every_copy(monkeypatch):
    """The bound of what one copy loses is five times too large here; thirty copies tell. Truth: a plan that cuts far
    out, which is narrow and was proved elsewhere."""
    rate, x = Fraction(1, 100), Fraction(1)
    split = Split(Fraction(1, 2), None, Fraction(5), Fraction(6), Fraction(321, 64))
    found = profile(f"gaussian(sigma=1/3).poisson({rate}) * 30")
    narrow = found.prove(x, found.find(x))
    value = proved(rate, 30, split, Fraction(6), x)
    assert value.lower() <= narrow.lower() <= narrow.upper() <= value.upper()
    whole = Step.lost
    monkeypatch.setattr(Step, "lost", lambda *args: whole(*args) / 30)
    assert proved(rate, 30, split, Fraction(6), x).upper() < narrow.lower()


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_low_steps_beyond_their_end_count(monkeypatch):
    rate, x = Fraction(1, 100), Fraction(2)
    split = Split(Fraction(1, 2), Fraction(5), Fraction(8), Fraction(10), Fraction(11))
    assert contains(proved(rate, 2, split, Fraction(3), x), truth(rate, x))
    whole = Step.lost
    monkeypatch.setattr(Step, "lost", lambda *args: whole(*args) * (args[1] == MIDDLE or len(args) < 4))
    assert not contains(proved(rate, 2, split, Fraction(3), x), truth(rate, x))


def moment(pairs, s):
    """E[e^{sL}] of a finite law of P against Q, under P."""
    return mp.fsum(p * (p / q) ** s for p, q in pairs)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("adding", [False, True])
def test_a_put_has_the_moment_of_the_other_parts_on_its_side(adding):
    """Parts whose directions differ tell M(−v) from M(v), and from M(v − 1)."""
    mu, rate, copies, v = mp.mpf(3), mp.mpf("0.01"), 4, Fraction(5, 2)
    found = profile("gaussian(sigma=1/3).poisson(0.01) * 4 + table([0.1, 0.9], [0.4, 0.6]) * 2")
    plan = found.steps.plan_to(1.0, 1.0, -12.0)
    split = Split(Fraction(1, 2), None, Fraction(2), Fraction(6), Fraction(6))
    piece = replace(plan.pieces[0], split=split, put=v, low_end=Fraction(6), low_angle=Fraction(0))
    with precision(160):
        proof = WindowProof(found.steps._laws[adding], replace(plan, pieces=(piece,)), adding)
        ((tilt, put),) = proof._puts
    assert tilt == v
    with mp.workdps(30):
        power, border, blur = (mp.mpf(x.numerator) / x.denominator for x in (v, piece.split.high, piece.split.blur))

        def weighed(z, share):
            return mp.npdf(z) * share(z) * (1 - rate + rate * mp.exp(mu * z - mu**2 / 2)) ** (1 - power)

        places = [-12, -4, 0, 2, border, border + 3, 12]
        high = mp.quad(lambda z: weighed(z, lambda z: mp.ncdf((z - border) / blur)), places)
        whole = mp.quad(lambda z: weighed(z, lambda _: 1), places)
        table = [(mp.mpf("0.1"), mp.mpf("0.4")), (mp.mpf("0.9"), mp.mpf("0.6"))]
        other = moment([(q, p) for p, q in table], power - 1) if adding else moment(table, -power)
        largest = (power - 1) ** (power - 1) / power**power
        expected = largest * copies * high * whole ** (copies - 1) * other**2
        assert contains(put, expected)
        assert float(put.rad()) < 0.05 * expected  # M(v) and M(v − 1) are others by far
