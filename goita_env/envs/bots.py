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
from goita_env.checks import came, first_illegal, integers
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

PURPOSE: Final = "seat environment"
"""What bots are given here is derived from the seed for this purpose (``seeds.bot_seed``)."""

_SEATS: Final = U64(0x626F7473)
"""Tells the keys of the learner's seats from those of the deals."""


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


_loaders: list[tuple[Callable[[str], Bot], Callable[[str], bool]]] = []


def teach(loader: Callable[[str], Bot], is_own: Callable[[str], bool]) -> None:
    """Makes known how to build bots from texts other than "random".

    Args:
        loader: returns the bot that a text names.
        is_own: tells whether that is a class of the user's.
    """
    _loaders[:] = [(loader, is_own)]


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
    loader, _ = _loaders[0]
    return loader(bot)


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
    have a generator each. Where a text names a class of the user's or a bot with a memory, there is
    one for each seat, so that none sees two hands of a deal; an object plays wherever it is put.

    Generators, drawn numbers and the numbers by which bots tell games apart follow from the seed,
    and don't tell it (``goita_env.seeds``).

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
        self._by_seat: Int = np.zeros(1, np.int64)
        """1 where the next numbers are the same bot's at the next seats; the last is as above."""
        self._loaded = 0
        self._places: Int = np.full(NUM_SEATS, LEARNER, np.int64)
        """Who sits at, after, opposite and before the learner from the next deal on."""
        self._seed: int | None = None
        self._changes = 0
        """How often bots were chosen since that seed."""
        self._rngs: dict[int, np.random.Generator] = {}
        self.set(partner, opponents)
        self._numbers: Int | None = np.arange(num_games)
        self._seat_keys: seeds.Keys = np.zeros(num_games, U64)
        self._keys: seeds.Keys = np.zeros(num_games, U64)
        self._streams: seeds.Keys = np.zeros(num_games, U64)

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
        places, chosen = self._places.copy(), list[_Chosen]()
        for place, named in wanted.items():
            one = next((one for one in chosen if _is_same(one.named, named)), None)
            if one is None:
                number = self._loaded + sum(len(other.bots) for other in chosen)
                one = _Chosen(named, number, _instances(named))
                chosen.append(one)
            places[place] = one.number
        self._places = places
        for one in chosen:
            self._enter(one)
        self._forget()
        self._changes += 1
        self._hand_out()

    def _enter(self, chosen: _Chosen) -> None:
        """Takes notice of a bot, or of one for each seat."""
        for number, bot in enumerate(chosen.bots, chosen.number):
            self._bots[number] = bot
            if isinstance(chosen.named, str):
                self._texts[number] = chosen.named
            if isinstance(bot, Remembering):
                self._memories[number] = bot
            policy = getattr(bot, "probabilities", None)
            if policy is not None:
                self._policies[number] = policy
            self._blind = np.insert(self._blind, -1, isinstance(bot, RandomBot))
            self._by_seat = np.insert(self._by_seat, -1, len(chosen.bots) > 1)
        self._loaded += len(chosen.bots)

    def _at_seats(self, numbers: Int) -> Int:
        """Returns who that is at seats 0 to 3: int64 [m, 4]; ``numbers``: [m, 1] or [m, 4]."""
        return numbers + self._by_seat[numbers] * np.arange(NUM_SEATS)

    def _forget(self) -> None:
        """Drops the bots that sit nowhere and won't."""
        coming = self._at_seats(self._places[:, None])
        used = {*np.unique(self.lineup).tolist(), *np.unique(coming).tolist()}
        for number in [number for number in self._bots if number not in used]:
            bot = self._bots.pop(number)
            self._memories.pop(number, None)
            self._policies.pop(number, None)
            self._rngs.pop(number, None)
            if self._texts.pop(number, None) is not None:
                _close(bot)

    def _hand_out(self) -> None:
        """Gives generators to the bots that sit from the next deal on, need one and have none."""
        if self._seed is None:
            return
        for place, numbers in enumerate(self._at_seats(self._places[:, None]).tolist()):
            for seat, number in enumerate(numbers):
                known = number == LEARNER or self._blind[number] or number in self._policies
                if not known and number not in self._rngs:
                    parts = (self._changes, place, seat)
                    self._rngs[number] = seeds.bot_generator(self._seed, PURPOSE, *parts)

    def close(self) -> None:
        """Ends what bots that were named by texts run beside them."""
        for number in self._texts:
            _close(self._bots[number])

    def reseed(self, seed: int) -> None:
        """Takes the seed from which the bots' numbers, and the learner's seats, follow."""
        games = np.arange(len(self.lineup))
        self._seat_keys = seeds.mix(seeds.game_keys(seed, games) ^ _SEATS)
        # What a bot does tells of the numbers drawn for it, and their hash can be inverted.
        drawn = seeds.bot_seed(seed, PURPOSE, "drawn") & 0xFFFFFFFFFFFFFFFF
        self._keys = seeds.game_keys(drawn, games)
        self._numbers = None
        self._seed, self._changes = seed, 0
        self._rngs.clear()
        self._hand_out()

    @property
    def numbers(self) -> Int:
        """Returns the numbers by which bots tell games apart until the next seed: int64 [N]."""
        if self._numbers is None:
            assert self._seed is not None
            games = np.arange(len(self.lineup))
            self._numbers = seeds.GameNumbers(self._seed, PURPOSE).shown(games)
        return self._numbers

    def begin(self, rows: Int, episodes: Int) -> Int:
        """Begins episodes of some games; returns a seat drawn for each: int64 [m].

        Args:
            rows: [m] the games.
            episodes: [m] which episode.
        """
        self._streams[rows] = seeds.deal_keys(self._keys[rows], episodes, 0)
        drawn = seeds.deal_keys(self._seat_keys[rows], episodes, 1)
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
        lineup = places[(np.arange(NUM_SEATS) - seats[:, None]) & 3]
        self.lineup[rows] = self._at_seats(lineup) if self._by_seat.any() else lineup

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
        view = View(words, 4 * self.numbers[rows] + seats, self._rules)
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
        answer = bot.act(view, legal, self._rngs[number])
        chosen = integers(answer)
        label = self._texts.get(number, repr(bot))
        if chosen is None or chosen.shape != (len(rows),):
            raise ActionError(
                f"expected {len(rows)} actions as whole numbers from {label}, got {came(answer)}"
            )
        row = first_illegal(chosen, legal)
        if row is not None:
            raise IllegalActionError(
                f"expected one of {' '.join(map(name, np.flatnonzero(legal[row]).tolist()))} "
                f"from {label}, got {int(chosen[row])!r} in game {int(rows[row])}"
            )
        return chosen.astype(np.int64, copy=False)

    def _draw(self, rows: Int) -> Float:
        """Returns the next number of each game's stream: float64 [m], from 0 to below 1.

        Source: SplitMix64 (Steele, Lea and Flood 2014).
        """
        state = self._streams[rows]
        state += seeds.GOLDEN
        self._streams[rows] = state
        return seeds.uniforms(state)

    @property
    def look(self) -> bool:
        """Tells whether a bot looks at the table before it acts: all do but ``random``."""
        return not self._blind[[*self._bots]].all()

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
                yield bot, index, seats, 4 * self.numbers[rows[index]] + seats


@dataclass(frozen=True)
class _Chosen:
    """Holds a bot that is to play, under its number, or several under it and the next ones."""

    named: Named
    number: int
    bots: list[Bot]


def _instances(named: Named) -> list[Bot]:
    """Returns a bot, or one for each seat where a text names a user's class or has a memory."""
    bots = [load_bot(named)]
    if isinstance(named, str) and (_is_own(named) or isinstance(bots[0], Remembering)):
        bots += [load_bot(named) for _ in range(NUM_SEATS - 1)]
    return bots


def _is_own(text: str) -> bool:
    """Tells whether a text names a class of the user's."""
    return any(is_own(text) for _, is_own in _loaders)


def _is_same(one: Named, other: Named) -> bool:
    """Tells whether two names are of one bot, which is then asked for both seats at once."""
    return one is other or (isinstance(one, str) and isinstance(other, str) and one == other)


def _close(bot: Bot) -> None:
    """Ends what a bot runs beside it, if it has a ``close``."""
    end = getattr(bot, "close", None)
    if callable(end):
        end()
