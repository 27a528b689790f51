"""What was written or copied equals what is read: claims, and accountants by what was run."""

import copy
import pickle
from decimal import Decimal

import pytest

import tightrope as tr

PLAIN = tr.Gaussian(1).poisson("0.01") * 100
FAR_APART = "gaussian(11.2).poisson(1.56e-5) * 2000 + laplace(11.8).poisson(0.337)"
CLAIMS = [
    lambda: tr.epsilon(PLAIN, delta=1e-5),
    lambda: tr.delta(PLAIN + tr.Laplace(2), epsilon=1),
    lambda: tr.epsilon(tr.Approx(1, "1e-9") * 20, delta=1e-6),
    lambda: tr.epsilon(tr.ZCDP("0.1") + tr.Gaussian(3), delta=1e-6),
    lambda: tr.delta(tr.LeakyInput("0.1"), epsilon=1),
    lambda: tr.epsilon(tr.Gaussian(1), delta=0),
    lambda: tr.epsilon(tr.parse(FAR_APART), delta="1.41e-25"),  # exact
    lambda: tr.zcdp(PLAIN),
    lambda: tr.gdp(tr.Gaussian(2)),
    lambda: tr.pure(tr.Laplace(3) * 2),
    lambda: tr.renyi(PLAIN, order=4),
    lambda: tr.tradeoff(tr.Gaussian(1), fpr="0.1"),
    lambda: tr.advantage(tr.Gaussian(1)),
    lambda: tr.epsilon(tr.parse("parallel(gaussian(2), laplace(1))"), delta=1e-5),
]


@pytest.mark.parametrize("asked", CLAIMS)
def test_a_claim_reads_back_equal(asked):
    claim = asked()
    read = tr.Claim.from_json(claim.to_json())
    assert read == claim
    assert read.to_json() == claim.to_json()
    assert pickle.loads(pickle.dumps(claim)) == claim == copy.deepcopy(claim)


def test_a_claim_at_hand_is_checked_as_its_certificate_is():
    """An exact route whose ends are far apart was taken for a certificate that somebody had altered."""
    claim = CLAIMS[6]()
    assert not claim.tight
    assert tr.check(claim)
    assert tr.check(claim.to_json())


def test_another_proof_is_another_claim():
    claim = tr.epsilon(PLAIN, delta=1e-5)
    assert tr.Claim.from_json(claim.to_json().replace('"count": 1,', '"count": 2,', 1)) != claim


def test_accountants_are_equal_by_what_was_run():
    one, other = tr.Accountant(), tr.Accountant()
    one.step(PLAIN)
    one.step(tr.Laplace(2))
    other.step(tr.Laplace(2))
    for _ in range(100):
        assert one != other
        other.step(tr.Gaussian(1).poisson("0.01"))
    assert one == other
    assert copy.deepcopy(one) == one == pickle.loads(pickle.dumps(one)) == tr.Accountant.from_json(one.to_json())
    other.step(tr.Laplace(2))
    assert one != other
    assert one != PLAIN
    assert tr.Accountant() == tr.Accountant()
    with pytest.raises(TypeError):
        hash(one)


def test_an_infinite_epsilon_is_refused_with_a_remedy():
    with pytest.raises(tr.BadParameter, match=r"must be a finite number.* ask at a large ε"):
        tr.delta(tr.LeakyInput("0.1"), epsilon=float("inf"))
    assert 0.1 in tr.delta(tr.LeakyInput("0.1"), epsilon=1e9).bound


def test_a_claim_is_compared_with_text_that_is_a_number():
    claim = tr.epsilon(tr.Laplace(2), delta=0)
    assert claim <= "1/2"
    assert claim >= "0.5"
    assert claim < "1"
    assert not claim > Decimal("0.5")
    for text in ("one", "", "nan", "inf", "1/0"):
        with pytest.raises(tr.BadParameter, match=r"Compare a claim with a number"):
            assert claim <= text
