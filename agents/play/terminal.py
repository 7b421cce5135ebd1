"""Plays in the terminal: plain lines in and out, 80 columns, no colour needed."""

from __future__ import annotations

import sys
import textwrap
from contextlib import suppress
from typing import Final

from agents.base import AgentError
from agents.play import advice, sentences, showing, typed
from agents.play.table import Table
from agents.report.figures import line
from goita_env import actions
from goita_env.errors import ActionError, GoitaError
from goita_env.render import ansi
from goita_env.render.scene import Scene
from goita_env.tiles import CHARACTERS, DIGITS, NAMES, NUM_SEATS

WIDTH: Final = 78


class Terminal:
    """Shows a table to a terminal and asks for moves.

    Args:
        table: the match.
        ascii: write tiles as digits; also where the terminal knows no others.
    """

    def __init__(self, table: Table, *, ascii: bool = False) -> None:  # noqa: A002  (its plain name)
        self.table = table
        self.ascii = ascii or not _writes(f"{CHARACTERS}〓・")
        self.faces = DIGITS if self.ascii else CHARACTERS

    def play(self) -> None:
        """Plays the match to its end, or until the player leaves.

        Raises:
            KeyboardInterrupt: if the player presses Ctrl-C.
            AgentError: if an agent answers what is illegal, or its code raises.
            OSError: if the match cannot be saved.
        """
        with suppress(ImportError):
            import readline  # noqa: F401  (lines can be edited, and come back with the arrow keys)

        self._greet()
        table = self.table
        while True:
            for said in table.advance():
                self._say(said)
            if table.asks == "move":
                self._show(showing.seen(table))
                if not self._move():
                    return
                continue
            self._show(showing.opened(table))
            if table.asks == "match":
                own, other = table.scores
                wins = "win" if own > other else "lose"
                self._say(f"The match is over: you {wins}, {own} to {other}.")
                return
            if not self._after_round():
                return

    # ------------------------------------------------------------------------------------- a move

    def _move(self) -> bool:
        """Asks for a move until one is made or taken back; False: the player leaves."""
        while True:
            text = self._line("your move (? helps) > ")
            if text is None:
                return False
            if not text:
                continue
            try:
                meant = typed.read(text, self.table.legal)
                if isinstance(meant, int):
                    self._say(self.table.decide(meant))
                    return True
                if meant == "quit":
                    return False
                if meant == "back":
                    self.table.take_back()
                    return True
                self._obey(meant)
            except AgentError:
                raise
            except GoitaError as error:
                self._say(f"{error}".partition("\n")[0])

    def _after_round(self) -> bool:
        """Asks whether to go on, until it is known; False: the player leaves."""
        while True:
            text = self._line("Enter: next round, back: take back, quit, ? helps > ")
            try:
                meant = "quit" if text is None else typed.read_between(text)
            except ActionError as error:
                self._say(f"{error}")
                continue
            if meant == "quit":
                return False
            if meant == "":
                self.table.go_on()
                return True
            if meant == "back" and self.table.may_take_back:
                self.table.take_back()
                return True
            if meant == "?":
                print(typed.help_between())
            elif meant == "log":
                self._log()
            elif meant == "table":
                self._show(showing.opened(self.table))
            else:
                self._say("expected a move to take back, got none")

    def _obey(self, command: str) -> None:
        """Does what a command says that leaves the table as it is."""
        table = self.table
        if command == "?":
            print(typed.help_text(table.view, table.legal, self.faces))
        elif command == "hint":
            self._hint()
        elif command == "partner":
            self._partner()
        elif command == "log":
            self._log()
        else:
            self._show(showing.seen(table))

    def _hint(self) -> None:
        """Writes what the champion would do."""
        hint = advice.hint(self.table.view)
        print(f"The champion suggests {typed.said(hint.action)}.")
        print("Its policy, and points of the round in played-out worlds. ± is one standard")
        print("error of that sampling; how the others play is the larger uncertainty.")
        for one in hint.options:
            mark = ">" if one.action == hint.action else " "
            tiles = self._tiles(one.action)
            print(
                f"{mark} {tiles}{' ' * (5 - ansi.width(tiles))}{typed.said(one.action):20}"
                f"{one.probability:5.0%} {one.points:+7.1f} ± {one.error:.1f}"
            )

    def _partner(self) -> None:
        """Writes what the partner may hold."""
        table = self.table
        guess = advice.partner(table.view, table.others)
        print("What your partner hasn't shown yet, in its hand or face down:")
        rows = zip(self.faces, NAMES, guess.at_least_one, guess.expected, strict=True)
        for face, name, chance, expected in rows:
            bar = "#" * round(20 * chance)
            print(f"  {face} {name:7}{chance:5.0%} {bar:20} {expected:4.1f} expected")
        print("Likeliest hands as dealt:")
        for hand, chance in guess.likely:
            print(f"  {''.join(self.faces[DIGITS.index(tile)] for tile in hand)} {chance:.0%}")
        self._say(f"Supposed of next, partner, previous: {'; '.join(guess.assumed)}.")

    # ------------------------------------------------------------------------------------- writing

    def _log(self) -> None:
        """Writes what has been told of the round."""
        for said in self.table.log:
            self._say(said)

    def _greet(self) -> None:
        """Says who sits where."""
        names, seat = self.table.setting.names, self.table.seat
        seated = [
            f"{sentences.PLACES[place]}: {names[(seat + place) % NUM_SEATS]}"
            for place in range(1, NUM_SEATS)
        ]
        rules = self.table.setting.rules.name
        # The names may be a file's, whoever wrote it.
        self._say(line(f"Goita to 150 points, rules {rules}. {', '.join(seated)}. ? helps."))
        self._log()

    def _show(self, shown: Scene) -> None:
        """Draws a scene."""
        print(f"\n{ansi.draw(shown, ascii=self.ascii)}")

    def _say(self, text: str) -> None:
        """Writes a text."""
        print(textwrap.fill(text, WIDTH))

    def _line(self, prompt: str) -> str | None:
        """Returns a line that is typed, None at the end of the input."""
        try:
            return input(prompt).strip()
        except EOFError:
            print()
            return None

    def _tiles(self, action: int) -> str:
        """Returns an action as it is typed."""
        pair = actions.decode(action)
        return actions.name(action) if pair is None else "".join(self.faces[one] for one in pair)


def _writes(text: str) -> bool:
    """Tells whether the terminal can show a text."""
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True
