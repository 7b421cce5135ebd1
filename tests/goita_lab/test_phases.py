"""Phases of a round: by the tiles that lie on the table before a decision."""

import numpy as np
import pytest

from goita_env import Game, actions
from goita_lab.phases import PHASES, phase_of, phases_of


@pytest.mark.parametrize(
    ("tiles", "phase"),
    [(0, "first"), (6, "first"), (8, "middle"), (14, "middle"), (16, "last"), (32, "last")],
)
def test_up_to_three_plays_are_first_and_up_to_seven_middle(tiles, phase):
    assert phase_of(tiles) == phase


@pytest.mark.parametrize(("rules", "number"), [("jga", 4), ("mini_4", 2)])
def test_the_phase_of_a_view_is_that_of_the_tiles_played(rules, number):
    drawn, phases = np.random.default_rng(5), set()
    for seed in range(30):
        game = Game(rules, seed=seed)
        while not game.done:
            view = game.view(game.seat)
            phase = PHASES[phases_of(view)[0]]
            asked = bool(view.asked_call[0] or view.asked_choice[0])
            played = 2 * sum(actions.PASS < action < actions.CALL for _, action in game.moves)
            assert phase == ("before play" if asked else phase_of(played))
            phases.add(phase)
            game.play(int(drawn.choice(game.legal_actions())))
    assert len(phases) == number
