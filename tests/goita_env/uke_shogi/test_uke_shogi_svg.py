"""The drawings: what they show, that they fit and stay the same, and the environment's modes."""

from collections import Counter

import numpy as np
import pytest

from drawings import counted
from goita_env.uke_shogi import UkeShogiGame, svg
from uke_shogi_playing import VARIANTS, random_game, short


def shown(game: UkeShogiGame) -> dict[str, int]:
    """Counts every tile of the game as a drawing does: dealt ones and that to be matched."""
    kinds = Counter({str(kind): n for kind, n in enumerate(np.sum(game.dealt, axis=0).tolist())})
    kinds[str(game.led)] += 1 if game.led is not None else 0
    return {kind: n for kind, n in kinds.items() if n}


@pytest.mark.parametrize("rules", VARIANTS, ids=short)
def test_a_game_shows_every_tile_and_a_view_its_own_and_backs(rules):
    rng = np.random.default_rng(3)
    game = random_game(rules, rng, decisions=int(rng.integers(2 * rules.players)))
    assert counted(svg.draw(game)) == shown(game)
    view = game.view(rules.players - 1)
    seen = counted(svg.draw(view))
    assert seen.pop("b", 0) == view.tiles_left[1:].sum()
    assert sum(seen.values()) == view.hand.sum() + view.played.sum() + (game.led is not None)
