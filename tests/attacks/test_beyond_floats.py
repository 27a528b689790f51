"""Parameters of very different size: searches in floats see nothing, and give way to others or to a typed error."""

import json
import math

import pytest

import tightrope as tr

CRASHED = [  # arrays were empty
    ("discrete_laplace(scale=4.88e-07) * 126255 + gaussian(sigma=321).poisson(0.0264735)", "0.0125"),
    ("randomized_response(epsilon=97.3).poisson(0.00170829, relation=replace) * 5160 + "
     "gaussian(sigma=1.25) * 116400948", "1.2e-08"),
    ("laplace(scale=0.107).poisson(0.000416583) * 10 + discrete_laplace(scale=1.96e-07)", "5.79e-06"),
]  # fmt: skip


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(("text", "delta"), CRASHED)
def test_empty_searches_give_way(text, delta):
    claim = tr.epsilon(tr.parse(text), delta=delta)
    assert 0 < claim.lower <= claim.upper < claim.lower * 1.001


def test_millions_of_sums_that_hardly_move():
    """Nearly all of the noise is 0, so that the sum is k/2σ² but for a chance of 2e-11; it took minutes."""
    steps = 18_183_857
    claim = tr.epsilon(tr.DiscreteGaussian("0.109") * steps, delta="3.47e-07")
    assert claim.upper == pytest.approx(steps / (2 * 0.109**2), rel=1e-12)
    assert claim.upper / claim.lower < 1 + 1e-12


def test_sums_that_do_not_move_at_all():
    """A chance of 1e-766 that some noise is not 0; every value took five seconds."""
    steps = tr.DiscreteGaussian("0.0168") * 1474
    loss = 1474 / (2 * 0.0168**2)
    claim = tr.epsilon(steps, delta="3.57e-5")
    assert claim.upper == pytest.approx(loss + math.log1p(-3.57e-5), rel=1e-13)
    assert claim.upper / claim.lower < 1 + 1e-12
    assert tr.delta(steps, epsilon=loss - 1).lower == pytest.approx(0.6321205588, rel=1e-8)
    assert tr.delta(steps, epsilon=loss + 1).upper == 5e-324


def test_laplace_noise_that_is_hardly_any_beside_a_sample() -> None:
    """e^−113 is not 1 + (e^−113 − 1): the cells of the plain loss lost their lower end."""
    claim = tr.epsilon(
        tr.Laplace(scale="0.0088") * 10 + tr.Laplace(scale="9.52").without_replacement(533, 1000) * 3, delta="5.33e-178"
    )
    assert 1000 < claim.lower <= claim.upper < 1140


def test_a_lower_end_beside_an_atom_is_proved_again() -> None:
    """δ jumps just below it: at that ε itself a grid tells δ to three per cent only."""
    claim = tr.epsilon(tr.parse("discrete_gaussian(0.114).without_replacement(204, 1000) * 3"), delta="1.88e-6")
    assert tr.check(claim.to_json())
    stated = json.loads(claim.to_json())
    forged = claim.upper - 1e-12  # less than 2e-9 above what is proved, and that does not excuse it
    assert stated["lower"] < claim.computed.lower < forged
    assert not tr.check(json.dumps({**stated, "lower": forged}))


def test_a_leak_that_is_nearly_everything() -> None:
    m = tr.parse(
        "gaussian(4.51).poisson(7.06293e-8) * 268 + approx(0.154, 5.3e-6) * 171296 + staircase(0.352, gamma=0.3) * 2"
    )
    claims = [tr.delta(m, epsilon=epsilon) for epsilon in (1, 10**5)]
    leak = 1 - (1 - 5.3e-6) ** 171296
    assert all(leak <= claim.upper <= 1 for claim in claims)
    assert abs(claims[-1].upper - leak) < 1e-9


def test_a_root_that_floats_do_not_find() -> None:
    claim = tr.epsilon(tr.parse("gaussian(555).without_replacement(331, 1000) * 26"), delta="5.16e-194")
    assert 0.05 < claim.lower <= claim.upper < 0.28  # of the noise without a sample
