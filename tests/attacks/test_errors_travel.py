"""Errors cross processes, and hostile numbers and states are answered at once."""

import copy
import pickle
from concurrent.futures import ProcessPoolExecutor
from decimal import Decimal
from fractions import Fraction
from multiprocessing import get_context

import pytest

import tightrope as tr
from tightrope.errors import BudgetExceeded, LedgerError, NotCertified, Undecided, Unsupported

ERRORS = [
    tr.TightropeError("anything"),
    tr.BadParameter("sigma", -1, "must be positive", "Try 1."),
    tr.BadText("gausian(1)", 0, "unknown"),
    Unsupported("this", "nobody knows how", "Ask later."),
    tr.RelationMismatch("replace", "add-remove"),
    NotCertified("a number", "everything"),
    Undecided(0.0, 1.0, 0.5),
    BudgetExceeded("census", "rho", Fraction(1, 2), Fraction(1, 3)),
    LedgerError("the ledger", "it is gone"),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_errors_are_the_same_after_a_journey(error):
    for other in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert type(other) is type(error)
        assert str(other) == str(error)
        assert vars(other) == vars(error)


def refused(sigma):
    return tr.Gaussian(sigma)


def test_a_worker_tells_what_was_wrong():
    """A pool whose worker sent an error that could not be read was broken for everybody."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        with pytest.raises(tr.BadParameter, match="sigma"):
            pool.submit(refused, -1).result()
        assert pool.submit(refused, 1).result() == tr.Gaussian(1)


@pytest.mark.parametrize("digits", [401, 999_999_999])
def test_decimals_beyond_floats_are_compared_at_once(digits):
    claim, endless = tr.epsilon(tr.Gaussian(1), delta=1e-5), tr.epsilon(tr.LeakyInput("0.1"), delta=1e-5)
    huge, tiny = Decimal(f"1e{digits}"), Decimal(f"1e-{digits}")
    assert claim <= huge
    assert claim > tiny
    assert claim >= Decimal(f"-1e{digits}")
    assert not endless <= huge
    assert tr.epsilon(tr.Pure(0), delta=0) < tiny


@pytest.mark.parametrize(
    "m", [tr.Gaussian(1).poisson("0.01") * 100, tr.Gaussian(3).allocated(50), tr.Pure(1).shuffled(1000)], ids=str
)
def test_a_rate_below_all_floats(m):
    found = tr.tradeoff(m, fpr=Fraction(1, 10**400))
    assert 1 - 1e-9 < found.lower <= found.upper <= 1


@pytest.mark.parametrize(
    ("state", "problem"),
    [
        ('{"tightrope": 1, "accountant": [["gaussian(1)", 1]], "accountant": []}', "stands twice"),
        ('{"tightrope": 1, "accountant": [["gaussian(1)", 1]], "more": []}', "unknown key 'more'"),
    ],
)
def test_a_state_that_would_lose_steps(state, problem):
    with pytest.raises(tr.BadText, match=problem):
        tr.Accountant.from_json(state)
