"""N rounds or matches in parallel, one decision in every game a step."""

from __future__ import annotations

from typing import Final, Self

import numpy as np
import numpy.typing as npt

from goita_env import seeds
from goita_env.arrays import U64, Bits, Bool, Int
from goita_env.checks import check_actions, check_seed, describe, illegal_action, integers
from goita_env.engine import core
from goita_env.engine.episodes import Episode, Match, Outcome
from goita_env.engine.legal_bits import only_action
from goita_env.engine.state import NO_ROWS, State
from goita_env.engine.tables import OVER
from goita_env.errors import ActionError, EpisodeOverError, SettingError
from goita_env.information import PLAIN, InformationStructure
from goita_env.rounds.decisions import (
    DecisionsMade,
    FinishedDeals,
    Moment,
    NewDeals,
    PendingDecisions,
)
from goita_env.rules import JGA, Rules
from goita_env.worlds import Positions

_DROP_BELOW_SHARE: Final = 0.75
"""Games that are over are dropped once less than this share of the batch is still played."""


class Rounds:
    """N rounds or matches in parallel.

    Args:
        num_games: N.
        rules: a rule set or its name.
        episode: "round" (ends with the first scored round) or "match" (ends at the rules' total).
        seed: seed of the deals.
        games: int [N] numbers of the games in the deals' keys, 0 to N - 1 by default: game i of a
            seed has the same deals in a batch of any size.
        numbers: int [N] the numbers of the games in views; ``games`` by default. If ``games``
            repeats (duplicate deals) and agents have a memory, give numbers without repetition.
        hands, dealer, scores: of the first deals, as ``GoitaVectorEnv.reset`` takes them.
        auto_reset: begin the next episode at once, for ever; else a game is over after its first.
        finals: keep the ends of rounds, for ``FinishedDeals.view`` and ``FinishedDeals.hands``.
        log: list every decision in ``PendingDecisions.made``.
        information: shown tiles and messages (``goita_env.InformationStructure``).

    Raises:
        SettingError, HandsError: if one of them is impossible.

    Attributes:
        rules: the rule set.
        information: the options.
        numbers: int64 [N] as above.
        time: steps made so far.
        decisions: the decisions to make now.
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
        information: InformationStructure = PLAIN,
    ) -> None:
        key_numbers = None if games is None else _numbers(games, num_games, "games")
        match = Match(
            num_games,
            rules,
            episode,
            seed,
            games=key_numbers,
            auto_reset=auto_reset,
            information=information,
        )
        match.reset(hands, dealer, scores)
        view_numbers = match.games if numbers is None else _numbers(numbers, num_games, "numbers")
        self._begin(match, view_numbers, finals=finals, log=log)
        self.decisions = self._ask()
        self.decisions.dealt = NewDeals(self._moment, np.arange(num_games))

    @classmethod
    def from_positions(
        cls,
        positions: Positions,
        places: Int | Bool | None = None,
        *,
        keys: seeds.Keys | None = None,
        seed: int = 0,
        actions: npt.ArrayLike | None = None,
        finals: bool = False,
        log: bool = False,
    ) -> Self:
        """Returns rounds that continue from given positions.

        Args:
            positions: the positions; they are not changed.
            places: int [N] the positions to play on, which may repeat, or a mask; None: each once.
            keys: uint64 [N] of the games: the deal after a redeal depends only on the key and the
                time of the redeal. None: keys of ``seed``, different from those of
                ``Rounds(seed=seed)``.
            seed: as above.
            actions: [N] first decision in each game, made at once; None: it is still to be made.
            finals: as above.
            log: as above.

        Raises:
            ActionError, IllegalActionError: if ``actions`` are wrong.
            SettingError: if ``keys`` or ``seed`` are.
        """
        places = np.arange(len(positions))[slice(None) if places is None else places]
        rounds, num_games = cls.__new__(cls), len(places)
        if keys is None:  # not those of ``Rounds(seed=seed)``: a search must not know what comes
            keys = seeds.mix(~seeds.game_keys(check_seed(seed), np.arange(num_games)))
        elif keys.shape != (num_games,) or keys.dtype != U64:
            raise SettingError(f"expected {num_games} keys as uint64, got {describe(keys)}")
        match = Match.standing_at(positions._state.select(places), keys)
        rounds._begin(match, np.arange(num_games), finals=finals, log=log)
        rounds._by_time = True
        if actions is None:
            rounds.decisions = rounds._ask()
        else:
            rounds._legal = core.legal_actions(match.state)
            rounds._advance(rounds._check(np.arange(num_games), actions))
        return rounds

    def _begin(self, match: Match, numbers: Int, *, finals: bool, log: bool) -> None:
        """Sets all fields except ``decisions``; the games of ``match`` have been dealt."""
        self._match, self._finals, self._log = match, finals, log
        self.rules, self.numbers, self.time = match.rules, numbers, 0
        self.information = match.information
        self._cost: Int = np.zeros(match.num_games, np.int64)
        """[h] Points that seats 0 and 2 have paid seats 1 and 3 for messages in this round."""
        self._by_time = False
        """The deal after a redeal depends on the time."""
        self._held: Int | None = None
        """[h] The games that the match still holds, ascending; None: all."""
        self._moment = Moment(match.state, None, numbers)
        self._playing = match.num_games
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

    def positions(self) -> Positions:
        """Returns the positions of all games, with all hands known."""
        return Positions(self._match.state.copy())

    def step(self, actions: npt.ArrayLike) -> PendingDecisions:
        """Makes a decision in every game.

        Args:
            actions: int [m] legal actions for the games of ``decisions.rows``.

        Returns:
            The result of the step; also ``self.decisions``.

        Raises:
            EpisodeOverError: if all games are over.
            ActionError: if the actions have the wrong number or type.
            IllegalActionError: if one is illegal. All errors leave the games as they were.
        """
        if self.over:
            raise EpisodeOverError(
                f"expected no step after the end of all {self.num_games} games, "
                f"got one with actions of {describe(actions)}"
            )
        # [m] The places of ``decisions.rows`` among the h games that the match still holds.
        places = self.decisions._choices
        decided = self._forced  # [h] the only legal actions; where there is a choice, 0 so far
        decided[places] = self._check(places, actions)
        self._advance(decided)
        return self.decisions

    def _advance(self, actions: Int) -> None:
        """Makes a step, and sets ``decisions``; ``actions``: [h] for every game that is held."""
        match, state = self._match, self._match.state
        decisions_made = self._decisions_made(actions) if self._log else None
        self._moment.close()
        if (costs := core.costs(state, actions)) is not None:
            self._cost += costs
        core.step(state, actions)
        ended = redealt = None
        dealt = NO_ROWS  # the games with a new deal
        if len(state.ended):
            final = state.select(state.ended) if self._finals else None
            if self._by_time:  # the match derives the next deal's key from these two
                match.episodes[:], match.deals[:] = self.time, 1
            outcome, again = match.begin_next(), match.redealt
            ended, redealt = self._endings(outcome, again, final)
            dealt_places = state.ended
            if not match.auto_reset:
                dealt_places = again
                if outcome is not None:
                    self._playing -= int(np.count_nonzero(outcome.done))
                    dealt_places = np.concatenate((again, outcome.rows[~outcome.done]))
            dealt = self._moment.games(np.sort(dealt_places))
            self._thin_out()
        self.time += 1
        self.decisions = decisions = self._ask()
        decisions.made, decisions.ended, decisions.redealt = decisions_made, ended, redealt
        decisions.dealt = NewDeals(self._moment, self._places(dealt)) if len(dealt) else None

    def _endings(
        self, outcome: Outcome | None, again: Int, final: State | None
    ) -> tuple[FinishedDeals | None, FinishedDeals | None]:
        """Returns the scored rounds, and the redealt ones, of the deals that a step ended.

        ``outcome``: the scored rounds; ``again``: places of the games dealt again; ``final``: all
        of these games at their ends.
        """
        scored = redealt = None
        final_scored = final_redealt = final
        if final is not None and len(again) and outcome is not None:
            won = final.winner >= 0
            final_scored, final_redealt = final.select(won), final.select(~won)
        if outcome is not None:
            games, cost = self._moment.games(outcome.rows), self._cost[outcome.rows]
            self._cost[outcome.rows] = 0
            scored = FinishedDeals.scored(outcome, games, self.numbers, final_scored, cost)
        if len(again):
            games = self._moment.games(again)
            redealt = FinishedDeals.redealt(games, self.numbers, final_redealt)
        return scored, redealt

    def _thin_out(self) -> None:
        """Drops the games that are over from the match, if they are many by now."""
        state = self._match.state
        if 0 < self._playing < _DROP_BELOW_SHARE * state.num_games:
            playing = (state.status != OVER).nonzero()[0]
            self._held = self._moment.games(playing)
            self._cost = self._cost[playing]
            self._match.keep(playing)

    def _ask(self) -> PendingDecisions:
        """Finds what is legal, and returns the games with a choice."""
        choices, state = NO_ROWS, self._match.state
        if not self.over:
            self._legal = core.legal_actions(state)
            self._forced, legal_count = only_action(*self._legal)
            choices = (legal_count > 1).nonzero()[0]
        self._moment = Moment(state, self._held, self.numbers)
        return PendingDecisions(self._moment, self._legal, choices)

    def _decisions_made(self, actions: Int) -> DecisionsMade:
        seats = self._match.state.seat
        places = (seats >= 0).nonzero()[0]
        return DecisionsMade(self._moment.games(places), seats[places], actions[places])

    def _check(self, places: Int, actions: npt.ArrayLike) -> Int:
        """[m] The actions of the games at ``places`` [m] of the match, after a check."""
        chosen = check_actions(actions, len(places))
        low, high = self._legal
        allowed = core.allowed(low[places], high[places], chosen)
        if np.count_nonzero(allowed) < len(places):
            wrong = int(allowed.argmin())
            game, rows = int(self._moment.games(places)[wrong]), places[wrong : wrong + 1]
            legal = core.unpack_legal(low[rows], high[rows], self.information.num_actions)[0]
            if not legal.any():
                raise ActionError(
                    f"expected actions for games with a choice, got one for game {game}"
                )
            raise illegal_action(int(chosen[wrong]), legal, "", f" in game {game}")
        return chosen

    def _places(self, games: Int) -> Int:
        """[m] The places of games in the match, which must still hold them."""
        return games if self._held is None else self._held.searchsorted(games)


def _numbers(values: npt.ArrayLike, count: int, what: str) -> Int:
    """Returns numbers of games as int64 [N], a copy, after checking them."""
    numbers = integers(values)
    if numbers is None or numbers.shape != (count,) or numbers.min() < 0:
        raise SettingError(f"expected {count} {what}, whole numbers from 0 on, got {values!r}")
    return numbers.astype(np.int64)
