"""The command ``tightrope``: each subcommand is a thin shell over one public function."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import click

import tightrope as tr
from tightrope.cli import show

EXAMPLES = """
\b
Examples:
  tightrope epsilon "gaussian(sigma=1)" --delta 1e-5
  tightrope epsilon "gaussian(sigma=1).poisson(0.01) * 10000" --delta 1e-5
  tightrope delta "laplace(scale=2) * 20" --epsilon 3
  tightrope compare "approx(epsilon=0.1, delta=1e-8) * 50" --delta 1e-6
  tightrope explain "exponential(epsilon=0.5) * 8" --delta 1e-6
"""


class _Shell(click.Group):
    """Errors of the package end the command in their own words, without a traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a subcommand; bad input exits with 2, a proof that was not found with 1."""
        try:
            return super().invoke(ctx)
        except tr.NotCertified as wrong:
            raise click.ClickException(str(wrong)) from None
        except tr.TightropeError as wrong:
            raise _Refused(str(wrong)) from None


class _Refused(click.ClickException):
    exit_code = 2


@click.group(cls=_Shell, epilog=EXAMPLES, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(tr.__version__, prog_name="tightrope", message="%(prog)s %(version)s")
def cli() -> None:
    """Differential-privacy accounting: every answer is a certified [lower, upper] with its proof.

    EXPR describes a mechanism in the text form, such as "gaussian(sigma=1).poisson(0.01) * 10000". Numbers are
    exact: 0.1 is one tenth, and 1/3 may be written as such.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8")  # Greek letters and JSON are written the same way under every locale


def _asked(name: str, symbol: str, says: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """EXPR, the one number of the question, and --json."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        command = click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else.")(command)
        command = click.option(f"--{name}", required=True, metavar=symbol, help=says)(command)
        return click.argument("mechanism", metavar="EXPR")(command)

    return decorate


_delta = _asked("delta", "D", "The δ, from 0 to 1: a decimal, 1e-5 or p/q.")
_inner_delta = _asked("delta", "D", "The δ, strictly between 0 and 1: a decimal, 1e-5 or p/q.")
_epsilon = _asked("epsilon", "E", "The ε, not negative: a decimal or p/q.")


@cli.command()
@_delta
def epsilon(mechanism: str, delta: str, as_json: bool) -> None:
    """The least ε at a given δ.

    \b
    Example: tightrope epsilon "gaussian(sigma=1)" --delta 1e-5
    """
    claim = tr.epsilon(tr.parse(mechanism), delta=delta)
    click.echo(claim.to_json() if as_json else show.claim(claim))


@cli.command()
@_epsilon
def delta(mechanism: str, epsilon: str, as_json: bool) -> None:
    """The least δ at a given ε.

    \b
    Example: tightrope delta "laplace(scale=2) * 20" --epsilon 3
    """
    claim = tr.delta(tr.parse(mechanism), epsilon=epsilon)
    click.echo(claim.to_json() if as_json else show.claim(claim))


@cli.command()
@_inner_delta
def compare(mechanism: str, delta: str, as_json: bool) -> None:
    """Every route to ε at a given δ, best first.

    With --json, a list of rows: route, value, kind, loses, and the claim (null for an estimate).

    \b
    Example: tightrope compare "gaussian(sigma=200) * 500" --delta 1e-5
    """
    found = tr.compare(tr.parse(mechanism), delta=delta)
    if as_json:
        click.echo(show.rows_as_json(found))
    else:
        show.table(found)


@cli.command()
@_delta
def explain(mechanism: str, delta: str, as_json: bool) -> None:
    """The proof of ε at a given δ: each theorem, its source and its number.

    With --json, the certificate, which tightrope.check proves again.

    \b
    Example: tightrope explain "gaussian(sigma=1) + laplace(scale=2)" --delta 1e-6
    """
    claim = tr.epsilon(tr.parse(mechanism), delta=delta)
    click.echo(claim.to_json() if as_json else claim.explain())


@cli.command()
def demo() -> None:
    """What a DP-SGD run costs: every route compared, and the proof of the best.

    \b
    Example: tightrope demo
    """
    run = tr.dpsgd(noise_multiplier=1, sample_rate="0.01", steps=10_000)
    found = tr.compare(run, delta="1e-5")
    click.echo("DP-SGD with noise multiplier 1, sampling rate 1 % and 10000 steps: what is its ε at δ = 1e-5?\n")
    show.table(found)
    click.echo("\nWhy the first row holds\n")
    click.echo(found.best.claim.explain() if found.best.claim is not None else "")
    click.echo("\n" + show.overstated(found))
