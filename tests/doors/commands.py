"""Running the command line in tests."""

import re

import click
from click.testing import CliRunner

from tightrope.cli.main import COMMANDS, cli


def run(*arguments):
    return CliRunner().invoke(cli, list(arguments))


def good(*arguments):
    """The output of a command that must succeed and say nothing on the error stream."""
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    return result.stdout


def refused(*arguments, code=2):
    """The error of a command that must be refused without output and without a traceback."""
    result = run(*arguments)
    assert result.exit_code == code, result.output
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    return " ".join(result.stderr.split())


def command(name):
    """A command of the table, loaded."""
    return cli.get_command(click.Context(cli), name)


def examples(name):
    """The example lines in a command's help, without the word tightrope."""
    told = good(name, "--help") if name else good("--help")
    after = re.split(r"Examples?:", told, maxsplit=1)[1]
    return re.findall(r"^\s*tightrope (.+)$", after, re.M)


NAMES = list(COMMANDS)
