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
from goita_lab.signals.plan import DEFAULT_SETTINGS, Settings, Work, in_pieces
from goita_lab.signals.playing import Play, load_policy, play
from goita_lab.work import HERE, Runner

MESSAGE_BLOCK_DEALS: Final = 500
"""Deals that are played side by side."""
LISTENED_ROUNDS: Final = 10
"""Rounds of a piece of listening."""
NAMED_KINDS: Final = 3
"""Kinds of tile that a line names."""


@dataclass(frozen=True)
class KindTold:
    """How much a message reveals of the sender's tiles of one kind, in nats."""

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
    """Mutual information of the message and its sender's view, in nats."""
    kinds: tuple[KindTold, ...]
    """What the messages reveal of each kind of tile, the largest first."""
    partner: Interval
    """Nats that a message reveals to the partner about the sender's hand."""
    opponents: Interval | None
    """The same for the opponents; None where they do not observe it."""
    value: Interval
    """Points a round of a team that may send messages against the same agent muted, after costs."""


@dataclass(frozen=True)
class MessageRounds:
    """The rounds of an agent that sends messages, by purpose."""

    agent: str
    sent: Play
    """Rounds for what messages depend on."""
    followed: Play
    """Rounds in which listeners follow the messages."""
    heard: ActionInformation
    """What messages revealed to these listeners."""
    points: Int
    """[deals] Points of the agent against itself muted, sum of all seatings."""


