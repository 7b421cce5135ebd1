"""Writes files whole or not at all, and reads policies without unpickling anything."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from reprlib import repr as shortened
from typing import Annotated, Any, Final, Literal

import msgspec
import torch as th
from msgspec import Meta

from agents.base import AgentError
from agents.bots.network import FORMAT as STACK_FORMAT
from agents.bots.network import MAX_DECISIONS, NetworkAgent, NetworkInfo
from agents.bots.network_file import read_tensors
from agents.files import write_whole
from agents.learning.policy import STACK_NAMES, SelfPlayPolicy
from goita_env.errors import SettingError
from goita_env.views.observation import OBSERVATION_VERSION

Tensors = dict[str, th.Tensor]

OWN_FORMAT: Final = "goita-policy-1"
"""Names a file of a network of one's own; grows when its meaning changes."""

MAX_DIMENSIONS: Final = 9
"""Of a tensor, one less."""

ALIASES: Final = ("pi_features_extractor.", "vf_features_extractor.")
"""Second names of the trunk in a policy of stable-baselines3."""


def write(path: Path, data: bytes) -> None:
    """Writes a file of a run, whole or not at all, and makes its folder first."""
    path.parent.mkdir(exist_ok=True)
    write_whole(path, data)


class OwnInfo(msgspec.Struct):
    """Says what a network of one's own is; the metadata of its file."""

    policy: str
    """"MODULE:CLASS"; told, compared and never imported because a file says so."""
    settings: dict[str, Any]
    """Arguments of the class."""
    points_per_value: Annotated[float, Meta(gt=0, lt=1e30)]
    reward: Literal["points", "win"] = "points"
    decisions: Annotated[int, Meta(ge=0, lt=MAX_DECISIONS)] = 0


def own_info(metadata: Mapping[str, str]) -> OwnInfo:
    """Returns what the metadata of a file say about a network of one's own.

    Raises:
        SettingError: if they are those of another file.
    """
    try:
        settings = msgspec.json.decode(metadata.get("settings", ""))
        return msgspec.convert({**metadata, "settings": settings}, OwnInfo, strict=False)
    except (msgspec.DecodeError, RecursionError) as error:
        raise SettingError(f"expected metadata of a policy's file: {error}") from error


def read(path: Path) -> tuple[dict[str, str], Tensors]:
    """Returns the metadata and the tensors of a policy's file, of either kind.

    Raises:
        SettingError: if it is none, or one for another layout of the observation.
    """
    try:
        found, arrays = read_tensors(path, dimensions=range(MAX_DIMENSIONS))
        metadata: dict[str, str] = found or {}
        kind, version = metadata.get("format"), metadata.get("observation_version")
        if kind not in (STACK_FORMAT, OWN_FORMAT):
            raise SettingError(f"expected the format of one, got {shortened(metadata)}")
        if version != str(OBSERVATION_VERSION):
            raise SettingError(
                f"expected a policy for observation version {OBSERVATION_VERSION}, got {version!r}"
            )
        if kind == STACK_FORMAT:
            NetworkAgent(NetworkInfo.parse(metadata), arrays)  # checks them
        else:
            own_info(metadata)
    except (OSError, AgentError, SettingError) as error:
        raise SettingError(f"expected a policy's file, got {path}: {error}") from error
    tensors = {name: th.tensor(array) for name, array in arrays.items()}
    if kind == STACK_FORMAT:
        back = {new: old for old, new in STACK_NAMES.items()}
        prefixes = {key: next((p for p in back if key.startswith(p)), "") for key in tensors}
        tensors = {
            back.get(prefix, "") + key.removeprefix(prefix): tensors[key]
            for key, prefix in prefixes.items()
        }
    return metadata, tensors


def load(policy: SelfPlayPolicy, tensors: Tensors) -> None:
    """Gives a policy the tensors of a file.

    Raises:
        SettingError: if they are those of another network.
    """
    try:
        missing, foreign = policy.load_state_dict(tensors, strict=False)
    except RuntimeError as error:
        raise SettingError(f"expected tensors of this network: {error}") from error
    missing = [name for name in missing if not name.startswith(ALIASES)]
    if missing or foreign:
        raise SettingError(
            f"expected tensors of this network; missing {missing}, foreign {shortened(foreign)}"
        )
