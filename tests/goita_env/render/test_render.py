"""The drawings: positions in full, what must stay hidden, and columns that stand straight."""

import re
from dataclasses import replace
from unicodedata import east_asian_width

import numpy as np
import pytest
from deals import RULE_SETS, special_hands, uniform_hands
from playing import legal_mask, pick, played

from goita_env import JGA, Game, errors
from goita_env.engine.match import Match
from goita_env.engine.state import State
from goita_env.render import ansi
from goita_env.views import seat_view

HANDS = ["11235578", "11112333", "11444567", "11224569"]
REDEALT = ["11135578", "11112333", "12444567", "11224569"]
FIVES = ["11111238", "11111337", "22344567", "24455569"]
SIX = ["11111138", "11112334", "22444567", "23555679"]
MOVES = ("11", "14", "87", "p", "75", "52", "p")

OPEN_TABLE = """\
+------------------------------------------------------------------+
|  jga                      seats 0 and 2: 40   seats 1 and 3: 20  |
|                                                                  |
|                        seat 2, dealer                            |
|                       (し) 飛  ・  ・                            |
|                        し  金  ・  ・                            |
|                        銀銀銀角                                  |
|                                                                  |
|     seat 3                               seat 1, to move         |
|     し  金  ・  ・                       ・  ・  ・  ・          |
|     銀 [香] ・  ・                       ・  ・  ・  ・          |
|     し香角王                             しししし香馬馬馬        |
|                                                                  |
|                        seat 0, passed                            |
|                        王  ・  ・  ・                            |
|                        飛  ・  ・  ・                            |
|                        しし香馬金金                              |
+------------------------------------------------------------------+
|  seat 1: receive 香 or pass                                      |
+------------------------------------------------------------------+"""

SEEN_BY_SEAT_2 = """\
+------------------------------------------------------------------+
|  jga                       you and partner: 40   the others: 20  |
|                                                                  |
|                        partner, passed                           |
|                        王  ・  ・  ・                            |
|                        飛  ・  ・  ・                            |
|                        〓〓〓〓〓〓 6                            |
|                                                                  |
|     previous, to move                    next                    |
|     ・  ・  ・  ・                       し  金  ・  ・          |
|     ・  ・  ・  ・                       銀 [香] ・  ・          |
|     〓〓〓〓〓〓〓〓 8                   〓〓〓〓 4              |
|                                                                  |
|                        you, dealer                               |
|                       (し) 飛  ・  ・                            |
|                        し  金  ・  ・                            |
|                        銀銀銀角                                  |
+------------------------------------------------------------------+
|  previous: receive 香 or pass                                    |
+------------------------------------------------------------------+"""

SEEN_BY_SEAT_1_IN_ASCII = """\
+------------------------------------------------------------------+
|  jga                       you and partner: 20   the others: 40  |
|                                                                  |
|                        partner                                   |
|                        1  5  .  .                                |
|                        4 [2] .  .                                |
|                        #### 4                                    |
|                                                                  |
|     previous, passed                     next, dealer            |
|     8  .  .  .                           #  7  .  .              |
|     7  .  .  .                           1  5  .  .              |
|     ###### 6                             #### 4                  |
|                                                                  |
|                        you, to move                              |
|                        .  .  .  .                                |
|                        .  .  .  .                                |
|                        11112333                                  |
+------------------------------------------------------------------+
|  you: receive 2 or pass                                          |
+------------------------------------------------------------------+"""


def middle_game() -> Game:
    """A position with a king's block, a block face down and a pass."""
    return played(Game(hands=HANDS, dealer=2, scores=[40, 20]), *MOVES)


def columns(text: str) -> int:
    """The columns that a text takes, from the Unicode tables."""
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in text)


def footer(text: str) -> list[str]:
    """The sentences below the table."""
    return [line.strip("| ") for line in text.split("\n+")[1].splitlines()[1:]]


def test_the_whole_table_is_drawn_open():
    assert ansi.table(middle_game()._state) == OPEN_TABLE
    assert str(middle_game()) == OPEN_TABLE


def test_a_seat_sees_its_own_tiles_and_the_backs_of_the_others():
    assert ansi.view(middle_game().view(2)) == SEEN_BY_SEAT_2


def test_without_the_characters_digits_stand_for_the_tiles():
    text = ansi.view(middle_game().view(1), ascii=True)

    assert text == SEEN_BY_SEAT_1_IN_ASCII
    assert text.isascii()
    assert ansi.table(middle_game()._state, ascii=True).isascii()


def test_the_table_can_be_drawn_from_any_seat():
    *around, to_move = re.findall(r"seat \d", ansi.table(middle_game()._state, viewer=3))

    # Top, left and right in one line, bottom: seat 0 follows seat 3 and sits to its right.
    assert around == ["seat 1", "seat 2", "seat 0", "seat 3"]
    assert to_move == "seat 1"


def test_colour_adds_escape_sequences_and_nothing_else():
    for plain, colored in (
        (ansi.table(middle_game()._state), ansi.table(middle_game()._state, color=True)),
        (ansi.view(middle_game().view(2)), ansi.view(middle_game().view(2), color=True)),
    ):
        assert "\x1b" not in plain
        assert re.sub(r"\x1b\[\d*m", "", colored) == plain
        assert "\x1b[1m[香]\x1b[0m" in colored
        assert "\x1b[2m(し)\x1b[0m" in colored


