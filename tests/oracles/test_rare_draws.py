"""Few records drawn with replacement: every multiplicity counts, and a grid comes before all contours."""

from fractions import Fraction

import pytest

import tightrope as tr
from tightrope.accounting.facts import fact
from tightrope.curves.loss import Loss
from tightrope.curves.sampled.draws import drawn_pairs, with_counts
from tightrope.curves.sampled.glued import few_mixtures

pytestmark = pytest.mark.no_cover  # long, and shorter ones come by the same lines


def cut(text, last):
    """The loss with multiplicities up to the last kept."""
    loss = fact(tr.parse(text), Loss).curve
    return with_counts(loss, {pair: tuple(range(1, last + 1)) for pair in drawn_pairs(loss)})


@pytest.mark.parametrize(
    ("text", "last", "first"),
    [
        ("gaussian(sigma=0.5).with_replacement(700, 24000) * 120", 8, True),
        ("discrete_gaussian(sigma=1.3).with_replacement(124, 88961) * 1179", 9, True),
        ("gaussian(sigma=0.5).with_replacement(700, 24000) * 12", 2, False),  # hardly a mixture
        ("gaussian(sigma=40).with_replacement(700, 24000) * 120", 8, False),  # no loss is large
        ("gaussian(sigma=40).with_replacement(700, 24000) * 12", 8, True),  # but few steps
        ("gaussian(sigma=0.5).with_replacement(700, 24000) * 2400", 8, False),  # many records
        ("gaussian(sigma=0.5).with_replacement(7, 240000) * 24000", 8, False),  # many steps
        ("gaussian(sigma=0.5).without_replacement(700, 24000) * 120", 8, False),
    ],
)
def test_where_a_grid_comes_first(text, last, first):
    assert few_mixtures(cut(text, last)) == first


def test_every_multiplicity_of_rare_draws_counts():
    """If a record drawn three times counts as one drawn four times, ε is 0.56."""
    run = tr.Gaussian("2.87").with_replacement(29, 18128) * 2
    run += tr.RandomizedResponse(epsilon="0.0504").without_replacement(15, 894) * 22
    claim = tr.epsilon(run, delta="3.08e-14")
    assert claim.witness["way"] == "grid"
    assert claim.witness["cut"] == [list(range(1, claim.witness["cut"][0][-1] + 1))]
    assert 0.12 < claim.computed.lower < claim.computed.upper < 0.1201
    assert claim.computed.upper < claim.computed.lower * (1 + 1e-6)
    assert tr.check(claim.to_json())


@pytest.mark.parametrize(
    ("text", "delta"),
    [
        ("gaussian(sigma=0.489).with_replacement(721, 24695) * 120", "6.44e-07"),
        ("discrete_gaussian(sigma=1.17).with_replacement(177, 6575) * 4", "1.91e-16"),
        ("discrete_laplace(scale=1.68).with_replacement(20, 3021) * 54", "8.4e-19"),
    ],
)
def test_rare_large_losses_are_close(text, delta):
    claim = tr.epsilon(tr.parse(text), delta=delta)
    assert claim.computed.upper < claim.computed.lower * (1 + 1e-6)
    wider = tr.delta(tr.parse(text), epsilon=Fraction(claim.computed.upper))
    assert wider.computed.lower <= float(delta) * (1 + 1e-9)
    assert wider.computed.upper >= float(delta) * (1 - 1e-4)
