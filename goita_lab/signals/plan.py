"""Plans a study of signals and does its work in pieces, which a file keeps as they end."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, NamedTuple

import goita_agents
import goita_env
import goita_lab
from goita_agents.beliefs import LEGAL_MODEL, OpponentModel, PolicyModel
from goita_agents.models import EPSILON
from goita_agents.registry import content_hash
from goita_agents.search.evaluate import WORLDS
from goita_env.errors import SettingError
from goita_env.rules import JGA, Rules
from goita_env.tiles import NUM_SEATS
from goita_lab.processes import on_processes
from goita_lab.signals import measures
from goita_lab.signals.listening import (
    LEGAL,
    POLICY,
    UNIFORM,
    listen,
    standard_models,
)
from goita_lab.signals.measures.explain import TreeAgent
from goita_lab.signals.measures.value import (
    ALL,
    LEGAL_ONLY,
    NONE,
    NOT_PARTNER,
    SOURCES,
)
from goita_lab.signals.playing import Play, play
from goita_lab.signals.results import WORK, Heard
from goita_lab.signals.searching import InformationSources
from goita_lab.store import Parts, pack, unpack

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
CONTROLS: Final = ("random", "greedy", "heuristic:conventions=off")
"""Agents without conventions: what they tell, skill and determinism tell."""

SEARCHER: Final = "champion:search=on,carry=off"
"""The searcher that is shipped, without a memory."""

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
    epsilon: float = EPSILON
    seed: int = 0
    rules: Rules = JGA
    controls: tuple[str, ...] = CONTROLS
    """Policies that are measured without searches."""
    searcher: str | None = SEARCHER
    """Agent that plays in the listener's place, beside its searches; None: nobody."""
    until_nats: float = 0.0
    """Half-width at which an agent's listening ends before all deals (``narrow``); 0: never."""
    until_points: float = 0.0
    """The same of listening's value and of signals."""

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


def pieces(plan: StudyPlan) -> Iterator[Piece]:
    sizes = plan.value_deals, plan.signals, plan.deals, plan.gap_deals
    for kind, many in zip(WORK, sizes, strict=True):
        for first in range(0, many, PIECE):
            for agent in plan.agents + (plan.other_controls if kind == "listen" else ()):
                yield Piece(kind, agent, first, min(PIECE, many - first))


def run(
    plan: StudyPlan, workers: int, progress: Callable[[str], None], file: Path | None
) -> dict[tuple[str, str], Any]:
    """Does the pieces, which ``file`` keeps as they end, and joins them by kind and agent.

    They are done in ``STAGES``. After each, the kinds of work end whose intervals are narrow
    enough, agent by agent: the rule looks at the width of intervals alone, and at deals in their
    order, so ``workers`` change no result.
    """
    todo: dict[tuple[str, str], list[Piece]] = {}
    for piece in pieces(plan):
        todo.setdefault((piece.kind, piece.agent), []).append(piece)
    done: dict[tuple[str, str], list[Any]] = {key: [] for key in todo}
    number, total = 0, sum(map(len, todo.values()))
    with nullcontext() if file is None else _open(file, plan) as parts:
        for stage in range(1, STAGES + 1):
            now = {
                key: every[len(done[key]) : len(every) * stage // STAGES]
                for key, every in todo.items()
            }
            found: dict[Piece, Any] = {}
            for piece, result in _worked(plan, _in_turn(now), workers, parts):
                found[piece] = result
                number += 1
                progress(f"{number} of {total} pieces at most")
            for key, some in now.items():
                done[key] += [found[piece] for piece in some]
                if some and narrow(plan, key[0], WORK[key[0]].join(done[key])):
                    total -= len(todo[key]) - len(done[key])
                    todo[key] = todo[key][: len(done[key])]
    return {key: WORK[key[0]].join(found) for key, found in done.items()}


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
        split = measures.content_split(found.play, found.knowledge)
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


def _worked(
    plan: StudyPlan, every: Iterable[Piece], workers: int, parts: Parts | None
) -> Iterator[tuple[Piece, Any]]:
    # Every result has been packed, so that one that was kept is the same to the last bit.
    missing = []
    for piece in every:
        if parts is None or (key := json.dumps(piece)) not in parts.found:
            missing.append(piece)
        else:
            yield piece, parts.value(key, WORK[piece.kind])
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
            agent, models, deals, sources=sources, searcher=plan.searcher, first=first, **options
        )
        return piece, pack(found)
    seed = plan.seed + ("listen", "overhear", "shuffle").index(kind)
    played = play([agent], deals, seed=seed, rules=plan.rules, first=first)
    if kind == "listen":
        # The report says what actions tell under these two; the other models only read hands.
        heard = listen(played, _models(plan, agent), told=(POLICY, UNIFORM))
        return piece, pack(Heard(played, *heard))
    model = plan.model(agent)
    if kind == "overhear":
        heard = listen(played, {POLICY: model}, listeners=range(NUM_SEATS), known=False)
        return piece, pack(Heard(played, *heard))
    value = measures.shuffled_signal(played, model, agent, seed=first, worlds=plan.worlds)
    return piece, pack(value)


def _open(file: Path, plan: StudyPlan) -> Parts:
    """Opens a file of pieces; those of other code, other weights or another plan are dropped."""
    named = plan.agents if plan.searcher is None else (*plan.agents, plan.searcher)
    files = {agent: content_hash(agent) for agent in named}
    return Parts(file, "parts of a study", {"plan": asdict(plan), "files": files, "code": code()})


def code() -> str:
    """Returns a digest of all code and weights of the project, on which results depend."""
    digest = sha256()
    for package in (goita_env, goita_agents, goita_lab):
        folder = Path(str(package.__file__)).parent
        for file in sorted(folder.rglob("*")):
            if file.suffix in (".py", ".safetensors", ".json"):
                digest.update(str(file.relative_to(folder)).encode() + file.read_bytes())
    return digest.hexdigest()[:16]
