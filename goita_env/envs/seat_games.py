"""Plays N games with a learner among bots, on to the learner's next decision in each.

It knows no library's conventions; ``seat_vector_env`` adds them. A game stands still while the
learner is to act in it; all other games move. A bot that must look at its view acts only once no
game can move without it, since it takes hardly less time for a few games than for dozens.
"""

from __future__ import annotations

from typing import Any, Final, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from goita_env.arrays import Bits, Bool, Int
from goita_env.engine import core
from goita_env.engine.active_games import ActiveGames, Endings
from goita_env.engine.episodes import Episode, Match, Outcome, Reward, check_reward
from goita_env.engine.state import NO_ROWS, State, in_question
from goita_env.envs.bots import Bots, Named, Opponents
from goita_env.errors import EpisodeOverError, SettingError
from goita_env.information import PLAIN, InformationStructure
from goita_env.rounds import FinishedDeals
from goita_env.rounds.telling import notify_ended, notify_redealt
from goita_env.rules import Rules
from goita_env.tiles import NUM_SEATS
from goita_env.views import observation as packing
from goita_env.worlds import Positions

Seat: TypeAlias = int | Literal["team"] | None


def forfeit_loss(reward: Reward) -> int:
    """Returns the loss of a team for an illegal action, which the other team wins."""
    return 100 if reward == "points" else 1


_SEATS: Final = np.arange(NUM_SEATS)


class _Decided(NamedTuple):
    """Decisions with which standing games move again."""

    rows: Int  #: [n] The games, ascending.
    actions: Int  #: [n]


_NO_DECISIONS: Final = _Decided(NO_ROWS, NO_ROWS)


class SeatStep:
    """The result of a step; later steps do not change its arrays.

    Attributes:
        reward: float32 [N] reward of the learner's team since its last decision.
        done: bool [N] the episode ended.
        points: int16 [N] of its last round, to the team of ``winner``; 0 after a forfeit.
        winner: int8 [N] seat that ended the episode; -1: it continues, or ended by a forfeit.
        words: uint64 [N, W] the learner's packed observation at the end; zeros where none ended.
        seat: int8 [N] the learner's seat at the end.
        skipped: int64 [N] episodes that ended before the learner decided anything.
        skipped_points: int64 [N] points of its team in them.
    """

    def __init__(self, num_games: int, num_words: int) -> None:
        self.reward = np.zeros(num_games, np.float32)
        self.done = np.zeros(num_games, bool)
        self.points = np.zeros(num_games, np.int16)
        self.winner = np.full(num_games, -1, np.int8)
        self.words = np.zeros((num_games, num_words), np.uint64)
        self.seat = np.zeros(num_games, np.int8)
        self.skipped = np.zeros(num_games, np.int64)
        self.skipped_points = np.zeros(num_games, np.int64)

    @property
    def rewards(self) -> npt.NDArray[np.float32]:
        """Returns the reward of all four seats: float32 [N, 4]."""
        same = ((_SEATS ^ self.seat[:, None]) & 1) == 0
        return np.where(same, self.reward[:, None], -self.reward[:, None])


