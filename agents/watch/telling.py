"""Tells an analysis: as JSON for programs, as what the page's script and tables show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from agents.registry import short_name
from agents.report.figures import clean
from agents.watch import graph, judging
from agents.watch.decisions import Decision
from agents.watch.judging import Judged, Total
from agents.watch.reading import Source, Watched
from agents.watch.running import Analysis
from goita_env import __version__
from goita_env.errors import RecordError
from goita_env.tiles import NAMES

FORMAT: Final = "goita-analysis-2"
"""Names this kind of JSON; grows when the meaning of a field changes."""

_DECIMALS: Final = 4


def to_json(source: Source, analysis: Analysis) -> dict[str, Any]:
    """Returns an analysis as plain values for JSON: what is what, ``docs/analysis.md`` says."""
    judged = judging.judge(source.deals, analysis.deals)
    deals = [
        {
            "deal": number,
            "number": watched.deal.number,
            "rules": watched.deal.rules.name,
            "hands": list(watched.deal.hands),
            "dealer": watched.deal.dealer,
            "scores": list(watched.deal.scores),
            "players": list(watched.players),
            "result": result(watched),
            "decisions": [
                asdict(one.decision) | {"verdict": one.verdict}
                for one in judged
                if one.deal == number
            ],
        }
        for number, watched in enumerate(source.deals, 1)
    ]
    worst = [{"deal": one.deal, "move": one.decision.move} for one in judging.worst(judged)]
    totals = {by: [asdict(one) for one in rows] for by, rows in judging.totals(judged).items()}
    told = {"title": source.title, **about(analysis), "deals": deals}
    rounded: dict[str, Any] = _rounded(told | {"worst": worst, "totals": totals})
    return rounded


def about(analysis: Analysis) -> dict[str, Any]:
    """Returns by what an analysis was made."""
    return {
        "format": FORMAT,
        "version": __version__,
        **asdict(analysis.settings),
        "policy": analysis.policy,
        "assumed": analysis.assumed,
    }


def also(analysis: Analysis) -> str:
    """Says that the agent by which an analysis was made would have played a move, too."""
    agent = clean(short_name(analysis.settings.agent))
    return f"{'the champion' if agent == 'champion' else agent} would have played this, too"


def result(watched: Watched) -> int | None:
    """Returns the points of seats 0 and 2 in a round, minus the others'; None: it didn't end."""
    try:
        found = watched.deal.result()
    except RecordError:
        return None
    return None if found.winner is None else found.points * (1 - 2 * (found.winner & 1))


@dataclass(frozen=True)
class Shown:
    """Holds what the page shows of an analysis."""

    about: dict[str, Any]
    worst: list[Judged]
    """The worst errors."""
    errors: int
    """All errors that are clear."""
    also: str
    """Said of a move that the agent would have played, too."""
    totals: dict[str, list[Total]]
    data: dict[str, Any]
    """For the page's script."""


def shown(source: Source, analysis: Analysis) -> Shown:
    """Returns what the page shows."""
    judged = judging.judge(source.deals, analysis.deals)
    pairs = list(zip(source.deals, analysis.deals, strict=True))
    graphs = [
        asdict(graph.draw(decisions, len(watched.deal.moves), result(watched)))
        for watched, decisions in pairs
    ]
    data = {
        "kinds": NAMES,
        "dealt": [list(watched.deal.hands) for watched, _ in pairs],
        "graphs": graphs,
        "left": graph.LEFT,
        "right": graph.RIGHT,
        "bottom": graph.BOTTOM,
        "also": also(analysis),
        "deals": [_deal(decisions) for decisions in analysis.deals],
    }
    return Shown(
        about(analysis),
        judging.worst(judged),
        sum(one.verdict == "clear" for one in judged),
        also(analysis),
        judging.totals(judged),
        _rounded(data),
    )


def _deal(decisions: Sequence[Decision]) -> dict[str, Any]:
    """Returns a deal's decisions by the numbers of their moves."""
    return {
        str(one.move): asdict(one)
        | {
            "verdict": judging.verdict(one),
            "threshold": judging.threshold(len(one.options)),
            "too": judging.too(one),
        }
        if one.options
        else asdict(one) | {"verdict": "forced"}
        for one in decisions
    }


def _rounded(value: Any) -> Any:
    """Returns plain values with all numbers rounded; minus infinity is none, which JSON knows."""
    if isinstance(value, float):
        return None if value == -float("inf") else round(value, _DECIMALS)
    if isinstance(value, dict):
        return {key: _rounded(one) for key, one in value.items()}
    return [_rounded(one) for one in value] if isinstance(value, list | tuple) else value
