"""Runs rounds and matches over the core: the next dealer, the end of an episode, the next deal.

The first dealer of an episode is drawn; then the winner of a round deals the next (article D of the
booklet), and after a redeal the same seat deals again (article B). A match ends at the rule set's
``match_points``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, Self

import numpy as np
import numpy.typing as npt

from goita_env import seeds
from goita_env.arrays import Bool, Int
from goita_env.checks import check_count, check_dealer, check_scores
from goita_env.engine import core
from goita_env.engine.dealing import ReadyDeals, first_dealers, hand_codes, lay_deals, prepare_deals
from goita_env.engine.state import NO_ROWS, ONE, ZERO, State
from goita_env.engine.tables import codes_of
from goita_env.errors import SettingError
from goita_env.hands import read_hands
from goita_env.information import PLAIN, InformationStructure, check_information
from goita_env.rules import Rules, get_rules

Episode = Literal["round", "match"]
EPISODES: Final = ("round", "match")
Reward = Literal["points", "win"]
REWARDS: Final = ("points", "win")

_REWARD_SIGNS: Final = np.array([[1, -1, 1, -1], [-1, 1, -1, 1]], np.float32)


@dataclass(frozen=True)
class Outcome:
    """The rounds that a step ended; ``n`` games."""

    rows: Int
    """[n] The games."""
    points: Int
    """[n] Points of the round."""
    winner: Int
    """[n] Seat that ended the round."""
    done: Bool
    """[n] The round also ended the episode."""

    def rewards(self, reward: Reward) -> npt.NDArray[np.float32]:
        """Returns the reward of each seat, [n, 4]: points of the round, or 1 for a won episode."""
        gain = self.points if reward == "points" else self.done
        return np.asarray(gain[:, None] * _REWARD_SIGNS[self.winner & 1], np.float32)


def check_episode(
    episode: Episode, rules: Rules, information: InformationStructure = PLAIN
) -> Episode:
    """Returns a kind of episode after a check.

    Raises:
        SettingError: if there is no such kind, or for a match where messages cost or the game is
            small.
    """
    if episode not in EPISODES:
        raise SettingError(f"expected an episode of {EPISODES}, got {episode!r}")
    if episode != "round" and check_information(information).cost:
        raise SettingError(f"expected episode='round' where messages cost, got {episode!r}")
    if episode != "round" and rules.is_small:
        raise SettingError(
            f"expected episode='round' in the small game {rules.name!r}, got {episode!r}"
        )
    return episode


def check_reward(reward: Reward, information: InformationStructure = PLAIN) -> Reward:
    """Returns a kind of reward; a SettingError for others, and for "win" where messages cost."""
    if reward not in REWARDS:
        raise SettingError(f"expected a reward of {REWARDS}, got {reward!r}")
    if reward != "points" and check_information(information).cost:
        raise SettingError(f"expected reward='points' where messages cost, got {reward!r}")
    return reward


class Match:
    """N games, each an endless row of episodes, which are rounds or matches.

    ``games``: [N] numbers of the games in the deals' keys, 0 to N - 1 by default. With
    ``auto_reset`` the next episode of a game begins at once, else the game stays at its end.

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
        information: InformationStructure = PLAIN,
    ) -> None:
        num_games = check_count(num_games, "games")
        self.information = check_information(information)
        self.rules = get_rules(rules)
        self.episode: Episode = check_episode(episode, self.rules, information)
        self.auto_reset = auto_reset
        self.games = np.arange(num_games) if games is None else games
        self.keys = seeds.game_keys(seed, self.games)
        self.state = State.empty(num_games, self.rules, information)
        self.episodes: Int = np.full(num_games, -1, np.int64)
        self.deals: Int = np.zeros(num_games, np.int64)
        self.redealt: Int = NO_ROWS
        self.ready = ReadyDeals(self.rules, num_games, information)

    @classmethod
    def standing_at(cls, state: State, keys: seeds.Keys) -> Self:
        """Takes over rounds somewhere in their first deal; they stay at their end."""
        match, num_games = cls.__new__(cls), state.num_games
        match.rules, match.information = state.rules, state.information
        match.episode, match.auto_reset = "round", False
        match.state, match.keys, match.games = state, keys, np.arange(num_games)
        match.episodes = np.zeros(num_games, np.int64)
        match.deals = np.ones(num_games, np.int64)
        match.redealt = NO_ROWS
        return match

    def keep(self, rows: Int) -> None:
        """Drops all games except ``rows``; only for games that stay at their end."""
        self.state = self.state.select(rows)
        self.games, self.keys = self.games[rows], self.keys[rows]
        self.episodes, self.deals = self.episodes[rows], self.deals[rows]

    @property
    def num_games(self) -> int:
        return self.state.num_games

    def reset(
        self,
        hands: npt.ArrayLike | None = None,
        dealer: npt.ArrayLike | None = None,
        scores: npt.ArrayLike | None = None,
        rows: Int | None = None,
        seed: int | None = None,
    ) -> None:
        """Begins the next episode of every game or of ``rows``, ascending.

        Hands, dealer and scores of the first deals are checked before anything changes; without
        them, hands are dealt, dealers drawn and scores 0. With a seed the first episode of that
        seed begins; it is the seed of all games from now on.
        """
        rows = np.arange(self.num_games) if rows is None else rows
        codes = None if hands is None else codes_of(read_hands(hands, len(rows), self.rules.deck))
        dealers = None if dealer is None else check_dealer(dealer, len(rows))
        limit = self.rules.scores_below
        before = None if scores is None else check_scores(scores, len(rows), limit)
        if seed is not None:
            self.keys = seeds.game_keys(seed, self.games)
            self.episodes[:] = -1
            self.ready.clear()
        # ``lay_deals`` adds the games whose new deal begins with a question.
        self.state.asking = np.setdiff1d(self.state.asking, rows, assume_unique=True)
        if codes is None and dealers is None and before is None:
            self._deal_ready(rows, NO_ROWS)
            return
        self.episodes[rows] += 1
        self.deals[rows] = 1
        self.ready.forget(rows, self.episodes[rows])
        keys = seeds.deal_keys(self.keys[rows], self.episodes[rows], 0)
        codes = hand_codes(keys, self.rules.deck) if codes is None else codes
        dealers = first_dealers(keys) if dealers is None else dealers
        lay_deals(self.state, rows, self._prepare(codes, dealers, before))

    def step(self, actions: Int) -> Outcome | None:
        """Makes a legal decision, not checked here, in every game; then as ``begin_next``."""
        core.step(self.state, actions)
        return self.begin_next() if len(self.state.ended) else None

    def begin_next(self) -> Outcome | None:
        """Deals where a step of ``state`` has ended something; returns the rounds that ended."""
        state, rows = self.state, self.state.ended
        winner = state.winner[rows]
        self.redealt = again = rows[winner < ZERO]  # a redeal has no winner
        if len(again):
            scored = winner >= ZERO
            rows, winner = rows[scored], winner[scored]
        points = state.points[rows]
        if self.episode == "match":
            scores = state.scores[:, rows]
            scores[winner & 1, np.arange(len(rows))] += points
            is_over = scores.max(axis=0) >= self.rules.match_points
            continues = ~is_over
            if np.count_nonzero(continues):
                self._next_round(rows[continues], winner[continues], scores[:, continues])
        else:
            is_over = np.ones(len(rows), bool)
        if self.auto_reset:
            over = rows[is_over] if self.episode == "match" else rows  # spares an index
            again = self._deal_ready(over, again)
        if len(again):  # the same dealer and scores (article B of the booklet)
            self._next_round(again, state.dealer[again], state.scores[:, again])
        return Outcome(rows, points, winner, is_over) if len(rows) else None

    def _deal_ready(self, over: Int, again: Int) -> Int:
        """Begins the next episodes of ``over``, and redeals ``again`` where a deal is ready.

        ``ready`` holds the first deal of the next episodes, and the deal after a redeal of an
        episode's first deal. ``places`` are places in it.

        Returns:
            The games of ``again`` for which no deal was ready.
        """
        # Before the += 1: ``first`` takes the present episodes.
        rows, places = over, self.ready.first(self.keys, over, self.episodes)
        self.episodes[over] += 1
        self.deals[over] = 1
        if len(again):
            second = self.ready.second(again, self.episodes[again])
            is_ready = (second >= ZERO) & (self.deals[again] == ONE)
            rows = np.concatenate((over, again[is_ready]))
            places = np.concatenate((places, second[is_ready]))
            self.deals[again[is_ready]] = 2
            again = again[~is_ready]
        lay_deals(self.state, rows, self.ready.take(places))
        return again

    def _next_round(self, rows: Int, dealer: Int, scores: Int) -> None:
        """Deals to games [n] of an episode under way; ``scores``: [2, n] the teams' points."""
        keys = seeds.deal_keys(self.keys[rows], self.episodes[rows], self.deals[rows])
        self.deals[rows] += 1
        codes = hand_codes(keys, self.rules.deck)
        lay_deals(self.state, rows, self._prepare(codes, dealer, scores))

    def _prepare(self, codes: Int, dealer: Int, scores: Int | None) -> Int:
        return prepare_deals(self.rules, codes, dealer, scores, information=self.information)
