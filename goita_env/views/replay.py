"""Replays deals decision by decision as their seats see them.

Beliefs, the bot protocol and the weighing of worlds give a ``Replay`` the decisions and get views;
none of them handles the engine's state.
"""

from __future__ import annotations

from functools import cached_property
from typing import Final, Self

import numpy as np
import numpy.typing as npt

from goita_env.actions import NUM_ACTIONS, name
from goita_env.arrays import Bits, Bool, Int
from goita_env.engine import core
from goita_env.engine.dealing import lay_deals, prepare_deals
from goita_env.engine.state import State
from goita_env.engine.tables import CHOOSE, FACE_UP, FRESH, OVER, PLAYED, RADIX, WAITING, code_of
from goita_env.errors import SettingError
from goita_env.information import PLAIN, InformationStructure
from goita_env.rules import Rules
from goita_env.tiles import NUM_KINDS, NUM_SEATS
from goita_env.views.observation import asked_before_play
from goita_env.views.view import View, acting_view, seat_view

_KINDS: Final = np.arange(NUM_KINDS)


class Choices:
    """The legal actions of the acting seats of M games; none in a game in which no seat acts.

    Args:
        low: uint64 [M] bits of the actions 0 to 63.
        high: uint64 [M] bits of the others.
        num_actions: 69, or with messages 77.
    """

    def __init__(self, low: Bits, high: Bits, num_actions: int = NUM_ACTIONS) -> None:
        self._low, self._high, self._num_actions = low, high, num_actions

    @cached_property
    def num_legal(self) -> Int:
        """[M] The number of legal actions."""
        return np.bitwise_count(self._low).astype(np.int64) + np.bitwise_count(self._high)

    def allow(self, actions: Int) -> Bool:
        """Tells whether each of the actions [M] is legal in its game: bool [M]."""
        return core.allowed(self._low, self._high, actions).astype(bool)

    def legal(self, games: Int) -> Bool:
        """Returns the legal actions of the games of an index [n]: bool [n, 69], or [n, 77]."""
        return core.unpack_legal(self._low[games], self._high[games], self._num_actions)


