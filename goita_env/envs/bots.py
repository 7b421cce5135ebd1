"""Seats bots around a learner: loads them, assigns seats, and reads their answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.metadata import entry_points
from typing import Final, TypeAlias, cast

import numpy as np

from goita_env import seeds
from goita_env.agent import (
    Agent,
    RandomAgent,
    StatefulAgent,
    close,
    copied,
    is_built_in,
    is_trusted,
    plays,
    read_actions,
    read_probabilities,
    sample_at,
    uniform,
)
from goita_env.arrays import U64, Bool, Float, Int
from goita_env.engine.state import State
from goita_env.errors import SettingError, naming_extras
from goita_env.information import PLAIN, InformationStructure
from goita_env.rules import Rules, get_rules
from goita_env.tiles import NUM_SEATS
from goita_env.views import View, seat_view
from goita_env.views import observation as packing

LEARNER: Final = -1
"""Marks the learner's seat in a line-up."""

_SEED_PURPOSE: Final = "seat environment"
"""The purpose for which bots' generators and numbers follow from the seed (``seeds.bot_seed``)."""

_SEAT_SALT: Final = U64(0x626F7473)
"""Makes the keys of the learner's seats differ from those of the deals."""

Named: TypeAlias = str | Agent
"""An agent, or the text that names it."""
Opponents: TypeAlias = Named | tuple[Named, Named] | list[Named]
"""One agent for both seats, or a pair: the seat after the learner's, and the one before it."""


def load_agent(agent: Named) -> Agent:
    """Returns the agent that a text names; an agent is returned as it is."""
    if not isinstance(agent, str):
        if callable(getattr(agent, "act", None)):
            return agent
        raise SettingError(
            f"expected a text or an object with act(view, legal, rng), got {agent!r}"
        )
    if agent == "random":
        return RandomAgent()
    points = entry_points(group="goita", name="load_agent")
    if not (loaders := [point for point in points if is_built_in(point)]):
        raise SettingError(
            "expected 'random' or an object with act(view, legal, rng): other names need the entry "
            f"points of goita-env, which is to be installed again; got {agent!r}"
        )
    try:
        with naming_extras():
            load = loaders[0].load()
    except ModuleNotFoundError as error:
        raise SettingError(f"expected to load {agent!r}, but: {error}") from error
    return cast(Agent, load(agent))


class _Player:
    """An agent that is seated, and its abilities."""

    def __init__(self, agent: Agent, named: Named, by_seat: bool) -> None:
        self.agent = agent
        self.text = named if isinstance(named, str) else None
        self.by_seat = by_seat
        """It plays one seat: its text has four players, with four numbers in a row."""
        self.blind = type(agent) is RandomAgent
        """It acts without a look at its view."""
        self.is_trusted = is_trusted(agent)
        self.memory = agent if isinstance(agent, StatefulAgent) else None
        self.policy: Callable[[View, Bool], Float] | None = getattr(agent, "probabilities", None)
        self.rng: np.random.Generator | None = None

    @property
    def label(self) -> str:
        return repr(self.agent) if self.text is None else self.text

    def close(self) -> None:
        """Ends its processes, if a text named it; an object belongs to the user."""
        if self.text is not None:
            close([self.agent])


def _players(named: Named, information: InformationStructure) -> list[_Player]:
    """Returns the bot's one player, or four by seat.

    There are four where a text names a user's class or a bot with a memory.
    """
    agents = [load_agent(named)]
    if not plays(agents[0], information):
        if isinstance(named, str):
            close(agents)
        raise SettingError(
            f"expected bots that play a game with {information!r}, got {named!r}: "
            "plain:base=AGENT plays any game by what AGENT would know in the plain one"
        )
    if isinstance(named, str) and (
        isinstance(agents[0], StatefulAgent) or getattr(agents[0], "by_seat", False)
    ):
        agents += [load_agent(named) for _ in range(NUM_SEATS - 1)]
    return [_Player(agent, named, by_seat=len(agents) > 1) for agent in agents]


