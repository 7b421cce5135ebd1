"""No leak through a bot: redraw what its seat cannot know, and every bot acts the same.

A bot is told of the deal and asked at each decision of its seat, as the arena would do it, once in
either of two worlds that its seat cannot tell apart: with the same random numbers it must answer
the same, its memory included.
"""

import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from deals import RULE_SETS, digits
from goita_agents import load_agent
from goita_agents.base import StatefulAgent, close
from goita_agents.registry import entry_points_by_name
from goita_env import Game
from goita_env.views import View
from goita_env.views.observation import TABLE_ASKED_CALL, TABLE_ASKED_CHOICE, TABLE_WORD
from network_files import encoded
from redrawn_worlds import World, random_world, redraw

EXAMPLE = Path(__file__).parents[2] / "examples" / "bot_python.py"


@cache
def worlds(rules: str, pairs: int) -> list[tuple[World, World, int]]:
    """Returns pairs of worlds, the second redrawn, and the seat that cannot tell them apart."""
    rng, found = np.random.default_rng(8), []
    while len(found) < pairs:
        world, viewer = random_world(rules, rng), int(rng.integers(4))
        other = redraw(world, viewer, rng)
        if other is not None and any(seat == viewer for seat, _ in world.moves):
            found.append((world, other, viewer))
    return found


def answers(agent, world: World, viewer: int, number: int) -> list[int]:
    """Asks an agent at each decision of a seat, and plays on as the world's moves say."""
    game = Game(world.rules, hands=digits(world.hands), dealer=world.dealer, scores=world.scores)
    numbers, given = np.array([4 * number + viewer]), []

    def view() -> View:
        return View(game.view(viewer).words, numbers, world.rules)

    if isinstance(agent, StatefulAgent):
        first = view()
        first.words[:, TABLE_WORD] &= ~np.uint64(1 << TABLE_ASKED_CALL | 1 << TABLE_ASKED_CHOICE)
        agent.begin(numbers, np.array([viewer]), first)
    for seat, action in world.moves:
        legal = np.zeros((1, 69), bool)
        legal[0, game.legal_actions()] = True
        if seat == viewer and legal.sum() > 1:
            rng = np.random.default_rng(len(given))
            given.append(int(agent.act(view(), legal, rng)[0]))
        game.play(action)
    return given


class RemembersHand:
    """Sees nothing but views, and remembers the first one of each game."""

    name = "remembering"

    def begin(self, games, seats, view):
        self.first = view.hand[0].copy()

    def end(self, games, results, hands):
        pass

    def act(self, view, legal, rng):
        return np.flatnonzero(legal[0])[[int(self.first @ range(8)) % legal[0].sum()]]


class Peeping(RemembersHand):
    """Finds a way to the dealt hands: what the test is there to catch."""

    def begin(self, games, seats, view):
        self.first = self.peek


@pytest.fixture(params=[*entry_points_by_name(), "a bot with a memory"])
def agent(request, tmp_path):
    """Builds every agent of the registry in turn."""
    if request.param == "a bot with a memory":
        yield RemembersHand()
        return
    network = tmp_path / "network.safetensors"
    network.write_bytes(encoded())
    argument = {
        "file": f":{network}",
        "exec": f":[ms=20000]{sys.executable} {EXAMPLE}",
        "rollout": ":worlds=2",
        "solver": ":worlds=4,budget=56000",
        "best_response": ":to=greedy,worlds=2",
        "masked": ":base=champion,hide=(events;passed_partner)",
        "plain": ":base=greedy",
        "muted": ":base=random",
        "population": ":selfplay-0",
    }
    built = load_agent(request.param + argument.get(request.param, ""))
    yield built
    assert not getattr(built, "faults", ())
    close([built])


@pytest.mark.parametrize("pairs", [4, pytest.param(60, marks=pytest.mark.slow)])
def test_no_bot_acts_on_what_its_seat_cannot_know(agent, pairs):
    asked, every = 0, [one for rules in RULE_SETS for one in worlds(rules, pairs)]
    for number, (world, other, viewer) in enumerate(every):
        one = answers(agent, world, viewer, 2 * number)
        assert answers(agent, other, viewer, 2 * number + 1) == one
        asked += len(one)
    assert asked > len(every)


def test_a_bot_that_peeps_is_caught():
    caught = 0
    for number, pair in enumerate(worlds("jga", 20)):
        given = []
        for world in pair[:2]:
            agent = Peeping()
            agent.peek = np.bincount(world.hands[(pair[2] + 1) % 4], minlength=8)
            given.append(answers(agent, world, pair[2], number))
        caught += given[0] != given[1]
    assert caught > 5
