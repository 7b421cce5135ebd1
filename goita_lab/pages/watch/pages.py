"""Puts pages together, one HTML file each that loads nothing, and analyses as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import cache
from importlib.resources import files
from itertools import zip_longest
from math import isfinite
from typing import TYPE_CHECKING, Any, Final, Literal

from jinja2 import Environment, PackageLoader, Template

from goita_agents.principles import PRINCIPLES
from goita_agents.registry import short_name
from goita_env import actions
from goita_env.render import svg, themes, words
from goita_env.render.pen import PREFIX
from goita_env.render.translation import Language, Phrase
from goita_env.tiles import NAMES, NUM_SEATS
from goita_lab.arena.report.figures import clean
from goita_lab.pages import languages
from goita_lab.pages.languages import LanguageName
from goita_lab.pages.watch import decisions as verdicts
from goita_lab.pages.watch import frames
from goita_lab.pages.watch.decisions import FORMAT, Decision, Total
from goita_lab.pages.watch.frames import Book
from goita_lab.pages.watch.reading import Source, rounds_of

if TYPE_CHECKING:
    from goita_lab.pages.watch.analysis import Analysis

TEAMS: Final = {False: ("seats 0 and 2", "seats 1 and 3"), True: ("you and partner", "opponents")}
"""Names of the teams where seats go by number (False), and where a player names them (True)."""

_DECIMALS: Final = 4
_IDS: Final = "w"
"""What the ids of the drawings begin with in a page."""


def page(
    source: Source,
    analysis: Analysis | None = None,
    viewer: int | None = None,
    language: LanguageName = "en",
) -> str:
    """Returns the replay page of a record as HTML text.

    Args:
        source: the record.
        analysis: of the same deals, if the page is to show one.
        viewer: the seat of the player for whom a server of ``goita_lab.pages.play`` makes the
            page; None: the page is not made for one player.
        language: of the page's texts.
    """
    say = languages.language(language)
    book = Book(source.deals, say, viewer)
    data = {
        "lines": list(book.lines),
        "sentences": list(book.sentences),
        "faces": book.faces(),
        "fill": themes.THEMES["light"].text,
        "dark": themes.darkened(),
        "deals": book.deals,
        "rounds": [] if viewer is None else _rounds(source, say),
        "names": [say(book.name(seat)) for seat in range(NUM_SEATS)],
        "persons": [say(book.person(seat)) for seat in range(NUM_SEATS)],
        "teams": [say(team) for team in TEAMS[viewer is not None]],
        "viewer": viewer,
        "digest": source.digest,
        "analysis": None if analysis is None else _script_data(source, analysis, say, viewer),
    }
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False).replace(
        PREFIX, _IDS
    )
    # A record may hold "</script>", a line separator, or a surrogate: none may break the script.
    text = text.encode(errors="replace").decode()
    text = text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    return _template("page.html").render(
        **languages.for_template(language),
        **_context(source, analysis, viewer, say),
        title=clean(say(source.title)),
        said=files("goita_lab.pages").joinpath("say.js").read_text(encoding="utf-8"),
        style=languages.style(),
        total=source.total,
        size=svg.SIZE,
        data=text,
    )


def renewal(
    source: Source, analysis: Analysis, viewer: int, language: LanguageName
) -> dict[str, Any]:
    """Returns what a page that is open replaces when more deals of it are analysed, as JSON."""
    say = languages.language(language)
    context = languages.for_template(language) | _context(source, analysis, viewer, say)
    return {
        "analysis": _script_data(source, analysis, say, viewer),
        "tables": _template("errors.html").render(context),
    }


def _context(
    source: Source, analysis: Analysis | None, viewer: int | None, say: Language
) -> dict[str, Any]:
    """Returns what the template of the page and that of its tables need."""
    names = [frames.seat_name(seat, viewer) for seat in range(NUM_SEATS)]
    return {
        "names": list(map(say, names)),
        "words": lambda action: say(_words(action)),
        "rounds": [] if viewer is None else _rounds(source, say),
        "viewer": viewer,
        "seats": {f"seat {seat}": name for seat, name in enumerate(names)},
        "shown": len(source.deals),
        "analysed": None if analysis is None else _tables(source, analysis, viewer),
    }


def to_json(source: Source, analysis: Analysis) -> dict[str, Any]:
    """Returns an analysis as plain JSON values; ``docs/reference/analysis.md`` lists the fields."""
    judged = verdicts.judge(source.deals, analysis.deals)
    deals = [
        {
            "deal": deal_number,
            "number": watched.deal.number,
            "rules": watched.deal.rules.name,
            "hands": list(watched.deal.hands),
            "dealer": watched.deal.dealer,
            "scores": list(watched.deal.scores),
            "players": list(watched.players),
            "result": watched.gained,
            "decisions": [_with_verdict(decision) for decision in decisions],
        }
        for deal_number, (watched, decisions) in enumerate(
            zip(source.deals, analysis.deals, strict=True), 1
        )
    ]
    totals = [asdict(total) for total in verdicts.totals(judged)]
    fields = {"title": source.title, **_about(analysis), "deals": deals, "totals": totals}
    rounded: dict[str, Any] = _rounded(fields)
    return rounded


def _with_verdict(decision: Decision) -> dict[str, Any]:
    """Returns the fields of a decision and its verdict."""
    return asdict(decision) | {"verdict": verdicts.verdict(decision)}


def _about(analysis: Analysis) -> dict[str, Any]:
    return {
        "format": FORMAT,
        **analysis.origin,
        **asdict(analysis.settings),
        "policy": analysis.policy,
        "models": list(analysis.models),
    }


def _rounds(source: Source, say: Language) -> list[str]:
    """Names the round of each deal; a deal was dealt again if the next has the same number."""
    round_numbers = rounds_of(source.deals)
    return [
        say("Round {n}, dealt again" if current == following else "Round {n}", n=current)
        for current, following in zip_longest(round_numbers, round_numbers[1:])
    ]


def _agent(analysis: Analysis) -> str:
    """Returns what sentences call the agent that analysed."""
    agent = clean(short_name(analysis.settings.agent))
    return "the champion" if agent == "champion" else agent


def _agreement(analysis: Analysis) -> Phrase:
    """Returns the remark on a move that the policy would have played, too."""
    return Phrase("{agent} would have played this, too", agent=_agent(analysis))


def _totals(source: Source, analysis: Analysis, viewer: int | None) -> list[Total]:
    """Returns the sums of players; if the page has a viewer by seat, the viewer's first."""
    judged = verdicts.judge(source.deals, analysis.deals)
    totals = verdicts.totals(judged, by_seat=viewer is not None)
    own = None if viewer is None else f"seat {viewer}"
    return sorted(totals, key=lambda total: total.name != own)


