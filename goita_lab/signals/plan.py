"""Plans a study of signals and does its work in pieces."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, Final, NamedTuple, Self

from goita_agents.beliefs import LEGAL_MODEL, OpponentModel, PolicyModel
from goita_agents.search.action_values import WORLDS
from goita_env.errors import SettingError
from goita_env.tiles import NUM_SEATS
from goita_lab.pieces import Runner
from goita_lab.signals import measures
from goita_lab.signals.listening import (
    LEGAL,
    POLICY,
    UNIFORM,
    ActionInformation,
    ListenerKnowledge,
    listen,
)
from goita_lab.signals.measures.explain import TreeAgent
from goita_lab.signals.measures.shuffled import Shuffled
from goita_lab.signals.measures.value import (
    ALL,
    LEGAL_ONLY,
    NONE,
    NOT_PARTNER,
    SOURCES,
    SourcePoints,
)
from goita_lab.signals.playing import Play, play
from goita_lab.signals.searching import InformationSources
from goita_lab.signals.settings import CONTROLS, Settings

PIECE: Final = 12
"""Deals of a piece of work."""
STAGES: Final = 4
"""Parts of the deals after which a kind of work may end early."""
LEAST: Final = 100
"""Deals before which none does."""
UNTIL_NATS: Final = 0.15
"""Half-width of intervals in nats with which a report is content."""
UNTIL_POINTS: Final = 2.0
"""The same in points."""
MOST_SHARE: Final = 100
SEARCHER: Final = "champion:search=on,carry=off"
"""The searcher that is shipped, without a memory."""

TREE: Final = "tree"
"""Name of the model that takes a policy for a shallow tree of it."""


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


WORK: Final[dict[str, Any]] = {
    "value": SourcePoints,
    "shuffle": Shuffled,
    "listen": Heard,
    "overhear": Heard,
}
"""Kinds of work that is done in pieces, and the types of their results; long pieces come first."""


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
    searcher: str | None = SEARCHER
    """Agent that plays in the listener's place, beside its searches; None: nobody."""
    until_nats: float = 0.0
    """Half-width at which an agent's listening ends before all deals (``narrow``); 0: never."""
    until_points: float = 0.0
    """The same of listening's value and of signals."""

    @property
    def other_controls(self) -> tuple[str, ...]:
        """Controls that are not among the agents."""
        return tuple(agent for agent in dict.fromkeys(self.controls) if agent not in self.agents)


def quick(agents: tuple[str, ...], **options: Any) -> StudyPlan:
    """Returns a plan of a few minutes for two agents; ``options``: other fields."""
    return StudyPlan(agents, 72, 16, 36, 48, 2_000, 256, **options)


def full(agents: tuple[str, ...], share: float = 1.0, **options: Any) -> StudyPlan:
    """Returns a plan of some two hours of a core for two agents.

    Raises:
        SettingError: if the share is not above 0.
    """
    if not 0 < share <= MOST_SHARE:
        raise SettingError(f"expected a share above 0, up to {MOST_SHARE}, got {share!r}")
    one, four, value, signals = (max(2, round(share * deals)) for deals in (600, 120, 840, 720))
    return StudyPlan(agents, one, four, value, signals, 20_000, 4_096, **options)


def many_rounds(plan: StudyPlan, agent: str) -> Play:
    """Plays the rounds behind tables, trees and the published measures."""
    return play([agent], plan.rounds, seed=plan.seed + 3, rules=plan.rules)


@cache
def _tree(plan: StudyPlan, agent: str) -> TreeAgent:
    return measures.fit_speaker(many_rounds(plan, agent), agent, seed=plan.seed)


def _models(plan: StudyPlan, agent: str) -> dict[str, OpponentModel]:
    found = plan.models(agent)
    if agent in plan.agents:
        found |= {LEGAL: LEGAL_MODEL, TREE: PolicyModel(_tree(plan, agent), 1.0, plan.epsilon)}
        others = [other for other in plan.agents if other != (plan.read_as or agent)]
        found |= {one: PolicyModel(one, plan.temperature, plan.epsilon) for one in others}
    return found


class Piece(NamedTuple):
    """A piece of work: ``deals`` deals from deal ``first`` on."""

    kind: str
    agent: str
    first: int
    deals: int


def pieces(plan: StudyPlan) -> Iterator[Piece]:
    sizes = plan.value_deals, plan.signals, plan.deals, plan.gap_deals
    for kind, many in zip(WORK, sizes, strict=True):
        for first in range(0, many, PIECE):
            for agent in plan.agents + (plan.other_controls if kind == "listen" else ()):
                yield Piece(kind, agent, first, min(PIECE, many - first))


