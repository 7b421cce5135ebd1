"""The drawings: positions in full, what must stay hidden, and columns that stand straight."""

from unicodedata import east_asian_width

import numpy as np
import pytest

from deals import RULE_SETS, special_hands, uniform_hands
from drawings import middle_game
from goita_env import Game, errors, goita_v0
from goita_env.engine.episodes import Match
from goita_env.render import ansi, svg
from goita_env.views import seat_view
from goita_env.views.scenes import of_state
from playing import legal_mask, pick, played
from samples import only

FIVES = ["11111238", "11111337", "22344567", "24455569"]
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
|  seat 1: receive the 香, or pass                                 |
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
|  previous: receive the 香, or pass                               |
+------------------------------------------------------------------+"""


def columns(text: str) -> int:
    """The columns that a text takes, from the Unicode tables."""
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in text)


def footer(text: str) -> list[str]:
    """The sentences below the table."""
    return [line.strip("| ") for line in text.split("\n+")[1].splitlines()[1:]]


def test_the_whole_table_is_drawn_open():
    assert ansi.render(middle_game()) == OPEN_TABLE
    assert str(middle_game()) == OPEN_TABLE


def test_a_seat_sees_its_own_tiles_and_the_backs_of_the_others():
    assert ansi.render(middle_game().view(2)) == SEEN_BY_SEAT_2


def test_without_the_characters_digits_stand_for_the_tiles():
    in_digits = str.maketrans("し香馬銀金角飛王〓・", "12345678#.")
    for scene in (middle_game(), *(middle_game().view(seat) for seat in (1, 2))):
        text = ansi.render(scene, ascii=True)
        assert text.isascii()
        assert text.split() == ansi.render(scene).translate(in_digits).split()
        assert {len(line) for line in text.splitlines()} == {68}


def test_a_question_is_shown_to_the_asked_seat_alone():
    game = Game(hands=FIVES, dealer=0)
    assert footer(ansi.render(game.view(0))) == ["you: call or keep silent"]
    assert footer(ansi.render(game.view(1))) == ["no attack yet, the dealer leads"]
    assert footer(str(game)) == ["seat 0: call or keep silent"]
    assert "seat 0, dealer, to move" in str(game)
    assert "you, dealer, to move" in ansi.render(game.view(0))
    assert "to move" not in ansi.render(game.view(1))
    before = ansi.render(game.view(2))
    assert ansi.render(played(game, "silent").view(2)) == before
    duty = Game("pagat", hands=FIVES, dealer=0)
    assert footer(str(duty)) == ["seat 0: call, a duty"]
    assert footer(ansi.render(duty.view(0))) == ["you: call, a duty"]


@pytest.mark.parametrize("rules", only(RULE_SETS, "jga"))
def test_all_lines_are_equally_wide_whatever_the_position(rules):
    rng = np.random.default_rng(5)
    match = Match(64, rules, auto_reset=False)
    match.reset(np.concatenate([uniform_hands(rng, 32), special_hands(rng, 32)]))
    drawings = []
    for step in range(46):
        index = step % 64
        one = match.state.select(np.array([index]))
        drawings.append(ansi.render(of_state(one, step % 4)))
        views = [seat_view(one, seat) for seat in range(4)]
        drawings += [ansi.render(view, ascii=step % 2 == 0) for view in views]
        match.step(pick(legal_mask(match.state), int(rng.integers(1000))))
    assert len(drawings) == 46 * 5
    for drawing in drawings:
        assert {columns(line) for line in drawing.splitlines()} == {68}
        # Terminals don't agree on how wide the characters of class "A" are.
        assert not any(east_asian_width(character) == "A" for character in drawing)


def test_a_position_or_seat_that_does_not_exist_is_refused():
    game = middle_game()
    with pytest.raises(errors.SettingError, match="expected a position to draw"):
        ansi.render(game.view(0)[:0])
    with pytest.raises(errors.SettingError, match=r"expected a seat 0..3 at the bottom, got 4"):
        game.scene(4)


@pytest.mark.parametrize("drawing", [svg, ansi])
@pytest.mark.parametrize("shown", [None, Game, goita_v0.env()])
def test_what_cannot_be_drawn_is_refused(drawing, shown):
    with pytest.raises(
        errors.SettingError, match=r"expected a Game, a View, .*, got .*env\.render"
    ):
        drawing.render(shown)
