"""The perfect-information solver's values: against brute force, known values and one another."""

from copy import deepcopy
from itertools import islice

import numpy as np
import pytest

import brute_force
import solver_positions
from brute_force import THREE_PASSES, BruteForce, Position, late_positions
from deals import RULE_SETS
from goita_agents import solver
from goita_env import Game
from goita_env.worlds import Positions
from samples import only
from solver_positions import WHOLE_DEAL, game_of, record_of, states

SMALL = range(4, 17)
"""Tiles left where brute force takes a millisecond."""

LARGER = range(18, 21)

EARLY = range(22, 31)
"""Tiles left soon after the deal."""


TWO = pytest.mark.parametrize("rules", ["jga", "nine"])
"""The rule sets whose kings differ in everything."""


def lates(rules, count, tiles=LARGER, seed=0):
    return list(late_positions(rules, count, seed, tiles))


def batched(found, size):
    """Yields lists of so many, as long as there are any."""
    while some := list(islice(found, size)):
        yield some


def sign(seat: int) -> int:
    """Returns 1 for seats 0 and 2, -1 for the others."""
    return 1 - 2 * (seat & 1)


def value_of_play(game: Game, line, seat: int) -> int:
    """Plays a line to the end of the round and returns the points for a seat's team."""
    game = deepcopy(game)
    for mover, action in line:
        assert game.seat == mover
        game.play(action)
    assert game.done
    return game.points * sign(game.winner) * sign(seat)


def check_complete(solution, expected: dict[int, int]) -> None:
    """Compares a finished solution with the value of every legal action."""
    best = max(expected.values())
    assert solution.finished
    assert solution.values == expected
    assert solution.value == best
    assert sorted(solution.best) == sorted(a for a in expected if expected[a] == best)
    assert solution.bounds == {action: (value, value) for action, value in expected.items()}
    assert solution.line[0][1] in solution.best


@pytest.mark.parametrize("count", [60, pytest.param(2_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("rules", RULE_SETS)
def test_the_solver_equals_brute_force_on_late_positions(rules, count):
    found = lates(rules, count * 95 // 100, SMALL) + lates(rules, count * 5 // 100, [18], seed=1)
    for late, state in zip(found, states(found), strict=True):
        expected = BruteForce(rules).values(late.position)
        try:
            check_complete(solver.solve(state), expected)
        except AssertionError as error:
            error.add_note(f"{late}, brute force: {expected}")
            raise


def other_king(field):
    return lambda patch, rules: patch.setitem(field, rules, not field[rules])


FAULTS = {
    "the last king": other_king(brute_force.KING_MAY_BE_LAST),
    "the second king": other_king(brute_force.SECOND_KING_AFTER_FACE_DOWN),
    "two kings": other_king(brute_force.KINGS_ARE_ALIKE),
    "a king on a lance": lambda patch, _: patch.setitem(brute_force.RECEIVERS, "2", "28"),
    "no king on a knight": lambda patch, _: patch.setitem(brute_force.RECEIVERS, "3", "3"),
    "a rook of 50": lambda patch, _: patch.setitem(brute_force.POINTS, "7", 50),
}


@TWO
@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_a_planted_rule_fault_is_found(monkeypatch, rules, fault):
    fault(monkeypatch, rules)
    assert any(
        solver.solve(state).values != BruteForce(rules).values(late.position)
        for some in batched(late_positions(rules, 800, 0, SMALL), 40)
        for late, state in zip(some, states(some), strict=True)
    )


@pytest.mark.parametrize("rules", only(RULE_SETS, "nine"))
@pytest.mark.parametrize(
    ("count", "tiles"),
    [
        (4, range(20, 24)),
        pytest.param(60, range(20, 25), marks=pytest.mark.slow),
        pytest.param(20, [26], marks=pytest.mark.slow),
        pytest.param(5, [28], marks=pytest.mark.slow),
    ],
)
def test_no_more_and_no_less_can_be_reached_in_larger_positions(rules, count, tiles):
    found = lates(rules, count, tiles)
    for late, state in zip(found, states(found), strict=True):
        value, brute_force = solver.solve(state).value, BruteForce(late.rules)
        assert brute_force.reaches(late.position, value), (late, value)
        assert not brute_force.reaches(late.position, value + 10), (late, value)


def test_a_known_deal_has_its_known_value_from_the_first_turn_on():
    solution = solver.solve(WHOLE_DEAL)
    game = Game(hands=WHOLE_DEAL.split(",")[:4], dealer=0)
    hands = tuple(WHOLE_DEAL.replace("9", "8").split(",")[:4])
    position = Position(hands, "", THREE_PASSES, king_up=False, both_kings=None)
    assert BruteForce("jga").reaches(position, solver_positions.WHOLE_DEAL_POINTS)
    assert not BruteForce("jga").reaches(position, solver_positions.WHOLE_DEAL_POINTS + 10)
    assert solution.finished
    assert solution.value == solver_positions.WHOLE_DEAL_POINTS
    assert sorted(solution.values) == game.legal_actions()


@TWO
def test_a_tiny_table_changes_no_value(rules):
    tiny = solver.Solver(table_bits=6)
    for state in states(lates(rules, 12, [20]) + lates(rules, 4, range(18, 25))):
        check_complete(tiny.solve(state), solver.solve(state).values)


def test_a_solver_used_along_rounds_of_all_rules_gives_the_values_of_fresh_ones():
    rng, kept = np.random.default_rng(0), solver.Solver()
    for trio in zip(*(lates(rules, 2, EARLY) for rules in RULE_SETS), strict=True):
        for game in map(game_of, trio):
            while not game.done:
                check_complete(kept.solve(game), solver.solve(game).values)
                game.play(int(rng.choice(game.legal_actions())))


@TWO
def test_the_best_line_is_legal_and_ends_the_round_with_the_value(rules):
    whole = Game(rules, hands=WHOLE_DEAL.split(",")[:4], dealer=0)
    for game in [whole, *map(game_of, lates(rules, 16, range(6, 31)))]:
        solution = solver.solve(game)
        assert value_of_play(game, solution.line, game.seat) == solution.value


def test_solving_many_gives_what_solving_one_by_one_gives():
    found = [late for rules in RULE_SETS for late in lates(rules, 4)]
    positions = [game_of(late) for late in found] + [record_of(late) for late in found]
    positions += [Positions(game._state) for game in positions[: len(found)]] + [
        solver_positions.KNOWN
    ]
    expected = [solver.solve(position).values for position in positions]
    for workers in (None, 1, 2):
        solutions = solver.solve_many(positions, workers=workers)
        for solution, values in zip(solutions, expected, strict=True):
            check_complete(solution, values)
    assert list(solver.solve_many([])) == []
    for solution, late in zip(solver.solve_many(positions), found, strict=False):
        assert value_of_play(game_of(late), solution.line, late.seat) == solution.value
