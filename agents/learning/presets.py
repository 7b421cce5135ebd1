"""Lists the settings of a training that depend on how long it may take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from math import inf
from typing import Any, Final, Self

from goita_env.errors import SettingError


@dataclass(frozen=True)
class Settings:
    """Holds how much is learnt from, and how.

    Raises:
        SettingError: if a number is out of its range.
    """

    decisions: int
    """Decisions with a choice to learn from."""
    games: int
    """Games that are played side by side."""
    steps: int
    """Steps of all games between two updates."""
    epochs: int
    """Times that an update goes through its decisions."""
    batch: int
    """Decisions in a minibatch."""
    layers: tuple[int, ...]
    """Widths of the layers that policy and value share."""
    lr: tuple[float, float]
    """Learning rate at the beginning and at the end."""
    entropy: tuple[float, float]
    """Weight of the entropy at the beginning and at the end."""
    gae_lambda: float
    """Weight of the decisions further on in advantages."""
    clip: float
    """How far an update may move the ratio of new to old probability from 1."""
    keep: float
    """Share of the decisions of average size that an update learns from, drawn so that the mean
    gradient is that of all; 1: all of them."""
    pool_share: float
    """Share of the games in which one team is played by a frozen opponent."""
    snapshot_every: int
    """Decisions between two snapshots, which are measured."""
    measure_deals: int
    """Deals of a measurement against one opponent."""
    save_every: int
    """Decisions between two checkpoints."""

    def __post_init__(self) -> None:
        """Checks the ranges."""
        for name in ("games", "steps", "epochs", "batch", "snapshot_every", "save_every"):
            if getattr(self, name) < 1:
                raise SettingError(f"expected {name} of at least 1, got {getattr(self, name)!r}")
        smallest = self.games * self.steps
        if self.decisions < smallest:
            raise SettingError(
                f"expected at least {smallest} decisions (games times steps: fewer are over before "
                f"anything is learnt), got {self.decisions!r}"
            )
        if not 0 < self.clip < inf:
            raise SettingError(f"expected clip above 0, got {self.clip!r}")
        if not 0 <= self.gae_lambda <= 1:
            raise SettingError(f"expected gae_lambda from 0 to 1, got {self.gae_lambda!r}")
        if not 0 < self.keep <= 1:
            raise SettingError(f"expected keep above 0 and at most 1, got {self.keep!r}")
        check_widths("layers", self.layers)
        if len(self.lr) != 2 or len(self.entropy) != 2:
            found = f"{self.lr!r} and {self.entropy!r}"
            raise SettingError(f"expected two numbers for lr and two for entropy, got {found}")
        for name in ("lr", "entropy"):
            if not all(0 <= number < inf for number in getattr(self, name)):
                raise SettingError(f"expected {name} of at least 0, got {getattr(self, name)!r}")

    def changed(self, given: Mapping[str, Any]) -> Self:
        """Returns these settings with those that are given; None counts as not given."""
        names = [f.name for f in fields(self)]
        found: dict[str, Any] = {n: given[n] for n in names if given.get(n) is not None}
        for name in ("layers", "lr", "entropy"):
            if name in found:
                found[name] = tuple(found[name])
        return replace(self, **found)


def check_widths(what: str, widths: Sequence[int]) -> None:
    """Checks the widths of a network's layers.

    Raises:
        SettingError: if there is none, or one of nothing.
    """
    if min(widths, default=0) < 1:
        raise SettingError(f"expected {what} of at least 1, got {widths!r}")


PRESETS: Final = {
    "quick": Settings(
        decisions=12_000_000,
        games=2048,
        steps=32,
        epochs=2,
        batch=4096,
        layers=(256, 256, 256),
        lr=(1.5e-3, 5e-5),
        entropy=(0.012, 0.001),
        gae_lambda=0.95,
        clip=0.2,
        keep=0.2,
        pool_share=0.25,
        snapshot_every=1_500_000,
        measure_deals=512,
        save_every=1_500_000,
    ),
    "standard": Settings(
        decisions=120_000_000,
        games=2048,
        steps=32,
        epochs=2,
        batch=4096,
        layers=(384, 384, 384),
        lr=(1.2e-3, 3e-5),
        entropy=(0.03, 0.001),
        gae_lambda=0.7,
        clip=0.2,
        keep=0.2,
        pool_share=0.25,
        snapshot_every=5_000_000,
        measure_deals=1024,
        save_every=5_000_000,
    ),
    "long": Settings(
        decisions=700_000_000,
        games=2048,
        steps=32,
        epochs=2,
        batch=4096,
        layers=(512, 512, 512),
        lr=(1e-3, 2e-5),
        entropy=(0.03, 0.001),
        gae_lambda=0.7,
        clip=0.2,
        keep=0.2,
        pool_share=0.25,
        snapshot_every=10_000_000,
        measure_deals=2048,
        save_every=5_000_000,
    ),
}
"""By name: about four minutes and an hour on two cores with fast bfloat16, and most of a night."""
