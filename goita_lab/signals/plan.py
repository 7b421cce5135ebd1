"""Plans a study of signals and does its work in pieces: what is played, and what is heard of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Final, Self

from goita_agents.base import Policy
from goita_agents.beliefs import LEGAL_MODEL, OpponentModel, PolicyModel
from goita_agents.search.action_values import WORLDS
from goita_env.errors import SettingError
from goita_env.tiles import NUM_SEATS
from goita_lab.signals import measures
from goita_lab.signals.listening import (
    LEGAL,
    POLICY,
    UNIFORM,
    ActionInformation,
    ListenerKnowledge,
    listen,
    standard_models,
)
from goita_lab.signals.measures.shuffled import Shuffled
from goita_lab.signals.measures.value import SOURCES, SourcePoints
from goita_lab.signals.playing import Play, load_policy, play
from goita_lab.signals.searching import InformationSources
from goita_lab.signals.settings import CONTROLS, Settings, Work, in_pieces
from goita_lab.work import Runner

PIECE: Final = 12
"""Deals of a piece of work."""
MOST_SHARE: Final = 100

TREE: Final = "tree"
"""Name of the model that takes a policy for a shallow tree of it."""


@dataclass(frozen=True)
class StudyPlan(Settings):
    """What is studied: all that the results depend on."""

    agents: tuple[str, ...]
    deals: int
    """Deals with one listener."""
    gap_deals: int
    """Deals with four listeners."""
    value_deals: int
    """Deals that are played with each of the sources of information."""
    signals: int
    """Signals that are shuffled, one a deal."""
    rounds: int
    """Rounds behind the published measures, tables and trees."""
    cross_play_deals: int
    """Deals of every pair of partners."""
    worlds: int = WORLDS
    """Most worlds of a searched decision."""
    controls: tuple[str, ...] = CONTROLS
    """Policies that are measured without searches."""

    @property
    def other_controls(self) -> tuple[str, ...]:
        """Controls that are not among the agents."""
        return tuple(agent for agent in dict.fromkeys(self.controls) if agent not in self.agents)


def quick(agents: tuple[str, ...], **options: Any) -> StudyPlan:
    """Returns a plan of a few minutes for two agents; ``options``: other fields."""
    return StudyPlan(agents, 72, 16, 36, 48, 2_000, 256, **options)


def full(agents: tuple[str, ...], share: float = 1.0, **options: Any) -> StudyPlan:
    """Returns a plan of some 20 minutes of a core for two agents.

    Raises:
        SettingError: if the share is not above 0.
    """
    if not 0 < share <= MOST_SHARE:
        raise SettingError(f"expected a share above 0, up to {MOST_SHARE}, got {share!r}")
    one, four, value, signals = (max(2, round(share * deals)) for deals in (300, 120, 420, 540))
    return StudyPlan(agents, one, four, value, signals, 20_000, 4_096, **options)


@dataclass(frozen=True)
class Speaker:
    """An agent that is studied, loaded once."""

    agent: str
    policy: Policy
    played: Play
    """The rounds behind the published measures, tables and trees."""
    models: dict[str, OpponentModel]
    """What listeners take it for, by name."""


@cache
def speaker(plan: StudyPlan, agent: str) -> Speaker:
    """Returns an agent of a plan, in each process the same."""
    policy = load_policy(agent)
    models, others = standard_models(policy), dict[str, OpponentModel]()
    if agent in plan.agents:
        others = {other: PolicyModel(other) for other in plan.agents if other != agent}
    played = play([policy], plan.rounds, seed=plan.seed + 3, rules=plan.rules)
    if agent in plan.agents:
        tree = measures.fit_speaker(played, policy, seed=plan.seed)
        models |= {LEGAL: LEGAL_MODEL, TREE: PolicyModel(tree, 1.0), **others}
    return Speaker(agent, policy, played, models)


@dataclass(frozen=True)
class Heard:
    """A play and what exact listeners heard of it."""

    play: Play
    actions: ActionInformation
    knowledge: ListenerKnowledge

    @classmethod
    def join(cls, parts: Sequence[Self]) -> Self:
        plays = [part.play for part in parts]
        actions = ActionInformation.join([part.actions for part in parts], plays)
        knowledge = ListenerKnowledge.join([part.knowledge for part in parts], plays)
        return cls(Play.join(plays), actions, knowledge)


def search(plan: StudyPlan, agent: str, first: int, deals: int) -> SourcePoints:
    """Plays deals with a seat that searches, by each choice of what it listens to."""
    of = speaker(plan, agent)
    wrong = (InformationSources(POLICY, name, POLICY) for name in of.models)
    return measures.play_listening(
        of.policy,
        of.models,
        deals,
        sources=tuple(dict.fromkeys((*SOURCES, *wrong))),
        seed=plan.seed,
        rules=plan.rules,
        worlds=plan.worlds,
        first=first,
    )


def shuffle(plan: StudyPlan, agent: str, first: int, deals: int) -> Shuffled:
    """Plays deals in which one signal is read in several ways."""
    of = speaker(plan, agent)
    played = play([of.policy], deals, seed=plan.seed + 2, rules=plan.rules, first=first)
    model = of.models[POLICY]
    return measures.shuffled_signal(played, model, of.policy, seed=first, worlds=plan.worlds)


def hear(plan: StudyPlan, agent: str, first: int, deals: int) -> Heard:
    """Plays deals with one listener, who has each model."""
    of = speaker(plan, agent)
    played = play([of.policy], deals, seed=plan.seed, rules=plan.rules, first=first)
    # The report says what actions tell under these two; the other models only read hands.
    return Heard(played, *listen(played, of.models, told=(POLICY, UNIFORM)))


def overhear(plan: StudyPlan, agent: str, first: int, deals: int) -> Heard:
    """Plays deals with listeners at all seats."""
    of = speaker(plan, agent)
    played = play([of.policy], deals, seed=plan.seed + 1, rules=plan.rules, first=first)
    models = {POLICY: of.models[POLICY]}
    return Heard(played, *listen(played, models, listeners=range(NUM_SEATS), known=False))


def run(plan: StudyPlan, runner: Runner) -> dict[tuple[str, str], Any]:
    """Does the work of a plan and joins it by name and agent; long pieces come first."""
    agents, everyone = plan.agents, plan.agents + plan.other_controls
    work = [
        Work("value", partial(search, plan), SourcePoints, agents, plan.value_deals, PIECE),
        Work("shuffle", partial(shuffle, plan), Shuffled, agents, plan.signals, PIECE),
        Work("listen", partial(hear, plan), Heard, everyone, plan.deals, PIECE),
        Work("overhear", partial(overhear, plan), Heard, agents, plan.gap_deals, PIECE),
    ]
    found = in_pieces(work, plan.arguments(agents, measure="report"), runner)
    return {key: type(parts[0]).join(parts) for key, parts in found.items()}
