"""Writes results as JSON and deal by deal, with what made them: versions, commit, weights."""

from __future__ import annotations

import platform
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import numpy as np

import goita_env
from goita_agents.base import Float, Policy
from goita_agents.files import is_stdout, json_text, write_whole
from goita_agents.identity import Identities
from goita_agents.registry import short_name
from goita_env.information import InformationStructure
from goita_env.rules import Rules

PACKAGES: Final = ("numpy", "scipy", "choix", "torch")


CHANGED_MARK: Final = "changed while it played"
"""Marks the results of an agent that is made of something else at the end of a command."""


def provenance(agents: Iterable[str] | Identities) -> dict[str, Any]:
    """Returns what a result says of who played, as JSON.

    The keys are "versions", "weights", "digests", and "changed": the agents that are made of
    something else by now.

    Args:
        agents: what they were made of when they were built; texts: what they are made of now.
    """
    identities = agents if isinstance(agents, Identities) else Identities(agents)
    return {
        "versions": versions(),
        "weights": identities.weights,
        "digests": identities.digests,
        "changed": identities.changed(),
    }


def marks(origin: Mapping[str, Any]) -> str:
    """Returns a line with the agents that changed, as ``provenance`` found, or nothing."""
    names = ", ".join(map(short_name, origin["changed"]))
    return f"{CHANGED_MARK}: {names}\n" if names else ""


@cache
def versions() -> dict[str, str]:
    """Returns the versions of Python, of goita_env and of the packages that figures depend on.

    A package that is not installed is left out. "commit" is there if this is a git checkout,
    with "-dirty" behind it if a file differs from that commit.
    """
    installed = {"goita_env": goita_env.__version__, "python": platform.python_version()}
    for name in PACKAGES:
        try:
            installed[name] = version(name)
        except PackageNotFoundError:
            continue
    return installed | ({"commit": commit} if (commit := _commit()) else {})


def depended_versions() -> dict[str, str]:
    """Returns the versions on which finished tasks depend: of libraries MAJOR.MINOR.

    Neither Python nor a commit: they don't change results.
    """
    whole = versions()
    minor = {name: ".".join(whole.get(name, "none").split(".")[:2]) for name in ("numpy", "torch")}
    return {"goita_env": goita_env.__version__, **minor}


def _commit() -> str:
    """Returns the commit of the checkout that this is, else an empty text."""
    root = Path(goita_env.__file__).resolve().parents[1]
    if not (root / ".git").exists():  # an installation may lie inside somebody else's checkout
        return ""
    words = ["git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        described = subprocess.run(words, cwd=root, capture_output=True, text=True, check=True)
        return described.stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def to_json(results: Mapping[str, Any], agents: Iterable[str] | Identities = ()) -> str:
    """Returns results as JSON, with what ``provenance`` says of the agents, or they themselves.

    Dataclasses become objects by field, arrays lists, an agent its name, a pair "A | B", a number
    that isn't finite null.
    """
    written = plain({**provenance(agents), **results})
    return json_text(written, escape=False)


def plain(value: Any) -> Any:
    """Returns a result as JSON, see ``to_json``."""
    if isinstance(value, Rules):
        return value.to_keys()
    if isinstance(value, InformationStructure):
        return value.to_keys().get("information")
    if isinstance(value, Policy):
        return value.name
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if is_dataclass(value):
        value = {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, dict):
        return {k if isinstance(k, str) else " | ".join(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def write_summary(path: Path, summary: str, deals: Mapping[str, Float]) -> None:
    """Writes a summary as JSON, and next to it, as NAME.npz, the figures of each deal, compressed.

    Args:
        path: the file of the summary; on standard output there is no second file.
        summary: the JSON.
        deals: totals and counts of each deal, [2, n], by name: the mean is the sum of the totals
            over the sum of the counts.
    """
    write_whole(path, summary)
    if deals and not is_stdout(path):
        data = BytesIO()
        # Names in an archive are UTF-8.
        named = {name.encode(errors="backslashreplace").decode(): deals[name] for name in deals}
        arrays: dict[str, Any] = named
        np.savez_compressed(data, **arrays)
        write_whole(path.with_suffix(".npz"), data.getvalue())
