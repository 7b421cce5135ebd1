"""Seats bots around a learner: what they are named by, who sits where, and how they are asked.

The game itself knows the text "random". Whoever imports ``agents`` teaches it every name of that
registry (``teach``); objects with ``act(view, legal, rng)`` need no name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

from goita_env import seeds
from goita_env.actions import name
from goita_env.checks import came, first_illegal
from goita_env.engine.state import State
from goita_env.errors import ActionError, IllegalActionError, SettingError
from goita_env.rounds import Ended
from goita_env.rules import Rules, get_rules
from goita_env.tiles import NUM_SEATS
from goita_env.views import View, packing, seat_view

Bool = npt.NDArray[np.bool_]
Int = npt.NDArray[np.int64]
Float = npt.NDArray[np.float64]
U64 = np.uint64

LEARNER: Final = -1
"""Stands in a line-up where the learner sits."""

_BOTS: Final = U64(0x626F7473)
"""Tells the keys of bots and seats from those of the deals."""


@dataclass(frozen=True)
class Results:
    """Tells how some rounds ended; ``n`` seats."""

    winner: Int
    """[n] Seat that ended the round, 0 to 3 as in ``begin``."""
    points: Int
    """[n] Points of the round, to the winner's team."""
    view: View
    """[n] The table at the end, as each seat sees it."""


class Bot(Protocol):
    """Plays a seat; with ``probabilities(view, legal)`` its policy is known, too."""

    def act(self, view: View, legal: Bool, rng: np.random.Generator) -> npt.NDArray[Any]:
        """Returns a legal action in each row: int [m]."""
        ...


@runtime_checkable
class Remembering(Protocol):
    """Plays with a memory, and is told where rounds begin and end.

    With ``redeal(games, view)`` it is told how deals ended in a redeal, too.
    """

    def begin(self, games: Int, seats: Int, view: View) -> None:
        """Takes notice of new deals."""
        ...

    def end(self, games: Int, results: Results, hands: Int) -> None:
        """Takes notice of rounds that were scored."""
        ...


Named: TypeAlias = str | Bot
"""A bot, or the text that names it."""
Opponents: TypeAlias = Named | tuple[Named, Named] | list[Named]
"""One bot for both seats, or a pair: the seat after the learner's, and the one before it."""


class RandomBot:
    """Plays every legal action with the same probability."""

    name = "random"

    def act(self, view: View, legal: Bool, rng: np.random.Generator) -> Int:
        """Returns an action in each row, uniform over the legal ones: int64 [m]."""
        return uniform(legal, rng.random(len(legal)))


_loaders: list[Callable[[str], Bot]] = []


def teach(loader: Callable[[str], Bot]) -> None:
    """Makes known how to build bots from texts other than "random"."""
    _loaders[:] = [loader]


def load_bot(bot: Named) -> Bot:
    """Returns the bot that a text names; an object is handed back as it is.

    Raises:
        SettingError: if it is neither. The loader that was taught raises errors of its own.
    """
    if not isinstance(bot, str):
        if callable(getattr(bot, "act", None)):
            return bot
        raise SettingError(f"expected a text or an object with act(view, legal, rng), got {bot!r}")
    if bot == "random":
        return RandomBot()
    if not _loaders:
        raise SettingError(
            f"expected the bot 'random', got {bot!r}; the others are known after `import agents`, "
            "as in gymnasium.make('agents:goita/Seat-v0', ...)"
        )
    return _loaders[0](bot)


def uniform(legal: Bool, numbers: Float) -> Int:
    """Returns the legal action in each row that a number from 0 to below 1 draws: int64 [m]."""
    summed = legal.cumsum(axis=1, dtype=np.uint8)
    rank = (numbers * summed[:, -1]).astype(np.uint8)
    chosen: Int = (summed <= rank[:, None]).sum(axis=1)
    return chosen


def sample_at(probabilities: Float, numbers: Float) -> Int:
    """Returns the action in each row that a number from 0 to below 1 draws: int64 [N].

    Args:
        probabilities: [N, 69] at least 0, a positive sum in every row (not needed to be 1).
        numbers: [N]
    """
    summed = probabilities.cumsum(axis=1)
    # A double below 1 times the sum stays below the sum, so no action of probability 0 is drawn.
    drawn = numbers * summed[:, -1]
    chosen: Int = (summed <= drawn[:, None]).sum(axis=1)
    return chosen


