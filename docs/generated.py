"""Writes into the pages what the code knows: ``python docs/generated.py``.

A page has a pair of comments, and this script writes what stands between them, so that the page can
be read in any viewer of Markdown. A test compares the pages with the code.

============================================= ====================================================
``<!-- table: NAME -->``                      a table of ``TABLES``
``<!-- names: MODULE PAGE -->``               the exported names of a module, described on a page of
                                              the reference
``<!-- code: PATH | START -->``               the statement of a file that begins with these words
``<!-- code: PATH | START | END -->``         its lines from those words up to the line of others
``<!-- cells: PATH -->``                      a notebook; its pictures go to docs/pictures
============================================= ====================================================

Each ends with ``<!-- end -->``. Paths are relative to the page.
"""

import ast
import html
import importlib
import inspect
import json
import re
import sys
import textwrap
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, Final, get_type_hints

import numpy as np
from docstring_parser import parse_from_object

ROOT: Final = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "docs"), str(ROOT / "tools")]

from cells import run  # noqa: E402  (after the path)
from principle_pictures import POSITIONS, WIDTH, description, picture_name  # noqa: E402

from goita_agents import load_agent  # noqa: E402
from goita_agents.principles import PRINCIPLES, Evidence, Figure, Principle, evidence  # noqa: E402
from goita_env import GoitaVectorEnv  # noqa: E402
from goita_env.views.observation import (  # noqa: E402
    OBSERVATION_SIZE,
    OBSERVATION_VERSION,
    SLICES,
)
from goita_lab.__main__ import GROUPS  # noqa: E402
from goita_lab.arena.coordination.leaderboard import (  # noqa: E402
    ExactBoard,
    PlayedBoard,
)
from goita_lab.arena.coordination.leaderboard import read as read_leaderboard  # noqa: E402
from goita_lab.arena.report.figures import true_minus  # noqa: E402
from goita_lab.exam.questions import (  # noqa: E402
    BEST_ACTION_MIN_Z,
    QUESTION_KINDS,
    STAKE_BOUNDS,
    Questions,
    clear_lead,
)
from goita_lab.exam.weaknesses import STAKE_NAMES  # noqa: E402
from goita_lab.learning.settings import PRESETS, Options, Training  # noqa: E402
from goita_lab.pages.languages import language, language_named  # noqa: E402
from goita_lab.phases import PHASES  # noqa: E402

BLOCK: Final = re.compile(
    r"(<!-- (table|names|code|cells|principle): ([^\n]*?) -->\n)(.*?)(<!-- end -->)", re.DOTALL
)
"""A pair of comments with what stands between them."""


def pages() -> list[Path]:
    """Returns the pages that may have such comments."""
    return [page for page in sorted((ROOT / "docs").rglob("*.md")) if "_build" not in page.parts]


def filled(text: str, page: Path) -> str:
    """Returns the text of a page with what its comments ask for."""

    def fill(block: re.Match[str]) -> str:
        content = WRITERS[block[2]](block[3], page.parent)
        if block[2] in ("code", "cells"):  # the formatter of the files has done its work
            content = f"<!-- fmt: off -->\n\n{content.strip()}\n\n<!-- fmt: on -->"
        return f"{block[1]}\n{content.strip()}\n\n{block[5]}"

    return BLOCK.sub(fill, text)


def exported(words: str, _: Path) -> str:
    """Returns the table of a module's public names, each with its first sentence."""
    name, page = words.split()
    module = importlib.import_module(name)
    rows = []
    for public_name in sorted(module.__all__, key=str.lower):
        value = getattr(module, public_name)
        is_code = inspect.isclass(value) or inspect.isroutine(value)
        if is_code and (text := inspect.getdoc(value)):
            sentence = " ".join(text.split("\n\n")[0].split()).replace("``", "`")
            rows.append(f"| `{public_name}` | {sentence.replace('|', '/')} |")
    return "\n".join([f"**[`{name}`]({page}.md)**", "", "| name | purpose |", "|---|---|", *rows])


def excerpt(words: str, folder: Path) -> str:
    """Returns lines of a file as a block of code.

    Raises:
        ValueError: if no line begins with the words.
    """
    path, start, *end = (word.strip() for word in words.split("|"))
    text = (folder / path).read_text(encoding="utf-8")
    lines = text.splitlines()
    first = _line_of(start, lines)
    if end:
        last = first + _line_of(end[0], lines[first:])
    else:
        statements = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.stmt)]
        last = max(node.end_lineno or 0 for node in statements if node.lineno == first + 1)
    code = textwrap.dedent("\n".join(lines[first:last])).strip()
    return f"```py\n{code}\n```"  # not python, which tests run


