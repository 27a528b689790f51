"""Panels for sampled normal losses far from the axis: errors against mpmath, sizes against the ellipse itself."""

import cmath
import math
from fractions import Fraction
from functools import partial
from types import SimpleNamespace

import mpmath as mp
import numpy as np
import pytest
from flint import acb, arb, ctx
from quick_numbers import flint, integral

from tightrope.errors import NotCertified
from tightrope.numerics.balls import Ball, ball, precision
from tightrope.numerics.gauss import gauss, gauss_error
from tightrope.numerics.real import real
from tightrope.numerics.transforms import glued_rule, replace_panels, sampled_panels
from tightrope.numerics.transforms.replace import ReplaceSampledNormalTransform
from tightrope.numerics.transforms.replace_panels import ReplacePanel, ellipse_error, panel_error
from tightrope.numerics.transforms.sampled_rule import largest_turn

F = Fraction
PANELS = [  # c, q, t, y, panel; turns matter in the first four
    (F(1, 2), F(1, 10), F(1), 40, ReplacePanel(F(0), F(2), 6, F(1))),
    (F(1, 2), F(1, 10), F(-1, 4), 40, ReplacePanel(F(-3), F(1), 4, F(1))),
    (F(2), F(1, 100), F(3), 300, ReplacePanel(F(1), F(1, 4), 8, F(3, 10))),
    (F(2), F(1, 1000), F(1, 2), 200, ReplacePanel(F(2), F(1), 6, F(7, 5))),  # an angle beyond π/2, where arg w falls
    (F(1, 10), F(1, 5000), F(20), 5000, ReplacePanel(F(2), F(2), 5, F(3))),
]


def integrand(c, q, t, y, z):
    """φ(z)w(z)^{t+1+iy}w(−z)^{−t−iy} at a complex z."""
    w, v = (1 - q + q * mp.exp(c * side - c * c / 2) for side in (z, -z))
    s = mp.mpc(t, y)
    return mp.npdf(0) * mp.exp(-z * z / 2 + (s + 1) * mp.log(w) - s * mp.log(v))


def integrated(c, q, t, y, panel):
    """The same over a panel, in flint's arithmetic."""
    with ctx.workdps(35):
        c, q, s = flint(c), flint(q), acb(flint(t), flint(F(y)))

        def f(z, analytic):
            w, v = ((1 - q + q * (c * side - c * c / 2).exp()).log(analytic) for side in (z, -z))
            return (-z * z / 2 + (s + 1) * w - s * v).exp() / (2 * arb.pi()).sqrt()

        return integral(f, [flint(panel.start), flint(panel.start + panel.length)])


def ellipse(panel, number=240):
    """Points around a panel."""
    half, d = float(panel.length) / 2, float(panel.depth)
    rho = d / half + math.sqrt(1 + (d / half) ** 2)
    middle = float(panel.start) + half
    return [middle + half * (rho * cmath.exp(1j * a) + cmath.exp(-1j * a) / rho) / 2
            for a in np.linspace(0, 2 * math.pi, number)], rho  # fmt: skip


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(("c", "q", "t", "y", "panel"), PANELS)
def test_a_panel_is_within_its_error(c, q, t, y, panel):
    mp.mp.dps = 30
    left, right = (mp.mpf(x.numerator) / x.denominator for x in (panel.start, panel.start + panel.length))
    with precision(100):
        bound = panel_error(ball(c), ball(q), t, Ball(y), panel)
        rule = [(mp.mpf(str(x.mid().str(30, radius=False))), mp.mpf(str(w.mid().str(30, radius=False))))
                for x, w in gauss(panel.number)]  # fmt: skip
    half, middle = (right - left) / 2, (left + right) / 2
    for at in (y, y / 3):
        f = partial(integrand, *(mp.mpf(x.numerator) / x.denominator for x in (c, q, t)), at)
        found = half * sum(w * f(middle + half * x) for x, w in rule)
        assert abs(complex(found) - complex(integrated(c, q, t, at, panel))) <= float(bound)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(("c", "q", "t", "y", "panel"), PANELS)
def test_the_bound_holds_on_the_whole_ellipse(monkeypatch, c, q, t, y, panel):
    """The largest value on it, times the theorem's factor; where turns matter, it is larger than what would be stated
    without them."""
    mp.mp.dps = 20
    points, rho = ellipse(panel)
    most = max(abs(integrand(float(c), float(q), float(t), at, z)) for z in points for at in (y, -y))
    with precision(80):
        needed = ball(panel.length / 2) * gauss_error(Ball(float(most)), Ball(rho), panel.number)

        def stated():
            return ellipse_error(ball(c), ball(q), t, Ball(y), panel)

        assert needed < stated()
        if panel is not PANELS[-1][-1]:
            monkeypatch.setattr(replace_panels, "largest_turn", lambda *_: Ball(0))
            assert needed > stated()


