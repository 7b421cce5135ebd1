"""Takes every measure of some agents: the plan of a study, its work in pieces, and its results."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any, Final, get_type_hints

import numpy as np

import goita_env
from agents.beliefs import FACTS, Assumed, Assumption
from agents.bots.network import NetworkAgent
from agents.parts import Parts, pack, unpack
from agents.registry import load_agent
from agents.signals import keeping, measures
from agents.signals.deciding import Ear
from agents.signals.listening import Heard, Known, listen, standard
from agents.signals.measures.content import Content, FriendOrFoe, Misreading, Split
from agents.signals.measures.conventions import ConventionTable, features, strongest
from agents.signals.measures.crossplay import Gap
from agents.signals.measures.estimates import Information
from agents.signals.measures.probes import Probe
from agents.signals.measures.published import Influence
from agents.signals.measures.shuffled import Shuffled
from agents.signals.measures.trees import SpeakerTree, TreeAgent, fit_speaker
from agents.signals.measures.value import (
    CEILINGS,
    DEAF_BY_FACTS,
    HARD_FACTS,
    LATTICE,
    Values,
)
from agents.signals.playing import Play, load_policy, play
from agents.statistics.intervals import Interval
from agents.tournament.workers import on_processes
from goita_env.errors import SettingError
from goita_env.rules import JGA, Rules
from goita_env.tiles import NUM_SEATS

PIECE: Final = 12
"""Deals of a piece of work."""

MOST_SHARE: Final = 100
"""Most of the full study that a share may ask for."""

MISREAD: Final = "partner taken for "
"""Begins the name of an ear whose decoder of the partner is neither the policy nor the rules."""

CONTROLS: Final = ("random", "greedy", "heuristic:conventions=off")
"""Agents that signal nothing on purpose, measured beside those of a study: what they tell, skill
and determinism tell."""

BY_TREE: Final = "its tree"
"""The decoder that takes the policy for a shallow tree of it."""


@dataclass(frozen=True)
class Plan:
    """Says what is studied; all that the results depend on."""

    agents: tuple[str, ...]
    """Texts of policies."""
    heard: int
    """Deals in which one seat listens."""
    overheard: int
    """Deals in which all four do."""
    valued: int
    """Deals that are played with each ear."""
    signals: int
    """Signals that are shuffled, one a deal."""
    rounds: int
    """Rounds from which the published measures, tables and trees come."""
    partners: int
    """Deals of every pair of partners."""
    worlds: int = 32
    """Worlds of a searched decision."""
    temperature: float | None = None
    """Of the assumed policies; None: as the agents play."""
    tremble: float = 0.02
    """Of the assumed policies."""
    seed: int = 0
    """Of everything that is random."""
    rules: Rules = JGA
    """Rule set."""
    controls: tuple[str, ...] = CONTROLS
    """Policies that are listened to and counted alone."""

    def assumed(self, agent: str) -> Assumed:
        """Returns how an agent is supposed to play."""
        return Assumed(agent, self.temperature, self.tremble)


def quick(agents: tuple[str, ...], **options: Any) -> Plan:
    """Returns a plan of a few minutes for two agents."""
    return Plan(agents, 72, 16, 36, 48, 2_000, 256, worlds=24, **options)


def full(agents: tuple[str, ...], share: float = 1.0, **options: Any) -> Plan:
    """Returns a plan of some two hours of a core for two agents.

    Args:
        agents: texts of policies.
        share: part of the deals that are listened to and searched, above 0; time goes with it.
        options: other fields.

    Raises:
        SettingError: if the share is not above 0.
    """
    if not 0 < share <= MOST_SHARE:
        raise SettingError(f"expected a share above 0, up to {MOST_SHARE}, got {share!r}")
    heard, overheard, valued, signals = (max(2, round(share * n)) for n in (600, 120, 840, 720))
    return Plan(agents, heard, overheard, valued, signals, 20_000, 4_096, **options)


@dataclass(frozen=True)
class AgentStudy:
    """Holds what was found about one agent."""

    agent: str
    version: str
    """Which version of the policy was measured."""
    assumed: str
    content: dict[str, list[Content]]
    """By grouping; "all" for all actions together."""
    rules_content: Content
    """Of all actions, heard by the rules alone."""
    split: Split
    misreading: list[Misreading]
    friend_or_foe: FriendOrFoe
    values: Values
    value: dict[str, Interval]
    levels: dict[str, Interval]
    ceilings: dict[str, Interval]
    eavesdropping: Interval
    misreading_cost: dict[str, Interval]
    """By decoder of the partner: another agent's, ``HARD_FACTS``, ``BY_TREE``."""
    shuffled: Shuffled
    consistency: Information
    coordination: Information
    influence: Influence
    tables: list[ConventionTable]
    """Of the first lead, those that tell most first."""
    tree: SpeakerTree
    probe: Probe | None
    """None for agents that are no network."""