def _line_of(words: str, lines: list[str]) -> int:
    """Returns the index of the first line that begins with these words."""
    for index, line in enumerate(lines):
        if line.lstrip().startswith(words):
            return index
    raise ValueError(f"expected a line that begins with {words!r}")


def notebook(path: str, folder: Path) -> str:
    """Returns a notebook as text with pictures, which it writes to docs/pictures."""
    return run(folder / path, folder)


def settings() -> str:
    """Returns the settings of a training that are no options: name, type, default, meaning."""
    shared = {field.name for field in fields(Options)}
    texts = {
        param.arg_name: param.description or "" for param in parse_from_object(Training).params
    }
    hints = get_type_hints(Training)
    rows = ["| setting | type | default | meaning |", "|---|---|---|---|"]
    for field in fields(Training):
        if field.name not in shared:
            hint = hints[field.name]
            kind = hint.__name__ if isinstance(hint, type) else str(hint).replace("typing.", "")
            kind = kind.replace("|", "or")
            value = "none" if field.name == "information" else field.default
            text = " ".join(texts[field.name].split())
            rows.append(f"| `{field.name}` | `{kind}` | `{value}` | {text} |")
    return "\n".join(rows)


def presets() -> str:
    """Returns the settings in which the presets of a training differ."""
    rows = ["| setting | " + " | ".join(f"`{name}`" for name in PRESETS) + " |"]
    rows.append("|---" * (len(PRESETS) + 1) + "|")
    for field in fields(Training):
        values = [getattr(preset, field.name) for preset in PRESETS.values()]
        if field.name != "preset" and any(value != values[0] for value in values):
            rows.append(f"| `{field.name}` | " + " | ".join(map(_written, values)) + " |")
    return "\n".join(rows)


def _written(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, tuple):
        is_schedule = all(isinstance(part, float) for part in value)
        return (" to " if is_schedule else " ").join(map(_written, value))
    return f"{value:,}" if isinstance(value, int) and value > 9999 else f"{value}"


def slices() -> str:
    """Returns two tables of the observation's slices: those that each seat has, and the others."""
    bits: dict[str, list[str]] = {}  # of a slice, by relative seat if each seat has it
    meanings: dict[str, str] = {}
    for part in SLICES:
        of_seat = re.fullmatch(r"(\D+)_[0-3](_\d)?", part.name)
        name = f"{of_seat[1]}_s{of_seat[2] or ''}" if of_seat else part.name
        bits.setdefault(name, []).append(f"{part.start}:{part.stop}")
        meanings[name] = part.meaning.replace("previous seat's", "the seat's")
    own = [
        f"| `{name}` | {' | '.join(of)} | {meanings[name]} |" for name, of in bits.items() if of[1:]
    ]
    rest = [f"| `{name}` | {of[0]} | {meanings[name]} |" for name, of in bits.items() if not of[1:]]
    seats = "viewer (s = 0) | next seat (1) | partner (2) | previous seat (3)"
    return "\n".join(
        [
            f"Layout version {OBSERVATION_VERSION}: {OBSERVATION_SIZE} bits as uint8. Each seat s "
            "has these slices:",
            "",
            f"| slice | {seats} | meaning |",
            "|---|---|---|---|---|---|",
            *own,
            "",
            "The viewer's own blocks are shown to it even if they lie face down. The remaining "
            "slices exist once:",
            "",
            "| slice | bits | meaning |",
            "|---|---|---|",
            *rest,
        ]
    )


def commands() -> str:
    """Returns the commands with what they do."""
    rows = ["| command | purpose |", "|---|---|"]
    rows += [
        f"| `goita {name}` | {does} |"
        for group in GROUPS.values()
        for name, (_, does) in group.items()
    ]
    return "\n".join(rows)


