"""Makes the questions of an exam.

Players with known policies play rounds and matches. At a decision, worlds are drawn from the exact
posterior of the acting seat, and each action is played out in all of these worlds. The other seats
continue with the policies that played there, the acting seat with the champion's. The best action
is chosen in one set of worlds, and its points are computed in another set, because the worlds in
which an action was chosen favour it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any, Final

import numpy as np

from goita_agents.base import Float, Int, Policy
from goita_agents.beliefs import Listener
from goita_agents.models import LEGAL_MODEL, PolicyModel
from goita_agents.search.action_values import ActionValues, evaluate_actions
from goita_agents.search.sampling import SampledWorlds, TypedWorlds
from goita_env import View
from goita_env.actions import NUM_ACTIONS
from goita_env.rounds import Episode
from goita_env.tiles import NUM_KINDS, NUM_SEATS, RELATIVE_SEATS
from goita_lab.exam.questions import (
    BEST_ACTION_MIN_Z,
    FORMAT,
    STAKE_BOUNDS,
    STORED_MODELS,
    Question,
    Questions,
    clear_lead,
)
from goita_lab.phases import phases_of
from goita_lab.signals.playing import Play, load_policy, play
from goita_lab.work import HERE, Runner

TABLES: Final = (
    ("champion", "heuristic"),
    ("people", "champion"),
    ("heuristic", "people"),
    ("champion", "population:selfplay-0"),
    ("population:entropy-0", "heuristic"),
    ("population:offbelief-0", "population:otherplay-0"),
    ("population:beside-heuristic-0", "people"),
    ("population:selfplay-1", "population:preferring-0"),
)
"""The two teams of each table."""
ACTING_AGENT: Final = "champion"
"""The agent that plays the acting seat in playouts."""
OTHER_ACTING_AGENT: Final = "heuristic"
"""The agent that plays the acting seat in the playouts of a control."""
ROUNDS: Final[dict[Episode, int]] = {"round": 16, "match": 4}
"""Rounds, or matches, of a piece of work; each deal is played twice, with the teams exchanged."""
CANDIDATES_PER_QUESTION: Final = 1.5
"""Positions with a clear best action for each position of the exam, which draws among them."""
FIRST_WORLDS: Final = 256
MOST_WORLDS: Final = 2048
"""Worlds of the first search for the best action, and of the largest one."""
FRESH_WORLDS: Final = 1024
"""Worlds in which the points are computed, and worlds that choose the best action of a control."""


@dataclass(frozen=True)
class Piece:
    """Rounds or matches of one table, from which positions are drawn."""

    table: tuple[str, str]
    episode: Episode
    number: int
    seed: int

    def agents(self) -> tuple[str, ...]:
        """Returns the texts of the agents that the questions depend on."""
        return tuple(dict.fromkeys((*self.table, ACTING_AGENT, OTHER_ACTING_AGENT, *STORED_MODELS)))


def make(
    count: int, seed: int, runner: Runner = HERE, tables: Sequence[tuple[str, str]] = TABLES
) -> Questions:
    """Makes an exam.

    Args:
        count: positions; pieces of work are added until there are enough positions.
        seed: of deals, worlds and playouts.
        runner: of the pieces of work.
        tables: the two teams of each table.
    """
    constants = {
        "rounds": ROUNDS,
        "worlds": [FIRST_WORLDS, MOST_WORLDS, FRESH_WORLDS],
        "z": BEST_ACTION_MIN_Z,
        "players": [ACTING_AGENT, OTHER_ACTING_AGENT, *STORED_MODELS],
    }
    arguments = {"seed": seed, "format": FORMAT, "tables": tables, **constants}
    parts: list[Questions] = []
    with runner.opened(arguments) as opened:
        while sum(map(len, parts)) < CANDIDATES_PER_QUESTION * count:
            numbered = enumerate(product(tables, ROUNDS), len(parts))
            pieces = {
                f"{number}": Piece(table, episode, number, seed)
                for number, (table, episode) in numbered
            }
            questions = opened.run(
                piece_questions, pieces, lambda _: Questions, "pieces of an exam", Piece.agents
            )
            parts += questions.values()
    return draw_evenly(Questions.join(parts).check(), count, seed)


def draw_evenly(questions: Questions, count: int, seed: int) -> Questions:
    """Draws positions, as equally over phases and stakes as their numbers allow."""
    # One index for each pair of a phase and a stake.
    cell = questions.phase() * (len(STAKE_BOUNDS) + 1) + np.digitize(
        questions.stakes(), STAKE_BOUNDS
    )
    order = np.random.default_rng(seed).permutation(len(questions))
    # Within a random order, the first position of every cell comes before all second positions.
    rank = np.zeros(len(order), np.int64)
    for index in np.unique(cell):
        in_cell = cell[order] == index
        rank[in_cell] = np.arange(in_cell.sum())
    drawn = order[np.argsort(rank, kind="stable")[:count]]
    return questions.select(np.sort(drawn))


def piece_questions(piece: Piece) -> Questions:
    """Plays a piece's rounds, and values a decision of each deal in one of its seatings."""
    names, rounds = [*piece.table], ROUNDS[piece.episode]
    first = max(ROUNDS.values()) * piece.number  # no two pieces have a deal in common
    played = play(names, rounds, seed=piece.seed, first=first, episode=piece.episode)
    rng = np.random.default_rng([piece.seed, piece.number])
    decisions = draw_decisions(played, rng)
    questions: list[Question] = []
    for decision in decisions.tolist():
        seat, seating = int(played.seat[decision]), played.seating[played.deal[decision]]
        players = tuple(names[seating[(seat + turn) % NUM_SEATS]] for turn in range(NUM_SEATS))
        match = int(played.round[played.deal[decision]])
        question = value_position(played.view(np.array([decision])), players, rng, match)
        if question is not None:
            questions.append(question)
    return Questions.stack(questions, valued=len(decisions))


