"""Plays the rounds of a study, by purpose; listeners and searches follow them in pieces of work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, Final

from goita_agents.base import Float, Policy
from goita_agents.beliefs import LEGAL_MODEL, OpponentModel, PolicyModel
from goita_env.tiles import NUM_SEATS
from goita_lab.signals import measures
from goita_lab.signals.listening import (
    LEGAL,
    POLICY,
    UNIFORM,
    Heard,
    listen,
    standard_models,
)
from goita_lab.signals.measures.explain import TreeAgent
from goita_lab.signals.measures.shuffled import Shuffled
from goita_lab.signals.measures.value import SOURCES, SourcePoints
from goita_lab.signals.plan import LAST_SEED, StudyPlan, Work, in_pieces
from goita_lab.signals.playing import Play, load_policy, play
from goita_lab.signals.searching import InformationSources
from goita_lab.work import Runner

SEED_OFFSETS: Final = {
    **dict.fromkeys(("share", "duel", "search", "listen"), 0),
    "overhear": 1,
    "shuffle": 2,
    "observe": LAST_SEED,
}
"""Purposes of rounds, and what is added to the plan's seed for each."""
SHARED_ROUNDS: Final = 1_000
"""Rounds behind the distances of policies."""

TREE: Final = "tree"
"""Name of the model that predicts a policy by a shallow tree fitted to it."""


@dataclass(frozen=True)
class Speaker:
    """An agent whose actions are measured, with the rounds in which it was observed."""

    policy: Policy
    observed: Play
    """The rounds behind the published measures, tables and trees."""
    models: dict[str, OpponentModel]
    """The listeners' models of it, by name."""


@dataclass(frozen=True)
class StudyRounds:
    """All rounds of a study by purpose; the tables are by agent. Measures are functions of them."""

    speakers: dict[str, Speaker]
    """Agents and controls."""
    heard: dict[str, Heard]
    """Of agents and controls: one listener in each deal, under each model."""
    overheard: dict[str, Heard]
    """Listeners at all seats."""
    searched: dict[str, SourcePoints]
    """One seat searches, with each choice of sources of information."""
    shuffled: dict[str, Shuffled]
    """One signal of each deal is read in several ways."""
    duels: dict[str, Play]
    """An agent's tree against the agent."""
    shared: Play
    """Rounds of the first agent, in whose positions all agents are compared."""
    partners: Float
    """[n, n, deals] Points of every pair of agents as partners against the first agent."""


def play_study(plan: StudyPlan, runner: Runner) -> StudyRounds:
    """Plays all rounds of a plan; listeners and searches, which take long, in pieces of work."""
    agents, deals = plan.agents, plan.cross_play_deals
    speakers = {agent: speaker(plan, agent) for agent in agents + plan.other_controls}
    by_purpose = _joined_pieces(plan, runner)
    first = speakers[agents[0]].policy
    return StudyRounds(
        speakers=speakers,
        heard=by_purpose["heard"],
        overheard=by_purpose["overheard"],
        searched=by_purpose["searched"],
        shuffled=by_purpose["shuffled"],
        # A tree and its policy play each deal twice, in both seatings.
        duels={
            agent: play_for(
                "duel", plan, [fitted_tree(plan, agent), speakers[agent].policy], rounds=2 * deals
            )
            for agent in agents
        },
        shared=play_for("share", plan, [first], rounds=min(plan.rounds, SHARED_ROUNDS)),
        partners=measures.cross_play(agents, agents[0], deals, seed=plan.seed, rules=plan.rules),
    )


