"""Follows one seat through a round for every hand that it may have been dealt: a forward filter.

The likelihood of a seat's actions given its hand doesn't depend on the others' hands (reach
probabilities factorise), so each seat is followed separately. A *state* is a dealt hand and the
tiles under the seat's own blocks in order of play, since its policy sees that order. Its weight is
the probability of all that the seat did, its hidden choices included. The weights of a hand's
states sum to the likelihood of the hand (the forward algorithm, Rabiner 1989).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from goita_agents.base import Bool, Float, Int
from goita_agents.beliefs.history import Answers, Event, Sent
from goita_agents.models import LEGAL_MODEL, OpponentModel, UnexplainedError
from goita_env import InformationStructure, View, actions
from goita_env.actions import CALL, MESSAGE, NUM_ACTIONS, REDEAL, SILENT
from goita_env.rules import Rules
from goita_env.tiles import HAND_SIZE, NUM_KINDS, NUM_SEATS, PAWN
from goita_env.views import NONE, Replay

_KINDS = np.arange(NUM_KINDS)


@dataclass(frozen=True)
class RoundStart:
    """What all seats know of a round before the first play."""

    rules: Rules
    dealer: int
    scores: tuple[int, int]  # Points of the viewer's team and of the other before the round.
    answers: Answers
    information: InformationStructure
    messages: Sent  # Assumed where the viewer does not observe them.

    @classmethod
    def read(cls, view: View, messages: Sent = ()) -> RoundStart:
        """Reads a view of one row; ``messages``: the messages sent, known or assumed."""
        own_score, opponent_score = view.scores[0].tolist()
        dealer, channel = int(view.dealer[0]), view.information.channel
        answers = Answers.read(view, calling=channel is None or len(messages) == NUM_SEATS)
        scores = own_score, opponent_score
        return cls(
            rules=view.rules,
            dealer=dealer,
            scores=scores,
            answers=answers,
            information=view.information,
            messages=messages,
        )


@dataclass(frozen=True)
class States:
    """The n states of a filter at one moment."""

    hand: Int  # [n] Number of each state's hand as dealt.
    held: Int  # [n, 8] Tiles of each kind in hand now.
    face_down: npt.NDArray[np.int8]
    # [n, 4] Kind under the seat's block by its play, NONE where none is hidden.
    weight: Float  # [n] In sums over deals, up to a factor.

    def draw(self, hands: Int, uniform: Float) -> Int:
        """Draws a state of each of some hands [k] by random numbers [k] below 1: int64 [k]."""
        # In order of hands, the states of a hand are a stretch, ``first`` to ``last``, of the
        # running total of the weights; a random point of that stretch picks a state.
        order = np.argsort(self.hand, kind="stable")
        summed = self.weight[order].cumsum()
        first = self.hand[order].searchsorted(hands)
        last = self.hand[order].searchsorted(hands, side="right") - 1
        before = summed[first] - self.weight[order][first]
        drawn = summed.searchsorted(before + uniform * (summed[last] - before), side="right")
        return order[np.clip(drawn, first, last)]


class SeatFilter:
    """A filter that keeps the states of one seat and their weights.

    Args:
        start: the round as it begins.
        seat: the seat followed, relative to the viewer: 1 to 3.
        hands: [M, 8] hands that it may have been dealt.
        bounds: [8] fewest and [8] most tiles of each kind that it may have been dealt, given the
            tiles that all seats have shown. Its model is queried only about such hands.
        model: how the seat plays.

    Attributes:
        hand: int64 [n] number of each state's hand.
        face_down: int8 [n, 4] kind under the seat's block by its play, NONE where none is hidden
            from the viewer.
        weight: float64 [n] of each state, the greatest 1.
        scale: natural logarithm of the factor that the weights lack.
        events: number of events that the filter has taken in.
    """

    def __init__(
        self,
        start: RoundStart,
        seat: int,
        hands: Int,
        bounds: tuple[Int, Int],
        model: OpponentModel,
    ) -> None:
        self.model, self.seat = model, seat
        self._start, self._hands, self._bounds = start, hands, bounds
        self._shown = np.zeros(NUM_KINDS, np.int64)
        self._plays = self.events = 0
        likelihood = self._answer_likelihood()
        self.hand = np.flatnonzero(likelihood)
        self.weight, self.scale = self._rescaled(likelihood[self.hand])
        self.face_down = np.full((len(self.hand), 4), NONE, np.int8)
        answers = start.answers
        self._replay = self._begin(hands[self.hand], answers.called, answers.choices)
        self._action_chances: Float | None = None  # [n, 69] of the states now, once computed

    def __len__(self) -> int:
        return len(self.hand)

    def state_weights(self) -> Float:
        """Returns each state's weight in sums over deals: float64 [n]."""
        if self.model is not LEGAL_MODEL:
            return self.weight
        # Among the states of one hand a state counts as often as there are ways to choose its
        # tiles face down, in order, out of the tiles that the seat has not shown.
        unshown = self._hands[self.hand] - self._shown
        down = (self.face_down[:, :, None] == _KINDS).sum(axis=1)
        ways = np.ones(len(self))
        for step in range(HAND_SIZE):  # unshown! / (unshown - down)!, kind by kind
            ways *= np.where(step < down, unshown - step, 1).prod(axis=1)
        # The states of each hand sum to 1, since the legal model gives every hand that may have
        # acted so the likelihood 1. Indexed by ``hand``, the sums by hand are spread over states.
        return ways / _sums(self.hand, ways, len(self._hands))[self.hand]

    def by_hand(self) -> Float:
        """Returns the likelihood of each hand, up to the scale: float64 [M]."""
        return _sums(self.hand, self.state_weights(), len(self._hands))

    def states(self) -> States:
        down = (self.face_down[:, :, None] == _KINDS).sum(axis=1)
        in_hand = self._hands[self.hand] - self._shown - down
        return States(self.hand, in_hand, self.face_down, self.state_weights())

    def action_probabilities(self) -> Float:
        """Returns the probability of each public action by hand: float64 [M, 69].

        The seat is about to decide. Plays with the same attack whose block would lie face down are
        added up, as the play with block 0. Rows sum to 1; rows of hands without a state are zeros.
        """
        if self._action_chances is None:
            rows = np.arange(len(self))
            self._action_chances = self._probabilities(rows, self._replay.choices().legal(rows))
        by_state = self._action_chances
        # A seat that may not pass leads, in all states alike.
        if not self._replay.choices().allow(np.full(len(self), actions.PASS))[0]:
            public = np.zeros((len(self), NUM_ACTIONS))
            # Plays are numbered block by block: [state, block, attack] is summed over the blocks.
            plays = by_state[:, 1:CALL].reshape(-1, NUM_KINDS, NUM_KINDS)
            public[:, 1 : 1 + NUM_KINDS] = plays.sum(axis=1)
            by_state = public
        by_hand = np.zeros((len(self._hands), NUM_ACTIONS))
        weight = self.state_weights()
        for action in np.flatnonzero(by_state.any(axis=0)).tolist():
            by_hand[:, action] = _sums(self.hand, weight * by_state[:, action], len(by_hand))
        total = by_hand.sum(axis=1, keepdims=True)
        np.divide(by_hand, total, out=by_hand, where=total > 0)
        return by_hand

    def messages(self) -> Float:
        """Returns the probability of each message by hand: float64 [M, 77].

        The seat is about to send one. Rows sum to 1; rows of hands without a state are zeros.
        """
        view = self._replay.question(MESSAGE)
        by_hand = np.zeros((len(self._hands), self._start.information.num_actions))
        # Before the first play each hand has one state.
        by_hand[self.hand] = self.model.probabilities(view, view.legal())
        by_hand[self.hand] /= by_hand[self.hand].sum(axis=1, keepdims=True)
        return by_hand

    def take(self, event: Event) -> None:
        """Takes in the action of a seat; the filter is unchanged after an UnexplainedError."""
        if event.seat == self.seat:
            self._decide(event)
        else:
            self._see(event)
        self.events += 1

    def _decide(self, event: Event) -> None:
        """Takes in a decision of the seat: a state becomes one for each play that explains it."""
        state, played = self._candidates(event)
        weight = self.weight[state] * self._likelihood(state, played)
        possible = weight > 0
        if not possible.any():
            block = " (block hidden)" if event.hidden else ""
            raise UnexplainedError(
                f"expected an action that {self.model.name} may choose on relative seat "
                f"{self.seat}, got {actions.name(event.action)!r}{block}; "
                "an epsilon above 0 allows for it"
            )
        state, played = state[possible], played[possible]
        self.weight, added = self._rescaled(weight[possible])
        self.scale += added
        self._take(state)
        if (pair := actions.decode(event.action)) is not None:
            if event.hidden:
                self.face_down[:, self._plays] = (played - 1) // NUM_KINDS
            else:
                self._shown[pair[0]] += 1
            self._shown[pair[1]] += 1
            self._plays += 1
        self._replay.step(played)
        self._action_chances = None

    def _see(self, event: Event) -> None:
        """Takes in an action of another seat."""
        action = event.action
        if event.hidden and event.last:
            # Any block will do that would not have been shown at scoring.
            attack = (action - 1) % NUM_KINDS
            block = self._replay.shown_at_scoring(attack)[0].argmin()
            action = actions.encode(int(block), attack)
        self._replay.step(action)
        self._action_chances = None

    def drop(self, limit: Int) -> None:
        """Gives up hands beyond a limit [8] of each kind; an UnexplainedError if none is left."""
        fits = (self._hands[self.hand] <= limit).all(axis=1)
        if fits.all():
            return
        if not fits.any():
            raise UnexplainedError(
                f"expected a hand of relative seat {self.seat} that {self.model.name} may have "
                "played so, got none with the tiles that the others showed"
            )
        self.weight = self.weight[fits]
        self._take(np.flatnonzero(fits))

    def _begin(
        self,
        hands: Int,
        called: Iterable[int] = (),
        choices: Iterable[tuple[int, int]] = (),
        messages: Sent | None = None,
    ) -> Replay:
        """Returns the round before play, after calls and choices, for each of the hands [m, 8].

        ``messages``: the messages sent before; None: all messages of the round.
        """
        start = self._start
        sent = start.messages if messages is None else messages
        replay = Replay.of_seat(
            start.rules, self.seat, hands, start.dealer, start.scores, information=start.information
        )
        message_actions = ((seat, MESSAGE + message) for seat, message in sent)
        calls = ((seat, CALL) for seat in called)
        for seat, answer in (*message_actions, *calls, *choices):
            replay.answer(seat, answer)
        return replay

    def _answer_likelihood(self) -> Float:
        """Returns the likelihood of the seat's message and answers before play: float64 [M]."""
        answers, pawns = self._start.answers, self._hands[:, PAWN]
        least_tiles, most_tiles = self._bounds
        possible = ((self._hands >= least_tiles) & (self._hands <= most_tiles)).all(axis=1)
        likelihood: Float = np.where(possible, 1.0, 0.0)
        for turn, (seat, message) in enumerate(self._start.messages):
            if seat == self.seat:
                possible_hands = np.flatnonzero(likelihood)
                replay = self._begin(
                    self._hands[possible_hands], messages=self._start.messages[:turn]
                )
                likelihood[possible_hands] *= self._answer_chance(
                    replay.question(MESSAGE), MESSAGE + message
                )
        turn_of = answers.order.index
        earlier_callers = [seat for seat in answers.called if turn_of(seat) < turn_of(self.seat)]
        if self.seat in answers.acted:
            with_fives = np.flatnonzero((pawns >= 5) & (likelihood > 0))
            has_called = self.seat in answers.called
            if has_called:
                likelihood[pawns != 5] = 0  # six or more end the round
            if len(with_fives):
                replay = self._begin(self._hands[with_fives], earlier_callers)
                likelihood[with_fives] *= self._answer_chance(
                    replay.question(CALL), CALL if has_called else SILENT
                )
        for turn, (seat, choice) in enumerate(answers.choices):
            if seat == self.seat:
                possible_hands = np.flatnonzero(likelihood)
                replay = self._begin(
                    self._hands[possible_hands], answers.called, answers.choices[:turn]
                )
                likelihood[possible_hands] *= self._answer_chance(replay.question(REDEAL), choice)
        if not likelihood.any():
            raise UnexplainedError(
                f"expected a message and pre-play decisions that {self.model.name} may choose on "
                f"relative seat {self.seat}, got other actions; an epsilon above 0 allows for "
                "legal actions"
            )
        return likelihood

    def _answer_chance(self, view: View, answer: int) -> Float:
        """Returns the probability of an answer to the question in views [m]: float64 [m]."""
        legal = view.legal()
        chance = legal[:, answer].astype(np.float64)
        free = np.flatnonzero((legal.sum(axis=1) > 1) & (chance > 0))
        if len(free):
            chance[free] = self.model.probabilities(view[free], legal[free])[:, answer]
        return chance

    def _candidates(self, event: Event) -> tuple[Int, Int]:
        """Returns states, ascending, and each one's play that explains an event: int64 [k], [k]."""
        if not event.hidden:
            allowed = self._replay.choices().allow(np.full(len(self), event.action))
            state = np.flatnonzero(allowed)
            return state, np.full(len(state), event.action)
        attack = (event.action - 1) % NUM_KINDS
        plays = 1 + NUM_KINDS * _KINDS + attack
        choices = self._replay.choices()
        # [n, 8] By the kind of the hidden block.
        allowed = np.stack([choices.allow(np.full(len(self), play)) for play in plays], axis=1)
        if event.last:
            allowed &= ~self._replay.shown_at_scoring(attack)
        # A tile that the seat shows later, or that is face down already, is not under this block.
        available = self._hands[self.hand] - self._bounds[0]
        available -= (self.face_down[:, :, None] == _KINDS).sum(axis=1)
        state, block = np.nonzero(allowed & (available > 0))
        return state, plays[block]

    def _likelihood(self, state: Int, played: Int) -> Float:
        """Returns the probability of plays [k] in states [k], in ascending order: float64 [k]."""
        if self._action_chances is not None:
            return self._action_chances[state, played]
        # A state is repeated for each of its plays, so it is new where it differs from the state
        # before; the model is queried about each state once.
        is_new = np.diff(state, prepend=-1) != 0
        distinct = state[is_new]
        chances = self._probabilities(distinct, self._replay.choices().legal(distinct))
        return np.asarray(chances[np.cumsum(is_new) - 1, played])

    def _probabilities(self, rows: Int, legal: Bool) -> Float:
        """Returns the probabilities of states' actions: float64 [k, 69].

        The model is not queried about states in which only one action is legal.
        """
        chances = legal.astype(np.float64)
        free = legal.sum(axis=1) > 1
        if free.any():
            view = self._replay.view(self.seat)[rows[free]]
            chances[free] = self.model.probabilities(view, legal[free])
        return chances

    def _take(self, state: Int) -> None:
        self.hand, self.face_down = self.hand[state], self.face_down[state]
        self._replay.select(state)
        self._action_chances = None

    @staticmethod
    def _rescaled(weight: Float) -> tuple[Float, float]:
        """Returns weights with 1 as the greatest, and the logarithm of the greatest before."""
        greatest = weight.max()
        return weight / greatest, float(np.log(greatest))


def _sums(hand: Int, weight: Float, num_hands: int) -> Float:
    """Returns the sum of the weights of each hand's states: float64 [num_hands]."""
    return np.bincount(hand, weight, num_hands).astype(np.float64, copy=False)