def draw_decisions(played: Play, rng: np.random.Generator) -> Int:
    """Draws a decision with a choice from each deal, after drawing its phase.

    Of the two rounds with the same deal only one is used, alternately the first and the second.
    """
    phase, drawn = phases_of(played.view()), list[int]()
    for deal, round_index in enumerate(played.round.tolist()):
        # Rounds 2 k and 2 k + 1 have the same deal: the first is used if k is even.
        k, is_second = divmod(round_index, 2)
        if is_second != k % 2:
            continue
        (choices,) = np.nonzero(played.choice & (played.deal == deal))
        if len(choices):
            drawn_phase = rng.choice(np.unique(phase[choices]))
            drawn.append(rng.choice(choices[phase[choices] == drawn_phase]))
    return np.array(drawn, np.int64)


def value_position(
    view: View, players: tuple[str, ...], rng: np.random.Generator, match: int = 0
) -> Question | None:
    """Values a position; returns None where no action is clearly best (``clear_lead``).

    Args:
        view: one position of the acting seat.
        players: the agents' texts, from the acting seat on.
        rng: draws worlds and seeds of playouts.
        match: the round or match that the position is from.
    """
    listener = Listener(view, dict(zip(RELATIVE_SEATS, map(model, players[1:]), strict=True)))
    rules_listener = Listener(view, LEGAL_MODEL)
    deals, count = listener.deals(), FIRST_WORLDS
    # The search takes twice as many worlds until an action leads clearly.
    while True:
        values = play_out(view, (ACTING_AGENT, *players[1:]), deals.sample(count, rng), rng)
        best = best_action(values)
        choosing_lead, choosing_error = leads(values, best)
        if clear_lead(choosing_lead[None], choosing_error[None])[0]:
            break
        count *= 2
        if count > MOST_WORLDS:
            return None

    def chosen(listener: Listener, players: tuple[str, ...]) -> int:
        worlds = listener.deals().sample(FRESH_WORLDS, rng)
        return best_action(play_out(view, players, worlds, rng))

    fresh_worlds = deals.sample(FRESH_WORLDS, rng)
    fresh = play_out(view, (ACTING_AGENT, *players[1:]), fresh_worlds, rng)
    other_players = (OTHER_ACTING_AGENT, *players[1:])
    other = play_out(view, other_players, fresh_worlds, rng)
    lead, lead_error = leads(fresh, best)
    return Question(
        words=view.words[0],
        points=by_action(fresh, fresh.points),
        error=by_action(fresh, fresh.error),
        best=best,
        lead=lead,
        lead_error=lead_error,
        choosing_lead=choosing_lead,
        choosing_lead_error=choosing_error,
        best_by_rules=chosen(rules_listener, NUM_SEATS * (ACTING_AGENT,)),
        other_points=by_action(other, other.points),
        other_best=chosen(listener, other_players),
        exact=held_kinds(listener, view),
        facts=held_kinds(rules_listener, view),
        modelled=np.array([beliefs_of(PolicyModel(name), view) for name in STORED_MODELS]),
        match=match,
        players=players,
    )


def beliefs_of(model: PolicyModel, view: View) -> Float:
    """Returns ``held_kinds`` for a listener that models all other seats by one policy: [3, 8]."""
    return held_kinds(Listener(view, model), view)


def held_kinds(listener: Listener, view: View) -> Float:
    """Returns the probability that a seat has a tile of each kind that is not face up: [3, 8]."""
    probability = np.zeros((len(RELATIVE_SEATS), NUM_KINDS))
    for name, seat in RELATIVE_SEATS.items():
        belief = listener.posterior(name)
        probability[seat - 1] = belief.probability @ (belief.hands > view.face_up[0, seat])
    return probability


def play_out(view: View, players: tuple[str, ...], worlds: Any, rng: Any) -> ActionValues:
    """Plays all legal actions out in the same worlds; ``players``: from the acting seat on."""
    legal = view.legal()
    return evaluate_actions(
        view,
        legal,
        [*map(policy, players)],
        SampledWorlds.join([TypedWorlds.alike(worlds)]),
        prior_action=legal.argmax(axis=1),
        seeds=rng.integers(0, 1 << 63, 1).astype(np.uint64),
        allocation="uniform",
    )


def best_action(values: ActionValues) -> int:
    """Returns the action with the most points."""
    return int(values.action[values.points.argmax()])


def by_action(values: ActionValues, numbers: Float) -> Float:
    """Returns a number for each action, [69]; NaN where it is illegal."""
    table = np.full(NUM_ACTIONS, np.nan)
    table[values.action] = numbers
    return table


def leads(values: ActionValues, best: int) -> tuple[Float, Float]:
    """Returns by how many points an action leads each action, and the standard errors: [69] each.

    Actions that tie in each world, the action itself among them, have lead and error 0.
    """
    pairs = [values.lead(np.array([best]), np.array([other])) for other in values.action]
    lead, error = np.array(pairs).reshape(-1, 2).T
    return by_action(values, lead), by_action(values, error)


@cache
def policy(text: str) -> Policy:
    return load_policy(text)


@cache
def model(text: str) -> PolicyModel:
    """Returns the true policy of a player, as a model."""
    return PolicyModel(policy(text), epsilon=0)
