"""Questions with one answer: epsilon, delta, renyi, tradeoff, steps, explain, and the table of routes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import click

import tightrope as tr
from tightrope.cli import asked, show
from tightrope.cli.waiting import waiting

if TYPE_CHECKING:
    from tightrope import Claim, Mechanism


def _said(ask: Callable[[], Claim], as_json: bool) -> None:
    with waiting("proving"):
        claim = ask()
    click.echo(claim.to_json() if as_json else show.claim(claim))


@click.command()
@asked.mechanism
@asked.delta
@asked.as_json
def epsilon(mechanism: Mechanism, delta: str, as_json: bool) -> None:
    """The least ε at a given δ.

    \b
    Examples:
      tightrope epsilon "gaussian(sigma=1)" --delta 1e-5
      tightrope epsilon --noise-multiplier 1.1 --batch-size 256 --dataset-size 60000 --epochs 10 --delta 1e-5
    """
    _said(lambda: tr.epsilon(mechanism, delta=delta), as_json)


@click.command()
@asked.mechanism
@asked.epsilon
@asked.as_json
def delta(mechanism: Mechanism, epsilon: str, as_json: bool) -> None:
    """The least δ at a given ε.

    \b
    Example: tightrope delta "laplace(scale=2) * 20" --epsilon 3
    """
    _said(lambda: tr.delta(mechanism, epsilon=epsilon), as_json)


@click.command()
@asked.mechanism
@asked.number("order", "A", "The Rényi order, above 1; inf is allowed.")
@asked.as_json
def renyi(mechanism: Mechanism, order: str, as_json: bool) -> None:
    """The Rényi divergence at an order, the larger of both directions.

    \b
    Example: tightrope renyi "gaussian(sigma=1).poisson(0.01)" --order 8
    """
    _said(lambda: tr.renyi(mechanism, order=float("inf") if order == "inf" else order), as_json)


@click.command()
@asked.mechanism
@asked.number("fpr", "A", "The false-positive rate, from 0 to 1.")
@asked.as_json
def tradeoff(mechanism: Mechanism, fpr: str, as_json: bool) -> None:
    """An attacker's least false-negative rate at a given false-positive rate.

    \b
    Example: tightrope tradeoff "gaussian(sigma=1)" --fpr 0.01
    """
    _said(lambda: tr.tradeoff(mechanism, fpr=fpr), as_json)


@click.command()
@asked.mechanism
@asked.inner_delta
@asked.as_json
def compare(mechanism: Mechanism, delta: str, as_json: bool) -> None:
    """Every route to ε at a given δ, best first.

    With --json, a list of rows: route, value, kind, loses, and the claim (null for an estimate).

    \b
    Example: tightrope compare "gaussian(sigma=200) * 500" --delta 1e-5
    """
    with waiting("comparing routes"):
        found = tr.compare(mechanism, delta=delta)
    if as_json:
        click.echo(show.rows_as_json(found))
    else:
        show.table(found)


@click.command()
@asked.mechanism
@asked.delta
@asked.as_json
def explain(mechanism: Mechanism, delta: str, as_json: bool) -> None:
    """The proof of ε at a given δ: each theorem, its source and its number.

    With --json, the certificate, which tightrope check proves again.

    \b
    Example: tightrope explain "gaussian(sigma=1) + laplace(scale=2)" --delta 1e-6
    """
    with waiting("proving"):
        claim = tr.epsilon(mechanism, delta=delta)
    click.echo(claim.to_json() if as_json else claim.explain())


@click.command()
@click.argument("expr", metavar="EXPR")
@asked.epsilon
@asked.delta
@asked.as_json
def steps(expr: str, epsilon: str, delta: str, as_json: bool) -> None:
    """How many times EXPR can run within a budget (ε, δ).

    \b
    Example: tightrope steps "gaussian(sigma=1).poisson(0.01)" --epsilon 2 --delta 1e-5
    """
    with waiting("counting steps"):
        found = tr.steps(tr.parse(expr), epsilon=epsilon, delta=delta)
    click.echo(show.calibration_as_json(found) if as_json else show.calibration(found, "steps"))


@click.command()
@asked.mechanism
@click.option("--epsilon", "epsilons", multiple=True, metavar="E", help="An ε; repeat it. Default: 0 to the ε at 1e-9.")
@asked.as_json
def profile(mechanism: Mechanism, epsilons: tuple[str, ...], as_json: bool) -> None:
    """The privacy profile: δ at each ε.

    With --json, a list of rows: epsilon, lower, upper.

    \b
    Example: tightrope profile "gaussian(sigma=1)" --epsilon 1 --epsilon 2
    """
    with waiting("evaluating the profile"):
        points = list(epsilons) or show.usual_epsilons(tr.epsilon(mechanism, delta="1e-9").upper)
        lower, upper = tr.profile(mechanism).delta(points)
    rows = list(zip(points, lower.tolist(), upper.tolist(), strict=True))
    click.echo(show.profile_as_json(rows) if as_json else show.profile(rows))


@click.command()
@asked.mechanism
@asked.delta
def cite(mechanism: Mechanism, delta: str) -> None:
    """BibTeX of the theorems behind ε at a given δ.

    \b
    Example: tightrope cite "gaussian(sigma=1).poisson(0.01) * 10000" --delta 1e-5
    """
    click.echo(tr.epsilon(mechanism, delta=delta).bibtex())
