"""Follows one seat through a round for every hand that it may have been dealt: a forward filter.

The likelihood of what a seat did given its hand doesn't depend on the others' hands (reach
probabilities factorise), so each seat is followed by itself. A *state* is a dealt hand and the
tiles under the seat's own blocks in order of play, for its policy sees that order; a state's weight
is the probability of all that the seat did, its hidden choices included. Summed over the states of
a hand that is the likelihood of the hand (the recursion of the forward algorithm, Rabiner 1989).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agents.base import Bool, Float, Int
from agents.beliefs.assumed import FACTS, Assumption, UnexplainedError
from agents.beliefs.history import Answers, Deed
from goita_env import View, actions
from goita_env.actions import CALL, NUM_ACTIONS, REDEAL, SILENT
from goita_env.rules import Rules
from goita_env.tiles import HAND_SIZE, NUM_KINDS, PAWN
from goita_env.views import NONE, Replay

_KINDS = np.arange(NUM_KINDS)


@dataclass(frozen=True)
class Table:
    """Says what is told of the round to all seats before the first play."""

    rules: Rules
    dealer: int
    scores: tuple[int, int]
    """Points of the viewer's team and of the other before the round."""
    answers: Answers


@dataclass(frozen=True)
class States:
    """Shows the n states of a filter at one moment."""

    hand: Int
    """[n] Number of each state's hand as dealt."""
    held: Int
    """[n, 8] Tiles of each kind in hand now."""
    face_down: npt.NDArray[np.int8]
    """[n, 4] Kind under the seat's block by its play, NONE where none is hidden."""
    weight: Float
    """[n] In sums over deals, but for a factor."""

    def draw(self, hands: Int, numbers: Float) -> Int:
        """Draws a state of each of some hands: int64 [k].

        Args:
            hands: [k] numbers of hands.
            numbers: [k] random, from 0 to below 1.
        """
        order = np.argsort(self.hand, kind="stable")
        summed = self.weight[order].cumsum()
        first = self.hand[order].searchsorted(hands)
        last = self.hand[order].searchsorted(hands, side="right") - 1
        before = summed[first] - self.weight[order][first]
        drawn = summed.searchsorted(before + numbers * (summed[last] - before), side="right")
        found: Int = order[np.clip(drawn, first, last)]
        return found


