"""Reads the JSON summary of a tournament into what its reports show, whatever parts are missing.

Names and lines of standard error come from anybody's program, so they are kept as they came; each
report writes them with its own escapes, after ``clean``.
"""

from __future__ import annotations

import re
import shlex
import unicodedata
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from math import floor, inf, isfinite, log10
from typing import Any, Final, TypeAlias

Summary: TypeAlias = Mapping[str, Any]
"""What ``evaluate.py`` writes as JSON; every key may be missing."""

STDERR_LINES: Final = 20
"""Most lines of standard error that a report shows of one fault."""

_ESCAPES: Final = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-_])")
_TOLD: Final = {
    "agents", "pairs", "ratings", "cross", "faults", "episode", "rules", "seed", "deals", "command",
    "versions", "seconds",
}  # fmt: skip


@dataclass(frozen=True)
class Estimate:
    """Holds a mean, the bounds of its 95 % interval where there is one, and its deals."""

    mean: float
    low: float | None = None
    high: float | None = None
    deals: int | None = None

    def turned(self) -> Estimate:
        """Returns the same from the other side: signs turned, bounds exchanged."""
        low = None if self.high is None else -self.high
        high = None if self.low is None else -self.low
        return Estimate(-self.mean, low, high, self.deals)

    @property
    def open(self) -> bool:
        """True where the interval includes zero, or there is none: the sign is not settled."""
        return self.low is None or self.high is None or self.low <= 0 <= self.high


@dataclass(frozen=True)
class Pair:
    """Says how agent a did against agent b, from a's side."""

    a: str
    b: str
    points: Estimate | None
    wins: Estimate | None
    match_wins: Estimate | None
    milliseconds: tuple[float | None, float | None]
    rounds_per_second: float | None
    variance_removed: float | None
    sprt: tuple[str, str]
    """The sequential test's decision and log-likelihood ratio; empty where there was none."""
    faults: tuple[int, int]
    deals: int | None


@dataclass(frozen=True)
class Fault:
    """Holds what one agent did wrong in one pairing, and what it said last."""

    agent: str
    pair: tuple[str, ...]
    kind: str
    count: int
    stderr: tuple[str, ...]
    forfeited: bool = False
    """It has forfeited the pairing."""


@dataclass(frozen=True)
class Cross:
    """Holds the cross-play matrix: points per round of mixed partners against the same others."""

    opponents: str
    agents: tuple[str, ...]
    cells: dict[tuple[str, str], Estimate]


@dataclass(frozen=True)
class Tournament:
    """Holds a tournament, read; agents and ratings the strongest first."""

    agents: tuple[str, ...]
    ratings: tuple[tuple[str, Estimate], ...]
    pairs: tuple[Pair, ...]
    cells: dict[tuple[str, str], Estimate]
    """Points per round of the first agent against the second; both triangles."""
    cross: Cross | None
    faults: tuple[Fault, ...]
    command: str
    facts: dict[str, str] = field(default_factory=dict)
    """What it takes to repeat the run, by what it is called."""


def read(summary: Summary) -> Tournament:
    """Returns the summary, read; what is missing, null or not finite is left out."""
    pairs = tuple(_pair(entry) for entry in _entries(summary, "pairs"))
    ratings = [
        (str(entry.get("agent", "?")), found)
        for entry in _entries(summary, "ratings")
        if (found := estimate(entry.get("elo"), entry.get("ci95"))) is not None
    ]
    ratings.sort(key=lambda rating: -rating[1].mean)
    cells: dict[tuple[str, str], Estimate] = {}
    for pair in pairs:
        if pair.points is not None:
            cells[pair.b, pair.a] = pair.points.turned()
            cells[pair.a, pair.b] = pair.points
    listed = [str(name) for name in summary.get("agents") or ()]
    named = dict.fromkeys([*listed, *(name for pair in pairs for name in (pair.a, pair.b))])
    command = summary.get("command") or ""
    return Tournament(
        agents=_strongest_first(named, dict(ratings), cells),
        ratings=tuple(ratings),
        pairs=pairs,
        cells=cells,
        cross=_cross(summary.get("cross")),
        faults=_faults(summary, pairs),
        command=command if isinstance(command, str) else shlex.join(map(str, command)),
        facts=_facts(summary, pairs),
    )


