"""Plays a match in the terminal: plain lines in and out, 80 columns, no colour needed."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Sequence
from contextlib import suppress
from typing import Final
from unicodedata import normalize

from goita_agents.base import AgentError
from goita_env import View, actions, tiles
from goita_env.errors import ActionError, GoitaError
from goita_env.render import ansi
from goita_env.tiles import CHARACTERS, DIGITS, LETTERS, NAMES, NUM_SEATS, POINTS
from goita_lab.arena.report.figures import line
from goita_lab.pages.languages import PLACES
from goita_lab.pages.play import sentences
from goita_lab.pages.play.table import PlayTable

TERMINAL_WIDTH: Final = 78

COMMANDS: Final = {
    "?": "what can be typed",
    "hint": "what the champion would do, with the points of a search",
    "back": "take back your last move",
    "quit": "leave; the match is saved",
}

COMMANDS_AFTER_ROUND: Final = ("?", "back", "quit")
"""Commands that can be typed after a round, too."""

_MOVES: Final = (actions.PASS, actions.CALL, actions.SILENT, actions.REDEAL, actions.CONTINUE)
WORDS: Final[dict[str, int]] = {sentences.action(action): action for action in _MOVES}
"""The moves that play no tiles, by the word that is typed."""

_KINDS: Final = {
    **{tile: kind for faces in (CHARACTERS, DIGITS, LETTERS) for kind, tile in enumerate(faces)},
    tiles.SECOND_KING_CHARACTER: tiles.KING,
    tiles.SECOND_KING_DIGIT: tiles.KING,
}

MOST_OPTIONS: Final = 8
"""Most actions of a hint that are shown."""


class Terminal:
    """A terminal that shows a match and asks for moves; ``ascii``: tiles as digits."""

    def __init__(self, table: PlayTable, *, ascii: bool = False) -> None:  # noqa: A002  (its plain name)
        self.table = table
        self.ascii = ascii or not _writes(f"{CHARACTERS}〓・")
        self.faces = DIGITS if self.ascii else CHARACTERS

    def play(self) -> None:
        """Plays the match to its end, or until the player leaves."""
        with suppress(ImportError):
            import readline  # noqa: F401  (lines can be edited, and come back with the arrow keys)

        self._greet()
        table = self.table
        while True:
            for event in table.advance():
                self._say(event)
            print(f"\n{ansi.render(table.asking(), ascii=self.ascii)}")
            if table.asks == "match":
                self._say(sentences.match_end(*table.scores))
                return
            if not self._ask():
                return

    def _ask(self) -> bool:
        """Reads lines until one of them changes the match; False: the player leaves."""
        between = self.table.asks == "round"
        prompt = "your move (? helps) > "
        if between:
            prompt = "Enter: next round, back: take back, quit, ? helps > "
        while True:
            if (text := self._line(prompt)) is None:
                return False
            try:
                if not text and between:
                    self.table.next_round()
                    return True
                if not text:
                    continue
                legal = [] if between else self.table.legal
                request = read(text, legal)
                if isinstance(request, int):
                    self._say(self.table.decide(request))
                    return True
                if request == "quit":
                    return False
                if request == "back":
                    self.table.take_back()
                    return True
                if request == "hint":
                    self._hint()
                else:
                    print(help_text(self.table.view, legal, self.faces))
            except AgentError:
                raise
            except GoitaError as error:
                self._say(f"{error}".partition("\n")[0])

    def _hint(self) -> None:
        """Prints the champion's hint, with a table of the actions that it considers."""
        hint = self.table.hint()
        leads = bool(self.table.view.leads[0])
        self._say(sentences.hint(hint, leads=leads))
        if hint.principle:
            self._say(hint.principle.sentence)
        lead = hint.comparison.lead
        if hint.clear and lead >= 0.5:
            rival = sentences.action(hint.comparison.rival)
            self._say(f"It is worth {lead:.1f} points more than {rival}.")
        print(f"  {'action':25}1st choice points")
        for option in hint.options[:MOST_OPTIONS]:
            mark = ">" if option.action == hint.action else " "
            faces = self._tiles(option.action)
            # Characters take two columns each, which a format's width does not know.
            faces += " " * (5 - ansi.width(faces))
            points = "" if option.points is None else f" {option.points:+7.1f} ± {option.error:.1f}"
            print(
                f"{mark} {faces}{sentences.action(option.action):20}"
                f"{sentences.share(option.probability):>10}{points}"
            )
        self._say(
            "1st choice: how often the champion plays it without looking ahead. Points: of the "
            "round for your team, a mean over hands that you cannot rule out. ± is one standard "
            "error of that sampling; how the others play is the larger uncertainty."
        )

    def _greet(self) -> None:
        """Prints who plays and by which rules, and the moves of the present round so far."""
        names, seat = self.table.settings.names, self.table.seat
        seated = [
            f"{PLACES[turn]}: {names[(seat + turn) % NUM_SEATS]}" for turn in range(1, NUM_SEATS)
        ]
        rules, seed = self.table.settings.rules, self.table.settings.seed
        total = f"to {rules.match_points} points, rules {rules.name}, seed {seed}"
        # The names may come from a file of somebody else, so control characters go.
        self._say(line(f"Goita {total}. {', '.join(seated)}."))
        self._say("? helps.")
        for event in self.table.log:
            self._say(event)

    def _say(self, text: str) -> None:
        print(textwrap.fill(f"{text[:1].upper()}{text[1:]}", TERMINAL_WIDTH))

    def _line(self, prompt: str) -> str | None:
        """Returns the line that is typed; None: the input has ended."""
        try:
            return input(prompt).strip()
        except EOFError:
            print()
            return None

    def _tiles(self, action: int) -> str:
        pair = actions.decode(action)
        return actions.name(action) if pair is None else "".join(self.faces[kind] for kind in pair)


