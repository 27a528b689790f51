"""The tour: every number of every lesson is computed again, pages and pictures are current, no erratum is missing."""

import ast
import re
import runpy
from doctest import DocTestParser

import pytest
from click.testing import CliRunner
from documents import ROOT

import tightrope as tr
from tightrope import tour
from tightrope.cli.main import cli
from tightrope.tour.figures import FIGURES
from tightrope.tour.reading import Lesson
from tightrope.tour.running import run

pytestmark = pytest.mark.no_cover  # the gate counts the rooms behind the doors

LESSONS = tour.lessons()
FOLDER = ROOT / "docs" / "tour"
MAKE = runpy.run_path(str(FOLDER / "make.py"))
# The rows of the register that are wrong as printed, by lesson.
WRONG = {
    "relaxations": (1, 6, 15, 16, 21, 24, 27, 28, 29, 32, 35, 40),
    "variants": (42, 50, 51, 72, 73, 76, 78, 79, 80, 81),
    "testing": (84, 87, 96, 97, 102),
    "renyi": (108, 121, 131, 133),
    "rounding": (138, 145, 149, 151, 153),
}
ALLOWED = {"math", "statistics", "fractions", "decimal", "numpy", "tightrope"}


def by_name(lesson):
    return lesson.name


def told(*arguments):
    return CliRunner().invoke(cli, ["tour", *arguments])


@pytest.mark.parametrize("lesson", LESSONS, ids=by_name)
def test_every_number_holds(lesson):
    shown = [example for part in run(lesson) if not isinstance(part, str) for example in part]
    assert len(shown) > 20
    assert [str(example) for example in shown if not example.holds] == []


@pytest.mark.parametrize("lesson", LESSONS, ids=by_name)
def test_only_the_public_interface_is_used(lesson):
    names = set()
    for kind, text in lesson.parts():
        for example in DocTestParser().get_examples(text) if kind == "code" else ():
            for node in ast.walk(ast.parse(example.source)):
                if isinstance(node, ast.Import):
                    assert {name.name for name in node.names} <= ALLOWED
                if isinstance(node, ast.ImportFrom):
                    assert node.module in ALLOWED
                if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "tr":
                    names.add(node.attr)
    assert names <= set(tr.__all__)
    assert len(names) > 5


def test_parts_are_the_whole_text():
    for lesson in LESSONS:
        text = "".join(part if kind == "prose" else f"```python\n{part}```\n" for kind, part in lesson.parts())
        assert text == lesson.text
        assert lesson.text.startswith(f"# {lesson.number}. {lesson.title}\n")


def test_every_erratum_is_shown():
    errata = tour.lesson("errata").text.partition("## Right, with a condition")[0]
    listed = [int(row) for row in re.findall(r"\*\*Row (\d+)\*\*", errata)]
    assert listed == sorted(row for rows in WRONG.values() for row in rows)
    register = runpy.run_path(str(ROOT / "tests" / "papers" / "register.py"))["REGISTER"]
    assert {register[row][0] for row in listed} == {"test"}  # what is said to be wrong is tested to be wrong
    for section in re.split(r"^(?=\*\*Row)", errata, flags=re.M)[1:]:
        assert re.search(r"^(?!>>>|\.\.\.|```).*\w.*\n```", section, re.M), f"no number in {section[:60]}"


@pytest.mark.parametrize("name", WRONG)
def test_lessons_name_their_own_errata(name):
    named = set()
    for rows in re.findall(r"✘\s+rows?\s+([\d, ]+)", tour.lesson(name).text):
        named |= {int(row) for row in re.findall(r"\d+", rows)}
    assert named == set(WRONG[name])


def test_pages_are_current():
    for file, text in MAKE["pages"]().items():
        assert (FOLDER / file).read_text(encoding="utf-8") == text, "run python docs/tour/make.py"
    index = (FOLDER / "index.md").read_text(encoding="utf-8")
    for lesson in LESSONS:
        assert f"[{lesson.title}]({lesson.file})" in index
        assert f"\n{lesson.file.removesuffix('.md')}\n" in index.partition("{toctree}")[2]


def test_every_picture_has_one_place():
    shown = [name for lesson in LESSONS for name in lesson.figures]
    assert shown == list(FIGURES)
    assert {path.stem for path in (FOLDER / "figures").glob("*.svg")} == set(FIGURES)


@pytest.mark.parametrize("name", FIGURES)
def test_pictures_are_current(name):
    drawn = (FOLDER / "figures" / f"{name}.svg").read_text(encoding="utf-8")
    assert f"<!-- shows {MAKE['digest'](FIGURES[name]())} -->" in drawn, "run python docs/tour/make.py"


def test_without_a_lesson_they_are_listed():
    result = told()
    assert result.exit_code == 0
    for lesson in LESSONS:
        assert f"{lesson.number}  {lesson.name}" in result.output
        assert lesson.title in result.output


@pytest.mark.parametrize("which", ["3", "testing", " Testing "])
def test_a_lesson_is_shown_by_number_or_name(which):
    result = told(which)
    assert result.exit_code == 0
    assert "leaky randomized response 0.1000" in result.output
    assert "Picture: The ROC curves of the four mechanisms" in result.output


def test_all_lessons_hold():
    result = told("--all")
    assert result.exit_code == 0, result.output
    assert result.output.count("all as written") == len(LESSONS)


@pytest.mark.parametrize("which", ["0", "seven", "", "-1x"])
def test_unknown_lessons_are_refused_with_the_list(which):
    result = told("--", which)
    assert result.exit_code == 2
    assert "There are: 1 relaxations, 2 variants, 3 testing, 4 renyi, 5 rounding, 6 errata." in result.output


def test_a_lesson_beside_all_is_refused():
    result = told("renyi", "--all")
    assert result.exit_code == 2
    assert "beside --all" in result.output


def test_pictures_are_written(tmp_path):
    result = told("testing", "-o", str(tmp_path / "new" / "folder"))
    assert result.exit_code == 0
    assert sorted(path.name for path in (tmp_path / "new" / "folder").iterdir()) == ["roc.svg", "tradeoff.svg"]
    assert (tmp_path / "new" / "folder" / "roc.svg").read_text(encoding="utf-8").startswith("<svg")


EXAMPLES = ">>> 6 * 7\n41\n>>> 1 / 0\n>>> print('as said')\nas said\n"
ALTERED = Lesson(7, "altered", f"# 7. Altered\n\n```python\n{EXAMPLES}```\n")


@pytest.fixture
def altered(monkeypatch):
    monkeypatch.setattr("tightrope.tour.lessons", lambda: (ALTERED,))
    monkeypatch.setattr("tightrope.tour.reading.lessons", lambda: (ALTERED,))


@pytest.mark.usefixtures("altered")
def test_what_differs_is_said():
    result = told("7")
    assert result.exit_code == 1
    assert re.search(r">>> 6 \* 7\s+42\s", result.output)  # what was computed, not what the file says
    assert re.search(r"the lesson says\s+41\s", result.output)
    assert "ZeroDivisionError" in result.output
    assert "2 of the examples" in result.output


@pytest.mark.usefixtures("altered")
def test_what_differs_is_said_for_all():
    result = told("--all")
    assert result.exit_code == 1
    assert "7  altered      3 examples, 2 differ" in result.output
    assert "the lesson says\n41\n" in result.output


def test_lessons_speak_of_the_notes_by_their_titles():
    for lesson in LESSONS:
        assert not re.search(r"\.txt|\bseed\b|/work|/tmp", lesson.text)
