"""A solution in a notebook: the hands, the attack, every action with its points."""

from xml.etree import ElementTree

from drawings import SVG, check_dialect, counted
from goita_agents import solver
from goita_env import records
from goita_env.tiles import NAMES
from solver_positions import KNOWN


def told(solution) -> str:
    """What a drawing says in words."""
    return ElementTree.fromstring(solution._repr_svg_()).find(f"{SVG}desc").text


def test_a_solution_draws_hands_and_points():
    solution = solver.solve(KNOWN)
    drawing, text = solution._repr_svg_(), told(solution)
    (*_, game) = records.history.loads(KNOWN).replay()
    check_dialect(drawing)
    for seat, hand in enumerate(game.hands):
        for name, n in zip(NAMES, hand.tolist(), strict=True):
            line = text.splitlines()[1 + seat]
            assert (name in line) == (n > 0)
    assert "pass worth -40, king pawn worth -40" in text
    assert f"seat {game.seat}, to move" in text
    # The tiles in hand, the attack, and the two tiles of each of three actions.
    assert sum(counted(drawing).values()) == game.hands.sum() + 1 + 3 * 2


def test_where_a_seat_leads_no_attack_is_drawn():
    text = told(solver.solve("11244556,12234569,11123378,11113457,s3"))
    assert "attacked" not in text
    assert "seat 2, to move; in hand 3 pawns, lance, 2 knights, rook, king." in text
