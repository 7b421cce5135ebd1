"""Draws every position of the deals of a page, and the graph of an analysis.

Drawings share most of their lines (of SVG). A book keeps each line once, and a frame lists the
numbers of its lines; the page's script looks the lines up. One drawing serves both themes, because
the script exchanges the colours, and all faces, because the faces are definitions outside the
drawing. A graph takes its colours from the page's style sheet.
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
from goita_lab.pages.watch.decisions import Decision, error_size
from goita_lab.pages.watch.reading import Watched

Frame = tuple[list[int], list[int]]
"""Numbers of the lines that are drawn, and of the sentences that describe the drawing."""


class Book:
    """All drawings that a page shows of deals.

    Args:
        deals: what is drawn.
        say: translates texts into the language of the page.
        viewer: the seat at the bottom, for whose player seats are named; None: seats have numbers.

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
        """Returns the facts, moves and frames of a deal, up to its first move that is not legal."""
        deal, note = watched.deal, watched.note
        game = deal.begin()
        frames, moves = [self._frames(game)], list[dict[str, Any]]()
        try:
            for (seat, action), game in zip(deal.moves, deal.replay(), strict=False):
                redealt = len(game.deals) > 1  # the game is already at the next deal
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
        return [
            self._frame(svg.draw(scene, faces="letters", language=self.say)) for scene in scenes
        ]

    def _move(self, game: Game, seat: int, action: int) -> dict[str, Any]:
        """Returns a move as the page lists it; ``game`` is the position right after the move."""
        winner = "" if game.winner is None else self.name(game.winner)
        move = _described(game, seat, action, self.name(seat), winner)
        return move | {key: self.say(move[key]) for key in ("said", "hidden", "end")}

    def person(self, seat: int) -> str:
        """Returns what a sentence calls the player of a seat."""
        return person(seat, self._viewer)

    def name(self, seat: int) -> str:
        """Returns what the page calls a seat."""
        return seat_name(seat, self._viewer)

    def _frame(self, drawing: Drawing) -> Frame:
        self._letters |= dict.fromkeys(filter(pen.is_letter, drawing.definitions))
        sentences = [drawing.title, *drawing.description.splitlines()]
        return _numbers(self.lines, drawing.lines), _numbers(self.sentences, sentences)


def seat_name(seat: int, viewer: int | None) -> str:
    """Returns what a page calls a seat: its number if the viewer is None."""
    return f"seat {seat}" if viewer is None else place(seat, viewer)


def _numbers(number_by_text: dict[str, int], texts: Iterable[str]) -> list[int]:
    """Returns the numbers of texts; a new text is added with the next number."""
    return [number_by_text.setdefault(text, len(number_by_text)) for text in texts]


def _described(game: Game, seat: int, action: int, who: str, winner: str) -> dict[str, Any]:
    """Returns a move in words: to viewers of all hands ("said"), and to the other seats ("hidden").

    Args:
        game: the position right after the move.
        seat: the seat that moved.
        action: what it played.
        who: the page's name for the seat.
        winner: the page's name for the seat that ended the round; empty if it is not over.
    """
    name = actions.name(action, game.information.num_actions)
    move: dict[str, Any] = {"seat": seat, "name": name, "end": ""}
    channel, pair = game.information.channel, None
    if channel is not None and action >= actions.MESSAGE:
        open_text = Phrase("{who}: message {n}", who=who, n=action - actions.MESSAGE)
        hidden = open_text if channel.audience == "all" else Phrase("{who}: a message", who=who)
    elif (pair := actions.decode(action)) is None:
        answers = {actions.CALL: "call", actions.SILENT: "keep silent"}
        what = answers.get(action, words.action(action))
        open_text = Phrase("{who}: {what}", who=who, what=what)
        # Nobody else learns that a seat could call and kept silent.
        hidden = Phrase("") if action == actions.SILENT else open_text
    else:
        view = game.view(seat)
        down = bool(view.event_face_down[0, int(view.num_plays[0]) - 1])
        block, attack = (NAMES[kind] for kind in pair)
        move |= {"pair": pair, "down": down}
        open_text = Phrase("{who}: {what}", who=who, what=words.play(block, pair[1], down=down))
        back = Phrase("{block} then {attack}", block="face-down tile", attack=attack)
        hidden = Phrase("{who}: {what}", who=who, what=back) if down else open_text
    if len(game.deals) > 1:
        move["end"] = "a redeal"
    elif game.winner is not None:
        move["end"] = round_end(winner, game.points)
    return move | {"said": open_text, "hidden": hidden}


LEFT: Final = 52
"""x of the first position in the graph."""
RIGHT: Final = 586
"""x of the last position."""

_CURVE: Final = (38, 160)
"""Top and bottom of the band that shows expected points."""
_LOST: Final = (206, 262)
"""Top and bottom of the band that shows points lost."""
BOTTOM: Final = _LOST[1]
_MARK: Final = 14
"""Height of the mark over the longest bar."""
_MAX_BAR_WIDTH: Final = 18
_MIN_BAR_HEIGHT: Final = 1.5


