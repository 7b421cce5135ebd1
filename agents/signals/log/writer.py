"""Writes logs part by part; one that was stopped goes on."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import msgspec

from agents.registry import check_names
from agents.signals.log.checking import DEALS, DECISIONS, MAX_PART_ROUNDS, check_file
from agents.signals.log.reader import part_file
from agents.signals.log.schema import LogError, arrow, head, tables
from agents.signals.playing import MAX_ROUNDS, SEATINGS, load_policy, play
from agents.tournament.workers import on_processes
from goita_env.checks import check_seed
from goita_env.errors import SettingError
from goita_env.rules import JGA, Rules, get_rules

PART_ROUNDS: Final = 2_000
"""Rounds in a part: about 40,000 decisions, a megabyte and a half."""


def write(
    folder: Path,
    agents: Sequence[str],
    rounds: int,
    *,
    seed: int = 0,
    rules: str | Rules = JGA,
    belief: str | None = None,
    part_rounds: int = PART_ROUNDS,
    workers: int = 1,
) -> Iterator[int]:
    """Has agents play and writes every decision; parts that are there already stay.

    A part's content depends on agents, seed, rules and its place alone. Files are written beside
    their place and then moved, so one with its name is whole.

    Args:
        folder: of the log; made where there is none.
        agents: one, two or four (``playing.play``).
        rounds: how many.
        seed: of everything that is random.
        rules: a rule set or its name.
        belief: what the listeners assume of the other seats (``listening.columns``); None: the
            columns about beliefs are left out.
        part_rounds: rounds in a part.
        workers: processes.

    Yields:
        Rounds written so far, those that were there counted.

    Raises:
        LogError: if the folder holds parts of another log; they are left as they are.
        AgentError, SettingError: if an agent or a number is impossible; nothing is written.
        ImportError: if pyarrow is missing.
    """
    arrow()
    check_names(agents)
    names = [load_policy(agent).name for agent in agents]
    if len(agents) not in SEATINGS:
        raise SettingError(f"expected 1, 2 or 4 agents, got {len(agents)}")
    each = len(SEATINGS[len(agents)])
    if not 1 <= rounds <= MAX_ROUNDS or rounds % each:
        raise SettingError(f"expected 1 to {MAX_ROUNDS:,} rounds by {each}, got {rounds!r}")
    if not 1 <= part_rounds <= MAX_PART_ROUNDS or part_rounds % each:
        raise SettingError(
            f"expected 1 to {MAX_PART_ROUNDS:,} rounds a part by {each}, got {part_rounds!r}"
        )
    check_seed(seed)
    rule_set = get_rules(rules)
    known: dict[str, Any] = {"agents": names, "specs": list(agents), "seed": seed, "belief": belief}
    known |= rule_set.to_keys()
    firsts = range(0, rounds, part_rounds)
    parts = [{**known, "first": f, "rounds": min(part_rounds, rounds - f)} for f in firsts]
    folder.mkdir(parents=True, exist_ok=True)
    missing, done = [], 0
    for number, part in enumerate(parts):
        if part_file(folder, DECISIONS, number).exists():
            _check(folder, number, part)
            done += part["rounds"]
        else:
            missing.append((number, part))
    beyond = part_file(folder, DECISIONS, len(parts))
    if beyond.exists():
        raise LogError(f"expected a log of {rounds:,} rounds at most, got one that has {beyond}")
    if done:
        yield done
    for written in on_processes(partial(_write_part, folder), missing, workers):
        done += written
        yield done


def _check(folder: Path, number: int, part: dict[str, Any]) -> None:
    """Checks that a part on the disk is the one that would be written."""
    file = part_file(folder, DECISIONS, number)
    found = msgspec.to_builtins(check_file(file, DECISIONS))
    wrong = {key: found.get(key) for key in part if found.get(key) != part[key]}
    if wrong:
        wanted = {key: part[key] for key in wrong}
        raise LogError(f"expected {file} to be of {wanted!r}, got {wrong!r}")


def _write_part(folder: Path, missing: tuple[int, dict[str, Any]]) -> int:
    """Plays and writes one part, of this number and these settings; returns its rounds."""
    number, part = missing
    rules = Rules.from_keys(part)
    told = play(part["specs"], part["rounds"], seed=part["seed"], rules=rules, first=part["first"])
    columns = {}
    if part["belief"] is not None:
        from agents.signals.listening import columns as listened

        columns = listened(told, part["belief"])
    deals, decisions = tables(told, columns, head(part))
    # The decisions come last: where they are, the part is whole.
    for kind, table in ((DEALS, deals), (DECISIONS, decisions)):
        file = part_file(folder, kind, number)
        # A name of this process's own: another program may be writing the same part.
        beside = file.with_suffix(f".{os.getpid()}.tmp")
        arrow().parquet.write_table(table, beside, compression="zstd")
        os.replace(beside, file)
    return int(part["rounds"])