class Bots:
    """Plays all seats but the learner's in N games.

    Bots of known probabilities (``random`` is one) draw by numbers that follow from seed, game,
    episode and how many were drawn in it: their game is the same in a batch of any size. The others
    share a generator.

    Args:
        num_games: N.
        rules: a rule set or its name.
        partner: who plays the seat opposite the learner's; None: nobody does.
        opponents: who plays the other team.

    Attributes:
        lineup: int64 [N, 4] number of the bot at each seat, LEARNER where the learner sits.
    """

    def __init__(
        self, num_games: int, rules: str | Rules, partner: Named | None, opponents: Opponents | None
    ) -> None:
        self.lineup: Int = np.full((num_games, NUM_SEATS), LEARNER, np.int64)
        self._rules = get_rules(rules)
        self._bots: dict[int, Bot] = {}
        self._texts: dict[int, str] = {}
        self._memories: dict[int, Remembering] = {}
        self._policies: dict[int, Callable[[View, Bool], Float]] = {}
        """Those of known probabilities."""
        self._blind = np.zeros(1, bool)
        """Which act without a look; the last place is the learner's."""
        self._numbers = 0
        self._places: Int = np.full(NUM_SEATS, LEARNER, np.int64)
        """Who sits at, after, opposite and before the learner from the next deal on."""
        self.set(partner, opponents)
        self._keys: seeds.Keys = np.zeros(num_games, U64)
        self._streams: seeds.Keys = np.zeros(num_games, U64)
        self._rng = np.random.default_rng(0)

    def set(self, partner: Named | None, opponents: Opponents | None) -> None:
        """Chooses who plays from the next deals on; None leaves it as it is.

        Raises:
            SettingError: if one is no bot. Nothing has changed then.
        """
        wanted: dict[int, Named] = {} if partner is None else {2: partner}
        if opponents is not None:
            pair = opponents if isinstance(opponents, list | tuple) else (opponents, opponents)
            if len(pair) != 2:
                raise SettingError(f"expected a bot or a pair as opponents, got {opponents!r}")
            wanted |= {1: pair[0], 3: pair[1]}
        places, before = self._places.copy(), self._numbers
        added: dict[int, tuple[Named, Bot]] = {}
        for place, one in wanted.items():
            known = (number for number, (other, _) in added.items() if _is_same(one, other))
            number = next(known, self._numbers + len(added))
            if number not in added:
                added[number] = (one, load_bot(one))
            places[place] = number
        self._places, self._numbers = places, before + len(added)
        for number, (one, bot) in added.items():
            self._bots[number] = bot
            if isinstance(one, str):
                self._texts[number] = one
            if isinstance(bot, Remembering):
                self._memories[number] = bot
            policy = getattr(bot, "probabilities", None)
            if policy is not None:
                self._policies[number] = policy
        self._blind = np.append(self._blind[:-1], np.zeros(len(added) + 1, bool))
        self._blind[[number for number in added if isinstance(self._bots[number], RandomBot)]] = (
            True
        )
        self._forget()

    def _forget(self) -> None:
        """Drops the bots that sit nowhere and won't."""
        used = {*np.unique(self.lineup).tolist(), *self._places.tolist()}
        for number in [number for number in self._bots if number not in used]:
            bot = self._bots.pop(number)
            self._memories.pop(number, None)
            self._policies.pop(number, None)
            if self._texts.pop(number, None) is not None:
                _close(bot)

    def close(self) -> None:
        """Ends what bots that were named by texts run beside them."""
        for number in self._texts:
            _close(self._bots[number])

    def reseed(self, seed: int) -> None:
        """Takes the seed from which the bots' numbers, and the learner's seats, follow."""
        games = np.arange(len(self.lineup))
        self._keys = seeds.mix(seeds.game_keys(seed, games) ^ _BOTS)
        self._rng = np.random.default_rng([seed, int(_BOTS)])

    def begin(self, rows: Int, episodes: Int) -> Int:
        """Begins episodes of some games; returns a seat drawn for each: int64 [m].

        Args:
            rows: [m] the games.
            episodes: [m] which episode.
        """
        self._streams[rows] = seeds.deal_keys(self._keys[rows], episodes, 0)
        drawn = seeds.deal_keys(self._keys[rows], episodes, 1)
        return (drawn >> U64(62)).astype(np.int64)

    def sit(self, rows: Int, seats: Int, team: bool) -> None:
        """Seats those who play from these deals on.

        Args:
            rows: [m] the games.
            seats: [m] the learner's seat.
            team: the learner also plays its partner.
        """
        places = self._places.copy()
        if team:
            places[2] = LEARNER
        self.lineup[rows] = places[(np.arange(NUM_SEATS) - seats[:, None]) & 3]

    def sitting(self, rows: Int, seats: Int) -> tuple[Bool, Bool]:
        """Tells of some seats whether the learner sits there, and whether one that never looks.

        Args:
            rows: [m] the games.
            seats: [m] the seats.

        Returns:
            bool [m] each.
        """
        who = self.lineup.reshape(-1).take(NUM_SEATS * rows + seats)
        return who == LEARNER, self._blind[who]

    def draw(self, rows: Int, legal: Bool) -> Int:
        """Returns actions of bots that never look: int64 [m], uniform over the legal ones.

        Args:
            rows: [m] the games.
            legal: bool [m, 69].
        """
        return uniform(legal, self._draw(rows))

    def ask(self, rows: Int, seats: Int, words: packing.Words, legal: Bool) -> Int:
        """Returns the actions of the others: int64 [m].

        Args:
            rows: [m] the games that are asked.
            seats: [m] the seats, none of the learner's.
            words: uint64 [m, 8] what they see, packed.
            legal: bool [m, 69] what they may do.

        Raises:
            ActionError, IllegalActionError: if a bot answers what it may not.
        """
        view = View(words, 4 * rows + seats, self._rules)
        who = self.lineup[rows, seats]
        chosen = np.zeros(len(rows), np.int64)
        for number in self._bots:
            places = (who == number).nonzero()[0]
            if len(places) == len(rows):
                return self._choose(number, rows, view, legal)
            if len(places):
                chosen[places] = self._choose(number, rows[places], view[places], legal[places])
        return chosen

    def _choose(self, number: int, rows: Int, view: View, legal: Bool) -> Int:
        """Returns one bot's actions where it is asked."""
        bot = self._bots[number]
        policy = self._policies.get(number)
        if policy is not None:
            return sample_at(policy(view, legal), self._draw(rows))
        chosen = np.asarray(bot.act(view, legal, self._rng))
        label = self._texts.get(number, repr(bot))
        if chosen.shape != (len(rows),) or chosen.dtype.kind not in "iu":
            raise ActionError(
                f"expected {len(rows)} actions as whole numbers from {label}, got {came(chosen)}"
            )
        row = first_illegal(chosen, legal)
        if row is not None:
            raise IllegalActionError(
                f"expected one of {' '.join(map(name, np.flatnonzero(legal[row]).tolist()))} "
                f"from {label}, got {int(chosen[row])!r} in game {int(rows[row])}"
            )
        return chosen

    def _draw(self, rows: Int) -> Float:
        """Returns the next number of each game's stream: float64 [m], from 0 to below 1.

        Source: SplitMix64 (Steele, Lea and Flood 2014).
        """
        state = self._streams[rows]
        state += seeds.GOLDEN
        self._streams[rows] = state
        return seeds.uniforms(state)

    # ---------------------------------------------------------------------------------- memories

    @property
    def remember(self) -> bool:
        """Tells whether a bot wants to know where rounds begin and end."""
        return bool(self._memories)

    def tell_dealt(self, rows: Int, dealt: State) -> None:
        """Tells bots with a memory what was dealt: [n] the games, and how they stand."""
        for bot, index, seats, games in self._sitting(rows):
            view = seat_view(dealt.select(index), seats, games, hide_question=True)
            bot.begin(games, seats, view)

    def tell_redealt(self, redealt: Ended) -> None:
        """Tells those of them that want to know it how deals ended in a redeal."""
        for bot, index, seats, games in self._sitting(redealt.rows):
            redeal = getattr(bot, "redeal", None)
            if redeal is not None:
                redeal(games, redealt.view(index, seats))

    def tell_ended(self, ended: Ended) -> None:
        """Tells bots with a memory how rounds ended."""
        hands = ended.hands
        for bot, index, seats, games in self._sitting(ended.rows):
            view = ended.view(index, seats)
            results = Results(ended.winner[index], ended.points[index], view)
            bot.end(games, results, hands[index])

    def _sitting(self, rows: Int) -> Iterator[tuple[Remembering, Int, Int, Int]]:
        """Yields each bot with a memory: where in ``rows`` it sits, at which seats, its games."""
        for number, bot in self._memories.items():
            index, seats = np.nonzero(self.lineup[rows] == number)
            if len(index):
                yield bot, index, seats, 4 * rows[index] + seats


def _is_same(one: Named, other: Named) -> bool:
    """Tells whether two names are of one bot, which is then asked for both seats at once."""
    return one is other or (isinstance(one, str) and isinstance(other, str) and one == other)


def _close(bot: Bot) -> None:
    """Ends what a bot runs beside it, if it has a ``close``."""
    end = getattr(bot, "close", None)
    if callable(end):
        end()