def run(plan: StudyPlan, runner: Runner) -> dict[tuple[str, str], Any]:
    """Does the pieces and joins them by kind and agent.

    They are done in ``STAGES``. After each, the kinds of work end whose intervals are narrow
    enough, agent by agent: the rule looks at the width of intervals alone, and at deals in their
    order, so ``workers`` change no result.
    """
    todo: dict[tuple[str, str], list[Piece]] = {}
    for piece in pieces(plan):
        todo.setdefault((piece.kind, piece.agent), []).append(piece)
    named = plan.agents if plan.searcher is None else (*plan.agents, plan.searcher)
    arguments = plan.arguments(named, measure="report")
    found: dict[str, Any] = {}
    done: dict[tuple[str, str], list[Any]] = {key: [] for key in todo}
    for stage in range(1, STAGES + 1):
        now = {
            key: every[len(done[key]) : len(every) * stage // STAGES] for key, every in todo.items()
        }
        before, most = len(found), sum(map(len, todo.values()))

        def progress(_: str, many: int, __: int, before: int = before, most: int = most) -> None:
            runner.progress("pieces at most", before + many, most)

        some = {str(tuple(piece)): piece for piece in _in_turn(now)}
        stage_runner = replace(runner, progress=progress)
        found |= stage_runner.run(partial(_work, plan), some, _kind, arguments)
        for key, each in now.items():
            done[key] += [found[str(tuple(piece))] for piece in each]
            if each and narrow(plan, key[0], WORK[key[0]].join(done[key])):
                todo[key] = todo[key][: len(done[key])]
    return {key: WORK[key[0]].join(each) for key, each in done.items()}


def narrow(plan: StudyPlan, kind: str, found: Any) -> bool:
    """Tells whether intervals are so narrow that a kind of work ends early.

    Those of listening are knowledge of the partner's hand under the uniform model and policy
    information; of the value, what listening to all and to the partner gains; of signals, all
    three. Fewer than ``LEAST`` deals never do.
    """
    until = {"listen": plan.until_nats, "overhear": 0.0}.get(kind, plan.until_points)
    deals = len(found.play.round) if isinstance(found, Heard) else found.points.shape[1]
    if not until or deals < LEAST:
        return False
    if kind == "listen":
        split = measures.information_gain_split(found.play, found.knowledge)
        intervals = [split.uniform, split.policy]
    elif kind == "value":
        gains = (ALL, NONE), (ALL, LEGAL_ONLY), (ALL, None), (ALL, NOT_PARTNER)
        intervals = [found.gain(*pair) for pair in gains]
    else:
        intervals = [found.information, found.material, found.misinformation]
    return all(one.high - one.low <= 2 * until for one in intervals)


def _in_turn(todo: Mapping[tuple[str, str], Sequence[Piece]]) -> list[Piece]:
    """Returns pieces kind by kind, the agents in turn."""
    return sorted(
        (piece for some in todo.values() for piece in some),
        key=lambda piece: (list(WORK).index(piece.kind), piece.first),
    )


def _kind(piece: Piece) -> Any:
    return WORK[piece.kind]


def _work(plan: StudyPlan, piece: Piece) -> Any:
    kind, agent, first, deals = piece
    if kind == "value":
        models = _models(plan, agent)
        wrong = (InformationSources(POLICY, name, POLICY) for name in models)
        sources = tuple(dict.fromkeys((*SOURCES, *wrong)))
        options: dict[str, Any] = {"seed": plan.seed, "rules": plan.rules, "worlds": plan.worlds}
        return measures.play_listening(
            agent, models, deals, sources=sources, searcher=plan.searcher, first=first, **options
        )
    seed = plan.seed + ("listen", "overhear", "shuffle").index(kind)
    played = play([agent], deals, seed=seed, rules=plan.rules, first=first)
    if kind == "listen":
        # The report says what actions tell under these two; the other models only read hands.
        heard = listen(played, _models(plan, agent), told=(POLICY, UNIFORM))
        return Heard(played, *heard)
    model = plan.models(agent)[POLICY]
    if kind == "overhear":
        heard = listen(played, {POLICY: model}, listeners=range(NUM_SEATS), known=False)
        return Heard(played, *heard)
    return measures.shuffled_signal(played, model, agent, seed=first, worlds=plan.worlds)
