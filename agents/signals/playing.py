"""Has known policies play rounds and keeps every decision with what was seen and how likely it was.

``Play`` is what all measures start from, whether it was played just now or read from a log.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Final, Self

import numpy as np
import numpy.typing as npt

from agents.base import AgentError, Bool, Int, Memory, Policy, sample
from agents.faults import Accountable
from agents.registry import load_agent
from goita_env import View
from goita_env.actions import NUM_ACTIONS
from goita_env.errors import SettingError
from goita_env.rounds import Rounds, Tick
from goita_env.rules import JGA, Rules, get_rules
from goita_env.seeds import bot_generator
from goita_env.tiles import NUM_SEATS
from goita_env.views import Replay

Int8 = npt.NDArray[np.int8]

MAX_ROUNDS: Final = 10**7
"""Most rounds of one play."""

SEATINGS: Final = {1: ((0, 0, 0, 0),), 2: ((0, 1, 0, 1), (1, 0, 1, 0)), 4: ((0, 1, 2, 3),)}
"""Who sits where, by the number of agents. Two are two teams that play each deal twice, their seats
exchanged; the rounds of a deal follow each other."""


@dataclass(frozen=True)
class Play:
    """Holds every decision of some rounds; R deals, D decisions, deal after deal in order."""

    agents: tuple[str, ...]
    """Names of the policies that played."""
    rules: Rules
    """The rule set."""
    seed: int
    """Of deals and of the policies' random numbers."""
    round: Int
    """[R] Number of the round that each deal belongs to, ascending."""
    redeal: Int8
    """[R] Which deal of its round it is, from 0: more than one after a redeal."""
    hands: Int8
    """[R, 4, 8] Tiles of each kind dealt to each seat."""
    dealer: Int8
    """[R] Seat of the dealer."""
    scores: npt.NDArray[np.int16]
    """[R, 2] Points of the two teams before the round."""
    seating: Int8
    """[R, 4] Which of ``agents`` sits where."""
    winner: Int8
    """[R] Seat that ended the round; -1: it was dealt again."""
    points: npt.NDArray[np.int16]
    """[R] Points of the round, to the winner's team; 0 where it was dealt again."""
    deal: Int
    """[D] Place of the decision's deal among the R."""
    move: npt.NDArray[np.int16]
    """[D] Number of the decision in its deal, from 0."""
    seat: Int8
    """[D] Who decided."""
    words: npt.NDArray[np.uint64]
    """[D, 8] What it saw, packed (``View.words``)."""
    legal: Bool
    """[D, 69] What it was allowed to do."""
    action: npt.NDArray[np.int8]
    """[D] What it did."""
    probabilities: npt.NDArray[np.float32]
    """[D, 69] How likely its policy was to do what; where only one action was legal, that one."""

    @property
    def rounds(self) -> int:
        """Returns how many rounds ended with a score."""
        return int((self.winner >= 0).sum())

    @property
    def choice(self) -> Bool:
        """Tells which decisions had more than one legal action: bool [D]."""
        found: Bool = self.legal.sum(axis=1) > 1
        return found

    @property
    def gained(self) -> Int:
        """Returns the points of seats 0 and 2 minus those of the others, deal by deal: [R]."""
        return self.points.astype(np.int64) * np.where(self.winner % 2 == 0, 1, -1)

    @property
    def starts(self) -> Int:
        """Returns where each deal's decisions begin, and D: [R + 1]."""
        return np.searchsorted(self.deal, np.arange(len(self.round) + 1))

    def view(self, index: slice | Int | Bool = slice(None)) -> View:
        """Returns what the deciding seats saw, at all decisions or some of them."""
        words = self.words[index]
        games = NUM_SEATS * self.deal[index] + self.seat[index]
        return View(words, games, self.rules)

    def deals(self, places: slice | Int) -> Self:
        """Returns the play of some deals alone: a slice or ascending places [n] of the R."""
        every = np.arange(len(self.round))[places]
        starts = self.starts
        rows = np.concatenate(
            [np.zeros(0, np.int64), *(np.arange(starts[d], starts[d + 1]) for d in every.tolist())]
        )
        kept = {name: getattr(self, name)[every] for name in BY_DEAL}
        kept |= {name: getattr(self, name)[rows] for name in BY_DECISION}
        kept["deal"] = np.repeat(np.arange(len(every)), np.diff(starts)[every])
        return replace(self, **kept)

    @classmethod
    def join(cls, parts: Sequence[Self]) -> Self:
        """Returns several plays of the same agents as one.

        Raises:
            SettingError: if there is none, or they are of other agents, rules or seeds.
        """
        if len({(part.agents, part.rules, part.seed) for part in parts}) != 1:
            raise SettingError("expected plays of the same agents, rules and seed, got others")
        joined: dict[str, Any] = {
            name: np.concatenate([getattr(part, name) for part in parts])
            for name in (*BY_DEAL, *BY_DECISION)
        }
        before = np.cumsum([0, *(len(part.round) for part in parts[:-1])])
        joined["deal"] += np.repeat(before, [len(part.deal) for part in parts])
        return replace(parts[0], **joined)


