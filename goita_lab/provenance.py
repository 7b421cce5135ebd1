"""Says what made a result or a run: versions, the commit, and the weights of networks."""

from __future__ import annotations

import platform
import subprocess
from collections.abc import Iterable
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

import goita_agents
import goita_env
import goita_lab
from goita_agents.registry import weights

PACKAGES: Final = ("numpy", "scipy", "choix", "torch")


def provenance(specs: Iterable[str]) -> dict[str, Any]:
    """Returns what a result says of who played, as JSON: "versions" and "weights".

    Args:
        specs: the texts of the agents.
    """
    return {"versions": versions(), "weights": weights(specs)}


@cache
def versions() -> dict[str, str]:
    """Returns the versions of Python, of goita_env and of the packages that figures depend on.

    A package that is not installed is left out. "commit" stands there if this is a git checkout,
    with "-dirty" behind it if a file differs from that commit.
    """
    found = {"goita_env": goita_env.__version__, "python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found | ({"commit": commit} if (commit := _commit()) else {})


def _commit() -> str:
    """Returns the commit of the checkout that this is, else an empty text."""
    root = Path(goita_env.__file__).resolve().parents[1]
    if not (root / ".git").exists():  # an installation may lie inside somebody else's checkout
        return ""
    words = ["git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        found = subprocess.run(words, cwd=root, capture_output=True, text=True, check=True)
        return found.stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def code() -> str:
    """Returns a digest of all code and weights of the project, on which results depend."""
    digest = sha256()
    for package in (goita_env, goita_agents, goita_lab):
        folder = Path(package.__path__[0])
        for file in sorted(folder.rglob("*")):
            if file.suffix in (".py", ".safetensors", ".json"):
                digest.update(str(file.relative_to(folder)).encode() + file.read_bytes())
    return digest.hexdigest()[:16]
