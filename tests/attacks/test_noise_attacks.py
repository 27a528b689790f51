"""Attacks on noise: outputs that rule out a neighbour, ε seen in samples, repeated blocks, noise from elsewhere."""

import ast
import os
import threading
import warnings
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import tightrope as tr
from tightrope.noise import entropy
from tightrope.noise.recorder import source_name
from tightrope.noise.rehearsal import NotPrivate, recorded, rehearsed

SOURCES = Path(tr.__file__).parent
MILLION = 1_000_000


@pytest.fixture
def _same_bits_in_every_run():
    """For tests of the outputs' law; tests of the entropy itself use the real one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotPrivate)
        with rehearsed(seed=4):
            yield


same_bits = pytest.mark.usefixtures("_same_bits_in_every_run")


# Mironov's attack: outputs that the other input cannot produce.


def naive_laplace(x, size, rng):
    u = rng.integers(1, 2**53, size) * 2.0**-53 - 0.5
    return x - np.sign(u) * np.log1p(-2 * np.abs(u))


def reachable(y, x):
    """Whether a naive sampler around x can produce y: the nearest uniform numbers are tried."""
    noise = y - x
    u = np.sign(noise) * -np.expm1(-np.abs(noise)) / 2
    k = np.rint((u + 0.5) * 2.0**53)
    found = np.zeros(len(y), bool)
    for step in range(-40, 41):
        v = (k + step) * 2.0**-53 - 0.5
        inside = np.abs(v) < 0.5
        with np.errstate(invalid="ignore", divide="ignore"):
            found |= inside & (x - np.sign(v) * np.log1p(-2 * np.abs(v)) == y)
    return found


def test_mironov_works_on_the_naive_sampler():
    y = naive_laplace(0.0, 20_000, np.random.default_rng(1))
    near = np.abs(y) < 3
    assert reachable(y[near], 0.0).mean() > 0.95
    assert (~reachable(y[near], 1.0)).mean() > 0.1


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@pytest.mark.parametrize(
    "m", [tr.Laplace(1), tr.Gaussian(1), tr.Laplace(0.3, grid=2**-30), tr.Gaussian(7, grid=1)], ids=str
)
@pytest.mark.parametrize("kind", [np.float64, np.float32, np.float16, np.int64, np.int8])
def test_outputs_rule_out_no_neighbour(m, kind):
    """Every output is a multiple of the public grid, and every multiple is possible for every input: 0 exclusions."""
    step = float(m.grid or (2**-20))
    for x in (0, 1):
        y = m.release(np.full(MILLION, x, kind))
        assert (y / step == np.rint(y / step)).all()
        assert (y == 0).any() or step < 2**-15


@same_bits
def test_low_bits_say_nothing_of_the_input():
    for x in (0.0, 1.0, 0.1, 1e-300):
        steps = (tr.Laplace(1).release(np.full(MILLION, x)) * 2**20).astype(np.int64)
        counts = np.bincount(steps & 63, minlength=64)
        assert stats.chisquare(counts).pvalue > 1e-6


def precise(y):
    """The precision attack's event (Haney et al. 2022): small and finer than any sum with 1 can be."""
    with np.errstate(over="ignore"):
        return (y > 0) & (y < 0.5) & (y * 2.0**53 != np.rint(y * 2.0**53))


def test_the_precision_attack_works_on_numpy_and_not_here():
    rng = np.random.default_rng(2)
    assert precise(rng.laplace(size=MILLION)).mean() > 0.05
    assert precise(1.0 + rng.laplace(size=MILLION)).sum() == 0
    for m in (tr.Laplace(1), tr.Gaussian(1), tr.Laplace(1, grid=2**-38)):
        for x in (0.0, 1.0):
            assert precise(m.release(np.full(MILLION, x))).sum() == 0


@pytest.mark.no_cover  # long, and shorter ones come by the same lines
@same_bits
@pytest.mark.parametrize("m", [tr.Laplace(1, grid=1), tr.DiscreteLaplace(1), tr.Laplace(2, 2)], ids=str)
def test_samples_never_contradict_epsilon(m):
    """Clopper–Pearson at one in a million: the ratio of chances of no event is surely above e^ε."""
    x = int(m.sensitivity)
    zero, one = (m.release(np.full(MILLION, v)) for v in (0, x))
    for edge in np.arange(-6.0, 7.5):
        for a, b in (((zero < edge).sum(), (one < edge).sum()), ((one >= edge).sum(), (zero >= edge).sum())):
            least = stats.beta.ppf(5e-8, a, MILLION - a + 1) if a else 0.0
            most = stats.beta.ppf(1 - 5e-8, b + 1, MILLION - b)
            assert least <= np.e * most


@same_bits
def test_the_audit_has_teeth():
    m = tr.Laplace(1, grid=1)
    zero, one = (m.release(np.full(MILLION, v)) for v in (0, 1.1))
    a, b = (zero <= 0).sum(), (one <= 0).sum()
    assert stats.beta.ppf(5e-8, a, MILLION - a + 1) / stats.beta.ppf(1 - 5e-8, b + 1, MILLION - b) > 1.6


# Entropy.


def blocks_of(source, number=4):
    return {bytes(source.block(32)) for _ in range(number)}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks here")
