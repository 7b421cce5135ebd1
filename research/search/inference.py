"""Measures what the champion's search gains by inferring how the others play.

python research/search/inference.py heuristic champion      some rows; without a name all of them
python research/search/inference.py --only-print            the table of what has been played
python research/search/inference.py --only-print --of 397M-6ef7007e
                                                       the same with an earlier champion

Every row plays two agents, or two partners of one agent, on the same duplicate deals against the
same opponents. In some rows the second agent, which is fast, also plays further deals. The first
agent's points are then its mean gain over the second on the deals of both, plus the points of the
second on all its deals: the second agent is a control variate. What has been played stands in
results/inference/CHAMPION/ROW.json, where CHAMPION is the number of decisions that the champion was
trained with, in millions, and the beginning of its network's SHA-256. A row that is begun again
goes on from there. Processes may play different rows at the same time. The deals of these rows
chose nothing. Two of the opponents are trained from nothing, in some minutes each, the second anew
for each champion:

python train.py --name outsider --preset quick --seed 77 --layers 192 192 --gae-lambda 0.8
python train.py --name attacker --preset quick --seed 78 --opponents champion
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

os.environ.setdefault("OMP_NUM_THREADS", "1")

import msgspec
import numpy as np
import numpy.typing as npt

from goita_agents.champion.agent import network
from goita_agents.files import json_text, locked, write_whole
from goita_env.rounds import Episode
from goita_env.rules import JGA
from goita_lab import cli
from goita_lab.arena.report.figures import estimate
from goita_lab.arena.statistics.intervals import Interval, mean_interval, t_interval
from goita_lab.arena.tournament.block import play_block
from goita_lab.arena.tournament.plan import MIXED_SEATINGS, PAIR_SEATINGS, Task
from goita_lab.provenance import plain
from research.drawing import table as markdown

FOLDER: Final = Path(__file__).parent / "results" / "inference"
BLOCK: Final = 100
"""Deals that are played side by side, and then saved."""

ALONE: Final = "champion"
INFERRING: Final = "champion:search=on"
ASSUMING: Final = "champion:search=on,infer=off,min_z=4,max_policy_queries=12000"
"""Takes all others for players like itself."""
OUTSIDER: Final = "file:runs/outsider/policy.safetensors"
ATTACKER: Final = "file:runs/attacker/policy.safetensors"


@dataclass(frozen=True)
class Row:
    """What is played: two agents against the same opponents."""

    against: str
    """Agent of the other team."""
    deals: int
    """Deals that both agents play."""
    seed: int
    agents: tuple[str, str] = (INFERRING, ALONE)
    """What is compared: the first minus the second."""
    partner: str | None = None
    """Partner of either; None: the same agent."""
    episode: Episode = "round"
    second_deals: int | None = None
    """All deals of the second agent, those of both first; None: it plays no further ones."""

    def deals_of(self, agent: str) -> int:
        """Returns how many deals an agent of the row plays."""
        return self.second_deals or self.deals if agent == self.agents[1] else self.deals


ROWS: Final = {
    "heuristic": Row("heuristic", 1_600, 77_001, second_deals=20_000),
    "champion": Row("champion", 3_200, 77_002, (INFERRING, ASSUMING)),
    "champion_alone": Row("champion", 800, 77_012),
    "outsider": Row(OUTSIDER, 1_600, 77_003),
    "attacker": Row(ATTACKER, 1_600, 77_004),
    "no_conventions": Row("heuristic:conventions=off", 1_600, 77_009, second_deals=20_000),
    "rollout": Row("rollout:base=heuristic", 1_600, 77_010),
    "beside_heuristic_champion": Row(ALONE, 1_600, 77_005, partner="heuristic"),
    "beside_heuristic_heuristic": Row("heuristic", 1_600, 77_006, partner="heuristic"),
    "beside_outsider_champion": Row(ALONE, 1_600, 77_007, partner=OUTSIDER),
    "beside_outsider_heuristic": Row("heuristic", 1_600, 77_008, partner=OUTSIDER),
    "matches": Row(
        "heuristic", 800, 77_011, (INFERRING, f"{INFERRING},carry=off"), episode="match"
    ),
}
KEYS: Final = ("first", "second", "gain")
OUTSIDE: Final = ("outsider", "attacker", "no_conventions", "rollout")
"""Rows with opponents that are not in the set of types; their mean is a row of the table."""


@dataclass(frozen=True)
class Args:
    """Options of the command line."""

    rows: tuple[str, ...] = field(default=tuple(ROWS), metadata=cli.POSITIONAL)
    """rows to be played, in this order"""
    only_print: bool = False
    """play nothing"""
    of: str | None = None
    """champion whose results are printed, by its folder; without, the present one"""
    json: Path | None = None
    """write the points of the rows into this file"""


@dataclass
class Played:
    """What one agent of a row has made: n deals, in order."""

    points: list[int]
    """Points of its team minus those of the other, over all games of the deal."""
    won: list[int]
    """Games of the deal that its team won: rounds or whole matches."""
    milliseconds: float
    """Sum over its decisions."""
    decisions: int


def play(name: str) -> None:
    """Plays what is missing of a row, the two agents in turn, and saves each block."""
    file = FOLDER / champion() / f"{name}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    with locked(file, "a row that no other process plays"):
        row, played = ROWS[name], load(name)
        while agents := [one for one in row.agents if len(played[one].points) < row.deals_of(one)]:
            agent = min(agents, key=lambda one: len(played[one].points))
            first = len(played[agent].points)
            size = min(BLOCK, row.deals_of(agent) - first)
            players = (
                (agent, row.against) if row.partner is None else (agent, row.partner, row.against)
            )
            seatings = PAIR_SEATINGS if row.partner is None else MIXED_SEATINGS
            task = Task(players, row.seed, first // BLOCK, first, size, JGA, row.episode, seatings)
            block, of = play_block(task), played[agent]
            of.points += block.points.sum(axis=0).tolist()
            won = block.won if row.episode == "match" else block.rounds_won
            of.won += won.sum(axis=0).tolist()
            of.milliseconds += 1_000 * float(block.thinking[0])
            of.decisions += int(block.decisions[0])
            write_whole(file, msgspec.json.encode(played))
            print(f"{name}, {agent}: {first + size:,} of {row.deals_of(agent):,} deals", flush=True)


def champion() -> str:
    """Returns the folder of the present champion's results: its decisions and its digest."""
    return f"{network().info.decisions / 1e6:.0f}M-{network().digest[:8]}"


