"""The command line: good input is answered as the library does, bad input refused in the error's own words."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from commands import NAMES, command, examples, good, refused, run

import tightrope as tr
from tightrope.cli import show
from tightrope.cli.main import COMMANDS, cli

pytestmark = pytest.mark.no_cover  # the gate counts the rooms behind the doors

MECHANISMS = [
    "gaussian(sigma=1)",
    "gaussian(sigma=1).poisson(0.01) * 10000",
    "laplace(scale=2) * 20",
    "approx(epsilon=0.1, delta=1e-8) * 50",
    "zcdp(rho=0.1)",
    "exponential(epsilon=0.5) * 8",
    "parallel(laplace(scale=1), gaussian(sigma=2))",
    "table(p=[1/3, 2/3], q=[2/3, 1/3])",
]
BAD_TEXTS = [
    "gausian(sigma=1)",
    "gaussian(sigma=)",
    "gaussian(sigma=1) * 0.5",
    "",
    "gaussian(sigma=1",
    "§",
    "gaussian(1) poisson",
]
BAD_PARAMETERS = [
    "gaussian(sigma=0)",
    "gaussian(sigma=-1)",
    "gaussian(sigma=1).poisson(2)",
    "laplace(scale=1, sensitivity=0)",
]
ASKED = {"epsilon": "--delta", "delta": "--epsilon", "compare": "--delta", "explain": "--delta"}


def flat(words):
    return " ".join(words.split())


@pytest.mark.parametrize("text", MECHANISMS)
def test_epsilon_prints_the_certificate(text):
    printed = good("epsilon", text, "--delta", "1e-5", "--json")
    assert printed == tr.epsilon(tr.parse(text), delta="1e-5").to_json() + "\n"


@pytest.mark.parametrize("text", MECHANISMS)
def test_delta_prints_the_certificate(text):
    printed = good("delta", text, "--epsilon", "1/2", "--json")
    assert printed == tr.delta(tr.parse(text), epsilon="0.5").to_json() + "\n"


def test_explain_prints_the_certificate_or_the_proof():
    text = "gaussian(sigma=1) + randomized_response(epsilon=0.1)"
    claim = tr.epsilon(tr.parse(text), delta="1e-6")
    assert good("explain", text, "--delta", "1e-6", "--json") == claim.to_json() + "\n"
    assert good("explain", text, "--delta", "0.000001") == claim.explain() + "\n"


def test_compare_prints_rows():
    text = "gaussian(sigma=1).poisson(0.01) * 100"
    rows = json.loads(good("compare", text, "--delta", "1e-5", "--json"))
    found = tr.compare(tr.parse(text), delta="1e-5")
    for printed, row in zip(rows, found.rows, strict=True):
        for field in ("route", "value", "kind", "loses"):
            assert printed[field] == getattr(row, field)
        assert printed["claim"] == (None if row.claim is None else json.loads(row.claim.to_json()))
    assert rows[-1]["kind"] == "estimate"
    assert rows[-1]["claim"] is None


def test_certificates_from_the_command_line_hold():
    assert tr.check(good("epsilon", "zcdp(rho=0.1)", "--delta", "1e-6", "--json"))


def test_a_claim_for_people():
    printed = good("epsilon", "gaussian(sigma=1)", "--delta", "1e-5")
    claim = tr.epsilon(tr.Gaussian(1), delta=1e-5)
    assert printed.splitlines()[0] == "ε ≤ 4.37717809569 at δ = 1e-5 for gaussian(sigma=1)"
    for shown in (repr(claim.lower), repr(claim.upper), "tight     yes", "relation  as stated", "Balle and Wang 2018"):
        assert shown in printed


def test_a_loose_claim_says_so():
    printed = good("epsilon", "zcdp(rho=0.1).poisson(0.01) * 100", "--delta", "1e-5")
    assert "tight     no" in printed
    assert "relation  add-remove" in printed


def test_an_exact_answer_and_infinity():
    assert good("epsilon", "laplace(scale=2)", "--delta", "0").startswith("ε = 0.500000000000 at δ = 0 for")
    assert good("epsilon", "gaussian(sigma=2)", "--delta", "0").startswith("ε = ∞ at")
    assert json.loads(good("epsilon", "gaussian(sigma=2)", "--delta", "0", "--json"))["upper"] == "inf"


def test_a_table_for_people():
    printed = good("compare", "gaussian(sigma=200) * 500", "--delta", "1e-5")
    for route, value in (("exact", "0.384692354052"), ("zcdp-classic", "0.542741506573"), ("basic", "10.3285686748")):
        row = next(line for line in printed.splitlines() if f" {route} " in line)
        assert value in row


def test_a_table_without_a_best_number():
    printed = good("compare", "gaussian(sigma=1e-300)", "--delta", "1e-5")
    assert "exact" in printed


def test_demo_answers_a_real_question():
    printed = good("demo")
    run = tr.dpsgd(noise_multiplier=1, sample_rate="0.01", steps=10_000)
    best = tr.compare(run, delta="1e-5").best
    assert show.number(best.value) in printed
    assert best.claim.explain() in printed
    assert best.route == "exact"
    assert best.claim.tight
    last = printed.splitlines()[-1]
    assert last.startswith("The usual answers overstate ε ≤ 6.18771238998: rdp says 6.712 (+8.5 %), rdp-classic")


def test_nothing_is_overstated_when_nothing_is_spent():
    found = tr.compare(tr.Gaussian(1) * 0, delta="1e-5")
    assert show.overstated(found) == "No usual route overstates this answer."


def test_numbers_are_rounded_up():
    assert show.number(1 / 3) == "0.333333333334"
    assert show.number(float("inf")) == "∞"


@pytest.mark.parametrize(("value", "best", "told"), [(1.1, 1.0, "+10 %"), (25.0, 1.0, "×25"), (1.001, 1.0, "+0.1 %")])
def test_shares(value, best, told):
    assert show.share(value, best) == told


@pytest.mark.parametrize("command", ASKED)
@pytest.mark.parametrize("text", BAD_TEXTS)
def test_bad_text_is_refused(command, text):
    told = refused(command, text, ASKED[command], "0.1")
    with pytest.raises(tr.BadText) as wrong:
        tr.parse(text)
    assert flat(str(wrong.value)) in told


@pytest.mark.parametrize("command", ASKED)
@pytest.mark.parametrize("text", BAD_PARAMETERS)
def test_bad_parameters_are_refused(command, text):
    told = refused(command, text, ASKED[command], "0.1")
    with pytest.raises(tr.BadParameter) as wrong:
        tr.parse(text)
    assert flat(str(wrong.value)) in told


@pytest.mark.parametrize("command", ASKED)
@pytest.mark.parametrize("value", ["-1", "nan", "inf", "one", "", "1/0", "0x1", "1e99999999"])
def test_bad_numbers_are_refused(command, value):
    assert ASKED[command].strip("-") in refused(command, "gaussian(sigma=1)", f"{ASKED[command]}={value}")


@pytest.mark.parametrize("value", ["0", "1"])
def test_compare_needs_an_inner_delta(value):
    assert "strictly between 0 and 1" in refused("compare", "gaussian(sigma=1)", "--delta", value)


@pytest.mark.parametrize("command", ASKED)
def test_different_relations_are_refused(command):
    text = "gaussian(sigma=1).poisson(0.1) + gaussian(sigma=1).without_replacement(1, 10)"
    assert "their costs cannot be added" in refused(command, text, ASKED[command], "0.1")


def test_unsupported_combinations_are_refused():
    assert "Apply .group(k) last" in refused("epsilon", "gaussian(sigma=1).group(2).poisson(0.1)", "--delta", "0.1")


def test_a_missing_proof_exits_with_one(monkeypatch):
    def give_up(*_, **__):
        raise tr.NotCertified("the answer", "nothing helped")

    monkeypatch.setattr(tr, "epsilon", give_up)
    result = run("epsilon", "gaussian(sigma=1)", "--delta", "1e-5")
    assert result.exit_code == 1
    assert "the answer was not certified: nothing helped." in result.stderr


@pytest.mark.parametrize("command", [*ASKED, "renyi", "tradeoff", "profile", "cite", "report"])
def test_a_mechanism_or_training_flags_must_be_given(command):
    rest = {"renyi": ["--order", "2"], "tradeoff": ["--fpr", "0.1"], "profile": [], "delta": ["--epsilon", "1"]}
    rest = [*rest.get(command, ["--delta", "0.1"]), *(["-o", "x.html"] if command == "report" else [])]
    assert 'give EXPR, such as "gaussian(sigma=1) * 10", or training flags, such as' in refused(command, *rest)
    told = refused(command, "gaussian(sigma=1)", "--noise-multiplier", "1", "--steps", "5", *rest)
    assert "Both EXPR and training flags (--noise-multiplier, --steps) were given: give one of the two." in told
    assert "Missing option '--noise-multiplier' beside --steps." in refused(command, "--steps", "5", *rest)


@pytest.mark.parametrize("command", ASKED)
def test_missing_options_are_named(command):
    assert f"Missing option '{ASKED[command]}'" in refused(command, "gaussian(sigma=1)")


def test_unknown_commands_and_options_are_refused():
    assert "No such command 'gamma'. tightrope --help lists them." in refused("gamma", "gaussian(sigma=1)")
    assert "No such command 'epsilom'. Did you mean epsilon?" in refused("epsilom", "gaussian(sigma=1)")
    assert "No such option" in refused("epsilon", "gaussian(sigma=1)", "--delta", "0.1", "--orders", "2")
    assert "unexpected extra argument" in refused("epsilon", "gaussian(sigma=1)", "gaussian(sigma=1)", "--delta", "0.1")
    assert refused("epsilon", "gaussian(sigma=1)", "--deltas", "0.1").endswith("Did you mean '--delta'?")
    assert "No such option" in refused("--verbose")


@pytest.mark.parametrize("name", NAMES)
def test_the_table_says_what_the_command_says_of_itself(name):
    assert command(name).name == name
    assert command(name).help.splitlines()[0] == COMMANDS[name][1]
    assert COMMANDS[name][1] in flat(good("--help"))


def test_unknown_names_load_nothing():
    assert command("epsilom") is None
    assert command("_shell") is None


@pytest.mark.parametrize("name", ["", *NAMES])
def test_help_has_examples(name):
    words = [name] if name else []
    assert examples(name)
    assert all(line.startswith(name) for line in examples(name))
    assert good(*words, "--help") == good(*words, "-h")


@pytest.mark.parametrize("name", ["", *(n for n in NAMES if n != "demo")])
def test_the_examples_of_each_command_run(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("certificate.json").write_text(tr.epsilon(tr.Gaussian(1), delta=1e-5).to_json(), encoding="utf-8")
    Path("ages.csv").write_text("age\n39\n50\n38\n", encoding="utf-8")
    for line in examples(name):
        result = CliRunner().invoke(cli, line.partition(" >>")[0])
        assert result.exit_code == 0, f"{line}\n{result.output}"


def test_version():
    assert good("--version") == f"tightrope {tr.__version__}\n"


def python(*arguments, **environment):
    import os

    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, env={**os.environ, **environment}, timeout=60, check=False
    )


def test_module_and_locale():
    result = python("-m", "tightrope", "epsilon", "gaussian(sigma=1)", "--delta", "1e-5", PYTHONIOENCODING="ascii")
    assert result.returncode == 0, result.stderr
    assert result.stdout.decode().startswith("ε ≤ 4.37717809569")


def test_module_refuses():
    result = python("-m", "tightrope", "epsilon", "gaussian(sigma=0)", "--delta", "1e-5")
    assert result.returncode == 2
    assert result.stderr.decode().startswith("Error: sigma")


def test_help_loads_nothing_heavy():
    code = "import sys, tightrope.cli.main; print({'rich', 'numpy', 'scipy', 'mpmath'} & set(sys.modules))"
    assert python("-c", code).stdout.decode().strip() == "set()"


def test_arguments_that_are_no_text_are_refused_in_words():
    """Bytes that are not UTF-8 reach Python as surrogates, which no stream can write as they are."""
    result = python("-m", "tightrope", "epsilon", b"gaussi\xff\xfen(sigma=1)", "--delta", "1e-5")
    assert result.returncode == 2
    assert b"Traceback" not in result.stderr
    assert b"Error" in result.stderr


@pytest.mark.parametrize("value", ["nan", "inf", "NaN", "infinity"])
def test_what_is_no_finite_number_is_named(value):
    told = refused("epsilon", f"gaussian(sigma={value})", "--delta", "0.1")
    assert f"{value!r} is not a number that can be used" in told
