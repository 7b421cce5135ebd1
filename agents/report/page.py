"""Builds the report's HTML page: one file, no scripts, nothing loaded from anywhere."""

from __future__ import annotations

from string import Template
from typing import Final

from agents.report.data import (
    Fault,
    Pair,
    Tournament,
    brief,
    interval,
    percent,
    signed,
)
from agents.report.heat import cross_play, matrix
from agents.report.marks import Scale, axis, figure, name, scale, text, whisker
from agents.report.style import style
from agents.report.tables import counts, milliseconds, removed

_PAGE: Final = Template("""\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<link rel="icon" href="data:,">
<title>Goita tournament: $title</title>
<style>
$style</style>
</head>
<body>
<main>
<header>
<svg viewBox="0 0 44 52" aria-hidden="true"><path d="M22 2 38 10 42 50H2L6 10Z" fill="#e3b671"
 stroke="#8a5a1c" stroke-width="2" stroke-linejoin="round"/><g fill="none" stroke="#3a2510"
 stroke-width="3" stroke-linecap="round"><path d="M13 19h18M13 30h18M11 42h22M22 19v23"/></g></svg>
<div><h1>Goita tournament</h1><p>$subtitle</p></div>
</header>
$body
</main>
</body>
</html>
""")


def page(tournament: Tournament) -> str:
    """Returns the page; parts that the tournament lacks are left out."""
    sections = {
        "Ratings": _ratings(tournament),
        "Pairings": matrix(tournament),
        "Cross-play": cross_play(tournament),
        "All pairs": _pairs(tournament.pairs),
        "Faults": _faults(tournament),
        "To repeat it": _repeat(tournament),
    }
    shown = [(title, content) for title, content in sections.items() if content]
    links = "".join(f"<a href='#{_anchor(title)}'>{title}</a>" for title, _ in shown)
    parts = [f"<section>{_lead(tournament)}{_tiles(tournament)}<nav>{links}</nav></section>"]
    parts += [
        f"<section id='{_anchor(title)}'>\n<h2>{title}</h2>\n{content}\n</section>"
        for title, content in shown
    ]
    return _PAGE.substitute(
        title=text(" : ".join(tournament.agents[:4]) + (" …" if tournament.agents[4:] else "")),
        style=style(),
        subtitle="Duplicate deals: each is played twice, the teams’ seats exchanged",
        body="\n".join(parts),
    )


def _anchor(title: str) -> str:
    """Returns a section's id."""
    return title.lower().replace(" ", "-")


def _lead(tournament: Tournament) -> str:
    """Returns the sentence at the top: who leads, and whether that is settled."""
    if len(tournament.agents) < 2:
        return ""
    first, second = tournament.agents[:2]
    rating = dict(tournament.ratings).get(first)
    lead = f"<b>{name(first)}</b> leads"
    if rating is not None:
        lead += f" with a rating of <b>{figure(signed(rating.mean, 0))}</b> Elo"
        lead += f" <span class='bounds'>{figure(interval(rating, 0))}</span>"
    found = tournament.cells.get((first, second))
    if found is None:
        return f"<p class='lead'>{lead}.</p>"
    bounds = f"<span class='bounds'>{figure(interval(found))}</span>"
    points = f"<b>{figure(signed(found.mean))}</b> {bounds} points per round"
    settled = ", which leaves open who is the stronger" if found.open else ""
    return f"<p class='lead'>{lead}. Against {name(second)} it makes {points}{settled}.</p>"


def _tiles(tournament: Tournament) -> str:
    """Returns the figures at the top."""
    faults = sum(fault.count for fault in tournament.faults)
    tiles = {
        "Agents": str(len(tournament.agents)),
        "Pairings": str(len(tournament.pairs)),
        "Deals a pair": tournament.facts.get("deals a pair", ""),
        "Rules": tournament.facts.get("rules", ""),
        "Time": tournament.facts.get("time", ""),
        "Faults": f"{faults:,}",
    }
    shown = "".join(
        f"<div><dt>{title}</dt><dd>{text(value)}</dd></div>"
        for title, value in tiles.items()
        if value
    )
    return f"<dl class='tiles'>{shown}</dl>"


def _ratings(tournament: Tournament) -> str:
    """Returns the ratings, each a dot on its 95 % interval."""
    if not tournament.ratings:
        return ""
    on = scale(found for _, found in tournament.ratings)
    rows = "\n".join(
        f"<tr><td>{rank}</td><td class='name'>{name(agent)}</td>"
        f"<td class='plot'>{whisker(found, on)}</td>"
        f"<td class='n elo'>{figure(signed(found.mean, 0))}</td>"
        f"<td class='n bounds'>{figure(interval(found, 0))}</td></tr>"
        for rank, (agent, found) in enumerate(tournament.ratings, 1)
    )
    zero = " <code>random</code> is at 0." if "random" in dict(tournament.ratings) else ""
    return (
        f"<p class='note'>Bradley-Terry ratings in Elo with 95 % intervals.{zero}</p>\n"
        "<table class='ratings'><thead><tr><th></th><th>Agent</th><th></th>"
        f"<th class='n'>Elo</th><th class='n'>95 %</th></tr></thead>\n<tbody>{rows}</tbody>\n"
        f"<tfoot><tr><td></td><td></td><td class='plot'>{axis(on)}</td><td></td><td></td></tr>"
        "</tfoot></table>"
    )


