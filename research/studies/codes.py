"""Measures how arbitrary codes of equilibria are, and what an overheard one is worth: teamwork.md.

Learners of small games begin at random first regrets and end at equilibria, each with a code of its
own: what a move, or a message of the dealer, tells. All values are exact.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Final

import numpy as np

from goita_agents.base import Float
from goita_env.rules import Rules, get_rules
from goita_lab.arena.report.figures import estimate
from goita_lab.arena.statistics.intervals import Interval
from goita_lab.exact.team import alternating
from goita_lab.exact.tree import Channel, Tree, deals, enumerate_game, spread
from goita_lab.exact.values import Learner, best_response, gains, reached, sign, value
from goita_lab.learning.symmetries import ACTION_IMAGES
from research.drawing import Colors, dots, table
from research.intervals import between_runs
from research.studies import study
from research.studies.study import Options
from research.teamwork.train import drawn_regrets

EQUAL: Final = Rules(name="equal", deck=(6, 2, 0, 4, 4, 0, 0, 0))
"""Its silvers and golds have equal rules."""
SWAP: Final = 1  # The element of ACTION_IMAGES that exchanges them.
ROUNDS: Final = {"mini_3": 300, "mini_4": 120, "equal": 120}
"""Rounds of the learners, by game."""
EARLIER: Final = 100
"""Rounds before the end at which the control of the gap is taken."""
STARTS: Final = 1
"""Random plans from which a pair of opponents responds in turn."""


@dataclass(frozen=True)
class Start:
    """Learners of a game that begin at the regrets of a seed."""

    game: str
    bits: int  #: Of the dealer's message; 0: there is none.
    public: bool
    seed: int | None  #: None: a uniform start, and chance draws the message.
    folder: str

    @property
    def key(self) -> str:
        return f"{self.game} {self.bits} {'public' if self.public else 'private'} {self.seed}"

    @property
    def kind(self) -> tuple[str, int, bool]:
        return self.game, self.bits, self.public

    @property
    def path(self) -> Path:
        return Path(self.folder) / f"{self.key}.npz".replace(" ", "-")


@dataclass(frozen=True)
class End:
    """Where a start ended."""

    value: float  #: For the dealer's team.
    gain: float  #: What one seat gains at most.
    heard: tuple[float, float] | None
    """The same team's value against each opponent's best response who observes no message, and who
    does: the mean of both seats; None: there is no message."""
    pair: tuple[float, float] | None  #: The same for both opponents together, at most so much.
    leak: float | None
    """What a team keeps that plays as if there were no message, and sends those of this one, where
    an opponent observes them and responds best: what telling an opponent costs."""


@dataclass(frozen=True)
class Gap:
    """What two ends lose as partners, in points a round, the mean of both teams' opponents."""

    teams: tuple[float, float]  #: Of the dealer's team, and of the other.
    exchanged: tuple[float, float] | None
    """The same after exchanging equal tiles, or the messages, in one of them; None: nothing can."""


@dataclass(frozen=True)
class Result:
    """What the study found."""

    ends: dict[str, End]
    gaps: dict[str, dict[str, Gap]]  #: By game and message, and by pair of seeds.
    controls: dict[str, float]  #: The gap of a start with itself, stopped earlier.


def starts(options: Options) -> list[Start]:
    """Returns all learners, those of short games first."""
    folder = str(options.output / "ends")
    plan = [
        ("mini_3", 0, False, 20),
        ("mini_3", 1, False, 10),
        ("mini_3", 1, True, 10),
        ("equal", 0, False, 6),
        ("mini_4", 0, False, 6),
        ("mini_3", 2, False, 3),
        ("mini_3", 2, True, 3),
    ]
    if options.quick:
        plan = [(game, bits, public, 2) for game, bits, public, _ in plan[:3]]
    seeded = [
        Start(game, bits, public, seed, folder)
        for game, bits, public, seeds in plan
        for seed in range(101, 101 + seeds)
    ]
    return [*seeded, *(Start("mini_3", bits, False, None, folder) for bits in (0, 1))]