def estimate(mean: Any, bounds: Any, deals: Any = None) -> Estimate | None:
    """Returns a mean with its interval; None where there is no finite mean."""
    centre = _number(mean)
    if centre is None:
        return None
    low, high = (_number(bound) for bound in bounds) if bounds else (None, None)
    count = _number(deals)
    return Estimate(centre, low, high, None if count is None else int(count))


def clean(text: str) -> str:
    """Returns text without terminal escapes; other control, bidi and half characters become U+FFFD.

    The line breaks and tabs that are left stand for themselves.
    """
    plain = _ESCAPES.sub("", text)
    return "".join(
        "\N{REPLACEMENT CHARACTER}"
        if character not in "\n\t" and unicodedata.category(character) in ("Cc", "Cf", "Cs")
        else character
        for character in plain
    )


def line(text: str) -> str:
    """Returns text, cleaned, on one line."""
    return " ".join(clean(text).split())


def signed(value: float, decimals: int = 2) -> str:
    """Returns a number with its sign; nothing that rounds to zero has one."""
    text = f"{value:+,.{decimals}f}"
    return text if set(text) & set("123456789") else text[1:]


def interval(found: Estimate | None, decimals: int = 2) -> str:
    """Returns ``[low, high]`` with signs; nothing where there is no interval."""
    if found is None or found.low is None or found.high is None:
        return ""
    return f"[{signed(found.low, decimals)}, {signed(found.high, decimals)}]"


def percent(found: Estimate | None) -> tuple[str, str]:
    """Returns a rate and its interval in percent; nothing where there is none."""
    if found is None:
        return "", ""
    if found.low is None or found.high is None:
        return f"{100 * found.mean:.1f} %", ""
    return f"{100 * found.mean:.1f} %", f"[{100 * found.low:.1f}, {100 * found.high:.1f}]"


def brief(value: float | None) -> str:
    """Returns a positive number to three digits, never as a power of ten; nothing for None."""
    if value is None:
        return ""
    if value <= 0:
        return "0"
    return f"{value:,.{min(6, max(0, 2 - floor(log10(value))))}f}"


def duration(seconds: float) -> str:
    """Returns seconds in the units that one would say."""
    if seconds < 60:
        return f"{brief(seconds)} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def span(values: Iterable[int]) -> str:
    """Returns whole numbers as ``200 to 1,000``, or the one that all of them are."""
    found = sorted(values)
    if not found:
        return ""
    least, most = f"{found[0]:,}", f"{found[-1]:,}"
    return least if least == most else f"{least} to {most}"