def draw_graph(
    decisions: Sequence[Decision],
    moves: int,
    result: int | None,
    say: Language = ENGLISH,
    viewer: int | None = None,
) -> dict[str, str]:
    """Draws the graph of a deal: the points expected before each move, and those that it lost.

    Move n lies between the positions n - 1 and n.

    Args:
        decisions: of the deal, in order.
        moves: the number of moves of the deal, the last decision's or more.
        result: points that seats 0 and 2 made, minus those of the others; None: no round was ended.
        say: translates texts into the language of the page.
        viewer: a seat: the points of its team are drawn, and only its errors are marked; None: the
            points of seats 0 and 2, and the errors of all seats.

    Returns:
        The content of ``<svg>``, and the same in words.
    """
    step, side = (RIGHT - LEFT) / max(moves, 1), 0 if viewer is None else viewer % 2

    def x_of(position: float) -> float:
        return LEFT + step * position

    # Points of a decision are those of the acting team; the graph shows those of one team.
    expected, open_values = list[tuple[int, float]](), list[tuple[int, float]]()
    for decision in decisions:
        sign, position = 1 if decision.seat % 2 == side else -1, decision.move - 1
        if decision.expected is not None:
            expected.append((position, sign * decision.expected))
        if decision.open_value is not None:
            open_values.append((position, sign * decision.open_value))
    result = None if result is None else -result if side else result
    last = [] if result is None else [(moves, float(result))]
    points = [value for _, value in (*expected, *open_values, *last)]
    # Points at the top of the curve, minus which are at its bottom: the next multiple of ten.
    edge = max(10, 10 * ceil(max(map(abs, points), default=0) / 10))
    parts = [
        _scale(edge, say, viewer is not None),
        _line([*open_values, *last], x_of, edge, "open"),
        _line([*expected, *last], x_of, edge, "search"),
    ]
    for position, value in expected:
        place = f'cx="{x_of(position):.1f}" cy="{_height(value, edge):.1f}"'
        parts.append(f'<circle class="dot search" {place} r="3.5"/>')
    for position, value in last:
        y = _height(value, edge) - 7  # a diamond of 14 by 14, drawn from its upper corner
        parts.append(f'<path class="result" d="M{x_of(position):.1f} {y:.1f}l7 7-7 7-7-7z"/>')
    errors = [
        decision.move
        for decision in decisions
        if error_size(decision) and viewer in (None, decision.seat)
    ]
    parts += _bars(decisions, x_of, errors)
    label = _label(points, errors, result, viewer is not None)
    return {"svg": "".join(parts), "label": true_minus(say(label))}


def _label(
    points: Sequence[float], errors: Sequence[int], result: int | None, is_own: bool
) -> Phrase:
    """Returns the graph in words."""
    if not points:
        return Phrase("No points are known.")
    moves = ", ".join(map(str, errors))
    span = Phrase("{low} to {high}", low=f"{min(points):+.0f}", high=f"{max(points):+.0f}")
    sentences = [
        Phrase("{whose} before each move: {span}.", whose=_team(is_own), span=span),
        Phrase("Errors at moves {moves}.", moves=moves) if moves else "No error.",
    ]
    if result is not None:
        sentences.append(Phrase("The round ended with {n}.", n=f"{result:+}"))
    return Joined(" ", sentences)


def _team(is_own: bool) -> str:
    return "expected points of your team" if is_own else "expected points of seats 0 and 2"


def _height(value: float, edge: float) -> float:
    """Returns the y of points in the curve; ``edge``: points at the top."""
    top, bottom = _CURVE
    return (top + bottom) / 2 - value / edge * (bottom - top) / 2


def _scale(edge: int, say: Language, is_own: bool) -> str:
    """Returns titles, lines and numbers of both bands; ``edge``: points at the curve's top."""
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
    series: Sequence[tuple[int, float]], x_of: Callable[[float], float], edge: int, name: str
) -> str:
    """Returns a line through values, each (position, points); ``edge``: points at the top."""
    if len(series) < 2:
        return ""
    path = "L".join(
        f"{x_of(position):.1f} {_height(value, edge):.1f}" for position, value in series
    )
    return f'<path class="{name}" d="M{path}"/>'


def _bars(
    decisions: Sequence[Decision], x_of: Callable[[float], float], errors: Collection[int]
) -> list[str]:
    """Returns the bars of points lost by move; ``errors``: the moves that get a mark."""
    top, bottom = _LOST
    greatest_loss = max([10.0, *(decision.loss for decision in decisions)])
    step, scale = x_of(1) - x_of(0), (bottom - top - _MARK) / greatest_loss
    width = min(0.6 * step, _MAX_BAR_WIDTH)
    parts = [_tick(top + _MARK + 5, f"{greatest_loss:.0f}")]
    for decision in decisions:
        x, height = x_of(decision.move - 0.5), max(scale * decision.loss, _MIN_BAR_HEIGHT)
        kind = "error" if decision.move in errors else "loss"
        if decision.loss > 0:
            parts.append(
                f'<rect class="bar {kind}" x="{x - width / 2:.1f}" y="{bottom - height:.1f}" '
                f'width="{width:.1f}" height="{height:.1f}"/>'
            )
        if decision.move in errors:
            parts.append(
                f'<text class="mark" x="{x:.1f}" y="{bottom - height - 3:.1f}">'
                f"{'!' * error_size(decision)}</text>"
            )
    return parts
