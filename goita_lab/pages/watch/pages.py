"""Puts pages together, one HTML file each that loads nothing, and analyses as JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from itertools import zip_longest
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from jinja2 import Environment, PackageLoader, Template

from goita_agents.files import write_whole
from goita_agents.registry import short_name
from goita_env import actions
from goita_env.render import svg, themes, words
from goita_env.render.pen import PREFIX
from goita_env.render.svg import Mark
from goita_env.render.translation import Language, Phrase
from goita_env.tiles import NAMES, NUM_SEATS
from goita_lab.arena.report.figures import clean, signed, true_minus
from goita_lab.arena.tournament.games_folder import GAMES
from goita_lab.pages import languages
from goita_lab.pages.languages import LanguageName
from goita_lab.pages.places import of_persons
from goita_lab.pages.watch import graph, verdicts
from goita_lab.pages.watch.decisions import COUNTS, Decision
from goita_lab.pages.watch.frames import Book, Marked
from goita_lab.pages.watch.reading import Source, Watched, read, rounds_of
from goita_lab.pages.watch.verdicts import Judged
from goita_lab.provenance import provenance

if TYPE_CHECKING:
    from goita_lab.pages.watch.analysis import Analysis

FORMAT: Final = "goita-analysis-7"
"""Names this kind of JSON; the number grows when the meaning of a field changes."""

TEAMS: Final = {False: ("seats 0 and 2", "seats 1 and 3"), True: ("you and partner", "the others")}
"""Of seats that go by number, and of those that a player names."""

_DECIMALS: Final = 4
_IDS: Final = "w"
"""What the ids of the drawings begin with in a page."""


@dataclass(frozen=True)
class Review:
    """Whose decisions a page is about, which a server of ``goita_lab.pages.play`` shows."""

    seat: int
    ready: tuple[int, ...]
    """Rounds that are analysed, from 1; of the others the page shows the moves alone."""
    refined: int
    """How many of them were analysed with most worlds."""
    as_file: bool = False
    """The page is a file: nothing in it needs the server."""


def page(
    source: Source,
    analysis: Analysis | None = None,
    review: Review | None = None,
    language: LanguageName = "en",
) -> str:
    """Returns the replay page of a record as HTML text.

    Args:
        source: the record.
        analysis: of the same deals: the page shows it, too.
        review: of a player by whom the deals were played; None: nobody's in particular.
        language: in which the page is told.
    """
    judged = [] if analysis is None else verdicts.judge(source.deals, analysis.deals)
    listed = [one for one in judged if review is None or one.decision.seat == review.seat]
    say, viewer = languages.language(language), None if review is None else review.seat
    book = Book(source.deals, None if analysis is None else _marked(analysis), say, viewer)
    rounds = _rounds(source, say) if review else []
    data = {
        "lines": list(book.lines),
        "sentences": list(book.sentences),
        "faces": book.faces(),
        "fill": themes.THEMES["light"].text,
        "dark": themes.darkened(),
        "deals": book.deals,
        "rounds": rounds,
        "names": [say(book.name(seat)) for seat in range(NUM_SEATS)],
        "persons": [say(book.person(seat)) for seat in range(NUM_SEATS)],
        "teams": [say(one) for one in TEAMS[viewer is not None]],
        "viewer": viewer,
        "analysis": None if analysis is None else _script_data(source, analysis, say, viewer),
    }
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False).replace(
        PREFIX, _IDS
    )
    # Nothing that a record holds can end the script that holds it, or is no Unicode.
    text = text.encode(errors="replace").decode()
    text = text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    return _template().render(
        **languages.for_template(language),
        title=clean(say(source.title)),
        names=[say(book.name(seat)) for seat in range(NUM_SEATS)],
        words=lambda action: say(_words(action)),
        rounds=rounds,
        said=files("goita_lab.pages").joinpath("say.js").read_text(encoding="utf-8"),
        server=review is not None and not review.as_file,
        shown=len(source.deals),
        total=source.total,
        size=svg.SIZE,
        data=text,
        analysed=None if analysis is None else _tables(listed, analysis),
        review=None if analysis is None or review is None else _review(source, judged, review),
    )


def _marked(analysis: Analysis) -> list[dict[int, Marked]]:
    """Returns what is marked in the position of each decision: what was played, and the best."""
    found: list[dict[int, Marked]] = []
    for deal in analysis.deals:
        found.append({})
        for one in deal:
            marked: dict[Mark, int] = {"played": actions.parse(one.action)}
            if one.options:
                marked["best"] = actions.parse(one.best)
            found[-1][one.move] = marked
    return found


def write_pages(folder: Path, most: int = 6) -> dict[str, Path]:
    """Writes replay pages into a folder of saved games: of each pairing the first block's deals.

    Args:
        folder: the folder; pages that it holds already are overwritten.
        most: deals on each page.

    Returns:
        The pages by the names of the pairings.

    Raises:
        RecordError: if the folder holds no games.
    """
    first: dict[str, Path] = {}
    for file in sorted(folder.glob(GAMES)):
        first.setdefault(file.stem.rpartition("-")[0], file)
    pages = {name: folder / f"{name}.html" for name, file in first.items() if file.stat().st_size}
    for name, path in pages.items():
        write_whole(path, page(read(str(first[name]), most=most)))
    return pages


def to_json(source: Source, analysis: Analysis) -> dict[str, Any]:
    """Returns an analysis as plain JSON values; ``docs/reference/analysis.md`` lists the fields."""
    judged = verdicts.judge(source.deals, analysis.deals)
    deals = [
        {
            "deal": number,
            "number": watched.deal.number,
            "rules": watched.deal.rules.name,
            "hands": list(watched.deal.hands),
            "dealer": watched.deal.dealer,
            "scores": list(watched.deal.scores),
            "players": list(watched.players),
            "result": watched.gained,
            "decisions": [_told(one) for one in decisions],
        }
        for number, (watched, decisions) in enumerate(
            zip(source.deals, analysis.deals, strict=True), 1
        )
    ]
    worst = {
        name: [{"deal": one.deal, "move": one.decision.move} for one in found]
        for name, found in _worst(judged).items()
    }
    totals = {by: [asdict(one) for one in rows] for by, rows in verdicts.totals(judged).items()}
    told = {"title": source.title, **_about(analysis), "deals": deals}
    rounded: dict[str, Any] = _rounded(told | worst | {"totals": totals})
    return rounded


def _told(decision: Decision) -> dict[str, Any]:
    """Returns a decision with its verdicts."""
    types = [asdict(one) | {"verdict": verdicts.verdict(decision, one)} for one in decision.types]
    said = {"verdict": verdicts.verdict(decision), "agreement": verdicts.agreement(decision)}
    return asdict(decision) | said | {"types": types}


def _worst(judged: Sequence[Judged]) -> dict[str, list[Judged]]:
    """Returns the worst errors under every type, and those that depend on it."""
    return {
        "worst": verdicts.worst(judged, "agreed"),
        "depends": verdicts.worst(judged, "depends"),
    }


def _about(analysis: Analysis) -> dict[str, Any]:
    return {
        "format": FORMAT,
        **provenance((analysis.settings.agent, *analysis.settings.types)),
        **asdict(analysis.settings),
        "policy": analysis.policy,
        "mover_model": analysis.mover_model,
        "types": [asdict(one) for one in analysis.types],
    }


def _rounds(source: Source, say: Language) -> list[str]:
    """Names the round of each deal; of a round with a redeal the last deal is the one played."""
    numbers = rounds_of(source.deals)
    return [
        say("Round {n}, dealt again" if number == after else "Round {n}", n=number)
        for number, after in zip_longest(numbers, numbers[1:])
    ]


def _also(analysis: Analysis) -> Phrase:
    """Returns what is said of a move that the policy would have played."""
    agent = clean(short_name(analysis.settings.agent))
    agent = "the champion" if agent == "champion" else agent
    return Phrase("{agent} would have played this, too", agent=agent)


def _tables(judged: Sequence[Judged], analysis: Analysis) -> dict[str, Any]:
    """Returns what the template shows of an analysis."""
    return {
        "about": _about(analysis),
        **_worst(judged),
        "count": Counter(one.agreement for one in judged),
        "by_type": _by_type,
        "percent": f"{100 * COUNTS:g}",
        "also": _also(analysis),
        "totals": verdicts.totals(judged),
    }


def _review(source: Source, judged: Sequence[Judged], review: Review) -> dict[str, Any]:
    """Returns what the template shows of a player's decisions."""
    own = [one for one in judged if one.decision.seat == review.seat]
    errors = [one for one in own if one.agreement == "agreed"]
    numbers = rounds_of(source.deals)
    lost = {number: 0.0 for number in numbers if number in review.ready}
    for one in errors:
        lost[numbers[one.deal - 1]] += one.decision.loss
    return {
        "seat": review.seat,
        "as_file": review.as_file,
        "complete": review.refined == numbers[-1],
        "ready": review.ready,
        "refined": review.refined,
        "missing": [n for n in range(1, numbers[-1] + 1) if n not in review.ready],
        "errors": len(errors),
        "decisions": sum(one.verdict != "forced" for one in own),
        "lost": sum(one.decision.loss for one in errors),
        "rounds": lost,
        "luck": sum(
            _luck(watched, [one.decision for one in own if one.deal == number])
            for number, watched in enumerate(source.deals, 1)
        ),
    }


