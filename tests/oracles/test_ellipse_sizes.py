"""Integrands of sampled normal laws in the complex plane are nowhere on an ellipse larger than their bounds say."""

from fractions import Fraction

import numpy as np
import pytest

from tightrope.numerics.balls import Ball, ball, precision
from tightrope.numerics.transforms import glued_rule, replace_panels, sampled_panels
from tightrope.numerics.transforms.bent_decay import Path, Piece
from tightrope.numerics.transforms.replace_panels import ReplacePanel, ellipse_error, panel_error, replace_quadrature

F = Fraction
ANGLES = np.linspace(0, 2 * np.pi, 721)


def ellipse(middle, half, depth):
    rho = depth / half + np.hypot(1, depth / half)
    return middle + half * (rho * np.exp(1j * ANGLES) + np.exp(-1j * ANGLES) / rho) / 2


def log_w(mu, q, z):
    return np.log(1 - q + q * np.exp(mu * z - mu * mu / 2))


def short(x):
    return F(round(float(x) * 64), 64)


def most_of(monkeypatch, module, stated):
    """ln of what a module says its integrand is at most, times half a panel's length."""
    sizes = []
    monkeypatch.setattr(module, "gauss_error", lambda most, *_: sizes.append(most) or most)
    with precision(80):
        stated()
        return [float(most.upper().log()) for most in sizes]


def random_panel(seed):
    """c, q, t, y and a panel near the peak of the integrand."""
    rng = np.random.default_rng(seed)
    c, q, t = short(rng.uniform(0.3, 1.5)), short(rng.uniform(0.1, 0.95)), short(rng.uniform(-0.5, 12))
    half, depth = short(rng.uniform(0.1, 0.5)), short(rng.uniform(0.3, 2.9) / float(c))
    start = short((float(t) + 1) * float(c) * rng.uniform(0.4, 1.2)) - half
    return c, q, t, float(rng.choice([0.0, 300.0])), ReplacePanel(start, 2 * half, 8, depth)


PANELS = [
    *(random_panel(seed) for seed in range(30)),
    (F(91, 64), F(13, 64), F(817, 64), 0.0, ReplacePanel(F(-161, 64), F(5, 32), 8, F(33, 16))),  # a cosine is needed
    (F(41, 32), F(51, 64), F(367, 32), 0.0, ReplacePanel(F(-205, 64), F(1, 16), 8, F(47, 32))),  # and the right end
]


@pytest.mark.parametrize(("c", "q", "t", "y", "panel"), PANELS)
def test_an_exchanged_record(monkeypatch, c, q, t, y, panel):
    (most,) = most_of(monkeypatch, replace_panels, lambda: ellipse_error(ball(c), ball(q), t, Ball(y), panel))
    half = panel.length / 2
    z = ellipse(float(panel.start + half), float(half), float(panel.depth))
    up, down = (log_w(float(c), float(q), side) for side in (z, -z))
    for at in (y, -y):
        s = complex(float(t), at)
        assert (-z * z / 2 + (s + 1) * up - s * down).real.max() <= most + 1e-9


@pytest.mark.parametrize("mu", [F(2), F(1)])
def test_one_record_where_angles_fall_again(monkeypatch, mu):
    """Up to three quarters of a half turn and more, with hardly any mass beside 1 − q, and y large."""
    q, y, depth, half = F(1, 2000), 5000.0, F(29, 10) / mu, F(1, 2)
    z = ellipse(1.5, 0.5, float(depth))
    power = 3
    seen = max((-z * z / 2 + complex(power, at) * log_w(float(mu), float(q), z)).real.max() for at in (y, -y))
    (most,) = most_of(
        monkeypatch,
        sampled_panels,
        lambda: sampled_panels._error(
            ball(mu), ball(q), F(power), Ball(y), (Ball(1.5), ball(half)), ball(depth), 8, Ball(0)
        ),
    )
    assert seen <= most
    panel, after = glued_rule.Panel(1 - mu / 2, F(1), 8, depth), glued_rule.Panel(2 - mu / 2, F(30), 8, F(1, 100))
    most, _ = most_of(
        monkeypatch,
        glued_rule,
        lambda: glued_rule.panel_errors(ball(mu), ball(q), F(power - 1), glued_rule.Growth(F(int(y))), (panel, after)),
    )
    assert seen - np.log(2) - np.log(2 * np.pi) / 2 <= most  # of half a panel's length, and 1/√2π


