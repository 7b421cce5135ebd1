"""Tries to rebuild the deals from everything that a bot is given.

A bot gets views, numbers of games and a generator. If they revealed the seed of the deals, the
public ``Rounds`` would deal the same hands again. The attacker tries every number that it can find
as a seed, and compares the deals with its own hands.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, Final

import numpy as np

from goita_agents.base import Agent, Bool, Int, RandomAgent, Results, StatefulAgent
from goita_env import View
from goita_env.rounds import Rounds

GAMES: Final = 512  # Games of a seed that are tried; a tournament numbers its games from 0.

MOST: Final = 40  # Most numbers from which seeds are made.

_MASK: Final = (1 << 64) - 1
_FACTORS: Final = (0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
_GOLDEN: Final = 0x9E3779B97F4A7C15


class Attacker:
    """Plays like a bot or at random, and collects what it is given.

    Args:
        bot: chooses the actions; None: they are random.

    Attributes:
        every: all instances.
        numbers: whole numbers that it was given in any way, the most promising first.
        hands: its own hand by the number of the game, int [8].
        dealt: the four hands by the number of the game, known after its end, int [4, 8].
    """

    every: ClassVar[list[Attacker]] = []

    def __init__(self, bot: Agent | None = None) -> None:
        self.name = "attacker" if bot is None else bot.name
        self._bot = bot
        self.numbers: dict[int, None] = {}
        self.hands: dict[int, Int] = {}
        self.dealt: dict[int, Int] = {}
        Attacker.every.append(self)

    def begin(self, games: Int, seats: Int, view: View) -> None:
        for game, hand in zip(games.tolist(), view.hand, strict=True):
            self.hands[game] = hand
        if isinstance(self._bot, StatefulAgent):
            self._bot.begin(games, seats, view)

    def act(self, view: View, legal: Bool, rng: np.random.Generator) -> Int:
        if not self.numbers:
            source = rng.bit_generator.seed_seq
            found = [getattr(source, name, 0) for name in ("entropy", "spawn_key", "pool")]
            self._note(_numbers_in([*found, rng.bit_generator.state, len(view)]))
        self._note(view.game.tolist())
        return (self._bot or RandomAgent()).act(view, legal, rng)

    def end(self, games: Int, results: Results, hands: Int) -> None:
        self.dealt |= dict(zip(games.tolist(), hands, strict=True))
        if isinstance(self._bot, StatefulAgent):
            self._bot.end(games, results, hands)

    def rebuilt(self) -> int:
        """Returns in how many of its games it could have known all hands.

        By chance the deals of a wrong seed contain its own hand in half of the games, and all four
        hands in hardly any; those of the right seed do in all games but those after a redeal.
        """
        games, most = list(self.hands), 0
        for seed in self._seeds():
            dealt = Rounds(GAMES, seed=seed).decisions.dealt
            every = np.zeros((0, 4, 8), np.int8) if dealt is None else dealt.hands
            for some in (games[:16], games):  # many wrong seeds are refuted by a few games
                alike = {g: every[(every[:, g % 4] == self.hands[g]).all(axis=1)] for g in some}
                if sum(len(deals) > 0 for deals in alike.values()) <= len(some) / 2:
                    break
            else:
                known = [
                    (deals == self.dealt[game]).all(axis=(1, 2)).any()
                    for game, deals in alike.items()
                    if game in self.dealt
                ]
                if sum(known) > len(known) / 2:
                    most = max(most, sum(known))
        return most

    def _note(self, numbers: Iterable[int]) -> None:
        for number in numbers:
            if len(self.numbers) < MOST:
                self.numbers[number] = None

    def _seeds(self) -> list[int]:
        """Returns possible seeds: the numbers and what they may be derived from."""
        found: dict[int, None] = {}
        for number in self.numbers:
            for word in (number & _MASK, number >> 64 & _MASK, number >> 2 & _MASK):
                once = _unmixed(word)
                twice = _unmixed(once)
                same = (word, once, twice, once - _GOLDEN, twice - _GOLDEN)
                found |= dict.fromkeys(one & _MASK for one in same)
        return list(found)


def _unmixed(value: int) -> int:
    """Inverts SplitMix64."""
    for shift, factor in ((31, _FACTORS[1]), (27, _FACTORS[0]), (30, None)):
        value ^= (value >> shift) ^ (value >> 2 * shift)
        if factor is not None:
            value = value * pow(factor, -1, 1 << 64) & _MASK
    return value


def _numbers_in(thing: Any) -> Iterator[int]:
    if isinstance(thing, int | np.integer):
        yield int(thing)
    elif isinstance(thing, dict):
        yield from _numbers_in(list(thing.values()))
    elif isinstance(thing, list | tuple | np.ndarray):
        for part in thing:
            yield from _numbers_in(part)