def load(name: str, of: str | None = None) -> dict[str, Played]:
    """Returns what has been played of a row, by agent."""
    path = FOLDER / (of or champion()) / f"{name}.json"
    if not path.exists():
        return {agent: Played([], [], 0.0, 0) for agent in ROWS[name].agents}
    return msgspec.json.decode(path.read_bytes(), type=dict[str, Played])


def points(name: str, of: str | None = None) -> tuple[npt.NDArray[np.float64], ...]:
    """Returns the points a game of a row's two agents, in order of the deals: [n], [N]; N >= n."""
    row, played = ROWS[name], load(name, of)
    games = 2 if row.partner is None else 4
    first, second = (np.array(played[agent].points) / games for agent in row.agents)
    return first[: len(second)], second if row.second_deals else second[: len(first)]


def intervals(first: npt.NDArray[np.float64], second: npt.NDArray[np.float64]) -> list[Interval]:
    """Returns the points of a row's two agents, and the first minus the second, with intervals.

    The second agent is a control variate of the first: on the n deals of both the first makes D
    more, and the second makes S on its N deals. The mean of the first is that of D plus that of S,
    with the variance var(D) / n + var(S) / N + 2 cov(D, S) / N, since the n are among the N. For
    N = n both are the mean of the first and its variance.
    """
    deals = len(first)
    gains = first - second[:deals]
    gain, alone = mean_interval(gains), mean_interval(second)
    common = float(np.cov(gains, second[:deals])[0, 1])
    variance = gains.var(ddof=1) / deals + (second.var(ddof=1) + 2 * common) / len(second)
    return [t_interval(gain.mean + alone.mean, float(variance) ** 0.5, deals - 1), alone, gain]


def table(of: str | None = None) -> str:
    """Returns the table of the rows that have been played, in Markdown."""
    lines, outside = [], []
    for name, row in ROWS.items():
        first, second = points(name, of)
        if len(first) < 2:
            continue
        if name in OUTSIDE:
            outside.append(first - second[: len(first)])
        deals = f"{len(first):,}"
        if len(second) > len(first):
            deals += f", second {len(second):,}"
        shown = (estimate(interval) for interval in intervals(first, second))
        lines.append([f"`{row.against}`", f"`{row.partner or 'itself'}`", deals, *shown])
    if len(outside) == len(OUTSIDE):
        mean = sum(float(one.mean()) for one in outside) / len(outside)
        error = sum(float(one.var(ddof=1)) / len(one) for one in outside) ** 0.5 / len(outside)
        all_of_them = t_interval(mean, error, min(map(len, outside)) - 1)
        name = f"mean of the {len(outside)} outside the set"
        lines.append([name, *[""] * 4, estimate(all_of_them)])
    heads = ["against", "beside", "deals", "first", "second", "first minus second"]
    return markdown(heads, lines)


def main(argv: Sequence[str] | None = None) -> int:
    """Plays, prints the table and returns the exit code."""
    args = cli.parse(Args, argv, __doc__)
    if unknown := [name for name in args.rows if name not in ROWS]:
        cli.fail(f"expected rows of {', '.join(ROWS)}, got {', '.join(unknown)}")
    known = sorted(path.name for path in FOLDER.iterdir())
    if args.of is not None and args.of not in known:
        cli.fail(f"expected --of one of {', '.join(known)}, got {args.of!r}")
    if args.of is not None and not args.only_print:
        cli.fail("expected --of with --only-print, since the present champion plays")
    for name in () if args.only_print else args.rows:
        play(name)
    print(table(args.of))
    if args.json:
        rows = {
            name: dict(zip(KEYS, intervals(*points(name, args.of)), strict=True))
            for name in args.rows
        }
        weights = {"champion": network().digest} if args.of is None else {}
        write_whole(args.json, json_text(plain({"weights": weights, **rows})))
    return 0


if __name__ == "__main__":
    cli.run(main)
