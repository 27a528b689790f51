"""What commands are asked about: a mechanism in the text form, or a training run in the words people know."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

import tightrope as tr
from tightrope.mechanisms.composed import Repeated
from tightrope.numerics.exact import exact, near

if TYPE_CHECKING:
    from tightrope import Mechanism

Command = Callable[..., None]
MULTIPLIER = "The noise's standard deviation divided by the clipping norm."
TRAINING = ("noise_multiplier", "sample_rate", "steps", "batch_size", "dataset_size", "epochs")


def mechanism(command: Command) -> Command:
    """EXPR or the training flags; the command receives the mechanism and whether flags described it."""

    @wraps(command)
    def run(expr: str | None, sampler: str, **options: Any) -> None:
        given = told_flags(options)
        one_of_both(expr, given)
        ran = tr.parse(expr) if expr is not None else trained(given, sampler)
        if given and not options.get("as_json"):
            click.echo(told(given, sampler, ran))
        command(mechanism=ran, **options)

    return training(click.argument("expr", metavar="[EXPR]", required=False)(run))


def training(command: Command) -> Command:
    """The flags that describe a DP-SGD run."""
    says = (
        "How batches are drawn: each record independently (poisson, the default), a random batch of fixed size "
        "(fixed), or every record once per epoch (shuffle)."
    )
    for option in (
        click.option("--sampler", type=click.Choice(["poisson", "fixed", "shuffle"]), default="poisson", help=says),
        click.option("--epochs", metavar="E", help="Passes over the data, which take ⌈E·N/B⌉ steps."),
        click.option("--dataset-size", metavar="N", help="Number of records."),
        click.option("--batch-size", metavar="B", help="Expected records in a batch; the rate is B/N."),
        click.option("--steps", metavar="T", help="Number of steps."),
        click.option("--sample-rate", metavar="Q", help="The chance that a record is in a batch."),
        click.option("--noise-multiplier", metavar="S", help=MULTIPLIER),
    ):
        command = option(command)
    return command


def told_flags(options: dict[str, Any]) -> dict[str, str]:
    """Take the training flags that were given out of the options."""
    flags = {name: options.pop(name) for name in TRAINING}
    return {name: value for name, value in flags.items() if value is not None}


def one_of_both(expr: str | None, given: dict[str, str], what: str = "EXPR") -> None:
    """A mechanism is described by a text or by training flags."""
    names = ", ".join(flag(name) for name in given)
    if expr is None and not given:
        raise click.UsageError(
            f'Nothing to answer about: give {what}, such as "gaussian(sigma=1) * 10", or training flags, such as '
            "--noise-multiplier 1.1 --sample-rate 0.01 --steps 1000."
        )
    if expr is not None and given:
        raise click.UsageError(f"Both {what} and training flags ({names}) were given: give one of the two.")


def flag(name: str) -> str:
    """How a parameter is written on the command line."""
    return "--" + name.replace("_", "-")


def trained(given: dict[str, str], sampler: str) -> Mechanism:
    """The run that flags describe."""
    if "noise_multiplier" not in given:
        raise click.UsageError(f"Missing option '--noise-multiplier' beside {', '.join(flag(n) for n in given)}.")
    return tr.dpsgd(**given, sampler=sampler)


def told(given: dict[str, str], sampler: str, ran: Mechanism) -> str:
    """What flags were taken to mean, said before the answer."""
    words = [f"{name.replace('_', ' ')} {value}" for name, value in given.items()]
    if "batch_size" in given:
        rate = exact("batch_size", given["batch_size"]) / exact("dataset_size", given["dataset_size"])
        words.append(f"so rate {rate} ≈ {near(rate):.6g}")
    if "epochs" in given and sampler != "shuffle":
        words.append(f"so {ran.times if isinstance(ran, Repeated) else 1} steps")
    return f"{', '.join(words)}; {sampler} batches: {ran}"


def number(name: str, symbol: str, says: str, required: bool = True) -> Callable[[Command], Command]:
    """An option that takes a number as exact text."""
    return click.option(f"--{name}", required=required, metavar=symbol, help=says)


as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else.")
delta = number("delta", "D", "The δ, from 0 to 1: a decimal, 1e-5 or p/q.")
inner_delta = number("delta", "D", "The δ, strictly between 0 and 1: a decimal, 1e-5 or p/q.")
epsilon = number("epsilon", "E", "The ε, not negative: a decimal or p/q.")


DOES_NOT_MEET = 3  # the exit code when the answer is sound, and it is no

