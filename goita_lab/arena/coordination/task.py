"""Names the partners and opponents of the benchmark. No other file does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from goita_agents.population import VALIDATION_BOTS
from goita_agents.registry import check_names
from goita_env.errors import SettingError


@dataclass(frozen=True)
class Partner:
    """A partner, and what it is compared with."""

    spec: str  #: Its text, as ``load_agent`` takes it.
    group: str = "own"  #: Partners of one method; they share rows of the report.
    trained_partner: str | None = None
    """Text of an agent that was trained beside this partner; None: there is none."""
    counted: bool = True  #: It counts in the means over partners; otherwise it has its row alone.


@dataclass(frozen=True)
class CoordinationTask:
    """A task: whom an agent plays with, and against.

    Raises:
        SettingError: if there are no counted partners or no opponents, or one is named twice.
        AgentError: if two agents have the same name.
    """

    partners: tuple[Partner, ...]
    opponents: tuple[str, ...]
    """Texts of the opponents; both seats of the other team are played by the same one."""

    def __post_init__(self) -> None:
        if not any(partner.counted for partner in self.partners):
            raise SettingError(f"expected a partner or more, got {self.partners!r}")
        if not self.opponents:
            raise SettingError("expected an opponent or more, got none")
        for texts in ([partner.spec for partner in self.partners], self.opponents):
            if twice := [text for text in dict.fromkeys(texts) if list(texts).count(text) > 1]:
                raise SettingError(f"expected each partner and opponent once, got twice: {twice!r}")
        check_names(self.specs)

    @property
    def specs(self) -> list[str]:
        """The text of every agent once, in order."""
        trained = (one.trained_partner for one in self.partners if one.trained_partner is not None)
        partners = (one.spec for one in self.partners)
        return list(dict.fromkeys([*partners, *self.opponents, *trained]))


METHODS: Final = ("offbelief", "beside-heuristic")
"""Methods of training whose networks are held out."""

PARTNER_SEEDS: Final = range(6)

OPPONENT_SEEDS: Final = range(6, 8)

PEOPLE: Final = "people"
"""Text of the model of people, which has a row of its own."""


def _trained_partner(name: str) -> str:
    """Returns the text of the network that was trained beside a partner."""
    return f"population:beside-{name}-0"


VALIDATION: Final = CoordinationTask(
    partners=(
        *(
            Partner(
                f"population:{method}-{seed}", method, None if seed else _trained_partner(method)
            )  # one network a method was trained beside a partner: beside the first seed
            for method in METHODS
            for seed in PARTNER_SEEDS
        ),
        *(
            Partner(spec, "constructed", _trained_partner(name))
            for name, spec in VALIDATION_BOTS.items()
        ),
        Partner(PEOPLE, "people", counted=False),
    ),
    opponents=tuple(f"population:{method}-{seed}" for method in METHODS for seed in OPPONENT_SEEDS),
)
"""The benchmark. An entrant is neither trained on these agents nor chosen by them.

In this repository only the trained partners are trained with them. The champion's trainings
watched the opponents and the variants of ``heuristic``, and its last parts were planned from that.
"""
