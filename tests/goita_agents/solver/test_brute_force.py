"""The brute force itself: positions valued by hand, and a referee who plays every game there is."""

from copy import deepcopy

import pytest

from brute_force import THREE_PASSES, BruteForce, Late, Position, late_positions, number
from deals import RULE_SETS
from oracle import Referee

OTHERS_WITHOUT_KING = [rules for rules in RULE_SETS if rules != "jga"]


def values(rules, hands, attack, passes, *, king_up=False, both_kings=None):
    position = Position(tuple(hands.split()), attack, passes, king_up, both_kings)
    return BruteForce(rules).values(position)


def named(**points):
    """Returns values by action from values by short name: ``named(p=-60, m18=50)``."""
    return {number(name.removeprefix("m")): value for name, value in points.items()}


@pytest.mark.parametrize("rules", RULE_SETS)
def test_a_lead_is_right_if_the_partner_can_end_the_round_and_no_opponent_can(rules):
    # On a pawn the seat before ends the round with 14, on a lance the next seat with 24: 30 points
    # for them. On a knight only the partner can receive. It does so, 35, for 30 points: if it
    # passed, the mover would lead again and end the round for 20 at most (12; 11 doubled).
    expected = named(m11=-30, m12=-30, m13=30, m21=-30, m23=30, m31=-30, m32=-30)
    assert values(rules, "1123 24 35 14", "", THREE_PASSES) == expected


LAST_KING = "18 12 35 44"
"""The seat before has attacked with a pawn. If all let it pass, it leads 44, doubled: 60."""


def test_the_last_king_ends_the_round_in_jga():
    # The next seat could end the round with 12, 20 points, but its partner's 60 are better.
    assert values("jga", LAST_KING, "1", 0) == named(p=-60, m18=50)


@pytest.mark.parametrize("rules", OTHERS_WITHOUT_KING)
def test_elsewhere_the_last_king_needs_another_that_lies_face_up(rules):
    assert values(rules, LAST_KING, "1", 0) == named(p=-60)
    assert values(rules, LAST_KING, "1", 0, king_up=True) == named(p=-60, m18=50)


SECOND_KING = "1358 12 35 44"
"""The same, but the mover, dealt both kings, has laid one face down and holds two tiles more."""


def test_the_second_king_may_attack_in_jga_after_the_first_went_face_down():
    # 18: nobody receives a king, and 35 is led for 30. 13 (or 15): the partner alone could receive,
    # for 30 (20); it passes, for the mover then leads with the king last: 50.
    expected = named(p=-60, m13=50, m15=50, m18=30)
    assert values("jga", SECOND_KING, "1", 0, both_kings=0) == expected


@pytest.mark.parametrize("rules", OTHERS_WITHOUT_KING)
def test_elsewhere_the_second_king_may_not_attack_any_more(rules):
    # 13: the partner ends the round with 35, or the mover with 85: 30. 15: with 53, or 83: 20.
    assert values(rules, SECOND_KING, "1", 0, both_kings=0) == named(p=-60, m13=30, m15=20)


@pytest.mark.parametrize(("rules", "points"), [("jga", 100), ("pagat", 100), ("nine", 50)])
def test_two_kings_in_hand_are_led_and_doubled_where_they_are_alike(rules, points):
    assert values(rules, "88 11 22 33", "", THREE_PASSES, both_kings=0) == named(m88=points)


@pytest.mark.parametrize("rules", RULE_SETS)
def test_a_face_up_seventh_tile_does_not_double(rules):
    # If the mover passes, the seat before leads 11 for 20.
    assert values(rules, "55 12 34 11", "5", 0) == named(p=-20, m55=30)


def played_out(referee: Referee) -> int:
    """Returns the points for seats 0 and 2, all playing perfectly, after trying every game."""
    if referee.phase == "over":
        return referee.points * (-1) ** referee.winner
    best = max if referee.seat in (0, 2) else min
    return best(played_out(after(referee, action)) for action in referee.legal_actions())


def after(referee: Referee, action: int) -> Referee:
    referee = deepcopy(referee)
    referee.play(action)
    return referee


def referee_of(late: Late) -> Referee:
    referee = Referee(late.rules, late.hands, late.dealer)
    for _, action in late.log:
        referee.play(action)
    return referee


@pytest.mark.parametrize("rules", RULE_SETS)
def test_brute_force_equals_every_game_that_the_referee_can_play(rules):
    for late in late_positions(rules, 30, seed=1, tiles=range(4, 14)):
        referee = referee_of(late)
        sign = (-1) ** late.seat
        expected = {
            action: sign * played_out(after(referee, action)) for action in referee.legal_actions()
        }
        assert BruteForce(rules).values(late.position) == expected, late


@pytest.mark.parametrize("rules", RULE_SETS)
def test_the_value_is_the_most_points_that_can_be_reached(rules):
    for late in late_positions(rules, 30, seed=2, tiles=range(8, 16)):
        brute_force = BruteForce(rules)
        value = brute_force.value(late.position)
        for points in range(-110, 120, 10):
            assert brute_force.reaches(late.position, points) == (points <= value), late


@pytest.mark.parametrize("rules", RULE_SETS)
def test_late_positions_are_varied_and_always_the_same(rules):
    lates = list(late_positions(rules, 400, seed=0, tiles=range(4, 17)))
    positions = [late.position for late in lates]
    assert lates[:40] == list(late_positions(rules, 40, seed=0, tiles=range(4, 17)))
    assert len(set(positions)) > 380
    moves = [BruteForce(rules).moves(position) for position in positions]
    kinds = {
        "leads": [p.passes == THREE_PASSES for p in positions],
        "after one pass": [p.passes == 1 for p in positions],
        "after two passes": [p.passes == 2 for p in positions],
        "may receive": [p.passes < 3 and len(m) > 1 for p, m in zip(positions, moves, strict=True)],
        "can only pass": [m == ["p"] for m in moves],
        "two tiles": [len(p.hands[0]) == 2 for p in positions],
        "a king in hand": ["8" in p.hands[0] for p in positions],
        "a king may attack": [any(move.endswith("8") for move in m) for m in moves],
        "a king face up": [p.king_up for p in positions],
        "a king elsewhere": [any("8" in hand for hand in p.hands[1:]) for p in positions],
        "dealt both kings": [p.both_kings == 0 for p in positions],
        "a call before": [late.log[0][1] >= 65 for late in lates],
    }
    rare = {name: sum(found) for name, found in kinds.items() if sum(found) < 6}
    assert not rare
