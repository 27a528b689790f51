"""A fair queue of writers on one machine. Whoever holds the lock serves everyone who waits, in the order they came.

A writer that finds the lock taken leaves its request in a small file and sleeps until its bell, a named pipe, is rung.
By then it has usually been served: a whole group shares one transaction and one fsync. Whoever releases the lock rings
for the oldest request that is still waiting, and that writer serves the next group. Bells are only hints: what counts
is in the files. A request whose writer died is dropped; one that was entered but not answered is found again by its id,
so that serving it twice changes nothing. The books never depend on the queue: each group is a transaction that locks
the ledger.
"""

from __future__ import annotations

import fcntl
import os
import select
import stat
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import count

from tightrope.budget.entries import Entry, Request
from tightrope.budget.outcomes import outcome_from_json, outcome_to_json
from tightrope.errors import TightropeError

Outcome = Entry | TightropeError
Serve = Callable[[list[Request]], list[Outcome]]

MOST = 256  # requests in one group
PATIENCE = 500  # milliseconds after which a sleeper looks for itself: whoever should have rung may have been killed
MEMORY = "/dev/shm"  # where small files never wait for the disk that is being written
_numbers = count()


class _Bell:
    """A named pipe that wakes one thread of one process."""

    def __init__(self, folder: str) -> None:
        self.owner = os.getpid()
        self.name = f"{self.owner}-{threading.get_ident()}-{next(_numbers)}.bell"
        self._path = f"{folder}/{self.name}"
        os.mkfifo(self._path, 0o600)
        self._handle = os.open(self._path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        self._poll = select.poll()
        self._poll.register(self._handle, select.POLLIN)

    def sleep(self) -> None:
        """Until it is rung, or patience ends."""
        if self._poll.poll(PATIENCE):
            with suppress(BlockingIOError):
                os.read(self._handle, 4096)

    def __del__(self) -> None:
        if hasattr(self, "_handle"):
            os.close(self._handle)
        if self.owner == os.getpid():
            _remove(self._path)


class Queue:
    """The queue of one ledger, under a name by which all processes of one user find the same one."""

    def __init__(self, name: str, beside: str) -> None:
        self._place = name, beside
        self._folder = _folder(name, beside)
        self._local = threading.local()
        self._sweep()

    def submit(self, request: Request, serve: Serve) -> Outcome:
        """The outcome of a request, served by this process or by another."""
        try:
            return self._submit(request, serve)
        except FileNotFoundError:  # the last one who left has removed the folder meanwhile
            self._folder, self._local = _folder(*self._place), threading.local()
            return self._submit(request, serve)

    def close(self) -> None:
        """Leave nothing behind if nobody else is here."""
        self._local = threading.local()
        with suppress(OSError):
            self._sweep()
            if set(os.listdir(self._folder)) <= {"lock"}:
                _remove(f"{self._folder}/lock")
                os.rmdir(self._folder)

    def _submit(self, request: Request, serve: Serve) -> Outcome:
        handle = os.open(f"{self._folder}/lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            if _taken(handle):
                return self._serve_group(handle, request, serve)
            return self._wait(handle, request, serve)
        finally:
            os.close(handle)

    def _sweep(self) -> None:
        """Remove what processes left behind that are gone."""
        for name in os.listdir(self._folder):
            owner = name.rpartition("@")[2].partition("-")[0]
            if name != "lock" and not _running(owner):
                _remove(f"{self._folder}/{name}")

    def _bell(self) -> _Bell:
        bell: _Bell | None = getattr(self._local, "bell", None)
        if bell is None or bell.owner != os.getpid():
            bell = self._local.bell = _Bell(self._folder)
        return bell

    def _wait(self, handle: int, request: Request, serve: Serve) -> Outcome:
        bell = self._bell()
        name = f"{self._folder}/{time.monotonic_ns():020d}@{bell.name}"
        draft, asked, told = name + ".draft", name + ".ask", name + ".told"
        try:
            _write(draft, request.to_json())
            os.rename(draft, asked)
            while (answer := _read(told)) is None:
                if _taken(handle):  # tried after the request was left: who should read it may have gone just before
                    if (answer := _read(told)) is None:
                        return self._serve_group(handle, request, serve, asked)
                    fcntl.flock(handle, fcntl.LOCK_UN)
                    break
                bell.sleep()
            return outcome_from_json(answer)
        finally:
            _remove(told)
            _remove(asked)

    def _serve_group(self, handle: int, own: Request, serve: Serve, asked: str = "") -> Outcome:
        """Serve everyone who waits, and this request, under the lock; then ring for the next group."""
        if asked:
            _remove(asked)  # before the lock is released, lest the next one serves it again
        bells: list[int] = []
        try:
            others: list[tuple[str, Request]] = []
            for path in self._waiting():
                bell = self._bell_of(path)
                if bell is not None:
                    bells.append(bell)  # rung in any case: one whose request cannot be read will serve itself
                    request = _request(path)
                    others += [(path, request)] if request is not None else []
            outcomes = serve([*(request for _, request in others), own])
            for (path, _), outcome in zip(others, outcomes, strict=False):
                _tell(path, outcome)
            return outcomes[-1]
        finally:
            fcntl.flock(handle, fcntl.LOCK_UN)
            for bell in bells:
                _ring(bell)
            self._ring_oldest()

    def _ring_oldest(self) -> None:
        """Wake the next one: it came while a group was served."""
        for path in self._waiting():
            bell = self._bell_of(path)
            if bell is not None:
                _ring(bell)
                return

    def _waiting(self) -> list[str]:
        names = sorted(name for name in os.listdir(self._folder) if name.endswith(".ask"))
        return [f"{self._folder}/{name}" for name in names[:MOST]]

    def _bell_of(self, path: str) -> int | None:
        """The open bell of a request's writer; one that is gone leaves nothing behind."""
        bell = f"{self._folder}/{path.rpartition('@')[2].removesuffix('.ask')}"
        try:
            return os.open(bell, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:  # nobody listens
            _remove(path)
            _remove(bell)
            return None


def file_name(path: str) -> str:
    """A name for the queue of a file: the file itself, whatever it is called."""
    file = os.stat(path)
    return f"{file.st_dev:x}-{file.st_ino:x}"


def _folder(name: str, beside: str) -> str:
    """In memory; or beside the ledger, where there is no such place or what is there is not ours."""
    for folder in (f"{MEMORY}/tightrope-{os.getuid()}-{name}", f"{beside}-queue"):
        with suppress(OSError):
            with suppress(FileExistsError):
                os.mkdir(folder, 0o700)
            found = os.lstat(folder)
            if stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid():
                return folder
    raise PermissionError(13, f"no place for the queue of writers, neither in {MEMORY} nor at {beside}-queue")


def _request(path: str) -> Request | None:
    try:
        return Request.from_json(_read(path) or "")
    except (ValueError, TypeError):
        return None


def _tell(path: str, outcome: Outcome) -> None:
    with suppress(FileNotFoundError):  # its writer died meanwhile
        _write(path, outcome_to_json(outcome))
        os.rename(path, path.removesuffix(".ask") + ".told")


def _ring(bell: int) -> None:
    with suppress(BlockingIOError, BrokenPipeError):
        os.write(bell, b"!")
    os.close(bell)


def _running(process: str) -> bool:
    try:
        os.kill(int(process), 0)
    except (ProcessLookupError, ValueError):
        return False
    except PermissionError:
        return True
    return True


def _taken(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _remove(path: str) -> None:
    with suppress(OSError):
        os.unlink(path)


def _write(path: str, text: str) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        os.write(handle, text.encode())
    finally:
        os.close(handle)


def _read(path: str) -> str | None:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        return os.read(handle, os.fstat(handle).st_size).decode()
    finally:
        os.close(handle)
