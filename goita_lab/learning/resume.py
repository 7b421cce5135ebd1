"""Checks what the settings of a resumed run may name.

A run's directory may be somebody else's. Its settings may name agents of this repository; a class,
a command or a path counts only where the user gives it again on the command line.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from goita_agents.base import AgentError
from goita_agents.registry import check_shipped

from goita_env.errors import SettingError
from goita_lab.learning.weighted import SELF, split_weight

AGENT_OPTIONS: Final = (
    "pool",
    "opponents",
    "partner",
    "partners",
    "against",
)  # Options that name agents.

NAMING_OPTIONS: Final = ("policy", "transform", *AGENT_OPTIONS, "init")
"""Options that may name files, commands and classes; of ``init`` the run has a copy."""


def check_named(settings: Mapping[str, Any], given: Mapping[str, Any], config: Path) -> None:
    """Checks that options beside --resume repeat what the run's file may not name by itself."""
    for name in NAMING_OPTIONS:
        kept, again = _texts(settings, name), _texts(given, name)
        if again and again != kept:
            raise SettingError(f"expected --{name} as in {config}, {kept}, got {again}")
    for name, reason in _refused(settings, config).items():
        if not _texts(given, name):
            raise SettingError(reason)


def resume_command(settings: Mapping[str, Any], directory: Path) -> str:
    """Returns the command that resumes a run with these settings."""
    words = ["goita", "train", "--resume", str(directory)]
    for name in _refused(settings, directory):
        words += [f"--{name}", *_texts(settings, name)]
    return shlex.join(words)


def _refused(settings: Mapping[str, Any], config: Path) -> dict[str, str]:
    """Returns the options whose values a run's file may not name, with the reason."""
    reasons = {}
    if (policy := settings["policy"]) is not None:
        reasons["policy"] = (
            f"expected --policy {policy} beside --resume, as {config} may not name a class"
        )
    if any(":" in text for text in _texts(settings, "transform")):
        words = " ".join(_texts(settings, "transform"))
        reasons["transform"] = (
            f"expected --transform {words} beside --resume, as {config} may not name a function"
        )
    for name in AGENT_OPTIONS:
        try:
            for text in _texts(settings, name):
                if (agent := split_weight(text)[0]) != SELF:
                    check_shipped(agent, f"{name!r} of {config}")
        except AgentError as error:
            reasons[name] = f"{error}, with --{name}"
    return reasons


def _texts(settings: Mapping[str, Any], name: str) -> list[str]:
    value = settings[name]
    return [*value] if isinstance(value, tuple) else [] if value is None else [str(value)]
