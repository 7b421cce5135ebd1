"""Computes how likely a finished round was under each type of players; all hands are known then.

A seat's decisions, and the states in which it may have made them, are the same under every type. So
the seat is followed once, and each type gives its probabilities of all decisions together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from goita_agents.base import Bool, Float, Int
from goita_agents.beliefs.filtering import RoundStart, SeatFilter
from goita_agents.beliefs.history import Messages, Sent, check_followed, events
from goita_agents.beliefs.types import Types
from goita_agents.models import UNIFORM_MODEL, OpponentModel
from goita_env import View


@dataclass(frozen=True)
class Likelihoods:
    """What the decisions of a round say about the players, in nats.

    The log-probability of a decision is conditional on the seat's earlier decisions. It is minus
    infinity where a type would never have played so.
    """

    likelihood: Float  #: [K, J] Log-probability of all decisions, under each pair of types.
    opponents: Float  #: [K, D] Log-probability of each decision of the opponents.


def likelihoods(view: View, types: Types, hands: Int) -> Likelihoods:
    """Returns how likely a round was under each type.

    Tiles that still lie face down are summed over, and so are messages that the viewer does not
    observe. Where messages may have been sent in several ways, D is 0.

    Args:
        view: the end of a round as one seat sees it: one row.
        types: how the others may have played.
        hands: [4, 8] tiles of each kind that each seat was dealt, the viewer first.
    """
    check_followed(view.information)
    sizes = len(types.opponents), len(types.partners)
    if not view.num_plays.any():  # decided before play
        return Likelihoods(np.zeros(sizes), np.zeros((sizes[0], 0)))
    ways_to_send = Messages.read(view).possible()
    models = types.opponents
    opponents_by_way = [
        np.hstack([_of_seat(view, seat, hands[seat], models, sent) for seat in (1, 3)])
        for sent in ways_to_send
    ]
    # The partner observes what the viewer observes, so all ways give its decisions the same chance.
    partner = _of_seat(view, 2, hands[2], types.partners, ways_to_send[0])
    opponents: Float = np.logaddexp.reduce([way.sum(axis=1) for way in opponents_by_way], axis=0)
    decisions = opponents_by_way[0] if len(ways_to_send) == 1 else np.zeros((sizes[0], 0))
    return Likelihoods(opponents[:, None] + partner.sum(axis=1), decisions)


def _of_seat(
    view: View, seat: int, hand: Int, models: Sequence[OpponentModel], sent: Sent
) -> Float:
    """Returns the log-probability of a seat's decisions under each model, dealt ``hand`` [8]."""
    start = RoundStart.read(view, sent)
    bounds = view.face_up[0, seat].astype(np.int64), hand
    recorder = _DecisionRecorder(start, seat, hand[None], bounds)
    for event in events(view):
        recorder.take(event)
    return recorder.log_likelihood(models)


@dataclass(frozen=True)
class _Decision:
    """A decision of a seat: the k pairs of a state before it and a play that explains what it did.

    Each pair is a state after the decision. Models see m rows, one for each state in a pair.
    """

    first: int  # Index of the decision's first free row among the free rows of all decisions.
    free: Bool  # [m] Rows with several legal actions; only for these models are needed.
    state: Int  # [k] The state before, of each pair.
    row: Int  # [k] Its row among the m rows.
    played: Int  # [k] The play.


class _DecisionRecorder(SeatFilter):
    """A filter of one hand that records all decisions for models, and keeps every state.

    ``UNIFORM_MODEL`` gives every legal action a chance, so no state is given up.
    """

    def __init__(self, start: RoundStart, seat: int, hands: Int, bounds: tuple[Int, Int]) -> None:
        self._views: list[View] = []
        self._legal: list[Bool] = []
        self._decisions: list[_Decision] = []
        super().__init__(start, seat, hands, bounds, UNIFORM_MODEL)

    def log_likelihood(self, models: Sequence[OpponentModel]) -> Float:
        """Returns the log-probability of each of the D decisions under each model: [L, D]."""
        log_chances = np.zeros((len(models), len(self._decisions)))
        if not self._views:
            return log_chances
        last = self._views[-1]
        words = np.concatenate([view.words for view in self._views])
        view = View(words, np.resize(last.game, len(words)), last.rules, last.information)
        legal = np.concatenate(self._legal)
        probabilities = np.stack([model.probabilities(view, legal) for model in models])
        weight = np.ones((len(models), 1))  # [L, states], with sum 1 for each model
        for index, decision in enumerate(self._decisions):
            chance = np.ones((len(models), len(decision.row)))
            free = np.flatnonzero(decision.free[decision.row])
            # Only free rows were kept for the models, so a row's place counts the free rows.
            place = decision.first + decision.free.cumsum()[decision.row[free]] - 1
            chance[:, free] = probabilities[:, place, decision.played[free]]
            weight = weight[:, decision.state] * chance
            total = weight.sum(axis=1)
            with np.errstate(divide="ignore"):
                log_chances[:, index] = np.log(total)
            weight /= np.where(total > 0, total, 1)[:, None]
        return log_chances

    def _record(self, view: View, legal: Bool, state: Int, row: Int, played: Int) -> None:
        """Records a decision; ``view``, ``legal``: its m rows, the others as in ``_Decision``."""
        free = legal.sum(axis=1) > 1
        first = sum(map(len, self._views))
        self._decisions.append(
            _Decision(first=first, free=free, state=state, row=row, played=played)
        )
        if free.any():
            self._views.append(view[free])
            self._legal.append(legal[free])

    def _answer_chance(self, view: View, answer: int) -> Float:
        first = np.zeros(1, np.int64)  # before play there is one state, and one row
        self._record(view, view.legal(), state=first, row=first, played=np.array([answer]))
        return super()._answer_chance(view, answer)

    def _likelihood(self, state: Int, played: Int) -> Float:
        rows, row = np.unique(state, return_inverse=True)
        legal = self._replay.choices().legal(rows)
        self._record(self._replay.view(self.seat)[rows], legal, state, row, played)
        return np.ones(len(state))
