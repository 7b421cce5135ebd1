"""Plays a match between a person and three agents, for a page or a terminal.

::

    table = PlayTable(MatchSettings(("", "heuristic", "champion", "heuristic"), seed=1))
    for event in table.advance():  # the others play until the person decides, or a round is over
        print(event)
    table.decide(table.legal[0])

Everything follows from the settings and the moves, so a saved match (``savegame``) continues as if
it had never been interrupted: the random numbers of an agent depend only on the seed, the number of
moves so far and the agent's seat. Neither they nor the number of the game reveal the seed
(``goita_env.seeds``). When a move is taken back, stateful agents begin anew and observe all deals
so far again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from threading import Thread
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
from goita_lab.pages.languages import for_player
from goita_lab.pages.play import sentences
from goita_lab.pages.play.advice import advisor
from goita_lab.pages.play.seating import MatchSettings, Seating

Asks = Literal["move", "round", "match", ""]

SEEDING_PURPOSE: Final = "play"
"""Random numbers and game numbers of agents are derived from the seed for this purpose."""


class PlayTable:
    """A match that is played.

    Args:
        settings: the players and the rules.
        deals: the deals that have been played.
        keep: called after every move, to save the match.

    Attributes:
        seat: the person's seat.
        game: the match; while a round is played only views of the person's seat may be shown.
        log: sentences on the moves of the present round, as the person observes them.
        results: (winner, points) of every round that is over.
        taken_back: number of moves that have been taken back so far.
        prepares_hints: the hint of each decision is begun when the person's turn comes.
    """

    def __init__(
        self,
        settings: MatchSettings,
        deals: Sequence[DealRecord] = (),
        keep: Callable[[PlayTable], None] | None = None,
    ) -> None:
        self.settings, self.seat, self._keep = settings, settings.seat, keep
        self.taken_back = 0
        self.prepares_hints = False
        self._preparing: Thread | None = None
        numbers = GameNumbers(settings.seed, SEEDING_PURPOSE)
        self._first_number = NUM_SEATS * numbers.numbers(np.zeros(1, np.int64))
        """[1] The number of the match for the agent of seat 0; a seat s adds s to it."""
        self._seating = Seating(settings.agents, settings.rules)
        try:
            self._replay([move for deal in deals for move in deal.moves])
            played = from_game(self.game).deals
            # ``played`` has the deals of the seed, and one more if the last saved deal is over.
            for deal, dealt in zip(deals, played, strict=False):
                saved_start = deal.hands, deal.dealer, deal.scores
                if saved_start != (dealt.hands, dealt.dealer, dealt.scores):
                    raise RecordError(f"expected deal {dealt.number} of this seed, got another one")
            if len(deals) > len(played):
                raise RecordError(f"expected at most {len(played)} deals, got {len(deals)}")
        except BaseException:
            self.close()
            raise

    @property
    def asks(self) -> Asks:
        """What the match waits for.

        "move": the person's decision (``decide``); "round": the round is over (``next_round``);
        "match": nothing, the match is over; "": moves of the others (``advance``).
        """
        if self.game.done:
            return "match"
        if self._between_rounds:
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
        """Points of the person's team and of the opponents."""
        even, odd = self.game.scores
        return (even, odd) if self.seat % 2 == 0 else (odd, even)

    @property
    def others(self) -> tuple[Agent, Agent, Agent]:
        """Agents at the next seat, the partner's, and the previous seat."""
        agents, seat = self._seating.agents, self.seat
        following, partner, previous = ((seat + step) % NUM_SEATS for step in (1, 2, 3))
        return agents[following], agents[partner], agents[previous]

    @property
    def record(self) -> Record:
        """All deals that have been played; the last one may be unfinished."""
        deals = from_game(self.game).deals
        has_empty_deal = len(deals) > 1 and not deals[-1].moves
        return Record(deals[:-1] if has_empty_deal else deals, self.settings.names)

    @property
    def finished(self) -> Record:
        """The deals up to the last round that is over, all hands known."""
        deals = from_game(self.game).deals[: self._last_scored + 1] if self.results else []
        return Record(tuple(deals), self.settings.names)

    @property
    def may_take_back(self) -> bool:
        """Whether the person has decided anything in the present round."""
        return bool(self._choices) and self._choices[-1] >= self._round_start

    @cached_property
    def _advisor(self) -> Advisor:
        return advisor()

    def ended(self) -> Game:
        """Returns the last round that was scored, as it ended, all hands known."""
        if not self.results:
            raise EpisodeOverError("expected a round that is over, got none")
        *_, game = from_game(self.game).deals[self._last_scored].replay()
        return game

    def scene(self) -> Scene:
        """Returns what the person may see now: a view, or after a round its end with all hands."""
        if self.asks in ("round", "match"):
            return sentences.ended_scene(self.ended(), self.seat, self.scores)
        return for_player(self.view.scene())

    def glance(self) -> tuple[int, float]:
        """Returns the champion's first choice and its probability, without looking ahead."""
        return self._advisor.glance(self.view)

    def hint(self) -> Hint:
        """Returns what the champion suggests; the next hints are begun when the turn comes."""
        self.prepares_hints = True
        return self._advisor.advise(self.view, self.seat, self.finished.deals)

    def _prepare_hint(self) -> None:
        """Begins the hint of the present decision in a thread; ``hint`` then finds it computed.

        A hint that is still being computed for an earlier decision is not followed by this one.
        """
        if self._preparing is not None and self._preparing.is_alive():
            return
        advisor, view, earlier = self._advisor, self.view, self.finished.deals

        def compute() -> None:
            with suppress(Exception):  # ``hint`` raises it again, where the person asks for it
                advisor.advise(view, self.seat, earlier)

        self._preparing = Thread(target=compute, daemon=True)
        self._preparing.start()

    def asking(self) -> Scene:
        """Returns the scene at the person's decision, which may be the first lead of a round.

        Before play a view does not show which seat acts, because that would reveal which seats may
        call. That the person leads may be shown only once the match waits for the person.
        """
        leads = self.asks == "move" and self.scene().mover == NONE
        return sentences.leading(self.scene()) if leads else self.scene()

    def advance(self) -> Iterator[str]:
        """Makes moves until the person decides, and yields a sentence on each observed move.

        The person's action is played, too, if it is the only legal one.
        """
        while self.asks == "":
            legal = self.legal
            if event := self._make(legal[0] if len(legal) == 1 else self._ask()):
                yield event
        if self.prepares_hints and self.asks == "move":
            self._prepare_hint()

    def decide(self, action: int) -> str:
        """Makes the person's move, and returns a sentence on it."""
        if self.asks != "move":
            raise EpisodeOverError(f"expected no move, the table waits for {self.asks!r}")
        return self._make(action)

    def next_round(self) -> None:
        """Begins the next round; EpisodeOverError if none is to begin."""
        if self.asks != "round":
            raise EpisodeOverError(f"expected no next round, the table waits for {self.asks!r}")
        self._between_rounds, self._round_start = False, self._num_moves
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
        """Begins the match, and makes its earlier moves again; nothing is saved."""
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
        self._between_rounds = False
        self._choices: list[int] = []
        """Number of moves before each decision of the person."""
        self._num_moves: int = 0
        self._round_start = 0
        """Number of moves before the present round."""
        self._last_scored = 0
        """Index of the deal that ended the last round."""
        self._begin_deal()
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
        """Makes a move, saves the match, notifies agents, and returns a sentence for the person."""
        game, legal, deals = self.game, self.legal, len(self.game.deals)
        is_choice = game.seat == self.seat and len(legal) > 1
        event = sentences.move(game, action, self.seat) if action in legal else Phrase("")
        if game.seat == self.seat and legal == [actions.PASS]:
            event = sentences.forced(self.view)
        game.play(action)
        if is_choice:
            self._choices.append(self._num_moves)
        self._num_moves += 1
        redealt = len(game.deals) > deals and game.winner is None
        if game.winner is not None:
            self.results.append((game.winner, game.points))
            self._between_rounds, self._last_scored = True, deals - 1
            end = sentences.end(game.winner, game.points, self.seat)
            event = Phrase("{said}; {end}", said=event, end=end)
        elif redealt:
            event = Phrase("{said}; {end}", said=event, end="the tiles are dealt again")
        if event:
            self.log.append(event)
        try:
            if save:
                self._save()
        finally:  # agents with a memory miss nothing if the match cannot be saved
            if game.winner is not None:
                self._end_round()
            elif redealt:
                self._end_redealt()
            if len(game.deals) > deals:
                self._begin_deal()
        return event

    def _ask(self) -> int:
        """Returns the action of the acting seat's agent, which receives only its view."""
        seat = self.game.seat
        assert seat is not None
        view, agent = self.game.view(seat), self._seating.agents[seat]
        view.game = self._first_number + seat
        mask = view.legal()
        rng = bot_generator(self.settings.seed, SEEDING_PURPOSE, self._num_moves, seat)
        # The person may read an error of the agent, which must not reveal its hand.
        return int(ask_actions(agent, view, mask, rng, secret=True)[0])

    def _begin_deal(self) -> None:
        """Notifies stateful agents of the present deal, each of its own hand."""
        deal = self.game.deals[-1]
        for seat, agent in self._seating.stateful():
            game_number, hand = self._first_number + seat, deal.hands[None, seat]
            fresh = Replay.of_seat(
                self.settings.rules, seat, hand, deal.dealer, deal.scores, game_number
            )
            notify(agent, "begin", game_number, np.array([seat]), fresh.view(seat), secret=True)

    def _end_redealt(self) -> None:
        """Notifies redeal observers of the previous deal, whose tiles were dealt again."""
        deal = self.game.deals[-2]
        hands, dealer, scores = (
            np.array([field]) for field in (deal.hands, deal.dealer, deal.scores)
        )
        for seat, agent in self._seating.stateful():
            if isinstance(agent, RedealObserver):
                game_number = self._first_number + seat
                replay = Replay.of_deals(self.settings.rules, hands, dealer, scores, game_number)
                for _, action in deal.moves:
                    replay.step(action)
                notify(agent, "redeal", game_number, replay.view(seat), secret=True)

    def _end_round(self) -> None:
        """Notifies stateful agents of the result of a round, and of all hands."""
        stateful = self._seating.stateful()
        if not stateful:
            return
        over, (winner, points) = self.ended(), self.results[-1]
        for seat, agent in stateful:
            results = Results(np.array([winner]), np.array([points]), over.view(seat))
            hands = over.dealt[None].astype(np.int64)
            notify(agent, "end", self._first_number + seat, results, hands, secret=True)

    def _save(self) -> None:
        if self._keep is not None:
            self._keep(self)
