"""Reports: every format says the same numbers, the page needs no network, and a reviewer can check it again."""

import json
import math
import re
import sys

import pytest
import yaml
from commands import good, refused

import tightrope as tr
from tightrope.reports import Statement
from tightrope.reports.statement import percent

pytestmark = pytest.mark.no_cover  # the gate counts the rooms behind the doors

TEXTS = [
    "gaussian(sigma=1).poisson(0.01) * 1000",
    "laplace(scale=2) * 5",
    "zcdp(rho=0.1)",
    "approx(epsilon=0.5, delta=1e-7)",
    "gaussian(sigma=1, sensitivity=2).without_replacement(10, 100)",
]


@pytest.fixture(scope="module", params=TEXTS)
def statement(request):
    return tr.report(request.param, delta="1e-5", name="survey <&> | poll", unit="one person")


def test_what_it_says_is_what_the_library_says(statement):
    assert isinstance(statement, Statement)
    assert statement.claim == tr.epsilon(statement.mechanism, delta="1e-5")
    assert statement.advantage == tr.advantage(statement.mechanism)
    for delta, lower, upper in statement.profile:
        found = tr.epsilon(statement.mechanism, delta=delta)
        assert lower <= found.upper
        assert upper >= found.lower
    for rate, caught in statement.tradeoff:
        assert caught >= 1 - tr.tradeoff(statement.mechanism, fpr=rate).upper


def test_the_page_needs_nothing_else(statement):
    page = statement.to_html()
    assert not re.search(r"<(script|link|img|iframe)|src=|href=|@import|url\(\s*['\"]?http", page)
    assert set(re.findall(r"https?://[^\"'<\s]+", page.partition("<h2>References</h2>")[0])) <= {
        "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
    }
    assert page.count("<svg") == 2
    assert "survey &lt;&amp;&gt; | poll" in page
    for words in ("one person", str(statement.claim.upper), statement.claim.relation, "tightrope check", "signature",
                  *(s.replace("<", "&lt;") for s in statement.sentences)):
        assert words in page


def test_markdown_says_the_same(statement):
    page = statement.to_markdown()
    headings = re.findall(r"^## (.+)$", page, re.M)
    assert headings[:4] == ["The claim", "What an attacker can do", "The whole profile", "What is assumed"]
    assert headings[4:] == ["Why", "References", "How to check it again", "Signed"]
    certificate = re.search(r"^\{\"tightrope\".*\}$", page, re.M).group()
    assert tr.check(certificate)
    for line in re.findall(r"^\| .* \|$", page, re.M):
        assert line.count("|") >= 3


def test_json_carries_the_certificate(statement):
    data = json.loads(statement.to_json())
    assert data["certificate"] == json.loads(statement.claim.to_json())
    assert data["privacy_unit"] == "one person"
    assert data["attacker"]["sentences"] == list(statement.sentences)


def test_yaml_can_be_read_and_has_the_fields_of_the_registry(statement):
    data = yaml.safe_load(statement.to_yaml())
    assert data["name"] == "survey <&> | poll"
    assert data["privacy_loss"]["privacy_parameters"]["epsilon"] == statement.claim.upper
    assert data["privacy_loss"]["privacy_unit"] == "one person"
    assert data["accounting"]["composition"] == str(statement.mechanism)
    assert tr.check(data["additional_information"]["certificate"])
    assert {"dp_variant", "data_curators", "deployment_model", "implementation"} <= set(data)


def test_words_for_the_attacker_are_rounded_to_his_side():
    statement = tr.report("gaussian(sigma=2)", delta="1e-5")
    odds = float(re.search(r"at most ([\d.]+)·p", statement.sentences[0]).group(1))
    assert odds >= math.exp(statement.claim.upper)
    assert percent(0.123451) == "12.35 %"
    assert percent(2.0) == "100 %"


def test_an_unbounded_but_finite_claim():
    statement = tr.report("gaussian(sigma=0.01)", delta="1e-5")
    assert statement.sentences[0] == "The output may show with certainty whether a given record was used."


def test_sampling_is_said():
    assert "drawn" in tr.report("gaussian(sigma=1).poisson(0.1)", delta="1e-5").sampler or "batch" in tr.report(
        "gaussian(sigma=1).poisson(0.1)", delta="1e-5"
    ).sampler
    assert tr.report("gaussian(sigma=1)", delta="1e-5").sampler == "no sampling is relied upon"


def test_pure_reports_say_so():
    assert yaml.safe_load(tr.report(tr.Laplace(1), delta=0).to_yaml())["dp_variant"] == "Pure"


def test_without_the_drawing_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    page = tr.report("gaussian(sigma=2)", delta="1e-5").to_html()
    assert "<svg" not in page
    assert "drawing is not installed" in page


def test_a_picture_that_cannot_be_drawn_is_said(monkeypatch):
    def fail(*_, **__):
        raise tr.NotCertified("the profile", "nothing helped")

    monkeypatch.setattr("tightrope.reports.sections.profile", fail)
    assert "(No picture: the profile was not certified" in tr.report("gaussian(sigma=2)", delta="1e-5").to_html()


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: tr.report("gaussian(sigma=1)", delta=0), "there is nothing to sign"),
        (lambda: tr.report("gausian(sigma=1)", delta="1e-5"), "Did you mean"),
        (lambda: tr.report(7, delta="1e-5"), "mechanism"),
        (lambda: tr.report("gaussian(sigma=1)", delta=2), "delta"),
        (lambda: tr.report("gaussian(sigma=1)", delta="1e-5", unit=3), "unit"),
        (lambda: tr.report("gaussian(sigma=1)", delta="1e-5", name="x" * 501), "at most 500 characters"),
        (lambda: tr.report("gaussian(sigma=1)", delta="1e-5").save("report.pdf"), "must end in one of .html"),
    ],
)
def test_bad_input_is_refused(make, told):
    with pytest.raises(tr.TightropeError) as wrong:
        make()
    assert told in str(wrong.value)


@pytest.mark.parametrize("suffix", ["html", "md", "json", "yaml", "yml"])
def test_the_command_writes_what_the_library_says(tmp_path, suffix):
    path = tmp_path / f"report.{suffix}"
    words = ("--name", "poll", "--unit", "one vote")
    printed = good("report", "laplace(scale=1)", "--delta", "1e-6", *words, "-o", str(path))
    assert printed == f"wrote {path}\n"
    tr.report("laplace(scale=1)", delta="1e-6", name="poll", unit="one vote").save(tmp_path / f"same.{suffix}")
    written, same = path.read_text(encoding="utf-8"), (tmp_path / f"same.{suffix}").read_text(encoding="utf-8")
    assert re.sub(r"(clip|gradient)_?\d+", "", written) == re.sub(r"(clip|gradient)_?\d+", "", same)


def test_the_command_takes_training_flags_and_refuses(tmp_path):
    flags = ("--noise-multiplier", "1", "--sample-rate", "0.01", "--steps", "100")
    told = good("report", *flags, "--delta", "1e-5", "-o", str(tmp_path / "r.md"))
    assert told.startswith("noise multiplier 1, sample rate 0.01")
    assert "must end in one of" in refused("report", "laplace(scale=1)", "--delta", "1e-5", "-o", "r.doc")
    assert "Missing option '-o'" in refused("report", "laplace(scale=1)", "--delta", "1e-5")
    assert "nothing to sign" in refused("report", "gaussian(sigma=1)", "--delta", "0", "-o", "r.md")
