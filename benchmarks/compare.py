"""Every library on the same work, in one run: value, error, below the truth or not, CPU time, ratio, memory.

    python benchmarks/compare.py [--only TEXT] [--again] [--write]

Peers get environments of their own under ``benchmarks/.peers`` (made on first use). Each answer comes from a fresh
process on one thread; times are CPU seconds, the median of several warm rounds. Truths are in ``truths.json`` and come
from ``truth.py``, which shares nothing with tightrope. Results are kept in ``results.json``; ``--write`` renders
``docs/benchmarks.md`` and its chart from them.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import page
from workloads import ALL, Workload

import tightrope

HERE = Path(__file__).parent
LIMIT = 60  # seconds of wall time; past it the peer is said to have given no answer


@dataclass(frozen=True)
class Peer:
    """A way of asking: the environment it lives in, its adapter and the adapter's argument.

    ``needs``: what is installed instead of all that the package asks for.
    """

    name: str
    package: str
    adapter: str
    argument: str = ""
    needs: tuple[str, ...] = ()


PEERS = [
    Peer("tightrope", "", "ours.py"),
    Peer("dp_accounting PLD", "dp-accounting", "google_events.py", "pld"),
    Peer("dp_accounting RDP", "dp-accounting", "google_events.py", "rdp"),
    Peer("prv_accountant", "prv-accountant", "prv.py"),
    Peer("Opacus PRV", "opacus", "opacus_runs.py", "prv", needs=("numpy", "scipy")),
    Peer("Opacus RDP", "opacus", "opacus_runs.py", "rdp", needs=("numpy", "scipy")),
    Peer("autodp RDP", "autodp", "autodp_rdp.py"),
]


def python_of(peer: Peer) -> str:
    """The interpreter of the peer's own environment, made when it is not there."""
    if not peer.package:
        return sys.executable
    home = Path(os.environ.get("TIGHTROPE_PEERS", HERE / ".peers")) / peer.package
    python = home / "bin" / "python"
    if not python.exists():
        print(f"making an environment for {peer.package} ...", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", home], check=True)
        install = [python, "-m", "pip", "install", "-q"]
        if peer.needs:
            subprocess.run([*install, *peer.needs], check=True)
        subprocess.run([*install, *(["--no-deps"] if peer.needs else []), peer.package], check=True)
    return str(python)


def version_of(peer: Peer) -> str:
    if not peer.package:
        return tightrope.__version__
    code = f"import importlib.metadata as m; print(m.version({peer.package!r}))"
    return subprocess.run([python_of(peer), "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def answer(peer: Peer, work: Workload) -> dict[str, Any]:
    """One fresh process: the peer's value, times and memory, or why there is none."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    command = [python_of(peer), str(HERE / "peers" / peer.adapter), *([peer.argument] if peer.argument else [])]
    try:
        done = subprocess.run(
            command, input=json.dumps(work), capture_output=True, text=True, timeout=LIMIT,
            env={**os.environ, **threads, "PYTHONWARNINGS": "ignore"},
        )
    except subprocess.TimeoutExpired:
        return {"error": f"no answer in {LIMIT} s"}
    if done.returncode:
        return {"error": (done.stderr.strip().splitlines() or ["stopped"])[-1][:160]}
    return json.loads(done.stdout.strip().splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="only workloads whose name contains this")
    parser.add_argument("--again", action="store_true", help="measure everything anew, also what results.json has")
    parser.add_argument("--write", action="store_true", help="render docs/benchmarks.md and its chart")
    options = parser.parse_args()
    store = HERE / "results.json"
    results: dict[str, Any] = json.loads(store.read_text()) if store.exists() and not options.again else {}
    results.setdefault("answers", {})
    results["date"] = datetime.now(UTC).date().isoformat()
    results["versions"] = {p.name: version_of(p) for p in PEERS}
    for work in ALL:
        if options.only not in work["name"]:
            continue
        for peer in PEERS:
            if peer.package and peer.name in results["answers"].get(work["name"], {}):
                continue  # a peer's figure is kept; ours is always measured again
            results["answers"].setdefault(work["name"], {})[peer.name] = answer(peer, work)
            store.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")
        print(page.table(work, results["answers"][work["name"]]), flush=True)
    if options.write:
        page.write(results)


if __name__ == "__main__":
    main()
