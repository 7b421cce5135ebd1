"""Names the partners and opponents of the benchmark. No other file does."""

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
    information: InformationStructure = PLAIN  #: The game that it plays: messages, and who hears.
    counted: bool = True  #: It counts in the means over partners; otherwise it has its row alone.

    def at_table(self, spec: str, *, speaks: bool = False) -> str:
        """Returns the text of another agent as it sits at this partner's table.

        In a game with messages it is deaf and silent, unless it ``speaks`` or is the partner.
        """
        if self.information == PLAIN or speaks or spec == self.spec:
            return spec
        return plain_text(spec)


@dataclass(frozen=True)
class CoordinationTask:
    """A task: whom an agent plays with, and against."""

    partners: tuple[Partner, ...]
    opponents: tuple[str, ...]
    """Texts of the opponents; both seats of the other team are played by the same one."""
    name: str = ""
    """Of a task that the project defines: its figures may be entered; empty: one of your own."""

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
        partners = (one.spec for one in self.partners)
        return list(dict.fromkeys([*partners, *self.opponents]))

    def against(self, partner: Partner) -> tuple[str, ...]:
        """Returns the opponents beside a partner: the task's, and two copies of the partner itself.

        The copies eavesdrop: they know how the partner plays, and what messages mean that they
        observe.
        """
        return (*(one for one in self.opponents if one != partner.spec), partner.spec)


OPPONENTS: Final = tuple(
    f"population:{method}-{seed}" for method in ("offbelief", "beside-heuristic") for seed in (6, 7)
)

PEOPLE: Final = "people"
"""Text of the model of people, which has a row of its own."""


def members(split: Split) -> list[Partner]:
    """Returns the members of a split as partners; of some methods the first runs alone."""
    return [
        Partner(one.agent, INFORMATION.get(one.method, PLAIN))
        for one in shipped().members.values()
        if one.split == split and one.seed < _RUNS.get(one.method, MOST_SEED + 1)
    ]


_RUNS: Final = {"offbelief": 3, "beside-heuristic": 3}
"""Runs of these methods that are partners; of others all are."""

VALIDATION: Final = CoordinationTask(
    partners=(
        *members("validation"),
        *(Partner(spec) for spec in VALIDATION_BOTS.values()),
        Partner(PEOPLE, counted=False),
    ),
    opponents=OPPONENTS,
    name="validation",
)
"""The task while agents are made. An entrant is neither trained on these agents nor chosen by them
alone."""


def test_task() -> CoordinationTask:
    """Returns the task of the final table, whose partners nobody measured anything with before."""
    return CoordinationTask(tuple(members("test")), OPPONENTS, "test")
