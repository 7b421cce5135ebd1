"""Draws the boards of docs/how_to_win.md and of its Japanese twin.

``python tools/principle_pictures.py`` writes the pictures. ``--check`` searches each position and
prints by how many points the advised action leads the best action against the principle. The
positions come from play of ``champion:temperature=1`` with fixed seeds.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np

from goita_agents.beliefs.match_priors import MatchPriors
from goita_agents.beliefs.people import PEOPLE, people
from goita_agents.principles import PRINCIPLES
from goita_agents.search.typed_search import TypedSearch
from goita_env import Game, actions
from goita_env.render import svg, words
from goita_env.render.pen import Drawing, Pen, write_document
from goita_env.render.scene import Scene
from goita_env.render.themes import Theme
from goita_lab.pages.languages import LANGUAGES, LanguageName, language, seen_from
from goita_lab.signals.playing import load_policy

FOLDER: Final = Path(__file__).resolve().parents[1] / "docs" / "pictures"
WIDTH: Final = 420
"""Width at which the pages show a board."""
STRIP: Final = 52
"""Height of the strip below a board, which names the advised action."""
CHECK_WORLDS: Final = 512


@dataclass(frozen=True)
class Position:
    """A decision in which the principle decides."""

    hands: str
    """The four hands as records write them, apart by blanks."""
    dealer: int
    moves: str
    """The moves before the decision, apart by blanks."""
    best: str
    """The advised action."""

    def game(self) -> Game:
        game = Game(hands=self.hands.split(), dealer=self.dealer)
        for move in self.moves.split():
            game.play(move)
        return game

    def scene(self) -> Scene:
        """Returns what the acting seat sees, with the names that a player reads on the pages."""
        game = self.game()
        assert game.seat is not None
        return seen_from(game.view(game.seat).scene(game.seat), game.seat)


POSITIONS: Final[dict[str, Position]] = {
    "pass_partner": Position("11124558 11234779 11224556 11133346", 2, "15 p", "p"),
    "stop": Position(
        "11123344 11122457 11112458 33556679", 1, "17 p 76 p p p 36 p p p 35 p p", "51"
    ),
    "hold_back": Position(
        "11245677 11134458 11122335 11234569", 1, "14 p p 47 p p p 17 84 p p p 11 12", "p"
    ),
    "king_waits": Position("11124456 11125578 12334567 11123349", 1, "15 53", "31"),
    "no_king_down": Position(
        "11133467 12223458 11134579 11124556", 0, "13 32 p p p 42 p p p", "12"
    ),
    "sure_attack": Position("11113578 11455567 11134469 12222334", 3, "32 p p p 32 p p p", "12"),
    "answer": Position(
        "11112357 11344566 12245789 11123345",
        1,
        "16 p p p 46 82 p p p 12 23 p p p 13 37 p p p 15",
        "53",
    ),
    "pair": Position("11112333 11245668 11344557 11224579", 0, "", "13"),
    "single_lance": Position("11234556 11222458 11334579 11113467", 0, "", "15"),
    "lance_run": Position("12224678 11123379 11344556 11113455", 0, "12 p p p 42 p p p", "62"),
    "join_pawns": Position("11122557 11123468 12334457 11134569", 2, "34 41 15 p p 51 12", "21"),
    "keep_pawn": Position("11224557 11123567 11133444 11235689", 2, "14 p p p", "34"),
}
"""The position of each principle, by its key."""


def picture_name(key: str, code: LanguageName, theme: Theme) -> str:
    """Returns the name of the file of a picture."""
    return f"win-{key.replace('_', '-')}-{code}-{theme}.svg"


def advice(position: Position, code: LanguageName) -> str:
    """Returns the advised action in words."""
    say = language(code)
    action = say(words.action(actions.parse(position.best), "{block} then {attack}"))
    return f"{say('best')}{say(': ')}{action}"


def description(position: Position, code: LanguageName) -> str:
    """Returns a board in words, for those who cannot see it."""
    say, scene = language(code), position.scene()
    sentences = [say(sentence) for sentence in words.position(scene)[1:]]
    return " ".join([*sentences, f"{advice(position, code)}{say('.')}"])


def drawing(position: Position, code: LanguageName, theme: Theme) -> Drawing:
    """Draws a board with the advised action marked in the hand and named below it."""
    say, action = language(code), actions.parse(position.best)
    board = svg.draw(position.scene(), theme=theme, language=say, marked={"best": action})
    pen = Pen(theme, "characters", say)
    pen.box(0, svg.SIZE, svg.SIZE, STRIP, pen.colors.ground)
    pen.text(svg.SIZE / 2, svg.SIZE + 26, advice(position, code), 24, pen.colors.last, "middle")
    strip = pen.drawing(svg.SIZE, svg.SIZE + STRIP, board.title, board.description)
    definitions = tuple(dict.fromkeys([*board.definitions, *strip.definitions]))
    return replace(strip, definitions=definitions, lines=(*board.lines, *strip.lines))


def check() -> None:
    """Prints by how many points each advised action leads the best one against its principle."""
    agent, others = load_policy("champion"), people(PEOPLE)
    for principle in PRINCIPLES:
        position = POSITIONS[principle.key]
        game, best = position.game(), actions.parse(position.best)
        assert game.seat is not None
        view = game.view(game.seat)
        follow, against = (mask[0] for mask in principle.actions(view))
        search = TypedSearch(agent, others, CHECK_WORLDS, MatchPriors(others).after(()))
        rival = int(np.flatnonzero(against)[0])
        for _ in range(2):  # the strongest action against the principle becomes the rival
            valued = search.value(view, game.seat, rival, seed=0)
            points = {option.action: option.points for option in valued.options}
            rival = max(np.flatnonzero(against).tolist(), key=points.__getitem__)
        is_best = valued.best == best and follow[best]
        verdict = "is best" if is_best else f"is NOT best, but {actions.name(valued.best)}"
        lead = f"{valued.loss:.1f} ± {valued.loss_error:.1f} points over {actions.name(rival)}"
        sys.stdout.write(f"{principle.key}: {position.best} {verdict}, {lead}\n")


def main() -> None:
    if "--check" in sys.argv[1:]:
        check()
        return
    for key, position in POSITIONS.items():
        for code in LANGUAGES:
            for theme in ("light", "dark"):
                text = write_document(drawing(position, code, theme), WIDTH)
                (FOLDER / picture_name(key, code, theme)).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
