"""Measures whether agents use messages: what their messages reveal, and what they are worth.

An agent is a network that was trained in a game with messages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from goita_agents.asking import agent_plays
from goita_agents.base import Float, Int
from goita_agents.models import PolicyModel
from goita_agents.registry import short_name
from goita_env.actions import MESSAGE
from goita_env.errors import SettingError
from goita_env.information import InformationStructure
from goita_env.tiles import NAMES, NUM_SEATS, PARTNER, RELATIVE_SEATS
from goita_lab.arena.report.figures import estimate
from goita_lab.arena.report.tables import Table
from goita_lab.arena.statistics.intervals import Interval, mean_interval, over_runs
from goita_lab.arena.tournament.block import play_block
from goita_lab.arena.tournament.plan import PAIR_SEATINGS, Task
from goita_lab.signals import measures
from goita_lab.signals.listening import POLICY, ActionInformation, listen
from goita_lab.signals.measures.emergent_communication import SHUFFLES, channel_information
from goita_lab.signals.measures.information_gain import over_deals
from goita_lab.signals.plan import STANDARD, Settings, Work, in_pieces
from goita_lab.signals.playing import Play, load_policy, play
from goita_lab.work import HERE, Runner

BLOCK: Final = 500
"""Deals that are played side by side."""
HEARD: Final = 10
"""Rounds of a piece of listening."""
SHOWN: Final = 3
"""Kinds of tile that a table names."""


@dataclass(frozen=True)
class KindTold:
    """How much a message tells of the sender's tiles of one kind, in nats."""

    kind: str
    information: float
    """Mutual information of the message and the number of these tiles."""
    shuffled: float
    """Control: the same with the hands shuffled among the messages."""


@dataclass(frozen=True)
class MessageUse:
    """How an agent uses its messages."""

    agent: str
    information: InformationStructure
    rounds: int
    sent: tuple[float, ...]
    """Share of each message, message 0 (silence) first."""
    depends: Interval
    """Mutual information of the message and all that its sender sees, in nats."""
    kinds: tuple[KindTold, ...]
    """What the messages tell of each kind of tile, the most first."""
    partner: Interval
    """Nats that a message tells the partner of the sender's hand."""
    opponents: Interval | None
    """The same for the opponents; None where they do not observe it."""
    value: Interval
    """Points a round of a team that may send against the same agent muted, after costs."""


