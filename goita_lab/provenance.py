"""Writes results as JSON and deal by deal, with what made them: versions, commit, weights."""

from __future__ import annotations

import platform
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from importlib import import_module
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

    A package that is not installed is left out. "code" is a digest of the installed code of this
    distribution; "commit" is there if this is a git checkout, with "-dirty" behind it if a file
    differs from that commit. "processor" and "date" are those of this run.
    """
    installed = {"goita_env": goita_env.__version__, "python": platform.python_version()}
    installed |= _package_versions()
    if commit := _commit():
        installed["commit"] = commit
    today = datetime.now(UTC).date().isoformat()
    return installed | {"code": code_digest(), "processor": processor(), "date": today}


@cache
def _package_versions() -> dict[str, str]:
    """Returns the versions of those of ``PACKAGES`` that are installed."""
    installed = {}
    for name in PACKAGES:
        try:
            installed[name] = version(name)
        except PackageNotFoundError:
            continue
    return installed


@cache
def code_digest() -> str:
    """Returns twelve hexadecimal digits of the SHA-256 of all Python files of this distribution."""
    digest = sha256()
    for package in ("goita_env", "goita_agents", "goita_lab"):
        (folder,) = import_module(package).__path__
        for file in sorted(Path(folder).rglob("*.py")):
            name = f"{package}/{file.relative_to(folder).as_posix()}"
            digest.update(f"{name} {file.stat().st_size}\n".encode() + file.read_bytes())
    return digest.hexdigest()[:12]


def processor() -> str:
    """Returns the model of the processor, as far as the system names it."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.is_file() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or platform.machine()


def depended_versions() -> dict[str, str]:
    """Returns the versions on which finished tasks depend: of libraries MAJOR.MINOR.

    Neither Python nor a commit: they don't change results.
    """
    installed = _package_versions()  # without a digest of the code, and without git
    minor = {
        name: ".".join(installed.get(name, "none").split(".")[:2]) for name in ("numpy", "torch")
    }
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
