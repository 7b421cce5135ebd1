"""Plays a bot of this repository, or a class of your own, behind the bot protocol."""

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
    """seed of its random numbers, for a client that gives none"""


def main(argv: Sequence[str] | None = None) -> int:
    args = cli.parse(Args, argv, "Hosts one of our bots: docs/protocol.md.")
    return serve(args.agent, args.seed)
