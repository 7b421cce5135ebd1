"""Plays rounds with known policies and records every decision, its view and its probabilities."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any, Final, Self

import numpy as np
import numpy.typing as npt

from goita_agents.asking import agent_plays, ask_probabilities, build_agent
from goita_agents.base import AgentError, Bool, Float, Int, Policy, is_stateless, sample
from goita_env import View
from goita_env.actions import CALL
from goita_env.arrays import Int8
from goita_env.errors import SettingError
from goita_env.information import PLAIN, InformationStructure
from goita_env.rounds import Episode, PendingDecisions, Rounds
from goita_env.rules import JGA, Rules, get_rules
from goita_env.seeds import bot_generator
from goita_env.tiles import COUNTS, NUM_KINDS, NUM_SEATS
from goita_env.views import NONE, Replay
from goita_env.worlds import Positions, Worlds, determinize
from goita_lab.store import MOST_POINTS, Column

Int16 = npt.NDArray[np.int16]
Words = npt.NDArray[np.uint64]

MAX_ROUNDS: Final = 10**7
SEATINGS: Final = {1: ((0, 0, 0, 0),), 2: ((0, 1, 0, 1), (1, 0, 1, 0)), 4: ((0, 1, 2, 3),)}
"""The agent at each seat, by the number of agents; two agents play each deal twice in a row."""


@dataclass(frozen=True)
class Play:
    """Every decision of some rounds: R deals and their D decisions, deal after deal."""

    agents: tuple[str, ...]
    rules: Rules
    seed: int
    """Seed of deals and of the policies' random numbers."""
    round: Int
    """[R] Number of the round that each deal belongs to, ascending."""
    redeal: Int8
    """[R] Number of the deal in its round, above 0 after a redeal."""
    hands: Int8
    """[R, 4, 8] Tiles of each kind dealt to each seat."""
    dealer: Int8
    """[R] Seat of the dealer."""
    scores: Int16
    """[R, 2] Points of the two teams before the round."""
    seating: Int8
    """[R, 4] Index into ``agents`` by seat."""
    winner: Int8
    """[R] Seat that ended the round; -1: the deal led to a redeal."""
    points: Int16
    """[R] Points of the round, to the winner's team; 0 where the deal led to a redeal."""
    deal: Int
    """[D] Index of the decision's deal among the R."""
    move: Int16
    """[D] Number of the decision in its deal, from 0."""
    seat: Int8
    """[D] Seat that decided."""
    words: Words
    """[D, 8] Its packed view (``View.words``)."""
    legal: Bool
    """[D, 69] Its legal actions; with messages [D, 77]."""
    action: Int8
    """[D] The action taken."""
    probabilities: npt.NDArray[np.float32]
    """[D, 69] Probabilities of its policy, 1 for a single legal action; with messages [D, 77]."""
    information: InformationStructure = PLAIN
    """The tiles and messages that seats reveal. Messages are the first decisions of a deal."""

    def columns(self) -> dict[str, Column]:
        """Returns the types, shapes and bounds of stored arrays of R deals or D decisions."""
        information = self.information
        masks = "D", information.num_actions
        return {
            "round": Column("i", ("R",), 0, MAX_ROUNDS),
            "redeal": Column("i", ("R",), 0),
            "hands": Column("i", ("R", NUM_SEATS, NUM_KINDS), 0, max(COUNTS)),
            "dealer": Column("i", ("R",), 0, NUM_SEATS - 1),
            "scores": Column("i", ("R", 2)),
            "seating": Column("i", ("R", NUM_SEATS), 0, len(self.agents) - 1),
            "winner": Column("i", ("R",), -1, NUM_SEATS - 1),
            "points": Column("i", ("R",), 0, MOST_POINTS),
            "deal": Column("i", ("D",), 0, len(self.round) - 1),
            "move": Column("i", ("D",), 0),
            "seat": Column("i", ("D",), 0, NUM_SEATS - 1),
            "words": Column("u", ("D", information.num_words), 0, inf),
            "legal": Column("b", masks),
            "action": Column("i", ("D",), 0, information.num_actions - 1),
            "probabilities": Column("f", masks, 0, 1 + 1e-6),
        }

    @property
    def rounds(self) -> int:
        """Number of rounds that ended with a score."""
        return int((self.winner >= 0).sum())

    @property
    def choice(self) -> Bool:
        """[D] Whether a decision has more than one legal action."""
        return np.asarray(self.legal.sum(axis=1) > 1)

    @property
    def gained(self) -> Int:
        """[R] Points of seats 0 and 2 minus those of seats 1 and 3."""
        return self.points.astype(np.int64) * np.where(self.winner % 2 == 0, 1, -1)

    @property
    def starts(self) -> Int:
        """[R + 1] Index of each deal's first decision, and D."""
        return np.searchsorted(self.deal, np.arange(len(self.round) + 1))

    def view(self, index: slice | Int | Bool = slice(None)) -> View:
        """Returns the deciding seats' views; default: all."""
        games = NUM_SEATS * self.deal[index] + self.seat[index]
        return View(self.words[index], games, self.rules, self.information)

    def replay(self, deals: Int) -> Replay:
        """Returns deals at their first decisions, to be played again; all hands are known."""
        return Replay.of_deals(
            self.rules,
            self.hands[deals],
            self.dealer[deals],
            self.scores[deals],
            information=self.information,
        )

    @classmethod
    def join(cls, parts: Sequence[Self]) -> Self:
        """Concatenates plays of the same agents."""
        shared = ("agents", "rules", "seed", "information")
        if len({tuple(getattr(part, name) for name in shared) for part in parts}) != 1:
            raise SettingError("expected plays of the same agents, game and seed, got others")
        joined = concatenated(parts, parts[0].columns())
        # In the joined play a deal's index is higher by the deals of all earlier parts.
        offsets = np.cumsum([0, *(len(part.round) for part in parts[:-1])])
        joined["deal"] += np.repeat(offsets, [len(part.deal) for part in parts])
        return replace(parts[0], **joined)


