"""Runs ``python -m agents.external NAME``: hosts one of our bots behind the bot protocol."""

from agents import cli
from agents.external.host import main

if __name__ == "__main__":
    cli.run(main)
