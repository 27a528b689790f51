"""Commands about a target: calibrate, steps, check and their exit codes; profile, cite, completion."""

import json
import sys
from pathlib import Path

import pytest
from commands import good, refused, run

import tightrope as tr
from tightrope.cli import waiting as signs


def test_calibrate_finds_the_noise():
    printed = good("calibrate", "gaussian(sigma=?)", "--epsilon", "1", "--delta", "1e-5")
    found = tr.calibrate("gaussian(sigma=?)", epsilon="1", delta="1e-5")
    assert printed.splitlines()[0] == f"value {found.value!r} meets the target"
    data = json.loads(good("calibrate", "gaussian(sigma=?)", "--epsilon", "1", "--delta", "1e-5", "--json"))
    assert data["value"] == found.value
    assert data["claim"] == json.loads(found.claim.to_json())
    assert data["beyond"]["lower"] > 1


@pytest.mark.parametrize("target", [("--epsilon", "1"), ("--rho", "1/8"), ("--mu", "0.5")])
def test_calibrate_to_other_units(target):
    text = "laplace(scale=?)" if target[0] == "--epsilon" else "gaussian(sigma=?)"
    found = json.loads(good("calibrate", text, *target, "--json"))
    assert found["value"] == pytest.approx(1.0 if target[0] == "--epsilon" else 2.0, rel=1e-6)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("gaussian(sigma=1)", "--epsilon", "1"), "?"),
        (("gaussian(sigma=?)",), "epsilon"),
        (("gaussian(sigma=?)", "--epsilon", "-1", "--delta", "1e-5"), "epsilon"),
        (("gaussian(sigma=?)", "--epsilon", "1", "--rho", "1"), "rho"),
        (("--epsilon", "1"), "give EXPR with one ?"),
    ],
)
def test_calibrate_refuses(arguments, told):
    assert told in refused("calibrate", *arguments)


def test_steps_that_fit():
    text, budget = "gaussian(sigma=20)", ("--epsilon", "1", "--delta", "1e-5")
    assert good("steps", text, *budget).startswith("steps 28 meets the target")
    data = json.loads(good("steps", text, *budget, "--json"))
    assert data["value"] == 28
    assert data["beyond"]["mechanism"] == "gaussian(sigma=20) * 29"
    free = "every value meets the target"
    assert free in refused("steps", "gaussian(sigma=1) * 0", *budget, code=1)
    whole = good("calibrate", "gaussian(sigma=100).poisson(?)", *budget)
    assert whole.startswith("value 1.0 meets the target")
    assert whole.endswith("every allowed value beyond it meets the target too\n")
    assert "Missing argument" in refused("steps", *budget)


def test_check_a_mechanism():
    text = "gaussian(sigma=1)"
    claim = tr.epsilon(tr.Gaussian(1), delta="1e-5")
    printed = good("check", text, "--epsilon", "4.4", "--delta", "1e-5")
    assert printed.splitlines()[0] == "ε ≤ 4.4 at δ = 1e-5 holds"
    assert "margin    +0.0228" in printed
    assert good("check", text, "--epsilon", "22/5", "--delta", "1e-5") == printed
    data = json.loads(good("check", text, "--epsilon", "22/5", "--delta", "1e-5", "--json"))
    assert data == {"holds": True, "epsilon": "4.4", "claim": json.loads(claim.to_json())}


def test_check_a_mechanism_that_does_not_meet():
    result = run("check", "gaussian(sigma=1)", "--epsilon", "4.3", "--delta", "1e-5")
    assert result.exit_code == 3
    assert result.stdout.splitlines()[0] == "ε ≤ 4.3 at δ = 1e-5 does not hold"
    assert "margin    -0.0771" in result.stdout
    result = run("check", "gaussian(sigma=1)", "--epsilon", "4.3", "--delta", "1e-5", "--json")
    assert (result.exit_code, json.loads(result.stdout)["holds"]) == (3, False)
    infinite = run("check", "gaussian(sigma=1)", "--epsilon", "4.3", "--delta", "0")
    assert infinite.exit_code == 3
    assert "margin" not in infinite.stdout


def test_check_what_the_interval_cannot_decide():
    claim = tr.epsilon(tr.ZCDP("0.1"), delta="1e-6")
    middle = f"{(claim.lower + claim.upper) / 2:.6g}"
    result = run("check", "zcdp(rho=0.1)", "--epsilon", middle, "--delta", "1e-6")
    assert result.exit_code == 3
    assert "is not proved: the goal lies inside the certified interval" in result.stdout
    assert json.loads(run("check", "zcdp(rho=0.1)", "--epsilon", middle, "--delta", "1e-6", "--json").stdout)[
        "holds"
    ] is None


def test_check_training_flags():
    flags = ("--noise-multiplier", "1", "--sample-rate", "0.01", "--steps", "100", "--delta", "1e-5")
    assert "holds" in good("check", *flags, "--epsilon", "2")
    assert run("check", *flags, "--epsilon", "0.1").exit_code == 3


@pytest.fixture
def certificate(tmp_path):
    path = tmp_path / "certificate.json"
    path.write_text(tr.epsilon(tr.Gaussian(1), delta="1e-5").to_json(), encoding="utf-8")
    return path