class Bots:
    """The players of all seats but the learner's, in N games.

    Bots with known probabilities (such as ``random``) draw by numbers that follow from seed, game,
    episode and the count of earlier draws in it: their game is the same in a batch of any size.
    Each other bot has a generator. If a text names a user's class or a bot with a memory, each seat
    has its own, so that none sees two hands of a deal; an object plays wherever it is put.

    Generators, drawn numbers and the numbers of games that bots see follow from the seed, and do
    not reveal it (``goita_env.seeds``).

    Args:
        num_games: N.
        rules: a rule set or its name.
        partner: the agent opposite the learner; None: there is none.
        opponents: the agents of the other team.
        information: shown tiles and messages.

    Attributes:
        lineup: int64 [N, 4] number of the bot at each seat, LEARNER where the learner sits.
        numbers: int64 [N] the numbers of the games that bots see, until the next seed.
    """

    def __init__(
        self,
        num_games: int,
        rules: str | Rules,
        partner: Named | None,
        opponents: Opponents | None,
        information: InformationStructure = PLAIN,
    ) -> None:
        self.lineup: Int = np.full((num_games, NUM_SEATS), LEARNER, np.int64)
        self.numbers: Int = np.arange(num_games)
        self._rules, self._information = get_rules(rules), information
        self._players: dict[int, _Player] = {}
        # [bots + 1] By number; the last entry, which LEARNER (-1) reads, is the learner's.
        self._blind: Bool = np.zeros(1, bool)
        self._by_seat: Int = np.zeros(1, np.int64)
        self._places: Int = np.full(NUM_SEATS, LEARNER, np.int64)
        """The bots at, after, opposite and before the learner's seat from the next deal on."""
        self._seed: int | None = None
        self._changes = 0
        """Number of times that bots were chosen since that seed."""
        self._seat_keys: seeds.Keys = np.zeros(num_games, U64)
        self._keys: seeds.Keys = np.zeros(num_games, U64)
        self._streams: seeds.Keys = np.zeros(num_games, U64)
        self.set(partner, opponents)

    def set(self, partner: Named | None, opponents: Opponents | None) -> None:
        """Chooses the bots from the next deals on; None leaves them as they are."""
        # By place: seats from the learner's on, as ``_places`` counts them.
        chosen: dict[int, Named] = {} if partner is None else {2: partner}
        if opponents is not None:
            pair = opponents if isinstance(opponents, list | tuple) else (opponents, opponents)
            if len(pair) != 2:
                raise SettingError(f"expected an agent or a pair as opponents, got {opponents!r}")
            chosen |= {1: pair[0], 3: pair[1]}
        # New players take the numbers from the learner's present entry on; it stays the last one.
        places, first_new = self._places.copy(), len(self._blind) - 1
        new_players: list[_Player] = []
        bot_numbers: dict[str | int, int] = {}  # one text, or one object, is one bot
        for place, named in chosen.items():
            key = named if isinstance(named, str) else id(named)
            if key not in bot_numbers:
                # The number of its first player; where it has four, ``_at_seats`` adds the seat.
                bot_numbers[key] = first_new + len(new_players)
                new_players += _players(named, self._information)
            places[place] = bot_numbers[key]
        self._places = places
        self._players |= dict(enumerate(new_players, first_new))
        # Inserted at -1: before the learner's entry.
        self._blind = np.insert(self._blind, -1, [player.blind for player in new_players])
        self._by_seat = np.insert(self._by_seat, -1, [player.by_seat for player in new_players])
        self._drop_unseated()
        self._changes += 1
        self._give_generators()

    def _at_seats(self, numbers: Int) -> Int:
        """[m, 4] The bots that ``numbers``, [m, 1] or [m, 4], are at seats 0 to 3.

        Where a text has four players, ``numbers`` holds that of its player for seat 0; its players
        for the seats 1 to 3 have the next three numbers.
        """
        return numbers + self._by_seat[numbers] * np.arange(NUM_SEATS)

    def _drop_unseated(self) -> None:
        """Drops and closes the players that have no seat in these deals nor in the next ones."""
        next_bots = self._at_seats(self._places[:, None])
        used = {*np.unique(self.lineup).tolist(), *np.unique(next_bots).tolist()}
        for bot in self._players.keys() - used:
            self._players.pop(bot).close()

    def _give_generators(self) -> None:
        """Gives generators to the next deals' bots that need one and have none."""
        if self._seed is None:
            return
        for place, bots in enumerate(self._at_seats(self._places[:, None]).tolist()):
            for seat, bot in enumerate(bots):
                player = self._players.get(bot)
                if player is not None and player.policy is None and player.rng is None:
                    parts = (self._changes, place, seat)
                    player.rng = seeds.bot_generator(self._seed, _SEED_PURPOSE, *parts)

    def close(self) -> None:
        """Ends the processes of bots that were named by texts."""
        for player in self._players.values():
            player.close()

    def reseed(self, seed: int) -> None:
        """Takes the seed from which the bots' numbers, and the learner's seats, follow."""
        games = np.arange(len(self.lineup))
        self._seat_keys = seeds.mix(seeds.game_keys(seed, games) ^ _SEAT_SALT)
        # A bot's actions reveal something of the numbers drawn for it, whose hash can be inverted.
        drawn = seeds.bot_seed(seed, _SEED_PURPOSE, "drawn") & 0xFFFFFFFFFFFFFFFF
        self._keys = seeds.game_keys(drawn, games)
        self.numbers = seeds.GameNumbers(seed, _SEED_PURPOSE).numbers(games)
        self._seed, self._changes = seed, 0
        for player in self._players.values():
            player.rng = None
        self._give_generators()

    def begin(self, rows: Int, episodes: Int) -> Int:
        """Begins an episode in each of [m] games; returns a seat drawn for each: int64 [m]."""
        self._streams[rows] = seeds.deal_keys(self._keys[rows], episodes, 0)
        drawn = seeds.deal_keys(self._seat_keys[rows], episodes, 1)
        return (drawn >> U64(62)).astype(np.int64)

    def sit(self, rows: Int, seats: Int, team: bool) -> None:
        """Seats the players of games [m] for the deals that begin, the learner in ``seats`` [m].

        With ``team`` the learner also plays its partner.
        """
        places = self._places.copy()
        if team:
            places[2] = LEARNER
        lineup = places[(np.arange(NUM_SEATS) - seats[:, None]) & 3]
        self.lineup[rows] = self._at_seats(lineup) if self._by_seat.any() else lineup

    def sitting(self, rows: Int, seats: Int) -> tuple[Bool, Bool]:
        """Tells whether the learner, and whether ``random``, sits in seats [m] of games [m]."""
        bots = self.lineup.reshape(-1).take(NUM_SEATS * rows + seats)
        return bots == LEARNER, self._blind[bots]  # LEARNER, -1, takes the last entry, False

    def draw(self, rows: Int, legal: Bool) -> Int:
        """Returns actions of bots that never look: int64 [m], uniform over ``legal`` [m, A]."""
        return uniform(legal, self._draw(rows))

    def ask(self, rows: Int, seats: Int, words: packing.Words, legal: Bool) -> Int:
        """Returns the actions of bots: int64 [m].

        Args:
            rows: [m] the games.
            seats: [m] the acting seats, none of the learner's.
            words: uint64 [m, W] their packed observations.
            legal: bool [m, A] their legal actions.
        """
        view = View(words, 4 * self.numbers[rows] + seats, self._rules, self._information)
        bots = self.lineup[rows, seats]
        chosen = np.zeros(len(rows), np.int64)
        for bot, player in self._players.items():
            places = (bots == bot).nonzero()[0]
            if len(places) == len(rows):
                return self._choose(player, rows, view, legal)
            if len(places):
                chosen[places] = self._choose(player, rows[places], view[places], legal[places])
        return chosen

    def _choose(self, player: _Player, rows: Int, view: View, legal: Bool) -> Int:
        """[m] Actions of one player in games ``rows`` [m]; answers are checked unless trusted."""
        if player.is_trusted:
            if player.policy is not None:
                return sample_at(player.policy(view, legal), self._draw(rows))
            assert player.rng is not None
            return player.agent.act(view, legal, player.rng)
        source, copies = f" from {player.label}", copied(view, legal)
        if player.policy is not None:
            chances = read_probabilities(player.policy(*copies), legal, source)
            return sample_at(chances, self._draw(rows))
        assert player.rng is not None
        chosen, wrong = read_actions(player.agent.act(*copies, player.rng), legal, source)
        for row, error in wrong.items():
            raise type(error)(f"{error} in game {rows[row]}")
        return chosen

    def _draw(self, rows: Int) -> Float:
        """[m] The next number of each game's SplitMix64 stream, from 0 to below 1."""
        state = self._streams[rows]
        state += seeds.GOLDEN
        self._streams[rows] = state
        return seeds.uniforms(state)

    @property
    def remember(self) -> bool:
        """Tells whether a bot has a memory, and so is notified where rounds begin and end."""
        return any(player.memory is not None for player in self._players.values())

    def notify_dealt(self, rows: Int, dealt: State) -> None:
        """Notifies bots with a memory of the deals in games [n]; ``dealt``: the games."""
        for bot, index, seats, games in self.remembering(rows):
            view = seat_view(dealt.select(index), seats, games, hide_question=True)
            bot.begin(games, seats, view)

    def remembering(self, rows: Int) -> Iterator[tuple[StatefulAgent, Int, Int, Int]]:
        """Yields each bot with a memory, with its places in ``rows``, its seats and its games."""
        for bot, player in self._players.items():
            if player.memory is not None:
                index, seats = np.nonzero(self.lineup[rows] == bot)
                if len(index):
                    yield player.memory, index, seats, 4 * self.numbers[rows[index]] + seats
