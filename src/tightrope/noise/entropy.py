"""Random words from the operating system, expanded by ChaCha20 where ``cryptography`` is installed.

Each thread has its own key. A key is dropped after ``MOST_OUTPUT`` bytes, and after a fork in the child, so no two
workers ever draw the same block. There is no seed here: seeded words for tests are in ``rehearsal``.
"""

from __future__ import annotations

import os
import threading
from abc import ABC, abstractmethod
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_OUTPUT = 1 << 28  # bytes drawn from one key
_KEPT = 1 << 12  # bytes expanded at once for small requests


class Source(ABC):
    """An endless supply of independent uniform bits."""

    name: str

    @abstractmethod
    def block(self, size: int) -> bytes | bytearray:
        """The next ``size`` bytes."""

    def words(self, count: int, bits: int) -> NDArray[np.unsignedinteger[Any]]:
        """``count`` uniform words of 8, 16, 32 or 64 bits."""
        kinds: dict[int, type[np.unsignedinteger[Any]]] = {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}
        return np.frombuffer(self.block(count * bits // 8), dtype=kinds[bits])

    def bits(self, count: int) -> int:
        """A uniform whole number below 2^count."""
        size = -(-count // 8)
        return int.from_bytes(self.block(size), "little") >> (8 * size - count)


class System(Source):
    """The operating system's own words, one call a request: what everything else here is keyed with."""

    name = "operating system"

    def block(self, size: int) -> bytes:
        """From os.urandom."""
        return os.urandom(size)


class Expanded(Source):
    """ChaCha20 under a fresh key of the operating system; small requests share one expanded block."""

    name = "operating system, expanded by ChaCha20"

    def __init__(self) -> None:
        self._rekey()

    def _rekey(self) -> None:
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms

        # No key is used twice, so the counter may start at 0; it ends far below 2^32 blocks.
        self._cipher = Cipher(algorithms.ChaCha20(os.urandom(32), bytes(16)), mode=None).encryptor()
        self._left = MOST_OUTPUT
        self._kept, self._used = b"", 0

    def block(self, size: int) -> bytes | bytearray:
        """The next bytes of the key stream; the key is new after ``MOST_OUTPUT`` of them."""
        if size > _KEPT // 4:
            return self._expanded(size)
        if self._used + size > len(self._kept):
            self._kept, self._used = bytes(self._expanded(_KEPT)), 0
        start, self._used = self._used, self._used + size
        return self._kept[start : self._used]

    def _expanded(self, size: int) -> bytes | bytearray:
        if size > MOST_OUTPUT // 2:
            half = size // 2
            return bytes(self._expanded(half)) + bytes(self._expanded(size - half))
        if size > self._left:
            self._rekey()
        self._left -= size
        return self._cipher.update(bytes(size))


_EXPANDS = find_spec("cryptography") is not None
_own = threading.local()


def _forget() -> None:
    """In a forked child: drop the parent's key and words."""
    _own.__dict__.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def system_source() -> Source:
    """This thread's source, of this process."""
    source: Source | None = getattr(_own, "source", None)
    if source is None or _own.process != os.getpid():  # the second guards forks that Python does not see
        source = Expanded() if _EXPANDS else System()
        _own.source, _own.process = source, os.getpid()
    return source
