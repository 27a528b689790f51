"""An SQLite that fails on purpose: the n-th write, fsync or open of a file returns an error, or writes only a part.

A copy of SQLite's own file system layer (VFS) is registered as the default, with a few functions replaced. Nothing is
simulated: the real files are left exactly as a failing disk would leave them.
"""

from __future__ import annotations

import _sqlite3
import ctypes
from ctypes import CFUNCTYPE, POINTER, Structure, c_char_p, c_int, c_int64, c_void_p

WRITE_FAILED, FSYNC_FAILED, FULL, CANNOT_OPEN = 10 | 3 << 8, 10 | 4 << 8, 13, 14
KINDS = ("write", "fsync", "open", "full", "short")

# SQLite keeps the pointer to the name, so it is passed on as it came: bytes would be a copy that is soon freed.
_Open = CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p, c_int, POINTER(c_int))
_Write = CFUNCTYPE(c_int, c_void_p, c_void_p, c_int, c_int64)
_Sync = CFUNCTYPE(c_int, c_void_p, c_int)


class _Methods(Structure):
    _fields_ = [
        ("version", c_int),
        ("close", c_void_p),
        ("read", c_void_p),
        ("write", c_void_p),
        ("truncate", c_void_p),
        ("sync", c_void_p),
        ("others", c_void_p * 13),
    ]


class _Layer(Structure):
    _fields_ = [
        ("version", c_int),
        ("file_size", c_int),
        ("path_size", c_int),
        ("next", c_void_p),
        ("name", c_char_p),
        ("data", c_void_p),
        ("open", c_void_p),
        ("others", c_void_p * 15),
    ]


def library():
    """The SQLite that Python uses, or None when it does not show its functions."""
    found = ctypes.CDLL(_sqlite3.__file__)
    try:
        found.sqlite3_vfs_find.restype = POINTER(_Layer)
        return found
    except AttributeError:
        return None


class FailingDisk:
    """Installs itself as SQLite's default file system for the whole process: use it in a process of its own."""

    def __init__(self) -> None:
        self.kind, self.left, self.calls, self.lasting = "", -1, 0, False
        self._kept: list[object] = []  # what C points to must stay
        self._wrapped: dict[int, _Methods] = {}
        self._sqlite = library()
        self._base = self._sqlite.sqlite3_vfs_find(None).contents
        self._layer = _Layer.from_buffer_copy(self._base)
        self._layer.name = b"failing"
        self._open = _Open(self._base.open)
        self._layer.open = self._pointer(_Open(self._opened))
        self._sqlite.sqlite3_vfs_register(ctypes.byref(self._layer), 1)

    def fail(self, kind: str, at: int, lasting: bool = False) -> None:
        """Let the ``at``-th call of this kind fail, once or from then on. 0: never."""
        self.kind, self.left, self.calls, self.lasting = kind, at, 0, lasting

    def _due(self, *kinds: str) -> bool:
        if self.kind not in kinds:
            return False
        self.calls += 1
        return 0 < self.left <= self.calls if self.lasting else self.calls == self.left

    def _pointer(self, function: object) -> int | None:
        self._kept.append(function)
        return ctypes.cast(function, c_void_p).value  # type: ignore[arg-type]

    def _opened(self, layer, name, file, flags, out):
        if self._due("open"):
            ctypes.cast(file, POINTER(c_void_p))[0] = None
            return CANNOT_OPEN
        code = self._open(layer, name, file, flags, out)
        slot = ctypes.cast(file, POINTER(c_void_p))
        if code == 0 and slot[0]:
            slot[0] = ctypes.addressof(self._failing(slot[0]))
        return code

    def _failing(self, methods: int) -> _Methods:
        if methods not in self._wrapped:
            base = _Methods.from_address(methods)
            made = _Methods.from_buffer_copy(base)
            write, sync = _Write(base.write), _Sync(base.sync)

            def failing_write(file, data, size, offset):
                if self._due("write", "full", "short"):
                    if self.kind == "short":
                        write(file, data, size // 2, offset)
                    return FULL if self.kind == "full" else WRITE_FAILED
                return write(file, data, size, offset)

            def failing_sync(file, flags):
                return FSYNC_FAILED if self._due("fsync") else sync(file, flags)

            made.write = self._pointer(_Write(failing_write))
            made.sync = self._pointer(_Sync(failing_sync))
            self._wrapped[methods] = made
        return self._wrapped[methods]