def concatenated(parts: Sequence[Any], names: Iterable[str]) -> dict[str, Any]:
    """Returns the named arrays of all parts, concatenated."""
    return {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}


def load_policy(spec: str | Policy) -> Policy:
    """Returns an agent with known probabilities that plays from one view only.

    Raises:
        AgentError: if the agent has no such probabilities, keeps a memory, or does not exist.
    """
    agent = build_agent(spec)
    if not isinstance(agent, Policy):
        raise AgentError(f"expected probabilities(), as of a known policy, got {agent.name!r}")
    if not is_stateless(agent):
        raise AgentError(f"expected an agent that plays from one view only, got {agent.name!r}")
    return agent


def check_rounds(agents: int, rounds: int, limit: int, first: int = 0) -> None:
    """Checks a number of rounds for a number of agents, which play each deal in every seating."""
    if agents not in SEATINGS:
        raise SettingError(f"expected 1, 2 or 4 agents, got {agents}")
    step = len(SEATINGS[agents])
    whole = isinstance(rounds, int) and not isinstance(rounds, bool)
    if not whole or not 1 <= rounds <= limit or rounds % step or first % step or first < 0:
        raise SettingError(f"expected rounds from {step} to {limit:,} by {step}, got {rounds!r}")


def play(
    agents: Sequence[str | Policy],
    rounds: int,
    *,
    seed: int = 0,
    rules: str | Rules = JGA,
    first: int = 0,
    episode: Episode = "round",
    information: InformationStructure = PLAIN,
) -> Play:
    """Plays rounds or matches with actions drawn from ``probabilities``; returns every decision.

    Agents sit by ``SEATINGS``. The deals are those of ``Rounds(seed=seed)``; random numbers depend
    on ``first``, the index of the first round, too.

    Raises:
        AgentError: if ``load_policy`` refuses an agent, or an agent does not play such games.
        SettingError: if a number is impossible.
    """
    check_rounds(len(agents), rounds, MAX_ROUNDS, first)
    policies = [load_policy(agent) for agent in agents]
    if misfits := [policy.name for policy in policies if not agent_plays(policy, information)]:
        raise AgentError(f"expected agents that play games with {information}, got {misfits[0]!r}")
    seatings = np.array(SEATINGS[len(agents)], np.int8)
    indices = first + np.arange(rounds)
    seating = seatings[indices % len(seatings)]
    games = Rounds(
        rounds,
        rules=get_rules(rules),
        episode=episode,
        seed=seed,
        games=indices // len(seatings),  # all seatings play the same deal
        numbers=np.arange(rounds),
        log=True,
        finals=False,
        information=information,
    )
    rngs = [bot_generator(seed, "log", first, player) for player in range(len(policies))]
    tables = _played(games, policies, seating, rngs)
    dealt, ended, decided = (table.sorted() for table in tables)
    # The upper bits of a key are the game: [R] the game of each deal.
    game, key, action = dealt["key"] >> 32, decided["key"], decided["action"]
    # A decision is of the last deal whose key is not above its own: keys are ordered by game, then
    # by time.
    deal = np.searchsorted(dealt["key"], key, "right") - 1
    starts = np.searchsorted(key, dealt["key"])  # [R] index of each deal's first decision
    replay = Replay.of_deals(
        games.rules, dealt["hands"], dealt["dealer"], dealt["scores"], information=information
    )
    words, legal = _seen(replay, deal, starts, action)
    return Play(
        agents=tuple(policy.name for policy in policies),
        rules=games.rules,
        seed=seed,
        round=indices[game],
        # How many deals of the same round came before: games ascend, so a search finds the first.
        redeal=(np.arange(len(game)) - np.searchsorted(game, game)).astype(np.int8),
        hands=dealt["hands"].astype(np.int8),
        dealer=dealt["dealer"].astype(np.int8),
        scores=dealt["scores"].astype(np.int16),
        seating=seating[game],
        winner=ended["winner"].astype(np.int8),
        points=ended["points"].astype(np.int16),
        deal=deal,
        move=(np.arange(len(deal)) - starts[deal]).astype(np.int16),
        seat=decided["seat"].astype(np.int8),
        words=words,
        legal=legal,
        action=action.astype(np.int8),
        probabilities=decided["probabilities"],
        information=information,
    )


