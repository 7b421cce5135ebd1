"""Plays rounds with known policies: every decision, its view and its probabilities is kept."""

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
"""Which agent sits where, by their number; two teams play each deal twice, in successive rounds."""


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
    """Who knows and tells what. Messages are decisions, those before the pre-play decisions."""

    def columns(self) -> dict[str, Column]:
        """Returns what kept arrays, or those of a log, may be: of R deals or of D decisions."""
        information, last = self.information, (len(self.agents) - 1, len(self.round) - 1)
        masks = "D", information.num_actions
        return {
            "round": Column("i", ("R",), 0, MAX_ROUNDS),
            "redeal": Column("i", ("R",), 0),
            "hands": Column("i", ("R", NUM_SEATS, NUM_KINDS), 0, max(COUNTS)),
            "dealer": Column("i", ("R",), 0, NUM_SEATS - 1),
            "scores": Column("i", ("R", 2)),
            "seating": Column("i", ("R", NUM_SEATS), 0, last[0]),
            "winner": Column("i", ("R",), -1, NUM_SEATS - 1),
            "points": Column("i", ("R",), 0, MOST_POINTS),
            "deal": Column("i", ("D",), 0, last[1]),
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
        """[D] Decisions with more than one legal action."""
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
        """Begins some deals again, all hands known."""
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
        same = ("agents", "rules", "seed", "information")
        if len({tuple(getattr(part, name) for name in same) for part in parts}) != 1:
            raise SettingError("expected plays of the same agents, game and seed, got others")
        joined = concatenated(parts, parts[0].columns())
        before = np.cumsum([0, *(len(part.round) for part in parts[:-1])])
        joined["deal"] += np.repeat(before, [len(part.deal) for part in parts])
        return replace(parts[0], **joined)


def concatenated(parts: Sequence[Any], names: Iterable[str]) -> dict[str, Any]:
    """Returns the arrays of these names, those of all parts concatenated."""
    return {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}


def load_policy(spec: str | Policy) -> Policy:
    """Returns an agent with known probabilities that plays from one view only.

    Raises:
        AgentError: if it is another one, or does not exist.
    """
    agent = build_agent(spec)
    if not isinstance(agent, Policy):
        raise AgentError(f"expected probabilities(), as of a known policy, got {agent.name!r}")
    if not is_stateless(agent):
        raise AgentError(f"expected an agent that plays from one view only, got {agent.name!r}")
    return agent


def check_rounds(agents: int, rounds: int, most: int, first: int = 0) -> None:
    """Checks a number of rounds for a number of agents, which play each deal in every seating."""
    if agents not in SEATINGS:
        raise SettingError(f"expected 1, 2 or 4 agents, got {agents}")
    each = len(SEATINGS[agents])
    whole = isinstance(rounds, int) and not isinstance(rounds, bool)
    if not whole or not 1 <= rounds <= most or rounds % each or first % each or first < 0:
        raise SettingError(f"expected rounds from {each} to {most:,} by {each}, got {rounds!r}")


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
    """Plays rounds or matches, actions sampled from ``probabilities``; returns every decision.

    Agents sit by ``SEATINGS``. The deals are those of ``Rounds(seed=seed)``; random numbers depend
    on ``first``, the number of the first round, too.

    Raises:
        AgentError: if an agent is no policy (``load_policy``), or doesn't play such games.
        SettingError: if a number is impossible.
    """
    check_rounds(len(agents), rounds, MAX_ROUNDS, first)
    policies = [load_policy(agent) for agent in agents]
    if wrong := [policy.name for policy in policies if not agent_plays(policy, information)]:
        raise AgentError(f"expected agents that play games with {information}, got {wrong[0]!r}")
    numbers, each = first + np.arange(rounds), len(SEATINGS[len(agents)])
    seating = np.array(SEATINGS[len(agents)], np.int8)[numbers % each]
    games = Rounds(
        rounds,
        rules=get_rules(rules),
        episode=episode,
        seed=seed,
        games=numbers // each,
        numbers=np.arange(rounds),
        log=True,
        finals=False,
        information=information,
    )
    rngs = [bot_generator(seed, "log", first, player) for player in range(len(policies))]
    dealt, ended, decided = (c.sorted() for c in _played(games, policies, seating, rngs))
    row, key, action = dealt["key"] >> 32, decided["key"], decided["action"]
    deal = np.searchsorted(dealt["key"], key, "right") - 1
    starts = np.searchsorted(key, dealt["key"])
    replay = Replay.of_deals(
        games.rules, dealt["hands"], dealt["dealer"], dealt["scores"], information=information
    )
    words, legal = _seen(replay, deal, starts, action)
    return Play(
        agents=tuple(policy.name for policy in policies),
        rules=games.rules,
        seed=seed,
        round=numbers[row],
        redeal=(np.arange(len(row)) - np.searchsorted(row, row)).astype(np.int8),
        hands=dealt["hands"].astype(np.int8),
        dealer=dealt["dealer"].astype(np.int8),
        scores=dealt["scores"].astype(np.int16),
        seating=seating[row],
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
    """Columns that grow by some rows at a time. Their keys tell games and moments apart.

    A key has the game in its upper bits and the time in its lower ones: of one game, the keys of
    deals, of decisions and of ends are in the order of play.
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
    """Plays rounds to their end, and returns the deals, their ends and all decisions."""
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
        asked, (actions, likely) = now.rows, _chosen(now, seating, policies, rngs)
        now = games.step(actions)
        if (made := now.made) is not None:
            # A decision without a choice is made, but nobody is asked: its action is certain.
            probabilities = np.zeros((len(made.rows), likely.shape[1]), np.float32)
            probabilities[np.arange(len(made.rows)), made.actions] = 1
            probabilities[np.searchsorted(made.rows, asked)] = likely
            decided.add(
                made.rows, time, seat=made.seats, action=made.actions, probabilities=probabilities
            )


def _chosen(
    now: PendingDecisions,
    seating: Int8,
    policies: Sequence[Policy],
    rngs: Sequence[np.random.Generator],
) -> tuple[Int, Float]:
    """Asks the acting seats' policies, and returns the actions [m] and probabilities [m, 69]."""
    player, likely = seating[now.rows, now.seats], np.zeros(now.legal.shape)
    actions = np.zeros(len(player), np.int64)
    for index, (policy, rng) in enumerate(zip(policies, rngs, strict=True)):
        mine = np.flatnonzero(player == index)
        if len(mine):
            likely[mine] = ask_probabilities(policy, now.view[mine], now.legal[mine])
            actions[mine] = sample(likely[mine], rng)
    return actions, likely


def steps(replay: Replay, starts: Int, ends: Int, action: Int | Int8) -> Iterator[Int]:
    """Plays deals again side by side, and yields the rows of the decisions at hand at each step.

    Args:
        replay: at the first decision of each deal; deals leave it at their end.
        starts: row of each deal's first decision.
        ends: row after the last one.
        action: of each row.
    """
    for time in range(int((ends - starts).max())):
        rows = starts[replay.game] + time
        going = rows < ends[replay.game]
        if not going.all():
            replay.select(np.flatnonzero(going))
            rows = rows[going]
        yield rows
        replay.step(action[rows].astype(np.int64))


def _seen(replay: Replay, deal: Int, starts: Int, action: Int) -> tuple[Words, Bool]:
    """Plays all deals at once and returns words [D, 8] and legal [D, 69]."""
    information = replay.view().information
    words = np.empty((len(deal), information.num_words), np.uint64)
    legal = np.empty((len(deal), information.num_actions), bool)
    for rows in steps(replay, starts, np.append(starts[1:], len(deal)), action):
        words[rows] = replay.view().words
        legal[rows] = replay.choices().legal(np.arange(len(replay)))
    return words, legal


def one_choice_a_deal(play: Play, rng: np.random.Generator, some: Bool | bool = True) -> Int:
    """Draws one play or pass with a choice in each deal that has one, as indices in order.

    ``some``: bool [D], the decisions to draw from.
    """
    order = rng.permutation(np.flatnonzero(play.choice & (play.action < CALL) & some))
    _, first = np.unique(play.deal[order], return_index=True)
    return order[first]


def positions(play: Play, index: Int) -> Positions:
    """Returns the full positions at decisions [n], the deciding seat as seat 0, to play them on."""
    if play.information != PLAIN:
        raise SettingError(f"expected a play of the base game, got one with {play.information}")
    hands = np.empty((len(index), NUM_SEATS, NUM_KINDS), np.int8)
    face_down = np.empty((len(index), NUM_SEATS, NUM_SEATS), np.int8)
    replay = play.replay(play.deal[index])  # a deal for each decision, which is its last one
    for rows in steps(replay, index - play.move[index], index + 1, play.action):
        there = np.flatnonzero(rows == index[replay.game])
        at = replay.game[there]
        for turn in range(NUM_SEATS):
            seats = (play.seat[index[replay.game]].astype(np.int64) + turn) % NUM_SEATS
            seen = replay.view(seats)[there]
            hands[at, turn] = seen.hand
            face_down[at, turn] = np.where(seen.face_down[:, 0], seen.blocks[:, 0], NONE)
    view = play.view(index)
    return determinize(view, Worlds(hands, face_down, np.ones(len(index)), view.face_up))
