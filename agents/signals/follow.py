"""Follows a record move by move: what a seat knew of its partner's hand, what each action told.

The belief supposes that the others play as the assumed agent does, slips included. Of a record of
that agent's own games it is what can be known. Of people it says what the agent's partner would
read into their moves; whether they meant it so is another question, and the log-probability of
their real hands beside that of the rules alone is a hint at the answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
from tabulate import tabulate

from agents.base import Float
from agents.beliefs import Assumption, HandBelief, Seat, follow
from agents.signals.contexts import KINDS
from agents.signals.listening import NAMES
from goita_env import Game
from goita_env.actions import CALL, NUM_ACTIONS, PASS, name
from goita_env.errors import RecordError, SettingError
from goita_env.hands import parse_hands
from goita_env.records import DealRecord, Record, history, kifu
from goita_env.rules import JGA, Rules
from goita_env.tiles import NUM_KINDS, NUM_SEATS
from goita_env.views import FACE_DOWN

SLIGHT: Final = 0.05
"""Expected tiles by which a kind must change for the table to say so."""


@dataclass(frozen=True)
class Step:
    """Says what a move told the seat that is followed, and what it knew afterwards."""

    move: int
    """Number of the move in the deal, from 1; questions before play and passes are moves."""
    seat: int
    """Who moved, at the table."""
    who: str
    """The same as the follower sees it: "itself", "partner", "next" or "previous"."""
    action: str
    """What was done, as records write it; a block that the seat could not see is "?"."""
    told: float
    """What the move told about the mover's hand, nats: KL of the belief after it from the belief
    before it, the first move's from the prior; 0 for the seat's own and for answers before play."""
    about_partner: float
    """What it told about the partner's hand, whoever moved, nats."""
    entropy: float
    """Of the belief about the partner's hand after the move, nats."""
    expected: Float
    """[8] Tiles of each kind that the partner is expected to have been dealt, after the move."""
    changed: Float
    """[8] By how much the move changed that."""
    log_probability: float
    """Of the partner's real hand after the move, nats."""
    rules_log_probability: float
    """The same by the rules alone: any legal action being as likely as any other."""


def follow_deal(
    deal: DealRecord,
    seat: int,
    assumed: Assumption | Mapping[Seat, Assumption],
    rules: Assumption,
) -> list[Step]:
    """Returns what each move of a deal told one seat.

    Args:
        deal: the record.
        seat: who listens, 0 to 3.
        assumed: how the others are supposed to play.
        rules: what is compared with it: ``GROUNDED``, usually.

    Raises:
        SettingError: if the seat is none.
        RecordError: if a move is illegal, or the deal was decided before play.
        UnexplainedError: if something has probability 0 under what is assumed.
    """
    if isinstance(seat, bool) or seat not in range(NUM_SEATS):
        raise SettingError(f"expected a seat 0..3, got {seat!r}")
    partner = (seat + 2) % NUM_SEATS
    hand = np.bincount(parse_hands(deal.hands)[partner], minlength=NUM_KINDS)
    steps: list[Step] = []
    before: dict[Seat, HandBelief] = {}
    pairs = zip(follow(deal, seat, assumed), follow(deal, seat, rules), strict=True)
    for number, ((game, listener), (_, grounded)) in enumerate(pairs):
        mover, action = deal.moves[number]
        now = {one: listener.posterior(one) for one in NAMES}
        if not before:
            before = {one: replace(now[one], probability=now[one].prior) for one in NAMES}
        turn = (mover - seat) % NUM_SEATS
        name_ = NAMES[turn - 1] if turn else None
        mine = now["partner"]
        expected = mine.expected()
        steps.append(
            Step(
                number + 1,
                mover,
                name_ or "itself",
                _written(game, seat, action),
                now[name_].divergence(before[name_]) if name_ and action < CALL else 0.0,
                mine.divergence(before["partner"]),
                mine.entropy(),
                expected,
                expected - before["partner"].expected(),
                mine.log_probability(hand),
                grounded.posterior("partner").log_probability(hand),
            )
        )
        before = now
    if not steps:
        raise RecordError(f"deal {deal.number}: expected plays to follow, got none")
    return steps


def read_record(path: Path, rules: Rules = JGA) -> Record:
    """Returns the record of a file: a YAML kifu (.yaml, .yml), else history strings.

    Raises:
        RecordError: if it is malformed.
        OSError: if it cannot be read.
    """
    text = path.read_text(encoding="utf-8-sig")
    if path.suffix in (".yaml", ".yml"):
        return kifu.loads(text, rules=rules, source=str(path))
    return history.loads(text, rules=rules, source=str(path))


def table(deal: DealRecord, seat: int, steps: list[Step], assumed: str) -> str:
    """Returns what each move told as a text."""
    rows = [
        [
            step.move,
            f"{step.who} ({step.seat})",
            step.action,
            f"{step.told:.2f}" if step.who != "itself" else "",
            f"{step.about_partner:.2f}",
            f"{step.entropy:.2f}",
            f"{step.log_probability:.2f}",
            f"{step.rules_log_probability:.2f}",
            _changes(step),
        ]
        for step in steps
    ]
    heads = ["move", "who", "action", "told", "of partner", "entropy", "log p", "rules", "changes"]
    last, hand = steps[-1], "".join(sorted(deal.hands[(seat + 2) % NUM_SEATS]))
    held = ", ".join(f"{n:.1f} {kind}" for n, kind in zip(last.expected, KINDS, strict=True))
    return "\n".join(
        [
            f"Deal {deal.number}, followed by seat {seat}; the others are supposed to play as "
            f"{assumed}.",
            "told: nats about the mover's hand; of partner: nats about the partner's hand; entropy "
            "and log p: of the belief about it, and of its real hand, in nats; rules: log p by the "
            "rules alone; changes: expected tiles of the partner.",
            "",
            tabulate(rows, heads, "simple", disable_numparse=True),
            "",
            f"In the end the partner was expected to have been dealt {held}; it was dealt {hand}.",
        ]
    )


def _written(game: Game, seat: int, action: int) -> str:
    """Returns the last action as the follower saw it."""
    text, view = name(action), game.view(seat)
    if action in (PASS, *range(CALL, NUM_ACTIONS)):
        return text
    hidden = view.event_block[0, view.num_plays[0] - 1] == FACE_DOWN
    return f"?{text[1]}" if hidden else text


def _changes(step: Step) -> str:
    """Returns the kinds of which more or fewer are expected now, the most changed first."""
    order = np.argsort(-np.abs(step.changed))
    some = [k for k in order.tolist() if abs(step.changed[k]) >= SLIGHT][:3]
    return ", ".join(f"{KINDS[k]} {step.changed[k]:+.1f}" for k in some)
