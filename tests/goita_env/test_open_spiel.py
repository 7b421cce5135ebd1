"""Goita as a game of OpenSpiel: its own test, and the exact answers of ours beside its own."""

import random

import numpy as np
import pytest

from goita_env import Game
from goita_env.errors import IllegalActionError, SettingError
from raising import refuses

pyspiel = pytest.importorskip("pyspiel")
pytest.importorskip("goita_env.open_spiel")

TINY = "python_goita(deck=PPPPPPPPPPLLGGGG)"


def states(name, rounds, seed):
    """Yields the states of random rounds."""
    game, rng = pyspiel.load_game(name), random.Random(seed)
    for _ in range(rounds):
        state = game.new_initial_state()
        while not state.is_terminal():
            yield state
            if state.is_chance_node():
                chosen, chances = zip(*state.chance_outcomes(), strict=True)
                assert sum(chances) == pytest.approx(1)
                state.apply_action(rng.choices(chosen, chances)[0])
            else:
                state.apply_action(rng.choice(state.legal_actions()))
        yield state


@pytest.mark.parametrize("name", ["python_goita", "python_goita(rules=mini_4,dealer=3)", TINY])
def test_its_own_test_of_games_passes(name):
    pyspiel.random_sim_test(pyspiel.load_game(name), num_sims=3, serialize=True, verbose=False)


@pytest.mark.parametrize("rules", ["jga", "nine", "mini_5"])
def test_rounds_are_those_of_the_game(rules):
    ours, dealt, redealt = None, [], 0
    for state in states(f"python_goita(rules={rules},dealer=1)", 40, seed=2):
        moves = state.full_history()
        if state.is_chance_node():
            redealt += len(dealt) == 3
            dealt = [] if len(dealt) == 3 else dealt
            continue
        chance = [pair for pair in moves if pair.player < 0]
        dealt = [state.get_game().hands[pair.action] for pair in chance[-3:]]
        last = np.array(state.get_game().rules.deck) - np.sum(dealt, axis=0)
        hands = [np.arange(8).repeat(hand).tolist() for hand in [*dealt, last]]
        ours = Game(rules, hands=hands, dealer=1)
        for pair in moves[moves.index(chance[-1]) + 1 :] if chance else moves:
            ours.play(pair.action)
        if state.is_terminal():
            assert ours.done
            sign = 1 - 2 * (ours.winner % 2)
            assert state.returns() == [sign * s * ours.points for s in (1, -1, 1, -1)]
            continue
        assert state.current_player() == ours.seat
        assert state.legal_actions() == ours.legal_actions()
        for seat in range(4):
            tensor = np.array(state.information_state_tensor(seat))
            assert (tensor == ours.view(seat).observation()[0]).all()
            assert state.information_state_string(seat) == state.observation_string(seat)
            assert ours.view(seat).words.tobytes().hex() in state.information_state_string(seat)


@pytest.mark.parametrize("name", ["python_goita(rules=mini_3)", "python_goita"])
def test_a_playthrough_is_written(name):
    from open_spiel.python.algorithms import generate_playthrough

    text = generate_playthrough.playthrough(name, action_sequence=None, seed=1)
    assert "InformationStateString(3)" in text
    assert "Returns" in text


def test_what_is_not_legal_and_a_hand_that_is_not_left_are_refused():
    game = pyspiel.load_game(TINY)
    for state in states(TINY, 3, seed=5):
        before = state.history()
        fine = [number for number, _ in state.chance_outcomes()] if state.is_chance_node() else []
        wrong = set(range(len(game.hands) + 1)) - set(fine or state.legal_actions())
        for action in sorted(wrong | {69, 10**6} - set(fine)):
            refuses(IllegalActionError, "expected .* got", state.apply_action, action)
        assert state.history() == before
    with pytest.raises(IllegalActionError, match="no action, the round is over"):
        state.apply_action(0)


def test_its_information_states_and_values_are_those_of_the_enumerated_game():
    trees = pytest.importorskip("goita_lab.exact.tree")
    game = pyspiel.load_game(TINY)
    tree = trees.enumerate_game(game.rules)
    digests, view = set(), tree.view()
    known = {words.tobytes().hex(): sets for sets, words in enumerate(view.words)}
    for state in states(TINY, 100, seed=4):
        if state.is_terminal() or state.is_chance_node():
            continue
        text = state.information_state_string(state.current_player())
        sets = known[text.split()[-1]]
        start, end = tree.starts[sets : sets + 2]
        assert state.legal_actions() == tree.action[start:end].tolist()
        digests.add(sets)
    assert len(digests) > 200


@pytest.mark.slow
def test_its_best_response_to_the_uniform_policy_is_ours():
    trees = pytest.importorskip("goita_lab.exact.tree")
    from open_spiel.python import policy
    from open_spiel.python.algorithms.best_response import BestResponsePolicy

    from goita_lab.exact.values import gains, value

    game = pyspiel.load_game(TINY)
    tree = trees.enumerate_game(game.rules)
    uniform = tree.uniform()
    expected = gains(tree, uniform)[3] - value(tree, uniform)  # of a seat of the other team
    found = BestResponsePolicy(game, 3, policy.UniformRandomPolicy(game))
    assert found.value(game.new_initial_state()) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("python_goita(rules=chess)", "expected a Rules value or one of"),
        ("python_goita(deck=XYZ)", "expected letters of PLNSGBRK"),
        ("python_goita(deck=PPLL)", "deck of the rule set"),
        ("python_goita(dealer=4)", "expected a dealer 0..3"),
    ],
)
def test_wrong_parameters_are_refused(name, error):
    refuses(SettingError, error, pyspiel.load_game, name)


@pytest.mark.parametrize("rules", ["jga", "mini_3"])
@pytest.mark.parametrize("rounds", [5, pytest.param(200, marks=pytest.mark.slow)])
def test_every_state_is_that_of_its_struct_and_every_action_too(rules, rounds):
    for state in states(f"python_goita(rules={rules},dealer=2)", rounds, seed=4):
        game, struct = state.get_game(), state.to_dict()
        again = game.new_initial_state(struct)
        assert (str(again), again.to_dict()) == (str(state), struct)
        assert again.current_player() == state.current_player()
        if not state.is_terminal():
            action = state.legal_actions()[-1]
            move = state.action_to_struct(state.current_player(), action)
            assert state.struct_to_actions(move) == [action]
    assert len(struct["hands"]) == 4
    assert struct["returns"] == state.returns()


def test_an_observation_struct_depends_on_the_view_alone():
    seen = {}
    for state in states("python_goita(rules=mini_3)", 150, seed=5):
        for player in range(4) if not state.is_chance_node() else ():
            struct = state.to_observation_struct(player).to_dict()
            shown = seen.setdefault((player, struct["observation"]), [])
            if struct not in shown:
                shown.append(struct)
    assert len(seen) > 2_000
    assert max(map(len, seen.values())) == 1


def test_a_struct_of_another_game_or_of_moves_that_are_none_is_refused():
    game = pyspiel.load_game("python_goita")
    (*_, state) = states("python_goita", 1, seed=6)
    struct = state.to_dict()
    for change, expected in (
        ({"dealer": 1}, "expected moves and"),
        ({"moves": 3}, "expected moves and"),
        ({"moves": ["11"]}, "expected a move of"),
        ({"returns": [0.0] * 4}, "expected returns"),
    ):
        refuses(SettingError, expected, game.new_initial_state, struct | change)
    assert game.new_initial_state(state.to_struct()).to_dict() == struct
