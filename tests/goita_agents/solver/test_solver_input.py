"""The perfect-information solver under limits, and given what it cannot solve."""

from functools import partial

import numpy as np
import pytest

from brute_force import late_positions
from deals import RULE_SETS, complete
from goita_agents import solver
from goita_env import Game, records
from goita_env.engine.state import State
from goita_env.errors import GoitaError, IllegalActionError, SettingError
from goita_env.records import DealRecord
from goita_env.worlds import Positions
from playing import played
from raising import refuses
from record_samples import LINE
from solver_positions import KNOWN, WHOLE_DEAL, WHOLE_DEAL_POINTS, states


def check_bounds(solution, truth: dict[int, int]) -> None:
    """Checks what a solution says, finished or not, against the value of every legal action."""
    assert solution.bounds.keys() == truth.keys()
    for action, (low, high) in solution.bounds.items():
        assert low <= truth[action] <= high
    meet = {action: low for action, (low, high) in solution.bounds.items() if low == high}
    assert solution.values == meet
    best = max(truth.values())
    assert solution.value in (None, best)
    if solution.value is not None:
        assert max(low for low, _ in solution.bounds.values()) == best
        assert max(high for _, high in solution.bounds.values()) == best
    assert solution.finished == (solution.values == truth)


@pytest.mark.parametrize("limits", [{"nodes": 1}, {"seconds": 1e-9}])
def test_under_a_tiny_limit_a_whole_deal_is_not_finished(limits):
    solution = solver.solve(WHOLE_DEAL, **limits)
    assert not solution.finished
    assert solution.value is None
    lows, highs = zip(*solution.bounds.values(), strict=True)
    assert max(lows) <= WHOLE_DEAL_POINTS <= max(highs)
    game = Game(hands=WHOLE_DEAL.split(",")[:4], dealer=0)
    assert sorted(solution.bounds) == game.legal_actions()


@pytest.mark.parametrize("rules", RULE_SETS)
def test_bounds_hold_the_truth_under_every_limit_of_nodes(rules):
    unfinished = 0
    for state in states(list(late_positions(rules, 24, 0, range(16, 23)))):
        truth = solver.solve(state).values
        for nodes in (1, 2, 3, 10, 30, 100, 300, 1_000, 10_000):
            solution = solver.solve(state, nodes=nodes)
            check_bounds(solution, truth)
            unfinished += not solution.finished
    assert unfinished > 40


@pytest.mark.parametrize(
    ("call", "option", "values"),
    [
        (partial(solver.solve, KNOWN), "nodes", (0, 1.5)),
        (partial(solver.solve, KNOWN), "seconds", (0, float("nan"))),
        (partial(solver.solve_many, [KNOWN]), "workers", (0,)),
    ],
)
def test_wrong_options_raise_a_setting_error(call, option, values):
    for value in values:
        refuses(SettingError, r"expected .*got ", call, **{option: value})


def test_what_is_no_list_and_no_legal_action_is_refused():
    refuses(SettingError, "expected positions one after another, got ", solver.solve_many, KNOWN)
    for action in (-1, 10, 200, 1.5):
        says = r"expected one of p 81 82 83 .*got "
        refuses(IllegalActionError, says, solver.Solver().compare, KNOWN, action)


FIVE_PAWNS = ("11111234", "", "", "")


def over() -> Game:
    (deal,) = records.history.loads(LINE).deals
    *_, game = deal.replay()
    return game


def before_play() -> Game:
    """Returns a game whose dealer is asked about its five pawns."""
    return Game(hands=complete(*FIVE_PAWNS), dealer=0)


def known_state() -> State:
    (deal,) = records.history.loads(KNOWN).deals
    *_, game = deal.replay()
    return game._state.copy()


IMPOSSIBLE = {
    "a finished round": over,
    "the string of a finished round": lambda: LINE,
    "a pre-play decision": before_play,
    "a choice before play": lambda: played(before_play(), "call"),
    "a record cut before play": lambda: DealRecord(tuple(complete(*FIVE_PAWNS)), 0),
    "two games": lambda: Positions(known_state().repeat(2)),
    "no game": lambda: Positions(known_state().select(np.arange(0))),
}


GARBAGE = {
    "nothing": "",
    "an eleventh pawn": KNOWN.replace("12234569", "11234569"),
    "a hidden block": KNOWN.replace("371", "3x1"),
    "an illegal move": KNOWN.removesuffix("2p") + "299",
    "a move after the end": LINE + ",1p",
    "two deals": f"{KNOWN}\n{WHOLE_DEAL}",
}


@pytest.mark.parametrize("name", [*IMPOSSIBLE, *GARBAGE])
def test_what_cannot_be_solved_raises_a_clear_error(name):
    position = IMPOSSIBLE[name]() if name in IMPOSSIBLE else GARBAGE[name]
    with pytest.raises(GoitaError, match=r"(?s)expected .*got ") as caught:
        solver.solve(position)
    refuses(GoitaError, r"(?s)expected .*got ", solver.solve_many, [KNOWN, position])
    assert len(str(caught.value)) < 2_000


def test_a_position_that_is_set_up_is_solved_like_one_that_was_played():
    state = known_state()
    counts = state.hand_counts()[0]
    hands = ["".join(str(kind + 1) * n for kind, n in enumerate(hand)) for hand in counts.tolist()]
    place = solver.Position.set_up(hands, seat=2, attack=3, attacker=0)
    assert [place] == solver.Position.from_positions(Positions(state))
    assert solver.solve(place).values == solver.solve(KNOWN).values


KINGS = ["88", "33", "15", "26"]
SET_UP = {
    "three hands": ({"hands": ["12", "34", "15"]}, "four strings"),
    "three kings": ({"hands": ["88", "38", "15", "26"]}, "two kings"),
    "a king face up too many": ({"hands": KINGS, "king_up": True}, "two kings"),
    "a king attack too many": ({"hands": KINGS, "attack": 7, "attacker": 3}, "two kings"),
    "a holder beyond the table": ({"both_kings": 9}, "holds one king"),
    "its own attack": ({"attack": 1, "attacker": 0}, "another seat"),
    "an attack of nobody": ({"attack": 1}, "another seat"),
    "an attacker without attack": ({"attacker": 1}, "a kind 0..7"),
}


@pytest.mark.parametrize(("change", "text"), SET_UP.values(), ids=SET_UP)
def test_a_position_that_there_is_not_cannot_be_set_up(change, text):
    with pytest.raises(GoitaError, match=f"(?s)expected .*{text}.*got "):
        solver.Position.set_up(**{"hands": ["12", "34", "15", "26"], "seat": 0, **change})


def test_a_horizon_beyond_the_end_of_the_round_gives_exact_values():
    place, fresh = solver.Position.from_record(*records.history.loads(KNOWN).deals), solver.Solver()
    root = np.array([*place.codes, place.seat, place.status])
    legal = np.array(fresh.legal_actions(place))
    values = fresh.evaluate(place.rules, root, legal, 10**9, 14)
    assert dict(zip(legal.tolist(), values.tolist(), strict=True)) == fresh.values(place)
    assert fresh.evaluate(place.rules, root, legal, 3, 14) is None
    assert fresh.evaluate(place.rules, root, legal, 10**9, 1) is not None
