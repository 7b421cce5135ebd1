"""The bot that solves sampled worlds: what it decides, on what, and where that goes wrong."""

import importlib.util
import pickle
import sys
from pathlib import Path

import numpy as np
import pytest

from brute_force import BruteForce, late_positions
from deals import RULE_SETS, complete
from goita_agents import AgentError, load_agent
from goita_agents.search import solver_bot as solver_agent
from goita_agents.search.solver_bot import SolverAgent
from goita_env import Game, actions
from goita_env.views import View, acting_view, seat_view
from goita_env.worlds import Worlds, determinize, enumerate_worlds
from goita_lab.arena.tournament.arena import play_pair
from raising import refuses
from solver_positions import states

ROOT = Path(__file__).resolve().parents[3]
EXAMPLE = ROOT / "examples" / "open_hands.py"


def example():
    """Returns the example of the pitfall as a module."""
    spec = importlib.util.spec_from_file_location("open_hands", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def act(agent, view, seed=0):
    return agent.act(view, view.legal(), np.random.default_rng(seed))


def batch(count, rules="jga", seed=3):
    """Returns the views of acting seats in the middle of random rounds, all with a choice."""
    found, rng = [], np.random.default_rng(seed)
    while len(found) < count:
        game = Game(rules, seed=int(rng.integers(2**32)))
        for _ in range(int(rng.integers(0, 16))):
            if not game.done:
                game.play(int(rng.choice(game.legal_actions())))
        if not game.done and len(game.legal_actions()) > 1:
            found.append(acting_view(game._state).words)
    return View(np.concatenate(found), rules=rules)


@pytest.mark.parametrize("rules", RULE_SETS)
def test_where_all_is_known_it_plays_a_best_action(rules, monkeypatch):
    """The true hands are shown to it as the only world."""
    agent = SolverAgent(worlds=4, budget=7_000_000)
    lates = list(late_positions(rules, 12, 5, range(6, 15)))
    for late, position in zip(lates, states(lates), strict=True):
        state = position._state
        seat = int(state.seat[0])
        codes = [state.select(np.array([0])).hand_counts()[0, (seat + n) % 4] for n in range(4)]
        view = acting_view(state)
        if view.legal().sum() == 1:
            continue
        down = np.full((4, 4), -1, np.int8)
        for n in range(4):
            own = seat_view(state, (seat + n) % 4)
            down[n] = np.where(own.face_down[0, 0], own.blocks[0, 0], -1)
        truth = Worlds(np.array([codes]), down[None], np.ones(1), view.face_up)
        monkeypatch.setattr(solver_agent, "enumerate_worlds", lambda *_, truth=truth: truth)
        values = BruteForce(rules).values(late.position)
        assert values[int(act(agent, view)[0])] == max(values.values())


def test_it_plays_the_best_average_over_all_worlds_where_they_are_few():
    agent, checked = SolverAgent(worlds=200, budget=70_000_000), 0
    for late in late_positions("jga", 400, 7, range(8, 11)):
        (position,) = states([late])
        view = acting_view(position._state)
        worlds = enumerate_worlds(view, 200)
        if worlds is None or view.legal().sum() == 1:
            continue
        games, total = determinize(view, worlds), {}
        for n in range(len(worlds)):
            solution = solver_agent.Solver().solve(games[[n]])
            for action, points in solution.values.items():
                total[action] = total.get(action, 0) + worlds.weight[n] * points
        chosen = int(act(agent, view)[0])
        assert total[chosen] == pytest.approx(max(total.values()), abs=1e-5)
        checked += 1
        if checked == 3:
            return
    raise AssertionError(checked)


def test_a_row_is_answered_the_same_alone_and_in_a_batch():
    view, agent = batch(12), SolverAgent(worlds=6, budget=21_000)
    together = act(agent, view)
    seeds = np.random.default_rng(0).integers(2**63, size=len(view))

    class Fixed:
        """Returns one number that was drawn for the batch."""

        def __init__(self, seed):
            self.seed = seed

        def integers(self, *_, size):
            return np.array([self.seed])

    legal = view.legal()
    alone = [
        int(agent.act(view[n : n + 1], legal[n : n + 1], Fixed(seeds[n]))[0])
        for n in range(len(view))
    ]
    assert together.tolist() == alone
    assert act(pickle.loads(pickle.dumps(agent)), view).tolist() == alone


def test_questions_before_play_are_answered_well():
    game = Game(hands=complete("11111111", "", "", ""), dealer=0)
    assert act(SolverAgent(worlds=8, budget=35_000), game.view(0))[0] == actions.CALL


@pytest.mark.slow
def test_it_plays_rounds_of_all_rules_and_beats_greedy():
    for rules in RULE_SETS:
        result = play_pair("solver:worlds=2,budget=3500", "random", 2, seed=1, rules=rules)
        assert result.deals == 2
    result = play_pair("solver:worlds=6,budget=14000", "greedy", 40, seed=5)
    assert result.points_per_round > 2
    for options in ("worlds=0", "budget=0", "budget=nan", "ms=5"):
        refuses(AgentError, r"expected .*got ", load_agent, f"solver:{options}")


@pytest.mark.pages
def test_the_example_prints_what_its_page_shows(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["open_hands.py"])
    example().main()
    told = capsys.readouterr().out
    table = told[told.index("Seat 1 acts") :].rstrip()
    assert table in (ROOT / "docs" / "search_agents.md").read_text(encoding="utf-8")
