"""The command that ``make run`` calls: one real question, answered and explained."""

from __future__ import annotations

import click

import tightrope as tr
from tightrope.cli import show


@click.command()
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
