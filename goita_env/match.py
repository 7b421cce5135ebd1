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

from goita_env import core, deal
from goita_env.errors import SettingError
from goita_env.hands import hand_codes
from goita_env.rules import Rules, get_rules
from goita_env.tiles import MATCH_POINTS, NUM_SEATS

Episode = Literal["round", "match"]
EPISODES: Final = ("round", "match")
Int = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Outcome:
    """Says which games a step ended a round in; ``n`` games."""

    rows: Int
    """[n] The games."""
    points: Int
    """[n] Points of the round."""
    winner: Int
    """[n] Seat that ended the round."""
    done: npt.NDArray[np.bool_]
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
        if isinstance(num_games, bool) or not isinstance(num_games, int | np.integer):
            raise SettingError(f"expected a whole number of games, got {num_games!r}")
        if num_games < 1:
            raise SettingError(f"expected at least one game, got {num_games!r}")
        if episode not in EPISODES:
            raise SettingError(f"expected an episode of {EPISODES}, got {episode!r}")
        self.rules = get_rules(rules)
        self.episode: Episode = episode
        self.auto_reset = auto_reset
        self.games = np.arange(num_games) if games is None else games
        self.keys = deal.game_keys(seed, self.games)
        self.state = core.State.empty(int(num_games), self.rules)
        self.episodes: Int = np.full(num_games, -1, np.int64)
        self.deals: Int = np.zeros(num_games, np.int64)
        # The next two episodes of each game, dealt ahead: many at once cost a fifth of a few.
        # The one numbered k of game i stands at i + N * (k & 1).
        self._ahead = core.State.empty(2 * int(num_games), self.rules)
        self._is_ahead = np.zeros(2 * num_games, bool)

    @property
    def num_games(self) -> int:
        """Returns N."""
        return self.state.num_games

    def copy(self) -> Self:
        """Returns an independent copy that goes on identically."""
        return copy.deepcopy(self)

    def seed(self, seed: int) -> None:
        """Starts the deals of a seed from its first episode at the next reset.

        Raises:
            SettingError: if the seed is not an integer from 0 to 2**64 - 1.
        """
        self.keys = deal.game_keys(seed, self.games)
        self.episodes[:] = -1
        self._is_ahead[:] = False

    def reset(
        self,
        hands: npt.ArrayLike | None = None,
        dealer: npt.ArrayLike | None = None,
        scores: npt.ArrayLike | None = None,
    ) -> None:
        """Begins the next episode of every game.

        Args:
            hands: [N, 4, 8] kinds of the first deal's tiles, by seat; None: dealt.
            dealer: [N] first dealers; None: drawn.
            scores: [N, 2] the teams' points before the first round, multiples of ten; None: 0.

        Raises:
            HandsError, SettingError: if one of them is impossible; nothing has changed then.
        """
        codes = None if hands is None else hand_codes(hands, self.num_games)
        dealers = None if dealer is None else check_dealer(dealer, self.num_games)
        before = None if scores is None else check_scores(scores, self.num_games)
        rows = np.arange(self.num_games)
        self.state.asking = rows[:0]
        if codes is None and dealers is None and before is None:
            self._next_episode(rows)
            return
        self.episodes += 1
        self.deals[:] = 1
        self._is_ahead[rows + self.num_games * (self.episodes & 1)] = False
        keys = deal.deal_keys(self.keys, self.episodes, 0)
        codes = deal.hand_codes(keys) if codes is None else codes
        dealers = deal.first_dealers(keys) if dealers is None else dealers
        core.deal(self.state, rows, codes, dealers, before)

    def step(self, chosen: Int) -> Outcome | None:
        """Makes one legal decision in every game; games that end go on with their next deal.

        Args:
            chosen: [N] legal actions (not checked here).

        Returns:
            The rounds that ended, None if none did.
        """
        state = self.state
        core.step(state, chosen)
        rows = state.ended
        if len(rows) == 0:
            return None
        winner = state.winner[rows]
        if np.count_nonzero(winner < 0):
            scored = winner >= 0
            self._redeal(rows[~scored])
            rows, winner = rows[scored], winner[scored]
            if len(rows) == 0:
                return None
        points = state.points[rows]
        if self.episode == "round":
            done = np.ones(len(rows), bool)
        else:
            scores = state.scores[:, rows]
            scores[winner & 1, np.arange(len(rows))] += points
            done = scores.max(axis=0) >= MATCH_POINTS
            if not done.all():
                on = ~done
                self._next_round(rows[on], winner[on], scores[:, on])
        self._end_episode(rows[done])
        return Outcome(rows, points, winner, done)

    def _end_episode(self, rows: Int) -> None:
        """Goes on with the next episode of some games, or leaves them still."""
        if self.auto_reset and len(rows):
            self._next_episode(rows)

    def _next_episode(self, rows: Int) -> None:
        """Goes on with the next episode of some games, dealt ahead."""
        episodes = self.episodes[rows] + 1
        places = rows + self.num_games * (episodes & 1)
        if np.count_nonzero(self._is_ahead[places]) < len(rows):
            self._deal_ahead()
        core.transplant(self._ahead, places, self.state, rows)
        self._is_ahead[places] = False
        self.episodes[rows] = episodes
        self.deals[rows] = 1

    def _deal_ahead(self) -> None:
        """Deals the next two episodes of all games, where they aren't dealt."""
        places = np.flatnonzero(~self._is_ahead)
        parity, rows = np.divmod(places, self.num_games)
        episodes = self.episodes[rows] + 1
        episodes += (episodes ^ parity) & 1
        keys = deal.deal_keys(self.keys[rows], episodes, 0)
        core.deal(self._ahead, places, deal.hand_codes(keys), deal.first_dealers(keys))
        self._is_ahead[places] = True

    def _next_round(self, rows: Int, dealer: Int, scores: Int | None) -> None:
        """Deals the next round, or the same round again, of some games."""
        keys = deal.deal_keys(self.keys[rows], self.episodes[rows], self.deals[rows])
        self.deals[rows] += 1
        core.deal(self.state, rows, deal.hand_codes(keys), dealer, scores)

    def _redeal(self, rows: Int) -> None:
        """Deals again after a redeal: the same dealer and scores (booklet B)."""
        state = self.state
        self._next_round(rows, state.dealer[rows], state.scores[:, rows])


def check_dealer(dealer: npt.ArrayLike, num_games: int) -> Int:
    """Returns first dealers as int64 [N] after checking them.

    Raises:
        SettingError: if they are not N seats.
    """
    seats = np.asarray(dealer)
    if seats.shape != (num_games,) or seats.dtype.kind not in "iu":
        raise SettingError(
            f"expected {num_games} dealer(s), seats 0..3 as whole numbers, got {dealer!r}"
        )
    if seats.min() < 0 or seats.max() >= NUM_SEATS:
        raise SettingError(f"expected dealers of seats 0..3, got {seats.tolist()!r}")
    return seats.astype(np.int64)


def check_scores(scores: npt.ArrayLike, num_games: int) -> Int:
    """Returns scores as int64 [2, N] after checking them.

    Raises:
        SettingError: if they are not points of two teams before the end of a match.
    """
    array = np.asarray(scores)
    if array.shape != (num_games, 2) or array.dtype.kind not in "iu":
        raise SettingError(f"expected the points of two teams in every game, got {scores!r}")
    if (array % 10).any() or array.min() < 0 or array.max() >= MATCH_POINTS:
        raise SettingError(
            f"expected points before a round, multiples of ten from 0 to {MATCH_POINTS - 10}, "
            f"got {array.tolist()!r}"
        )
    return array.T.astype(np.int64)