class SeatedGames:
    """N games with a learner among bots.

    Args:
        num_games: N; it and all arguments not listed here are as for ``SeatVectorEnv``.
        partner, opponents: the agents of the other seats, as ``Bots`` takes them.
        again: where an episode ends, the next one begins at once.

    Attributes:
        bots: the agents of the other seats.
        seat: int64 [N] the learner's seat that acts, or acted last.
        words: uint64 [N, W] its packed observations.
        legal: bool [N, A] its legal actions; all True after the end.
        information: the options.
        over: bool [N] the episode is over, and no other has begun.
        has_begun: there has been a reset.
    """

    def __init__(
        self,
        num_games: int,
        rules: str | Rules,
        episode: Episode,
        reward: Reward,
        seat: Seat,
        partner: Named | None,
        opponents: Opponents,
        again: bool,
        information: InformationStructure = PLAIN,
    ) -> None:
        fixed = isinstance(seat, int | np.integer) and not isinstance(seat, bool)
        if not (seat is None or seat == "team" or (fixed and seat in _SEATS)):
            raise SettingError(f"expected a seat 0..3, 'team' or None, got {seat!r}")
        self._again = again
        self._reward: Reward = check_reward(reward, information)
        match = Match(num_games, rules, episode, auto_reset=again, information=information)
        self._active, self.information = ActiveGames(match), information
        self._fixed: Seat = seat
        self.bots = Bots(num_games, rules, partner, opponents, information)
        self.has_begun = False
        self._is_consistent = False
        """The last reset or step was not cut short by an error."""
        self.num_games = num_games
        self.seat: Int = np.zeros(num_games, np.int64)
        self.words = np.zeros((num_games, information.num_words), np.uint64)
        self.legal = np.zeros((num_games, information.num_actions), bool)
        self.over = np.zeros(num_games, bool)
        self._home: Int = np.zeros(num_games, np.int64)
        """[N] The learner's seat, or one of its team's."""
        self._episodes: Int = np.zeros(num_games, np.int64)
        self._decided = np.zeros(num_games, bool)
        """[N] The learner has decided something in this episode."""
        self._points: Int = np.zeros(num_games, np.int64)
        """[N] Points of its team in this episode."""
        self._carry: Int = np.zeros(num_games, np.int64)
        """[N] Reward of its team since its last decision, or since the episode began."""

    @property
    def _why_reset(self) -> str:
        """Why only a reset of all games is possible, for errors."""
        return "after a bot's error" if self.has_begun else "before the first reset"

    def positions(self) -> Positions:
        """Returns the positions of all games, with all hands known."""
        return Positions(self._active.match.state.copy())

    def reset(self, seed: int | None, rows: Int | None, **deal_options: Any) -> SeatStep:
        """Begins the next episodes of ``rows``; with a seed, or at first, the first of all games.

        Args:
            seed: of deals, seats and bots; None: the present one, or 0 the first time.
            rows: [m] the games; None: all.
            deal_options: hands, dealer, scores of the first deals, as for ``GoitaVectorEnv.reset``.
        """
        all_games = np.arange(self.num_games)
        rows = all_games if rows is None else rows
        is_partial = len(rows) < self.num_games
        if is_partial and not self._is_consistent:
            raise EpisodeOverError(
                f"expected a reset of all {self.num_games} games, "
                f"got one of {len(rows)} {self._why_reset}"
            )
        if seed is None and self.has_begun:
            return self._play(rows=NO_ROWS, actions=NO_ROWS, fresh=rows, deal_options=deal_options)
        if is_partial:
            raise SettingError(
                f"expected no seed where some games begin anew, but not all, got {seed!r} "
                f"for {len(rows)} of {self.num_games}"
            )
        seed = 0 if seed is None else seed
        match = self._active.match
        # ``ActiveGames`` moves games without keeping the standing games' ``asking`` up to date.
        match.state.asking = in_question(match.state.status).nonzero()[0]
        match.reset(**deal_options, seed=seed)
        self._active, self.has_begun = ActiveGames(match), True
        self.bots.reseed(seed)
        self._episodes[:] = -1
        self._begin_episode(all_games)
        self._seat_bots(all_games)
        return self._run(self._result(), all_games, _NO_DECISIONS)

    def step(self, rows: Int, actions: Int, lost: Int, fresh: Int) -> SeatStep:
        """Makes the learner's decisions and plays on to its next one in every game.

        Args:
            rows: [m] games in which it acts, ascending.
            actions: [m] legal actions for them.
            lost: [l] games in which it acts and forfeits the episode.
            fresh: [k] games whose next episode begins, ascending.
        """
        if not self._is_consistent:
            raise EpisodeOverError(f"expected a reset, got a step {self._why_reset}")
        return self._play(rows, actions, fresh, deal_options={}, lost=lost)

    def _play(
        self, rows: Int, actions: Int, fresh: Int, deal_options: dict[str, Any], lost: Int = NO_ROWS
    ) -> SeatStep:
        """Makes decisions, begins episodes, and plays on to the learner's next decisions.

        ``deal_options`` are as for ``reset``, the other arguments as for ``step``.
        """
        result = self._result()
        if len(lost):
            self._carry[lost] -= forfeit_loss(self._reward)
            self._end(result, lost, self.words[lost])
            if self._again:
                fresh = np.sort(np.concatenate((fresh, lost)))
        if len(fresh):
            self._begin(fresh, deal_options)
        self._decided[rows] = True
        return self._run(result, fresh, _Decided(rows, actions))

    def _result(self) -> SeatStep:
        return SeatStep(self.num_games, self.information.num_words)

    def _run(self, result: SeatStep, fresh: Int, decided: _Decided) -> SeatStep:
        """Lets games move until each waits for the learner, or is over.

        All moving games make one decision at a time. A game stops where a player must look at a
        view: the learner, or a bot. Once no game moves any more, all bots that must look act in one
        batch, and their games move on.

        Args:
            result: is filled in, and returned.
            fresh: [k] games whose episode begins.
            decided: the learner's decisions in other games.
        """
        self._is_consistent = False
        active, waiting, by_learner = self._active, list[Int](), decided.rows
        active.join(fresh)
        while True:
            if len(decided.rows):
                active.join(decided.rows)
            if len(active):
                waiting += self._move(decided, result)
                decided = _NO_DECISIONS
            elif waiting:
                rows = np.sort(np.concatenate(waiting))
                decided = _Decided(rows, self._ask(rows))
                waiting.clear()
            else:
                break
        self._pack_views()
        # Where an episode ended, ``_end`` has set the reward, and the carry is the next episode's.
        still_running = by_learner[~result.done[by_learner]]
        result.reward[still_running] += self._carry[still_running]
        self._carry[still_running] = 0
        self._is_consistent = True
        return result

    def _move(self, decided: _Decided, result: SeatStep) -> list[Int]:
        """Makes one decision in every moving game in which no player must look at a view.

        A game in which a player must look stops. Returns the games that wait for a bot, as a list
        of arrays. The games of ``decided`` have just joined: they are the last ones in all arrays
        of ``ActiveGames``, and their decisions are known.
        """
        active, waiting = self._active, list[Int]()
        # Bits of the legal actions; the only legal action, else 0; the places with a choice.
        low, high, chosen, choices = active.legal()
        undecided = choices
        if len(decided.rows):
            joined = len(chosen) - len(decided.rows)
            chosen[joined:] = decided.actions
            undecided = choices[: choices.searchsorted(joined)]
        if len(undecided):
            rows = active.rows[undecided]
            learner, blind = self.bots.sitting(rows, active.seats(undecided))
            places = undecided[blind]
            if len(places):
                legal = self._unpack(low[places], high[places])
                chosen[places] = self.bots.draw(rows[blind], legal)
            if len(places) < len(undecided):
                # They keep their places, with the action 0, until the step.
                active.leave(undecided[~blind])
                learner |= blind
                if not learner.all():
                    waiting.append(rows[~learner])  # neither the learner nor blind
        self._charge(chosen)
        if (endings := active.step(chosen)) is not None:
            self._settle(endings, result)
        return waiting

    def _charge(self, chosen: Int) -> None:
        """Lets the learner's team pay, or be paid, for messages; ``chosen``: [m] the actions."""
        if (costs := self._active.costs(chosen)) is not None:
            rows = self._active.rows
            # A game may be in the rows twice, once as it left, with action 0: ``add.at`` adds for
            # both, an indexed += only for one. The sign: 1 for seats 1 and 3, which are paid.
            np.add.at(self._carry, rows, costs * (2 * (self._home[rows] & 1) - 1))

    def _ask(self, rows: Int) -> Int:
        """[n] The actions of bots in games that wait for them."""
        state = self._active.match.state.select(rows)  # all stand: the bot sits on slot 0
        legal = self._unpack(*core.legal_actions(state))
        return self.bots.ask(rows, -state.offset & 3, packing.pack(state), legal)

    def _pack_views(self) -> None:
        """Packs the learner's views and masks, except where an episode has ended."""
        state = self._active.match.state  # all games stand: the learner sits on slot 0
        state.asking = in_question(state.status).nonzero()[0]
        words, seat = packing.pack(state), -state.offset & 3
        legal = self._unpack(*core.legal_actions(state))
        over = self.over
        if over.any():
            words[over], seat[over], legal[over] = self.words[over], self.seat[over], True
        self.words, self.seat, self.legal = words, seat, legal

    def _unpack(self, low: Bits, high: Bits) -> Bool:
        return core.unpack_legal(low, high, self.information.num_actions)

    def _begin(self, rows: Int, deal_options: dict[str, Any]) -> None:
        self._active.match.reset(**deal_options, rows=rows)
        self._begin_episode(rows)
        self._seat_bots(rows)

    def _begin_episode(self, rows: Int) -> None:
        """Seats the learner for an episode that began, and forgets the last one."""
        self._episodes[rows] += 1
        seats = self.bots.begin(rows, self._episodes[rows])
        if isinstance(self._fixed, int | np.integer):
            seats[:] = self._fixed
        self._home[rows] = self.seat[rows] = seats
        self._carry[rows] = self._points[rows] = 0
        self.over[rows] = self._decided[rows] = False

    def _seat_bots(self, rows: Int) -> None:
        self.bots.sit(rows, self._home[rows], self._fixed == "team")
        if self.bots.remember:
            self.bots.notify_dealt(rows, self._active.match.state.select(rows))

    def _settle(self, endings: Endings, result: SeatStep) -> None:
        """Scores deals that ended, notifies bots of ends and new deals, and begins episodes."""
        over = skipped = NO_ROWS
        final, outcome, bots = endings.final, endings.outcome, self.bots
        won = final.winner >= 0
        if bots.remember and len(endings.redealt):
            redealt = FinishedDeals.redealt(endings.redealt, bots.numbers, final.select(~won))
            notify_redealt(redealt, bots.remembering)
        if outcome is not None:
            final = final if won.all() else final.select(won)
            if bots.remember:
                scored = FinishedDeals.scored(outcome, outcome.rows, bots.numbers, final)
                notify_ended(scored, bots.remembering)
            over, skipped = self._score(outcome, final, result)
        if self._again and len(over):  # the next episodes are dealt already
            self._begin_episode(over)
        if len(endings.dealt):
            self._seat_bots(endings.dealt)
        if len(skipped) and not self._again:
            self._begin(skipped, {})
            self._active.join(skipped)

    def _score(self, ended: Outcome, final: State, result: SeatStep) -> tuple[Int, Int]:
        """Credits the learner with n rounds, whose ends are ``final``.

        Returns the games whose episode ended, and those among them in which the learner decided
        nothing: they are skipped.
        """
        rows = ended.rows
        learner = np.arange(len(rows)), self._home[rows]  # an index of rewards, [n, 4]
        self._points[rows] += ended.rewards("points")[learner].astype(np.int64)
        self._carry[rows] += ended.rewards(self._reward)[learner].astype(np.int64)
        missed = ended.done & ~self._decided[rows]
        skipped = rows[missed]
        result.skipped[skipped] += 1
        result.skipped_points[skipped] += self._points[skipped]
        places = (ended.done & ~missed).nonzero()[0]
        over = rows[places]
        if len(over):
            result.points[over], result.winner[over] = ended.points[places], ended.winner[places]
            self._end(result, over, packing.pack_seat(final, self.seat[rows])[places])
        return rows[ended.done], skipped

    def _end(self, result: SeatStep, rows: Int, words: npt.NDArray[np.uint64]) -> None:
        """Ends episodes of games [m]; ``words``: [m, W] the learner's packed observations."""
        result.done[rows], result.reward[rows] = True, self._carry[rows]
        result.words[rows], result.seat[rows] = words, self.seat[rows]
        self.words[rows], self.legal[rows] = words, True
        self.over[rows] = True