def principle_worth() -> str:
    """Returns a table of the principles of play: their advice, and what it is worth in points."""
    rows = [
        "| principle | advice | positions | points | points beyond random |",
        "|---|---|--:|--:|--:|",
    ]
    for principle in PRINCIPLES:
        measured = evidence()[principle.key]
        points = [_figure(figure, 1) for figure in (measured.worth, measured.beyond)]
        cells = (_marked_name(principle), principle.sentence, f"{measured.positions}", *points)
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def principle_use() -> str:
    """Returns a table of how players comply with the principles, and of what that reveals."""
    groups = [f"compliance of {group}" for group in evidence()[PRINCIPLES[0].key].followed]
    heads = ("principle", *groups, "information to the partner", "information to an opponent")
    rows = [f"| {' | '.join(heads)} |", "|---" + "|--:" * (len(heads) - 1) + "|"]
    for principle in PRINCIPLES:
        measured = evidence()[principle.key]
        figures = (*measured.followed.values(), measured.partner, measured.opponents)
        cells = [_marked_name(principle), *(_figure(figure, 2) for figure in figures)]
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def _marked_name(principle: Principle) -> str:
    """Returns the name of a principle, in bold type if its evidence allows to advise it."""
    return f"**{principle.name}**" if evidence()[principle.key].pays else principle.name


def principle_board(words: str, folder: Path) -> str:
    """Returns a principle for players: its sentence, a board, and its worth.

    Args:
        words: the key of the principle, and the language of the page.
        folder: that of the page.
    """
    key, name = words.split()
    code = language_named(name)
    assert code is not None
    (principle,) = (principle for principle in PRINCIPLES if principle.key == key)
    light, dark = (picture_name(key, code, theme) for theme in ("light", "dark"))
    alt = html.escape(description(POSITIONS[key], code))
    picture = (
        f'<picture><source media="(prefers-color-scheme: dark)" srcset="pictures/{dark}">'
        f'<img src="pictures/{light}" alt="{alt}" width="{WIDTH}"></picture>'
    )
    assert (folder / "pictures" / light).exists()
    sentence = language(code)(principle.sentence)
    return f"**{sentence}**\n\n{picture}\n\n{WORTH[code](evidence()[key])}"


def _points_and_interval(figure: Figure) -> tuple[str, ...]:
    return tuple(true_minus(f"{value:.1f}") for value in figure)


def english_worth(measured: Evidence) -> str:
    """Returns what following a principle was worth, for players."""
    if measured.worth is None:
        return (
            f"*Worth:* not known. The principle decides in only {measured.positions} positions of "
            "the exam."
        )
    mean, low, high = _points_and_interval(measured.worth)
    text = (
        f"*Worth:* {mean} points (95 % interval {low} to {high}), in {measured.positions} positions"
    )
    if measured.worth[2] < 0:
        return f"{text}. If you always follow it, you lose points."
    if measured.worth[1] <= 0:
        return f"{text}. There is no evidence that it gains points."
    if not measured.pays:
        return (
            f"{text}. As a control, the same actions were divided at random into two kinds. This "
            "gains about as much, so there is no evidence that the principle itself helps."
        )
    return f"{text}."


def japanese_worth(measured: Evidence) -> str:
    """Returns the same in Japanese."""
    if measured.worth is None:
        return f"*効果*：不明です。この心得で決まる局面は{measured.positions}個しかありません。"
    mean, low, high = _points_and_interval(measured.worth)
    text = f"*効果*：{mean}点（95％区間 {low}〜{high}）、{measured.positions}局面。"
    if measured.worth[2] < 0:
        return f"{text}いつも従うと損をします。"
    if measured.worth[1] <= 0:
        return f"{text}効果があるという証拠はありません。"
    if not measured.pays:
        return f"{text}でたらめに作った心得も同じくらい得なので、効果があるという証拠はありません。"
    return text


WORTH: Final = {"en": english_worth, "ja": japanese_worth}


def _figure(figure: Figure | None, decimals: int) -> str:
    if figure is None:
        return "too few"
    mean, low, high = (f"{value:.{decimals}f}" for value in figure)
    return f"{mean} [{low}, {high}]"


def leaderboard() -> str:
    """Returns the entries of the benchmark in the full game: points and 95 % intervals."""
    board = read_leaderboard(ROOT / "benchmarks/leaderboard.json")
    assert isinstance(board, PlayedBoard)
    heads = [
        "agent",
        "points with unknown partners",
        "with itself",
        "with the worst partner",
        "version",
    ]
    rows = [f"| {' | '.join(heads)} |", "|---|--:|--:|--:|---|"]
    for entry in board.entries:
        if entry.ranking != board.entries[0].ranking:
            raise ValueError(f"expected entries of one ranking, got also {entry.ranking}")
        figures, version = entry.figures, entry.versions["goita_env"]
        points = "{:+.2f} [{:+.2f}, {:+.2f}]".format(*figures.points)
        others = f"{figures.self_play:+.2f} | {figures.worst:+.2f}"
        rows.append(f"| `{entry.name}` | {points} | {others} | {version} |")
    return "\n".join(rows)


