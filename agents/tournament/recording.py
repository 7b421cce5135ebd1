"""Lets an agent play all four seats of many deals at once, and keeps the records."""

from __future__ import annotations

import numpy as np

from agents.base import Agent, AgentError, Memory, only_action
from goita_env.engine import core
from goita_env.engine.match import Match
from goita_env.hands import format_hand
from goita_env.records import DealRecord
from goita_env.records.model import tell_kings
from goita_env.rules import JGA, Rules
from goita_env.views import asked_view, unpack_legal


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
    match = Match(deals, rules, "round", seed, auto_reset=False)
    match.reset()
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(1,)))
    state, number = match.state, np.arange(deals)
    hands, dealers = state.hand_counts(), state.dealer.copy()
    moves: list[list[tuple[int, int]]] = [[] for _ in range(deals)]
    while True:
        low, high = core.legal_actions(state)
        chosen, choices = only_action(low, high)
        if not choices.any():
            break
        seats, rows = state.seat, np.flatnonzero(choices > 1)
        if len(rows):
            view = asked_view(state, 4 * number + seats)
            chosen[rows] = agent.act(view[rows], unpack_legal(low[rows], high[rows]), rng)
        for row in np.flatnonzero(seats >= 0):
            moves[row].append((int(seats[row]), int(chosen[row])))
        before = match.deals.copy()
        match.step(chosen)
        for row in np.flatnonzero(match.deals != before):
            moves[row].clear()
            hands[row] = state.select(np.array([row])).hand_counts()[0]
    texts = [tell_kings([format_hand(hand) for hand in four]) for four in hands]
    return [
        DealRecord(text, int(dealer), tuple(made), rules=state.rules, number=n)
        for n, (text, dealer, made) in enumerate(zip(texts, dealers, moves, strict=True), 1)
    ]
