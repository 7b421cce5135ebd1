"""Enumerates a small game once: its histories, information sets and successors, as arrays.

The dealer sits on seat 0. Histories are listed level by level, by the number of decisions so far,
so seat ``level % 4`` decides. The engine itself makes the moves, all histories of a level at once.
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
"""What a seat sees: "own" what the rules say; "blocks" all tiles under face-down blocks, too;
"partner" its partner's tiles, too, so that a team is one player."""

MOST_DEALS: Final = 50_000
"""Games of more deals are refused: they take more than 5 GB and hours to solve. A deal has 597
histories in ``mini_3``, 801 in ``mini_4``, 967 in ``mini_5``. With messages each deal counts once
for each message."""


@dataclass(frozen=True)
class Channel:
    """A message that the dealer sends before play, in the tree only."""

    bits: int = 1  #: 1 or 2: the dealer sends one of 2 or 4 messages.
    public: bool = False  #: The opponents observe it, too; False: the dealer's partner does.

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
    eyes: tuple[Eyes, Eyes]  #: What the seats of the dealer's team see, and those of the other.
    chance: Float  #: [D] Probability of each deal; the first D histories are the deals.
    info: npt.NDArray[np.int32]  #: [N] Information set of a history; -1 at the end of the round.
    first: npt.NDArray[np.int32]  #: [N] Its first successor.
    points: npt.NDArray[np.int16]  #: [N] What seats 0 and 2 gain at the end, minus the others.
    starts: Int  #: [I + 1] First action of each information set.
    action: npt.NDArray[np.int8]  #: [A] What it is.
    seat: npt.NDArray[np.int8]  #: [I] Who decides.
    before: npt.NDArray[np.int32]  #: [I] Action of the same player before; -1: none.
    words: Words  #: [I, 8] What the seat sees, as ``View`` reads it.
    levels: Int  #: [L + 1] First history of each level.
    sets: Int  #: [L + 1] First information set of each level.
    channel: Channel | None = None  #: The dealer's message before play.

    @property
    def players(self) -> tuple[int, ...]:
        """Who decides for each seat: itself, or the first seat of a team that sees its tiles."""
        return tuple(
            seat % 2 if self.eyes[seat % 2] == "partner" else seat for seat in range(NUM_SEATS)
        )

    @cached_property
    def player(self) -> npt.NDArray[np.int8]:
        """[I] Who decides, of ``players``."""
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
        """Returns what the seats see, a row for each information set."""
        return View(self.words, rules=self.rules)

    def uniform(self) -> Float:
        """Returns the policy that gives all legal actions the same probability: float64 [A]."""
        return 1 / np.diff(self.starts)[self.owner]

    def policy_of(self, agents: Sequence[Policy]) -> Float:
        """Returns the probabilities with which agents at the four seats act: float64 [A].

        Agents do not observe messages, and send each with the same probability.

        Raises:
            AgentError: if an agent's probabilities are none.
        """
        view, policy = self.view(), self.uniform()
        play = np.arange(len(self.seat)) >= (self.sets[1] if self.channel else 0)
        for place, agent in enumerate(agents):
            if agent in agents[:place]:
                continue
            seats = [seat for seat, other in enumerate(agents) if other == agent]
            sets = np.flatnonzero(play & np.isin(self.seat, seats))
            shown = view[sets]
            chances = ask_probabilities(agent, shown, shown.legal())
            policy = self.filled(sets, chances, policy)
        return policy

    def filled(self, sets: Int, chances: Float, policy: Float | None = None) -> Float:
        """Returns a policy with the probabilities of some information sets: float64 [A].

        Args:
            sets: [n] the information sets, ascending.
            chances: [n, 69] the probability of each action there.
            policy: float64 [A] for the other sets; None: uniform.
        """
        filled = self.uniform() if policy is None else policy.copy()
        actions = np.flatnonzero(np.isin(self.owner, sets))
        rows = np.searchsorted(sets, self.owner[actions])
        filled[actions] = chances[rows, self.action[actions]]
        return filled

    def carry(self, policy: Float, source: Tree) -> Float:
        """Returns a policy [A] of the same game with fewer eyes, in which seats see no more."""
        digests = source.view().digest()
        order = digests.argsort()
        row = order[np.searchsorted(digests, self.view().digest(), sorter=order)]
        place = np.arange(len(self.action)) - self.starts[self.owner]
        return np.asarray(policy[source.starts[row][self.owner] + place])


def deals(rules: Rules, most: int = MOST_DEALS) -> tuple[Int, Float]:
    """Lists the deals of a small game and their probabilities: int64 [D, 4, 8], float64 [D]."""
    found, left = np.zeros((1, 0, NUM_KINDS), np.int64), np.array([rules.deck])
    for _ in range(NUM_SEATS):
        parts = [list_hands(tiles, rules.hand_size) for tiles in left.tolist()]
        many = [len(part) for part in parts]
        if sum(many) > most:
            raise SettingError(
                f"expected a game of at most {most:,} deals, got more in {rules.name!r}"
            )
        hands = np.concatenate(parts)
        found = np.concatenate((found.repeat(many, axis=0), hands[:, None]), axis=1)
        left = left.repeat(many, axis=0) - hands
    ways = np.array([1 / factorial(number) for number in range(max(rules.deck) + 1)])
    weight = ways[found].prod(axis=(1, 2))
    return found, weight / weight.sum()


def spread(many: Int) -> tuple[Int, Int]:
    """Counts up to each of some numbers [n]: whose turn it is, and the count from 0, [m] each."""
    row = np.arange(len(many)).repeat(many)
    return row, np.arange(len(row)) - (many.cumsum() - many)[row]


