"""Follows a record move by move: what each move tells one seat about the hidden hands.

The belief takes the others for the model's agent. Of a record of that agent's own games it is what
can be known. Of people it says what the agent's partner would read into their moves; compare the
log-probability of their real hands with that under the uniform model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from goita_agents.base import AgentError, Float
from goita_agents.beliefs import UNIFORM_MODEL, HandBelief, RelativeSeat, follow
from goita_agents.models import EPSILON
from goita_env import Game
from goita_env.actions import CALL, NUM_ACTIONS, PASS, name
from goita_env.errors import RecordError, SettingError
from goita_env.hands import parse_hands
from goita_env.records import DealRecord
from goita_env.tiles import NAMES, NUM_KINDS, NUM_SEATS
from goita_env.views import FACE_DOWN
from goita_lab.arena.report.tables import Table
from goita_lab.arena.report.to_terminal import draw
from goita_lab.signals.listening import SEATS, ListenerModel

SLIGHT: Final = 0.05
"""Expected tiles by which a kind must change to be listed."""


@dataclass(frozen=True)
class Step:
    """What a move told the listener, and what it knew afterwards."""

    move: int
    """From 1; pre-play decisions and passes count."""
    seat: int
    """Seat that moved."""
    who: str
    """The same as the listener sees it: "itself", "partner", "next" or "previous"."""
    action: str
    """The action as records write it; a block that the listener could not see is "?"."""
    told: float
    """KL of the belief about the mover's hand after the move from that before it (at first: the
    prior), nats; 0 for the listener's own moves and for pre-play decisions."""
    about_partner: float
    """Information about the partner's hand, nats."""
    entropy: float
    """Of the belief about the partner's hand after the move, nats."""
    expected: Float
    """[8] Expected tiles of each kind dealt to the partner, after the move."""
    changed: Float
    """[8] Change of ``expected`` by the move."""
    log_probability: float
    """Of the partner's real hand after the move, nats."""
    uniform_log_probability: float
    """The same under the uniform model."""


def split_epsilon(text: str) -> tuple[str, float]:
    """Returns an agent's text and the epsilon that "epsilon=E" at its end names, else the usual."""
    agent, _, epsilon = text.rpartition("epsilon=")
    if not agent.endswith((",", ":")):
        return text, EPSILON
    try:
        return agent[:-1], float(epsilon)
    except ValueError as error:
        raise AgentError(f"expected an epsilon from 0 to 1, got {epsilon!r}") from error


def follow_deal(deal: DealRecord, seat: int, model: ListenerModel) -> list[Step]:
    """Returns what each move of a deal told one seat.

    Raises:
        SettingError: if the seat is none.
        RecordError: if a move is illegal, or the deal was decided before play.
        UnexplainedError: if something has probability 0 under the model.
    """
    if isinstance(seat, bool) or seat not in range(NUM_SEATS):
        raise SettingError(f"expected a seat 0..3, got {seat!r}")
    partner = (seat + 2) % NUM_SEATS
    hand = np.bincount(parse_hands(deal.hands, deal.rules.deck)[partner], minlength=NUM_KINDS)
    steps: list[Step] = []
    before: Mapping[RelativeSeat, HandBelief] = {}
    pairs = zip(follow(deal, seat, model), follow(deal, seat, UNIFORM_MODEL), strict=True)
    for number, ((game, listener), (_, uniform)) in enumerate(pairs):
        mover, action = deal.moves[number]
        now = {one: listener.posterior(one) for one in SEATS}
        if not before:
            before = {one: replace(now[one], probability=now[one].prior) for one in SEATS}
        turn = (mover - seat) % NUM_SEATS
        who = SEATS[turn - 1] if turn else None
        mine = now["partner"]
        steps.append(
            Step(
                number + 1,
                mover,
                who or "itself",
                _written(game, seat, action),
                now[who].divergence(before[who]) if who and action < CALL else 0.0,
                mine.divergence(before["partner"]),
                mine.entropy(),
                mine.expected(),
                mine.expected() - before["partner"].expected(),
                mine.log_probability(hand),
                uniform.posterior("partner").log_probability(hand),
            )
        )
        before = now
    if not steps:
        raise RecordError(f"deal {deal.number}: expected plays to follow, got none")
    return steps


def text(deal: DealRecord, seat: int, steps: list[Step], model: str) -> str:
    """Returns the steps as a table with what its columns are; ``model``: its name."""
    rows = [
        (
            str(step.move),
            f"{step.who} ({step.seat})",
            step.action,
            f"{step.told:.2f}" if step.who != "itself" else "",
            f"{step.about_partner:.2f}",
            f"{step.entropy:.2f}",
            f"{step.log_probability:.2f}",
            f"{step.uniform_log_probability:.2f}",
            _changes(step),
        )
        for step in steps
    ]
    heads = ("move", "who", "action", "told", "of partner", "entropy", "log p", "uniform")
    title = f"Deal {deal.number}, seat {seat} listens; model of the others: {model}"
    last, hand = steps[-1], "".join(sorted(deal.hands[(seat + 2) % NUM_SEATS]))
    held = ", ".join(f"{n:.1f} {kind}" for n, kind in zip(last.expected, NAMES, strict=True))
    return "\n".join(
        [
            draw(Table(title, (*heads, "changes"), tuple(rows), (1,), notes=(8,))),
            "",
            "told: nats about the mover's hand; of partner: nats about the partner's hand; entropy "
            "and log p: of the belief about it, and of its real hand, in nats; uniform: log p "
            "under the uniform model; changes: expected tiles of the partner.",
            "",
            f"At the end the partner was expected to have been dealt {held}; it was dealt {hand}.",
        ]
    )


def _written(game: Game, seat: int, action: int) -> str:
    """Returns the last action as the listener saw it."""
    text, view = name(action), game.view(seat)
    if action in (PASS, *range(CALL, NUM_ACTIONS)):
        return text
    hidden = view.event_block[0, view.num_plays[0] - 1] == FACE_DOWN
    return f"?{text[1]}" if hidden else text


def _changes(step: Step) -> str:
    order = np.argsort(-np.abs(step.changed))
    some = [k for k in order.tolist() if abs(step.changed[k]) >= SLIGHT][:3]
    return ", ".join(f"{NAMES[k]} {step.changed[k]:+.1f}" for k in some)
