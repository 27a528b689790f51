"""The decay of the sampled normal transform along a path that bends: against the transform and the definition."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import acb, arb, ctx
from quick_numbers import flint, integral

from tightrope.errors import NotCertified
from tightrope.numerics.balls import ball, precision
from tightrope.numerics.real import Real
from tightrope.numerics.transforms.bent_decay import Path, Piece, bent_decay, log_bent_decay
from tightrope.numerics.transforms.sampled import SampledNormalTransform

SETTINGS = [  # μ, q, A, copies, y
    (Fraction(1), Fraction(1, 1000), Fraction(13), 10**5, Fraction(20)),
    (Fraction(5, 3), Fraction(1, 250), Fraction(15, 4), 10**4, Fraction(4)),
    (Fraction(1), Fraction(1, 100), Fraction(21, 4), 10**4, Fraction(10)),
    (Fraction(1, 2), Fraction(1, 100), Fraction(6), 10**4, Fraction(20)),
    (Fraction(1), Fraction(1, 10), Fraction(3), 1000, Fraction(5)),
    (Fraction(6, 5), Fraction(1, 10**4), Fraction(3), 10**7, Fraction(10)),
    (Fraction(5, 2), Fraction(1, 1000), Fraction(13, 10), 10**5, Fraction(5)),
    (Fraction(1, 4), Fraction(1, 2), Fraction(9, 8), 10**3, Fraction(3)),
    (Fraction(1), Fraction(9, 10), Fraction(2), 100, Fraction(3)),
]


def bits(copies: int) -> int:
    return copies.bit_length() + 4 + -(-44 // copies)


def bound(mu: Fraction, q: Fraction, a: Fraction, copies: int, y: Fraction) -> tuple[SampledNormalTransform, arb]:
    transform = SampledNormalTransform(Real(mu), q, False)
    with precision(bits(copies)):
        return transform, bent_decay(Real(mu), q, a, y, transform.log_real(a - 1))


@pytest.mark.parametrize(("mu", "q", "a", "copies", "y"), SETTINGS)
def test_it_bounds_every_later_node_and_is_sharp(mu, q, a, copies, y):
    transform, found = bound(mu, q, a, copies, y)
    with precision(120):
        nodes = transform.line(a - 1, y / 8, 40)[1]
        assert all(abs(nodes[k]).upper() <= found for k in range(8, 41))
        truth, bent = abs(nodes[8]).log() * copies, found.log() * copies
    assert bent < (0.9 if q < Fraction(1, 2) else 0.7) * truth  # the exponent is nearly that of the transform itself


@pytest.mark.parametrize(("mu", "q", "a", "copies", "y"), SETTINGS)
def test_floats_foresee_it(mu, q, a, copies, y):
    _, found = bound(mu, q, a, copies, y)
    seen = log_bent_decay(float(mu), float(q), float(a), np.array([float(y)]))[0] * copies
    assert abs(seen - float(found.log()) * copies) < 0.03 * abs(seen) + 0.2


def path(mu: Fraction, q: Fraction, a: Fraction, copies: int, y: Fraction) -> Path:
    with precision(80):
        return Path(ball(mu), q, a, y, bits(copies) * 0.7)


def integrand(mu: arb, q: arb, a: arb, y: arb, piece: Piece, at: acb, analytic: bool = False) -> acb:
    """√2π times it at a complex place, by both halves of |w|^A e^{−y·arg w}; positive at a real one."""
    eta = flint(piece.low) + flint(piece.slope) * (at - flint(piece.left))
    i = acb(0, 1)
    up, down = ((1 - q + q * (mu * (at + sign * i * eta) - mu * mu / 2).exp()).log(analytic) for sign in (1, -1))
    return ((eta * eta - at * at) / 2 + (a + i * y) / 2 * up + (a - i * y) / 2 * down).exp()


def highest_excess(numbers: tuple[Fraction, ...], whole: Path, piece: Piece, depth: Fraction) -> float:
    """ln of the largest value on the ellipse's border over its bound."""
    with precision(80):
        log, rho = whole.log_most(piece, ball(depth))
        left, right, size = flint(piece.left), flint(piece.right), arb(float(rho.mid()))
        turns = [size * (acb(0, 1) * arb.pi() * k / 16).exp() for k in range(32)]
        places = [(left + right) / 2 + (right - left) / 4 * (turn + 1 / turn) for turn in turns]
        sizes = [abs(integrand(*map(flint, numbers), piece, at)).log() for at in places]
        return max(float(one.mid()) for one in sizes) - float(log.upper())


