"""Writes the reference in command-line.md from the commands: run it after changing a command or an option."""

from __future__ import annotations

from pathlib import Path

import click

from tightrope.cli.asked import TRAINING, flag
from tightrope.cli.main import COMMANDS, cli

PAGE = Path(__file__).with_name("command-line.md")
BEGIN, END = "<!-- the reference begins -->\n", "<!-- the reference ends -->\n"
SHARED = {*map(flag, TRAINING), "--sampler"}
ELSEWHERE = {"ledger": "Its commands are described with the [ledger](ledger.md#on-a-terminal)."}


def reference() -> str:
    """A section for every command, in the order of ``tightrope --help``, and one for the flags many share."""
    context = click.Context(cli, info_name="tightrope")
    parts, shared = [], {}
    for name in COMMANDS:
        command = cli.get_command(context, name)
        assert command is not None
        options = [p for p in command.params if isinstance(p, click.Option)]
        shared |= {p.opts[0]: p for p in options if p.opts[0] in SHARED}
        parts.append(section(name, command, options, click.Context(command, context, info_name=name)))
    parts.append("### Training flags\n\n" + table(list(shared.values())))
    return "\n".join(parts)


def section(name: str, command: click.Command, options: list[click.Option], context: click.Context) -> str:
    """Usage, what it does, its options."""
    usage = " ".join(["tightrope", name, *command.collect_usage_pieces(context)])
    words = [part for part in (command.help or "").partition("\b")[0].split("\n\n") if part.strip()]
    lines = [f"### tightrope {name}", "", f"`{usage}`", "", *(" ".join(part.split()) + "\n" for part in words)]
    own = [p for p in options if p.opts[0] not in SHARED]
    lines += [table(own)] if own else []
    if len(own) < len(options):
        lines.append("And the [training flags](#training-flags).\n")
    lines += [ELSEWHERE[name] + "\n"] if name in ELSEWHERE else []
    return "\n".join(lines)


def table(options: list[click.Option]) -> str:
    """Options and their help."""
    rows = ["| option | meaning |", "|---|---|"]
    for option in options:
        value = "" if option.is_flag else f" {option.metavar or '|'.join(getattr(option.type, 'choices', ['VALUE']))}"
        names = ", ".join(f"`{form}{value}`".replace("|", "\\|") for form in option.opts)
        rows.append(f"| {names} | {(option.help or '').replace('|', chr(92) + '|')} |")
    return "\n".join(rows) + "\n"


def updated(page: str) -> str:
    """The page with its reference made again."""
    before, _, rest = page.partition(BEGIN)
    return before + BEGIN + "\n" + reference() + "\n" + END + rest.partition(END)[2]


if __name__ == "__main__":
    PAGE.write_text(updated(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
