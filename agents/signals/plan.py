"""Plans a study of signals and does its work in pieces, which a file keeps as they end.

A file of pieces may be somebody else's: ``agents.parts`` checks types, ``check`` shapes and bounds.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

import goita_env
from agents.beliefs import LEGAL_MODEL, OpponentModel, PolicyModel
from agents.parts import Parts, pack, unpack
from agents.registry import content_hash
from agents.search.evaluate import WORLDS
from agents.signals import measures
from agents.signals.listening import (
    LEGAL,
    POLICY,
    ActionInformation,
    ListenerKnowledge,
    listen,
    standard_models,
)
from agents.signals.measures.explain import TreeAgent
from agents.signals.measures.shuffled import VARIANTS, Shuffled
from agents.signals.measures.value import SOURCES, SourcePoints
from agents.signals.playing import BY_DEAL, BY_DECISION, Play, Shapes, play
from agents.signals.searching import InformationSources
from agents.tournament.workers import on_processes
from goita_env.actions import NUM_ACTIONS
from goita_env.errors import SettingError
from goita_env.rules import JGA, Rules
from goita_env.tiles import NUM_SEATS

PIECE: Final = 12
"""Deals of a piece of work."""
MOST_SHARE: Final = 100
CONTROLS: Final = ("random", "greedy", "heuristic:conventions=off")
"""Agents without conventions: what they tell, skill and determinism tell."""

TREE: Final = "tree"
"""Name of the model that takes a policy for a shallow tree of it."""


@dataclass(frozen=True)
class StudyPlan:
    """Says what is studied: all that the results depend on."""

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
    temperature: float | None = None
    """Temperature of the listeners' models, as their epsilon; None: as the agents play."""
    epsilon: float = 0.02
    seed: int = 0
    rules: Rules = JGA
    controls: tuple[str, ...] = CONTROLS
    """Policies that are measured without searches."""

    def model(self, agent: str) -> PolicyModel:
        return PolicyModel(agent, self.temperature, self.epsilon)

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


@dataclass(frozen=True)
class Heard:
    """Holds a play and what exact listeners heard of it."""

    play: Play
    actions: ActionInformation
    knowledge: ListenerKnowledge

    @classmethod
    def join(cls, parts: Sequence[Self]) -> Self:
        plays = [part.play for part in parts]
        actions = ActionInformation.join([part.actions for part in parts], plays)
        knowledge = ListenerKnowledge.join([part.knowledge for part in parts], plays)
        return cls(Play.join(plays), actions, knowledge)


def many_rounds(plan: StudyPlan, agent: str) -> Play:
    """Plays the rounds behind tables, trees and the published measures."""
    return play([agent], plan.rounds, seed=plan.seed + 3, rules=plan.rules)


@cache
def _tree(plan: StudyPlan, agent: str) -> TreeAgent:
    return measures.fit_speaker(many_rounds(plan, agent), agent, seed=plan.seed)


def _models(plan: StudyPlan, agent: str) -> dict[str, OpponentModel]:
    found = standard_models(agent, plan.temperature, plan.epsilon)
    if agent in plan.agents:
        found |= {LEGAL: LEGAL_MODEL, TREE: PolicyModel(_tree(plan, agent), 1.0, plan.epsilon)}
        found |= {other: plan.model(other) for other in plan.agents if other != agent}
    return found


class Piece(NamedTuple):
    """Names a piece of work: ``deals`` deals from deal ``first`` on."""

    kind: str
    agent: str
    first: int
    deals: int


WORK: Final[dict[str, Any]] = {
    "value": SourcePoints,
    "shuffle": Shuffled,
    "listen": Heard,
    "overhear": Heard,
}
"""Kinds of work that is done in pieces, and the types of their results; long pieces come first."""


def pieces(plan: StudyPlan) -> Iterator[Piece]:
    sizes = plan.value_deals, plan.signals, plan.deals, plan.gap_deals
    for kind, many in zip(WORK, sizes, strict=True):
        for first in range(0, many, PIECE):
            for agent in plan.agents + (plan.other_controls if kind == "listen" else ()):
                yield Piece(kind, agent, first, min(PIECE, many - first))


def run(
    plan: StudyPlan, workers: int, progress: Callable[[str], None], file: Path | None
) -> dict[tuple[str, str], Any]:
    """Does all pieces, which ``file`` keeps as they end, and joins them by kind and agent."""
    done: dict[Piece, Any] = dict.fromkeys(pieces(plan))
    with nullcontext() if file is None else _open(file, plan) as parts:
        for number, (piece, result) in enumerate(_worked(plan, list(done), workers, parts), 1):
            done[piece] = result
            progress(f"{number} of {len(done)} pieces")
    results: dict[tuple[str, str], list[Any]] = {}
    for piece, result in done.items():
        results.setdefault((piece.kind, piece.agent), []).append(result)
    return {key: WORK[key[0]].join(found) for key, found in results.items()}


