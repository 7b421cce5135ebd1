"""Compares agents over duplicate deals: plans blocks, has them played, and sums them up.

Each deal is played twice, the teams' seats exchanged, with the same dealer and, should a redeal be
chosen, the same next deals; so the luck of the deal cancels. Deal number i under a seed is the one
that ``GoitaVectorEnv`` deals to its game i under that seed, whatever the pair.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from agents.base import Agent
from agents.block import BlockResult, Task, play_block
from agents.intervals import mean_interval, rate_interval
from agents.registry import load_agent
from goita_env.deal import check_seed
from goita_env.errors import SettingError
from goita_env.match import Episode
from goita_env.rules import Rules, get_rules

BLOCK_DEALS: Final = 256
"""Deals in a block: 512 games of a pair at once. The result of a run hangs on it as on the seed."""

MAX_DEALS: Final = 10**7
"""Most deals of a pair: points per round are then known to a hundredth."""


@dataclass(frozen=True)
class PairResult:
    """Says how a pair of agents did, from a's side."""

    a: str
    b: str
    deals: int
    points_per_round: float
    ci95: tuple[float, float]
    """95 % interval of the points per round, over deals."""
    round_win_rate: float
    round_win_ci95: tuple[float, float]
    ms_per_decision: dict[str, float]
    """Milliseconds that each agent took for a decision with a choice."""
    rounds_per_second: float


def tasks(
    agents: tuple[str, ...],
    deals: int,
    *,
    seed: int = 0,
    rules: str | Rules = "jga",
    episode: Episode = "round",
    block_deals: int = BLOCK_DEALS,
) -> list[Task]:
    """Returns the blocks of a pair; the last may be a short one.

    Raises:
        SettingError: if seed, rules or the number of deals (2 to ten million) are impossible.
    """
    check_deals(deals)
    check_seed(seed)
    found = get_rules(rules)
    return [
        Task(agents, seed, block, first, min(block_deals, deals - first), found, episode)
        for block, first in enumerate(range(0, deals, block_deals))
    ]


def check_deals(deals: int) -> None:
    """Checks a number of deals; an interval takes two.

    Raises:
        SettingError: if it is none.
    """
    if isinstance(deals, bool) or not isinstance(deals, int) or not 2 <= deals <= MAX_DEALS:
        raise SettingError(f"expected a number of deals from 2 to {MAX_DEALS:,}, got {deals!r}")


def summarise(results: Sequence[BlockResult]) -> PairResult:
    """Returns a pair's result from its blocks, whatever their order."""
    results = sorted(results, key=lambda result: result.task.block)
    names = results[0].task.agents
    points = np.concatenate([r.points for r in results], axis=1).sum(axis=0)
    rounds = np.concatenate([r.rounds for r in results], axis=1).sum(axis=0)
    won = np.concatenate([r.won for r in results], axis=1).mean(axis=0)
    thinking = np.sum([r.thinking for r in results], axis=0)
    decisions = np.sum([r.decisions for r in results], axis=0)
    milliseconds, players = 1000 * thinking / np.maximum(decisions, 1), np.array(names)
    seconds = sum(r.seconds for r in results)
    mean, wins = mean_interval(points / rounds), rate_interval(won)
    return PairResult(
        a=names[0],
        b=names[1],
        deals=len(points),
        points_per_round=mean.mean,
        ci95=(mean.low, mean.high),
        round_win_rate=wins.mean,
        round_win_ci95=(wins.low, wins.high),
        ms_per_decision={name: float(milliseconds[players == name].mean()) for name in names},
        rounds_per_second=float(rounds.sum() / seconds),
    )


def play_pair(
    a: str | Agent,
    b: str | Agent,
    deals: int,
    *,
    seed: int = 0,
    rules: str | Rules = "jga",
    progress: Callable[[BlockResult], None] | None = None,
) -> PairResult:
    """Plays two agents against each other, block by block in this process.

    Args:
        a: an agent or its text; results are from its side.
        b: another, or the same.
        deals: how many deals, at least 2; each is played twice.
        seed: of deals and players.
        rules: a rule set or its name.
        progress: called after each block.

    Raises:
        AgentError, SettingError: before anything is played, if a part of this is impossible.
    """
    players = [load_agent(a), load_agent(b)]
    results = []
    for task in tasks((players[0].name, players[1].name), deals, seed=seed, rules=rules):
        results.append(play_block(task, players))
        if progress is not None:
            progress(results[-1])
    return summarise(results)
