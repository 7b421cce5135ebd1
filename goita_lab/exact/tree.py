"""Enumerates a small game once: its histories, information sets and successors, as arrays.

The dealer sits at seat 0. Histories are listed level by level; a level has all histories with the
same number of decisions, so seat ``level % 4`` acts. The engine makes the moves of all histories of
a level at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import factorial
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from goita_agents.asking import ask_probabilities
from goita_agents.base import Float, Int, Policy
from goita_env import View
from goita_env.errors import SettingError
from goita_env.hands import list_hands
from goita_env.rules import Rules, get_rules
from goita_env.tiles import NUM_KINDS, NUM_SEATS
from goita_env.views import Replay
from goita_env.views.observation import NUM_WORDS, Words

Eyes = Literal["own", "blocks", "partner"]
"""What a seat sees: "own" only what the rules reveal; "blocks" also the tiles of all face-down
blocks; "partner" also its partner's tiles, so that a team is one player."""

MOST_DEALS: Final = 50_000
"""Games with more deals are refused: they need more than 5 GB, and hours to solve. A deal has 597
histories in ``mini_3``, 801 in ``mini_4``, 967 in ``mini_5``. With messages each deal counts once
for each message."""


@dataclass(frozen=True)
class Channel:
    """A message that the dealer sends before play, in the tree only."""

    bits: int = 1  #: 1 or 2: the dealer sends one of 2 or 4 messages.
    public: bool = False  #: The opponents observe it, too; False: only the dealer's partner.

    def __post_init__(self) -> None:
        if self.bits not in (1, 2):
            raise SettingError(f"expected a message of 1 or 2 bits, got {self.bits!r}")


@dataclass(frozen=True)
class Tree:
    """A small game of N histories, I information sets and A actions of information sets.

    The actions of an information set lie side by side, and so do the successors of a history. With
    a ``channel`` the first level is the dealer's message: its actions are the messages.
    """

    rules: Rules
    eyes: tuple[Eyes, Eyes]  #: Of the dealer's team, and of the other team.
    chance: Float  #: [D] Probability of each deal; the first D histories are the deals.
    info: npt.NDArray[np.int32]  #: [N] Information set of a history; -1 at the end of the round.
    first: npt.NDArray[np.int32]  #: [N] Its first successor.
    points: npt.NDArray[np.int16]  #: [N] Points of seats 0 and 2 at the end, minus the others'.
    starts: Int  #: [I + 1] First action of each information set.
    action: npt.NDArray[np.int8]  #: [A] Each action, as the engine numbers it.
    seat: npt.NDArray[np.int8]  #: [I] Seat that acts.
    before: npt.NDArray[np.int32]  #: [I] The player's last action before the set; -1: none.
    words: Words  #: [I, 8] The seat's packed view (``View.words``).
    levels: Int  #: [L + 1] First history of each level.
    sets: Int  #: [L + 1] First information set of each level.
    channel: Channel | None = None  #: The dealer's message before play.

    @property
    def players(self) -> tuple[int, ...]:
        """The player at each seat: the seat, or the first seat of a team that sees its tiles."""
        return tuple(
            seat % 2 if self.eyes[seat % 2] == "partner" else seat for seat in range(NUM_SEATS)
        )

    @cached_property
    def player(self) -> npt.NDArray[np.int8]:
        """[I] The player that acts, one of ``players``."""
        return np.array(self.players, np.int8)[self.seat]

    @cached_property
    def owner(self) -> npt.NDArray[np.int32]:
        """[A] The information set of each action."""
        return np.arange(len(self.seat), dtype=np.int32).repeat(np.diff(self.starts))

    @cached_property
    def actor(self) -> npt.NDArray[np.int8]:
        """[A] The seat of each action."""
        return self.seat[self.owner]

    def view(self) -> View:
        """Returns the acting seats' views, a row for each information set."""
        return View(self.words, rules=self.rules)

    def uniform(self) -> Float:
        """Returns the policy that gives all legal actions the same probability: float64 [A]."""
        return 1 / np.diff(self.starts)[self.owner]

    def policy_of(self, agents: Sequence[Policy]) -> Float:
        """Returns the action probabilities of agents at the four seats: float64 [A].

        Agents do not observe messages, and send each with the same probability.

        Raises:
            AgentError: if an agent's probabilities are not distributions over legal actions.
        """
        view, policy = self.view(), self.uniform()
        # With a channel the sets of the first level are those in which the dealer sends a message.
        in_play = np.arange(len(self.seat)) >= (self.sets[1] if self.channel else 0)
        for first, agent in enumerate(agents):
            if agent in agents[:first]:
                continue  # its probabilities at all its seats are there already
            seats = [seat for seat in range(NUM_SEATS) if agents[seat] == agent]
            sets = np.flatnonzero(in_play & np.isin(self.seat, seats))
            chances = ask_probabilities(agent, view[sets], view[sets].legal())
            policy = self.filled(sets, chances, policy)
        return policy

    def filled(self, sets: Int, chances: Float, policy: Float | None = None) -> Float:
        """Returns a policy with new probabilities at some information sets: float64 [A].

        Args:
            sets: [n] these information sets, ascending.
            chances: [n, 69] the probability of each action at each of ``sets``.
            policy: float64 [A] for all other sets; None: uniform.
        """
        filled = self.uniform() if policy is None else policy.copy()
        actions = np.flatnonzero(np.isin(self.owner, sets))
        rows = np.searchsorted(sets, self.owner[actions])  # where ``sets`` has each action's set
        filled[actions] = chances[rows, self.action[actions]]
        return filled

    def carry(self, policy: Float, source: Tree) -> Float:
        """Returns a policy [A] of ``source``, the same game where seats see less, for this game."""
        digests = source.view().digest()
        order = digests.argsort()
        # The set of ``source`` with the same view as each set here, found among sorted digests.
        row = order[np.searchsorted(digests, self.view().digest(), sorter=order)]
        # An action has the same place among those of its set in both games.
        place = np.arange(len(self.action)) - self.starts[self.owner]
        return np.asarray(policy[source.starts[row][self.owner] + place])


