"""A throw-away PostgreSQL server for tests and benchmarks.

``python tests/postgres.py`` installs Debian's package when it is missing and may be installed. ``Server()`` makes a
cluster in a temporary directory on a free local port. The server refuses to run as root, so root runs it as another
user.
"""

from __future__ import annotations

import glob
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

REQUIRED = "TIGHTROPE_REQUIRE_POSTGRES"


def memory() -> str | None:
    """A directory in memory with room for a cluster, for tests that are not about the disk."""
    place = "/dev/shm"
    roomy = os.access(place, os.W_OK) and shutil.disk_usage(place).free > 2 << 30
    return place if roomy else None


def programs() -> Path | None:
    """The directory of initdb and postgres, the newest version first."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"), key=lambda p: int(p.split("/")[4]), reverse=True)
    on_path = shutil.which("initdb")
    both = [*found, *([on_path] if on_path else [])]
    return Path(both[0]).parent if both else None


def install() -> str:
    """Install the server if it is missing; the reason when that cannot be done, else nothing."""
    if programs() is not None:
        return ""
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        return "no PostgreSQL server is installed, and this user may not install one (apt-get install postgresql)"
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["apt-get", "update", "-q"], ["apt-get", "install", "-q", "-y", "postgresql"]):
        waiting = [*command, "-o", "DPkg::Lock::Timeout=120"]
        done = subprocess.run(waiting, env=environment, capture_output=True, text=True)
    return "" if programs() is not None else f"apt-get could not install postgresql: {done.stderr.strip()[-200:]}"


class Server:
    """A cluster that lives until ``stop``; it can be killed and started again in between."""

    def __init__(self, on_disk: bool = False) -> None:
        bin_folder = programs()
        assert bin_folder is not None
        self._bin = bin_folder
        self._home = Path(tempfile.mkdtemp(prefix="tightrope-postgres-", dir=None if on_disk else memory()))
        self._user = self._other_user()
        self._data = self._home / "data"
        self.port = _free_port()
        self._run("initdb", "-D", str(self._data), "-U", "ledger", "-A", "trust", "-E", "UTF8", "--locale=C", "-N")
        with open(self._data / "postgresql.conf", "a", encoding="utf-8") as file:
            file.write(f"\nlisten_addresses = '127.0.0.1'\nport = {self.port}\n")
            file.write(f"unix_socket_directories = '{self._home}'\nmax_connections = 100\nshared_buffers = 32MB\n")
            file.write("recovery_init_sync_method = syncfs\nrestart_after_crash = on\n")
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    def _other_user(self) -> list[str]:
        if os.geteuid() != 0:
            return ["setpriv", "--pdeathsig=QUIT"] if shutil.which("setpriv") else []
        user = next(p for u in ("postgres", "nobody") for p in pwd.getpwall() if p.pw_name == u)
        os.chown(self._home, user.pw_uid, user.pw_gid)
        identity = [f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]
        return ["setpriv", *identity, "--pdeathsig=QUIT"]  # it ends with the process that started it

    def _run(self, program: str, *arguments: str) -> None:
        command = [*self._user, str(self._bin / program), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, cwd=self._home)
        if done.returncode:
            raise RuntimeError(f"{program}: {done.stderr.strip()[-500:]}")

    def address(self, database: str = "postgres") -> str:
        """Where clients connect."""
        return f"postgresql://ledger@127.0.0.1:{self.port}/{database}"

    def start(self) -> None:
        """Start and wait until it answers."""
        command = [*self._user, str(self._bin / "postgres"), "-D", str(self._data)]
        log = open(self._home / "log", "ab")  # noqa: SIM115 - the server keeps it
        self._process = subprocess.Popen(command, cwd=self._home, stdout=log, stderr=log, start_new_session=True)
        log.close()
        self._wait()

    def _wait(self) -> None:
        import psycopg

        for _ in range(600):
            try:
                psycopg.connect(self.address(), connect_timeout=2).close()
                return
            except psycopg.OperationalError:
                assert self._process is not None
                if self._process.poll() is not None:
                    raise RuntimeError((self._home / "log").read_text(errors="replace")[-500:]) from None
                time.sleep(0.05)
        raise RuntimeError("the server did not start")

    def kill(self) -> None:
        """kill -9 to the server and all that it started, as in a crash of the machine's software."""
        assert self._process is not None
        children = self._children()
        for process in (self._process.pid, *children):
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        self._process.wait()

    def crash(self) -> None:
        """kill -9 to one server process: PostgreSQL then drops every connection and recovers by itself."""
        for process in self._children():
            with suppress(OSError):
                if "127.0.0.1" in Path(f"/proc/{process}/cmdline").read_text(encoding="utf-8", errors="replace"):
                    os.kill(process, signal.SIGKILL)
                    return

    def _children(self) -> list[int]:
        assert self._process is not None
        found = []
        for path in glob.glob("/proc/[0-9]*/stat"):
            with suppress(OSError):
                parent = Path(path).read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[1]
                if int(parent) == self._process.pid:
                    found.append(int(path.split("/")[2]))
        return found

    def create(self, database: str) -> str:
        """A new database; its address."""
        import psycopg

        with psycopg.connect(self.address(), autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{database}"')
        return self.address(database)

    def stop(self) -> None:
        """Stop and remove everything."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGQUIT)  # at once: nothing in it is worth saving
            try:
                self._process.wait(10)
            except subprocess.TimeoutExpired:
                self.kill()
        shutil.rmtree(self._home, ignore_errors=True)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


if __name__ == "__main__":
    problem = install()
    if problem:
        print(problem, file=sys.stderr)
        sys.exit(1 if os.environ.get(REQUIRED) else 0)
    print(programs())