def test_check_a_certificate(certificate):
    assert good("check", str(certificate)).startswith("holds: epsilon(delta = 1e-5) of gaussian(sigma=1)\n")
    assert json.loads(good("check", str(certificate), "--json")) == {"holds": True, "problems": []}


def test_check_a_forged_certificate(certificate):
    data = json.loads(certificate.read_text(encoding="utf-8"))
    data["upper"] = data["lower"] = 4.0
    certificate.write_text(json.dumps(data), encoding="utf-8")
    result = run("check", str(certificate))
    assert result.exit_code == 3
    assert result.stdout.startswith("does not hold: ")
    assert "  problem   " in result.stdout
    assert json.loads(run("check", str(certificate), "--json").stdout)["problems"]


@pytest.mark.parametrize(
    ("content", "told"),
    [(b"", "not JSON"), (b"{}", "not a certificate"), (b"\xff\xfe", "not text"), (None, "No such file")],
)
def test_check_what_is_no_certificate(tmp_path, content, told):
    path = tmp_path / "certificate.json"
    if content is not None:
        path.write_bytes(content)
    assert told in refused("check", str(path))


def test_check_needs_both_numbers():
    assert "To check a mechanism, also give --epsilon and --delta" in refused("check", "gaussian(sigma=1)")
    assert "give both --epsilon and --delta" in refused("check", "gaussian(sigma=1)", "--epsilon", "1")
    assert "give FILE or EXPR" in refused("check")
    assert "--epsilon = '-1'" in refused("check", "gaussian(sigma=1)", "--epsilon", "-1", "--delta", "1e-5")


def test_profile_in_columns():
    printed = good("profile", "gaussian(sigma=1)", "--epsilon", "1", "--epsilon", "2").splitlines()
    assert printed[0].split() == ["ε", "δ", "at", "least", "δ", "at", "most"]
    lower, upper = tr.profile(tr.Gaussian(1)).delta(["1", "2"])
    assert [line.split() for line in printed[1:]] == [
        ["1", repr(lower[0].item()), repr(upper[0].item())],
        ["2", repr(lower[1].item()), repr(upper[1].item())],
    ]
    assert len(good("profile", "gaussian(sigma=1)").splitlines()) == 17
    assert len(good("profile", "leaky_input(delta=0.1)").splitlines()) == 17
    assert "epsilon" in refused("profile", "gaussian(sigma=1)", "--epsilon", "-1")


def test_renyi_and_tradeoff_for_people():
    assert good("renyi", "gaussian(sigma=1)", "--order", "4").startswith("D = 2.00000000000 at order = 4 for")
    assert good("renyi", "gaussian(sigma=1)", "--order", "inf").startswith("D = ∞ at order = inf for")
    told = good("tradeoff", "gaussian(sigma=1)", "--fpr", "0.01").splitlines()[0]
    assert told == (
        "least false-negative rate ≥ 0.907637751926 at false-positive rate = 0.01 for gaussian(sigma=1)"
    )
    for order in ("1", "0", "nan", "-inf"):
        assert "order" in refused("renyi", "gaussian(sigma=1)", "--order", order)
    assert "fpr" in refused("tradeoff", "gaussian(sigma=1)", "--fpr", "1.5")


def test_cite():
    assert good("cite", "gaussian(sigma=1)", "--delta", "1e-5") == tr.epsilon(tr.Gaussian(1), "1e-5").bibtex() + "\n"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell):
    assert "_TIGHTROPE_COMPLETE" in good("completion", shell)


def test_completion_of_other_shells_is_refused():
    assert "'bash', 'zsh', 'fish'" in refused("completion", "tcsh")


def test_files_that_cannot_be_written_are_refused(tmp_path):
    missing = str(tmp_path / "no" / "such" / "place.json")
    told = refused("plot", "tradeoff", "gaussian(sigma=1)", "--points", "3", "-o", missing)
    assert "No such file or directory. The folder does not exist" in told
    assert Path(missing).name in told


class Screen:
    """An error stream somebody watches."""

    def __init__(self, real):
        self.real = real

    def __getattr__(self, name):
        return getattr(self.real, name)

    def isatty(self):
        return True


def test_a_bar_appears_only_when_it_takes_long_and_somebody_watches(monkeypatch):
    shown = []

    class Bar:
        def __init__(self, words):
            shown.append(words)

        def stop(self):
            shown.append("stopped")

    monkeypatch.setattr(signs, "_bar", Bar)
    monkeypatch.setattr(signs, "PATIENCE", 0.0)
    with signs.waiting("unseen"):
        pass
    assert shown == []
    monkeypatch.setattr(sys, "stderr", Screen(sys.stderr))
    with signs.waiting("drawing"):
        while not shown:
            pass
    assert shown == ["drawing", "stopped"]
    monkeypatch.setattr(signs, "PATIENCE", 600.0)
    with signs.waiting("quick"):
        pass
    assert shown == ["drawing", "stopped"]


def test_the_bar_itself():
    bar = signs._bar("drawing")
    assert bar.tasks[0].description == "drawing"
    bar.stop()
