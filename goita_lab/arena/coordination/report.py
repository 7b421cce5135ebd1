"""Shows the benchmark's results: on the terminal, as Markdown, and as one page of HTML."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from goita_agents.registry import short_name
from goita_lab.arena.coordination.results import PARTS, Entry, Estimate, Results, Row, rank_of
from goita_lab.arena.report import tables
from goita_lab.arena.report.figures import brief, clean, duration, interval, line, signed
from goita_lab.arena.report.tables import Table
from goita_lab.arena.report.to_html import Scale, environment
from goita_lab.arena.report.to_markdown import code, fenced, piped
from goita_lab.arena.report.to_terminal import draw
from goita_lab.arena.statistics.intervals import Interval

TITLES: Final = {"regret": "regret", "points": "points"}
"""Headings of the figures."""

PART_TITLES: Final = dict(zip(PARTS, ("misreading", "wrong response", "skill"), strict=True))

LEGEND: Final = (
    "Points per round. points: X(a, p), what the agent a makes as the partner of p. regret: "
    "X(b, p) - X(a, p), b the best response to p that is known, which was measured once. Intervals "
    "are of 95 %: the first over deals, for these partners; the second over partners, for partners "
    "like these. All others are over deals, those of parts over partners."
)


def terminal(results: Results) -> str:
    """Returns the tables of agents and partners, the faults and the facts."""
    shown = [agents_table(results)]
    shown += [table for one in best_first(results) if (table := parts_table(one)) is not None]
    shown += [differences_table(results)] if results.differences else []
    shown += [
        table
        for entry in best_first(results)
        for title, rows in sections(entry).items()
        if title != "By cell"
        for table in (_table(f"{entry.agent}: {title[0].lower()}{title[1:]}", rows),)
        if table.rows
    ]
    parts = [draw(table) for table in shown]
    for fault in results.faults:
        wrote = [f"    {one}" for one in clean(tables.last_words(fault)).splitlines()]
        parts.append("\n".join([f"fault: {tables.headline(fault, line)}", *wrote]))
    told = [f"{title}: {line(fact)}" for title, fact in facts(results).items()]
    parts += [LEGEND, "\n".join([line(results.command), *told]).strip()]
    return "\n\n".join(parts)


def markdown(results: Results) -> str:
    """Returns everything as Markdown, with a table of all cells for each agent."""
    parts = ["# Coordination with unknown partners", LEGEND, entries(results)]
    if results.differences:
        table = differences_table(results)
        parts += [f"## {table.title}", piped(table)]
    for entry in best_first(results):
        parts.append(f"## {code(entry.agent)}")
        if entry.self_play is not None:
            own = entry.self_play
            parts.append(f"With itself {signed(own.mean)} {interval(own)} points per round.")
        if (found := parts_table(entry)) is not None:
            parts += ["### Regret, taken apart", piped(found)]
        for title, rows in sections(entry).items():
            parts += [f"### {title}", piped(_table(title, rows))]
    parts += ["## Faults"] if results.faults else []
    for fault in results.faults:
        parts += [tables.headline(fault, code), fenced(tables.last_words(fault))]
    parts += ["## To repeat it", fenced(results.command)]
    parts += ["\n".join(f"- {title}: {code(told)}" for title, told in facts(results).items())]
    return "\n\n".join(part for part in parts if part) + "\n"


def entries(results: Results) -> str:
    """Returns the table of agents as Markdown, as a page of documentation shows it."""
    return piped(agents_table(results))


def html(results: Results) -> str:
    """Returns everything as one page that needs no other file."""
    ranked = best_first(results)
    first = ranked_by(results)
    estimates = [entry.totals[first] for entry in ranked if first in entry.totals]
    shown = {
        "entries": ranked,
        "best": ranked[0] if ranked and first in ranked[0].totals else None,
        "scale": Scale.of(one.over_partners or one.over_deals for one in estimates),
        "partners": list(dict.fromkeys(row.partner for entry in ranked for row in entry.partners)),
        "scores": {
            (row.partner, entry.agent): row.figures[first]
            for entry in ranked
            for row in entry.partners
            if first in row.figures
        },
        "titles": {first: TITLES[first]} | TITLES,
        "part_titles": PART_TITLES,
        "ranked_by": first,
        "differences": results.differences,
        "sections": sections,
        "remarks": remarks,
        "legend_text": LEGEND,
        "facts": facts(results),
    }
    page = environment(__package__).get_template("coordination.html")
    return page.render(results=results, **shown)


def ranked_by(results: Results) -> str:
    """Returns the figure by which agents are ordered: points where no partner has a response."""
    known = any("regret" in entry.totals for entry in results.entries)
    return "regret" if known else "points"


def best_first(results: Results) -> list[Entry]:
    """Returns the entries by regret, the least first, those without a figure last."""

    def weakness(entry: Entry) -> tuple[bool, float]:
        found = rank_of(entry)
        return found is None, -(found or 0.0)

    return sorted(results.entries, key=weakness)


def sections(entry: Entry) -> dict[str, tuple[Row, ...]]:
    """Returns the tables of an agent's rows by title, those that would say nothing left out."""
    groups = entry.groups if len(entry.groups) > 1 else ()
    found = {"By place on the dial": groups, "By partner": entry.partners, "By cell": entry.cells}
    return {title: rows for title, rows in found.items() if rows}


