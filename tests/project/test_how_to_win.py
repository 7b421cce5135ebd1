"""How to win: the pages have all principles, and on each board the principle decides."""

import re
import sys

import numpy as np
import pytest

pytest.importorskip("numba")

from goita_agents.principles import PRINCIPLES, Evidence
from goita_env import actions
from goita_env.render.pen import write_document
from programs import ROOT

sys.path[:0] = [str(ROOT / "docs"), str(ROOT / "tools")]

from generated import english_worth, japanese_worth  # noqa: E402  (after the path)
from principle_pictures import POSITIONS, WIDTH, drawing, picture_name  # noqa: E402

KEYS = [principle.key for principle in PRINCIPLES]


@pytest.mark.parametrize(("page", "code"), [("how_to_win", "en"), ("how_to_win_ja", "ja")])
def test_each_page_has_every_principle_with_a_board_and_a_reason(page, code):
    text = (ROOT / f"docs/{page}.md").read_text(encoding="utf-8")
    assert re.findall(rf"<!-- principle: (\w+) {code} -->", text) == KEYS
    for section in text.split("\n## ")[1:]:
        assert section.count("<picture>") == 1
        assert section.partition("<!-- end -->")[2].strip()


@pytest.mark.parametrize("principle", PRINCIPLES, ids=KEYS)
def test_on_its_board_a_principle_advises_the_marked_action_and_not_every_action(principle):
    position = POSITIONS[principle.key]
    game = position.game()
    follow, against = (mask[0] for mask in principle.actions(game.view(game.seat)))
    assert follow[actions.parse(position.best)]
    assert np.any(against)


@pytest.mark.parametrize("key", KEYS)
def test_a_board_is_drawn_in_both_languages_and_themes(key):
    for code in ("en", "ja"):
        for theme in ("light", "dark"):
            text = (ROOT / "docs/pictures" / picture_name(key, code, theme)).read_text("utf-8")
            drawn = write_document(drawing(POSITIONS[key], code, theme), WIDTH)
            assert text == drawn, "run python tools/principle_pictures.py"


def test_a_page_says_where_the_evidence_is_missing():
    def measured(worth, beyond) -> Evidence:
        return Evidence(40, worth, beyond, {}, None, None)

    pays = measured((5.0, 2.0, 8.0), (4.0, 1.0, 7.0))
    assert english_worth(pays) == "*Worth:* 5.0 points (95 % interval 2.0 to 8.0), in 40 positions."
    unclear = measured((-1.0, -3.0, 1.0), (4.0, 1.0, 7.0))
    assert "−1.0 points" in english_worth(unclear)
    assert english_worth(unclear).endswith("no evidence that it gains points.")
    costs = measured((-3.0, -5.0, -1.0), (4.0, 1.0, 7.0))
    assert english_worth(costs).endswith("you lose points.")
    assert japanese_worth(costs).endswith("損をします。")
    as_random = measured((5.0, 2.0, 8.0), (1.0, -1.0, 3.0))
    assert "divided at random" in english_worth(as_random)
    assert english_worth(measured(None, None)).startswith("*Worth:* not known.")
    missing = "証拠はありません。"
    figures = [(pays, False), (unclear, True), (as_random, True)]
    assert all(japanese_worth(one).endswith(missing) is lacks for one, lacks in figures)
