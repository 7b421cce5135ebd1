"""Does the work of measures in pieces, and plans a study: what is played, and what is heard."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache, partial
from itertools import pairwise
from typing import Any, Final, NamedTuple, Self

from goita_agents.base import Policy
from goita_agents.beliefs import LEGAL_MODEL, OpponentModel, PolicyModel
from goita_agents.search.action_values import WORLDS
from goita_env.checks import check_seed
from goita_env.errors import SettingError
from goita_env.rules import JGA, Rules
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
from goita_lab.work import Runner

FORMAT: Final = "goita-signals-tasks-1"
"""Grows when the meaning of a kept result changes."""
PIECE: Final = 12
"""Deals of a piece of work."""
MOST_SHARE: Final = 100
LAST_SEED: Final = 3
"""Rounds for different uses are played under the plan's seed and the next ones, up to this one."""

TREE: Final = "tree"
"""Name of the model that takes a policy for a shallow tree of it."""

CONTROLS: Final = ("random", "greedy", "heuristic:conventions=off")
"""Agents without conventions: what they tell, skill and determinism tell."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What is random, and by which rules agents play."""

    seed: int = 0
    """seed of everything that is random"""
    rules: Rules = JGA

    def __post_init__(self) -> None:
        check_seed(self.seed)
        check_seed(self.seed + LAST_SEED)

    def arguments(self, **more: Any) -> dict[str, Any]:
        """Returns all that the results of every task depend on, as JSON."""
        return {**more, "format": FORMAT, "settings": asdict(self)}


STANDARD: Final = Settings()


class Work(NamedTuple):
    """Work on deals of some agents that is done in pieces."""

    name: str
    do: Callable[[str, int, int], Any]
    """Does a piece: an agent, its first deal and its number of deals; it can be pickled."""
    kind: Any
    """Type of a piece's result."""
    agents: Sequence[str]
    deals: int
    step: int
    """Deals of a piece; the last may have fewer, or one more: a single deal has no interval."""
    models: Sequence[str] = ()
    """Other agents on whose policies each piece depends: listeners take its agent for them."""


def in_pieces(
    work: Sequence[Work], arguments: Mapping[str, Any], runner: Runner
) -> dict[tuple[str, str], list[Any]]:
    """Does work in pieces and returns their results in order, by name of the work and agent.

    The agents come in turn: a stopped run has measured all of them alike. ``arguments``: all that
    results depend on but agents (``Settings.arguments``).
    """
    todo = {
        str((one.name, agent, first, after)): (one, agent, first, after - first)
        for one in work
        for first, after in pairwise([*range(0, max(one.deals - 1, 1), one.step), one.deals])
        for agent in one.agents
    }
    found = runner.run(
        _do,
        todo,
        lambda piece: piece[0].kind,
        arguments,
        agents=lambda piece: tuple(dict.fromkeys((piece[1], *piece[0].models))),
    )
    parts: dict[tuple[str, str], list[Any]] = {}
    for key, (one, agent, *_) in todo.items():
        parts.setdefault((one.name, agent), []).append(found[key])
    return parts


def _do(piece: tuple[Work, str, int, int]) -> Any:
    work, agent, first, deals = piece
    return work.do(agent, first, deals)


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
    models = standard_models(policy)
    played = play([policy], plan.rounds, seed=plan.seed + LAST_SEED, rules=plan.rules)
    if agent in plan.agents:
        tree = measures.fit_speaker(played, policy, seed=plan.seed)
        models |= {LEGAL: LEGAL_MODEL, TREE: PolicyModel(tree, 1.0)}
        models |= {other: PolicyModel(other) for other in plan.agents if other != agent}
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
    agents, controls = plan.agents, plan.other_controls
    work = [
        Work("value", partial(search, plan), SourcePoints, agents, plan.value_deals, PIECE, agents),
        Work("shuffle", partial(shuffle, plan), Shuffled, agents, plan.signals, PIECE),
        Work("listen", partial(hear, plan), Heard, agents, plan.deals, PIECE, agents),
        Work("listen", partial(hear, plan), Heard, controls, plan.deals, PIECE),
        Work("overhear", partial(overhear, plan), Heard, agents, plan.gap_deals, PIECE),
    ]
    found = in_pieces(work, plan.arguments(measure="report"), runner)
    return {key: type(parts[0]).join(parts) for key, parts in found.items()}
