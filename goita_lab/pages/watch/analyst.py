"""Analyses the decisions of one deal, one after another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, get_args

import numpy as np
import numpy.typing as npt

from goita_agents.base import AgentError, Float, HasTemperature, Policy, is_stateless
from goita_agents.beliefs import HandBelief, Listener, OpponentModel, PolicyModel, RelativeSeat
from goita_agents.beliefs.people import PEOPLE, names_of, people
from goita_agents.models import ANALYSIS_EPSILON, EPSILONS
from goita_agents.registry import load_agent
from goita_agents.search.match_priors import MatchPriors
from goita_agents.search.playout_budget import check_search
from goita_agents.search.typed_search import TypedSearch, Valued
from goita_agents.solver.solver import Solver
from goita_env import Game, View, actions
from goita_env.tiles import NUM_SEATS
from goita_lab.pages.watch.decisions import Decision, Kinds, Knowledge, phase_of

WORLDS: Final = 1024
"""Worlds that a decision is searched in under each type: a quarter of them for every action, all of
them for the one that was played and the two or more that did best."""


_MOVERS: Final[tuple[tuple[int, RelativeSeat], ...]] = (
    (1, "previous"),
    (2, "partner"),
    (3, "next"),
)
"""The other seats from the mover's on, and what each calls the mover."""


@dataclass(frozen=True)
class AnalysisSettings:
    """How deals are analysed; results depend on these and on the deal alone."""

    agent: str
    """The agent, as ``load_agent`` takes it; its probabilities must be known."""
    worlds: int = WORLDS
    """Most worlds that a decision is searched in under each type."""
    seed: int = 0
    types: tuple[str, ...] = PEOPLE
    """Policies that the others may play like, as ``load_agent`` takes them."""

    def __post_init__(self) -> None:
        check_search(self.worlds)


@dataclass(frozen=True)
class TypeInfo:
    """A type of the opponents."""

    name: str
    """By which decisions call it."""
    model: str
    """How it plays, in words."""
    prior: float
    """Its probability when a match begins."""


class Analyst:
    """An analyst of the decisions of one deal, one after another.

    A policy at temperature 0 is sure of every action. Its search plays so; the probabilities that
    are shown, and by which a partner infers, are those at temperature 1.
    """

    def __init__(self, settings: AnalysisSettings, priors: Float | None = None) -> None:
        agent = load_agent(settings.agent)
        if not (isinstance(agent, Policy) and is_stateless(agent)):
            raise AgentError(
                "expected an agent with known probabilities and no memory, such as champion, "
                f"heuristic or file:PATH, got {agent.name!r} (of a search bot: its base)"
            )
        self._base: Policy = agent
        self._shown, self.policy = agent, agent.name
        if isinstance(agent, HasTemperature):
            warm = agent.temperature or 1.0
            self._shown, self.policy = agent.at(warm), f"{agent.name} at temperature {warm:g}"
        self._solver, self.others = Solver(), people(settings.types)
        known = MatchPriors(self.others).after(()) if priors is None else priors
        self._search = TypedSearch(agent, self.others, settings.worlds, known)
        chances = self.others.prior().sum(axis=1).tolist()
        models = zip(names_of(self.others), self.others.opponents, chances, strict=True)
        self.types = tuple(TypeInfo(name, model.name, prior) for name, model, prior in models)
        self._mover = PolicyModel(self._shown, epsilon=ANALYSIS_EPSILON)
        self._other = PolicyModel(self._shown, epsilon=EPSILONS[0])
        self.mover_model = self._mover.name
        self._listeners: dict[tuple[int, RelativeSeat], Listener] = {}
        """By the seat that listens, and whose hand it is asked about."""

    def decide(self, game: Game, number: int, seat: int, action: int, seed: int) -> Decision:
        """Returns the analysis of a decision, and plays its action."""
        view, hand, before_play = game.view(seat), game.dealt[seat], action >= actions.CALL
        values = {} if before_play else self._solver.values(game)
        open_value = max(values.values(), default=None)
        valued = Valued()
        if view.legal().sum() > 1:
            valued = self._value(view, seat, action, seed, values)
        before = {} if before_play else self._beliefs(game, seat)
        game.play(action)
        after = {} if before_play else self._beliefs(game, seat)
        tiles = NUM_SEATS * view.rules.hand_size - int(view.hand_sizes.sum())
        return Decision(
            move=number,
            seat=seat,
            action=actions.name(action),
            phase="before play" if before_play else phase_of(tiles),
            value=self._expected(view),
            open_value=open_value,
            open_loss=0 if open_value is None else open_value - values[action],
            knowledge=tuple(
                _knowledge(one, before[one], belief, hand) for one, belief in after.items()
            ),
            **_told(valued, action),
        )

    def _value(
        self, view: View, seat: int, action: int, seed: int, values: Mapping[int, int | None]
    ) -> Valued:
        chances = self._shown.probabilities(view, view.legal())[0]
        return self._search.value(view, seat, action, seed, chances, values)

    def _expected(self, view: View) -> float | None:
        values = getattr(self._base, "values", None)
        predicts = getattr(self._base, "predicts_points", True)
        return float(values(view)[0]) if values and predicts else None

    def _beliefs(self, game: Game, seat: int) -> dict[int, HandBelief]:
        """Returns what the others believe of a seat's hand now, nobody being asked a question."""
        found = {}
        for other, mover in _MOVERS:
            listening = (seat + other) % NUM_SEATS
            view, listener = game.view(listening), self._listeners.get((listening, mover))
            if listener is None:
                models: dict[RelativeSeat, OpponentModel] = dict.fromkeys(
                    get_args(RelativeSeat), self._other
                )
                listener = Listener(view, models | {mover: self._mover})
                self._listeners[listening, mover] = listener
            else:
                listener.update(view)
            found[listening] = listener.posterior(mover)
        return found


def _told(valued: Valued, played: int) -> dict[str, Any]:
    """Returns what a decision says of the values of its actions."""
    best = played if valued.best is None else valued.best
    rival = "" if valued.rival is None else actions.name(valued.rival)
    return vars(valued) | {"best": actions.name(best), "rival": rival}


def _knowledge(
    seat: int, before: HandBelief, after: HandBelief, hand: npt.NDArray[np.int8]
) -> Knowledge:
    return Knowledge(
        seat=seat,
        information=after.divergence(before),
        entropy=(before.entropy(), after.entropy()),
        log_probability=(before.log_probability(hand), after.log_probability(hand)),
        expected=(_kinds(before.expected()), _kinds(after.expected())),
        at_least_one=(_kinds(before.at_least(1)), _kinds(after.at_least(1))),
    )


def _kinds(array: Float) -> Kinds:
    one, two, three, four, five, six, seven, eight = array.tolist()
    return one, two, three, four, five, six, seven, eight