def run(options: Options) -> Result:
    """Learns all that is missing, and measures."""
    todo = starts(options)
    (options.output / "ends").mkdir(parents=True, exist_ok=True)
    ends = options.pieces("codes", End, {}, {start.key: start for start in todo}, learn)
    gaps: dict[str, dict[str, Gap]] = {}
    controls: dict[str, float] = {}
    for kind in dict.fromkeys(start.kind for start in todo if not start.public):
        seeded = [start for start in todo if start.kind == kind and start.seed is not None]
        name = f"{kind[0]} {kind[1]}"
        gaps[name] = {f"{a.seed} {b.seed}": gap(a, b) for a, b in combinations(seeded, 2)}
        tree, (policy, earlier) = game_of(*kind), stored(seeded[0])
        controls[name] = float(np.mean(gaps_of(tree, policy, earlier)))
    return Result(ends, gaps, controls)


@cache
def game_of(game: str, bits: int, public: bool) -> Tree:
    rules = EQUAL if game == "equal" else get_rules(game)
    return enumerate_game(rules, channel=Channel(bits, public) if bits else None)


def stored(start: Start) -> tuple[Float, Float]:
    """Returns where a start ended, and where it was ``EARLIER`` rounds before."""
    with np.load(start.path) as file:
        return file["average"], file["earlier"]


def learn(start: Start) -> End:
    """Learns from a start, keeps the policy and measures it."""
    tree = game_of(*start.kind)
    if start.seed is None and start.bits:
        tree = at_random(tree)
    if not start.path.exists():
        regrets = None if start.seed is None else drawn_regrets(tree, start.seed)
        learner, rounds = Learner(tree, regrets), ROUNDS[start.game]
        earlier = tree.uniform()
        for index in range(rounds):
            if index == rounds - EARLIER:
                earlier = learner.average()
            learner.learn()
        np.savez_compressed(start.path, average=learner.average(), earlier=earlier)
    policy = stored(start)[0]
    gain = max(gains(tree, policy).values())
    if not start.bits or start.seed is None:
        return End(value(tree, policy), gain, None, None, None)
    private, public = (game_of(start.game, start.bits, heard) for heard in (False, True))
    carried = [carry(policy, tree, target) for target in (private, public)]
    heard = [alone(*both) for both in zip((private, public), carried, strict=True)]
    pair = [together(*both) for both in zip((private, public), carried, strict=True)]
    silent = replace(start, bits=0, public=False)
    mute = without_code(game_of(*silent.kind), public, stored(silent)[0], carried[1])
    leak = alone(public, mute)
    return End(value(tree, policy), gain, (heard[0], heard[1]), (pair[0], pair[1]), leak)


def carry(policy: Float, source: Tree, tree: Tree) -> Float:
    """Returns a policy [A] of the same game with another audience.

    Both trees list the same histories. Where a seat observes less than before, it follows the mean
    of what it did.
    """
    going = tree.info >= 0
    pairs = np.unique(np.stack((tree.info[going], source.info[going])), axis=1)
    target, place = spread(np.diff(tree.starts)[pairs[0]])
    sums = np.zeros(len(tree.action))
    index = tree.starts[pairs[0][target]] + place
    np.add.at(sums, index, policy[source.starts[pairs[1][target]] + place])
    return np.asarray(sums / np.add.reduceat(sums, tree.starts[:-1])[tree.owner])


def without_code(base: Tree, tree: Tree, policy: Float, sending: Float) -> Float:
    """Returns a policy [A] that plays as one of the game without a message, and sends another's."""
    first, digests = int(tree.sets[1]), base.view().digest()
    order = digests.argsort()
    row = order[np.searchsorted(digests, tree.view().digest(), sorter=order)]
    playing = sending.copy()
    actions = np.arange(int(tree.starts[first]), len(tree.action))
    owner = tree.owner[actions]
    playing[actions] = policy[base.starts[row[owner]] + actions - tree.starts[owner]]
    return playing


def alone(tree: Tree, policy: Float) -> float:
    """Returns what the dealer's team keeps against one opponent's best response, the mean."""
    return sum(best_response(tree, policy, seat).value for seat in (1, 3)) / 2


