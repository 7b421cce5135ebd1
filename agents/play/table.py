"""Seats a person with three agents and plays a match, whatever it is shown on.

::

    table = Table(Setting(("", "heuristic", "champion", "heuristic"), seed=1))
    for said in table.advance():  # the others play until the person is asked, or a round is over
        print(said)
    table.decide(table.legal[0])

All that has happened follows from the setting and the moves, so a match that is saved (``saved``)
goes on as if it had never been left: what an agent draws at random depends on the seed, the moment
and its seat alone. Neither that nor the number of the game tells the seed (``goita_env.seeds``).
Agents with a memory begin anew whenever the match is gone back in, and are told all deals so far.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from agents.base import Agent, AgentError, Results, ToldOfRedeals
from agents.play import sentences
from agents.play.seating import Seating, blamed
from agents.registry import short_name
from goita_env import Game, View
from goita_env.actions import NUM_ACTIONS
from goita_env.checks import came, integers
from goita_env.errors import EpisodeOverError, GoitaError, RecordError, SettingError
from goita_env.hands import format_hand, parse_hands
from goita_env.records import DealRecord, Record, from_game
from goita_env.rules import JGA, Rules
from goita_env.seeds import GameNumbers, bot_generator
from goita_env.tiles import NUM_SEATS
from goita_env.views import Replay, seat_view

Asks = Literal["move", "round", "match", ""]

PURPOSE: Final = "play"
"""What agents are given here is derived from the seed for this."""

PERSON: Final = ""
"""Stands among the agents where the person sits."""


@dataclass(frozen=True)
class Setting:
    """Says who plays what.

    Raises:
        SettingError: if there are not three agents and one person, or a name cannot be written or
            printed.
    """

    agents: tuple[str | Agent, ...]
    """By seat: agents, or the texts that ``load_agent`` knows; "" where the person sits."""
    seed: int
    """Of the deals; what the agents draw at random is derived from it."""
    rules: Rules = JGA
    name: str = "you"
    """The person's, for the record."""
    first: DealRecord | None = None
    """Hands, dealer and points of the first deal; None: dealt."""
    taken_back: int = 0
    """Moves that have been taken back so far."""

    def __post_init__(self) -> None:
        """Checks the seats."""
        if len(self.agents) != NUM_SEATS or list(self.agents).count(PERSON) != 1:
            raise SettingError(f"expected three agents and one person, got {self.agents!r}")
        for name in self.names:
            try:
                name.encode()
            except UnicodeEncodeError as error:
                raise SettingError(f"expected a name in Unicode, got {name!r}") from error
        if not self.rules.name.isprintable():  # it stands in the drawings of a terminal
            raise SettingError(f"expected a rule set's name to print, got {self.rules.name!r}")

    @property
    def seat(self) -> int:
        """Returns the person's seat."""
        return self.agents.index(PERSON)

    @property
    def names(self) -> tuple[str, ...]:
        """Returns the names of the players by seat."""
        named = (one if isinstance(one, str) else one.name for one in self.agents)
        return tuple(self.name if one == PERSON else short_name(one) for one in named)