_NAMES: Final = [field.name for field in fields(Play)]
BY_DEAL: Final = tuple(_NAMES[_NAMES.index("round") : _NAMES.index("deal")])
BY_DECISION: Final = tuple(_NAMES[_NAMES.index("deal") :])


def load_policy(spec: str | Policy) -> Policy:
    """Returns an agent whose probabilities are known and that plays from one view alone.

    Raises:
        AgentError: if it is another one, or there is none.
    """
    agent = load_agent(spec)
    if not isinstance(agent, Policy):
        raise AgentError(
            f"expected an agent with probabilities(), a known policy, got {agent.name!r}"
        )
    if isinstance(agent, Memory | Accountable):
        raise AgentError(
            f"expected an agent that plays from one view alone, got {agent.name!r}, which has a "
            "memory or is a program of its own"
        )
    return agent


def play(
    agents: Sequence[str | Policy],
    rounds: int,
    *,
    seed: int = 0,
    rules: str | Rules = JGA,
    first: int = 0,
) -> Play:
    """Has policies play rounds and returns every decision.

    Actions are drawn from ``probabilities``, so what is kept is what was played.

    Args:
        agents: one for all seats; two for two teams, each deal played twice; or four by seat.
        rounds: how many; even where two agents play.
        seed: of deals and random numbers; the deals are those of ``Rounds(seed=seed)``.
        rules: the rule set.
        first: number of the first round; the random numbers depend on it, too.

    Raises:
        AgentError: if an agent is no policy (``load_policy``).
        SettingError: if a number is impossible.
    """
    if len(agents) not in SEATINGS:
        raise SettingError(f"expected 1, 2 or 4 agents, got {len(agents)}")
    seatings = SEATINGS[len(agents)]
    each = len(seatings)
    whole = isinstance(rounds, int) and not isinstance(rounds, bool)
    if not whole or not 1 <= rounds <= MAX_ROUNDS or rounds % each or first % each or first < 0:
        raise SettingError(
            f"expected rounds from {each} to {MAX_ROUNDS:,} by {each}, got {rounds!r}"
        )
    policies = [load_policy(agent) for agent in agents]
    return _Table(policies, rounds, seed, get_rules(rules), first).play()