class _Columns:
    """Columns that grow by several rows at a time; the key of a row is its game and its time.

    A key has the game in its upper bits and the time in its lower 32 bits, so that sorting by key
    puts the rows of each game together and in the order of play.
    """

    def __init__(self) -> None:
        self._parts: list[dict[str, Any]] = []

    def add(self, games: Int, time: int, **columns: Any) -> None:
        self._parts.append({"key": (games << 32) + time, **columns})

    def sorted(self) -> dict[str, Any]:
        """Returns all columns, ascending by key."""
        names = self._parts[0]
        joined = {name: np.concatenate([part[name] for part in self._parts]) for name in names}
        order = np.argsort(joined["key"])
        return {name: column[order] for name, column in joined.items()}


def _played(
    games: Rounds, policies: Sequence[Policy], seating: Int8, rngs: Sequence[np.random.Generator]
) -> tuple[_Columns, _Columns, _Columns]:
    """Plays rounds to their end; returns columns of the deals, of their ends and of all decisions.

    ``seating`` [games, 4] has the index into ``policies`` and ``rngs`` by seat.
    """
    dealt, ended, decided, now = _Columns(), _Columns(), _Columns(), games.decisions
    while True:
        time = games.time
        if now.dealt is not None:
            hands, dealer, scores = now.dealt.hands, now.dealt.dealer, now.dealt.scores
            dealt.add(now.dealt.rows, time, hands=hands, dealer=dealer, scores=scores)
        for over in (now.redealt, now.ended):
            if over is not None:
                ended.add(over.rows, time, winner=over.winner, points=over.points)
        if games.over:
            return dealt, ended, decided
        choosing, (chosen, policy_probabilities) = now.rows, _chosen(now, seating, policies, rngs)
        now = games.step(chosen)
        if now.made is not None:
            rows, seats, actions = now.made.rows, now.made.seats, now.made.actions
            # In games without a choice no policy acts: the only legal action is certain. Rows
            # ascend and contain the games with a choice, whose places a search therefore finds.
            probabilities = np.zeros((len(rows), policy_probabilities.shape[1]), np.float32)
            probabilities[np.arange(len(rows)), actions] = 1
            probabilities[np.searchsorted(rows, choosing)] = policy_probabilities
            decided.add(rows, time, seat=seats, action=actions, probabilities=probabilities)


