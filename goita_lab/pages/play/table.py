"""Plays a match between a person and three agents, whatever it is shown on.

::

    table = PlayTable(MatchSettings(("", "heuristic", "champion", "heuristic"), seed=1))
    for said in table.advance():  # the others play until the person is asked, or a round is over
        print(said)
    table.decide(table.legal[0])

All that happens follows from the settings and the moves, so a match that is saved (``savegame``)
continues as if it had never been left: what an agent draws at random depends on the seed, the
moment and its seat alone. Neither that nor the number of the game tells the seed
(``goita_env.seeds``). Stateful agents begin anew whenever a move is taken back, and are told all
deals so far.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Final, Literal

import numpy as np

from goita_agents.asking import ask_actions, notify
from goita_agents.base import Agent, AgentError, RedealObserver, Results
from goita_agents.search.advisor import Advisor, Hint
from goita_env import Game, View, actions
from goita_env.errors import EpisodeOverError, GoitaError, RecordError
from goita_env.records import DealRecord, Record, from_game
from goita_env.render.scene import Scene
from goita_env.render.translation import Phrase
from goita_env.seeds import GameNumbers, bot_generator
from goita_env.tiles import NONE, NUM_SEATS
from goita_env.views import Replay
from goita_lab.pages.play import sentences
from goita_lab.pages.play.advice import advisor
from goita_lab.pages.play.seating import MatchSettings, Seating

Asks = Literal["move", "round", "match", ""]

PURPOSE: Final = "play"
"""What agents are given here is derived from the seed for this."""


class PlayTable:
    """A match that is played.

    Args:
        settings: who plays, and by which rules.
        deals: what has been played of it.
        keep: called after every move, to save the match.

    Attributes:
        seat: the person's.
        game: the match; only views of the person's seat are to be shown while a round is played.
        log: what the person has been told of the present round.
        results: (winner, points) of every round that is over.
        taken_back: moves that have been taken back so far.
    """

    def __init__(
        self,
        settings: MatchSettings,
        deals: Sequence[DealRecord] = (),
        keep: Callable[[PlayTable], None] | None = None,
    ) -> None:
        self.settings, self.seat, self._keep = settings, settings.seat, keep
        self.taken_back = 0
        numbers = GameNumbers(settings.seed, PURPOSE)
        self._shown = NUM_SEATS * numbers.shown(np.zeros(1, np.int64))
        """[1] The number of the match for agents, but for the seat."""
        self._seating = Seating(settings.agents, settings.rules)
        try:
            self._replay([move for deal in deals for move in deal.moves])
            played = from_game(self.game).deals
            for one, other in zip(deals, played, strict=False):  # those of the seed
                if (one.hands, one.dealer, one.scores) != (other.hands, other.dealer, other.scores):
                    raise RecordError(f"expected deal {other.number} of this seed, got another one")
            if len(deals) > len(played):
                raise RecordError(f"expected at most {len(played)} deals, got {len(deals)}")
        except BaseException:
            self.close()
            raise

    @property
    def asks(self) -> Asks:
        """What the person is asked.

        "move": ``decide``; "round": it is over, ``next_round``; "match": it is over; "": nothing,
        ``advance`` is to be called.
        """
        if self.game.done:
            return "match"
        if self._between:
            return "round"
        return "move" if self.game.seat == self.seat and len(self.legal) > 1 else ""

    @property
    def legal(self) -> list[int]:
        return self.game.legal_actions()

    @property
    def view(self) -> View:
        """What the person may know of the present deal."""
        return self.game.view(self.seat)

    @property
    def scores(self) -> tuple[int, int]:
        """Points of the person's team and of the others."""
        even, odd = self.game.scores
        return (even, odd) if self.seat % 2 == 0 else (odd, even)

    @property
    def others(self) -> tuple[Agent, Agent, Agent]:
        """Agents at the next seat, the partner's, and the previous one."""
        agents = self._seating.agents
        one, two, three = (agents[(self.seat + place) % NUM_SEATS] for place in (1, 2, 3))
        return one, two, three

    @property
    def record(self) -> Record:
        """All that has been played; the last deal may break off."""
        deals = from_game(self.game).deals
        last = len(deals) - (not deals[-1].moves and len(deals) > 1)
        return Record(deals[:last], self.settings.names)

    @property
    def finished(self) -> Record:
        """The deals up to the last round that is over, all hands known."""
        deals = from_game(self.game).deals[: self._last + 1] if self.results else []
        return Record(tuple(deals), self.settings.names)

    @property
    def may_take_back(self) -> bool:
        """Whether the person has decided anything in the present round."""
        return bool(self._choices) and self._choices[-1] >= self._begun

    @cached_property
    def _advisor(self) -> Advisor:
        return advisor()

    def ended(self) -> Game:
        """Returns the last round that was scored, as it ended, all hands known."""
        if not self.results:
            raise EpisodeOverError("expected a round that is over, got none")
        *_, game = from_game(self.game).deals[self._last].replay()
        return game

    def scene(self) -> Scene:
        """Returns what the person may see now; after a round the whole table at its end."""
        if self.asks in ("round", "match"):
            return sentences.ended_scene(self.ended(), self.seat, self.scores)
        return self.view.scene()

    def hint(self) -> Hint:
        """Returns what the champion suggests where the person is asked."""
        return self._advisor.advise(self.view, self.seat, self.finished.deals)

    def asking(self) -> Scene:
        """Returns the same where the person is asked, who may lead: a view alone cannot tell that.

        On the way there it would tell whether somebody else was asked before.
        """
        leads = self.asks == "move" and self.scene().mover == NONE
        return sentences.leading(self.scene()) if leads else self.scene()

    def advance(self) -> Iterator[str]:
        """Makes the others' moves until the person is asked, and yields what is told of each.

        A person's only legal action is played unasked.
        """
        while self.asks == "":
            legal = self.legal
            if said := self._make(legal[0] if len(legal) == 1 else self._ask()):
                yield said

    def decide(self, action: int) -> str:
        """Makes the person's move, and returns what is told of it."""
        if self.asks != "move":
            raise EpisodeOverError(f"expected no move, the table waits for {self.asks!r}")
        return self._make(action)

    def next_round(self) -> None:
        """Begins the next round; EpisodeOverError if none is to begin."""
        if self.asks != "round":
            raise EpisodeOverError(f"expected no next round, the table waits for {self.asks!r}")
        self._between, self._begun = False, self._made
        self.log.clear()

    def take_back(self) -> None:
        """Goes back to the person's last decision of the present round."""
        if not self.may_take_back:
            raise EpisodeOverError("expected a move to take back, got none")
        moves = [move for deal in self.game.deals for move in deal.moves][: self._choices[-1]]
        self._seating = self._seating.renewed()
        self.taken_back += 1
        self._replay(moves)
        if self.asks == "round":  # the decision was the first of the next one
            self.next_round()
        self._save()

    def close(self) -> None:
        self._seating.close()

    def _replay(self, moves: Sequence[tuple[int, int]]) -> None:
        """Begins the match, and makes moves that were made before; nothing is saved."""
        settings, first = self.settings, self.settings.first
        self.game = Game(
            settings.rules,
            hands=None if first is None else first.hands,
            dealer=None if first is None else first.dealer,
            scores=(0, 0) if first is None else first.scores,
            episode="match",
            seed=settings.seed,
        )
        self.log: list[str] = []
        self.results: list[tuple[int, int]] = []
        self._between = False
        self._choices: list[int] = []
        """How many moves had been made before each decision of the person."""
        self._made: int = 0
        """Moves so far."""
        self._last = self._begun = 0
        """The index of the deal that ended the last round; moves before the present round."""
        self._tell_deal()
        for seat, action in moves:
            if self.asks == "round":
                self.next_round()
            if seat != self.game.seat:
                raise RecordError(f"expected a move of seat {self.game.seat}, got one of {seat}")
            try:
                self._make(action, save=False)
            except AgentError:
                raise
            except GoitaError as error:
                raise RecordError(str(error).partition("\n")[0]) from error

    def _make(self, action: int, *, save: bool = True) -> str:
        """Makes a move, saves the match, tells agents, and returns what the person is told."""
        game, legal, deals = self.game, self.legal, len(self.game.deals)
        choice = game.seat == self.seat and len(legal) > 1
        said = sentences.move(game, action, self.seat) if action in legal else Phrase("")
        if game.seat == self.seat and legal == [actions.PASS]:
            said = sentences.forced(self.view)
        game.play(action)
        if choice:
            self._choices.append(self._made)
        self._made += 1
        redealt = len(game.deals) > deals and game.winner is None
        if game.winner is not None:
            self.results.append((game.winner, game.points))
            self._between, self._last = True, deals - 1
            end = sentences.end(game.winner, game.points, self.seat)
            said = Phrase("{said}; {end}", said=said, end=end)
        elif redealt:
            said = Phrase("{said}; {end}", said=said, end="the tiles are dealt again")
        if said:
            self.log.append(said)
        try:
            if save:
                self._save()
        finally:  # agents with a memory miss nothing if the match cannot be saved
            if game.winner is not None:
                self._tell_end()
            elif redealt:
                self._tell_redeal()
            if len(game.deals) > deals:
                self._tell_deal()
        return said

    def _ask(self) -> int:
        """Returns what the agent that is asked decides, shown its view alone."""
        seat = self.game.seat
        assert seat is not None
        view, agent = self.game.view(seat), self._seating.agents[seat]
        view.game = self._shown + seat
        mask = view.legal()
        rng = bot_generator(self.settings.seed, PURPOSE, self._made, seat)
        # The player may read an error, which must not tell of the hand.
        return int(ask_actions(agent, view, mask, rng, secret=True)[0])

    def _tell_deal(self) -> None:
        deal = self.game.deals[-1]
        for seat, agent in self._seating.stateful():
            number, hand = self._shown + seat, deal.hands[None, seat]
            fresh = Replay.of_seat(
                self.settings.rules, seat, hand, deal.dealer, deal.scores, number
            )
            notify(agent, "begin", number, np.array([seat]), fresh.view(seat), secret=True)

    def _tell_redeal(self) -> None:
        """Tells agents that want to know it how the deal before the present one went."""
        deal = self.game.deals[-2]
        hands, dealer, scores = (np.array([one]) for one in (deal.hands, deal.dealer, deal.scores))
        for seat, agent in self._seating.stateful():
            if isinstance(agent, RedealObserver):
                number = self._shown + seat
                replay = Replay.of_deals(self.settings.rules, hands, dealer, scores, number)
                for _, action in deal.moves:
                    replay.step(action)
                notify(agent, "redeal", number, replay.view(seat), secret=True)

    def _tell_end(self) -> None:
        stateful = self._seating.stateful()
        if not stateful:
            return
        over, (winner, points) = self.ended(), self.results[-1]
        for seat, agent in stateful:
            results = Results(np.array([winner]), np.array([points]), over.view(seat))
            hands = over.dealt[None].astype(np.int64)
            notify(agent, "end", self._shown + seat, results, hands, secret=True)

    def _save(self) -> None:
        if self._keep is not None:
            self._keep(self)