class _Table:
    """Plays rounds side by side and takes notes."""

    def __init__(
        self, policies: Sequence[Policy], rounds: int, seed: int, rules: Rules, first: int
    ) -> None:
        self.policies, self.seed, self.numbers = policies, seed, first + np.arange(rounds)
        seatings = np.array(SEATINGS[len(policies)], np.int8)
        self.seating = seatings[self.numbers % len(seatings)]
        games = self.numbers // len(seatings)
        self.rounds = Rounds(
            rounds,
            rules=rules,
            seed=seed,
            games=games,
            numbers=np.arange(rounds),
            log=True,
            finals=False,
        )
        self.rngs = [bot_generator(seed, "log", first, player) for player in range(len(policies))]
        self.current = np.full(rounds, -1)
        """[N] Number of each game's deal in the order of dealing."""
        self.dealt: list[tuple[Any, ...]] = []
        self.ended: list[tuple[Any, ...]] = []
        self.made: list[tuple[Any, ...]] = []
        self.known: list[tuple[Any, ...]] = []
        self.many = 0

    def play(self) -> Play:
        """Plays to the end."""
        self._note(self.rounds.tick)
        while not self.rounds.over:
            tick = self.rounds.tick
            self._note(self.rounds.step(self._choose(tick) if len(tick.rows) else tick.rows))
        return self._told()

    def _choose(self, tick: Tick) -> Int:
        """Returns an action in each asked row, and notes how likely all were."""
        view, legal = tick.view, tick.legal
        chosen = np.empty(len(tick.rows), np.int64)
        player = self.seating[tick.rows, tick.seats]
        for number, policy in enumerate(self.policies):
            rows = np.flatnonzero(player == number)
            if len(rows):
                likely = policy.probabilities(view[rows], legal[rows])
                chosen[rows] = sample(likely, self.rngs[number])
                self.known.append((self._key(tick.rows[rows]), likely.astype(np.float32)))
        return chosen

    def _key(self, rows: Int) -> Int:
        """Returns what tells a decision from others: its deal and the time of its step."""
        return self.current[rows] * (1 << 20) + self.rounds.time

    def _note(self, tick: Tick) -> None:
        """Takes notice of what a step led to."""
        if tick.made is not None:
            rows = tick.made.rows
            time = self.current[rows] * (1 << 20) + self.rounds.time - 1
            self.made.append((self.current[rows], time, tick.made.seats, tick.made.actions))
        for over in (tick.redealt, tick.ended):
            if over is not None:
                self.ended.append((self.current[over.rows], over.winner, over.points))
        dealt = tick.dealt
        if dealt is not None:
            numbers = self.many + np.arange(len(dealt.rows))
            self.current[dealt.rows] = numbers
            self.many += len(numbers)
            self.dealt.append((dealt.rows, dealt.hands, dealt.dealer, dealt.scores))

    def _told(self) -> Play:
        """Returns the notes, deal after deal in the order of rounds."""
        game, hands, dealer, scores = _columns(self.dealt)
        order = np.lexsort((np.arange(self.many), game))
        place = np.empty(self.many, np.int64)
        place[order] = np.arange(self.many)
        ended, winner, points = _columns(self.ended)
        results = np.empty((2, self.many), np.int64)
        results[:, ended] = winner, points
        deal, key, seat, action = _columns(self.made)
        by_deal = np.lexsort((key, place[deal]))
        deal, key, seat, action = place[deal[by_deal]], key[by_deal], seat[by_deal], action[by_deal]
        asked, likely = _columns(self.known)
        probabilities = np.zeros((len(key), NUM_ACTIONS), np.float32)
        probabilities[np.arange(len(key)), action] = 1
        row = np.argsort(key)
        row = row[np.searchsorted(key, asked, sorter=row)]
        probabilities[row] = likely
        game, hands, dealer, scores = game[order], hands[order], dealer[order], scores[order]
        starts = np.searchsorted(deal, np.arange(self.many))
        again = np.zeros(self.many, np.int8)
        for number in np.flatnonzero(game[1:] == game[:-1]).tolist():
            again[number + 1] = again[number] + 1
        words, legal = _seen(self.rounds.rules, hands, dealer, scores, deal, starts, action)
        return Play(
            agents=tuple(policy.name for policy in self.policies),
            rules=self.rounds.rules,
            seed=self.seed,
            round=self.numbers[game],
            redeal=again,
            hands=hands.astype(np.int8),
            dealer=dealer.astype(np.int8),
            scores=scores.astype(np.int16),
            seating=self.seating[game],
            winner=results[0, order].astype(np.int8),
            points=results[1, order].astype(np.int16),
            deal=deal,
            move=(np.arange(len(deal)) - starts[deal]).astype(np.int16),
            seat=seat.astype(np.int8),
            words=words,
            legal=legal,
            action=action.astype(np.int8),
            probabilities=probabilities,
        )


def _columns(notes: Sequence[tuple[Any, ...]]) -> Iterator[Any]:
    """Returns notes column by column, each as one array."""
    return (np.concatenate(column) for column in zip(*notes, strict=True))


def _seen(
    rules: Rules, hands: Int8, dealer: Int, scores: Int, deal: Int, starts: Int, action: Int
) -> tuple[npt.NDArray[np.uint64], Bool]:
    """Returns what was seen and legal at every decision: words [D, 8], legal [D, 69]."""
    words = np.empty((len(deal), 8), np.uint64)
    legal = np.empty((len(deal), NUM_ACTIONS), bool)
    ends = np.append(starts[1:], len(deal))
    replay = Replay.of_deals(rules, hands, dealer, scores)
    time = 0
    while True:
        going = np.flatnonzero(starts[replay.game] + time < ends[replay.game])
        if len(going) == 0:
            return words, legal
        if len(going) < len(replay):
            replay.select(going)
        rows = starts[replay.game] + time
        words[rows] = replay.view().words
        legal[rows] = replay.choices().legal(np.arange(len(replay)))
        replay.step(action[rows])
        time += 1