def test_an_angle_is_bounded_by_its_largest_value():
    """Beyond a right angle it may fall again: the tip alone is not enough."""
    with precision(80):
        for rise in (0.01, 0.3, 0.97, 0.99, 1.5, 20.0):
            for angle in (0.3, 1.5, 1.6, 2.4, 3.0):
                bound = largest_turn(Ball(0.98), Ball(rise), Ball(angle))
                seen = max(cmath.phase(0.98 + rise * cmath.exp(1j * a)) for a in np.linspace(0, angle, 4000))
                assert seen <= bound + 1e-14
                assert bound <= seen + 1e-5
        tip = cmath.phase(0.98 + 0.3 * cmath.exp(3j))
        assert largest_turn(Ball(0.98), Ball(0.3), Ball(3)) > 2 * tip
        wide = Ball(0.98, 0.1)  # neither larger nor smaller
        assert largest_turn(Ball(0.98), wide, Ball(3)) >= 3 or largest_turn(Ball(0.98), wide, Ball(3)) > 1.3


@pytest.mark.parametrize(
    ("mu", "q", "start", "y"),
    [(F(1), F(1, 50), F(1), 200), (F(19, 10), F(1, 10**5), F(1), 10**5), (F(3, 2), F(1, 10**6), F(1), 10**6)],
)
def test_panels_of_the_other_sampled_laws_hold_on_their_ellipses(monkeypatch, mu, q, start, y):
    """Angles beyond π/2, where arg w falls: in the second case that at the tip would be too small."""
    mp.mp.dps = 20
    power, depth = F(3), F(3, 2)
    panel = SimpleNamespace(start=start, length=F(1), depth=depth)
    points, rho = ellipse(panel)

    def f(z, a, at):
        w = 1 - float(q) + float(q) * mp.exp(float(mu) * z - float(mu) ** 2 / 2)
        return mp.npdf(0) * mp.exp(-z * z / 2 + mp.mpc(a, at) * mp.log(w))

    most = max(abs(f(z, 3, at)) for z in points for at in (y, -y))
    with precision(80):
        needed = Ball(0.5) * gauss_error(Ball(float(most)), Ball(rho), 8)
        stated = sampled_panels._error(
            ball(mu), ball(q), power, Ball(y), (ball(start + F(1, 2)), Ball(0.5)), ball(depth), 8, Ball(0)
        )
        assert needed < stated
        glued = glued_rule.Panel(start - mu / 2, F(1), 8, depth)  # measured from μ/2
        monkeypatch.setattr(glued_rule, "_beyond", lambda *_: Ball(0))
        assert needed < glued_rule.panel_errors(ball(mu), ball(q), power - 1, glued_rule.Growth(F(y)), (glued,))


@pytest.mark.parametrize(
    ("c", "q", "t", "y"),
    [(F(2, 21), F(106, 10**6), F(15, 4), 7000), (F(4, 5), F(1, 5000), F(20), 1200), (F(1, 4), F(1, 100), F(0), 900)],
)
def test_few_nodes_serve_far_out(c, q, t, y):
    transform = ReplaceSampledNormalTransform(real(c), q)
    with precision(128):
        found = transform.quadrature(t, F(y))
        assert len(found.shares) < 2500
        assert found.error < 1e-15
        for at in (y, y / 3, y / 50):
            truth = transform.line(t, F(at), 1)[1][1]
            pairs = [(share, loss * at) for share, loss in zip(found.shares, found.losses, strict=True)]
            real_part = sum((share * angle.cos() for share, angle in pairs), Ball(0))
            imag_part = sum((share * angle.sin() for share, angle in pairs), Ball(0))
            assert abs(real_part - truth.real).lower() <= found.error
            assert abs(imag_part - truth.imag).lower() <= found.error


def test_a_panel_that_hardly_counts_needs_no_ellipse():
    """Its error is at most what rule and integral have, whatever y is."""
    c, q, t, panel = F(1), F(1, 100), F(2), ReplacePanel(F(12), F(2), 2, F(1))
    with precision(80):
        still, moving = (panel_error(ball(c), ball(q), t, Ball(y), panel) for y in (0, 10**6))
    mp.mp.dps = 20
    truth = mp.quad(lambda x: abs(integrand(1, mp.mpf(1) / 100, 2, 0, x)), mp.linspace(12, 14, 9))
    assert truth < float(still) <= float(moving) < 100 * truth
    assert len(replace_panels.replace_panels(1.0, 0.01, 2.0, 0.0, 40.0, 0.0)) > 5


def test_what_is_out_of_reach():
    with pytest.raises(NotCertified, match="panels"):
        replace_panels.replace_panels(2.0, 0.01, 3.0, 1e6, 40.0, 0.0)
    with pytest.raises(NotCertified, match="too many nodes"):
        replace_panels.replace_panels(1.0, 0.3, 3.0, 3e3, 40.0, 0.0)
    with precision(80), pytest.raises(NotCertified, match="too high"):
        panel_error(Ball(2), Ball(0.1), F(1), Ball(1), ReplacePanel(F(0), F(1), 8, F(2)))
    far = ReplaceSampledNormalTransform(real(F(2)), F(1, 100))
    with precision(128), pytest.raises(NotCertified):
        far.quadrature(F(3), F(10**6))
