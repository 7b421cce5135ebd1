"""Plays a bot of this repository, or a class, by the protocol: see agents/external/protocol.md."""

from agents import cli
from agents.external.host import main

if __name__ == "__main__":
    cli.run(main)