def _number(value: Any) -> float | None:
    """Returns a finite number; None for anything else."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and isfinite(value) else None


def _entries(summary: Summary, key: str) -> list[Mapping[str, Any]]:
    """Returns the list under a key; none if it is missing."""
    return list(summary.get(key) or ())


def _pair(entry: Mapping[str, Any]) -> Pair:
    """Reads one entry of the pairs."""
    a, b = str(entry.get("a", "?")), str(entry.get("b", "?"))
    deals = _number(entry.get("deals"))
    thinking, faults = entry.get("ms_per_decision") or {}, entry.get("faults") or {}
    return Pair(
        a=a,
        b=b,
        points=estimate(entry.get("points_per_round"), entry.get("ci95"), deals),
        wins=estimate(entry.get("round_win_rate"), entry.get("round_win_ci95")),
        match_wins=estimate(entry.get("match_win_rate"), entry.get("match_win_ci95")),
        milliseconds=(_number(thinking.get(a)), _number(thinking.get(b))),
        rounds_per_second=_number(entry.get("rounds_per_second")),
        variance_removed=_number(entry.get("variance_removed")),
        sprt=_sprt(entry.get("sprt")),
        faults=(int(_number(faults.get(a)) or 0), int(_number(faults.get(b)) or 0)),
        deals=None if deals is None else int(deals),
    )


def _sprt(entry: Mapping[str, Any] | None) -> tuple[str, str]:
    """Reads a sequential test; one that has decided nothing is open."""
    if entry is None:
        return "", ""
    ratio = _number(entry.get("llr"))
    return str(entry.get("decision") or "open"), "" if ratio is None else f"LLR {signed(ratio)}"


def _cross(entry: Mapping[str, Any] | None) -> Cross | None:
    """Reads the cross-play matrix; partners that stand there one way round count both ways."""
    cells: dict[tuple[str, str], Estimate] = {}
    for cell in (entry or {}).get("cells") or ():
        first, second = map(str, cell["partners"])
        found = estimate(cell.get("points_per_round"), cell.get("ci95"), cell.get("deals"))
        if found is not None:
            cells[first, second] = found
            cells.setdefault((second, first), found)
    if entry is None or not cells:
        return None
    told = entry.get("opponents") or ""
    return Cross(
        opponents=told if isinstance(told, str) else ", ".join(map(str, told)),
        agents=tuple(dict.fromkeys(name for cell in cells for name in cell)),
        cells=cells,
    )


def _faults(summary: Summary, pairs: Iterable[Pair]) -> tuple[Fault, ...]:
    """Reads the faults; a summary that lists none has them counted by pair, without a kind."""
    if not summary.get("faults"):
        return tuple(
            Fault(agent, (pair.a, pair.b), "", count, ())
            for pair in pairs
            for agent, count in zip((pair.a, pair.b), pair.faults, strict=True)
            if count
        )
    lost = {
        (frozenset((str(pair.get("a")), str(pair.get("b")))), str(agent))
        for pair in _entries(summary, "pairs")
        for agent in pair.get("forfeited") or ()
    }
    return tuple(_fault(entry, lost) for entry in _entries(summary, "faults"))


def _fault(entry: Mapping[str, Any], lost: Container[tuple[frozenset[str], str]]) -> Fault:
    """Reads one entry of the faults; ``lost``: pairings, each with an agent that forfeited it."""
    agent, pair = str(entry.get("agent", "?")), tuple(str(name) for name in entry.get("pair") or ())
    said = entry.get("stderr") or ()
    lines = said.splitlines() if isinstance(said, str) else [str(line) for line in said]
    count = _number(entry.get("count"))
    return Fault(
        agent=agent,
        pair=pair,
        kind=str(entry.get("kind") or ""),
        count=1 if count is None else int(count),
        stderr=tuple(line.rstrip("\r\n") for line in lines[-STDERR_LINES:]),
        forfeited=(frozenset(pair), agent) in lost,
    )


def _strongest_first(
    names: Iterable[str],
    ratings: Mapping[str, Estimate],
    cells: Mapping[tuple[str, str], Estimate],
) -> tuple[str, ...]:
    """Returns names by rating, those without one last by points per round, ties as they came."""

    def weakness(name: str) -> tuple[float, float]:
        """Returns what a sort from small to large puts first for the strongest."""
        points = [cell.mean for (agent, other), cell in cells.items() if agent == name != other]
        average = sum(points) / len(points) if points else -inf
        return -ratings[name].mean if name in ratings else inf, -average

    return tuple(sorted(names, key=weakness))


def _facts(summary: Summary, pairs: Iterable[Pair]) -> dict[str, str]:
    """Returns seed, rules, versions and whatever else the summary says in a word or a number."""
    facts = {key: str(summary.get(key, "")) for key in ("seed", "rules", "episode")}
    played = span(pair.deals for pair in pairs if pair.deals is not None)
    asked = summary.get("deals")
    facts["deals a pair"] = played or (f"{asked:,}" if isinstance(asked, int) else "")
    facts |= {
        str(key).replace("_", " "): str(value)
        for key, value in summary.items()
        if key not in _TOLD and isinstance(value, str | int | float) and value != ""
    }
    seconds = _number(summary.get("seconds"))
    facts["time"] = "" if seconds is None else duration(seconds)
    versions = summary.get("versions") or {}
    facts["versions"] = ", ".join(f"{name} {version}" for name, version in versions.items())
    return {key: value for key, value in facts.items() if value}
