"""Runs rounds and matches over the core: who deals next, when an episode ends, and the next deal.

The first dealer of an episode is drawn; then the winner of a round deals the next (article D of the
booklet), and after a redeal the same seat deals again (article B). A match ends at 150 points.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Final, Literal, Self

import numpy as np
import numpy.typing as npt

from goita_env import seeds
from goita_env.checks import check_dealer, check_num_games, check_scores
from goita_env.engine import core
from goita_env.engine.deals import ReadyDeals, first_dealers, hand_codes, lay, prepare
from goita_env.engine.saved import Arrays, check_saved, check_state
from goita_env.engine.state import Bool, Int, State
from goita_env.engine.tables import codes_of
from goita_env.errors import SettingError
from goita_env.hands import read_hands
from goita_env.rules import Rules, get_rules
from goita_env.tiles import MATCH_POINTS

Episode = Literal["round", "match"]
EPISODES: Final = ("round", "match")
_ZERO: Final = np.array(0)
_ONE: Final = np.array(1)
_NO_ROWS: Final = np.zeros(0, np.int64)


@dataclass(frozen=True)
class Outcome:
    """Says which games a step ended a round in; ``n`` games."""

    rows: Int
    """[n] The games."""
    points: Int
    """[n] Points of the round."""
    winner: Int
    """[n] Seat that ended the round."""
    done: Bool
    """[n] The round also ended the episode."""


class Match:
    """Plays N games, each an endless row of episodes, a round or a match long.

    Args:
        num_games: how many games run side by side.
        rules: a rule set or its name.
        episode: "round" (ends with the first scored round) or "match" (ends at 150 points).
        seed: seed of all deals and first dealers.
        games: numbers of the games in the deals' keys, [N]; by default 0 to N - 1.
        auto_reset: go on with the next episode at once; else a game stays still at its end.

    Raises:
        SettingError: if a setting is outside its choices.

    Attributes:
        state: the games.
        keys: uint64 [N] of the games; the j-th deal of an episode follows from key, episode and j.
        episodes: int64 [N] the present episode, from 0; -1 before the first.
        deals: int64 [N] deals of the episode so far, rounds and redeals counted.
        redealt: int64 [m] games that the last step dealt again.
    """

    def __init__(
        self,
        num_games: int,
        rules: str | Rules = "jga",
        episode: Episode = "round",
        seed: int = 0,
        games: Int | None = None,
        auto_reset: bool = True,
    ) -> None:
        num_games = check_num_games(num_games)
        if episode not in EPISODES:
            raise SettingError(f"expected an episode of {EPISODES}, got {episode!r}")
        self.rules = get_rules(rules)
        self.episode: Episode = episode
        self.auto_reset = auto_reset
        self.games = np.arange(num_games) if games is None else games
        self.keys = seeds.game_keys(seed, self.games)
        self.state = State.empty(num_games, self.rules)
        self.episodes: Int = np.full(num_games, -1, np.int64)
        self.deals: Int = np.zeros(num_games, np.int64)
        self.redealt: Int = _NO_ROWS
        self._ready = ReadyDeals(self.rules, num_games)

    @classmethod
    def standing_at(cls, state: State, keys: seeds.Keys) -> Self:
        """Returns rounds that stand somewhere in their first deal and don't go on after their end.

        Args:
            state: N games; taken over.
            keys: [N] of the games.
        """
        match, many = cls.__new__(cls), state.num_games
        match.rules, match.episode, match.auto_reset = state.rules, "round", False
        match.state, match.keys, match.games = state, keys, np.arange(many)
        match.episodes, match.deals = np.zeros(many, np.int64), np.ones(many, np.int64)
        match.redealt = _NO_ROWS
        return match

    def keep(self, rows: Int) -> None:
        """Drops all games but those of ``rows``; only where they don't go on after their end."""
        self.state = self.state.select(rows)
        self.games, self.keys = self.games[rows], self.keys[rows]
        self.episodes, self.deals = self.episodes[rows], self.deals[rows]

    @property
    def num_games(self) -> int:
        """Returns N."""
        return self.state.num_games

    def copy(self) -> Self:
        """Returns an independent copy that goes on identically."""
        return copy.deepcopy(self)

    def saved(self) -> Arrays:
        """Returns all that the games go on from: copies, for ``take_up``."""
        return {
            "state": self.state.data.copy(),
            "clock": np.array([self.state.clock]),
            "keys": self.keys.copy(),
            "episodes": self.episodes.copy(),
            "deals": self.deals.copy(),
        }

    def take_up(self, arrays: Arrays) -> None:
        """Goes on from where games of the same rules, number and episode were saved.

        Raises:
            SettingError: if the arrays are none that can be played on; nothing has changed then.
        """
        check_saved(arrays, self.saved())
        state = State(self.rules, arrays["state"].copy(), int(arrays["clock"][0]))
        check_state(state)
        self.state, self.keys = state, arrays["keys"].copy()
        self.episodes, self.deals = arrays["episodes"].copy(), arrays["deals"].copy()
        self.redealt = _NO_ROWS
        self._ready.clear()

    def seed(self, seed: int) -> None:
        """Starts the deals of a seed from its first episode at the next reset.

        Raises:
            SettingError: if the seed is not an integer from 0 to 2**64 - 1.
        """
        self.keys = seeds.game_keys(seed, self.games)
        self.episodes[:] = -1
        self._ready.clear()

    def reset(
        self,
        hands: npt.ArrayLike | None = None,
        dealer: npt.ArrayLike | None = None,
        scores: npt.ArrayLike | None = None,
        rows: Int | None = None,
    ) -> None:
        """Begins the next episode of every game, or of some.

        Args:
            hands: of the first deal, as ``read_hands`` takes them; None: dealt.
            dealer: first dealers, as ``check_dealer`` takes them; None: drawn.
            scores: the teams' points before the first round, as ``check_scores`` takes them;
                None: 0.
            rows: int64 [m] the games, ascending, for which all of this is given; None: all.

        Raises:
            HandsError, SettingError: if one of them is impossible; nothing has changed then.
        """
        rows = np.arange(self.num_games) if rows is None else rows
        codes = None if hands is None else codes_of(read_hands(hands, len(rows)))
        dealers = None if dealer is None else check_dealer(dealer, len(rows))
        before = None if scores is None else check_scores(scores, len(rows))
        asking = np.zeros(self.num_games, bool)
        asking[self.state.asking] = True
        asking[rows] = False
        self.state.asking = asking.nonzero()[0]
        if codes is None and dealers is None and before is None:
            self._deal_ready(rows, _NO_ROWS)
            return
        self.episodes[rows] += 1
        self.deals[rows] = 1
        self._ready.forget(rows, self.episodes[rows])
        keys = seeds.deal_keys(self.keys[rows], self.episodes[rows], 0)
        codes = hand_codes(keys) if codes is None else codes
        dealers = first_dealers(keys) if dealers is None else dealers
        lay(self.state, rows, prepare(self.rules, codes, dealers, before))

    def step(self, actions: Int) -> Outcome | None:
        """Makes one legal decision in every game; games that end go on with their next deal.

        Args:
            actions: [N] legal actions (not checked here).

        Returns:
            The rounds that ended, None if none did.
        """
        core.step(self.state, actions)
        return self.go_on() if len(self.state.ended) else None

    def go_on(self) -> Outcome | None:
        """Deals what comes next where a step of ``state`` has ended something.

        Returns:
            The rounds that ended, None if all are dealt again.
        """
        state, rows = self.state, self.state.ended
        winner = state.winner[rows]
        self.redealt = again = rows[winner < _ZERO]
        if len(again):
            scored = winner >= _ZERO
            rows, winner = rows[scored], winner[scored]
        points = state.points[rows]
        if self.episode == "match":
            scores = state.scores[:, rows]
            scores[winner & 1, np.arange(len(rows))] += points
            done = scores.max(axis=0) >= MATCH_POINTS
            on = ~done
            if np.count_nonzero(on):
                self._next_round(rows[on], winner[on], scores[:, on])
        else:
            done = np.ones(len(rows), bool)
        if self.auto_reset:
            over = rows[done] if self.episode == "match" else rows
            again = self._deal_ready(over, again)
        if len(again):  # the same dealer and scores (article B of the booklet)
            self._next_round(again, state.dealer[again], state.scores[:, again])
        return Outcome(rows, points, winner, done) if len(rows) else None

    def _deal_ready(self, over: Int, again: Int) -> Int:
        """Deals what lies ready: next episodes, and first deals again.

        Args:
            over: [n] games whose episode is over: a dealer is drawn, and there are no points.
            again: [m] games whose deal ended in a redeal.

        Returns:
            The games of ``again`` for which nothing lay ready.
        """
        rows, places = over, self._ready.first(self.keys, over, self.episodes)
        self.episodes[over] += 1
        self.deals[over] = 1
        if len(again):
            second = self._ready.second(again, self.episodes[again])
            ready = (second >= _ZERO) & (self.deals[again] == _ONE)
            rows = np.concatenate((over, again[ready]))
            places = np.concatenate((places, second[ready]))
            self.deals[again[ready]] = 2
            again = again[~ready]
        lay(self.state, rows, self._ready.take(places))
        return again

    def _next_round(self, rows: Int, dealer: Int, scores: Int) -> None:
        """Deals the next round of an episode, or the same one again.

        Args:
            rows: [n] the games.
            dealer: [n] the winner of the last round (article D of the booklet), or the same again.
            scores: [2, n] the teams' points.
        """
        keys = seeds.deal_keys(self.keys[rows], self.episodes[rows], self.deals[rows])
        self.deals[rows] += 1
        lay(self.state, rows, prepare(self.rules, hand_codes(keys), dealer, scores))
