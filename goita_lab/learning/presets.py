"""Lists the settings of a training, by how long it may take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from math import inf
from typing import Any, Final, Self

from goita_agents.bots.network_file import MAX_BYTES

from goita_env.errors import SettingError


@dataclass(frozen=True)
class TrainingSettings:
    """Holds how much is learnt from, and how; the options of ``goita train`` explain each."""

    decisions: int
    games: int
    steps: int
    epochs: int
    batch: int
    layers: tuple[int, ...]
    lr: tuple[float, float]
    entropy: tuple[float, float]
    gae_lambda: float
    clip: float
    sample_fraction: float
    pool_share: float
    snapshot_every: int
    measure_deals: int
    save_every: int

    def __post_init__(self) -> None:
        whole = ("games", "steps", "epochs", "batch", "snapshot_every", "save_every")
        checks = [
            *((name, getattr(self, name) >= 1, "of at least 1") for name in whole),
            # With fewer a training is over before anything is learnt.
            (
                "decisions",
                self.decisions >= self.games * self.steps,
                "of at least games times steps",
            ),
            ("clip", 0 < self.clip < inf, "above 0"),
            ("gae_lambda", 0 <= self.gae_lambda <= 1, "from 0 to 1"),
            ("sample_fraction", 0 < self.sample_fraction <= 1, "above 0 and at most 1"),
            ("lr", _is_range(self.lr), "as two numbers of at least 0"),
            ("entropy", _is_range(self.entropy), "as two numbers of at least 0"),
        ]
        for name, fine, wanted in checks:
            if not fine:
                raise SettingError(f"expected {name} {wanted}, got {getattr(self, name)!r}")
        check_widths("layers", self.layers)

    def changed(self, given: Mapping[str, Any]) -> Self:
        """Returns these settings with those that are given; None counts as not given."""
        names = [f.name for f in fields(self)]
        return replace(self, **{n: given[n] for n in names if given.get(n) is not None})


def _is_range(numbers: Sequence[float]) -> bool:
    return len(numbers) == 2 and all(0 <= number < inf for number in numbers)


def check_widths(what: str, widths: Sequence[int]) -> None:
    """Checks that there are layers, all with a width, whose file would be read again."""
    if min(widths, default=0) < 1:
        raise SettingError(f"expected {what} of at least 1, got {widths!r}")
    if sum(first * second for first, second in pairwise((*widths, 1))) > MAX_BYTES // 4:
        raise SettingError(f"expected {what} of {MAX_BYTES:,} bytes at most, got {widths!r}")


_QUICK: Final = TrainingSettings(
    decisions=20_500_000,
    games=2048,
    steps=32,
    epochs=2,
    batch=4096,
    layers=(128, 128, 128),
    lr=(3e-3, 5e-5),
    entropy=(0.05, 0.01),
    gae_lambda=0.9,
    clip=0.2,
    sample_fraction=0.2,
    pool_share=0.0,
    snapshot_every=2_400_000,
    measure_deals=512,
    save_every=2_400_000,
)

_STANDARD: Final = replace(
    _QUICK,
    decisions=100_000_000,
    layers=(256, 256, 256),
    lr=(1e-3, 2e-5),
    entropy=(0.05, 0.002),
    snapshot_every=5_000_000,
    measure_deals=1024,
    save_every=2_500_000,
)

_CRITIC: Final = (256, 256, 256)

_CHAMPION: Final = replace(_STANDARD, games=4096)

PRESETS: Final = {"quick": _QUICK, "standard": _STANDARD, "champion": _CHAMPION}
"""By name: four minutes on two cores; an hour; hours on one core."""

PLAYERS: Final[dict[str, dict[str, tuple[Any, ...]]]] = {
    "standard": {"critic": _CRITIC},
    "champion": {
        "critic": _CRITIC,
        "partners": ("2*self", "population:train"),
        "opponents": ("2*self", "population:train", "heuristic"),
        "against": ("heuristic", "champion"),
    },
}
"""By name of the preset: options of its critic, its players and who measures it."""
