"""Lists the methods by which the members of the population are trained, and how they are split."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from goita_env.information import PLAIN, InformationStructure, MessageChannel

Split = Literal["train", "validation", "messages", "trained_partner"]
"""May be trained with; nothing here trains with it or chooses by it; plays with messages; was
trained beside a partner that is held out, and only says how well that partner can be played with.
"""

DECISIONS: Final = 12_000_000
SEEDS: Final = 8

COMMON: Final = (
    *("--preset", "quick", "--layers", "128", "128", "128", "--decisions", f"{DECISIONS}"),
    *("--lr", "1.5e-3", "5e-5", "--entropy", "0.012", "0.001", "--gae-lambda", "0.95"),
    *("--pool-share", "0", "--threads", "1", "--measure-deals", "0"),
    *("--snapshot-every", f"{DECISIONS // 4}"),
)
"""Options of ``goita train`` that all trainings share."""


@dataclass(frozen=True)
class Method:
    """How some members were trained."""

    name: str
    split: Split
    options: tuple[str, ...] = ()
    """Options of ``goita train`` beside those that all share."""
    information: InformationStructure = PLAIN
    """Who knows and tells what in their game."""
    seeds: int = SEEDS
    """How many runs, whose seeds count from 0."""
    snapshot_of: str = ""
    """A method whose runs are taken after a quarter of their decisions, without a training."""
    text: str = ""
    """What it is, in a line."""

    @property
    def decisions(self) -> int:
        return DECISIONS // 4 if self.snapshot_of else DECISIONS


_MUTED: Final = ("--mute-share", "0.5")

VALIDATION_BOTS: Final = {
    "no-pass-partner": "heuristic:pass_partner=off",
    "no-reading": "heuristic:reading=off",
    "no-hold-back": "heuristic:hold_back=off,bury=off",
}
"""Held out, too: rule bots that lack a convention, each with a short name."""


MANY_GAMES: Final = ("--games", "10240")
"""For a network at one seat of four: as many decisions an update as at all seats of 2,048 games."""


def _beside(name: str, partner: str) -> Method:
    """Returns the method of the best partner of somebody held out, against the training set."""
    options = ("--partner", partner, "--opponents", "population:train", *MANY_GAMES)
    return Method(
        f"beside-{name}",
        "trained_partner",
        options,
        seeds=1,
        text=f"trained as a partner of `{partner}`",
    )


METHODS: Final = {
    one.name: one
    for one in (
        Method("selfplay", "train", text="self-play"),
        Method(
            "entropy",
            "train",
            ("--entropy", "0.05", "0.05", "--gae-lambda", "0.9"),
            text="self-play with a large entropy term to the end",
        ),
        Method(
            "snapshots",
            "train",
            seeds=2,
            snapshot_of="selfplay",
            text="`selfplay` after a quarter of its decisions: weaker players",
        ),
        Method(
            "otherplay",
            "train",
            ("--other-play",),
            text="self-play in which each seat has tiles of equal rules exchanged",
        ),
        Method(
            "offbelief",
            "validation",
            ("--off-belief",),
            text="returns from worlds of the rule constraints, so actions mean nothing beyond them",
        ),
        Method(
            "beside-heuristic",
            "validation",
            ("--partner", "heuristic"),
            text="trained as the partner of `heuristic`",
        ),
        Method(
            "token-private",
            "messages",
            _MUTED,
            InformationStructure(channel=MessageChannel(bits=2, audience="partner")),
            text="self-play with two bits for the partner; in half of the games one team is mute",
        ),
        Method(
            "token-public",
            "messages",
            _MUTED,
            InformationStructure(channel=MessageChannel(bits=2, audience="all")),
            text="the same with two bits that all hear",
        ),
        _beside("offbelief", "population:offbelief-0"),
        _beside("beside-heuristic", "population:beside-heuristic-0"),
        *(_beside(name, bot) for name, bot in VALIDATION_BOTS.items()),
    )
}
"""By name, in the order of the manifest."""