def _chosen(
    now: PendingDecisions,
    seating: Int8,
    policies: Sequence[Policy],
    rngs: Sequence[np.random.Generator],
) -> tuple[Int, Float]:
    """Returns the acting seats' actions [m] and their policies' probabilities [m, 69].

    ``seating`` [games, 4] has the index into ``policies`` and ``rngs`` by seat.
    """
    player, probabilities = seating[now.rows, now.seats], np.zeros(now.legal.shape)
    actions = np.zeros(len(player), np.int64)
    for index, (policy, rng) in enumerate(zip(policies, rngs, strict=True)):
        rows = np.flatnonzero(player == index)
        if len(rows):
            probabilities[rows] = ask_probabilities(policy, now.view[rows], now.legal[rows])
            actions[rows] = sample(probabilities[rows], rng)
    return actions, probabilities


def steps(replay: Replay, starts: Int, ends: Int, action: Int | Int8) -> Iterator[Int]:
    """Plays deals again side by side, and yields the rows of the next decisions at each step.

    Args:
        replay: at the first decision of each deal; deals leave it at their end.
        starts: row of each deal's first decision.
        ends: row after each deal's last decision.
        action: of each row.
    """
    for time in range(int((ends - starts).max())):
        # ``replay.game`` has the original indices of the deals that have not ended.
        rows = starts[replay.game] + time
        unfinished = rows < ends[replay.game]
        if not unfinished.all():
            replay.select(np.flatnonzero(unfinished))
            rows = rows[unfinished]
        yield rows
        replay.step(action[rows].astype(np.int64))


def _seen(replay: Replay, deal: Int, starts: Int, action: Int) -> tuple[Words, Bool]:
    """Plays R deals again, all at once; returns the words [D, 8] and legal actions [D, 69].

    ``starts`` [R] are the deals' first decisions; ``deal`` [D] and ``action`` [D] are of decisions.
    """
    information = replay.view().information
    words = np.empty((len(deal), information.num_words), np.uint64)
    legal = np.empty((len(deal), information.num_actions), bool)
    for rows in steps(replay, starts, np.append(starts[1:], len(deal)), action):
        words[rows] = replay.view().words
        legal[rows] = replay.choices().legal(np.arange(len(replay)))
    return words, legal


def one_choice_a_deal(play: Play, rng: np.random.Generator, selected: Bool | bool = True) -> Int:
    """Draws one play or pass with a choice in each deal that has one: indices by ascending deal.

    ``selected``: bool [D], the decisions to draw from.
    """
    order = rng.permutation(np.flatnonzero(play.choice & (play.action < CALL) & selected))
    # The first decision of each deal in a random order is a uniform draw from the deal.
    _, first = np.unique(play.deal[order], return_index=True)
    return order[first]


def positions(play: Play, index: Int) -> Positions:
    """Returns the full positions at decisions [n], to be continued; seat 0 is the deciding seat."""
    if play.information != PLAIN:
        raise SettingError(f"expected a play of the base game, got one with {play.information}")
    hands = np.empty((len(index), NUM_SEATS, NUM_KINDS), np.int8)
    face_down = np.empty((len(index), NUM_SEATS, NUM_SEATS), np.int8)
    replay = play.replay(play.deal[index])  # a deal for each decision, which is its last one
    for rows in steps(replay, index - play.move[index], index + 1, play.action):
        # ``replay.game`` has the positions that the replay has not passed yet, and ``reached`` the
        # places among them of those that are at their decision now.
        reached = np.flatnonzero(rows == index[replay.game])
        position = replay.game[reached]
        for turn in range(NUM_SEATS):
            seats = (play.seat[index[replay.game]].astype(np.int64) + turn) % NUM_SEATS
            own = replay.view(seats)[reached]
            hands[position, turn] = own.hand
            # A seat's own view has the kinds of the tiles that it played face down.
            hidden = np.where(own.face_down[:, 0], own.blocks[:, 0], NONE)
            face_down[position, turn] = hidden
    view = play.view(index)
    return determinize(view, Worlds(hands, face_down, np.ones(len(index)), view.face_up))
