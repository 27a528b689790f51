"""``python -m tightrope`` is the command ``tightrope``."""

from tightrope.cli.main import cli

if __name__ == "__main__":
    cli(prog_name="tightrope")