def test_forked_children_never_draw_the_same():
    tr.DiscreteLaplace(1).release(0)  # the parent has a key and words in store
    seen = [blocks_of(entropy.system_source())]
    for _ in range(6):
        read, write = os.pipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # newer Pythons warn of forks among threads
            child = os.fork()
        if not child:
            os.write(write, b"".join(sorted(blocks_of(entropy.system_source()))))
            os._exit(0)
        os.waitpid(child, 0)
        data = os.read(read, 4096)
        os.close(read)
        os.close(write)
        seen.append({data[i : i + 32] for i in range(0, len(data), 32)})
    seen.append(blocks_of(entropy.system_source()))
    assert len(set.union(*seen)) == sum(len(s) for s in seen) == 32


def test_a_fork_that_python_does_not_see_is_noticed(monkeypatch):
    before = entropy.system_source()
    assert entropy.system_source() is before
    monkeypatch.setattr(os, "getpid", lambda: -1)
    assert entropy.system_source() is not before


def test_threads_never_draw_the_same():
    seen, start = [], threading.Barrier(8)

    def work():
        start.wait()
        seen.append((id(entropy.system_source()), blocks_of(entropy.system_source(), 50)))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(set.union(*(s for _, s in seen))) == 400


def test_a_key_is_dropped_after_its_share(monkeypatch):
    keys = []
    real = os.urandom
    monkeypatch.setattr(os, "urandom", lambda n: keys.append(n) or real(n))
    monkeypatch.setattr(entropy, "MOST_OUTPUT", 1 << 16)
    source = entropy.Expanded()
    start = len(keys)
    assert len(source.block(1 << 18)) == 1 << 18
    assert keys[start:] == [32] * 3  # the first key is there already
    assert len({bytes(source.block(16)) for _ in range(1000)}) == 1000


def test_without_cryptography_the_system_itself_is_used(monkeypatch):
    monkeypatch.setattr(entropy, "_EXPANDS", False)
    entropy._forget()
    assert source_name() == "operating system"
    assert isinstance(tr.Gaussian(1).release(0.0), float)
    assert tr.count([1, 2], epsilon=1).source == "operating system"
    entropy._forget()


def test_bits_are_fair():
    bits = np.unpackbits(np.frombuffer(entropy.system_source().block(4_000_000), np.uint8))
    assert abs(bits.mean() - 0.5) < 5.5 / (2 * np.sqrt(bits.size))
    runs = (bits[1:] != bits[:-1]).mean()
    assert abs(runs - 0.5) < 5.5 / (2 * np.sqrt(bits.size))


# One door.


def names_used(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield f"{node.value.id}.{node.attr}"


ANYWHERE = ("random", "numpy.random", "np.random")
KEYS = ("os.urandom", "secrets", "uuid")  # identifiers and signatures may need them, in the rooms named below
MAY_HAVE_KEYS = ("budget", "web", "tables", "cli", "adapters")


def strangers(paths):
    for path in paths:
        room = path.relative_to(SOURCES).parts[0]
        for used in names_used(path):
            root = used.split(".")[0]
            if used in ANYWHERE or root == "random" or used.startswith(("numpy.random.", "np.random.")):
                yield path, used
            if (used in KEYS or root == "secrets") and room not in MAY_HAVE_KEYS and path.name != "entropy.py":
                yield path, used
            if used.endswith(("entropy.system_source", "entropy.Expanded", "entropy.System")) and room != "noise":
                yield path, used


def test_no_noise_is_drawn_elsewhere():
    assert list(strangers(sorted(SOURCES.rglob("*.py")))) == []


def test_the_search_has_teeth(tmp_path, monkeypatch):
    monkeypatch.setitem(globals(), "SOURCES", tmp_path)
    for i, line in enumerate(["import random", "import numpy as np\nnp.random.normal()", "import os\nos.urandom(3)",
                              "from tightrope.noise.entropy import system_source"]):  # fmt: skip
        (tmp_path / f"bad{i}.py").write_text(line)
    assert len({path for path, _ in strangers(tmp_path.glob("*.py"))}) == 4


def test_every_release_passes_the_recorder():
    runs = [
        (tr.Gaussian(1), 0.0), (tr.Laplace(1), [1, 2]), (tr.DiscreteGaussian(1), 3), (tr.DiscreteLaplace(1), 3),
        (tr.Staircase(1), 1.0), (tr.GaussianPair(0, 1, 1, 1), True), (tr.RandomizedResponse(1), True),
        (tr.LeakyInput(0.5), 7), (tr.LeakyRandomizedResponse(1, 0.5), True), (tr.Table([1], [1]), True),
        (tr.Exponential(1), [1, 2]), (tr.NoisyMax(1), [1, 2]), (tr.PermuteAndFlip(1), [1, 2]),
    ]  # fmt: skip
    for m, values in runs:
        with recorded() as tape:
            m.release(values)
        assert len(tape.draws) == 1
        assert tape.draws[0].law.startswith(str(m))
        assert "ChaCha20" in tape.draws[0].source or tape.draws[0].source == "operating system"


def test_a_seed_cannot_be_used_by_accident():
    assert not hasattr(tr, "rehearsed")
    with pytest.raises(tr.BadParameter):
        tr.Gaussian(1).release(0.0, seed=1)
    with pytest.warns(NotPrivate), rehearsed(seed=1) as tape:
        first = tr.Gaussian(1).release(0.0)
    with pytest.warns(NotPrivate), rehearsed(seed=1):
        again = (tr.Gaussian(1).release(0.0), tr.sum([1, 2], 0, 3, epsilon=1).source)
    assert again == (first, "seed 1 (not private)")
    assert tape.draws[0].source == "seed 1 (not private)"
    assert "seed" not in source_name()


def test_exact_types_have_no_low_bits_either():
    outputs = [tr.Laplace(1).release(Fraction(1, 3)) for _ in range(200)]
    assert all((y * 2**20).denominator == 1 for y in outputs)
