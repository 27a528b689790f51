"""Commands that write something down: pictures and reports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

import tightrope as tr
from tightrope.cli import asked
from tightrope.cli.waiting import waiting
from tightrope.errors import BadParameter

if TYPE_CHECKING:
    from tightrope import Mechanism

KINDS = ("profile", "tradeoff", "renyi", "steps", "noise", "calibration")
SEVERAL = ("profile", "tradeoff", "renyi")
TARGETED = ("noise",)


@click.command()
@click.argument("kind", type=click.Choice(KINDS))
@click.argument("exprs", metavar="EXPR...", nargs=-1, required=True)
@click.option("-o", "--output", required=True, metavar="FILE", help="Where to write: .png, .svg, .html or .json.")
@asked.number("delta", "D", "The δ that is marked or kept (default 1e-5).", required=False)
@asked.number("epsilon", "E", "noise: the ε to keep (default: that of one query).", required=False)
@click.option("--points", type=int, metavar="N", help="How many points to draw on each curve.")
def plot(kind: str, exprs: tuple[str, ...], output: str, **options: Any) -> None:
    """A picture: profile, tradeoff, renyi, steps, noise or calibration.

    Several EXPR are overlaid (profile, tradeoff, renyi). For noise and calibration the noise parameter of EXPR, or its
    ?, is what varies.

    \b
    Examples:
      tightrope plot profile "gaussian(sigma=1)" "laplace(scale=1)" -o profile.png
      tightrope plot steps "gaussian(sigma=1).poisson(0.01) * 10000" -o steps.svg
      tightrope plot noise "gaussian(sigma=?)" --epsilon 1 -o noise.html
    """
    from tightrope import plotting

    if kind not in SEVERAL and len(exprs) != 1:
        raise BadParameter("EXPR", exprs, f"must be one mechanism in a picture of {kind}")
    if kind not in TARGETED and options["epsilon"] is not None:
        raise BadParameter("--epsilon", options["epsilon"], f"has no meaning in a picture of {kind}")
    if kind == "tradeoff" and options["delta"] is not None:
        raise BadParameter("--delta", options["delta"], "has no meaning in a picture of tradeoff")
    given = {name: value for name, value in options.items() if value is not None}
    if kind == "profile":
        given.setdefault("delta", "1e-5")
    with waiting(f"drawing {output}"):
        written = getattr(plotting, kind)(*exprs, **given).save(output)
    click.echo(f"wrote {written}")


@click.command()
@asked.mechanism
@asked.delta
@click.option("-o", "--output", required=True, metavar="FILE", help="Where to write: .html, .md, .json or .yaml.")
@click.option("--name", default="", metavar="TEXT", help="What the report is about.")
@click.option("--unit", default="one record", metavar="TEXT", help="What is protected, such as one person.")
def report(mechanism: Mechanism, delta: str, output: str, name: str, unit: str) -> None:
    """A statement a privacy reviewer can sign.

    \b
    Example: tightrope report "gaussian(sigma=1).poisson(0.01) * 10000" --delta 1e-5 --unit "one person" -o report.html
    """
    with waiting(f"writing {output}"):
        written = tr.report(mechanism, delta=delta, name=name, unit=unit).save(output)
    click.echo(f"wrote {written}")
