"""Keeps rounds as records while they are played, and lets an agent play all four seats of many."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace

from agents.base import Agent, AgentError, Memory
from goita_env.hands import format_hand
from goita_env.records import DealRecord
from goita_env.records.model import tell_kings
from goita_env.rounds import Rounds, Tick
from goita_env.rules import JGA, Rules
from goita_env.seeds import bot_generator


class Recorder:
    """Collects the records of the deals that are played, game by game.

    Args:
        rounds: the rounds, played with ``log=True``; nothing decided yet.
        games: numbers of the games that are recorded; None: all.
    """

    def __init__(self, rounds: Rounds, games: Container[int] | None = None) -> None:
        self.rules = rounds.rules
        self.games = range(rounds.num_games) if games is None else games
        self.deals: list[list[DealRecord]] = [[] for _ in range(rounds.num_games)]
        """Every deal of each game that is over, redeals among them."""
        self.results: list[list[tuple[int, int]]] = [[] for _ in range(rounds.num_games)]
        """The seat that ended each of them and its points; (-1, 0) for a redeal."""
        self._hands: list[tuple[str, ...]] = [()] * rounds.num_games
        self._begun: list[tuple[int, tuple[int, int]]] = [(0, (0, 0))] * rounds.num_games
        self._moves: list[list[tuple[int, int]]] = [[] for _ in range(rounds.num_games)]
        self._begin(rounds.tick)

    def note(self, tick: Tick) -> None:
        """Takes notice of a step by what it led to."""
        if tick.made is not None:
            made = tick.made
            for game, seat, action in zip(
                made.rows.tolist(), made.seats.tolist(), made.actions.tolist(), strict=True
            ):
                if game in self.games:
                    self._moves[game].append((seat, action))
        for over in (tick.redealt, tick.ended):
            if over is None:
                continue
            results = zip(over.winner.tolist(), over.points.tolist(), strict=True)
            for game, result in zip(over.rows.tolist(), results, strict=True):
                if game not in self.games:
                    continue
                self.results[game].append(result)
                dealer, scores = self._begun[game]
                self.deals[game].append(
                    DealRecord(
                        self._hands[game],
                        dealer,
                        tuple(self._moves[game]),
                        scores,
                        self.rules,
                        number=len(self.deals[game]) + 1,
                    )
                )
        self._begin(tick)

    def _begin(self, tick: Tick) -> None:
        """Notes what has been dealt."""
        if tick.dealt is None:
            return
        dealt = tick.dealt
        for game, hands, dealer, (even, odd) in zip(
            dealt.rows.tolist(),
            dealt.hands,
            dealt.dealer.tolist(),
            dealt.scores.tolist(),
            strict=True,
        ):
            if game not in self.games:
                continue
            self._hands[game] = tell_kings([format_hand(hand) for hand in hands])
            self._begun[game] = dealer, (even, odd)
            self._moves[game] = []


def play_deals(
    agent: Agent, deals: int, seed: int = 0, rules: str | Rules = JGA
) -> list[DealRecord]:
    """Returns the records of rounds in which an agent plays all four seats.

    A round that began with a redeal is recorded from the deal that was played on.

    Args:
        agent: plays by views, as in a tournament; without a memory of its own.
        deals: how many rounds.
        seed: of the deals and the agent's random numbers.
        rules: the rule set.

    Raises:
        AgentError: if the agent has a memory.
        SettingError: if a number is impossible or the rule set unknown.
    """
    if isinstance(agent, Memory):
        raise AgentError(f"expected an agent without a memory of its own, got {agent.name!r}")
    rounds = Rounds(deals, rules=rules, seed=seed, finals=False, log=True)
    recorder = Recorder(rounds)
    rng = bot_generator(seed, "deals")
    while not rounds.over:
        tick = rounds.tick
        actions = agent.act(tick.view, tick.legal, rng) if len(tick.rows) else tick.rows
        recorder.note(rounds.step(actions))
    return [replace(played[-1], number=number) for number, played in enumerate(recorder.deals, 1)]
