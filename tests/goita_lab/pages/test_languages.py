"""The table of texts: it has all that pages say, and nothing else."""

import ast
import json
import re
from pathlib import Path
from string import Formatter

from goita_agents.principles import PRINCIPLES
from goita_env import Game, actions
from goita_env.render import svg
from goita_env.render.translation import ENGLISH, Joined, Phrase
from goita_env.rules import RULE_SETS
from goita_env.tiles import NAMES
from goita_lab.pages.languages import (
    LANGUAGES,
    PLACES,
    language,
    language_named,
    preferred_language,
)
from programs import ROOT

PAGES = ROOT / "goita_lab" / "pages"
TABLE = json.loads((PAGES / "japanese.json").read_text(encoding="utf-8"))

SENTENCES = {one.sentence for one in PRINCIPLES}
SCRIPTED = re.compile(r"""\bsay\(\s*"((?:[^"\\]|\\.)*)\"""")
"""A text in a script or a template. Where one of two is chosen, both are looked for:"""
CHOSEN = re.compile(r"""\?\s*"((?:[^"\\]|\\.)*[ }](?:[^"\\]|\\.)*)"\s*:\s*"((?:[^"\\]|\\.)*)\"""")


def sources(*kinds: str) -> list[Path]:
    rendered = [*(ROOT / "goita_env" / "render").glob("*.py"), ROOT / "goita_env/views/scenes.py"]
    found = [*PAGES.rglob("*"), *rendered]
    return [path for path in found if path.suffix in kinds]


def texts_of_scripts() -> set[str]:
    """What scripts and templates say."""
    found = set()
    for path in sources(".js", ".html"):
        text = path.read_text(encoding="utf-8")
        found |= {json.loads(f'"{one}"') for one in SCRIPTED.findall(text)}
        if path.suffix == ".js":
            found |= {json.loads(f'"{one}"') for pair in CHOSEN.findall(text) for one in pair}
    return found


def texts_of_code() -> set[str]:
    """The first arguments of ``Phrase`` and ``say`` in code."""
    found = set()
    for path in sources(".py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and node.args:
                name = getattr(node.func, "attr", getattr(node.func, "id", ""))
                first = node.args[0]
                if name in ("Phrase", "say") and isinstance(first, ast.Constant):
                    found.add(first.value)
    return found - {""}


def test_the_table_has_every_text_of_scripts_templates_and_code():
    missing = (texts_of_scripts() | texts_of_code() | SENTENCES) - TABLE.keys()
    assert sorted(missing) == []


def test_the_table_has_no_text_that_nothing_says():
    """Others are values: names of tiles and places, of whom a text speaks, and the like."""
    code = "\n".join(
        path.read_text(encoding="utf-8")
        for path in [*sources(".py", ".js", ".html"), ROOT / "goita_env/tiles.py"]
    )
    whole = re.sub(r'"\s*\n\s*f?"', "", code)  # a text may be written in several parts
    unused = [text for text in TABLE if json.dumps(text, ensure_ascii=False)[1:-1] not in whole]
    made = {f"{who} {what}" for who in ("{who} calls", "you call") for what in NUMBERED}
    made |= {f"called {what}" for what in NUMBERED} | {f"called {n}" for n in FIVES}
    made |= {f"{who} to {what}" for who in ("you choose", "{who} chooses") for what in CHOICES}
    made |= {f"chose: {what}" for what in CHOICES} | {"{n} {kind}s"}
    made |= {f"Marked as {mark}: {{action}}." for mark in ("played", "best")}
    made |= {"receive or pass", *RULE_SETS, *SENTENCES}  # an attack that is drawn is not named, too
    made |= {f"seat {seat}" for seat in range(4)} | {actions.name(actions.SILENT)}
    assert sorted(set(unused) - made) == []
    assert made - RULE_SETS.keys() <= TABLE.keys()


FIVES = ("five", "six", "seven", "eight")
NUMBERED = [f"{n} pawns" for n in FIVES]
CHOICES = [actions.name(one) for one in (actions.REDEAL, actions.CONTINUE)]


def test_a_text_has_the_same_values_in_both_languages():
    def values(one):
        return {name for _, name, _, _ in Formatter().parse(one) if name}

    for text, told in TABLE.items():
        assert values(told) <= values(text)
        assert values(text) - values(told) <= {"who", "kind"}


HALF_WIDTH = re.compile(r"(?<![A-Za-z0-9])[:;,()?!]|[:;,()?!](?![A-Za-z0-9])")
"""Punctuation that is not inside an agent's text or the like."""


def test_japanese_sentences_have_full_width_punctuation():
    marks = re.compile("（[?!]）")  # a key, and a mark of a drawing
    assert [one for one in TABLE.values() if HALF_WIDTH.search(marks.sub("", one))] == []


def test_a_sentence_is_told_with_all_that_it_is_made_of():
    say = language("ja")
    played = Joined(", ", ["gold", Phrase("{n} {kind}s", n=2, kind="pawn")])
    assert played == "gold, 2 pawns"
    assert say(played) == f"{TABLE['gold']}{TABLE[', ']}{say(played.parts[1])}"
    assert ENGLISH(played) == played
    assert say("Somebody's name {") == "Somebody's name {"


def test_a_drawing_is_told_in_a_language():
    assert {*NAMES, *PLACES} <= TABLE.keys()
    game = Game(seed=0)
    english, japanese = svg.render(game), svg.render(game, language=language("ja"))
    assert TABLE["dealer"] in japanese
    assert not set(TABLE["dealer"]) & set(english)


def test_a_browser_is_told_in_the_first_language_that_is_known():
    assert preferred_language("ja-JP,ja;q=0.9,en;q=0.8") == "ja"
    assert preferred_language("fr, en-GB;q=0.7, ja;q=0.3") == "en"
    assert preferred_language("") == preferred_language("fr") == "en"
    assert [language_named(name) for name in (*LANGUAGES, "fr", None)] == [*LANGUAGES, None, None]