def _worked(
    plan: StudyPlan, every: Iterable[Piece], workers: int, parts: Parts | None
) -> Iterator[tuple[Piece, Any]]:
    # Every result has been packed, so that one that was kept is the same to the last bit.
    missing = []
    for piece in every:
        if parts is None or (key := json.dumps(piece)) not in parts.found:
            missing.append(piece)
        else:
            yield piece, parts.value(key, WORK[piece.kind], partial(check, deals=piece.deals))
    for piece, packed in on_processes(partial(_work, plan), missing, workers):
        if parts is not None:
            parts.add(json.dumps(piece), packed)
        yield piece, unpack(packed, WORK[piece.kind])


def _work(plan: StudyPlan, piece: Piece) -> tuple[Piece, bytes]:
    kind, agent, first, deals = piece
    if kind == "value":
        models = _models(plan, agent)
        wrong = (InformationSources(POLICY, name, POLICY) for name in models)
        sources = tuple(dict.fromkeys((*SOURCES, *wrong)))
        options: dict[str, Any] = {"seed": plan.seed, "rules": plan.rules, "worlds": plan.worlds}
        found = measures.play_listening(
            agent, models, deals, sources=sources, first=first, **options
        )
        return piece, pack(found)
    seed = plan.seed + ("listen", "overhear", "shuffle").index(kind)
    played = play([agent], deals, seed=seed, rules=plan.rules, first=first)
    if kind == "listen":
        return piece, pack(Heard(played, *listen(played, _models(plan, agent))))
    model = plan.model(agent)
    if kind == "overhear":
        heard = listen(played, {POLICY: model}, listeners=range(NUM_SEATS))
        return piece, pack(Heard(played, *heard))
    value = measures.shuffled_signal(played, model, agent, seed=first, worlds=plan.worlds)
    return piece, pack(value)


def _open(file: Path, plan: StudyPlan) -> Parts:
    """Opens a file of pieces; those of other code, other weights or another plan are dropped."""
    if file.is_dir():
        raise SettingError(f"expected a file, got {str(file)!r}, a folder of version 0.2.0")
    files = {agent: content_hash(agent) for agent in plan.agents}
    return Parts(file, "parts of a study", {"plan": asdict(plan), "files": files, "code": code()})


def code() -> str:
    """Returns a digest of all code and weights of the project, on which results depend."""
    digest = sha256()
    for folder in (Path(__file__).parents[1], Path(goita_env.__file__).parent):
        for file in sorted(folder.rglob("*")):
            if file.suffix in (".py", ".safetensors", ".json"):
                digest.update(str(file.relative_to(folder)).encode() + file.read_bytes())
    return digest.hexdigest()[:16]


BOUNDS: Final[Mapping[str, tuple[int, int]]] = {
    **dict.fromkeys(("dealer", "seat", "listener"), (0, NUM_SEATS)),
    "hands": (0, 11),
    "winner": (-1, NUM_SEATS),
    "action": (0, NUM_ACTIONS),
    "speaker": (1, NUM_SEATS),
}
"""Lowest value and the bound above it."""


def check(piece: Heard | SourcePoints | Shuffled, deals: int) -> None:
    """Checks that the arrays of a piece of work fit each other; ``deals``: of the piece."""
    if isinstance(piece, SourcePoints):
        _check_array("unsearched", piece.unsearched, (deals,))
        _check_array("points", piece.points, (len(piece.sources), deals))
    elif isinstance(piece, Shuffled):
        _check_array("points", piece.points, (len(VARIANTS), piece.points.size // len(VARIANTS)))
    else:
        play, actions, knowledge = piece.play, piece.actions, piece.knowledge
        if actions.models != knowledge.models:
            raise SettingError(f"expected models {actions.models!r}, got {knowledge.models!r}")
        rounds, decisions, models = play.round.size, play.deal.size, len(actions.models)
        bounds = {**BOUNDS, "deal": (0, rounds), "row": (0, decisions)}
        tables: list[tuple[Any, int, Shapes]] = [(play, rounds, BY_DEAL)]
        tables += [(play, decisions, BY_DECISION)]
        tables += [(heard, heard.row.size, heard.SHAPES) for heard in (actions, knowledge)]
        for table, rows, shapes in tables:
            for name, axes in shapes.items():
                shape = (rows, *(models if axis == "K" else axis for axis in axes))
                _check_array(name, getattr(table, name), shape, bounds.get(name))


def _check_array(
    name: str, array: Any, shape: tuple[int | str, ...], bounds: tuple[int, int] | None = None
) -> None:
    if array.shape != shape:
        raise SettingError(f"expected {name} of shape {shape}, got {array.shape}")
    if bounds is not None and array.size:
        low, below = bounds
        if not (array.min() >= low and array.max() < below):
            raise SettingError(f"expected {name} from {low} to below {below}, got others")
