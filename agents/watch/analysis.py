"""Analyses recorded deals: what every decision was worth, and what it told.

Beside each other stand, for each decision, what an agent's policy would do; what its search makes
of every legal action, by playouts in worlds that the seat could not rule out; what perfect play
makes of it, which sees all hands; and what the mover's partner could infer of its hand before and
after. ``agents.watch.judging`` says what of it is an error.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from hashlib import blake2b

import numpy as np

from agents.grading.grades import phase_of
from agents.solver.engine import Solver
from agents.watch.analyst import Analyst, Listeners, heard
from agents.watch.decisions import BEFORE_PLAY, Decision, Option, Settings
from goita_env import Game, actions
from goita_env.errors import RecordError
from goita_env.records import DealRecord
from goita_env.tiles import NUM_TILES


def analyse_deal(deal: DealRecord, settings: Settings) -> tuple[Decision, ...]:
    """Analyses every recorded decision of a deal, as far as its moves are legal.

    Raises:
        AgentError: if the agent cannot analyse.
    """
    analyst, solver = Analyst(settings.agent, settings.tremble), Solver()
    ears: Listeners | None = None
    found = []
    for number, seat, action, game in _moments(deal):
        decision = _decide(analyst, solver, game, number, seat, action, settings, key_of(deal))
        if action >= actions.CALL:
            game.play(action)
            found.append(decision)
            continue
        ears = ears or analyst.listen(game)
        before, hand = ears.belief(game, seat), game.dealt[seat]
        game.play(action)
        found.append(replace(decision, heard=heard(before, ears.belief(game, seat), hand)))
    return tuple(found)


def key_of(deal: DealRecord) -> str:
    """Returns a text that tells deals apart: those that have the same one are analysed alike."""
    told = (deal.rules.to_keys(), deal.hands, deal.dealer, deal.scores, deal.moves)
    return blake2b(repr((*told, deal.second_king_first)).encode(), digest_size=12).hexdigest()


def _moments(deal: DealRecord) -> Iterator[tuple[int, int, int, Game]]:
    """Yields number, seat and action of each recorded move, and the game, always the same, before.

    The move is to be played by whoever is handed it. Answers before play that the record does not
    hold, and were supposed, are played in between.
    """
    last: deque[Game] = deque(maxlen=1)
    with suppress(RecordError):  # the page says what is wrong
        last.extend(deal.replay())
    moves = last[0].deals[0].moves if last else []
    game = Game(deal.rules, hands=deal.hands, dealer=deal.dealer, scores=deal.scores, seed=0)
    number = 0
    for move in moves:
        if number < len(deal.moves) and move == deal.moves[number]:
            number += 1
            yield number, *move, game
        else:
            game.play(move[1])


def _decide(
    analyst: Analyst,
    solver: Solver,
    game: Game,
    number: int,
    seat: int,
    action: int,
    settings: Settings,
    key: str,
) -> Decision:
    """Returns a decision without what it told; the game stands right before it."""
    view = game.view(seat)
    legal, asked = view.legal(), action >= actions.CALL
    worth = {} if asked else solver.values(game)
    decision = Decision(
        move=number,
        seat=seat,
        action=actions.name(action),
        phase=BEFORE_PLAY if asked else phase_of(NUM_TILES - int(view.hand_sizes.sum())),
        options=(),
        best=actions.name(action),
        loss=0.0,
        loss_error=0.0,
        value=analyst.value(view),
        open_value=max(worth.values(), default=None),
        open_loss=max(worth.values(), default=0) - worth.get(action, 0),
        heard=None,
    )
    if legal.sum() == 1:
        return decision
    seed = decision_seed(settings.seed, key, number)
    prices = analyst.prices(view, seat, legal, action, worlds=settings.worlds, seed=seed)
    chances = analyst.probabilities(view, legal)
    rows = zip(prices.action, prices.points, prices.error, prices.worlds, strict=True)
    options = tuple(
        Option(
            action=actions.name(one),
            probability=float(chances[one]),
            points=float(points),
            error=float(error),
            worlds=int(worlds),
            open=worth.get(int(one)),
        )
        for one, points, error, worlds in rows
    )
    best = actions.name(prices.best)
    return replace(
        decision, options=options, best=best, loss=prices.loss, loss_error=prices.loss_error
    )


def decision_seed(seed: int, key: str, move: int) -> int:
    """Returns the seed of a decision's worlds."""
    digest = blake2b(f"{seed} {key} {move}".encode(), digest_size=8).digest()
    return int(np.frombuffer(digest, "<u8")[0])
