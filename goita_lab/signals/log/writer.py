"""Writes logs part by part; a stopped one goes on."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np

from goita_agents.base import Float
from goita_agents.beliefs import PolicyModel
from goita_agents.beliefs.history import check_followed
from goita_agents.registry import check_names, weights
from goita_env.checks import check_seed
from goita_env.information import PLAIN, InformationStructure
from goita_env.rules import JGA, Rules, get_rules
from goita_env.tiles import NUM_SEATS
from goita_lab.signals.listening import listen
from goita_lab.signals.log.reader import MAX_PART_ROUNDS, part_file, read_head
from goita_lab.signals.log.schema import DEALS, DECISIONS, WHO, LogError, arrow, head, tables
from goita_lab.signals.playing import MAX_ROUNDS, Play, check_plays, check_rounds, load_policy, play
from goita_lab.work import on_workers

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
    information: InformationStructure = PLAIN,
) -> Iterator[int]:
    """Plays rounds and logs every decision; parts that are there already stay.

    A part's content depends on agents, seed, rules and its number alone. Files are written beside
    their place and then moved, so one with its name is whole.

    Args:
        folder: of the log.
        agents: texts; who sits where says ``play``.
        rounds: number of rounds.
        seed: of deals and random numbers.
        rules: rule set.
        belief: an agent that models the other seats, for ``belief_columns``; None: no columns about
            beliefs.
        part_rounds: rounds of a part.
        workers: number of processes.
        information: shown tiles and messages.

    Yields:
        The rounds of the log so far.

    Raises:
        LogError: if the folder holds parts of another log; they are left as they are.
        AgentError, SettingError: if an agent or a number is impossible; nothing is written.
        ImportError: if pyarrow is missing.
    """
    arrow()
    check_names(agents)
    policies = [load_policy(agent) for agent in agents]
    check_plays(policies, information)
    if belief is not None:
        check_followed(information)
    names = [policy.name for policy in policies]
    check_rounds(len(agents), rounds, MAX_ROUNDS)
    check_rounds(len(agents), part_rounds, MAX_PART_ROUNDS)
    check_seed(seed)
    rule_set = get_rules(rules)
    known: dict[str, Any] = {"agents": names, "specs": list(agents), "seed": seed, "belief": belief}
    known["weights"] = weights([*agents, *([belief] if belief else [])])
    known |= rule_set.to_keys() | information.to_keys()
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
    for written in on_workers(partial(_write_part, folder), missing, workers):
        done += written
        yield done


def _check(folder: Path, number: int, part: dict[str, Any]) -> None:
    file = part_file(folder, DECISIONS, number)
    found = msgspec.to_builtins(read_head(file, DECISIONS))
    expected = {"information": None, **part}
    if wrong := {key: found.get(key) for key in expected if found.get(key) != expected[key]}:
        wanted = {key: expected[key] for key in wrong}
        raise LogError(f"expected {file} to be of {wanted!r}, got {wrong!r}")


def _write_part(folder: Path, missing: tuple[int, dict[str, Any]]) -> int:
    number, part = missing
    played = play(
        part["specs"],
        part["rounds"],
        seed=part["seed"],
        rules=Rules.from_keys(part),
        first=part["first"],
        information=InformationStructure.from_keys(part),
    )
    columns = {} if part["belief"] is None else belief_columns(played, part["belief"])
    deals, decisions = tables(played, columns, head(part))
    # The decisions come last: where they are, the part is whole.
    for kind, table in ((DEALS, deals), (DECISIONS, decisions)):
        file = part_file(folder, kind, number)
        file.parent.mkdir(exist_ok=True)
        # A name of this process's own: another program may be writing the same part.
        beside = file.with_suffix(f".{os.getpid()}.tmp")
        arrow().parquet.write_table(table, beside, compression="zstd")
        os.replace(beside, file)
    return int(part["rounds"])


def belief_columns(play: Play, agent: str) -> dict[str, Float]:
    """Returns what deciding seats know of the others, as columns of a log: [D] each, nats.

    Every seat has an exact listener whose model of all others is ``PolicyModel(agent)``. Questions
    before play and deals decided there have NaN.
    """
    _, known = listen(play, {agent: PolicyModel(agent)}, listeners=range(NUM_SEATS), told=False)
    found = {}
    for who, seat in WHO.items():
        for name in ("log_probability", "entropy"):
            found[f"{name}_{who}"] = np.full(len(play.deal), np.nan)
            found[f"{name}_{who}"][known.row] = getattr(known, name)[:, 0, seat - 1]
    return found