def deals(rules: Rules, limit: int = MOST_DEALS) -> tuple[Int, Float]:
    """Lists the deals of a small game and their probabilities: int64 [D, 4, 8], float64 [D]."""
    hands, undealt = np.zeros((1, 0, NUM_KINDS), np.int64), np.array([rules.deck])
    for _ in range(NUM_SEATS):
        # Each deal of the seats so far is repeated for every hand that the next seat may get.
        next_hands = [list_hands(tiles, rules.hand_size) for tiles in undealt.tolist()]
        counts = [len(choices) for choices in next_hands]
        if sum(counts) > limit:
            raise SettingError(
                f"expected a game of at most {limit:,} deals, got more in {rules.name!r}"
            )
        added = np.concatenate(next_hands)
        hands = np.concatenate((hands.repeat(counts, axis=0), added[:, None]), axis=1)
        undealt = undealt.repeat(counts, axis=0) - added
    # Ways to deal distinct tiles: a product of 1 / n! over the counts, up to a constant factor.
    ways = np.array([1 / factorial(count) for count in range(max(rules.deck) + 1)])
    weight = ways[hands].prod(axis=(1, 2))
    return hands, weight / weight.sum()


def spread(counts: Int) -> tuple[Int, Int]:
    """Repeats each row by its count [n]: the row, and an index from 0 within it, [m] each."""
    row = np.arange(len(counts)).repeat(counts)
    return row, np.arange(len(row)) - (counts.cumsum() - counts)[row]


