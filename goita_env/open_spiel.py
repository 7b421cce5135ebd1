"""Registers Goita with OpenSpiel: ``pyspiel.load_game("python_goita(rules=mini_3)")``.

Parameters: ``rules``, the name of a rule set; ``deck``, the letters of 16 tiles for a small game of
your own (``tiles.LETTERS``), such as PPPPPPPPLLLLGGGG; ``dealer``, a seat. A game is one round.
Each hand except the last is one chance node, so a small game has few histories.
A seat's observation has perfect recall of the deal, so it is its information state, too: the 512
bits of the environments. A redeal deals again, and the observation recalls nothing of the deal
before it. That deal reveals nothing of the next hands, but formally games with redeals (all except
the small ones) have no perfect recall.

It needs the extra ``[openspiel]``.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from math import comb, prod
from operator import le, sub
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from goita_env import actions
from goita_env.engine import core
from goita_env.engine.dealing import lay_deals, prepare_deals
from goita_env.engine.state import State
from goita_env.engine.tables import OVER, WAITING, code_of
from goita_env.errors import IllegalActionError, SettingError, naming_extras
from goita_env.hands import format_hand, list_hands, read_digits
from goita_env.rules import Rules, get_rules
from goita_env.tiles import (
    DIGITS,
    FACE_DOWN,
    LETTERS,
    MATCH_POINTS,
    NONE,
    NUM_KINDS,
    NUM_SEATS,
)
from goita_env.views import View, seat_view

with naming_extras():
    import pyspiel

MOST_WITH_REDEALS: Final = 1_000
"""Most decisions of a round for OpenSpiel, where hands may be dealt again: each redeal adds up to
eight, and there is no limit."""

_GAME_TYPE: Final = pyspiel.GameType(
    short_name="python_goita",
    long_name="Goita",
    dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
    chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
    information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
    utility=pyspiel.GameType.Utility.ZERO_SUM,
    reward_model=pyspiel.GameType.RewardModel.TERMINAL,
    max_num_players=NUM_SEATS,
    min_num_players=NUM_SEATS,
    provides_information_state_string=True,
    provides_information_state_tensor=True,
    provides_observation_string=True,
    provides_observation_tensor=True,
    parameter_specification={"rules": "jga", "deck": "", "dealer": 0},
)

Hand = tuple[int, ...]
"""Tiles of each kind."""


@lru_cache(maxsize=16)
def _hands(rules: Rules) -> list[Hand]:
    """Lists the hands that can be dealt from a deck."""
    return [tuple(hand) for hand in list_hands(rules.deck, rules.hand_size).tolist()]


def _read_params(params: dict[str, Any]) -> tuple[Rules, int]:
    name, deck, dealer = (params.get(key) for key in ("rules", "deck", "dealer"))
    rules = get_rules(name or "jga")
    if deck:
        if unknown := set(deck) - set(LETTERS):
            raise SettingError(f"expected letters of {LETTERS} as deck, got {sorted(unknown)}")
        tiles = tuple(deck.count(letter) for letter in LETTERS)
        rules = replace(rules, name=f"{rules.name} of {deck}", deck=tiles)
    if (dealer or 0) not in range(NUM_SEATS):
        raise SettingError(f"expected a dealer 0..3, got {dealer!r}")
    return rules, dealer or 0


def _fits(hand: Hand, tiles: Hand) -> bool:
    """Tells whether a hand can be dealt from these tiles."""
    return all(map(le, hand, tiles))


def most_decisions(rules: Rules) -> int:
    """Returns the most decisions of a round: three passes after each play except the last.

    Hands that are called, after which there may be a redeal, have five pawns.
    """
    if rules.hand_size > 4:
        return MOST_WITH_REDEALS
    plays = NUM_SEATS * (rules.hand_size // 2 - 1) + 1
    return plays + 3 * (plays - 1)


class GoitaGame(pyspiel.Game):  # type: ignore[misc]
    """The rounds of one rule set with one dealer.

    Raises:
        SettingError: if a parameter is impossible.
    """

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        self.rules, self.dealer = _read_params(params or {})
        self.hands = _hands(self.rules)
        info = pyspiel.GameInfo(
            num_distinct_actions=actions.NUM_ACTIONS,
            max_chance_outcomes=len(self.hands),
            num_players=NUM_SEATS,
            min_utility=-float(MATCH_POINTS),
            max_utility=float(MATCH_POINTS),
            utility_sum=0.0,
            max_game_length=most_decisions(self.rules),
        )
        super().__init__(_GAME_TYPE, info, params or {})

    def new_initial_state(
        self, state: pyspiel.StateStruct | dict[str, Any] | None = None
    ) -> GoitaState:
        """Returns the beginning of a round, or the state of a struct, as ``to_dict`` returns it.

        Raises:
            SettingError, IllegalActionError: if the struct is of another game, or its moves are not
                those of a round.
        """
        new = GoitaState(self)
        if state is not None:
            new.replay(state.to_dict() if isinstance(state, pyspiel.StateStruct) else state)
        return new

    def make_py_observer(
        self, iig_obs_type: Any = None, params: dict[str, Any] | None = None
    ) -> GoitaObserver | None:
        """Returns an observer of one seat's view; None for other kinds of observation."""
        kind = iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False)
        of_one_seat = kind.private_info == pyspiel.PrivateInfoType.SINGLE_PLAYER
        return GoitaObserver(params) if of_one_seat and kind.public_info else None