def _writes(text: str) -> bool:
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True


def read(typed: str, legal: Sequence[int]) -> int | str:
    """Returns the action or the command that a line means.

    Words and commands may be abbreviated as long as only one begins so.

    Args:
        typed: the line.
        legal: the legal actions; none after a round.
    """
    word = normalize("NFKC", typed).strip().lower()
    allowed = [name for name, action in WORDS.items() if action in legal]
    allowed += COMMANDS if legal else COMMANDS_AFTER_ROUND
    candidates = [candidate for candidate in allowed if word and candidate.startswith(word)]
    if len(candidates) == 1:
        return WORDS.get(candidates[0], candidates[0])
    pair = word.upper().replace(" ", "")
    if legal and len(pair) == 2 and all(tile in _KINDS for tile in pair):
        action = actions.encode(_KINDS[pair[0]], _KINDS[pair[1]])
        if action in legal:
            return action
        name = sentences.action(action)
        raise ActionError(f"expected a legal move, got {pair!r} ({name}); ? lists them")
    expected = "a move or ? for what can be typed"
    if candidates or not legal:
        expected = f"one of {', '.join(candidates or COMMANDS_AFTER_ROUND)}"
    raise ActionError(f"expected {expected}, got {typed.strip()[:40]!r}")


def help_text(view: View, legal: Sequence[int], faces: str) -> str:
    """Returns what can be typed, the legal moves first, at most 78 columns wide.

    Args:
        view: of the player: one row.
        legal: the legal actions; none after a round.
        faces: how tiles are written: eight of the characters or digits.
    """
    names = COMMANDS_AFTER_ROUND if not legal else COMMANDS
    rows = [f"  {name:8} {COMMANDS[name]}" for name in names]
    if not legal:
        return "\n".join(["You may type:", "  Enter    the next round", *rows])
    verb = "lay face down" if view.leads[0] else "receive with"
    attacks_by_block: dict[int, str] = {}
    for block, attack in filter(None, map(actions.decode, legal)):
        attacks_by_block[block] = attacks_by_block.get(block, "") + faces[attack]
    lines = [
        f"{verb} {faces[block]}, attack with one of {attacks}"
        for block, attacks in attacks_by_block.items()
    ]
    lines += [word for word, action in WORDS.items() if action in legal]
    # Each kind in all writings, such as "歩 1 P pawn 10".
    writings = [*dict.fromkeys((faces, DIGITS, LETTERS)), NAMES]
    kinds = ", ".join(
        f"{' '.join(writing[kind] for writing in writings)} {points}"
        for kind, points in enumerate(POINTS)
    )
    help_lines = [
        "You may:",
        *(f"  {line}" for line in lines),
        *textwrap.wrap(f"Tiles and their points: {kinds}.", 76),
        *textwrap.wrap(ansi.signs(ascii=faces == DIGITS), 76),
        "Type the two tiles, the attack last: 54, GS.",
        "Or:",
        *rows,
    ]
    return "\n".join(help_lines)
