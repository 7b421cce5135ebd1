"""Plays a match in the terminal: plain lines in and out, 80 columns, no colour needed."""

from __future__ import annotations

import sys
import textwrap
from contextlib import suppress
from typing import Final

from goita_agents.base import AgentError
from goita_env import actions
from goita_env.errors import GoitaError
from goita_env.render import ansi
from goita_env.tiles import CHARACTERS, DIGITS, NAMES, NUM_SEATS
from goita_lab.arena.report.figures import line
from goita_lab.pages.places import PLACES
from goita_lab.pages.play import advice, commands, sentences
from goita_lab.pages.play.table import PlayTable

WIDTH: Final = 78

MOST_OPTIONS: Final = 8
"""Actions of a hint that are shown."""


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
            for said in table.advance():
                self._say(said)
            self._show()
            if table.asks == "match":
                self._say(sentences.match_end(*table.scores))
                return
            if not self._ask():
                return

    def _ask(self) -> bool:
        """Asks what to do until the match has changed; False: the player leaves."""
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
                meant = commands.read(text, [] if between else self.table.legal)
                if isinstance(meant, int):
                    self._say(self.table.decide(meant))
                    return True
                if meant == "quit":
                    return False
                if meant == "back":
                    self.table.take_back()
                    return True
                self._advise(meant)
            except AgentError:
                raise
            except GoitaError as error:
                self._say(f"{error}".partition("\n")[0])

    def _advise(self, command: str) -> None:
        table = self.table
        if command == "hint":
            self._hint()
        elif command == "partner":
            self._partner()
        else:
            legal = table.legal if table.asks == "move" else []
            print(commands.help_text(table.view, legal, self.faces))

    def _hint(self) -> None:
        hint = self.table.hint()
        print(f"The champion suggests {sentences.action(hint.action)}.")
        best = sentences.action(hint.best)
        if hint.best != hint.action:
            self._say(f"{best} makes more points here, but not clearly.")
        print(f"  {'action':25}at sight  points")
        for one in hint.options[:MOST_OPTIONS]:
            mark = ">" if one.action == hint.action else " "
            tiles = self._tiles(one.action)
            points = "" if one.points is None else f" {one.points:+7.1f} ± {one.error:.1f}"
            print(
                f"{mark} {tiles}{' ' * (5 - ansi.width(tiles))}{sentences.action(one.action):20}"
                f"{sentences.share(one.probability):>8}{points}"
            )
        self._say(
            "At sight: how often the champion plays it without looking ahead. Points: of the round "
            "for your team, a mean over hands that you cannot rule out. ± is one standard error of "
            "that sampling; how the others play is the larger uncertainty."
        )

    def _partner(self) -> None:
        table = self.table
        guess = advice.partner(table.view, table.others)
        print("What your partner hasn't shown yet, in its hand or face down:")
        rows = zip(self.faces, NAMES, guess.at_least_one, guess.expected, strict=True)
        for face, name, chance, expected in rows:
            bar = "#" * round(20 * chance)
            share = sentences.share(chance)
            print(f"  {face} {name:7}{share:>6} {bar:20} {expected:4.1f} expected")
        print("Likeliest hands as dealt:")
        for hand, chance in guess.likely:
            tiles = "".join(self.faces[DIGITS.index(tile)] for tile in hand)
            print(f"  {tiles} {sentences.share(chance)}")
        self._say(f"Models of next, partner, previous: {'; '.join(guess.models)}.")

    def _greet(self) -> None:
        names, seat = self.table.settings.names, self.table.seat
        seated = [
            f"{PLACES[place]}: {names[(seat + place) % NUM_SEATS]}" for place in range(1, NUM_SEATS)
        ]
        rules, seed = self.table.settings.rules, self.table.settings.seed
        total = f"to {rules.match_points} points, rules {rules.name}, seed {seed}"
        # The names may be those of a file that somebody else wrote.
        self._say(line(f"Goita {total}. {', '.join(seated)}."))
        self._say("? helps.")
        for said in self.table.log:
            self._say(said)

    def _show(self) -> None:
        print(f"\n{ansi.render(self.table.asking(), ascii=self.ascii)}")

    def _say(self, text: str) -> None:
        print(textwrap.fill(f"{text[:1].upper()}{text[1:]}", WIDTH))

    def _line(self, prompt: str) -> str | None:
        """Returns what is typed, None at the end of the input."""
        try:
            return input(prompt).strip()
        except EOFError:
            print()
            return None

    def _tiles(self, action: int) -> str:
        pair = actions.decode(action)
        return actions.name(action) if pair is None else "".join(self.faces[one] for one in pair)


def _writes(text: str) -> bool:
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True