class _Round:
    """The hands that are dealt, and the engine's state after that; OpenSpiel copies it often."""

    def __init__(self, dealt: tuple[Hand, ...] = (), state: State | None = None) -> None:
        self.dealt, self.state = dealt, state

    def __deepcopy__(self, _: object) -> _Round:
        return _Round(self.dealt, None if self.state is None else self.state.copy())


class GoitaState(pyspiel.State):  # type: ignore[misc]
    """A moment of a round: hands are dealt, a seat acts, or the round is over."""

    def __init__(self, game: GoitaGame) -> None:
        super().__init__(game)
        self._round = _Round()

    def current_player(self) -> int:
        if (state := self._round.state) is None:
            return int(pyspiel.PlayerId.CHANCE)
        if self.is_terminal():
            return int(pyspiel.PlayerId.TERMINAL)
        return int(state.seat[0])

    def is_terminal(self) -> bool:
        state = self._round.state
        return state is not None and int(state.status[0]) == OVER

    def returns(self) -> list[float]:
        if (state := self._round.state) is None or not self.is_terminal():
            return [0.0] * NUM_SEATS
        points, winner = int(state.points[0]), int(state.winner[0])
        return [float(points if (seat - winner) % 2 == 0 else -points) for seat in range(NUM_SEATS)]

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Returns the hands that the next seat may be dealt, by number."""
        game, undealt = self.get_game(), self._undealt()
        total = comb(sum(undealt), game.rules.hand_size)
        return [
            (index, prod(map(comb, undealt, hand)) / total)
            for index, hand in enumerate(game.hands)
            if _fits(hand, undealt)
        ]

    def view(self, player: int) -> View | None:
        """Returns a seat's view; None while hands are dealt."""
        state = self._round.state
        return None if state is None else seat_view(state, player)

    def __str__(self) -> str:
        names = [self.action_to_string(player, action) for player, action in self._moves()]
        return " ".join(names)

    def replay(self, struct: dict[str, Any]) -> None:
        """Plays the moves of a struct, as ``to_dict`` returns them."""
        expected = {"rules": self.get_game().rules.name, "dealer": self.get_game().dealer}
        named = {key: struct.get(key) for key in expected}
        if named != expected or not isinstance(struct.get("moves"), list):
            raise SettingError(f"expected moves and {expected}, got {struct!r}")
        for move in struct["moves"]:
            (action,) = self._struct_to_actions({"move": move})
            self.apply_action(action)
        for key, value in self._to_struct().items():
            if struct.get(key, value) != value:
                raise SettingError(f"expected {key} {value!r} after the moves, got {struct[key]!r}")

    # OpenSpiel wraps what these four return: to_struct, to_json, apply_action_struct and so on.

    def _to_struct(self) -> dict[str, Any]:
        """Returns the whole state: all moves with their seats, and the hands as dealt."""
        dealt = self._round.dealt
        if self._round.state is not None:
            dealt = (*dealt, self._undealt())
        return {
            "rules": self.get_game().rules.name,
            "dealer": self.get_game().dealer,
            "current_player": self.current_player(),
            "hands": [format_hand(np.array(hand)) for hand in dealt],
            "moves": [self.action_to_string(player, action) for player, action in self._moves()],
            "returns": self.returns(),
        }

    def _to_observation_struct(self, player: int) -> dict[str, Any]:
        """Returns what a seat's view shows: its hand, the plays as it sees them, whose turn it is.

        Face-down blocks of others are "x"; ``observation`` has all 512 bits in hexadecimal.
        """
        view = self.view(player)
        if view is None:
            return {"player": player, "hand": ""}
        return {
            "player": player,
            "hand": format_hand(view.hand[0]),
            "dealer": self.get_game().dealer,
            "current_player": self.current_player(),
            # Seats of a view are relative to its own, those of OpenSpiel are not.
            "plays": [_plays(view, (seat - player) % NUM_SEATS) for seat in range(NUM_SEATS)],
            "legal_actions": [
                actions.name(action)
                for action in (self.legal_actions() if self.current_player() == player else ())
            ],
            "observation": view.words.tobytes().hex(),
        }

    def _action_to_struct(self, player: int, action: int) -> dict[str, Any]:
        """Returns a move in words: a seat with an action's short name, or a hand that is dealt."""
        return {"move": self.action_to_string(player, action)}

    def _struct_to_actions(self, struct: dict[str, Any]) -> list[int]:
        """Returns the action of a move, as ``_action_to_struct`` writes it."""
        move = struct.get("move")
        seat, colon, name = str(move).partition(":")
        if not colon and self.is_chance_node():
            kinds = read_digits(str(move), len(self._round.dealt))
            hand = tuple(kinds.count(kind) for kind in range(NUM_KINDS))
            if hand in self.get_game().hands:
                return [self.get_game().hands.index(hand)]
        elif colon and seat == str(self.current_player()):
            return [actions.parse(name)]
        raise SettingError(
            f"expected a move of {self.current_player()} as it is written, got {move!r}"
        )

    def _moves(self) -> list[tuple[int, int]]:
        return [(pair.player, pair.action) for pair in self.full_history()]

    def _undealt(self) -> Hand:
        undealt: Hand = self.get_game().rules.deck
        for hand in self._round.dealt:
            undealt = tuple(map(sub, undealt, hand))
        return undealt

    def _legal_actions(self, player: int) -> list[int]:
        assert self._round.state is not None
        low, high = core.legal_actions(self._round.state)
        return np.flatnonzero(core.unpack_legal(low, high)[0]).tolist()

    def _apply_action(self, action: int) -> None:
        if (state := self._round.state) is None:
            self._deal(action)
            return
        legal = self._legal_actions(self.current_player())
        if action not in legal:
            names = " ".join(map(actions.name, legal)) or "no action, the round is over"
            raise IllegalActionError(f"expected {names} in {str(self)!r}, got {action!r}")
        core.step(state, np.array([action]))
        if int(state.status[0]) == WAITING:  # a redeal
            self._round = _Round()

    def _deal(self, index: int) -> None:
        """Deals a hand, an index of ``game.hands``, to the next seat; the last hand follows."""
        game = self.get_game()
        if index not in range(len(game.hands)) or not _fits(game.hands[index], self._undealt()):
            raise IllegalActionError(
                f"expected the index of a hand of the tiles not dealt yet after {str(self)!r}, "
                f"got {index!r}"
            )
        self._round.dealt = (*self._round.dealt, game.hands[index])
        if len(self._round.dealt) == NUM_SEATS - 1:
            hands = (*self._round.dealt, self._undealt())
            codes = np.array([[code_of(hand) for hand in hands]])
            self._round.state = State.empty(1, game.rules)
            dealt = prepare_deals(game.rules, codes, np.array([game.dealer]))
            lay_deals(self._round.state, np.zeros(1, np.int64), dealt)

    def _action_to_string(self, player: int, action: int) -> str:
        if player == pyspiel.PlayerId.CHANCE:
            return format_hand(np.array(self.get_game().hands[action]))
        return f"{player}:{actions.name(action)}"


def _plays(view: View, seat: int) -> list[str]:
    """Returns a relative seat's plays in digits, block and attack, as a view shows them."""
    return [
        ("x" if block == FACE_DOWN else DIGITS[block]) + DIGITS[attack]
        for block, attack in zip(view.blocks[0, seat], view.attacks[0, seat], strict=True)
        if attack != NONE
    ]


class GoitaObserver:
    """An observer of one seat: its observation, which has perfect recall of the deal."""

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        if params:
            raise ValueError(f"expected an observation without parameters, got {params}")
        self.tensor: npt.NDArray[np.float32] = np.zeros(512, np.float32)
        self.dict = {"observation": self.tensor}

    def set_from(self, state: GoitaState, player: int) -> None:
        """Writes a seat's observation; zeros while hands are dealt."""
        view = state.view(player)
        self.tensor[:] = 0 if view is None else view.observation()[0]

    def string_from(self, state: GoitaState, player: int) -> str:
        """Returns a seat's number, its hand, and its observation in hexadecimal."""
        view = state.view(player)
        if view is None:
            return f"{player}: nothing is dealt"
        return f"{player}: {format_hand(view.hand[0])} {view.words.tobytes().hex()}"


pyspiel.register_game(_GAME_TYPE, GoitaGame)