def exact_leaderboard() -> str:
    """Returns the entries of the exact benchmark in small games, most points first."""
    board = read_leaderboard(ROOT / "benchmarks/leaderboard_exact.json")
    assert isinstance(board, ExactBoard)
    points = {entry.name: float(np.mean([*entry.points.values()])) for entry in board.entries}
    rows = ["| agent | game | points with unknown partners | strength |", "|---|---|--:|--:|"]
    rows += [
        f"| `{entry.name}` | `{entry.rules}` | {points[entry.name]:+.2f} | {entry.strength:+.2f} |"
        for entry in sorted(board.entries, key=lambda entry: -points[entry.name])
    ]
    return "\n".join(rows)


def card() -> str:
    """Returns what rounds are like in which four ``heuristic`` play, and four random agents."""
    played = [_rounds_of(agent) for agent in ("heuristic", "random")]
    rows = ["| statistic | four `heuristic` | four `random` |", "|---|--:|--:|"]
    rows += [f"| {name} | {' | '.join(row[name] for row in played)} |" for name in played[0]]
    return "\n".join(rows)


def _rounds_of(agent: str, rounds: int = 2_000) -> dict[str, str]:
    """Plays rounds of ``jga`` from seed 0; returns lengths, branching and points in words."""
    rng, player = np.random.default_rng(0), load_agent(agent)
    env = GoitaVectorEnv(num_games=rounds, seed=0)
    turn = env.reset()
    playing, lengths = np.ones(rounds, bool), np.zeros(rounds, int)
    choices, points = [], np.zeros(rounds, int)
    while playing.any():
        choices.append(turn.action_mask.sum(axis=1)[playing])
        lengths += playing
        actions = player.act(turn.view, turn.action_mask, rng)
        turn = env.step(actions)
        points[playing & turn.done] = turn.points[playing & turn.done]
        playing &= ~turn.done  # each game's first round counts
    legal = np.concatenate(choices)
    low, high = np.quantile(lengths, [0.05, 0.95])
    scores, counts = np.unique(points, return_counts=True)
    return {
        "decisions in a round: mean (5 % and 95 % quantile)": (
            f"{lengths.mean():.1f} ({low:.0f}, {high:.0f})"
        ),
        "share of decisions with only one legal action": f"{(legal == 1).mean():.0%}",
        "legal actions in the other decisions: mean, maximum": (
            f"{legal[legal > 1].mean():.1f}, {legal.max()}"
        ),
        "mean points of the winning team": f"{points.mean():.1f}",
        "share of rounds that end with 10, 20, 30, 40, 50 and more than 50 points": ", ".join(
            f"{share:.0%}"
            for share in [
                *(counts[scores == score].sum() / rounds for score in range(10, 60, 10)),
                counts[scores > 50].sum() / rounds,
            ]
        ),
    }


def exam_points() -> str:
    """Returns the points that agents and controls lose in the shipped exam."""
    return _stored_exam_table("points", leave_out=("remarks", "more than champion"))


def exam_knowledge() -> str:
    """Returns what agents and controls know of other hands in the shipped exam."""
    return _stored_exam_table("knowledge")


def _stored_exam_table(name: str, leave_out: tuple[str, ...] = ()) -> str:
    """Returns a table that research/exam/check.py stored, without some columns."""
    stored = json.loads((ROOT / "research/exam/check.json").read_text(encoding="utf-8"))
    table = stored["tables"][name]
    kept = [place for place, head in enumerate(table["columns"]) if head not in leave_out]
    rows = [[row[place] for place in kept] for row in (table["columns"], *table["rows"])]
    rows = [
        [
            # A control is 0 or 1 exactly, by definition.
            cell.replace("0.00 [0.00, 0.00]?", "0").replace("1.00 [1.00, 1.00]?", "1")
            for cell in row
        ]
        for row in rows
    ]
    for row in rows[1:]:  # names of controls are words in brackets
        row[0] = f"control: {row[0][1:-1]}" if row[0].startswith("(") else f"`{row[0]}`"
    rows.insert(1, ["---", *("--:" for _ in kept[1:])])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def exam_models() -> str:
    """Returns how well models of the other seats score by other measures in the shipped exam."""
    stored = json.loads((ROOT / "research/exam/check.json").read_text(encoding="utf-8"))
    heads = (
        "knowledge, log score",
        "knowledge, Brier score",
        "knowledge of seats that it played",
        "knowledge of other seats",
    )
    rows = [f"| model of the others | {' | '.join(heads)} |", "|---|--:|--:|--:|--:|"]
    for model, by_score in stored["models"].items():
        shares = [
            ""
            if share is None
            else f"{share['mean']:.2f} [{share['low']:.2f}, {share['high']:.2f}]"
            for share in by_score.values()
        ]
        rows.append(f"| `{model}` | {' | '.join(shares)} |")
    return "\n".join(rows).replace("`counts unseen tiles`", "control: counts unseen tiles")