def agents_table(results: Results) -> Table:
    """Returns the table of agents, the best first."""
    names = [name for name in TITLES if any(name in entry.totals for entry in results.entries)]
    rows = [
        (
            entry.agent,
            *(_estimate(entry.totals.get(name)) for name in names),
            _interval(entry.self_play),
            _interval(entry.worst.points if entry.worst else None),
            entry.worst.partner if entry.worst else "",
            f"{entry.deals:,}",
            brief(entry.ms_per_decision),
            remarks(entry),
        )
        for entry in best_first(results)
    ]
    heads = (
        "agent",
        *(TITLES[name] for name in names),
        *("with itself", f"worst {ranked_by(results)}", "worst partner", "deals a cell"),
        *("ms per decision", "remarks"),
    )
    worst = heads.index("worst partner")
    return Table("Agents", heads, tuple(rows), (0,), notes=(worst, len(heads) - 1))


def parts_table(entry: Entry) -> Table | None:
    """Returns the parts of an agent's regret along the dial; None: it was not taken apart."""
    parts = entry.parts
    if parts is None:
        return None

    def row(title: str, found: Mapping[str, Interval]) -> tuple[str, ...]:
        return (title, *(_interval(found.get(name)) for name in PARTS))

    rows = [row("all partners", parts.total)]
    rows += [row(group, found) for group, found in parts.groups.items()]
    if parts.sister:
        rows.append(row(f"control: {parts.sister} (taken off)", parts.control))
    heads = ("regret by its parts", *PART_TITLES.values())
    return Table(f"{entry.agent}: regret, taken apart", heads, tuple(rows), (0,))


def differences_table(results: Results) -> Table:
    """Returns what each agent makes more than the first, deal by deal."""
    rows = [(one.agent, _estimate(one.points), f"{one.deals:,}") for one in results.differences]
    heads = ("agent", TITLES["points"], "deals a cell")
    return Table(f"Minus {results.differences[0].minus}", heads, tuple(rows), (0,))


def remarks(entry: Entry) -> str:
    """Returns what a reader has to know about an entry, in words."""
    found = ["forfeited"] if entry.forfeited else []
    found += [f"{entry.faults:,} faults"] if entry.faults else []
    found += [f"without {name}" for name in entry.left_out]
    return ", ".join([*found, *entry.marks])


def facts(results: Results) -> dict[str, str]:
    """Returns what it takes to repeat the run, by name."""
    plan = results.benchmark
    return {
        "seed": f"{plan.seed} ({'given' if plan.seed_given else 'of the operating system'})",
        "episode": plan.episode,
        "task": plan.task.name or "of your own",
        "partners": _names(partner.spec for partner in plan.task.partners),
        "opponents": _names(plan.task.opponents),
        **(
            {}
            if results.rank_correlation is None
            else {"rank correlation with self-play": f"{results.rank_correlation:.2f}"}
        ),
        "time": duration(results.seconds),
        "versions": ", ".join(f"{name} {found}" for name, found in results.versions.items()),
    }


def _names(specs: Iterable[str]) -> str:
    return ", ".join(map(short_name, specs))


def _table(title: str, rows: Iterable[Row]) -> Table:
    """Returns the figures of an agent's rows."""
    found = list(rows)
    names = [name for name in TITLES if any(name in row.figures for row in found)]
    against = any(row.opponents for row in found)
    heads = ("partner", *(("against",) if against else ()), *(TITLES[name] for name in names))
    cells = [
        (
            row.partner,
            *((row.opponents,) if against else ()),
            *(_interval(row.figures.get(name)) for name in names),
        )
        for row in found
    ]
    return Table(title, heads, tuple(cells), (0, 1) if against else (0,))


def _estimate(found: Estimate | None) -> str:
    if found is None:
        return ""
    partners = f" {interval(found.over_partners)}" if found.over_partners else ""
    return f"{signed(found.mean)} {interval(found.over_deals)}{partners}"


def _interval(found: Interval | None) -> str:
    if found is None:
        return ""
    return f"{signed(found.mean)} {interval(found)}" if found.bounded else signed(found.mean)
