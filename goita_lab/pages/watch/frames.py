"""Draws every position of deals for a page; a frame is a list of numbers of shared lines.

Python makes all drawings; the page only looks lines up. One drawing serves both themes, whose
colours the page exchanges, and all faces, which are definitions of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from goita_env import Game, actions
from goita_env.errors import RecordError
from goita_env.render import pen, svg, words
from goita_env.render.pen import Drawing
from goita_env.render.translation import ENGLISH, Language, Phrase
from goita_env.tiles import NAMES, NUM_SEATS
from goita_lab.pages.languages import person, place, round_end, rules_of, seen_from
from goita_lab.pages.watch.reading import Watched

Frame = tuple[list[int], list[int]]
"""Numbers of the lines that are drawn, and of the sentences that describe the drawing."""


class Book:
    """All drawings that a page shows of deals.

    Args:
        deals: what is drawn.
        say: tells its words in a language.
        viewer: the seat from which the others are named, at the bottom; None: all go by number.

    Attributes:
        lines: numbers of the lines that are drawn, by line.
        sentences: numbers of the sentences, by sentence.
        deals: facts, moves and frames of each deal, for the page's script.
    """

    def __init__(
        self, deals: Sequence[Watched], say: Language = ENGLISH, viewer: int | None = None
    ) -> None:
        self.say, self._viewer = say, viewer
        self.lines: dict[str, int] = {}
        self.sentences: dict[str, int] = {}
        self._letters: dict[str, None] = {}  # outlines that words are written with
        self.deals = list(map(self._deal, deals))

    def faces(self) -> dict[str, str]:
        """Returns the content of ``<defs>`` by name of the faces."""
        letters = "".join(self._letters)
        return {faces: letters + "".join(pen.every_tile("light", faces)) for faces in pen.FACES}

    def _deal(self, watched: Watched) -> dict[str, Any]:
        deal, note = watched.deal, watched.note
        game = deal.begin()
        frames, moves = [self._frames(game)], list[dict[str, Any]]()
        try:
            for (seat, action), game in zip(deal.moves, deal.replay(), strict=False):
                redealt = len(game.deals) > 1  # the game stands at another deal already
                moves.append(self._move(game, seat, action))
                frames.append(frames[-1] if redealt else self._frames(game))
        except RecordError as error:
            note = f"{note}; {error}" if note else str(error)
        return {
            "players": list(watched.players),
            "note": self.say(note),
            "rules": self.say(rules_of(deal.rules)),
            "dealer": deal.dealer,
            "scores": list(deal.scores),
            "result": moves[-1]["end"] if moves else "",
            "moves": moves,
            "frames": frames,
        }

    def _frames(self, game: Game) -> list[Frame]:
        """Returns what each seat sees of a position, then the whole table."""
        scenes = [game.view(seat).scene(seat) for seat in range(NUM_SEATS)]
        scenes.append(game.scene(self._viewer or 0))
        if self._viewer is not None:
            scenes = [seen_from(scene, self._viewer) for scene in scenes]
        return [self._frame(svg.draw(one, faces="letters", language=self.say)) for one in scenes]

    def _move(self, game: Game, seat: int, action: int) -> dict[str, Any]:
        """Returns a move as the page lists it; the game stands right after it."""
        winner = "" if game.winner is None else self.name(game.winner)
        told = _told(game, seat, action, self.name(seat), winner)
        return told | {key: self.say(told[key]) for key in ("said", "hidden", "end")}

    def person(self, seat: int) -> str:
        """Returns what a sentence calls who sits there."""
        return person(seat, self._viewer)

    def name(self, seat: int) -> str:
        """Returns what the page calls a seat."""
        return f"seat {seat}" if self._viewer is None else place(seat, self._viewer)

    def _frame(self, drawing: Drawing) -> Frame:
        self._letters |= dict.fromkeys(one for one in drawing.definitions if pen.is_letter(one))
        told = [drawing.title, *drawing.description.splitlines()]
        return _numbers(self.lines, drawing.lines), _numbers(self.sentences, told)


def _numbers(known: dict[str, int], texts: Iterable[str]) -> list[int]:
    """Returns the numbers of texts; a new text gets the next one."""
    return [known.setdefault(text, len(known)) for text in texts]


def _told(game: Game, seat: int, action: int, who: str, winner: str) -> dict[str, Any]:
    """Returns a move in words; ``who`` made it, and ``winner`` ended the round, if it is over."""
    name = actions.name(action, game.information.num_actions)
    told: dict[str, Any] = {"seat": seat, "name": name, "end": ""}
    channel, pair = game.information.channel, None
    if channel is not None and action >= actions.MESSAGE:
        said = Phrase("{who}: message {n}", who=who, n=action - actions.MESSAGE)
        hidden = said if channel.audience == "all" else Phrase("{who}: a message", who=who)
    elif (pair := actions.decode(action)) is None:
        answers = {actions.CALL: "call", actions.SILENT: "keep silent"}
        said = Phrase("{who}: {what}", who=who, what=answers.get(action, words.action(action)))
        # Nobody else learns that a seat was asked and kept silent.
        hidden = Phrase("") if action == actions.SILENT else said
    else:
        own = game.view(seat)
        down = bool(own.event_face_down[0, int(own.num_plays[0]) - 1])
        block, attack = (NAMES[kind] for kind in pair)
        told |= {"pair": pair, "down": down}
        said = Phrase("{who}: {what}", who=who, what=words.play(block, pair[1], down=down))
        back = Phrase("{block} then {attack}", block="face-down tile", attack=attack)
        hidden = Phrase("{who}: {what}", who=who, what=back) if down else said
    if len(game.deals) > 1:
        told["end"] = "a redeal"
    elif game.winner is not None:
        told["end"] = round_end(winner, game.points)
    return told | {"said": said, "hidden": hidden}