def test_what_a_seat_cannot_know_is_not_in_its_drawing():
    # Seat 2 laid a lance face down instead of a pawn, and seat 0 holds the pawn.
    other = played(Game(hands=REDEALT, dealer=2, scores=[40, 20]), "21", *MOVES[1:])

    for seat in (1, 3):
        assert ansi.view(other.view(seat)) == ansi.view(middle_game().view(seat))
    for seat in (0, 2):
        assert ansi.view(other.view(seat)) != ansi.view(middle_game().view(seat))
    assert str(other) != str(middle_game())


def test_a_question_is_shown_to_the_asked_seat_alone():
    game = Game(hands=FIVES, dealer=0)

    assert footer(ansi.view(game.view(0))) == ["you: call or keep silent"]
    assert footer(ansi.view(game.view(1))) == ["no attack yet, the dealer leads"]
    assert footer(str(game)) == ["seat 0: call or keep silent"]
    assert "seat 0, dealer, to move" in str(game)
    assert "you, dealer, to move" in ansi.view(game.view(0))
    assert "to move" not in ansi.view(game.view(1))
    before = ansi.view(game.view(2))
    assert ansi.view(played(game, "silent").view(2)) == before
    duty = Game("pagat", hands=FIVES, dealer=0)
    assert footer(str(duty)) == ["seat 0: call, a duty"]
    assert footer(ansi.view(duty.view(0))) == ["you: call, a duty"]


def test_calls_and_choices_are_shown_to_all():
    game = played(Game(hands=FIVES, dealer=0), "call", "call")

    assert footer(str(game)) == [
        "seat 2: redeal or continue",
        "seat 0 called five pawns",
        "seat 1 called five pawns",
    ]
    assert footer(ansi.view(game.view(2))) == [
        "you: redeal or continue",
        "partner called five pawns",
        "previous called five pawns",
    ]
    played(game, "redeal")
    assert footer(ansi.view(game.view(0)))[-1] == "partner chose: redeal"
    assert "seat 3: redeal or continue" in footer(str(game))


def test_a_called_hand_of_six_lies_open():
    game = played(Game(hands=SIX, dealer=0), "call")

    drawn = ansi.view(game.view(2))
    assert "|                        し  し  し  馬                            |" in drawn
    assert "|                        し  し  し  王                            |" in drawn
    assert footer(drawn) == ["the round is over", "partner called six pawns"]
    assert footer(str(game)) == ["seat 0 ended the round: 50 points", "seat 0 called six pawns"]


def test_the_end_names_who_ended_the_round():
    game = played(middle_game(), "21", "p", "18", "p", "p", "p", "62")

    assert footer(str(game)) == ["seat 3 ended the round: 20 points"]
    assert footer(ansi.view(game.view(0))) == ["the round is over"]
    assert "(角)" in str(game)
    assert "[香]" in ansi.view(game.view(0))


def test_who_leads_again_is_told():
    game = played(middle_game(), "p", "p")

    assert footer(str(game)) == ["seat 3: lead again, a block face down"]
    assert footer(str(Game(hands=HANDS, dealer=2))) == ["seat 2: lead, a block face down"]


@pytest.mark.parametrize("rules", RULE_SETS)
def test_all_lines_are_equally_wide_whatever_the_position(rules):
    rng = np.random.default_rng(5)
    match = Match(64, rules, auto_reset=False)
    match.reset(np.concatenate([uniform_hands(rng, 32), special_hands(rng, 32)]))
    drawings = []
    for step in range(46):
        index = step % 64
        drawings.append(ansi.table(match.state, index, viewer=step % 4))
        views = [seat_view(match.state, seat) for seat in range(4)]
        drawings += [ansi.view(view, index, ascii=step % 2 == 0) for view in views]
        match.step(pick(legal_mask(match.state), int(rng.integers(1000))))

    assert len(drawings) == 46 * 5
    for drawing in drawings:
        assert {columns(line) for line in drawing.splitlines()} == {68}
        # Terminals don't agree on how wide the characters of class "A" are.
        assert not any(east_asian_width(character) == "A" for character in drawing)


def test_a_table_without_a_deal_and_a_long_name_of_the_rules_are_drawn_too():
    drawing = ansi.table(
        State.empty(1, replace(JGA, name="a house rule that we play at home 能登"))
    )

    assert footer(drawing) == ["waiting for a deal"]
    assert {columns(line) for line in drawing.splitlines()} == {68}


def test_a_game_or_seat_that_does_not_exist_is_refused():
    game = middle_game()
    with pytest.raises(errors.SettingError, match=r"expected an index 0..0, got 1"):
        ansi.table(game._state, 1)
    with pytest.raises(errors.SettingError, match=r"expected an index 0..0, got -1"):
        ansi.view(game.view(0), -1)
    with pytest.raises(errors.SettingError, match=r"expected a seat 0..3 at the bottom, got 4"):
        ansi.table(game._state, viewer=4)