class SeatFilter:
    """Keeps the states of one seat and their weights.

    Args:
        table: the round as it begins.
        seat: the seat followed, relative to the viewer: 1 to 3.
        hands: [M, 8] hands that it may have been dealt.
        bounds: [8] fewest and [8] most tiles of each kind that are possible, as far as the round
            has come: what it has shown by then, and what the others have left. What it did before
            is asked of such hands alone.
        assumed: how it is supposed to play.

    Attributes:
        hand: int64 [n] number of each state's hand.
        face_down: int8 [n, 4] kind under the seat's block by its play, NONE where none is hidden
            from the viewer.
        weight: float64 [n] of each state, the greatest 1.
        scale: natural logarithm of what weights are to be multiplied by.
    """

    def __init__(
        self, table: Table, seat: int, hands: Int, bounds: tuple[Int, Int], assumed: Assumption
    ) -> None:
        self.assumed, self.seat = assumed, seat
        self._bounds = bounds
        self._table, self._hands = table, hands
        self._shown = np.zeros(NUM_KINDS, np.int64)
        self._plays = 0
        likelihood = self._answered()
        self.hand = np.flatnonzero(likelihood)
        self.weight, self.scale = self._rescaled(likelihood[self.hand])
        self.face_down = np.full((len(self.hand), 4), NONE, np.int8)
        self._replay = self._begin(hands[self.hand])
        for caller in table.answers.called:
            self._replay.answer(caller, CALL)
        for chooser, choice in table.answers.choices:
            self._replay.answer(chooser, choice)
        self._known: Float | None = None

    def __len__(self) -> int:
        """Returns the number of states."""
        return len(self.hand)

    # -------------------------------------------------------------------------------- what is known

    def state_weights(self) -> Float:
        """Returns each state's weight in sums over deals: float64 [n]."""
        if self.assumed is not FACTS:
            return self.weight
        held = self._hands[self.hand] - self._shown
        down = (self.face_down[:, :, None] == _KINDS).sum(axis=1)
        ways = np.ones(len(self))
        for step in range(HAND_SIZE):  # held! / (held - down)!, kind by kind
            ways *= np.where(step < down, held - step, 1).prod(axis=1)
        total = _sums(self.hand, ways, len(self._hands))
        ways /= total[self.hand]
        return ways

    def by_hand(self) -> Float:
        """Returns the likelihood of each hand, but for the scale: float64 [M]."""
        return _sums(self.hand, self.state_weights(), len(self._hands))

    def states(self) -> States:
        """Returns the states as they are now."""
        down = (self.face_down[:, :, None] == _KINDS).sum(axis=1)
        held = self._hands[self.hand] - self._shown - down
        return States(self.hand, held, self.face_down, self.state_weights())

    # --------------------------------------------------------------------------------- what happens

    def outlook(self) -> Float:
        """Returns the probability of each public action by hand as the seat is about to decide.

        A play whose block would lie face down counts as the one with block 0. Hands without a state
        have zeros.

        Returns:
            float64 [M, 69], rows summing to 1.
        """
        if self._known is None:
            rows = np.arange(len(self))
            self._known = self._probabilities(rows, self._replay.choices().legal(rows))
        known = self._known
        if self._leads():
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

    def decide(self, deed: Deed) -> None:
        """Takes in what the seat itself did.

        Raises:
            UnexplainedError: if no state allows it; nothing has changed.
        """
        state, played = self._candidates(deed)
        likely = self._likelihood(state, played)
        weight = self.weight[state] * likely
        kept = weight > 0
        if not kept.any():
            raise UnexplainedError(
                f"expected what {self.assumed.name} may do on relative seat {self.seat}, "
                f"got {actions.name(deed.action)!r}{' (block hidden)' * deed.hidden}; "
                "a tremble above 0 allows for it"
            )
        state, played = state[kept], played[kept]
        self.weight, added = self._rescaled(weight[kept])
        self.scale += added
        self._take(state)
        pair = actions.decode(deed.action)
        if pair is not None:
            if deed.hidden:
                self.face_down[:, self._plays] = (played - 1) // NUM_KINDS
            else:
                self._shown[pair[0]] += 1
            self._shown[pair[1]] += 1
            self._plays += 1
        self._replay.step(played)
        self._known = None

    def see(self, deed: Deed) -> None:
        """Takes in what another seat did."""
        action = deed.action
        if deed.hidden and deed.last:  # any block will do that would not have been shown
            attack = (action - 1) % NUM_KINDS
            block = self._replay.shown_at_scoring(attack)[0].argmin()
            action = actions.encode(int(block), attack)
        self._replay.step(action)
        self._known = None

    def drop(self, limit: Int) -> None:
        """Gives up the hands that hold more of a kind than a limit: [8].

        Raises:
            UnexplainedError: if none is left.
        """
        kept = (self._hands[self.hand] <= limit).all(axis=1)
        if kept.all():
            return
        if not kept.any():
            raise UnexplainedError(
                f"expected a hand of relative seat {self.seat} that {self.assumed.name} may have "
                "played so, got none with the tiles that the others showed"
            )
        state = np.flatnonzero(kept)
        self.weight = self.weight[state]
        self._take(state)

    # ------------------------------------------------------------------------------------ in detail

    def _begin(self, hands: Int) -> Replay:
        """Returns the deal as the seat knows it with some hands [m], nothing answered yet."""
        table = self._table
        return Replay.of_seat(table.rules, self.seat, hands, table.dealer, table.scores)

    def _answered(self) -> Float:
        """Returns the likelihood of what the seat answered before play: float64 [M]."""
        answers, pawns = self._table.answers, self._hands[:, PAWN]
        fewest, most = self._bounds
        possible = ((self._hands >= fewest) & (self._hands <= most)).all(axis=1)
        found: Float = np.where(possible, 1.0, 0.0)
        before = [s for s in answers.called if self._earlier(s, self.seat)]
        if self.seat in answers.asked:
            five = np.flatnonzero((pawns >= 5) & (found > 0))
            calls = self.seat in answers.called
            if calls:
                found[pawns != 5] = 0  # six or more end the round
            if len(five):
                replay = self._begin(self._hands[five])
                for seat in before:
                    replay.answer(seat, CALL)
                found[five] *= self._answer(replay.question(CALL), CALL if calls else SILENT)
        for number, (seat, choice) in enumerate(answers.choices):
            if seat == self.seat:
                some = np.flatnonzero(found)
                replay = self._begin(self._hands[some])
                for caller in answers.called:
                    replay.answer(caller, CALL)
                for other, earlier in answers.choices[:number]:
                    replay.answer(other, earlier)
                found[some] *= self._answer(replay.question(REDEAL), choice)
        if not found.any():
            raise UnexplainedError(
                f"expected answers before play that {self.assumed.name} may give on relative seat "
                f"{self.seat}, got others; a tremble above 0 allows for them where they are legal"
            )
        return found

    def _answer(self, view: View, answer: int) -> Float:
        """Returns the probability of an answer as seats see the question: float64 [m]."""
        legal = view.legal()
        found = legal[:, answer].astype(np.float64)
        free = np.flatnonzero((legal.sum(axis=1) > 1) & (found > 0))
        if len(free):
            found[free] = self.assumed.probabilities(view[free], legal[free])[:, answer]
        return found

    def _earlier(self, seat: int, other: int) -> bool:
        """Tells whether a seat is asked before another."""
        order = self._table.answers.order
        return order.index(seat) < order.index(other)

    def _leads(self) -> bool:
        """Tells whether the block of the seat's play would lie face down."""
        return not self._replay.choices().allow(np.full(len(self), actions.PASS))[0]

    def _candidates(self, deed: Deed) -> tuple[Int, Int]:
        """Returns states and what they would have to play for a deed: int64 [k], [k]."""
        if not deed.hidden:
            allowed = self._replay.choices().allow(np.full(len(self), deed.action))
            state = np.flatnonzero(allowed)
            return state, np.full(len(state), deed.action)
        attack = (deed.action - 1) % NUM_KINDS
        plays = 1 + NUM_KINDS * _KINDS + attack
        choices = self._replay.choices()
        allowed = np.stack([choices.allow(np.full(len(self), play)) for play in plays], axis=1)
        if deed.last:
            allowed &= ~self._replay.shown_at_scoring(attack)
        held = self._hands[self.hand] - self._bounds[0]
        held -= (self.face_down[:, :, None] == _KINDS).sum(axis=1)
        state, block = np.nonzero(allowed & (held > 0))  # what it shows later isn't face down
        return state, plays[block]

    def _likelihood(self, state: Int, played: Int) -> Float:
        """Returns the probability of plays [k] in states [k], which may repeat side by side."""
        if self._known is not None:
            likely: Float = self._known[state, played]
            return likely
        first = np.flatnonzero(np.diff(state, prepend=-1))
        which = np.cumsum(np.diff(state, prepend=-1) != 0) - 1
        rows = state[first]
        legal = self._replay.choices().legal(rows)
        found: Float = self._probabilities(rows, legal)[which, played]
        return found

    def _probabilities(self, rows: Int, legal: Bool) -> Float:
        """Returns the probabilities of states' actions: float64 [k, 69]; a single one is sure."""
        found = legal.astype(np.float64)
        free = legal.sum(axis=1) > 1
        if free.any():
            view = self._replay.view(self.seat)[rows[free]]
            found[free] = self.assumed.probabilities(view, legal[free])
        return found

    def _take(self, state: Int) -> None:
        """Goes on with some states; they may repeat."""
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
    found: Float = np.bincount(hand, weight, number).astype(np.float64, copy=False)
    return found