class Replay:
    """M deals that are replayed with the hands of one seat or of all four seats.

    ``of_deals`` knows all hands, so it knows which seats act before play, and every decision is a
    ``step``. ``of_seat`` knows one seat's hand, a different one in each game, and the hands that
    the seat is shown; all other hands are unknown. So pre-play decisions come by ``answer``,
    with their seat.

    Attributes:
        game: int64 [M] numbers of the games, which views carry.
    """

    def __init__(self, state: State, known_seat: int | None, game: Int | None) -> None:
        self._state, self._known_seat = state, known_seat
        self.game = np.arange(state.num_games) if game is None else game

    @classmethod
    def of_deals(
        cls,
        rules: Rules,
        hands: npt.NDArray[np.integer],
        dealer: npt.NDArray[np.integer],
        scores: npt.NDArray[np.integer],
        game: Int | None = None,
        information: InformationStructure = PLAIN,
    ) -> Self:
        """Begins M deals in which all hands are known.

        Args:
            rules: the rule set.
            hands: [M, 4, 8] tiles of each kind dealt to each seat.
            dealer: [M] seats.
            scores: [M, 2] points of the two teams before the round.
            game: [M] numbers of the games; None: 0 to M - 1.
            information: shown tiles and messages; messages are steps.
        """
        state = State.empty(len(hands), rules, information)
        codes, points = hands.astype(np.int64) @ np.array(RADIX), scores.T.astype(np.int64)
        dealers = dealer.astype(np.int64)
        dealt = prepare_deals(rules, codes, dealers, points, information=information)
        lay_deals(state, np.arange(len(hands)), dealt)
        return cls(state, None, game)

    @classmethod
    def of_seat(
        cls,
        rules: Rules,
        seat: int,
        hands: npt.NDArray[np.integer],
        dealer: int,
        scores: npt.ArrayLike = (0, 0),
        game: Int | None = None,
        information: InformationStructure = PLAIN,
        shown: npt.NDArray[np.integer] | None = None,
    ) -> Self:
        """Begins one deal as one seat knows it, with M possible hands of it.

        Args:
            rules: the rule set.
            seat: the seat.
            hands: [M, 8] tiles of each kind dealt to it.
            dealer: the seat that deals.
            scores: points of the two teams before the round.
            game: [M] numbers of the games; None: 0 to M - 1.
            information: shown tiles and messages; messages are answers.
            shown: [k, 8] tiles dealt to the seats that it is shown, in the order of
                ``information.shown_seats``; None: none.

        Raises:
            SettingError: if ``shown`` is not one hand for each seat whose tiles are shown.
        """
        shown_hands = np.zeros((0, NUM_KINDS), np.int64) if shown is None else shown
        if shown_hands.shape != (len(information.shown_seats), NUM_KINDS):
            raise SettingError(
                "expected a game in which no tiles of others are shown, or the hands of the shown "
                f"seats, got {information!r} and hands of shape {shown_hands.shape}"
            )
        num_hands = len(hands)
        # Unknown hands are the whole deck, so they can play any tiles.
        codes = np.full((num_hands, NUM_SEATS), code_of(rules.deck))
        codes[:, seat] = hands @ np.array(RADIX)
        for relative, hand in zip(information.shown_seats, shown_hands, strict=True):
            codes[:, (seat + relative) % NUM_SEATS] = hand @ np.array(RADIX)
        points = np.repeat(np.asarray(scores, np.int64)[:, None], num_hands, axis=1)
        state = State.empty(num_hands, rules, information)
        state.clock = dealer  # a deal puts the dealer on the clock's slot, so slots are seats
        dealt = prepare_deals(rules, codes, np.full(num_hands, dealer), points, questions=False)
        lay_deals(state, np.arange(num_hands), dealt)
        return cls(state, seat, game)

    def __len__(self) -> int:
        return self._state.num_games

    def select(self, index: Int) -> None:
        """Keeps only the games of an index [m]; a game may be taken several times."""
        self._state, self.game = self._state.select(index), self.game[index]

    @property
    def seat(self) -> Int:
        """The acting seat, -1 at the end of a deal: int64 [M].

        With one hand known it is the seat to play or pass, also during pre-play decisions.
        """
        return self._state.seat

    @property
    def asking(self) -> Int:
        """Games, all hands known, in which a pre-play decision is open: int64 [m]."""
        return self._state.asking

    @property
    def asked_choice(self) -> Bool:
        """Whether the pre-play decision is redeal or continue, else call or silent: bool [M]."""
        return np.asarray(self._state.status == CHOOSE)

    @property
    def gained(self) -> Int:
        """Points of seats 0 and 2 in rounds that are over, minus the others'; else 0: int64 [M].

        All hands must be known.
        """
        over = self._state.status == OVER
        return np.asarray(over * self._state.points * (1 - 2 * (self._state.winner & 1)))

    def choices(self) -> Choices:
        """Returns the acting seats' legal actions; their hands must be known."""
        self._check_known(None)
        return Choices(*core.legal_actions(self._state), self._state.information.num_actions)

    def shown_at_scoring(self, attack: int) -> Bool:
        """Tells which kinds of face-down block a last play with this attack shows: bool [M, 8]."""
        plays = 1 + NUM_KINDS * _KINDS + attack
        keys = self._state.status[:, None] * NUM_ACTIONS + plays
        return np.asarray(self._state.tables.doubled[keys])

    def view(self, seat: int | Int | None = None) -> View:
        """Returns the views of seats.

        Args:
            seat: one seat, or one for each game [M]; None: the acting seats.

        Raises:
            SettingError: if only another seat's hand is known.
        """
        self._check_known(seat)
        if seat is None:
            return acting_view(self._state, self.game)
        return seat_view(self._state, seat, self.game)

    def question(self, action: int) -> View:
        """Returns the views of the known seat when it makes a pre-play decision.

        Args:
            action: one of the answers between which it decides.

        Raises:
            SettingError: if all hands are known, or play has begun.
        """
        view = self.view(self._known_before_play(action))
        words = asked_before_play(view.words, action)
        return View(words, self.game, view.rules, view.information)

    def step(self, actions: int | Int) -> None:
        """Makes one decision in every game.

        Args:
            actions: action of the acting seat, one for all games or [M]; a play or a pass, or with
                all hands known an answer. They are not checked: see ``choices``. The kind of a
                block that the known seat does not see makes no difference, except in the last
                play: see ``shown_at_scoring``.
        """
        actions = actions if isinstance(actions, np.ndarray) else np.full(len(self), actions)
        slot, status = self._state.clock, self._state.status
        key = None if self._known_seat is None else status * NUM_ACTIONS + actions
        core.step(self._state, actions)
        if key is not None:
            self._end_rounds(slot, key)

    def answer(self, seat: int, action: int) -> None:
        """Takes in a seat's pre-play decision where one hand is known; silence leaves no trace.

        A message reaches its observers.

        Raises:
            SettingError: if all hands are known, or play has begun.
        """
        self._known_before_play(action)  # for its errors
        state = self._state
        dealer, state.clock = state.clock, seat
        core.note(state, action)
        state.clock = dealer

    def lay_open(self, seat: int, hand: npt.NDArray[np.integer]) -> None:
        """Takes in the hand [8] of a caller of six or more pawns, which ends the round."""
        state, code = self._state, int(hand @ np.array(RADIX))
        state.plays[:, seat] = state.tables.call_bits[code]
        state.hand[seat], state.up[:] = 0, code
        self.end()

    def end(self) -> None:
        """Ends the round in all games."""
        self._state.status[:] = OVER

    def _end_rounds(self, slot: int, key: Int) -> None:
        """Ends the rounds in which the play just made, on ``slot``, was its seat's last.

        A known hand runs out in the engine, which ends the round itself; an unknown one, the whole
        deck, does not. ``key``: [M] status and action of the play, as in ``tables``.
        """
        state = self._state
        # ``shift`` counts 16 bits a play, and ``last_play`` is the shift before the last one.
        is_last = state.shift[slot] > state.tables.last_play
        ended = np.flatnonzero(is_last & (state.status < WAITING))
        if len(ended):
            doubled = ended[state.tables.doubled[key[ended]]]
            played, face_up = state.tables.moves[[PLAYED, FACE_UP]][:, key[doubled]]
            core.show_seventh(state, slot, doubled, played - face_up)
            state.status[ended] = OVER

    def _check_known(self, seat: int | Int | None) -> None:
        if self._known_seat is not None:
            seats = np.asarray(self.seat if seat is None else seat)
            if (seats != self._known_seat).any():
                raise SettingError(
                    f"expected seat {self._known_seat}, whose hand is known, got {seats.tolist()!r}"
                )

    def _known_before_play(self, action: int) -> int:
        """Returns the known seat; a SettingError if there is none or play has begun."""
        if self._known_seat is None:
            raise SettingError(
                f"expected {self._name(action)!r} as a step, since all hands are known"
            )
        if (self._state.status != FRESH).any():
            raise SettingError(f"expected no {self._name(action)!r} once play has begun")
        return self._known_seat

    def _name(self, action: int) -> str:
        return name(action, self._state.information.num_actions)
