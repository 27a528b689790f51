"""Products of matrices of floats, by one thread.

NumPy's OpenBLAS wakes a thread for every core as soon as there are some 10⁴ terms, and where another process is on one
of these cores the others wait for it: 15 ms for what takes one thread 0.1 ms. Machines that train are busy. What is
done here is short, and the number of threads is put back after each product; another BLAS is left as it is.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["product"]

_FOLDERS = ("../numpy.libs", ".libs", ".dylibs")  # beside the package in wheels for Linux and Windows, and for macOS
_NAMES = ("scipy_openblas_{}_num_threads64_", "openblas_{}_num_threads64_", "openblas_{}_num_threads")


class _Threads(NamedTuple):
    """How many threads OpenBLAS uses: to ask, and to say."""

    get: Callable[[], int]
    set: Callable[[int], object]


@cache
def _threads() -> _Threads | None:
    """None if NumPy does not bring an OpenBLAS of its own."""
    import numpy as np

    folder = Path(np.__file__).parent
    for path in (path for name in _FOLDERS for path in sorted((folder / name).glob("*openblas*"))):
        try:
            library = ctypes.CDLL(str(path))  # it is loaded already
        except OSError:
            continue
        for name in _NAMES:
            get, put = (getattr(library, name.format(verb), None) for verb in ("get", "set"))
            if get is not None and put is not None:
                return _Threads(get, put)
    return None


def product(left: NDArray[Any], right: NDArray[Any]) -> NDArray[Any]:
    """left @ right."""
    threads = _threads()
    many = 1 if threads is None else threads.get()
    result: NDArray[Any]
    if threads is None or many == 1:
        result = left @ right
        return result
    threads.set(1)
    try:
        result = left @ right
    finally:
        threads.set(many)
    return result
