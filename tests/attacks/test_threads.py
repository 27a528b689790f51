"""Threads: flint's precision is one for the whole process; eight threads must still answer exactly as one alone."""

import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

import tightrope as tr
from laws.registered import FIRST, SAMPLED
from tightrope.accounting.facts import facts
from tightrope.numerics.balls import Ball, precision

TASKS = [
    *(lambda m=m: tr.epsilon(m, delta=1e-5) for m in FIRST),
    *(lambda m=m: tr.delta(m, epsilon=0.4) for m in FIRST),
    lambda: tr.epsilon(tr.Gaussian(3) * 50 + tr.RandomizedResponse(0.1) * 4, delta=1e-7),
    lambda: tr.renyi(tr.Laplace(2) * 3, order="2.5"),
    lambda: tr.renyi(SAMPLED[0], order=4),
    lambda: tr.tradeoff(tr.Gaussian(1), fpr="0.05"),
    lambda: tr.tradeoff(tr.Laplace(1), fpr="0.3"),
    lambda: tr.advantage(tr.RandomizedResponse(1, k=4) * 6),
    lambda: tr.zcdp(tr.RandomizedResponse(1, k=8)),
    lambda: tr.tcdp(tr.Laplace(1), omega=7),
    lambda: tr.gdp(tr.Laplace(1)),
    lambda: tr.pure(tr.Laplace(3) * 7),
    lambda: tr.compare(tr.Laplace(3) * 5, delta=1e-5).best.claim,
    lambda: tr.calibrate(tr.Gaussian, epsilon=1, delta=1e-5).claim,
    lambda: tr.check(tr.epsilon(tr.GDP(1), delta=1e-4).to_json()).claim,
]


@pytest.fixture(autouse=True)
def _many_switches():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def answer(task):
    claim = task()
    return claim.lower, claim.upper, claim.computed, claim.tight, claim.route, claim.to_json()


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_eight_threads_answer_as_one_alone():
    facts.cache_clear()
    alone = [answer(task) for task in TASKS]
    for turn in range(3):
        facts.cache_clear()
        shuffled = TASKS[turn * 11 :] + TASKS[: turn * 11]
        expected = alone[turn * 11 :] + alone[: turn * 11]
        start = Barrier(8)

        def run(task, start=start):
            if not start.broken and start.n_waiting < 8:
                try:
                    start.wait(timeout=0.2)
                except Exception:
                    start.abort()
            return answer(task)

        with ThreadPoolExecutor(8) as pool:
            together = list(pool.map(run, shuffled))
        for found, single in zip(together, expected, strict=True):
            assert found == single


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
def test_the_same_question_in_eight_threads():
    """A contour's place is sought in floats, whose last bits depend on where arrays lie in memory; each answer must
    still enclose the one truth, as closely as one alone."""
    facts.cache_clear()
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: tr.epsilon(tr.Laplace(2) + tr.Gaussian(3), delta=1e-6), range(24)))
    assert max(c.lower for c in found) <= min(c.upper for c in found)
    assert max(c.upper for c in found) - min(c.lower for c in found) < 1e-12
    assert len({(c.route, c.tight) for c in found}) == 1
    assert all(tr.check(c.to_json()) for c in found)


def test_precision_is_held_while_it_is_used():
    def work(bits):
        for _ in range(60):
            with precision(bits):
                width = Ball(2).sqrt().rad()
                again = Ball(2).sqrt().rad()
            if width != again or not float(width) < 2.0 ** (3 - bits):
                return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, [53, 64, 100, 128, 200, 256, 512, 1000]))


def test_ambient_precision_does_not_change_an_answer():
    """A caller who sets flint's precision gets the same numbers."""
    for task in (*TASKS[:6], TASKS[-10], TASKS[-9], TASKS[-5]):
        single = answer(task)
        for bits in (24, 400):
            facts.cache_clear()
            with precision(bits):
                assert answer(task) == single