def exam_card() -> str:
    """Returns what the shipped exam is made of."""
    exam = Questions.load()
    dropped = exam.valued - exam.clear
    phases, kinds = (np.bincount(numbers).tolist() for numbers in (exam.phase(), exam.kind()))
    stakes = np.bincount(np.digitize(exam.stakes(), STAKE_BOUNDS)).tolist()
    acting = Counter(line[0] for line in exam.players)
    population = sum(count for agent, count in acting.items() if agent.startswith("population:"))
    named = "; ".join(
        f"`{agent}`: {acting[agent]}" for agent in ("champion", "heuristic", "people")
    )
    fresh_unclear = (~clear_lead(exam.lead, exam.lead_error)).sum()
    fresh_behind = (np.nanmin(exam.lead, axis=1) < 0).sum()
    same_by_rules = (exam.best_by_rules == exam.best).mean()
    same_other = (exam.other_best == exam.best).mean()
    rows = {
        "positions": f"{exam.valued:,} were valued; {dropped} ({dropped / exam.valued:.1%}) were "
        f"dropped, because no action led every other action by {BEST_ACTION_MIN_Z:g} standard "
        f"errors; {len(exam)} of the rest were drawn, balanced over phases and stakes as far as "
        "possible",
        "best action": "chosen in step 3, and kept in step 4: in the new worlds it leads some "
        f"action by less than {BEST_ACTION_MIN_Z:g} standard errors in {fresh_unclear} positions, "
        f"and is behind another action in {fresh_behind}",
        "phases": _counts(PHASES, phases),
        "decisions": _counts(QUESTION_KINDS, kinds),
        "stakes, points": _counts(STAKE_NAMES, stakes),
        "acting seat": f"{named}; members of the [population](population.md): {population}",
        "tables, matches": f"{len(set(exam.table().tolist()))} tables; positions of "
        f"{len(set(exam.match.tolist()))} rounds and matches",
        "controls": "the best action by tiles and rules is also the exam's in "
        f"{same_by_rules:.0%} of the positions; the best action of a seat that continues as "
        f"`heuristic` is also the exam's in {same_other:.0%} (actions with equal points are not "
        "counted)",
        "seed, version": f"{exam.about['seed']}, {exam.about['versions']['goita_env']}",
    }
    return "\n".join(
        [
            "| property | value |",
            "|---|---|",
            *(f"| {name} | {content} |" for name, content in rows.items()),
        ]
    )


def _counts(names: Sequence[str], counts: Sequence[int]) -> str:
    return "; ".join(f"{name}: {count}" for name, count in zip(names, counts, strict=True))


TABLES: Final = {
    "exam_points": exam_points,
    "exam_knowledge": exam_knowledge,
    "exam_models": exam_models,
    "exam_card": exam_card,
    "card": card,
    "leaderboard": leaderboard,
    "exact_leaderboard": exact_leaderboard,
    "settings": settings,
    "presets": presets,
    "slices": slices,
    "commands": commands,
    "principle_use": principle_use,
    "principle_worth": principle_worth,
}

WRITERS: Final[dict[str, Callable[[str, Path], str]]] = {
    "table": lambda name, _: TABLES[name](),
    "names": exported,
    "code": excerpt,
    "cells": notebook,
    "principle": principle_board,
}


def main() -> None:
    """Writes the pages that differ, and names them."""
    for page in pages():
        text = page.read_text(encoding="utf-8")
        if (new := filled(text, page)) != text:
            page.write_text(new, encoding="utf-8")
            sys.stdout.write(f"{page.relative_to(ROOT)}\n")


if __name__ == "__main__":
    main()