def _luck(watched: Watched, own: Sequence[Decision]) -> float:
    """Returns what a player's team made in a deal beyond what play as good as could be expected.

    That is its result, minus what the player could expect at its first decision, plus what its
    decisions lost: what the tiles and the other three brought.
    """
    first = next((one.expected for one in own if one.expected is not None), None)
    if first is None or watched.gained is None:
        return 0.0
    result = -watched.gained if own[0].seat % 2 else watched.gained
    return result - first + sum(one.loss for one in own)


def _signed(points: float) -> str:
    return true_minus(signed(points, 0))


def _words(action: str) -> Phrase:
    return words.action(actions.parse(action), "{block} then {attack}")


def _by_type(decision: Decision) -> tuple[str, str]:
    """Returns the types that count, in words: those under which a loss is clear, and the others."""
    lost = {one: verdicts.verdict(decision, one) == "clear" for one in decision.counted}
    clear, fine = (
        "; ".join(clean(one.name) for one, is_lost in lost.items() if is_lost == wanted)
        for wanted in (True, False)
    )
    return clear, fine


def _script_data(source: Source, analysis: Analysis, say: Language, viewer: int | None) -> Any:
    """Returns what the page's script shows of an analysis."""
    graphs = [
        asdict(graph.draw(decisions, len(watched.deal.moves), watched.gained, say, viewer))
        for watched, decisions in zip(source.deals, analysis.deals, strict=True)
    ]
    places = {"left": graph.LEFT, "right": graph.RIGHT, "bottom": graph.BOTTOM}
    deals = [{one.move: _judged(one) for one in deal} for deal in analysis.deals]
    dealt = [watched.deal.hands for watched in source.deals]
    kinds = [say(name) for name in NAMES]
    players = [of_persons(one, viewer, say) for one in analysis.players]
    told = {"kinds": kinds, "dealt": dealt, "graphs": graphs, "players": players}
    told["also"] = say(_also(analysis))
    return _rounded(told | places | {"deals": deals})


def _judged(decision: Decision) -> dict[str, Any]:
    """Returns what the script shows of a decision."""
    told = _told(decision)
    counted = {one.name for one in decision.counted}
    for one in told["types"]:
        del one["options"]
        one["counts"] = one["name"] in counted
    for one in told["knowledge"]:
        del one["expected"]
    return told | {
        "threshold": verdicts.threshold(max(2, len(decision.options))),
        "policy_agrees": verdicts.policy_agrees(decision),
    }


def _rounded(value: Any) -> Any:
    """Returns plain values with all numbers rounded; what is not finite is None, for JSON."""
    if isinstance(value, float):
        return round(value, _DECIMALS) if isfinite(value) else None
    if isinstance(value, dict):
        return {key: _rounded(one) for key, one in value.items()}
    return [_rounded(one) for one in value] if isinstance(value, list | tuple) else value


@cache
def _template() -> Template:
    loader = PackageLoader(__package__)
    environment = Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"clean": clean, "signed": _signed}
    return environment.get_template("page.html")