@dataclass(frozen=True)
class ControlStudy:
    """Holds what was found about a control."""

    agent: str
    version: str
    content: Content
    """Of all actions."""
    rules_content: Content
    split: Split
    consistency: Information
    coordination: Information


@dataclass(frozen=True)
class Study:
    """Holds what was found."""

    plan: Plan
    agents: list[AgentStudy]
    controls: list[ControlStudy]
    distances: dict[tuple[str, str], Interval]
    partners: np.ndarray[Any, np.dtype[np.float64]]
    """[n, n] points a round of pairs of partners against the first agent."""
    gap: Gap | None
    """None for a single agent."""


def study(
    plan: Plan,
    workers: int = 1,
    progress: Callable[[str], None] = print,
    parts: Path | None = None,
) -> Study:
    """Takes every measure.

    Args:
        plan: what is studied.
        workers: processes; they change no result.
        progress: is told what has been done.
        parts: file in which pieces of work are kept as they end, so that a study that was stopped
            goes on; what other code, other weights or another plan made is done anew.

    Raises:
        AgentError: if an agent's probabilities are not known.
        SettingError: if the plan is impossible, or the file of parts is something else, is damaged
            or open in another program.
        OSError: if that file cannot be read or written.
    """
    if len(set(plan.agents)) < len(plan.agents):
        raise SettingError(f"expected different agents, got {plan.agents!r}")
    for agent in (*plan.agents, *_controls(plan)):
        load_policy(agent)
    pieces = list(_pieces(plan))
    done: dict[tuple[str, str], list[Any]] = {}
    with keeping.open_parts(parts, plan.agents, asdict(plan)) as kept:
        for number, (kind, agent, result) in enumerate(_worked(plan, pieces, workers, kept), 1):
            done.setdefault((kind, agent), []).append(result)
            progress(f"{number} of {len(pieces)} pieces")
    agents = []
    for agent in plan.agents:
        results = {kind: [r for _, r in sorted(done[kind, agent], key=_first)] for kind in WORK}
        agents.append(_agent_study(plan, agent, results))
        progress(f"{agent}: done")
    controls = []
    for agent in _controls(plan):
        heard = [result for _, result in sorted(done["listen", agent], key=_first)]
        controls.append(_control_study(plan, agent, heard))
        progress(f"{agent}: done")
    shared = play(plan.agents[:1], min(plan.rounds, 1_000), seed=plan.seed, rules=plan.rules)
    points = measures.cross_play(
        plan.agents, plan.agents[0], plan.partners, seed=plan.seed, rules=plan.rules
    )
    gap = measures.cross_play_gap(points) if len(plan.agents) > 1 else None
    distances = measures.policy_distance(shared, plan.agents)
    return Study(plan, agents, controls, distances, points.mean(axis=2), gap)


# ------------------------------------------------------------------------------------ in pieces


def _listen(plan: Plan, agent: str, first: int, deals: int) -> tuple[Play, Heard, Known]:
    """Has one seat listen in some deals, with the decoder of every agent; to controls with two."""
    told = play([agent], deals, seed=plan.seed, rules=plan.rules, first=first)
    return told, *listen(told, _decoders(plan, agent))


