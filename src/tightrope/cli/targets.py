"""Commands about a target: the parameter that meets it, and whether a claim holds."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import tightrope as tr
from tightrope.cli import asked, show
from tightrope.cli.waiting import waiting
from tightrope.errors import BadParameter, Undecided
from tightrope.numerics.exact import nonnegative

if TYPE_CHECKING:
    from tightrope import Mechanism


@click.command()
@click.argument("expr", metavar="[EXPR]", required=False)
@asked.training
@asked.number("epsilon", "E", "The target ε.", required=False)
@asked.number("delta", "D", "The target δ; without it the target is pure ε.", required=False)
@asked.number("rho", "R", "A target in zero-concentrated DP instead.", required=False)
@asked.number("mu", "M", "A target in Gaussian DP instead.", required=False)
@asked.as_json
def calibrate(expr: str | None, sampler: str, as_json: bool, **options: Any) -> None:
    """The least noise, greatest rate or greatest number of steps that meets a target.

    EXPR has one ? where the number belongs. With training flags, the one that is missing is found.

    \b
    Examples:
      tightrope calibrate "gaussian(sigma=?).poisson(0.01) * 10000" --epsilon 1 --delta 1e-5
      tightrope calibrate --sample-rate 0.01 --steps 10000 --epsilon 1 --delta 1e-5
      tightrope calibrate --noise-multiplier 1 --sample-rate 0.01 --epsilon 1 --delta 1e-5
    """
    given = asked.told_flags(options)
    asked.one_of_both(expr, given, "EXPR with one ?")
    with waiting("calibrating"):
        if expr is not None:
            found, what = tr.calibrate(expr, **options), "value"
        else:
            run, what = _missing(given, sampler)
            found = tr.calibrate(run, integer=what == "steps", **options)
    click.echo(show.calibration_as_json(found) if as_json else show.calibration(found, what.replace("_", " ")))


def _missing(given: dict[str, str], sampler: str) -> tuple[Callable[[Fraction], Mechanism], str]:
    """The training flag to be found, and the run as a function of it."""
    rated = "sample_rate" in given or ("batch_size" in given and "dataset_size" in given)
    lacking = {
        "noise_multiplier": "noise_multiplier" not in given,
        "sample_rate": not rated,
        "steps": "steps" not in given and "epochs" not in given,
    }
    names = [name for name, absent in lacking.items() if absent]
    if len(names) != 1:
        open_ones = ", ".join(asked.flag(name) for name in names) or "none"
        raise click.UsageError(
            f"The training flags must leave exactly one thing open, which is then found; they leave {open_ones}. "
            "Leave out either --noise-multiplier, the rate or the steps."
        )
    (name,) = names
    return (lambda value: tr.dpsgd(**{**given, name: value}, sampler=sampler)), name


@click.command()
@click.argument("claim", metavar="FILE_OR_EXPR", required=False)
@asked.training
@asked.number("epsilon", "E", "The ε that is claimed.", required=False)
@asked.number("delta", "D", "The δ that is claimed.", required=False)
@asked.as_json
def check(claim: str | None, sampler: str, epsilon: str | None, delta: str | None, as_json: bool, **flags: Any) -> None:
    """Whether somebody's claim holds: a certificate file, or EXPR with --epsilon and --delta.

    Exit code 0: it holds. 3: it does not, or was not proved. 2: bad input.

    \b
    Examples:
      tightrope check certificate.json
      tightrope check "gaussian(sigma=1).poisson(0.01) * 10000" --epsilon 6.2 --delta 1e-5
    """
    given = asked.told_flags(flags)
    asked.one_of_both(claim, given, "FILE or EXPR")
    if claim is not None and epsilon is None and delta is None:
        _file(Path(claim), as_json)
        return
    if epsilon is None or delta is None:
        raise click.UsageError("To check a mechanism, give both --epsilon and --delta.")
    ran = tr.parse(claim) if claim is not None else asked.trained(given, sampler)
    goal = nonnegative("--epsilon", epsilon)
    with waiting("proving"):
        found = tr.epsilon(ran, delta=delta)
    try:
        holds: bool | None = found <= goal
    except Undecided:
        holds = None
    click.echo(show.verdict_as_json(found, goal, holds) if as_json else show.verdict(found, goal, holds))
    if not holds:
        raise click.exceptions.Exit(asked.DOES_NOT_MEET)


def _file(path: Path, as_json: bool) -> None:
    """Prove a certificate again."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as wrong:
        why = wrong.strerror if isinstance(wrong, OSError) else "not text"
        raise BadParameter(
            "FILE_OR_EXPR", str(path), f"cannot be read as a certificate ({why})",
            hint="To check a mechanism, also give --epsilon and --delta.",
        ) from None
    with waiting("proving again"):
        outcome = tr.check(text)
    click.echo(show.check_as_json(outcome) if as_json else show.check(outcome))
    if not outcome:
        raise click.exceptions.Exit(asked.DOES_NOT_MEET)
