"""Names the partners and opponents of the benchmark, in no other file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from goita_agents.population import Split
from goita_agents.population.manifest import INFORMATION, MOST_SEED, VALIDATION_BOTS, shipped
from goita_agents.registry import check_names, plain_text
from goita_env.errors import SettingError
from goita_env.information import PLAIN, InformationStructure


@dataclass(frozen=True)
class Partner:
    """A partner."""

    spec: str  #: Its text, as ``load_agent`` takes it.
    information: InformationStructure = PLAIN  #: The game that it plays: messages and shown tiles.
    counted: bool = True  #: Means over partners include it; otherwise it only has a row.

    def at_table(self, spec: str, *, speaks: bool = False) -> str:
        """Returns the text of another agent as it sits at this partner's table.

        In a game with messages the agent is deaf and silent, unless it ``speaks`` or is the partner
        itself.
        """
        if self.information == PLAIN or speaks or spec == self.spec:
            return spec
        return plain_text(spec)


@dataclass(frozen=True)
class CoordinationTask:
    """A task: the partners and the opponents of an agent."""

    partners: tuple[Partner, ...]
    opponents: tuple[str, ...]
    """Texts of the opponents; the same agent plays both seats of the other team."""
    name: str = ""
    """Name of a task of the project, whose figures may be entered; empty: a user's task."""

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
        partners = (partner.spec for partner in self.partners)
        return list(dict.fromkeys([*partners, *self.opponents]))

    def against(self, partner: Partner) -> tuple[str, ...]:
        """Returns the opponents next to a partner: those of the task, and copies of the partner.

        The copies eavesdrop: they know how the partner plays, and what its messages mean.
        """
        return (*(spec for spec in self.opponents if spec != partner.spec), partner.spec)


OPPONENTS: Final = tuple(
    f"population:{method}-{seed}" for method in ("offbelief", "beside-heuristic") for seed in (6, 7)
)

PEOPLE: Final = "people"
"""Text of the model of people, whose row no mean includes."""


def members(split: Split) -> list[Partner]:
    """Returns the members of a split as partners; of some methods only the first runs."""
    return [
        Partner(member.agent, INFORMATION.get(member.method, PLAIN))
        for member in shipped().members.values()
        if member.split == split and member.seed < _RUNS.get(member.method, MOST_SEED + 1)
    ]


_RUNS: Final = {"offbelief": 3, "beside-heuristic": 3}
"""Number of runs of these methods that are partners; of other methods all runs are."""

VALIDATION: Final = CoordinationTask(
    partners=(
        *members("validation"),
        *(Partner(spec) for spec in VALIDATION_BOTS.values()),
        Partner(PEOPLE, counted=False),
    ),
    opponents=OPPONENTS,
    name="validation",
)
"""The task during development. An entrant is neither trained with these agents nor selected only by
its results with them."""


def test_task() -> CoordinationTask:
    """Returns the task of the final table, with partners that no earlier measurement used."""
    return CoordinationTask(tuple(members("test")), OPPONENTS, "test")