def _decoders(plan: Plan, agent: str) -> dict[str, Assumption]:
    """Returns what may be assumed of an agent: rightly, by the rules, and wrongly in some ways."""
    found = standard(agent, plan.temperature, plan.tremble)
    if agent not in plan.agents:
        return found
    found |= {HARD_FACTS: FACTS, BY_TREE: Assumed(_tree(plan, agent), 1.0, plan.tremble)}
    return found | {other: plan.assumed(other) for other in plan.agents if other != agent}


def _many(plan: Plan, agent: str) -> Play:
    """Plays the rounds that nobody listens to: of tables, trees and the published measures."""
    return play([agent], plan.rounds, seed=plan.seed + 3, rules=plan.rules)


@cache
def _tree(plan: Plan, agent: str) -> TreeAgent:
    """Returns the tree of an agent."""
    return fit_speaker(_many(plan, agent), agent, seed=plan.seed)


def _overhear(plan: Plan, agent: str, first: int, deals: int) -> tuple[Play, Heard, Known]:
    """Has all four seats listen in some deals."""
    told = play([agent], deals, seed=plan.seed + 1, rules=plan.rules, first=first)
    return told, *listen(told, {"policy": plan.assumed(agent)}, listeners=range(NUM_SEATS))


def _value(plan: Plan, agent: str, first: int, deals: int) -> Values:
    """Plays some deals with each ear."""
    decoders = _decoders(plan, agent)
    wrong = [name for name in decoders if name not in ("policy", "rules")]
    ears = [Ear(MISREAD + name, "policy", name, "policy") for name in wrong]
    return measures.play_listening(
        agent,
        decoders,
        deals,
        ears=(*LATTICE, DEAF_BY_FACTS, *CEILINGS, *ears),
        seed=plan.seed,
        rules=plan.rules,
        worlds=plan.worlds,
        first=first,
    )


def _shuffle(plan: Plan, agent: str, first: int, deals: int) -> Shuffled:
    """Shuffles a signal in each of some deals."""
    told = play([agent], deals, seed=plan.seed + 2, rules=plan.rules, first=first)
    assumed = plan.assumed(agent)
    return measures.shuffled_signal(told, assumed, agent, seed=first, worlds=plan.worlds)


WORK: Final[dict[str, Callable[[Plan, str, int, int], Any]]] = {
    "listen": _listen,
    "overhear": _overhear,
    "value": _value,
    "shuffle": _shuffle,
}
"""What is done in pieces."""


def _pieces(plan: Plan) -> Iterator[tuple[str, str, int, int]]:
    """Yields kind, agent, first deal and deals of each piece, the long ones first."""
    many = {"value": plan.valued, "shuffle": plan.signals, "listen": plan.heard}
    for kind, deals in (many | {"overhear": plan.overheard}).items():
        for first in range(0, deals, PIECE):
            for agent in (*plan.agents, *(_controls(plan) if kind == "listen" else ())):
                yield kind, agent, first, min(PIECE, deals - first)


def _controls(plan: Plan) -> list[str]:
    """Returns the controls that are not studied in full."""
    return [agent for agent in dict.fromkeys(plan.controls) if agent not in plan.agents]


def _worked(
    plan: Plan, pieces: Sequence[tuple[str, str, int, int]], workers: int, parts: Parts | None
) -> Iterator[tuple[str, str, tuple[int, Any]]]:
    """Yields kind, agent, first deal and result of each piece, in any order.

    Every result has been packed, so that one that was kept is the same to the last bit.
    """
    missing = []
    for piece in pieces:
        kind, agent, first, deals = piece
        if parts is None or (key := json.dumps(piece)) not in parts.found:
            missing.append(piece)
            continue
        found = parts.value(key, _returned(kind), partial(keeping.check, deals=deals))
        yield kind, agent, (first, found)
    for piece, packed in on_processes(partial(_work, plan), missing, workers):
        kind, agent, first, _ = piece
        if parts is not None:
            parts.add(json.dumps(piece), packed)
        yield kind, agent, (first, unpack(packed, _returned(kind)))


def _work(plan: Plan, piece: tuple[str, str, int, int]) -> tuple[tuple[str, str, int, int], bytes]:
    """Does one piece and packs what came out."""
    kind, agent, first, deals = piece
    return piece, pack(WORK[kind](plan, agent, first, deals))


