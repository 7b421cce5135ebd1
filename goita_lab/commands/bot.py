"""Runs a bot as a program that uses the bot protocol (docs/protocol.md).

goita bot greedy                answers the messages on standard input
goita bot my_bots:Cautious      a class of your own

The program ends after the message "bye" or when its input is closed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from goita_agents.external.host import serve
from goita_lab import cli


@dataclass(frozen=True)
class Args:
    """Options of the command line."""

    agent: str = field(metadata=cli.POSITIONAL)
    """the bot, as a tournament takes it: greedy"""
    seed: int = 0
    """seed of the bot's random numbers, if the client sends none"""


def main(argv: Sequence[str] | None = None) -> int:
    args = cli.parse(Args, argv, __doc__)
    return serve(args.agent, args.seed)