class Table:
    """Plays a match to 150 points.

    Args:
        setting: who plays what.
        deals: what has been played of it.
        keep: called after every move, to save the match.

    Raises:
        AgentError: if there is no such agent.
        RecordError: if the deals are not of this setting, or a move is illegal.

    Attributes:
        setting: who plays what.
        seat: the person's.
        game: the match; only views of the person's seat are to be shown while a round is played.
        log: what the person has been told of the present round.
        results: (winner, points) of every round that is over.
        taken_back: moves that have been taken back so far.
    """

    def __init__(
        self,
        setting: Setting,
        deals: Sequence[DealRecord] = (),
        keep: Callable[[Table], None] | None = None,
    ) -> None:
        self.setting, self.seat, self._keep = setting, setting.seat, keep
        self.taken_back = setting.taken_back
        numbers = GameNumbers(setting.seed, PURPOSE)
        self._shown = NUM_SEATS * numbers.shown(np.zeros(1, np.int64))
        """[1] The number of the match for agents, but for the seat."""
        self._seating = Seating(setting.agents)
        try:
            self._replay([move for deal in deals for move in deal.moves])
            _compare(deals, from_game(self.game).deals)
        except BaseException:
            self.close()
            raise

    # ------------------------------------------------------------------------------------ the state

    @property
    def asks(self) -> Asks:
        """Tells what the person is asked.

        "move": ``decide``; "round": it is over, ``go_on``; "match": it is over; "": nothing,
        ``advance`` is to be called.
        """
        if self.game.done:
            return "match"
        if self._between:
            return "round"
        return "move" if self.game.seat == self.seat and len(self.legal) > 1 else ""

    @property
    def legal(self) -> list[int]:
        """Returns the legal actions of the seat that is asked."""
        return self.game.legal_actions()

    @property
    def view(self) -> View:
        """Returns what the person may know of the present deal."""
        return self.game.view(self.seat)

    @property
    def scores(self) -> tuple[int, int]:
        """Returns the points of the person's team and of the others."""
        even, odd = self.game.scores
        return (even, odd) if self.seat % 2 == 0 else (odd, even)

    @property
    def others(self) -> tuple[Agent, Agent, Agent]:
        """Returns the agents at the next seat, the partner's, and the previous one."""
        agents = self._seating.agents
        one, two, three = (agents[(self.seat + place) % NUM_SEATS] for place in (1, 2, 3))
        return one, two, three

    @property
    def record(self) -> Record:
        """Returns all that has been played; the last deal may break off."""
        deals = from_game(self.game).deals
        last = len(deals) - (not deals[-1].moves and len(deals) > 1)
        return Record(deals[:last], self.setting.names)

    def ended(self) -> Game:
        """Returns the last round that was scored, as it ended, all hands known.

        Raises:
            EpisodeOverError: if none is over.
        """
        if not self.results:
            raise EpisodeOverError("expected a round that is over, got none")
        deals = self.record.deals
        return _finished(deals[-1] if self._between or self.game.done else deals[self._last])

    # -------------------------------------------------------------------------------------- playing

    def advance(self) -> Iterator[str]:
        """Makes the others' moves until the person is asked, and yields what is told of each.

        What has only one legal action is done unasked. What another seat keeps to itself, that it
        was asked and kept silent, is not yielded.

        Raises:
            AgentError: if an agent answers what is illegal, or its code raises.
        """
        while self.asks == "":
            seat = self.game.seat
            assert seat is not None
            legal = self.legal
            said = self._make(legal[0] if len(legal) == 1 else self._ask(seat, legal))
            if said:
                yield said

    def decide(self, action: int) -> str:
        """Makes the person's move, and returns what is told of it.

        Raises:
            EpisodeOverError: if the person is not asked.
            ActionError, IllegalActionError: if the action is none, or not legal. Nothing has
                changed in each case.
            AgentError: if an agent that is told of the end of the round raises. The move is made.
        """
        if self.asks != "move":
            raise EpisodeOverError(f"expected no move, the table waits for {self.asks!r}")
        return self._make(action)

    def go_on(self) -> None:
        """Begins the next round.

        Raises:
            EpisodeOverError: if none is to begin.
        """
        if self.asks != "round":
            raise EpisodeOverError(f"expected no next round, the table waits for {self.asks!r}")
        self._between = False
        self.log.clear()

    @property
    def may_take_back(self) -> bool:
        """Tells whether the person has decided anything."""
        return bool(self._choices)

    def take_back(self) -> None:
        """Goes back to the person's last decision.

        Raises:
            EpisodeOverError: if there was none.
            AgentError: if an agent with a memory cannot begin anew.
        """
        if not self._choices:
            raise EpisodeOverError("expected a move to take back, got none")
        moves = [move for deal in self.game.deals for move in deal.moves][: self._choices[-1]]
        self._seating.renew()
        self.taken_back += 1
        self._replay(moves)
        if self.asks == "round":  # the decision was the first of the next one
            self.go_on()
        self._save()

    def close(self) -> None:
        """Ends what the agents run."""
        self._seating.close()

    # ---------------------------------------------------------------------------------- behind them

    def _begin(self) -> None:
        """Sets the match to its beginning."""
        first = self.setting.first
        self.game = Game(
            self.setting.rules,
            hands=None if first is None else first.hands,
            dealer=None if first is None else first.dealer,
            scores=(0, 0) if first is None else first.scores,
            episode="match",
            seed=self.setting.seed,
        )
        self.log: list[str] = []
        self.results: list[tuple[int, int]] = []
        self._between = False
        self._choices: list[int] = []
        """How many moves had been made before each decision of the person."""
        self._made = self._last = 0
        """Moves so far; the number of the deal that ended the last round."""
        self._tell_deal()

    def _replay(self, moves: Sequence[tuple[int, int]]) -> None:
        """Begins the match, and makes moves that were made before; nothing is saved.

        Raises:
            RecordError: if one is illegal.
            AgentError: if an agent that is told of it raises.
        """
        self._begin()
        for seat, action in moves:
            if self.asks == "round":
                self.go_on()
            if seat != self.game.seat:
                raise RecordError(f"expected a move of seat {self.game.seat}, got one of {seat}")
            try:
                self._make(action, save=False)
            except AgentError:
                raise
            except GoitaError as error:
                raise RecordError(str(error).partition("\n")[0]) from error

    def _make(self, action: int, *, save: bool = True) -> str:
        """Makes a move, saves the match, and returns what the person is told of the move.

        Raises:
            IllegalActionError: if it is illegal; nothing has changed.
            AgentError: if an agent that is told of it raises.
        """
        game, own = self.game, self.game.seat == self.seat
        choice, deals = own and len(self.legal) > 1, len(game.deals)
        said = sentences.move(game, action, self.seat) if action in self.legal else ""
        game.play(action)
        if choice:
            self._choices.append(self._made)
        self._made += 1
        if game.winner is not None:
            self.results.append((game.winner, game.points))
            self._between, self._last = True, deals - 1
            said = f"{said}; {sentences.end(game.winner, game.points, self.seat)}"
        elif len(game.deals) > deals:
            said = f"{said}; the tiles are dealt again"
        if said:
            self.log.append(said)
        if save:
            self._save()
        if game.winner is not None:
            self._tell_end()
        elif len(game.deals) > deals:
            self._tell_redeal()
        if len(game.deals) > deals:
            self._tell_deal()
        return said

    def _ask(self, seat: int, legal: list[int]) -> int:
        """Returns what an agent decides, shown its view alone.

        Raises:
            AgentError: if it is no legal action, or the agent's code raises.
        """
        view, agent = self.game.view(seat), self._seating.agents[seat]
        view.game = self._number(seat)
        mask = np.zeros((1, NUM_ACTIONS), bool)
        mask[0, legal] = True
        rng = bot_generator(self.setting.seed, PURPOSE, self._made, seat)
        with blamed(agent):
            answer = agent.act(view, mask, rng)
        chosen = integers(answer)
        if chosen is None or chosen.shape != (1,):
            raise AgentError(f"expected an action from {agent.name!r}, int [1], got {came(answer)}")
        action = int(chosen[0])
        if action not in legal:
            # Neither is named: the player may read this, and both tell of the hand.
            raise AgentError(f"expected a legal action from {agent.name!r}, got another one")
        return action

    def _number(self, seat: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        """Returns the number by which an agent at a seat knows the match: [1]."""
        return self._shown + seat

    def _tell_deal(self) -> None:
        """Tells agents with a memory of the present deal."""
        deal = self.game.deals[-1]
        hands = [format_hand(hand) for hand in deal.hands]
        fresh = Game(self.setting.rules, hands=hands, dealer=deal.dealer, scores=deal.scores)
        for seat, agent in self._seating.memories():
            number = self._number(seat)
            view = seat_view(fresh._state, seat, number, hide_question=True)
            with blamed(agent):
                agent.begin(number, np.array([seat]), view)

    def _tell_redeal(self) -> None:
        """Tells agents that want to know it how the deal before the present one went."""
        deal = self.game.deals[-2]
        hands, dealer, scores = (np.array([one]) for one in (deal.hands, deal.dealer, deal.scores))
        for seat, agent in self._seating.memories():
            if isinstance(agent, ToldOfRedeals):
                number = self._number(seat)
                replay = Replay.of_deals(self.setting.rules, hands, dealer, scores, number)
                for _, action in deal.moves:
                    replay.step(action)
                with blamed(agent):
                    agent.redeal(number, replay.view(seat))

    def _tell_end(self) -> None:
        """Tells agents with a memory how the round ended."""
        memories = self._seating.memories()
        if not memories:
            return
        over, (winner, points) = self.ended(), self.results[-1]
        for seat, agent in memories:
            results = Results(np.array([winner]), np.array([points]), over.view(seat))
            with blamed(agent):
                agent.end(self._number(seat), results, over.dealt[None].astype(np.int64))

    def _save(self) -> None:
        """Saves the match, if it is kept."""
        if self._keep is not None:
            self._keep(self)


def _finished(deal: DealRecord) -> Game:
    """Returns the game of a deal at its end."""
    *_, game = deal.replay()
    return game


def _compare(saved: Sequence[DealRecord], played: Sequence[DealRecord]) -> None:
    """Checks that saved deals are those of the seed.

    Raises:
        RecordError: if not.
    """
    for one, other in zip(saved, played, strict=False):
        tiles, others = (np.sort(parse_hands(deal.hands)) for deal in (one, other))
        same = (tiles == others).all() and one.dealer == other.dealer
        if not (same and one.scores == other.scores):
            raise RecordError(f"expected deal {other.number} of this seed, got another one")
    if len(saved) > len(played):
        raise RecordError(f"expected at most {len(played)} deals, got {len(saved)}")
