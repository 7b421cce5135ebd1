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
from goita_env.checks import check_dealer, check_scores
from goita_env.engine import core, deals
from goita_env.engine.state import State, lay, prepare
from goita_env.engine.stock import Stock
from goita_env.engine.tables import codes_of
from goita_env.errors import SettingError
from goita_env.hands import check_hands
from goita_env.rules import Rules, get_rules
from goita_env.tiles import MATCH_POINTS

Episode = Literal["round", "match"]
EPISODES: Final = ("round", "match")
Int = npt.NDArray[np.int64]
_ZERO: Final = np.array(0)
_ONE: Final = np.array(1)


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
        self.keys = seeds.game_keys(seed, self.games)
        self.state = State.empty(int(num_games), self.rules)
        self.episodes: Int = np.full(num_games, -1, np.int64)
        self.deals: Int = np.zeros(num_games, np.int64)
        self._stock = Stock(self.rules, num_games)

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
        self.keys = seeds.game_keys(seed, self.games)
        self.episodes[:] = -1
        self._stock.clear()

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
        codes = None if hands is None else codes_of(check_hands(hands, self.num_games))
        dealers = None if dealer is None else check_dealer(dealer, self.num_games)
        before = None if scores is None else check_scores(scores, self.num_games)
        rows = np.arange(self.num_games)
        self.state.asking = rows[:0]
        if codes is None and dealers is None and before is None:
            self._go_on(rows, np.zeros(self.num_games, bool))
            return
        self.episodes += 1
        self.deals[:] = 1
        self._stock.forget(rows, self.episodes)
        keys = seeds.deal_keys(self.keys, self.episodes, 0)
        codes = deals.hand_codes(keys) if codes is None else codes
        dealers = deals.first_dealers(keys) if dealers is None else dealers
        lay(self.state, rows, prepare(self.rules, codes, dealers, before))

    def step(self, chosen: Int) -> Outcome | None:
        """Makes one legal decision in every game; games that end go on with their next deal.

        Args:
            chosen: [N] legal actions (not checked here).

        Returns:
            The rounds that ended, None if none did.
        """
        state = self.state
        core.step(state, chosen)
        rows: Int = state.ended
        if len(rows) == 0:
            return None
        winner, points = state.winner[rows], state.points[rows]
        redeal = winner < _ZERO
        if self.episode == "round" and self.auto_reset:
            self._go_on(rows, redeal)
            if np.count_nonzero(redeal):
                kept = (~redeal).nonzero()[0]
                if len(kept) == 0:
                    return None
                rows, winner, points = rows[kept], winner[kept], points[kept]
            return Outcome(rows, points, winner, np.ones(len(rows), bool))

        scored = ~redeal
        points, winners, rounds = points[scored], winner[scored], rows[scored]
        scores = state.scores[:, rounds]
        scores[winners & 1, np.arange(len(rounds))] += points
        done = np.full(len(rounds), self.episode == "round") | (scores.max(axis=0) >= MATCH_POINTS)
        if not done.all():
            self._next_round(rounds[~done], winners[~done], scores[:, ~done])
        over = rounds[done] if self.auto_reset else rounds[:0]
        again = rows[redeal]
        self._go_on(np.concatenate((over, again)), np.arange(len(over) + len(again)) >= len(over))
        return Outcome(rounds, points, winners, done) if len(rounds) else None

    def _go_on(self, rows: Int, redeal: npt.NDArray[np.bool_]) -> None:
        """Deals the next episode of some games, or their present round again, from the stock.

        Args:
            rows: [n] the games.
            redeal: [n] deal again: the same dealer and scores (article B of the booklet).
        """
        episodes = self.episodes[rows]
        episodes += ~redeal
        in_stock = self._stock.has(rows, episodes, redeal)
        if np.count_nonzero(redeal):
            in_stock &= ~redeal | (self.deals[rows] == 1)
        if np.count_nonzero(in_stock) < len(rows):
            if np.count_nonzero(in_stock | redeal) < len(rows):
                self._stock.fill(self.keys, self.episodes)
                in_stock |= ~redeal
            rest = rows[~in_stock]
            if len(rest):
                self._next_round(rest, self.state.dealer[rest], self.state.scores[:, rest])
            rows, episodes, redeal = rows[in_stock], episodes[in_stock], redeal[in_stock]
        lay(self.state, rows, self._stock.take(rows, episodes, redeal))
        self.episodes[rows] = episodes
        self.deals[rows] = redeal + _ONE

    def _next_round(self, rows: Int, dealer: Int, scores: Int) -> None:
        """Deals the next round, or the same round again, of some games."""
        keys = seeds.deal_keys(self.keys[rows], self.episodes[rows], self.deals[rows])
        self.deals[rows] += 1
        dealt = prepare(self.rules, deals.hand_codes(keys), dealer, scores)
        lay(self.state, rows, dealt)
