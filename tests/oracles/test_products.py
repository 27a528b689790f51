"""Products by one thread: the same numbers, and the number of threads is put back."""

import numpy as np
import pytest

from tightrope.numerics import products
from tightrope.numerics.products import _Threads, product


class Library:
    def __init__(self, threads):
        self.now, self.said = threads, []

    def get(self):
        return self.now

    def set(self, number):
        self.now = number
        self.said.append(number)


@pytest.fixture
def library(monkeypatch):
    found = Library(8)
    monkeypatch.setattr(products, "_threads", lambda: _Threads(found.get, found.set))
    return found


def test_it_is_the_product_and_threads_are_put_back(library):
    left, right = np.arange(6.0).reshape(2, 3), np.array([1, 1j, -1])
    assert product(left, right).tolist() == [-2 + 1j, -2 + 4j]
    assert library.said == [1, 8]


def test_they_are_put_back_after_an_error(library):
    with pytest.raises(ValueError, match="mismatch"):
        product(np.ones((2, 3)), np.ones(2))
    assert library.said == [1, 8]


def test_one_thread_is_left_alone(library):
    library.now = 1
    assert product(np.eye(2), np.ones(2)).tolist() == [1, 1]
    assert library.said == []


def test_another_library_is_left_alone(monkeypatch):
    monkeypatch.setattr(products, "_threads", lambda: None)
    assert product(np.eye(2), np.ones(2)).tolist() == [1, 1]


def test_no_library_and_broken_ones_are_passed_over(monkeypatch, tmp_path):
    monkeypatch.setattr(products, "_FOLDERS", (str(tmp_path),))
    products._threads.cache_clear()
    try:
        (tmp_path / "libopenblas.so").write_text("no library")
        assert products._threads() is None
    finally:
        products._threads.cache_clear()


def test_while_it_is_at_work_numpy_uses_one_thread():
    """Where NumPy brings an OpenBLAS: seen from within the product."""
    threads = products._threads()
    if threads is None:
        pytest.skip("NumPy has no OpenBLAS of its own here")
    before, seen = threads.get(), []

    class Spying(np.ndarray):
        def __matmul__(self, other):
            seen.append(threads.get())
            return np.asarray(self) @ other

    product(np.eye(3).view(Spying), np.ones(3))
    assert seen == [1]
    assert threads.get() == before
