"""Completion of commands and options in bash, zsh and fish."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """The script that completes commands in your shell.

    \b
    Example: tightrope completion bash >> ~/.bashrc
    """
    from tightrope.cli.main import cli

    kind = get_completion_class(shell)
    assert kind is not None, "click knows the three shells"
    click.echo(kind(cli, {}, "tightrope", "_TIGHTROPE_COMPLETE").source())