def message_uses(
    agents: Sequence[str],
    deals: int,
    heard: int,
    *,
    settings: Settings = DEFAULT_SETTINGS,
    runner: Runner = HERE,
) -> list[MessageUse]:
    """Measures how agents use their messages.

    The policy's probabilities and the listeners' beliefs are exact; means are over deals. For the
    points the agent plays in both teams on duplicate deals, and one team is muted.

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
    listen_to = partial(_hear, heard, settings)
    work = [
        Work("listen", listen_to, ActionInformation, agents, heard, step=LISTENED_ROUNDS),
        Work(
            "points",
            partial(_play, settings),
            npt.NDArray[np.int64],
            agents,
            deals,
            step=MESSAGE_BLOCK_DEALS,
        ),
    ]
    pieces = in_pieces(work, settings.arguments(measure="messages", heard=heard), runner)
    return [
        measure_messages(
            MessageRounds(
                agent=agent,
                sent=_rounds(agent, deals, settings),
                followed=_rounds(agent, heard, settings),
                heard=ActionInformation.join(pieces["listen"][agent]),
                points=np.concatenate(pieces["points"][agent]),
            )
        )
        for agent in agents
    ]


def measure_messages(rounds: MessageRounds) -> MessageUse:
    """Measures how an agent uses its messages, in its rounds."""
    sent, information = rounds.sent, rounds.sent.information
    messages = np.flatnonzero(sent.action >= MESSAGE)
    # [messages, M] Probabilities of the M messages, whose actions begin at MESSAGE. They were kept
    # as float32, so their sums are only near 1.
    end = MESSAGE + (1 << information.bits)
    chances = sent.probabilities[messages, MESSAGE:end].astype(np.float64)
    chances /= chances.sum(axis=1, keepdims=True)
    mean = chances.mean(axis=0)
    # The KL of a view's distribution from the mean one; its mean over views is the information.
    with np.errstate(divide="ignore", invalid="ignore"):
        divergence = np.where(chances > 0, chances * np.log(chances / mean), 0.0).sum(axis=1)
    partner, opponents = (
        measures.information_gain(rounds.followed, rounds.heard, speaker=speaker)[0].revealed
        for speaker in (PARTNER, RELATIVE_SEATS["next"])
    )
    overheard = information.channel is not None and information.channel.audience == "all"
    return MessageUse(
        agent=rounds.agent,
        information=information,
        rounds=len(np.unique(sent.round)),
        sent=tuple(mean.tolist()),
        depends=over_deals(sent, messages, divergence),
        kinds=_kinds(sent, messages, chances),
        partner=partner,
        opponents=opponents if overheard else None,
        value=mean_interval(rounds.points / len(PAIR_SEATINGS)),
    )


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
        agents=(agent, f"muted:base=({agent})"),
        seed=settings.seed,
        block=first // MESSAGE_BLOCK_DEALS,
        first=first,
        deals=deals,
        rules=settings.rules,
        information=_information(agent),
    )
    return np.asarray(play_block(task).points.sum(axis=0), np.int64)


def _rounds(agent: str, rounds: int, settings: Settings) -> Play:
    information = _information(agent)
    return play([agent], rounds, seed=settings.seed, rules=settings.rules, information=information)


def _hear(heard: int, settings: Settings, agent: str, first: int, rounds: int) -> ActionInformation:
    """Listens to ``rounds`` of the ``heard`` rounds, from round ``first`` on.

    All rounds are played in each piece, so that rows have the same indices in all pieces.
    """
    followed = _rounds(agent, heard, settings)
    inside = (followed.round >= first) & (followed.round < first + rounds)
    actions, _ = listen(
        followed,
        {POLICY: PolicyModel(agent)},
        deals=np.flatnonzero(inside).tolist(),
        knowledge=False,
        where="message",
        listeners=range(NUM_SEATS),
    )
    return actions


def _kinds(played: Play, messages: Int, chances: Float) -> tuple[KindTold, ...]:
    """Returns what messages reveal of each kind of tile in the sender's hand, the largest first.

    ``messages`` [n] are decisions of the play, ``chances`` [n, M] the probabilities of M messages.
    """
    hands = played.hands[played.deal[messages], played.seat[messages]]
    rng, kinds = np.random.default_rng(played.seed), []
    for kind, name in enumerate(NAMES):
        tiles = hands[:, kind]
        shuffled = [_tile_information(rng.permutation(tiles), chances) for _ in range(SHUFFLES)]
        information = _tile_information(tiles, chances)
        kinds.append(KindTold(name, information, float(np.mean(shuffled))))
    return tuple(sorted(kinds, key=lambda kind: kind.shuffled - kind.information))


def _tile_information(tiles: npt.NDArray[np.integer], chances: Float) -> float:
    """Returns the mutual information of the number of tiles [n] and the message, in nats.

    ``chances`` [n, M] are the probabilities of the M messages.
    """
    counts, group, sizes = np.unique(tiles, return_inverse=True, return_counts=True)
    mean = np.zeros((len(counts), chances.shape[1]))
    np.add.at(mean, group, chances / sizes[group, None])  # mean distribution by number of tiles
    # The number of tiles is the input of a channel in one position, and the message is its output.
    position = np.zeros(len(counts), np.int64)
    return float(channel_information(position, sizes / len(tiles), mean)[0])


def table(uses: Sequence[MessageUse]) -> Table:
    """Returns results as a table: a row an agent, then the mean over agents."""
    rows = [_row(use, "not heard") for use in uses]
    if len(uses) > 1:
        rows.append(_row(mean_use(uses), ""))
    return Table.of("Messages", rows)


def _row(use: MessageUse, unheard: str) -> dict[str, str]:
    return {
        "agent": short_name(use.agent),
        "not silence": f"{1 - use.sent[0]:.0%}",
        "depends on what is seen, nats": estimate(use.depends, sign="-"),
        "revealed to the partner, nats": estimate(use.partner, sign="-"),
        "revealed to opponents, nats": estimate(use.opponents, sign="-") or unheard,
        "sending against muted, points": estimate(use.value),
    }


def mean_use(uses: Sequence[MessageUse]) -> MessageUse:
    """Returns the mean over runs; a figure that not all runs have is None."""
    figures: dict[str, Any] = {}
    for name in ("depends", "partner", "opponents", "value"):
        means = [interval.mean for use in uses if (interval := getattr(use, name)) is not None]
        figures[name] = over_runs(means) if len(means) == len(uses) else None
    silence = float(np.mean([use.sent[0] for use in uses]))
    return replace(uses[0], agent=f"mean of {len(uses)} runs", sent=(silence,), **figures)


def told_kinds(uses: Sequence[MessageUse]) -> str:
    """Returns a line an agent: the kinds of tile that messages reveal most of, in nats."""
    lines = []
    for use in uses:
        kinds = [
            f"{kind.kind} {kind.information:.3f} (shuffled {kind.shuffled:.3f})"
            for kind in use.kinds[:NAMED_KINDS]
        ]
        lines.append(f"{short_name(use.agent)}: {', '.join(kinds)}")
    return "\n".join(lines)