def over(numbers: tuple[Fraction, ...], piece: Piece) -> arb:
    """The integral over a piece of the path."""
    with ctx.workdps(30):
        exact = [flint(x) for x in numbers]
        found = integral(lambda x, analytic: integrand(*exact, piece, x, analytic), [piece.left, piece.right], 20)
        return found.real * (1 + flint(piece.slope) ** 2).sqrt()


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(("mu", "q", "a", "copies", "y"), SETTINGS)
def test_the_integrand_is_bounded_in_each_ellipse(mu, q, a, copies, y):
    whole, tried = path(mu, q, a, copies, y), 0
    for piece in whole.pieces:
        for share in (Fraction(3, 2), Fraction(3, 4), Fraction(1, 4)):
            try:
                excess = highest_excess((mu, q, a, y), whole, piece, share * (piece.right - piece.left) / 2)
            except NotCertified:
                continue  # too high an ellipse
            tried += 1
            assert excess < 1e-9
    assert tried > len(whole.pieces)


@pytest.mark.parametrize(
    ("power", "y", "ends", "depth", "spare"),
    [
        ("1/8", 0, ("0", "1", "2", "2"), "1", 0.2),  # the height of the path
        ("1/8", 0, ("-1", "1", "0", "0"), "3/2", 0.2),  # that of the ellipse
        ("10", 0, ("4", "5", "0", "2"), "1/2", 14.0),  # its slope: w further to the right
        ("1/8", 60, ("4", "5", "0", "2"), "1/2", 60.0),  # w turns back
        ("1/8", 60, ("6", "7", "0", "3/4"), "1/2", 60.0),  # and the path is below the axis
    ],
)
def test_no_term_of_the_bound_is_idle(power, y, ends, depth, spare):
    numbers = Fraction(1), Fraction(1, 100), Fraction(power), Fraction(y)
    with precision(80):
        whole = Path(ball(numbers[0]), *numbers[1:], 20.0)
    piece = Piece(*(Fraction(end) for end in ends))
    assert -spare < highest_excess(numbers, whole, piece, Fraction(depth)) < 1e-9


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize("nodes", [None, 2])
@pytest.mark.parametrize("nats", [0.5, 2.0, 12.0])
def test_the_whole_path_is_below_its_bound(nats, nodes, monkeypatch):
    mu, q, a, y = Fraction(1), Fraction(1, 100), Fraction(3), Fraction(4)
    with precision(80):
        whole = Path(ball(mu), q, a, y, nats)
        if nodes:  # so that the rule is poor
            monkeypatch.setattr(whole, "_size", lambda _piece, _log: (nodes, Fraction(1, 5)))
        found = whole.bound(ball(Fraction(0)))
    first, last = whole.pieces[0], whole.pieces[-1]
    before = Piece(first.left - 12, first.left, first.low, first.low)
    after = Piece(last.right, last.right + 16, last.high, last.high)
    total = sum(float(over((mu, q, a, y), piece)) for piece in (before, *whole.pieces, after))
    truth = total / math.sqrt(2 * math.pi)
    assert truth < float(found.upper())
    if nats > 10 and not nodes:
        assert float(found.upper()) < truth * (1 + 1e-4)


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(("mu", "q", "a", "copies", "y"), SETTINGS[:5])
def test_each_piece_is_enclosed(mu, q, a, copies, y):
    whole = path(mu, q, a, copies, y)
    with precision(120):
        log = arb(float(SampledNormalTransform(Real(mu), q, False).log_real(a - 1).mid()))
    for piece in whole.pieces[::2]:
        with precision(120):
            truth = float(over((mu, q, a, y), piece) * (-log).exp())
        for size in (3, 8):
            with precision(120):
                found = whole._sum(piece, size, log)
                error = whole._error(piece, ball(Fraction(1, 5)), size, log)
            assert abs(float(found.mid()) - truth) <= float(error.upper()) + 1e-13


def test_what_it_cannot_do_is_no_bound():
    q, power, y = Fraction(1, 100), Fraction(3), Fraction(5)
    with precision(40):
        assert bent_decay(Real(Fraction(1)), q, power, y, arb("inf")) == 1
        assert bent_decay(Real(Fraction(900)), q, power, y, arb(1)) == 1  # too many pieces
    assert log_bent_decay(900.0, 0.01, 3.0, np.array([5.0, 6.0])).tolist() == [0.0, 0.0]