def enumerate_game(
    rules: str | Rules, eyes: Eyes | tuple[Eyes, Eyes] = "own", channel: Channel | None = None
) -> Tree:
    """Enumerates a small game.

    Args:
        rules: its rule set, or its name.
        eyes: what the seats of the dealer's team and of the other team see.
        channel: the dealer's message before play; None: no message.

    Raises:
        SettingError: if the game is not small, or has more than ``MOST_DEALS``.
    """
    rules = get_rules(rules)
    if not rules.is_small:
        raise SettingError(f"expected a small game, such as mini_3, got {rules.name!r}")
    messages = 2**channel.bits if channel else 1
    hands, chance = deals(rules, MOST_DEALS // messages)
    team_eyes = (eyes, eyes) if isinstance(eyes, str) else eyes
    scores = np.zeros((len(hands), 2), np.int64)
    replay = Replay.of_deals(rules, hands, np.zeros(len(hands), np.int64), scores)
    # Points of all histories of the level, and the indices of those in which the round continues.
    points, ongoing = np.zeros(len(hands), np.int16), np.arange(len(hands))
    # Each seat's last action, as the tree numbers it, and the dealer's message, by ongoing history.
    last, message = np.full((NUM_SEATS, len(hands)), -1, np.int32), np.zeros(len(hands), np.uint64)
    levels, num_actions = list[_Level](), 0
    while len(replay):
        sends = channel is not None and not levels
        # With a channel the dealer acts in the first two levels: it sends a message, then it plays.
        decided = len(levels) if channel is None or sends else len(levels) - 1
        seat = decided % NUM_SEATS
        seen = _seen(replay, seat, team_eyes[seat % 2])
        # The dealer remembers its own message.
        if channel and (channel.public or seat % 2 == 0):
            seen = np.column_stack((seen, message))
        level = _level(replay, seat, seen, points, ongoing, last[seat], messages if sends else 0)
        levels.append(level)
        # A row for each successor: the history before it, and the index of the action among those
        # of the history's information set.
        parent, index = spread(level.successors)
        first_action = level.width.cumsum() - level.width  # of each set, counted in the level
        chosen = first_action[level.sets[parent]] + index
        replay.select(parent)
        if sends:
            message = index.astype(np.uint64)
        else:
            replay.step(level.action[chosen].astype(np.int64))
            message = message[parent]
        # Partners that see each other's tiles are one player, whose last action this is.
        seats = [seat, (seat + 2) % NUM_SEATS] if team_eyes[seat % 2] == "partner" else [seat]
        last = last[:, parent]
        last[seats] = num_actions + chosen
        num_actions += len(level.action)
        points, ongoing = replay.gained.astype(np.int16), np.flatnonzero(replay.seat >= 0)
        replay.select(ongoing)
        last, message = last[:, ongoing], message[ongoing]
    return _join(rules, team_eyes, channel, chance, levels, points)


@dataclass(frozen=True)
class _Level:
    """The histories with equally many decisions, and the information sets of the ongoing ones."""

    seat: int  # The seat that acts.
    points: npt.NDArray[np.int16]  # [N] Of all histories.
    ongoing: Int  # [n] Index of each history in which the round continues.
    sets: Int  # [n] Its information set, counted in the level.
    successors: Int  # [n] Its number of successors.
    width: Int  # [i] Number of actions of each information set.
    action: npt.NDArray[np.int8]  # [a] The actions of all information sets.
    before: npt.NDArray[np.int32]  # [i] As in ``Tree``.
    words: Words  # [i, 8]


def _level(
    replay: Replay,
    seat: int,
    seen: Words,
    points: npt.NDArray[np.int16],
    ongoing: Int,
    last: npt.NDArray[np.int32],
    messages: int,
) -> _Level:
    """Groups the ongoing histories of a level into information sets, by what the seat knows.

    ``seen`` [n, W] is all that the seat knows, ``last`` [n] the player's last action. ``messages``
    is the number of messages that the seat chooses from; 0: it plays.
    """
    digests = View(seen).digest()
    # ``index``: the first history of each set; ``sets``: the set of each history.
    _, index, sets = np.unique(digests, return_index=True, return_inverse=True)
    if (seen[index][sets] != seen).any():
        raise ArithmeticError("expected different digests of different views, got the same")
    legal = np.ones((len(index), messages), bool) if messages else replay.choices().legal(index)
    width = legal.sum(axis=1)
    return _Level(
        seat=seat,
        points=points,
        ongoing=ongoing,
        sets=sets,
        successors=width[sets],
        width=width,
        action=np.nonzero(legal)[1].astype(np.int8),
        before=last[index],
        words=seen[index, :NUM_WORDS],
    )


def _join(
    rules: Rules,
    eyes: tuple[Eyes, Eyes],
    channel: Channel | None,
    chance: Float,
    levels: Sequence[_Level],
    ends: npt.NDArray[np.int16],
) -> Tree:
    """Numbers all histories, information sets and actions through the levels.

    ``ends``: points of the histories after the last level, in which every round is over.
    """
    histories = np.cumsum([0, *(len(level.points) for level in levels), len(ends)])
    info = np.full(histories[-1], -1, np.int32)
    first = np.zeros(histories[-1], np.int32)
    sets = np.cumsum([0, *(len(level.width) for level in levels)])
    for index, level in enumerate(levels):
        nodes = histories[index] + level.ongoing
        info[nodes] = sets[index] + level.sets
        # The next level has the successors of the ongoing histories, side by side.
        first[nodes] = histories[index + 1] + level.successors.cumsum() - level.successors
    width = np.concatenate([level.width for level in levels])
    return Tree(
        rules=rules,
        eyes=eyes,
        chance=chance,
        info=info,
        first=first,
        points=np.concatenate([*(level.points for level in levels), ends]),
        starts=np.concatenate(([0], width.cumsum())),
        action=np.concatenate([level.action for level in levels]),
        seat=np.repeat([level.seat for level in levels], np.diff(sets)).astype(np.int8),
        before=np.concatenate([level.before for level in levels]),
        words=np.concatenate([level.words for level in levels]),
        levels=histories,
        sets=sets,
        channel=channel,
    )


def _seen(replay: Replay, seat: int, eyes: Eyes) -> Words:
    """Returns what a seat sees in each history, as words that are equal for equal views: [n, W]."""
    seen = [replay.view(seat).words]
    if eyes == "partner":
        seen.append(replay.view((seat + 2) % NUM_SEATS).words)
    elif eyes == "blocks":
        seen += [replay.view(other).words[:, :1] for other in range(NUM_SEATS) if other != seat]
    return np.concatenate(seen, axis=1)
