"""Draws every position of deals for a page; a frame is a list of numbers of shared lines.

Python makes all drawings; the page only looks lines up. One drawing serves both themes, whose
colours the page exchanges, and all faces, which are definitions of their own. So does the graph of
an analysis, whose colours come from the page's style sheet by class.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from math import ceil
from typing import Any, Final

from goita_env import Game, actions
from goita_env.errors import RecordError
from goita_env.render import pen, svg, words
from goita_env.render.pen import Drawing
from goita_env.render.translation import ENGLISH, Joined, Language, Phrase
from goita_env.tiles import NAMES, NUM_SEATS
from goita_lab.arena.report.figures import true_minus
from goita_lab.pages.languages import person, place, round_end, rules_of, seen_from
from goita_lab.pages.watch.decisions import Decision, verdict
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


LEFT: Final = 52
"""Of the first position."""
RIGHT: Final = 586
"""Of the last one."""

_CURVE: Final = (38, 160)
"""Top and bottom of the band of expected points, then of that of points lost."""
_LOST: Final = (206, 262)
BOTTOM: Final = _LOST[1]
_MARK: Final = 14
"""Height of the mark over the longest bar."""


def draw_graph(
    decisions: Sequence[Decision],
    moves: int,
    result: int | None,
    say: Language = ENGLISH,
    viewer: int | None = None,
) -> dict[str, str]:
    """Draws the graph of a deal: what could be expected before each move, and what the move lost.

    Move n lies between the positions n - 1 and n.

    Args:
        decisions: of the deal, in order.
        moves: how many moves it has, at least as many as the decisions reach.
        result: points that seats 0 and 2 made, minus those of the others; None: no round was ended.
        say: tells its words in a language.
        viewer: whose team's points are drawn, and whose decisions alone are marked; None: those of
            seats 0 and 2, and of all.

    Returns:
        The content of ``<svg>``, and the same in words.
    """
    step, side = (RIGHT - LEFT) / max(moves, 1), 0 if viewer is None else viewer % 2

    def at(position: float) -> float:
        return LEFT + step * position

    signs = {one.move: -1 if (one.seat - side) % 2 else 1 for one in decisions}
    known = [(o.move - 1, signs[o.move] * o.expected) for o in decisions if o.expected is not None]
    seen = [
        (o.move - 1, signs[o.move] * o.open_value) for o in decisions if o.open_value is not None
    ]
    result = None if result is None else -result if side else result
    last = [] if result is None else [(moves, float(result))]
    points = [value for _, value in (*known, *seen, *last)]
    edge = max(10, 10 * ceil(max(map(abs, points), default=0) / 10))
    parts = [
        _scale(edge, say, viewer is not None),
        _line([*seen, *last], at, edge, "open"),
        _line([*known, *last], at, edge, "search"),
    ]
    for x, value in known:
        place = f'cx="{at(x):.1f}" cy="{_height(value, edge):.1f}"'
        parts.append(f'<circle class="dot search" {place} r="3.5"/>')
    for x, value in last:
        y = _height(value, edge) - 7
        parts.append(f'<path class="result" d="M{at(x):.1f} {y:.1f}l7 7-7 7-7-7z"/>')
    errors = [
        one.move for one in decisions if verdict(one) == "clear" and viewer in (None, one.seat)
    ]
    parts += _bars(decisions, at, errors)
    marked = ", ".join(map(str, errors))
    whose = _team(viewer is not None)
    if not points:
        return {"svg": "".join(parts), "label": say("No points are known.")}
    span = Phrase("{low} to {high}", low=f"{min(points):+.0f}", high=f"{max(points):+.0f}")
    label = Joined(
        " ",
        [
            Phrase("{whose} before each move: {span}.", whose=whose, span=span),
            Phrase("Errors at moves {moves}.", moves=marked) if marked else "No error.",
            *([] if result is None else [Phrase("The round ended with {n}.", n=f"{result:+}")]),
        ],
    )
    return {"svg": "".join(parts), "label": true_minus(say(label))}


def _team(is_own: bool) -> str:
    return "expected points of your team" if is_own else "expected points of seats 0 and 2"


def _height(value: float, edge: float) -> float:
    top, bottom = _CURVE
    return (top + bottom) / 2 - value / edge * (bottom - top) / 2


def _scale(edge: int, say: Language, is_own: bool) -> str:
    parts = [_title(_CURVE[0] - 16, say(_team(is_own)))]
    for value in (edge, 0, -edge):
        y, name = _height(value, edge), "grid" if value else "axis"
        parts.append(f'<path class="{name}" d="M{LEFT} {y:.1f}H{RIGHT}"/>')
        parts.append(_tick(f"{y + 5:.1f}", true_minus(f"{value:+}") if value else "0"))
    top, bottom = _LOST
    parts.append(_title(top - 10, say("points lost, by what the player could know")))
    parts.append(f'<path class="axis" d="M{LEFT} {bottom}H{RIGHT}"/>')
    return "".join(parts)


def _title(y: float, text: str) -> str:
    return f'<text x="2" y="{y}">{text}</text>'


def _tick(y: object, text: str) -> str:
    return f'<text class="tick" x="{LEFT - 6}" y="{y}">{text}</text>'


def _line(
    series: Sequence[tuple[int, float]], at: Callable[[float], float], edge: int, name: str
) -> str:
    """Returns a line through values, each (position, points)."""
    if len(series) < 2:
        return ""
    path = "L".join(f"{at(x):.1f} {_height(value, edge):.1f}" for x, value in series)
    return f'<path class="{name}" d="M{path}"/>'


def _bars(
    decisions: Sequence[Decision], at: Callable[[float], float], errors: Collection[int]
) -> list[str]:
    """Returns the bars of points lost by move, each as wide as most of its move."""
    top, bottom = _LOST
    most = max([10.0, *(one.loss for one in decisions)])
    wide, scale = min((at(1) - at(0)) * 0.6, 18), (bottom - top - _MARK) / most
    parts = [_tick(top + _MARK + 5, f"{most:.0f}")]
    for one in decisions:
        x, high = at(one.move - 0.5), max(scale * one.loss, 1.5)
        kind = "error" if one.move in errors else "loss"
        if one.loss > 0:
            parts.append(
                f'<rect class="bar {kind}" x="{x - wide / 2:.1f}" y="{bottom - high:.1f}" '
                f'width="{wide:.1f}" height="{high:.1f}"/>'
            )
        if one.move in errors:
            parts.append(f'<text class="mark" x="{x:.1f}" y="{bottom - high - 3:.1f}">!</text>')
    return parts