def at_random(tree: Tree) -> Tree:
    """Returns the game in which chance draws the dealer's message, the control of the channel."""
    first, sets = int(tree.levels[1]), int(tree.sets[1])
    actions = int(tree.starts[sets])
    num_sending = int(tree.levels[2]) - first
    before = np.where(tree.before >= actions, tree.before - actions, -1).astype(np.int32)
    return replace(
        tree,
        chance=(tree.chance / (num_sending // len(tree.chance))).repeat(
            num_sending // len(tree.chance)
        ),
        info=np.where(tree.info >= 0, tree.info - sets, -1)[first:],
        first=np.maximum(tree.first - first, 0)[first:],
        points=tree.points[first:],
        starts=tree.starts[sets:] - actions,
        action=tree.action[actions:],
        seat=tree.seat[sets:],
        before=before[sets:],
        words=tree.words[sets:],
        levels=tree.levels[1:] - first,
        sets=tree.sets[1:] - sets,
        channel=None,
    )


def together(tree: Tree, policy: Float) -> float:
    """Returns what the dealer's team keeps at most against both opponents, who agree on plans."""
    reach = reached(tree, policy, 1, whole_team=True)
    return alternating(tree, policy, 1, reach, STARTS)[0][0]


def gap(start: Start, partner: Start) -> Gap:
    """Returns what two ends of one game lose as partners."""
    tree = game_of(*start.kind)
    first, second = stored(start)[0], stored(partner)[0]
    can = start.bits or start.game == EQUAL.name
    exchanged = gaps_of(tree, first, exchange(tree, second)) if can else None
    return Gap(gaps_of(tree, first, second), exchanged)


def gaps_of(tree: Tree, policy_a: Float, policy_b: Float) -> tuple[float, float]:
    """Returns self-play minus cross-play of two policies by team, against the pairs of both."""
    seat = tree.seat[tree.owner]
    gaps = []
    for team in range(2):
        lost = 0.0
        for opponents in (policy_a, policy_b):
            for first, second, weight in (
                *((policy_a, policy_a, 0.5), (policy_b, policy_b, 0.5)),
                *((policy_a, policy_b, -0.5), (policy_b, policy_a, -0.5)),
            ):
                pair = np.where(seat == team, first, second)
                policy = np.where(seat % 2 == team, pair, opponents)
                lost += weight * sign(team) * value(tree, policy) / 2
        gaps.append(lost)
    return gaps[0], gaps[1]


def exchange(tree: Tree, policy: Float) -> Float:
    """Returns a policy as it is with silvers and golds, or the two messages, exchanged."""
    new = np.zeros(len(tree.info), np.int64)
    swaps = tree.rules == EQUAL
    hands = deals(tree.rules)[0]
    kinds = [0, 1, 2, 4, 3, 5, 6, 7] if swaps else list(range(8))
    index_of = {deal.tobytes(): index for index, deal in enumerate(hands)}
    other_hands = np.ascontiguousarray(hands[:, :, kinds])
    new[: len(hands)] = [index_of[deal.tobytes()] for deal in other_hands]
    exchanged = np.zeros(len(policy))
    for index, (start, end) in enumerate(zip(tree.levels[:-1], tree.levels[1:], strict=True)):
        node = start + np.flatnonzero(tree.info[start:end] >= 0)
        sets, other_sets = tree.info[node], tree.info[new[node]]
        row, place = spread(np.diff(tree.starts)[sets])
        action = tree.action[tree.starts[sets[row]] + place].astype(np.int64)
        if tree.channel and not index:
            there = 2**tree.channel.bits - 1 - place
        else:
            there = np.zeros(len(place), np.int64)
            target_action = ACTION_IMAGES[SWAP][action] if swaps else action
            width = np.diff(tree.starts)[other_sets]
            for k in range(int(width.max(initial=0))):
                inside = k < width[row]
                flat = np.where(inside, tree.starts[other_sets[row]] + k, 0)
                there = np.where(inside & (tree.action[flat] == target_action), k, there)
        new[tree.first[node[row]] + place] = tree.first[new[node[row]]] + there
        exchanged[tree.starts[sets[row]] + place] = policy[tree.starts[other_sets[row]] + there]
    return exchanged


def report(result: Result) -> str:
    """Returns the tables of the page, in Markdown."""
    rows = []
    for name, pairs in result.gaps.items():
        game, bits = name.split()
        for team_index, team in enumerate(("dealer's", "other")):
            lost = [gap.teams[team_index] for gap in pairs.values()]
            cells = [f"{np.mean(lost):.3f}", f"{min(lost):.3f} to {max(lost):.3f}"]
            exchanged = [gap.exchanged[team_index] for gap in pairs.values() if gap.exchanged]
            if exchanged:
                chosen, control = np.minimum(lost, exchanged), unrelated(pairs, team_index)
                cells += [
                    f"{1 - np.mean(remaining) / np.mean(lost):.0%}"
                    for remaining in (exchanged, chosen)
                ]
                cells.append(f"{1 - np.mean(control) / np.mean(lost):.0%}")
            rows.append([game, bits, team, f"{len(lost)}", *cells])
    heads = ["game", "bits", "team", "pairs", "gap, mean", "least to most", "exchanged brings back"]
    heads += ["if it is better", "control: another start if it is better"]
    drawn = result.ends["mini_3 1 private None"].value - result.ends["mini_3 0 private None"].value
    stopped = ", ".join(f"{gap:.4f} in {name}" for name, gap in result.controls.items())
    return "\n\n".join(
        (
            "Points a round that two equilibria lose as partners.",
            table(heads, rows),
            f"The same start, stopped {EARLIER} rounds earlier: {stopped} bits.",
            "Points for the dealer's team, over starts. From a uniform start, where chance draws "
            f"the message, they differ by {drawn:.1e} from those without one.",
            table(*_channels(result)),
        )
    )


def unrelated(pairs: dict[str, Gap], team: int) -> list[float]:
    """Returns the smaller gap of each pair and of its first end with a third one: a control."""
    gap_of = {frozenset(key.split()): gap.teams[team] for key, gap in pairs.items()}
    names = sorted({name for key in gap_of for name in key})
    smaller = []
    for key, gap in pairs.items():
        first, second = key.split()
        other_names = [
            name for name in names[names.index(second) :] + names if name not in key.split()
        ]
        third = other_names[0] if other_names else second
        smaller.append(min(gap.teams[team], gap_of[frozenset((first, third))]))
    return smaller


def _channels(result: Result) -> tuple[list[str], list[list[str]]]:
    heads = ["game", "message", "starts", "learned value", "more than without"]
    heads += ["each opponent responds: deaf", "hearing", "both together, at most: deaf", "hearing"]
    heads.append("hearing, no code")
    rows = []
    plain = _by_kind(result)
    for (game, bits, audience), ends in plain.items():
        base = [end.value for end in plain[game, "0", "private"]]
        gain = between_runs([end.value for end in ends], base)[0] if bits != "0" else None
        heard = [
            _spread([getattr(end, name)[n] for end in ends]) if ends[0].heard else ""
            for name in ("heard", "pair")
            for n in range(2)
        ]
        message = f"{bits} bits, {audience}" if bits != "0" else "none"
        leak = [end.leak for end in ends if end.leak is not None]
        heard.append(_spread(leak) if leak else "")
        cells = (_spread([end.value for end in ends]), estimate(gain))
        rows.append([game, message, str(len(ends)), *cells, *heard])
    return heads, rows


def _by_kind(result: Result) -> dict[tuple[str, str, str], list[End]]:
    ends: dict[tuple[str, str, str], list[End]] = {}
    for key, end in result.ends.items():
        game, bits, audience, seed = key.split()
        if seed != "None":
            ends.setdefault((game, bits, audience), []).append(end)
    return ends


def _spread(values: list[float]) -> str:
    return f"{np.mean(values):.2f} ({min(values):.2f} to {max(values):.2f})"


def figure(result: Result, colors: Colors) -> bytes:
    """Draws the gaps of each team: mean, least and most over pairs, as SVG."""
    games = {"equal": "equal silvers and golds"}
    messages = {"0": "no message", "1": "one bit", "2": "two bits"}
    rows: dict[str, dict[str, Interval]] = {}
    for name, pairs in result.gaps.items():
        game, bits = name.split()
        cells = rows[f"{games.get(game, game)}, {messages[bits]}"] = {}
        for team, owner in enumerate(("dealer's team", "other team")):
            lost = [gap.teams[team] for gap in pairs.values()]
            cells[owner] = Interval(float(np.mean(lost)), min(lost), max(lost))
    return dots(rows, "points lost: mean, least and most", colors)


if __name__ == "__main__":
    study.main("codes")
