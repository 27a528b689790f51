"""The command that walks through the lessons: what is printed was computed while it was printed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from tightrope.cli.waiting import waiting
from tightrope.errors import BadParameter

if TYPE_CHECKING:
    from rich.console import Console

    from tightrope.tour import Lesson
    from tightrope.tour.running import Shown

WIDTH = 110  # longer lines are hard to read


@click.command()
@click.argument("lesson", required=False)
@click.option("--all", "everything", is_flag=True, help="Run all examples of all lessons and say whether they hold.")
@click.option("-o", "--output", metavar="FOLDER", help="Also write the lesson's pictures there, as SVG.")
def tour(lesson: str | None, everything: bool, output: str | None) -> None:
    """A walk through five lecture notes: theorems computed live, pictures, and errata.

    Without LESSON the lessons are listed. LESSON is a number or a name. Every example is run while it is shown; the
    exit code is 1 when a number differs from the one the lesson was written with.

    \b
    Examples:
      tightrope tour
      tightrope tour 3
      tightrope tour variants -o pictures
      tightrope tour --all
    """
    from tightrope.tour import lesson as named
    from tightrope.tour import lessons

    if everything and lesson is not None:
        raise BadParameter("LESSON", lesson, "has no meaning beside --all")
    chosen = lessons() if lesson is None else (named(lesson),)
    if everything:
        wrong = sum(_counted(one) for one in chosen)
    elif lesson is None:
        wrong = 0
        for one in chosen:
            click.echo(f"{one.number}  {one.name:12} {one.title}")
        click.echo("\ntightrope tour LESSON shows one, by number or name; tightrope tour --all checks every number.")
    else:
        wrong = _told(chosen[0])
    if output is not None:
        _draw(chosen, Path(output))
    if wrong:
        raise click.ClickException(f"{wrong} of the examples did not print what the lesson says")


def _counted(lesson: Lesson) -> int:
    """Run a lesson and say in one line whether its examples hold; the number of those that do not."""
    from tightrope.tour.running import run

    with waiting(f"running {lesson.name}"):
        shown = [example for part in run(lesson) if not isinstance(part, str) for example in part]
    wrong = [example for example in shown if not example.holds]
    verdict = "all as written" if not wrong else f"{len(wrong)} differ"
    click.echo(f"{lesson.number}  {lesson.name:12} {len(shown)} examples, {verdict}")
    for example in wrong:
        click.echo(f"{example}{_written(example)}")
    return len(wrong)


def _told(lesson: Lesson) -> int:
    """Print a lesson, running its examples on the way; the number of those that did not hold."""
    from rich.console import Console
    from rich.markdown import Markdown
    from rich.syntax import Syntax

    from tightrope.tour.reading import IMAGE
    from tightrope.tour.running import run

    console = _console(Console)
    wrong = 0
    for part in run(lesson):
        if isinstance(part, str):
            said = IMAGE.sub(rf"*Picture: \1 (`tightrope tour {lesson.number} -o FOLDER` draws \2.svg).*", part)
            console.print(Markdown(said))
            continue
        block = "".join(str(example) for example in part)
        console.print()
        console.print(Syntax(block, "pycon", theme="ansi_dark", background_color="default", word_wrap=True))
        for example in part:
            if not example.holds:
                wrong += 1
                console.print(_written(example), style="bold red", markup=False, highlight=False)
        console.print()
    return wrong


def _console(kind: type[Console]) -> Console:
    """As wide as the terminal, but never wider than is good to read."""
    found = kind()
    return kind(width=min(found.width, WIDTH))


def _written(example: Shown) -> str:
    """What the lesson says, under what was printed."""
    return f"differs; the lesson says\n{example.want}"


def _draw(chosen: tuple[Lesson, ...], folder: Path) -> None:
    """Write the pictures of the lessons."""
    from tightrope.tour.figures import FIGURES

    folder.mkdir(parents=True, exist_ok=True)
    for name in [name for lesson in chosen for name in lesson.figures]:
        with waiting(f"drawing {name}"):
            written = FIGURES[name]().save(folder / f"{name}.svg")
        click.echo(f"wrote {written}")