def _returned(kind: str) -> Any:
    """Returns the type of what comes out of a kind of work."""
    return get_type_hints(WORK[kind])["return"]


def _first(piece: tuple[int, Any]) -> int:
    """Returns the first deal of a result."""
    return piece[0]


def joined(parts: Sequence[tuple[Play, Heard, Known]]) -> tuple[Play, Heard, Known]:
    """Returns what was heard in several plays as heard in one."""
    plays = [part[0] for part in parts]
    before = np.cumsum([0, *(len(one.deal) for one in plays[:-1])])

    def all_of(number: int) -> Any:
        items: list[Any] = [part[number] for part in parts]
        names = [name for name in vars(items[0]) if name != "decoders"]
        columns = {n: np.concatenate([getattr(item, n) for item in items]) for n in names}
        columns["row"] = np.concatenate(
            [item.row + start for item, start in zip(items, before, strict=True)]
        )
        return replace(items[0], **columns)

    return Play.join(plays), all_of(1), all_of(2)


def _agent_study(plan: Plan, agent: str, parts: dict[str, list[Any]]) -> AgentStudy:
    """Returns what the pieces say of one agent, and takes the measures that are quick."""
    told, heard, known = joined(parts["listen"])
    public, overheard, _ = joined(parts["overhear"])
    values = Values.join(parts["value"])
    many = _many(plan, agent)
    groupings = ("phase", "context", "attack", "action", "attacks with")
    network = load_agent(agent)
    return AgentStudy(
        agent=agent,
        version=version_of(agent),
        assumed=plan.assumed(agent).name,
        content={"all": measures.content(told, heard)}
        | {by: measures.content(told, heard, by=by) for by in groupings},
        rules_content=measures.content(told, heard, "rules")[0],
        split=measures.content_split(told, known),
        misreading=measures.misreading(told, known),
        friend_or_foe=measures.friend_or_foe(public, overheard),
        values=values,
        value=measures.value_of_listening(values),
        levels=measures.levels(values),
        ceilings=measures.ceilings(values),
        eavesdropping=measures.eavesdropping_cost(values),
        misreading_cost={
            name.removeprefix(MISREAD): measures.misreading_cost(values, name)
            for name in values.points
            if name.startswith(MISREAD)
        },
        shuffled=Shuffled.join(parts["shuffle"]),
        consistency=measures.speaker_consistency(many),
        coordination=measures.instantaneous_coordination(many),
        influence=measures.causal_influence(many, agent, messages="legal", decisions=1_000),
        tables=strongest(
            [
                measures.opening_table(agent, feature, rules=plan.rules)
                for feature in features(many.hands[:1, 0])
            ]
        ),
        tree=measures.speaker_tree(many, agent, rounds=2 * plan.partners, seed=plan.seed),
        probe=_probe(told, known, network) if isinstance(network, NetworkAgent) else None,
    )


def _control_study(
    plan: Plan, agent: str, parts: Sequence[tuple[Play, Heard, Known]]
) -> ControlStudy:
    """Returns what the pieces say of a control, and counts what it plays."""
    told, heard, known = joined(parts)
    many = _many(plan, agent)
    return ControlStudy(
        agent=agent,
        version=version_of(agent),
        content=measures.content(told, heard)[0],
        rules_content=measures.content(told, heard, "rules")[0],
        split=measures.content_split(told, known),
        consistency=measures.speaker_consistency(many),
        coordination=measures.instantaneous_coordination(many),
    )


def version_of(agent: str) -> str:
    """Returns which version of a policy is measured: of networks by what they were trained on."""
    found, version = load_agent(agent), f"goita-env {goita_env.__version__}"
    if isinstance(found, NetworkAgent):
        return f"{found.info.decisions:,} decisions, {version}"
    return version


def _probe(told: Play, known: Known, network: NetworkAgent) -> Probe:
    """Probes a network at the listeners' own decisions."""
    partner = (known.listener + 2) % NUM_SEATS
    truth = told.hands[told.deal[known.row], partner].astype(np.int64)
    holds, prior = known.holds[:, known.of("policy"), 1], known.prior_holds[:, 1]
    return measures.activation_probe(told, known.row, network, holds, prior, truth)
