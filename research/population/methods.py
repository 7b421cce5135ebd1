"""Lists the methods by which the members of the population were trained, and how they are split."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from goita_agents.population import Split
from goita_agents.population.manifest import INFORMATION
from goita_env.information import PLAIN, InformationStructure
from goita_env.tiles import DIGITS

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
    """Options of ``goita train`` in addition to ``COMMON``."""
    information: InformationStructure = PLAIN
    """Options of the game: tiles shown and messages."""
    seeds: int = SEEDS
    """Number of runs; their seeds count from 0."""
    snapshot_of: str = ""
    """A method whose runs are taken after a quarter of their decisions, without a training."""
    prefers: bool = False
    """Its runs are rewarded for plays that are drawn by their seed (``preferences``)."""

    @property
    def decisions(self) -> int:
        return DECISIONS // 4 if self.snapshot_of else DECISIONS

    def options_of(self, seed: int) -> tuple[str, ...]:
        """Returns a run's options of ``goita train``, without seed and ``information``."""
        preferred = ("--prefer", *preferences(seed)) if self.prefers else ()
        return (*COMMON, *self.options, *preferred)


def preferences(seed: int) -> tuple[str, ...]:
    """Returns a run's rewards in addition to the points, as ``--prefer`` takes them.

    A pass, plays with a block of each kind and with an attack of each kind earn points from normal
    distributions of standard deviation 1, 3 and 3, rounded to halves.
    """
    rng = np.random.default_rng(seed)
    plays = ["p", *(f"{kind}x" for kind in DIGITS), *(f"x{kind}" for kind in DIGITS)]
    points = rng.normal(size=len(plays)) * np.where(np.array(plays) == "p", 1.0, 3.0)
    return tuple(
        f"{play}:{half / 2:g}" for play, half in zip(plays, np.rint(2 * points), strict=True)
    )


_AUDIENCES: Final = ("private", "public")
"""Audience of messages: the partner, or all seats."""


def _with_messages(name: str, split: Split, seeds: int = SEEDS) -> Method:
    """Returns self-play with messages, which are free; in half of the games one team is mute."""
    return Method(name, split, ("--mute-share", "0.5"), INFORMATION[name], seeds)


_MAGNET: Final = (
    *("--entropy", "0", "0", "--kl", "0.2", "--refresh", "1", "--refresh-share", "0.05"),
)

METHODS: Final = {
    method.name: method
    for method in (
        Method("selfplay", "train"),
        Method("entropy", "train", ("--entropy", "0.05", "0.05", "--gae-lambda", "0.9")),
        Method("snapshots", "train", seeds=2, snapshot_of="selfplay"),
        Method("otherplay", "train", ("--other-play",)),
        Method("offbelief", "validation", ("--off-belief",)),
        Method("beside-heuristic", "validation", ("--partner", "heuristic")),
        _with_messages("token-private", "messages"),
        _with_messages("token-public", "messages"),
        *(
            _with_messages(f"{audience}-{bits}", "validation", 1)
            for audience in _AUDIENCES
            for bits in (1, 3)
        ),
        Method("preferring", "validation", seeds=2, prefers=True),
        Method("test-magnet", "test", _MAGNET, seeds=2),
        *(
            _with_messages(f"test-{audience}-{bits}", "test", 1 if bits == 3 else 2)
            for audience in _AUDIENCES
            for bits in (1, 2, 3)
        ),
        Method("test-preferring", "test", seeds=3, prefers=True),
    )
}
"""By name, in the order of the manifest. docs/population.md describes each method."""
