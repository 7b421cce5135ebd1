"""Takes every measure of some agents, and writes the results as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import goita_env
from goita_agents.base import Float, Policy
from goita_agents.bots.network import NetworkAgent
from goita_env.errors import SettingError
from goita_lab import provenance
from goita_lab.arena.statistics.intervals import Interval
from goita_lab.signals import measures
from goita_lab.signals.listening import POLICY, UNIFORM
from goita_lab.signals.measures.crossplay import CrossPlayGap
from goita_lab.signals.measures.emergent_communication import Influence, Information
from goita_lab.signals.measures.explain import Probe, SpeakerTree
from goita_lab.signals.measures.information_gain import (
    GROUPINGS,
    InformationGain,
    InformationGainSplit,
    ModelMismatch,
    PartnerOpponentGap,
)
from goita_lab.signals.measures.principles import PrincipleUse
from goita_lab.signals.measures.shuffled import Shuffled
from goita_lab.signals.measures.value import (
    ListeningValue,
    OracleGain,
    SearchGain,
    SourcePoints,
)
from goita_lab.signals.plan import Heard, Speaker, StudyPlan, run, speaker
from goita_lab.signals.playing import play
from goita_lab.work import HERE, Runner

FORMAT: Final = "goita-signals-study-5"
"""Names the layout of the JSON; grows when a field changes its name or meaning."""
SHARED_ROUNDS: Final = 1_000
"""Rounds behind the distances of policies."""


@dataclass(frozen=True)
class ControlStudy:
    """The measures of a policy that need no search."""

    agent: str
    version: str
    content: InformationGain
    uniform_content: InformationGain
    """The same under the uniform model."""
    split: InformationGainSplit
    consistency: Information
    coordination: Information
    principles: tuple[PrincipleUse, ...]


@dataclass(frozen=True)
class AgentStudy(ControlStudy):
    """All measures of an agent."""

    model: str
    """The listeners' model of it."""
    groups: dict[str, list[InformationGain]]
    """Content by ``GROUPINGS``."""
    model_mismatch: list[ModelMismatch]
    partner_opponent_gap: PartnerOpponentGap
    points: SourcePoints
    value: ListeningValue
    levels: SearchGain
    ceilings: OracleGain
    opponent_information_cost: Interval
    model_mismatch_cost: dict[str, Interval]
    """By wrong model of the partner: another agent's, "legal", "tree"."""
    shuffled: Shuffled
    influence: Influence
    tree: SpeakerTree
    probe: Probe | None
    """None for agents that are no network."""


@dataclass(frozen=True)
class Study:
    """The results of a study."""

    plan: StudyPlan
    agents: list[AgentStudy]
    controls: list[ControlStudy]
    distances: dict[tuple[str, str], Interval]
    partners: Float
    """[n, n] Points a round of pairs of partners against the first agent."""
    gap: CrossPlayGap | None
    """None for a single agent."""


def study(plan: StudyPlan, runner: Runner = HERE) -> Study:
    """Takes every measure: agents are loaded, deals are played, and each measure looks at them.

    Raises:
        AgentError: if an agent's probabilities are not known.
        SettingError: if the plan is impossible, or as ``Runner.run`` raises it.
        OSError: if the runner's file cannot be read or written.
    """
    if len(set(plan.agents)) < len(plan.agents):
        raise SettingError(f"expected different agents, got {plan.agents!r}")
    speakers = [speaker(plan, agent) for agent in plan.agents + plan.other_controls]
    studied, controls = speakers[: len(plan.agents)], speakers[len(plan.agents) :]
    first, seed, rules = studied[0], plan.seed, plan.rules
    shared = play([first.policy], min(plan.rounds, SHARED_ROUNDS), seed=seed, rules=rules)
    played, agents = run(plan, runner), []
    for of in studied:
        agents.append(_agent_study(plan, of, played))
        runner.progress("agents", len(agents), len(studied))
    others = [ControlStudy(**_shared(of, played["listen", of.agent])) for of in controls]
    deals = plan.cross_play_deals
    points = measures.cross_play(plan.agents, first.agent, deals, seed=seed, rules=rules)
    gap = measures.cross_play_gap(points) if len(agents) > 1 else None
    distances = measures.policy_distance(shared, {of.agent: of.policy for of in studied})
    return Study(plan, agents, others, distances, points.mean(axis=2), gap)


def _shared(of: Speaker, heard: Heard) -> dict[str, Any]:
    return {
        "agent": of.agent,
        "version": version_of(of.policy),
        "content": measures.information_gain(heard.play, heard.actions)[0],
        "uniform_content": measures.information_gain(heard.play, heard.actions, UNIFORM)[0],
        "split": measures.information_gain_split(heard.play, heard.knowledge),
        "consistency": measures.speaker_consistency(of.played),
        "coordination": measures.instantaneous_coordination(of.played),
        "principles": measures.principle_use(heard.play, heard.actions),
    }


def _agent_study(plan: StudyPlan, of: Speaker, played: Mapping[tuple[str, str], Any]) -> AgentStudy:
    heard: Heard = played["listen", of.agent]
    overheard: Heard = played["overhear", of.agent]
    points: SourcePoints = played["value", of.agent]
    policy, many = of.policy, of.played
    wrong = [name for name in of.models if name not in (POLICY, UNIFORM)]
    return AgentStudy(
        **_shared(of, heard),
        model=of.models[POLICY].name,
        groups={
            by: measures.information_gain(heard.play, heard.actions, by=by) for by in GROUPINGS
        },
        model_mismatch=measures.model_mismatch(heard.play, heard.knowledge),
        partner_opponent_gap=measures.partner_opponent_gap(overheard.play, overheard.actions),
        points=points,
        value=measures.value_of_listening(points),
        levels=measures.search_gain(points),
        ceilings=measures.oracle_gain(points),
        opponent_information_cost=measures.opponent_information_cost(points),
        model_mismatch_cost={name: measures.model_mismatch_cost(points, name) for name in wrong},
        shuffled=played["shuffle", of.agent],
        influence=measures.causal_influence(many, policy, messages="legal", decisions=1_000),
        tree=measures.speaker_tree(many, policy, rounds=2 * plan.cross_play_deals, seed=plan.seed),
        probe=measures.activation_probe(heard.play, heard.knowledge, policy)
        if isinstance(policy, NetworkAgent)
        else None,
    )


def version_of(policy: Policy) -> str:
    """Returns the version of a policy; of networks with the decisions of their training."""
    version = f"goita-env {goita_env.__version__}"
    if isinstance(policy, NetworkAgent):
        return f"{policy.info.decisions:,} decisions, {version}"
    return version


def to_json(found: Study, command: str, origin: Mapping[str, Any]) -> str:
    """Returns a study as JSON; ``origin``: what ``provenance`` says of the agents."""
    return provenance.to_json({"format": FORMAT, "command": command, "study": found, **origin})
