"""``python -m tightrope`` is the command ``tightrope``."""

from tightrope.cli.main import cli

cli(prog_name="tightrope")
