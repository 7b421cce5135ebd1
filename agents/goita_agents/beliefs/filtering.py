"""Follows one seat through a round for every hand that it may have been dealt: a forward filter.

The likelihood of a seat's actions given its hand doesn't depend on the others' hands (reach
probabilities factorise), so each seat is followed by itself. A *state* is a dealt hand and the
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
    messages: Sent  # Those that the viewer doesn't hear are assumed.

    @classmethod
    def read(cls, view: View, messages: Sent = ()) -> RoundStart:
        """Reads a view of one row; ``messages``: what was sent, or is assumed to be."""
        own, other = view.scores[0].tolist()
        dealer, channel = int(view.dealer[0]), view.information.channel
        answers = Answers.read(view, begun=channel is None or len(messages) == NUM_SEATS)
        return cls(view.rules, dealer, (own, other), answers, view.information, messages)


@dataclass(frozen=True)
class States:
    """The n states of a filter at one moment."""

    hand: Int  # [n] Number of each state's hand as dealt.
    held: Int  # [n, 8] Tiles of each kind in hand now.
    face_down: npt.NDArray[np.int8]
    # [n, 4] Kind under the seat's block by its play, NONE where none is hidden.
    weight: Float  # [n] In sums over deals, up to a factor.

    def draw(self, hands: Int, numbers: Float) -> Int:
        """Draws a state of each of some hands [k] by random numbers [k] below 1: int64 [k]."""
        order = np.argsort(self.hand, kind="stable")
        summed = self.weight[order].cumsum()
        first = self.hand[order].searchsorted(hands)
        last = self.hand[order].searchsorted(hands, side="right") - 1
        before = summed[first] - self.weight[order][first]
        drawn = summed.searchsorted(before + numbers * (summed[last] - before), side="right")
        return order[np.clip(drawn, first, last)]


class SeatFilter:
    """A filter that keeps the states of one seat and their weights.

    Args:
        start: the round as it begins.
        seat: the seat followed, relative to the viewer: 1 to 3.
        hands: [M, 8] hands that it may have been dealt.
        bounds: [8] fewest and [8] most tiles of each kind that are possible, by what it has shown
            and what the others have left. Its model is asked about such hands alone.
        model: how it plays.

    Attributes:
        hand: int64 [n] number of each state's hand.
        face_down: int8 [n, 4] kind under the seat's block by its play, NONE where none is hidden
            from the viewer.
        weight: float64 [n] of each state, the greatest 1.
        scale: natural logarithm of the factor that the weights lack.
        events: how many it has taken in.
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
        likelihood = self._answered()
        self.hand = np.flatnonzero(likelihood)
        self.weight, self.scale = self._rescaled(likelihood[self.hand])
        self.face_down = np.full((len(self.hand), 4), NONE, np.int8)
        answers = start.answers
        self._replay = self._begin(hands[self.hand], answers.called, answers.choices)
        self._known: Float | None = None

    def __len__(self) -> int:
        return len(self.hand)

    def state_weights(self) -> Float:
        """Returns each state's weight in sums over deals: float64 [n]."""
        if self.model is not LEGAL_MODEL:
            return self.weight
        held = self._hands[self.hand] - self._shown
        down = (self.face_down[:, :, None] == _KINDS).sum(axis=1)
        ways = np.ones(len(self))
        for step in range(HAND_SIZE):  # held! / (held - down)!, kind by kind
            ways *= np.where(step < down, held - step, 1).prod(axis=1)
        ways /= _sums(self.hand, ways, len(self._hands))[self.hand]
        return ways

    def by_hand(self) -> Float:
        """Returns the likelihood of each hand, up to the scale: float64 [M]."""
        return _sums(self.hand, self.state_weights(), len(self._hands))

    def states(self) -> States:
        down = (self.face_down[:, :, None] == _KINDS).sum(axis=1)
        held = self._hands[self.hand] - self._shown - down
        return States(self.hand, held, self.face_down, self.state_weights())

    def action_probabilities(self) -> Float:
        """Returns the probability of each public action by hand: float64 [M, 69].

        The seat is about to decide. A play whose block would lie face down counts as the one with
        block 0. Rows sum to 1; those of hands without a state are zeros.
        """
        if self._known is None:
            rows = np.arange(len(self))
            self._known = self._probabilities(rows, self._replay.choices().legal(rows))
        known = self._known
        if not self._replay.choices().allow(np.full(len(self), actions.PASS))[0]:  # it leads
            public = np.zeros((len(self), NUM_ACTIONS))
            plays = known[:, 1:CALL].reshape(-1, NUM_KINDS, NUM_KINDS)
            public[:, 1 : 1 + NUM_KINDS] = plays.sum(axis=1)
            known = public
        found = np.zeros((len(self._hands), NUM_ACTIONS))
        weight = self.state_weights()
        for action in np.flatnonzero(known.any(axis=0)).tolist():
            found[:, action] = _sums(self.hand, weight * known[:, action], len(found))
        total = found.sum(axis=1, keepdims=True)
        np.divide(found, total, out=found, where=total > 0)
        return found

    def messages(self) -> Float:
        """Returns the probability of each message by hand: float64 [M, 77].

        The seat is about to send one. Rows sum to 1; those of hands without a state are zeros.
        """
        view = self._replay.question(MESSAGE)
        found = np.zeros((len(self._hands), self._start.information.num_actions))
        found[self.hand] = self.model.probabilities(view, view.legal())
        found[self.hand] /= found[self.hand].sum(axis=1, keepdims=True)
        return found

    def take(self, event: Event) -> None:
        """Takes in what a seat did; unchanged after an UnexplainedError."""
        if event.seat == self.seat:
            self._decide(event)
        else:
            self._see(event)
        self.events += 1

    def _decide(self, event: Event) -> None:
        state, played = self._candidates(event)
        weight = self.weight[state] * self._likelihood(state, played)
        kept = weight > 0
        if not kept.any():
            raise UnexplainedError(
                f"expected what {self.model.name} may do on relative seat {self.seat}, "
                f"got {actions.name(event.action)!r}{' (block hidden)' * event.hidden}; "
                "an epsilon above 0 allows for it"
            )
        state, played = state[kept], played[kept]
        self.weight, added = self._rescaled(weight[kept])
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
        self._known = None

    def _see(self, event: Event) -> None:
        action = event.action
        if event.hidden and event.last:  # any block will do that would not have been shown
            attack = (action - 1) % NUM_KINDS
            block = self._replay.shown_at_scoring(attack)[0].argmin()
            action = actions.encode(int(block), attack)
        self._replay.step(action)
        self._known = None

    def drop(self, limit: Int) -> None:
        """Gives up hands beyond a limit [8] of each kind; an UnexplainedError if none is left."""
        kept = (self._hands[self.hand] <= limit).all(axis=1)
        if kept.all():
            return
        if not kept.any():
            raise UnexplainedError(
                f"expected a hand of relative seat {self.seat} that {self.model.name} may have "
                "played so, got none with the tiles that the others showed"
            )
        self.weight = self.weight[kept]
        self._take(np.flatnonzero(kept))

    def _begin(
        self,
        hands: Int,
        called: Iterable[int] = (),
        choices: Iterable[tuple[int, int]] = (),
        messages: Sent | None = None,
    ) -> Replay:
        """Returns the round after these calls and choices, for hands [m] of the seat.

        ``messages``: those sent before; None: all of them.
        """
        start = self._start
        sent = start.messages if messages is None else messages
        replay = Replay.of_seat(
            start.rules, self.seat, hands, start.dealer, start.scores, information=start.information
        )
        said = ((seat, MESSAGE + message) for seat, message in sent)
        for seat, answer in (*said, *((seat, CALL) for seat in called), *choices):
            replay.answer(seat, answer)
        return replay

    def _answered(self) -> Float:
        """Returns the likelihood of what the seat sent and answered before play: float64 [M]."""
        answers, pawns = self._start.answers, self._hands[:, PAWN]
        fewest, most = self._bounds
        possible = ((self._hands >= fewest) & (self._hands <= most)).all(axis=1)
        found: Float = np.where(possible, 1.0, 0.0)
        for number, (seat, message) in enumerate(self._start.messages):
            if seat == self.seat:
                some = np.flatnonzero(found)
                replay = self._begin(self._hands[some], messages=self._start.messages[:number])
                found[some] *= self._answer(replay.question(MESSAGE), MESSAGE + message)
        turn = answers.order.index
        before = [seat for seat in answers.called if turn(seat) < turn(self.seat)]
        if self.seat in answers.asked:
            five = np.flatnonzero((pawns >= 5) & (found > 0))
            calls = self.seat in answers.called
            if calls:
                found[pawns != 5] = 0  # six or more end the round
            if len(five):
                replay = self._begin(self._hands[five], before)
                found[five] *= self._answer(replay.question(CALL), CALL if calls else SILENT)
        for number, (seat, choice) in enumerate(answers.choices):
            if seat == self.seat:
                some = np.flatnonzero(found)
                replay = self._begin(self._hands[some], answers.called, answers.choices[:number])
                found[some] *= self._answer(replay.question(REDEAL), choice)
        if not found.any():
            raise UnexplainedError(
                f"expected what {self.model.name} may send and pre-play decision on relative seat "
                f"{self.seat}, got other actions; an epsilon above 0 allows for legal ones"
            )
        return found

    def _answer(self, view: View, answer: int) -> Float:
        """Returns the probability of an answer as seats see the question: float64 [m]."""
        legal = view.legal()
        found = legal[:, answer].astype(np.float64)
        free = np.flatnonzero((legal.sum(axis=1) > 1) & (found > 0))
        if len(free):
            found[free] = self.model.probabilities(view[free], legal[free])[:, answer]
        return found

    def _candidates(self, event: Event) -> tuple[Int, Int]:
        """Returns states and what they would have to play for an event: int64 [k], [k]."""
        if not event.hidden:
            allowed = self._replay.choices().allow(np.full(len(self), event.action))
            state = np.flatnonzero(allowed)
            return state, np.full(len(state), event.action)
        attack = (event.action - 1) % NUM_KINDS
        plays = 1 + NUM_KINDS * _KINDS + attack
        choices = self._replay.choices()
        allowed = np.stack([choices.allow(np.full(len(self), play)) for play in plays], axis=1)
        if event.last:
            allowed &= ~self._replay.shown_at_scoring(attack)
        held = self._hands[self.hand] - self._bounds[0]
        held -= (self.face_down[:, :, None] == _KINDS).sum(axis=1)
        state, block = np.nonzero(allowed & (held > 0))  # what it shows later isn't face down
        return state, plays[block]

    def _likelihood(self, state: Int, played: Int) -> Float:
        """Returns the probability of plays [k] in states [k], which may repeat side by side."""
        if self._known is not None:
            return self._known[state, played]
        first = np.flatnonzero(np.diff(state, prepend=-1))
        which = np.cumsum(np.diff(state, prepend=-1) != 0) - 1
        rows = state[first]
        known = self._probabilities(rows, self._replay.choices().legal(rows))
        return np.asarray(known[which, played])

    def _probabilities(self, rows: Int, legal: Bool) -> Float:
        """Returns the probabilities of states' actions: float64 [k, 69]; a single one is sure."""
        found = legal.astype(np.float64)
        free = legal.sum(axis=1) > 1
        if free.any():
            view = self._replay.view(self.seat)[rows[free]]
            found[free] = self.model.probabilities(view, legal[free])
        return found

    def _take(self, state: Int) -> None:
        self.hand, self.face_down = self.hand[state], self.face_down[state]
        self._replay.select(state)
        self._known = None

    @staticmethod
    def _rescaled(weight: Float) -> tuple[Float, float]:
        """Returns weights with 1 as the greatest, and the logarithm of what it was."""
        most = weight.max()
        return weight / most, float(np.log(most))


def _sums(hand: Int, weight: Float, number: int) -> Float:
    """Returns the sum of the weights of each hand's states: float64 [number]."""
    return np.bincount(hand, weight, number).astype(np.float64, copy=False)
