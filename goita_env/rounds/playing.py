"""Plays N rounds or matches side by side, tick by tick."""

from __future__ import annotations

import copy
from typing import Any, Final, NoReturn, Self

import numpy as np
import numpy.typing as npt

from goita_env import seeds
from goita_env.actions import NUM_ACTIONS, name
from goita_env.checks import as_array, came, check_seed, integers
from goita_env.engine import core
from goita_env.engine.match import Episode, Match, Outcome
from goita_env.engine.state import State
from goita_env.engine.tables import OVER
from goita_env.engine.waiting import Waiting
from goita_env.errors import (
    ActionError,
    EpisodeOverError,
    IllegalActionError,
    SettingError,
    StaleTurnError,
)
from goita_env.rounds.ticks import Dealt, Ended, Made, Tick
from goita_env.rules import JGA, Rules
from goita_env.worlds import Positions

Int = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]
Bits = npt.NDArray[np.uint64]
Keys = npt.NDArray[np.uint64]

CROWDED: Final = 0.75
"""Games that are over are dropped once less than this share of the batch is still played."""

U64 = np.uint64
_NO_ROWS: Final = np.zeros(0, np.int64)


class Rounds:
    """Plays N rounds or matches side by side.

    Args:
        num_games: N.
        rules: a rule set or its name.
        episode: "round" (ends with the first scored round) or "match" (ends at 150 points).
        seed: seed of the deals.
        games: int [N] numbers of the games in the deals' keys, 0 to N - 1 by default: game i of a
            seed has the same deals in a batch of any size.
        numbers: int [N] by which views tell games apart; ``games`` by default. Where these repeat
            (duplicate deals) and agents have a memory, give numbers that don't.
        hands, dealer, scores: of the first deals, as ``GoitaVectorEnv.reset`` takes them.
        auto_reset: go on with the next episode at once, for ever; else a game is over after its
            first.
        finals: keep what rounds end in, for ``Ended.view`` and ``Ended.hands``.
        log: tell every decision in ``Tick.made``.

    Raises:
        SettingError, HandsError: if one of them is impossible.

    Attributes:
        rules: the rule set.
        numbers: int64 [N] as above.
        time: steps made so far.
        tick: what is asked now.
    """

    def __init__(
        self,
        num_games: int,
        *,
        rules: str | Rules = JGA,
        episode: Episode = "round",
        seed: int = 0,
        games: npt.ArrayLike | None = None,
        numbers: npt.ArrayLike | None = None,
        hands: npt.ArrayLike | None = None,
        dealer: npt.ArrayLike | None = None,
        scores: npt.ArrayLike | None = None,
        auto_reset: bool = False,
        finals: bool = True,
        log: bool = False,
    ) -> None:
        keyed = None if games is None else _numbers(games, num_games, "games")
        match = Match(num_games, rules, episode, seed, keyed, auto_reset)
        match.reset(hands, dealer, scores)
        told = match.games if numbers is None else _numbers(numbers, num_games, "numbers")
        self._begin(match, told, finals=finals, log=log)
        self.tick = self._ask()
        self.tick.dealt = Dealt(self, np.arange(num_games))

    @classmethod
    def from_positions(
        cls,
        positions: Positions,
        places: Int | Bool | None = None,
        *,
        keys: Keys | None = None,
        seed: int = 0,
        actions: npt.ArrayLike | None = None,
        finals: bool = False,
    ) -> Self:
        """Returns rounds that go on from given positions.

        Args:
            positions: where the games stand; they stay as they are.
            places: int [N] the positions to play on, which may repeat, or a mask; None: each once.
            keys: uint64 [N] of the games: what is dealt after a redeal depends on the key and on
                the time of the redeal alone. None: keys of ``seed``, others than those of
                ``Rounds(seed=seed)``.
            seed: as above.
            actions: [N] first decision in each game, made at once; None: they are asked.
            finals: as above.

        Raises:
            ActionError, IllegalActionError: if ``actions`` are wrong.
            SettingError: if ``keys`` or ``seed`` are.
        """
        every = np.arange(len(positions))
        places = every if places is None else every[places]
        rounds, many = cls.__new__(cls), len(places)
        if keys is None:  # not those of ``Rounds(seed=seed)``: a search must not know what comes
            keys = seeds.mix(~seeds.game_keys(check_seed(seed), np.arange(many)))
        elif keys.shape != (many,) or keys.dtype != U64:
            raise SettingError(f"expected {many} keys as uint64, got {came(keys)}")
        match = Match.standing_at(positions._state.select(places), keys)
        rounds._begin(match, np.arange(many), finals=finals, log=False)
        rounds._by_time = True
        if actions is None:
            rounds.tick = rounds._ask()
        else:
            rounds._legal = core.legal_actions(match.state)
            rounds.tick = rounds._advance(rounds._check(np.arange(many), actions))
        return rounds

    def _begin(self, match: Match, numbers: Int, *, finals: bool, log: bool) -> None:
        """Sets up what all rounds have."""
        self._match, self._finals, self._log = match, finals, log
        self.rules, self.numbers, self.time = match.rules, numbers, 0
        self._by_time = False
        """What is dealt after a redeal depends on the time."""
        self._held: Int | None = None
        """[h] The games that the match still holds, ascending; None: all."""
        self._playing = match.num_games
        self._waiting = Waiting(match.num_games)
        nothing = np.zeros(match.num_games, U64)
        self._legal: tuple[Bits, Bits] = (nothing, nothing)
        self._forced: Int = np.zeros(match.num_games, np.int64)

    @property
    def num_games(self) -> int:
        """Returns N."""
        return len(self.numbers)

    @property
    def over(self) -> bool:
        """Tells whether every game is over."""
        return self._playing == 0

    @property
    def waiting(self) -> Int:
        """Returns the games that have been waiting for an answer, ascending: int64 [w]."""
        return self._numbered(self._waiting.places)

    def positions(self) -> Positions:
        """Returns where the games stand, nothing hidden, those that wait among them."""
        state, waiting = self._match.state.copy(), copy.deepcopy(self._waiting)
        waiting.wake(state, waiting.places)
        return Positions(state)

    def step(self, actions: npt.ArrayLike, rows: npt.ArrayLike | None = None) -> Tick:
        """Makes a decision in every game that doesn't wait.

        Args:
            actions: int [m] legal actions.
            rows: int [m] the games that they are for, ascending: games of ``tick.rows``, or games
                that wait. Games that are asked and get no answer wait from now on. None: those of
                ``tick.rows``.

        Returns:
            What this led to; also ``self.tick``.

        Raises:
            EpisodeOverError: if all games are over.
            ActionError: if the actions have the wrong number or type, or a game isn't asked and
                doesn't wait.
            IllegalActionError: if one is illegal. Nothing has changed in each case.
        """
        if self.over:
            raise EpisodeOverError(
                f"expected no step after the end of all {self.num_games} games, "
                f"got one with actions of {came(actions)}"
            )
        asked = self.tick._asked
        places = asked if rows is None else self._open(rows)
        chosen = self._check(places, actions)
        if rows is not None:
            self._waiting.wake(self._match.state, places)
            left = self._mark(asked)
            left[places] = False
            self._waiting.park(self._match.state, left.nonzero()[0], *self._legal)
        forced = self._forced
        forced[places] = chosen
        self.tick = self._advance(forced)
        return self.tick

    def _advance(self, actions: Int) -> Tick:
        """Makes the decisions; ``actions``: [h] for every game that is held, 0 where it waits."""
        match, state = self._match, self._match.state
        made = self._made(actions) if self._log else None
        core.step(state, actions)
        if len(state.ended) == 0:
            self.time += 1
            tick = self._ask()
            tick.made = made
            return tick

        rows = state.ended
        final = state.select(rows) if self._finals else None
        if self._by_time:
            match.episodes[:], match.deals[:] = self.time, 1
        outcome, again = match.go_on(), match.redealt
        ended, redealt = self._endings(rows, outcome, again, final)
        dealt = rows
        if not match.auto_reset:
            dealt = again
            if outcome is not None:
                self._playing -= int(np.count_nonzero(outcome.done))
                dealt = np.concatenate((again, outcome.rows[~outcome.done]))
        dealt = self._numbered(np.sort(dealt))
        self._thin_out()
        self.time += 1
        tick = self._ask()
        tick.made, tick.ended, tick.redealt = made, ended, redealt
        tick.dealt = Dealt(self, self._places(dealt)) if len(dealt) else None
        return tick

    def _endings(
        self, rows: Int, outcome: Outcome | None, again: Int, final: State | None
    ) -> tuple[Ended | None, Ended | None]:
        """Returns the scored rounds and the redealt ones among those that a step ended."""
        scored = redealt = None
        parts = (final, final)
        if final is not None and len(again) and outcome is not None:
            won = final.winner >= 0
            parts = final.select(won.nonzero()[0]), final.select((~won).nonzero()[0])
        if outcome is not None:
            games = self._numbered(outcome.rows)
            numbers = self.numbers[games]
            scored = Ended(games, outcome.points, outcome.winner, outcome.done, numbers, parts[0])
        if len(again):
            games, zeros = self._numbered(again), np.zeros(len(again), np.int64)
            redealt = Ended(games, zeros, zeros - 1, zeros > 0, self.numbers[games], parts[1])
        return scored, redealt

    def _thin_out(self) -> None:
        """Drops the games that are over, once they are many."""
        state = self._match.state
        if 0 < self._playing < CROWDED * state.num_games:
            kept = (state.status != OVER).nonzero()[0]
            self._held = self._numbered(kept)
            self._waiting.keep(kept)
            self._match.keep(kept)

    def _ask(self) -> Tick:
        """Works out who has a choice now."""
        if self.over:
            return Tick(self, _NO_ROWS)
        self._legal = low, high = core.legal_actions(self._match.state)
        self._forced, number = core.only_action(low, high)
        tick = Tick(self, (number > 1).nonzero()[0])
        self._waiting.tell(low, high)
        return tick

    def _made(self, actions: Int) -> Made:
        """Returns the decisions that are about to be made."""
        seats = self._match.state.seat
        places = (seats >= 0).nonzero()[0]
        return Made(self._numbered(places), seats[places], actions[places])

    def _check(self, places: Int, actions: npt.ArrayLike) -> Int:
        """Returns actions as int64 [m] after checking that each is legal in its game."""
        given = _integers(actions)
        if given is None or given.shape != (len(places),):
            raise ActionError(
                f"expected {len(places)} actions as whole numbers of shape ({len(places)},), "
                f"got {came(actions)}"
            )
        chosen: Int = given.astype(np.int64, copy=False)
        low, high = self._legal
        legal = core.allowed(low[places], high[places], chosen)
        if np.count_nonzero(legal) < len(places):
            wrong = int((legal == 0).argmax())
            self._refuse(int(places[wrong]), int(chosen[wrong]))
        return chosen

    def _refuse(self, place: int, action: int) -> NoReturn:
        """Raises the error for a wrong action."""
        game = int(self._numbered(np.array([place]))[0])
        low, high = self._legal
        legal = np.flatnonzero(core.unpack_legal(low[[place]], high[[place]])[0]).tolist()
        if not legal:
            raise ActionError(f"expected actions for games that are asked, got one for game {game}")
        if not 0 <= action < NUM_ACTIONS:
            raise ActionError(
                f"expected actions 0..{NUM_ACTIONS - 1}, got {action!r} in game {game}"
            )
        raise IllegalActionError(
            f"expected one of {' '.join(map(name, legal))}, got {name(action)!r} ({action}) "
            f"in game {game}"
        )

    def _places(self, rows: npt.ArrayLike) -> Int:
        """Returns where games stand in the match: int64 [m]."""
        games = _integers(rows)
        if games is None or games.ndim != 1:
            raise ActionError(f"expected numbers of games, ascending, got {came(rows)}")
        if len(games) and (
            (np.diff(games) <= 0).any() or games[0] < 0 or games[-1] >= self.num_games
        ):
            raise ActionError(
                f"expected ascending numbers of games 0..{self.num_games - 1}, "
                f"got {games.tolist()!r}"
            )
        places: Int = games.astype(np.int64)
        if self._held is not None:
            places = np.minimum(self._held.searchsorted(places), len(self._held) - 1)
            gone = self._held[places] != games
            if gone.any():
                raise ActionError(f"expected games under way, got {int(games[gone.argmax()])}")
        return places

    def _open(self, rows: npt.ArrayLike) -> Int:
        """Returns where games stand of which each is asked or waits: int64 [m]."""
        places = self._places(rows)
        fine = (self._mark(self.tick._asked) | self._waiting.there)[places]
        if not fine.all():
            game = int(self._numbered(places[~fine])[0])
            raise ActionError(f"expected answers for games that are asked, got one for game {game}")
        return places

    def _mark(self, places: Int) -> Bool:
        """Tells of each game that is held whether it is among those: bool [h]."""
        marked = np.zeros(self._match.num_games, bool)
        marked[places] = True
        return marked

    def _numbered(self, places: Int) -> Int:
        """Returns the games that stand at places of the match: int64 [m]."""
        return places if self._held is None else self._held[places]

    def _at(self, time: int) -> State:
        """Returns the games as they stood after so many steps.

        Raises:
            StaleTurnError: if a step was made since.
        """
        if time != self.time:
            raise StaleTurnError(
                f"expected to look at tick {time} before the next step, but {self.time} were made"
            )
        return self._match.state


def _numbers(values: npt.ArrayLike, many: int, what: str) -> Int:
    """Returns numbers of games as int64 [N], a copy.

    Raises:
        SettingError: if they are not N whole numbers from 0 on.
    """
    given = integers(values)
    if given is None or given.shape != (many,) or given.min() < 0:
        raise SettingError(f"expected {many} {what}, whole numbers from 0 on, got {values!r}")
    return given.astype(np.int64)


def _integers(values: npt.ArrayLike) -> npt.NDArray[np.integer[Any]] | None:
    """Returns whole numbers as an array, an empty list too; None if they are none."""
    array = as_array(values)
    return _NO_ROWS if array is not None and array.size == 0 else integers(values)