def _pairs(pairs: tuple[Pair, ...]) -> str:
    """Returns the table of all pairs; a column that would be empty is left out."""
    if not pairs:
        return ""
    on = scale(pair.points for pair in pairs if pair.points is not None)
    columns = {
        "<th class='n'>Points per round</th>": [_points(pair) for pair in pairs],
        f"<th class='plot'>{axis(on)}</th>": [_dot(pair, on) for pair in pairs],
        "<th class='n'>Rounds won</th>": [_two_lines(*percent(p.wins)) for p in pairs],
        "<th class='n'>Matches won</th>": [_two_lines(*percent(p.match_wins)) for p in pairs],
        "<th class='n'>Deals</th>": [_plain(f"{p.deals:,}" if p.deals else "") for p in pairs],
        "<th class='n'>ms per decision</th>": [_plain(milliseconds(pair)) for pair in pairs],
        "<th class='n'>Variance removed</th>": [_plain(removed(pair)) for pair in pairs],
        "<th class='n'>SPRT</th>": [_two_lines(*pair.sprt) for pair in pairs],
        "<th class='n'>Rounds / s</th>": [_plain(brief(p.rounds_per_second)) for p in pairs],
        "<th class='n'>Faults</th>": [_plain(counts(pair)) for pair in pairs],
    }
    kept = {title: cells for title, cells in columns.items() if set(cells) != {_plain("")}}
    rows = "\n".join(
        f"<tr><th scope='row'><div>{name(pair.a)}<br><span>against</span> {name(pair.b)}</div></th>"
        + "".join(cells[number] for cells in kept.values())
        + "</tr>"
        for number, pair in enumerate(pairs)
    )
    stopped = (
        " H0 and H1 are those of the command’s <code>--sprt</code>; a pairing that the test "
        "stopped early looks a little too good for its winner."
    )
    return (
        "<p class='note'>From the side of the agent named first, with 95 % intervals over deals: "
        f"one in twenty misses.{stopped if any(p.sprt[0] for p in pairs) else ''}</p>\n"
        "<div class='scroll' tabindex='0' role='region' aria-label='all pairs'>"
        f"<table class='pairs'><thead><tr><th>Pair</th>{''.join(kept)}</tr></thead>\n"
        f"<tbody>{rows}</tbody></table></div>"
    )


def _plain(told: str) -> str:
    """Returns a cell with one line of figures."""
    return f"<td class='n'>{figure(told)}</td>"


def _two_lines(above: str, below: str) -> str:
    """Returns a cell with figures and, smaller under them, their interval."""
    return (
        f"<td class='n'>{figure(above)}<small>{figure(below)}</small></td>" if above else _plain("")
    )


def _points(pair: Pair) -> str:
    """Returns the cell with a pair's points per round."""
    if pair.points is None:
        return _plain("")
    shown, bounds = figure(signed(pair.points.mean)), figure(interval(pair.points))
    return f"<td class='n'><b>{shown}</b><small>{bounds}</small></td>"


def _dot(pair: Pair, on: Scale) -> str:
    """Returns the cell with a pair's points per round as a dot on its interval."""
    if pair.points is None:
        return _plain("")
    return f"<td class='plot'>{whisker(pair.points, on, sided=True)}</td>"


def _faults(tournament: Tournament) -> str:
    """Returns what went wrong, with the last lines of standard error."""
    if not tournament.faults:
        return "<p class='note'>None: every decision came in time and was legal.</p>"
    return (
        "<p class='note'>A decision that came late, illegal or not at all was replaced by a random "
        "legal one. Under each fault: the last lines of the program’s standard error.</p>\n"
        + "\n".join(map(_fault, tournament.faults))
    )


def _fault(fault: Fault) -> str:
    """Returns one fault."""
    against = [agent for agent in fault.pair if agent != fault.agent][:1]
    where = f" against {name(against[0])}" if against else ""
    times = f"{fault.count:,} time{'' if fault.count == 1 else 's'}"
    kind = f": <span class='tag'>{text(fault.kind)}</span>" if fault.kind else ""
    said = f"<pre>{text(chr(10).join(fault.stderr))}</pre>" if fault.stderr else ""
    lost = "; it forfeited the pairing" if fault.forfeited else ""
    told = f"<p><b>{name(fault.agent)}</b>{where}{kind}, {times}{lost}</p>"
    return f"<div class='fault'>{told}{said}</div>"


def _repeat(tournament: Tournament) -> str:
    """Returns what it takes to play the same tournament again."""
    command = f"<pre>{text(tournament.command)}</pre>" if tournament.command else ""
    facts = "".join(
        f"<dt>{text(title[:1].upper() + title[1:])}</dt><dd>{text(value)}</dd>"
        for title, value in tournament.facts.items()
    )
    return command + (f"<dl class='facts'>{facts}</dl>" if facts else "")