def message_uses(
    agents: Sequence[str],
    deals: int,
    heard: int,
    *,
    settings: Settings = STANDARD,
    runner: Runner = HERE,
) -> list[MessageUse]:
    """Measures how agents use their messages.

    The policy's probabilities are exact, and so are the beliefs of those who hear; means are over
    deals. In the points both teams are the agent; one of them is muted, on duplicate deals.

    Args:
        agents: policies that were trained in a game with messages.
        deals: duplicate deals for the points, and rounds for what messages depend on.
        heard: rounds in which listeners follow the messages.
        settings: seed and rules.
        runner: of the pieces of work.
    """
    agents = tuple(dict.fromkeys(agents))
    for agent in agents:
        _information(agent)
    if min(deals, heard) < 2:
        raise SettingError(f"expected two deals or more, got {deals!r} and {heard!r}")
    work = [
        Work("listen", partial(_hear, heard, settings), ActionInformation, agents, heard, HEARD),
        Work("points", partial(_play, settings), npt.NDArray[np.int64], agents, deals, BLOCK),
    ]
    arguments = settings.arguments(measure="messages", heard=heard)
    found = in_pieces(work, arguments, runner)
    uses = []
    for agent in agents:
        information = _information(agent)
        game: dict[str, Any] = {"rules": settings.rules, "information": information}
        played = play([agent], deals, seed=settings.seed, **game)
        messages = np.flatnonzero(played.action >= MESSAGE)
        many = 1 << information.bits
        chances = played.probabilities[messages, MESSAGE : MESSAGE + many].astype(np.float64)
        chances /= chances.sum(axis=1, keepdims=True)
        mean = chances.mean(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            told = np.where(chances > 0, chances * np.log(chances / mean), 0.0).sum(axis=1)
        followed = play([agent], heard, seed=settings.seed, **game)
        actions = ActionInformation.join(found["listen", agent])
        partner, opponents = (
            measures.information_gain(followed, actions, speaker=speaker)[0].told
            for speaker in (PARTNER, RELATIVE_SEATS["next"])
        )
        overheard = information.channel is not None and information.channel.audience == "all"
        points = np.concatenate(found["points", agent]) / len(PAIR_SEATINGS)
        uses.append(
            MessageUse(
                agent,
                information,
                deals,
                tuple(mean.tolist()),
                over_deals(played, messages, told),
                _kinds(played, messages, chances, settings.seed),
                partner,
                opponents if overheard else None,
                mean_interval(points),
            )
        )
    return uses


def _information(agent: str) -> InformationStructure:
    """Returns the game with messages that an agent plays, or raises a SettingError."""
    policy = load_policy(agent)
    information = getattr(policy, "information", None)
    if not isinstance(information, InformationStructure) or information.channel is None:
        raise SettingError(f"expected a policy of a game with messages, got {agent!r}")
    if information.shown is not None or not agent_plays(policy, information):
        raise SettingError(f"expected a game without shown tiles, got {information!r}")
    return information


def _play(settings: Settings, agent: str, first: int, deals: int) -> Int:
    """Returns the points of the agent against itself muted: int64 [deals], sum of all seatings."""
    task = Task(
        (agent, f"muted:base=({agent})"),
        settings.seed,
        first // BLOCK,
        first,
        deals,
        settings.rules,
        information=_information(agent),
    )
    return np.asarray(play_block(task).points.sum(axis=0), np.int64)


def _hear(heard: int, settings: Settings, agent: str, first: int, rounds: int) -> ActionInformation:
    """Listens to some of the rounds in which listeners follow the messages."""
    game: dict[str, Any] = {"rules": settings.rules, "information": _information(agent)}
    followed = play([agent], heard, seed=settings.seed, **game)
    inside = (followed.round >= first) & (followed.round < first + rounds)
    actions, _ = listen(
        followed,
        {POLICY: PolicyModel(agent)},
        deals=np.flatnonzero(inside).tolist(),
        known=False,
        where="message",
        listeners=range(NUM_SEATS),
    )
    return actions


def _kinds(played: Play, messages: Int, chances: Float, seed: int) -> tuple[KindTold, ...]:
    """Returns what messages tell of each kind of tile in the sender's hand, the most first."""
    hands = played.hands[played.deal[messages], played.seat[messages]]
    rng, found = np.random.default_rng(seed), []
    for kind, name in enumerate(NAMES):
        own = hands[:, kind]
        shuffled = [_told(rng.permutation(own), chances) for _ in range(SHUFFLES)]
        found.append(KindTold(name, _told(own, chances), float(np.mean(shuffled))))
    return tuple(sorted(found, key=lambda one: one.shuffled - one.information))


def _told(tiles: npt.NDArray[np.integer], chances: Float) -> float:
    """Returns what messages, float64 [n, M], tell of the number of tiles [n], in nats."""
    numbers, which, counts = np.unique(tiles, return_inverse=True, return_counts=True)
    mean = np.zeros((len(numbers), chances.shape[1]))
    np.add.at(mean, which, chances / counts[which, None])
    same = np.zeros(len(numbers), np.int64)  # one position, whose answer is the message
    return float(channel_information(same, counts / len(tiles), mean)[0])


def table(uses: Sequence[MessageUse]) -> Table:
    """Returns results as a table: a row an agent, then the mean over agents."""
    rows = [
        {
            "agent": short_name(use.agent),
            "not silence": f"{1 - use.sent[0]:.0%}",
            "depends on what is seen, nats": estimate(use.depends, sign="-"),
            "tells the partner, nats": estimate(use.partner, sign="-"),
            "tells opponents, nats": estimate(use.opponents, sign="-") or "not heard",
            "sending against muted, points": estimate(use.value),
        }
        for use in (*uses, *([mean_use(uses)] if len(uses) > 1 else ()))
    ]
    return Table.of("Messages", rows)


def mean_use(uses: Sequence[MessageUse]) -> MessageUse:
    """Returns the mean over runs; that of the opponents is over those runs which they hear."""

    def over(name: str) -> Interval | None:
        figures = [getattr(use, name) for use in uses]
        means = [figure.mean for figure in figures if figure is not None]
        return over_runs(means) if len(means) > 1 else None

    silence = float(np.mean([use.sent[0] for use in uses]))
    figures: dict[str, Any] = {
        name: over(name) for name in ("depends", "partner", "opponents", "value")
    }
    return replace(uses[0], agent=f"mean of {len(uses)} runs", sent=(silence,), **figures)


def told_kinds(found: Sequence[MessageUse]) -> str:
    """Returns a line an agent: the kinds of tile of which messages tell most, in nats."""
    lines = []
    for one in found:
        told = [
            f"{kind.kind} {kind.information:.3f} (shuffled {kind.shuffled:.3f})"
            for kind in one.kinds[:SHOWN]
        ]
        lines.append(f"{short_name(one.agent)}: {', '.join(told)}")
    return "\n".join(lines)