def _joined_pieces(plan: StudyPlan, runner: Runner) -> dict[str, dict[str, Any]]:
    """Does listening and searching in pieces, the longest first, and joins the pieces' results.

    Returns them by purpose (a field of ``StudyRounds``), then by agent.
    """
    agents, controls = plan.agents, plan.other_controls
    work = [
        Work(
            "searched",
            partial(search, plan),
            SourcePoints,
            agents,
            plan.value_deals,
            models=agents,
        ),
        Work("shuffled", partial(shuffle, plan), Shuffled, agents, plan.signals),
        Work("heard", partial(hear, plan), Heard, agents, plan.deals, models=agents),
        Work("heard", partial(hear, plan), Heard, controls, plan.deals),
        Work("overheard", partial(overhear, plan), Heard, agents, plan.gap_deals),
    ]
    pieces = in_pieces(work, plan.arguments(measure="report"), runner)
    return {
        purpose: {agent: type(parts[0]).join(parts) for agent, parts in by_agent.items()}
        for purpose, by_agent in pieces.items()
    }


def play_for(
    purpose: str, plan: StudyPlan, agents: Sequence[Policy], rounds: int, first: int = 0
) -> Play:
    """Plays rounds of a plan for one purpose of ``SEED_OFFSETS``."""
    return play(
        agents, rounds, seed=plan.seed + SEED_OFFSETS[purpose], rules=plan.rules, first=first
    )


@cache
def control_speaker(plan: StudyPlan, agent: str) -> Speaker:
    """Returns an agent of a plan as a control, in each process the same."""
    policy = load_policy(agent)
    observed = play_for("observe", plan, [policy], plan.rounds)
    return Speaker(policy, observed, standard_models(policy))


@cache
def fitted_tree(plan: StudyPlan, agent: str) -> TreeAgent:
    """Returns the tree of an agent of a plan, in each process the same."""
    control = control_speaker(plan, agent)
    return measures.fit_speaker(control.observed, control.policy, seed=plan.seed)


@cache
def speaker(plan: StudyPlan, agent: str) -> Speaker:
    """Returns an agent of a plan; unless it is a control, some of its listeners' models are wrong.

    The wrong models are the other agents, the agent's tree and ``LEGAL_MODEL``.
    """
    control = control_speaker(plan, agent)
    if agent not in plan.agents:
        return control
    tree = PolicyModel(fitted_tree(plan, agent), 1.0)
    models = {**control.models, LEGAL: LEGAL_MODEL, TREE: tree}
    models |= {other: PolicyModel(other) for other in plan.agents if other != agent}
    return replace(control, models=models)


def search(plan: StudyPlan, agent: str, first: int, deals: int) -> SourcePoints:
    """Plays deals with a seat that searches, with each choice of sources of information."""
    speaking = speaker(plan, agent)
    partner_models = (InformationSources(POLICY, name, POLICY) for name in speaking.models)
    return measures.play_listening(
        speaking.policy,
        speaking.models,
        deals,
        sources=tuple(dict.fromkeys((*SOURCES, *partner_models))),
        seed=plan.seed + SEED_OFFSETS["search"],
        rules=plan.rules,
        worlds=plan.worlds,
        first=first,
    )


def shuffle(plan: StudyPlan, agent: str, first: int, deals: int) -> Shuffled:
    """Plays deals in which one signal is read in several ways."""
    speaking = speaker(plan, agent)
    played = play_for("shuffle", plan, [speaking.policy], rounds=deals, first=first)
    model = speaking.models[POLICY]
    return measures.shuffled_signal(played, model, speaking.policy, seed=first, worlds=plan.worlds)


def hear(plan: StudyPlan, agent: str, first: int, deals: int) -> Heard:
    """Plays deals with one listener, under each model."""
    speaking = speaker(plan, agent)
    played = play_for("listen", plan, [speaking.policy], rounds=deals, first=first)
    # The report has the information in actions under these two; the other models only read hands.
    return Heard(played, *listen(played, speaking.models, revealed=(POLICY, UNIFORM)))


def overhear(plan: StudyPlan, agent: str, first: int, deals: int) -> Heard:
    """Plays deals with listeners at all seats."""
    speaking = speaker(plan, agent)
    played = play_for("overhear", plan, [speaking.policy], rounds=deals, first=first)
    models = {POLICY: speaking.models[POLICY]}
    return Heard(played, *listen(played, models, listeners=range(NUM_SEATS), knowledge=False))
