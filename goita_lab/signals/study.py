"""Takes every measure of a plan's agents, and writes the results as JSON."""

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
from goita_lab.signals.plan import StudyPlan
from goita_lab.signals.rounds import StudyRounds, fitted_tree, play_study
from goita_lab.work import HERE, Runner

FORMAT: Final = "goita-signals-study-6"
"""Names the layout of the JSON; grows when a field changes its name or meaning."""


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
    """Name of the listeners' model of the agent."""
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
    """By the wrong model of the partner: another agent, "legal" or "tree"."""
    shuffled: Shuffled
    influence: Influence
    tree: SpeakerTree
    probe: Probe | None
    """None for agents other than networks."""


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
    """Loads the agents of a plan, plays its deals, and takes every measure of them.

    Raises:
        AgentError: if an agent's probabilities are not known.
        SettingError: if the plan is impossible, or as ``Runner.run`` raises it.
        OSError: if the runner's file cannot be read or written.
    """
    if len(set(plan.agents)) < len(plan.agents):
        raise SettingError(f"expected different agents, got {plan.agents!r}")
    rounds, studies = play_study(plan, runner), []
    for agent in plan.agents:
        studies.append(_agent_study(plan, agent, rounds))
        runner.progress("agents", len(studies), len(plan.agents))
    policies = {agent: rounds.speakers[agent].policy for agent in plan.agents}
    distances = measures.policy_distance(rounds.shared, policies)
    return Study(
        plan=plan,
        agents=studies,
        controls=[ControlStudy(**_control_fields(agent, rounds)) for agent in plan.other_controls],
        distances=distances,
        partners=rounds.partners.mean(axis=2),
        gap=measures.cross_play_gap(rounds.partners) if len(studies) > 1 else None,
    )


def _control_fields(agent: str, rounds: StudyRounds) -> dict[str, Any]:
    """Takes the measures of an agent that need no search: the fields of ``ControlStudy``."""
    speaker, heard = rounds.speakers[agent], rounds.heard[agent]
    return {
        "agent": agent,
        "version": version_of(speaker.policy),
        "content": measures.information_gain(heard.play, heard.actions)[0],
        "uniform_content": measures.information_gain(heard.play, heard.actions, UNIFORM)[0],
        "split": measures.information_gain_split(heard.play, heard.knowledge),
        "consistency": measures.speaker_consistency(speaker.observed),
        "coordination": measures.instantaneous_coordination(speaker.observed),
        "principles": measures.principle_use(heard.play, heard.actions),
    }


def _agent_study(plan: StudyPlan, agent: str, rounds: StudyRounds) -> AgentStudy:
    """Takes all measures of an agent."""
    speaker, points = rounds.speakers[agent], rounds.searched[agent]
    heard, overheard = rounds.heard[agent], rounds.overheard[agent]
    policy, observed = speaker.policy, speaker.observed
    wrong_models = [name for name in speaker.models if name not in (POLICY, UNIFORM)]
    return AgentStudy(
        **_control_fields(agent, rounds),
        model=speaker.models[POLICY].name,
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
        model_mismatch_cost={
            name: measures.model_mismatch_cost(points, name) for name in wrong_models
        },
        shuffled=rounds.shuffled[agent],
        influence=measures.causal_influence(observed, policy, messages="legal", decisions=1_000),
        tree=measures.speaker_tree(
            fitted_tree(plan, agent), policy, observed, rounds.duels[agent], seed=plan.seed
        ),
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


def to_json(study: Study, command: str, origin: Mapping[str, Any]) -> str:
    """Returns a study as JSON; ``origin``: what ``provenance`` says of the agents."""
    return provenance.to_json({"format": FORMAT, "command": command, "study": study, **origin})