def _summaries(source: Source, analysis: Analysis, viewer: int | None, say: Language) -> list[str]:
    """Says of the viewer, or of each player, how many choices were the agent's, and the errors."""
    totals = _totals(source, analysis, viewer)
    if viewer is not None:
        totals = [total for total in totals if total.name == f"seat {viewer}"]
    return [say(_summary(total, _agent(analysis), is_own=viewer is not None)) for total in totals]


def _summary(total: Total, agent: str, *, is_own: bool) -> Phrase:
    values = {
        "share": round(100 * total.likeliest / total.decisions),
        "agent": agent,
        "errors": _counted("error", total.clear),
        "lost": _counted("point", round(total.lost)),
    }
    if is_own:
        return Phrase(
            "You: {share} % of your choices are the first choice of {agent}; {errors}, "
            "{lost} lost.",
            **values,
        )
    return Phrase(
        "{who}: {share} % of the choices are the first choice of {agent}; {errors}, {lost} lost.",
        who=clean(total.name),
        **values,
    )


def _counted(what: Literal["error", "point"], number: int) -> Phrase:
    if what == "error":
        return Phrase("{n} error" if number == 1 else "{n} errors", n=number)
    return Phrase("{n} point" if number == 1 else "{n} points", n=number)


def _tables(source: Source, analysis: Analysis, viewer: int | None) -> dict[str, Any]:
    """Returns what the template shows of an analysis."""
    judged = verdicts.judge(source.deals, analysis.deals)
    return {
        "about": _about(analysis),
        "agent": _agent(analysis),
        "errors": verdicts.errors(judged),
        "error_names": ("", *verdicts.ERROR_NAMES),
        "least": [f"{points:g}" for points in verdicts.ERROR_LOSSES],
        "size": verdicts.error_size,
        "also": _agreement(analysis),
        "totals": _totals(source, analysis, viewer),
    }


def _words(action: str) -> Phrase:
    return words.action_in_sentence(actions.parse(action))


def _script_data(source: Source, analysis: Analysis, say: Language, viewer: int | None) -> Any:
    """Returns what the page's script shows of an analysis."""
    graphs = [
        frames.draw_graph(decisions, len(watched.deal.moves), watched.gained, say, viewer)
        for watched, decisions in zip(source.deals, analysis.deals, strict=True)
    ]
    places = {"left": frames.LEFT, "right": frames.RIGHT, "bottom": frames.BOTTOM}
    # None: the deal is not analysed yet.
    deals = [
        None
        if index in analysis.missing
        else {
            decision.move: _with_verdict(decision)
            | {
                "policy_agrees": verdicts.policy_agrees(decision),
                "size": verdicts.error_size(decision),
            }
            for decision in decisions
        }
        for index, decisions in enumerate(analysis.deals)
    ]
    error_names = ["", *map(say, verdicts.ERROR_NAMES)]  # by size
    texts = {
        "error_names": error_names,
        "kinds": list(map(say, NAMES)),
        "graphs": graphs,
        "also": say(_agreement(analysis)),
    }
    principles = {principle.key: say(principle.sentence) for principle in PRINCIPLES}
    summaries = {"summaries": _summaries(source, analysis, viewer, say)}
    return _rounded(texts | places | summaries | {"deals": deals, "principles": principles})


def _rounded(value: Any) -> Any:
    """Returns plain values with all numbers rounded; what is not finite is None, for JSON."""
    if isinstance(value, float):
        return round(value, _DECIMALS) if isfinite(value) else None
    if isinstance(value, dict):
        return {key: _rounded(field) for key, field in value.items()}
    return [_rounded(element) for element in value] if isinstance(value, list | tuple) else value


@cache
def _template(name: str) -> Template:
    loader = PackageLoader(__package__)
    environment = Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters["clean"] = clean
    return environment.get_template(name)
