"""Plays N games with a learner among bots: on and on, until the learner is asked everywhere.

It knows no library's conventions; ``solo`` puts them on top. Games in which the learner is asked
wait, the others play on, so that bots are asked in batches.
"""

from __future__ import annotations

import secrets
from typing import Any, Final, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from goita_env.actions import NUM_ACTIONS
from goita_env.engine.match import Episode
from goita_env.envs.bots import LEARNER, Bots, Named, Opponents
from goita_env.envs.vector import REWARDS, Reward
from goita_env.errors import EpisodeOverError, SettingError
from goita_env.rounds import Ended, Rounds, Tick
from goita_env.rules import Rules
from goita_env.tiles import NUM_SEATS
from goita_env.views.observation import NUM_WORDS
from goita_env.worlds import Positions

Bool = npt.NDArray[np.bool_]
Int = npt.NDArray[np.int64]

Seat: TypeAlias = int | Literal["team"] | None

ILLEGAL_REWARD: Final = 100
"""What the team of an illegal action loses and the other wins, in points."""

_NO_ROWS: Final = np.zeros(0, np.int64)
_SEATS: Final = np.arange(NUM_SEATS)


class Told:
    """Tells what a step led to; its arrays are never written again.

    Attributes:
        reward: float32 [N] what the learner's team got since its last decision.
        done: bool [N] the episode ended.
        points: int16 [N] of its last round, to the team of ``winner``; 0 after a forfeit.
        winner: int8 [N] seat that ended the episode; -1: it goes on, or ended by a forfeit.
        words: uint64 [N, 8] what the learner saw at the end, packed; zeros where none ended.
        seat: int8 [N] the learner's seat at the end.
        skipped: int64 [N] episodes that ended before the learner decided anything.
        skipped_points: int64 [N] what its team got in them.
    """

    def __init__(self, num_games: int) -> None:
        self.reward = np.zeros(num_games, np.float32)
        self.done = np.zeros(num_games, bool)
        self.points = np.zeros(num_games, np.int16)
        self.winner = np.full(num_games, -1, np.int8)
        self.words = np.zeros((num_games, NUM_WORDS), np.uint64)
        self.seat = np.zeros(num_games, np.int8)
        self.skipped = np.zeros(num_games, np.int64)
        self.skipped_points = np.zeros(num_games, np.int64)

    @property
    def rewards(self) -> npt.NDArray[np.float32]:
        """Returns the reward of all four seats: float32 [N, 4]."""
        same = ((_SEATS ^ self.seat[:, None]) & 1) == 0
        return np.where(same, self.reward[:, None], -self.reward[:, None])


