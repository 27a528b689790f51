"""The documents: examples run, every public name, command and theorem is described, links lead somewhere."""

import doctest
import re
import runpy
import sys
from functools import cache

import pytest
from click.testing import CliRunner
from commands import command as loaded
from documents import DOCUMENTS, ROOT, blocks, everything

import tightrope as tr
from tightrope.accounting.text import LEAVES, METHODS
from tightrope.cli.main import COMMANDS, cli
from tightrope.theorems import REGISTRY

pytestmark = pytest.mark.no_cover  # the gate counts the rooms behind the doors

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def name(path):
    return str(path.relative_to(ROOT))


def holding(words, language):
    return [path for path in DOCUMENTS if any(words in block for _, block in blocks(path, language))]


@cache
def certificate():
    return tr.epsilon(tr.Gaussian(1), delta="1e-5").to_json()


@pytest.fixture
def _folder(tmp_path, monkeypatch):
    """Examples may write files: each has a folder of its own, with a table and a certificate in it."""
    (tmp_path / "ages.csv").write_text("name,age\n" + "Ada,39\nBea,50\n" * 500, encoding="utf-8")
    (tmp_path / "certificate.json").write_text(certificate(), encoding="utf-8")
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("_folder")
@pytest.mark.parametrize("path", holding(">>>", "python"), ids=name)
def test_python_examples_run(path):
    examples = []
    for line, block in blocks(path, "python"):
        for example in doctest.DocTestParser().get_examples(block):
            example.lineno += line
            examples.append(example)
    told = []
    test = doctest.DocTest(examples, {}, path.name, str(path), 0, None)
    result = doctest.DocTestRunner(optionflags=FLAGS, verbose=False).run(test, out=told.append)
    assert result.attempted > 0
    assert result.failed == 0, "".join(told)


def test_python_blocks_are_examples():
    for path in DOCUMENTS:
        for line, block in blocks(path, "python"):
            assert ">>>" in block, f"{name(path)}:{line} is not run"


@pytest.mark.usefixtures("_folder")
@pytest.mark.parametrize("path", holding("$ tightrope", "console"), ids=name)
def test_console_examples_run(path):
    for line, block in blocks(path, "console"):
        for command, expected in re.findall(r"^\$ tightrope (.*)\n((?:(?!\$ ).*\n)*)", block, re.M):
            result = CliRunner().invoke(cli, command)
            ok = doctest.OutputChecker().check_output(expected, result.output, FLAGS)
            assert ok, f"{name(path)}:{line}\n{result.output}"


@pytest.mark.parametrize("public", tr.__all__)
def test_public_names_are_described(public):
    pages = [ROOT / "docs" / page for page in ("mechanisms.md", "questions.md")]
    described = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    assert re.search(rf"`(tr\.)?{public}\b", described), f"{public} is not described"


@pytest.mark.parametrize("text", [*LEAVES, *METHODS, "parallel"])
def test_text_names_are_described(text):
    page = (ROOT / "docs" / "mechanisms.md").read_text(encoding="utf-8")
    assert re.search(rf"`\.?{text}[`(]", page), f"{text} is not described"


@pytest.mark.parametrize("leaf", LEAVES.values(), ids=lambda leaf: leaf.text_name)
def test_parameters_are_described(leaf):
    page = (ROOT / "docs" / "mechanisms.md").read_text(encoding="utf-8")
    row = next(line for line in page.splitlines() if f"`{leaf.text_name}`" in line)
    for parameter in leaf.__dataclass_fields__ if leaf is not tr.RDP else ("order", "epsilon"):
        assert re.search(rf"`[^`]*\b{parameter}\b", row), f"{parameter} of {leaf.text_name} is not described"


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_and_options_are_described(command):
    page = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    section = re.split(r"^### ", page.partition(f"\n### tightrope {command}\n")[2], maxsplit=1, flags=re.M)[0]
    assert section, f"{command} is not described"
    if "#training-flags" in section:
        section += page.partition("\n### Training flags\n")[2]
    for option in [p for p in loaded(command).params if p.param_type_name == "option"]:
        assert option.help, f"{option.opts} of {command} does not say what it is"
        assert any(f"`{form}" in section for form in option.opts), f"{option.opts} of {command} is not described"


def test_command_reference_is_current():
    made = runpy.run_path(str(ROOT / "docs" / "make_commands.py"))
    page = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    assert made["updated"](page) == page, "run python docs/make_commands.py"


@pytest.mark.parametrize("theorem", REGISTRY.values(), ids=list(REGISTRY))
def test_theorems_are_listed(theorem):
    page = (ROOT / "docs" / "theorems.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith(f"| `{theorem.id}` |")]
    assert len(rows) == 1
    assert f"| {theorem.kind} |" in rows[0]


def test_theorem_table_is_current():
    made = runpy.run_path(str(ROOT / "docs" / "make_theorems.py"))
    page = (ROOT / "docs" / "theorems.md").read_text(encoding="utf-8")
    assert made["updated"](page) == page, "run python docs/make_theorems.py"


def test_own_theorems_are_proved_here():
    page = (ROOT / "docs" / "theorems.md").read_text(encoding="utf-8")
    proofs = page.partition("## Proofs")[2]
    for theorem in REGISTRY.values():
        if theorem.source.key == "tightrope" or "docs/theorems.md" in theorem.source.where:
            assert f"`{theorem.id}`" in proofs, f"{theorem.id} is proved nowhere"
        if theorem.source.key == "tightrope":
            assert f"\n### {theorem.source.where}\n".lower() in proofs.lower(), f"no section «{theorem.source.where}»"


def test_links_lead_somewhere():
    for path in DOCUMENTS:
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)\s]*)?\)", path.read_text(encoding="utf-8")):
            if not target.startswith("http"):
                assert (path.parent / target).exists(), f"{name(path)} links to {target}"


def test_every_page_is_in_the_index():
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    tree = index.partition("{toctree}")[2].split()
    pages = [p.stem for p in (ROOT / "docs").glob("*.md") if p.stem != "index"]
    assert set(pages) <= set(tree)
    howto = (ROOT / "docs" / "howto" / "index.md").read_text(encoding="utf-8").partition("{toctree}")[2].split()
    assert {p.stem for p in (ROOT / "docs" / "howto").glob("*.md")} - {"index"} <= set(howto)
    listed = (ROOT / "docs" / "decisions" / "index.md").read_text(encoding="utf-8")
    for record in (ROOT / "docs" / "decisions").glob("0*.md"):
        assert record.name in listed


def test_changes_keep_a_heading_for_numbers():
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    for release in changes.split("\n## ")[1:]:
        assert "### Numbers" in release
    assert f"\n## {tr.__version__}" in changes


@pytest.mark.usefixtures("_folder")
@pytest.mark.parametrize("script", sorted((ROOT / "examples").glob("*.py")), ids=lambda p: p.stem)
def test_examples_run(script, capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", [str(script)])
    runpy.run_path(str(script), run_name="__main__")
    assert len(capsys.readouterr().out.splitlines()) >= 3


def test_documents_speak_of_no_machine():
    assert not re.search(r"/(home|work|tmp|root)/", everything())