def random_piece(seed):
    """μ, q, A, y, a piece and a depth."""
    rng = np.random.default_rng(seed)
    mu, q, power = short(rng.uniform(0.3, 2)), F(int(rng.integers(1, 500)), 1000), short(rng.uniform(1, 6))
    left = short(rng.uniform(-2, 4))
    low, high = sorted(short(rng.uniform(0, 0.9) / float(mu)) for _ in range(2))
    piece = Piece(left, left + short(rng.uniform(0.3, 1.2)), F(0) if rng.random() < 0.5 else low, high)
    return mu, q, power, int(rng.choice([1, 40, 400])), piece, short(rng.uniform(0.1, 0.5) / float(mu))


PIECES = [
    *(random_piece(seed) for seed in range(30)),
    # Far below the axis beyond its end, where both angles count; and steep, where losses aside do.
    (F(3, 8), F(793, 1000), F(261, 32), 1000, Piece(F(129, 64), F(133, 64), F(0), F(7, 32)), F(115, 64)),
    (F(59, 64), F(6, 125), F(763, 64), 1000, Piece(F(33, 64), F(39, 64), F(0), F(19, 64)), F(47, 64)),
]


@pytest.mark.parametrize(("mu", "q", "power", "y", "piece", "depth"), PIECES)
def test_a_path_that_bends(mu, q, power, y, piece, depth):
    path = Path(ball(mu), q, power, F(y), 20.0)
    with precision(80):
        most = float(path.log_most(piece, ball(depth))[0].upper())
    x = ellipse(float(piece.left + piece.right) / 2, float(piece.right - piece.left) / 2, float(depth))
    eta = float(piece.low) + float(piece.slope) * (x - float(piece.left))
    a = float(power)
    logs = [log_w(float(mu), float(q), x + sign * 1j * eta) for sign in (1, -1)]
    values = (eta * eta - x * x) / 2 + complex(a, y) / 2 * logs[0] + complex(a, -y) / 2 * logs[1]
    assert values.real.max() <= most + 1e-9


def test_a_coarse_rule_is_off_by_nearly_its_length():
    """Two nodes whose phases agree, where the integral turns: the rule's value counts, not only a part of it."""
    c, q, t, panel = F(1, 10), F(1, 2), F(0), ReplacePanel(F(0), F(1), 2, F(1))
    place = np.linspace(0, 1, 20001)
    loss = (log_w(0.1, 0.5, place) - log_w(0.1, 0.5, -place)).real
    density = np.exp(-place * place / 2 + log_w(0.1, 0.5, place).real) / np.sqrt(2 * np.pi)
    nodes = 0.5 + np.array([-0.5, 0.5]) / np.sqrt(3)
    worst = 0.0
    for y in np.linspace(50, 300, 200):
        terms = density * np.exp(1j * y * loss)
        integral = (terms[1:] + terms[:-1]).sum() / 40000
        rule = sum(np.interp(nodes, place, terms.real)) / 2 + 1j * sum(np.interp(nodes, place, terms.imag)) / 2
        worst = max(worst, abs(rule - integral))
    with precision(80):
        assert worst <= panel_error(ball(c), ball(q), t, Ball(300), panel)
    assert worst > 0.3


def test_what_lies_beyond_panels_counts():
    c, q, t = F(1, 2), F(1, 10), F(1)
    x = np.linspace(-14, 16, 300001)
    up, down = (log_w(0.5, 0.1, side).real for side in (x, -x))
    terms = np.exp(-x * x / 2 + 2 * up - down) / np.sqrt(2 * np.pi)
    whole = terms.sum() * (x[1] - x[0])
    inside = terms[(x >= -4) & (x <= 4)].sum() * (x[1] - x[0]) / whole
    panels = [ReplacePanel(F(i), F(1), 24, F(1)) for i in range(-4, 4)]
    with precision(100):
        found = replace_quadrature(ball(c), q, t, F(1), panels, Ball(float(np.log(whole))))
        total = float(sum(found.shares, Ball(0)))
    assert abs(total - inside) < 1e-6
    assert 1e-5 < 1 - total <= float(found.error)