class Table:
    """Plays N games with a learner among bots.

    Args:
        num_games: N.
        rules: a rule set or its name.
        episode: "round" or "match".
        reward: "points" or "win".
        seat: the learner's: 0 to 3; None: drawn for each episode; "team": both of a drawn team.
        partner, opponents: who plays the other seats, as ``Bots`` takes them.
        again: episodes that end are followed by the next ones at once.

    Raises:
        SettingError: if a setting is outside its choices.

    Attributes:
        bots: who plays the other seats.
        seat: int64 [N] the learner's seat that is asked, or was last.
        words: uint64 [N, 8] what it sees, packed.
        legal: bool [N, 69] what it may do; all True after the end.
        over: bool [N] the episode is over, and no other has begun.
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
    ) -> None:
        if reward not in REWARDS:
            raise SettingError(f"expected a reward of {REWARDS}, got {reward!r}")
        fixed = isinstance(seat, int | np.integer) and not isinstance(seat, bool)
        if not (seat is None or seat == "team" or (fixed and seat in _SEATS)):
            raise SettingError(f"expected a seat 0..3, 'team' or None, got {seat!r}")
        self._again = again
        self._settings: dict[str, Any] = {
            "rules": rules,
            "episode": episode,
            "auto_reset": again,
            "stay": True,
        }
        Rounds(num_games, **self._settings)  # raises what is to be said of them
        self._reward: Reward = reward
        self._fixed: Seat = seat
        self.bots = Bots(num_games, rules, partner, opponents)
        self._rounds: Rounds | None = None
        self._sound = False
        """No step was cut short by an error."""
        self.num_games = num_games
        self.seat: Int = np.zeros(num_games, np.int64)
        self.words = np.zeros((num_games, NUM_WORDS), np.uint64)
        self.legal = np.zeros((num_games, NUM_ACTIONS), bool)
        self.over = np.zeros(num_games, bool)
        self._home: Int = np.zeros(num_games, np.int64)
        """[N] The learner's seat; of a team's, one."""
        self._episodes: Int = np.zeros(num_games, np.int64)
        self._decided = np.zeros(num_games, bool)
        """[N] The learner has decided something in this episode."""
        self._points: Int = np.zeros(num_games, np.int64)
        """[N] What its team got in this episode."""
        self._carry: Int = np.zeros(num_games, np.int64)
        """[N] What it got since the learner's last decision, or since the episode began."""
        self._idle = np.zeros(num_games, bool)
        """[N] The learner is asked, or the episode is over."""
        self._ready = np.zeros(num_games, bool)
        """[N] The game has a reply."""
        self._reply: Int = np.zeros(num_games, np.int64)
        self._waits = np.zeros(num_games, bool)
        """[N] A bot is asked."""
        self._asked: Int = np.zeros(num_games, np.int64)
        """[N] At which seat."""

    @property
    def begun(self) -> bool:
        """Tells whether there has been a reset."""
        return self._rounds is not None

    def positions(self) -> Positions:
        """Returns where the games stand, nothing hidden."""
        assert self._rounds is not None
        return self._rounds.positions()

    def reset(self, seed: int | None, rows: Int | None, **given: Any) -> Told:
        """Begins the next episode of some games; with a seed, or the first time, of all anew.

        Args:
            seed: of deals, seats and bots.
            rows: [m] the games; None: all.
            given: hands, dealer, scores of the first deals, as ``Rounds.restart`` takes them.

        Raises:
            SettingError, HandsError: if one of them is impossible. Nothing has changed then.
            EpisodeOverError: if some go on that an error has cut short.
        """
        some = rows is not None and len(rows) < self.num_games
        if some and not self._sound:
            raise EpisodeOverError("expected a reset of all games first")
        every = np.arange(self.num_games)
        if seed is None and self._rounds is not None:
            return self._play(_NO_ROWS, _NO_ROWS, every if rows is None else rows, given)
        if some:
            raise SettingError("expected no seed where some games begin anew, but not all")
        seed = secrets.randbits(63) if seed is None else seed
        rounds = Rounds(self.num_games, **self._settings, seed=seed, **given)
        self._rounds = rounds
        self.bots.reseed(seed)
        self._episodes[:] = -1
        self._open(every)
        self._deal(rounds.tick)
        return self._play(_NO_ROWS, _NO_ROWS, _NO_ROWS, {})

    def step(self, rows: Int, actions: Int, lost: Int, fresh: Int) -> Told:
        """Makes the learner's decisions and plays on until it is asked in every game.

        Args:
            rows: [m] games in which it is asked, ascending.
            actions: [m] legal actions for them.
            lost: [l] games in which it is asked and forfeits the episode.
            fresh: [k] games whose next episode begins, ascending.

        Raises:
            EpisodeOverError: before the first reset, or after an error of a bot.
            ActionError, IllegalActionError: if a bot answers what it may not; then a reset of all
                games must follow.
        """
        if not self._sound:
            raise EpisodeOverError(
                "expected a reset before the first step, and after a bot's error"
            )
        return self._play(rows, actions, fresh, {}, lost)

    # ------------------------------------------------------------------------------------ playing

    def _play(
        self,
        rows: Int,
        actions: Int,
        fresh: Int,
        given: dict[str, Any],
        lost: Int = _NO_ROWS,
    ) -> Told:
        """Makes decisions, begins episodes, and plays on until the learner is asked everywhere."""
        assert self._rounds is not None
        told = Told(self.num_games)
        if len(lost):
            loss = ILLEGAL_REWARD if self._reward == "points" else 1
            self._carry[lost] -= loss
            self._end(told, lost, self.words[lost])
            if self._again:
                fresh = np.sort(np.concatenate((fresh, lost)))
        tick = self._begin(fresh, given) if len(fresh) else self._rounds.tick
        self._sound = False
        self._hear(tick)
        self._reply[rows], self._ready[rows] = actions, True
        self._idle[rows], self._decided[rows] = False, True
        while not self._idle.all():
            self._ask()
            replies = self._ready.nonzero()[0]
            self._ready[replies] = False
            tick = self._rounds.step(self._reply[replies], replies)
            over = self._settle(tick, told)
            self._hear(self._begin(over, {}) if len(over) else tick)
        told.reward[rows] += self._carry[rows] * ~told.done[rows]
        self._carry[rows] *= told.done[rows]
        self._sound = True
        return told

    def _begin(self, rows: Int, given: dict[str, Any]) -> Tick:
        """Begins the next episode of some games and returns what is asked then."""
        assert self._rounds is not None
        tick = self._rounds.restart(rows, **given)
        self._open(rows)
        self._deal(tick)
        return tick

    def _open(self, rows: Int) -> None:
        """Forgets the last episode of some games and seats the learner for the one that began."""
        self._episodes[rows] += 1
        seats = self.bots.begin(rows, self._episodes[rows])
        if isinstance(self._fixed, int | np.integer):
            seats[:] = self._fixed
        self._home[rows] = self.seat[rows] = seats
        self._carry[rows] = self._points[rows] = 0
        for flags in (self.over, self._idle, self._ready, self._decided, self._waits):
            flags[rows] = False

    def _deal(self, tick: Tick) -> None:
        """Seats the bots at what a tick dealt."""
        if tick.dealt is None:
            return
        rows = tick.dealt.rows
        self.bots.sit(rows, self._home[rows], self._fixed == "team")
        if self.bots.remember:
            self.bots.tell_dealt(tick.dealt)

    def _hear(self, tick: Tick) -> None:
        """Takes notice of whom a tick asks anew; the learner's games are idle then."""
        new = (~self._idle[tick.rows]).nonzero()[0]
        rows, seats = tick.rows[new], tick.seats[new]
        self._asked[rows], self._waits[rows] = seats, True
        self.words[rows], self.legal[rows] = tick.view.words[new], tick.legal[new]
        mine = (self.bots.lineup[rows, seats] == LEARNER).nonzero()[0]
        rows, seats = rows[mine], seats[mine]
        self.seat[rows], self._idle[rows], self._waits[rows] = seats, True, False

    def _ask(self) -> None:
        """Asks the bots, once as many games wait for them as are on the way to a question.

        A few games at a time cost a bot hardly less than dozens.
        """
        rows = self._waits.nonzero()[0]
        moving = self.num_games - np.count_nonzero(self._idle) - len(rows)
        if len(rows) and len(rows) >= moving:
            self._reply[rows] = self.bots.ask(
                rows, self._asked[rows], self.words[rows], self.legal[rows]
            )
            self._ready[rows], self._waits[rows] = True, False

    def _settle(self, tick: Tick, told: Told) -> Int:
        """Takes notice of what a tick ended and dealt; returns games to begin anew: [m]."""
        if self.bots.remember:
            if tick.redealt is not None:
                self.bots.tell_redealt(tick.redealt)
            if tick.ended is not None:
                self.bots.tell_ended(tick.ended)
        done = skipped = _NO_ROWS
        if tick.ended is not None:
            done, skipped = self._score(tick.ended, told)
        if self._again and len(done):  # the next episodes are dealt already
            self._open(done)
        self._deal(tick)
        return _NO_ROWS if self._again else skipped

    def _score(self, ended: Ended, told: Told) -> tuple[Int, Int]:
        """Takes notice of rounds that ended.

        Returns:
            The games whose episode ended, and those of them in which the learner decided nothing.
        """
        rows = ended.rows
        sign = 1 - 2 * ((ended.winner ^ self._home[rows]) & 1)
        gain = sign * ended.points
        self._points[rows] += gain
        self._carry[rows] += gain if self._reward == "points" else sign * ended.done
        missed = ended.done & ~self._decided[rows]
        skipped = rows[missed]
        told.skipped[skipped] += 1
        told.skipped_points[skipped] += self._points[skipped]
        places = (ended.done & ~missed).nonzero()[0]
        over = rows[places]
        if len(over):
            told.points[over], told.winner[over] = ended.points[places], ended.winner[places]
            self._end(told, over, ended.view(places, self.seat[over]).words)
        return rows[ended.done], skipped

    def _end(self, told: Told, rows: Int, words: npt.NDArray[np.uint64]) -> None:
        """Ends episodes of some games.

        Args:
            told: who is told of it.
            rows: [m] the games.
            words: uint64 [m, 8] what the learner sees there.
        """
        told.done[rows], told.reward[rows] = True, self._carry[rows]
        told.words[rows], told.seat[rows] = words, self.seat[rows]
        self.words[rows], self.legal[rows] = words, True
        self.over[rows] = self._idle[rows] = True