def enumerate_game(
    rules: str | Rules, eyes: Eyes | tuple[Eyes, Eyes] = "own", channel: Channel | None = None
) -> Tree:
    """Enumerates a small game.

    Args:
        rules: its rule set, or its name.
        eyes: what the seats see, those of the dealer's team and of the other.
        channel: the dealer's message before play; None: there is none.

    Raises:
        SettingError: if the game is not small, or has more than ``MOST_DEALS``.
    """
    rules = get_rules(rules)
    if not rules.is_small:
        raise SettingError(f"expected a small game, such as mini_3, got {rules.name!r}")
    messages = 2**channel.bits if channel else 1
    hands, chance = deals(rules, MOST_DEALS // messages)
    both = (eyes, eyes) if isinstance(eyes, str) else eyes
    nothing = np.zeros((len(hands), 2), np.int64)
    replay = Replay.of_deals(rules, hands, np.zeros(len(hands), np.int64), nothing)
    points, going = np.zeros(len(hands), np.int16), np.arange(len(hands))
    last = np.full((NUM_SEATS, len(hands)), -1, np.int32)
    found: list[_Level] = []
    actions, message = 0, np.zeros(len(hands), np.uint64)
    while len(replay):
        sends = channel is not None and not found
        seat = (len(found) - (channel is not None and not sends)) % NUM_SEATS
        seen = _seen(replay, seat, both[seat % 2])
        # The dealer remembers what it sent.
        if channel and (channel.public or seat % 2 == 0):
            seen = np.column_stack((seen, message))
        level = _look(replay, seat, seen, points, going, last[seat], messages if sends else 0)
        found.append(level)
        here, place = spread(level.many)
        chosen = (level.width.cumsum() - level.width)[level.sets[here]] + place
        replay.select(here)
        if sends:
            message = place.astype(np.uint64)
        else:
            replay.step(level.action[chosen].astype(np.int64))
            message = message[here]
        own = [seat, (seat + 2) % NUM_SEATS] if both[seat % 2] == "partner" else [seat]
        last = last[:, here]
        last[own] = actions + chosen
        actions += len(level.action)
        points, going = replay.gained.astype(np.int16), np.flatnonzero(replay.seat >= 0)
        replay.select(going)
        last, message = last[:, going], message[going]
    return _join(rules, both, channel, chance, found, points)


@dataclass(frozen=True)
class _Level:
    """The histories after so many decisions, and the information sets of those that go on."""

    seat: int
    points: npt.NDArray[np.int16]  # [N] Of all histories.
    going: Int  # [n] Those that go on.
    sets: Int  # [n] The information set of each, counted in the level.
    many: Int  # [n] Successors of each.
    width: Int  # [i] Actions of each information set.
    action: npt.NDArray[np.int8]  # [a] These actions.
    before: npt.NDArray[np.int32]  # [i]
    words: Words  # [i, 8]


def _look(
    replay: Replay,
    seat: int,
    seen: Words,
    points: npt.NDArray[np.int16],
    going: Int,
    last: npt.NDArray[np.int32],
    messages: int,
) -> _Level:
    """Finds the information sets of a level; ``last`` [n] is the player's action before.

    ``seen`` [n, W] is all that the seat knows; ``messages``: how many it chooses from, 0: it plays.
    """
    digests = View(seen).digest()
    _, index, sets = np.unique(digests, return_index=True, return_inverse=True)
    if (seen[index][sets] != seen).any():
        raise ArithmeticError("expected different digests of different views, got the same")
    legal = np.ones((len(index), messages), bool) if messages else replay.choices().legal(index)
    width = legal.sum(axis=1)
    action = np.nonzero(legal)[1].astype(np.int8)
    words = seen[index, :NUM_WORDS]
    return _Level(seat, points, going, sets, width[sets], width, action, last[index], words)


def _join(
    rules: Rules,
    eyes: tuple[Eyes, Eyes],
    channel: Channel | None,
    chance: Float,
    found: Sequence[_Level],
    ends: npt.NDArray[np.int16],
) -> Tree:
    """Numbers all histories, information sets and actions; ``ends``: points after the last."""
    histories = np.cumsum([0, *(len(level.points) for level in found), len(ends)])
    info = np.full(histories[-1], -1, np.int32)
    first = np.zeros(histories[-1], np.int32)
    sets = np.cumsum([0, *(len(level.width) for level in found)])
    for number, level in enumerate(found):
        place = histories[number] + level.going
        info[place] = sets[number] + level.sets
        first[place] = histories[number + 1] + level.many.cumsum() - level.many
    width = np.concatenate([level.width for level in found])
    return Tree(
        rules,
        eyes,
        chance,
        info=info,
        first=first,
        points=np.concatenate([*(level.points for level in found), ends]),
        starts=np.concatenate(([0], width.cumsum())),
        action=np.concatenate([level.action for level in found]),
        seat=np.repeat([level.seat for level in found], np.diff(sets)).astype(np.int8),
        before=np.concatenate([level.before for level in found]),
        words=np.concatenate([level.words for level in found]),
        levels=histories,
        sets=sets,
        channel=channel,
    )


def _seen(replay: Replay, seat: int, eyes: Eyes) -> Words:
    """Returns all that a seat sees in each history: uint64 [n, W]."""
    seen = [replay.view(seat).words]
    if eyes == "partner":
        seen.append(replay.view((seat + 2) % NUM_SEATS).words)
    elif eyes == "blocks":
        seen += [replay.view(other).words[:, :1] for other in range(NUM_SEATS) if other != seat]
    return np.concatenate(seen, axis=1)
