"""The command ``tightrope``: each subcommand is a thin shell over one public function, loaded when it is called."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import click

import tightrope as tr
from tightrope.errors import NotCertified, TightropeError

# Where each command lives, and its help in one line: --help loads none of them.
COMMANDS = {
    "epsilon": ("answers", "The least ε at a given δ."),
    "delta": ("answers", "The least δ at a given ε."),
    "calibrate": ("targets", "The least noise, greatest rate or greatest number of steps that meets a target."),
    "steps": ("answers", "How many times EXPR can run within a budget (ε, δ)."),
    "compare": ("answers", "Every route to ε at a given δ, best first."),
    "explain": ("answers", "The proof of ε at a given δ: each theorem, its source and its number."),
    "check": ("targets", "Whether somebody's claim holds: a certificate file, or EXPR with --epsilon and --delta."),
    "renyi": ("answers", "The Rényi divergence at an order, the larger of both directions."),
    "profile": ("answers", "The privacy profile: δ at each ε."),
    "tradeoff": ("answers", "An attacker's least false-negative rate at a given false-positive rate."),
    "plot": ("documents", "A picture: profile, tradeoff, renyi, steps, noise or calibration."),
    "report": ("documents", "A statement a privacy reviewer can sign."),
    "release": ("release", "A private statistic of a column: count, sum, mean, histogram or quantile."),
    "cite": ("answers", "BibTeX of the theorems behind ε at a given δ."),
    "ledger": ("ledger", "Budgets in a file or a database that cannot be overspent."),
    "tour": ("tour", "A walk through five lecture notes: theorems computed live, pictures, and errata."),
    "completion": ("shells", "The script that completes commands in your shell."),
    "demo": ("demo", "What a DP-SGD run costs: every route compared, and the proof of the best."),
}
EXAMPLES = """
\b
Examples:
  tightrope epsilon "gaussian(sigma=1).poisson(0.01) * 10000" --delta 1e-5
  tightrope epsilon --noise-multiplier 1.1 --batch-size 256 --dataset-size 60000 --epochs 10 --delta 1e-5
  tightrope calibrate "gaussian(sigma=?) * 100" --epsilon 1 --delta 1e-6
  tightrope compare "approx(epsilon=0.1, delta=1e-8) * 50" --delta 1e-6
  tightrope plot tradeoff "gaussian(sigma=1)" "laplace(scale=1)" -o curve.svg

\b
Exit codes: 0 answered (and holds), 1 no proof found, 2 bad input, 3 does not meet the target.
"""


class _Shell(click.Group):
    """Commands are found by name; errors of the package end the command in their own words, without a traceback."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """In the order of the table, which is the order people meet them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        """Load the one that is called."""
        if cmd_name not in COMMANDS:
            return None
        found = getattr(import_module(f"tightrope.cli.{COMMANDS[cmd_name][0]}"), cmd_name)
        return found if isinstance(found, click.Command) else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's
        """The table itself, without loading anything."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, says) for name, (_, says) in COMMANDS.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """A misspelt command is answered with the nearest one."""
        from difflib import get_close_matches

        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            near = get_close_matches(args[0], COMMANDS, n=1)
            hint = f" Did you mean {near[0]}?" if near else " tightrope --help lists them."
            raise click.UsageError(f"No such command {args[0]!r}.{hint}", ctx)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a subcommand; bad input exits with 2, a proof that was not found with 1."""
        try:
            return super().invoke(ctx)
        except NotCertified as wrong:
            raise click.ClickException(str(wrong)) from None
        except TightropeError as wrong:
            raise _Refused(str(wrong)) from None
        except OSError as wrong:
            lost = isinstance(wrong, FileNotFoundError) and not Path(str(wrong.filename)).parent.exists()
            hint = ". The folder does not exist: create it first." if lost else ""
            raise _Refused(f"{wrong.filename or 'file'}: {wrong.strerror or wrong}{hint}") from None


class _Refused(click.ClickException):
    exit_code = 2


@click.group(cls=_Shell, epilog=EXAMPLES, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(tr.__version__, prog_name="tightrope", message="%(prog)s %(version)s")
def cli() -> None:
    """Differential-privacy accounting: every answer is a certified [lower, upper] with its proof.

    EXPR describes a mechanism in the text form, such as "gaussian(sigma=1).poisson(0.01) * 10000". Numbers are
    exact: 0.1 is one tenth, and 1/3 may be written as such. Instead of EXPR most commands take the flags of a training
    run, such as --noise-multiplier.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # Greek letters and JSON look the same under every locale; bytes that are no text are shown as escapes.
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
