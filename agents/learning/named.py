"""Says what a run's directory may name by itself, and what whoever goes on with it must name again.

A directory may be somebody else's. Agents of this repository are named by a text that runs nothing;
a class, a command or a path is run or read only where it stands on the command line.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from agents.base import AgentError
from agents.registry import check_shipped
from goita_env.errors import SettingError

NAMED: Final = ("policy", "pool", "opponents", "partner", "against", "init")
"""Settings that may name files, commands and classes."""


def barred(settings: Mapping[str, Any], config: Path) -> dict[str, str]:
    """Returns what a run's file may not name, by its option, with the reason.

    The file may be somebody else's, so it names no class, command or path. (Of --init the run has a
    copy.)
    """
    reasons = {}
    if (policy := settings["policy"]) is not None:
        reasons["policy"] = (
            f"expected --policy {policy} beside --resume, as {config} may not name a class"
        )
    for name in ("pool", "opponents", "partner", "against"):
        try:
            for text in texts_of(settings, name):
                check_shipped(text, f"{name!r} of {config}")
        except AgentError as error:
            reasons[name] = f"{error}, with --{name}"
    return reasons


def texts_of(settings: Mapping[str, Any], name: str) -> list[str]:
    """Returns the texts of an option, none if it was not given."""
    value = settings[name]
    return [*value] if isinstance(value, tuple) else [] if value is None else [str(value)]


def check_named(settings: Mapping[str, Any], given: Mapping[str, Any], config: Path) -> None:
    """Checks that whoever goes on with a run names what its file may not, as the file does.

    Args:
        settings: of the run, by name.
        given: the options beside --resume.
        config: the run's file.

    Raises:
        SettingError: if something is named otherwise, or not at all.
    """
    for name in NAMED:
        kept, told = texts_of(settings, name), texts_of(given, name)
        if told and told != kept:
            raise SettingError(f"expected --{name} as in {config}, {kept}, got {told}")
    missing = [
        reason for name, reason in barred(settings, config).items() if not texts_of(given, name)
    ]
    if missing:
        raise SettingError(missing[0])


def resumption(settings: Mapping[str, Any], directory: Path) -> str:
    """Returns the command that goes on with a run.

    Args:
        settings: of the run, by name.
        directory: of the run.
    """
    words = ["python", "train.py", "--resume", str(directory)]
    for name in barred(settings, directory):
        words += [f"--{name}", *texts_of(settings, name)]
    return shlex.join(words)
