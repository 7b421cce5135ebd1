"""Writes files whole or not at all, and reads policies without unpickling anything."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import torch as th
from safetensors import SafetensorError, safe_open

from agents.bots.network import FORMAT as STACK_FORMAT
from agents.files import write_whole
from agents.learning.policy import STACK_NAMES, SelfPlayPolicy
from goita_env.errors import SettingError
from goita_env.views.observation import OBSERVATION_VERSION

Tensors = dict[str, th.Tensor]

OWN_FORMAT: Final = "goita-policy-1"
"""Names a file of a network of one's own; grows when its meaning changes."""

ALIASES: Final = ("pi_features_extractor.", "vf_features_extractor.")
"""Second names of the trunk in a policy of stable-baselines3."""


def write(path: Path, data: bytes) -> None:
    """Writes a file of a run, whole or not at all, and makes its folder first."""
    path.parent.mkdir(exist_ok=True)
    write_whole(path, data)


def read(path: Path) -> tuple[dict[str, str], Tensors]:
    """Returns the metadata and the tensors of a policy's file, of either kind.

    Raises:
        SettingError: if it is none, or one for another layout of the observation.
    """
    try:
        with safe_open(path, "pt") as file:
            metadata = dict(file.metadata() or {})
            names = file.keys()
            tensors = {name: file.get_tensor(name) for name in names}
    except (OSError, SafetensorError) as error:
        raise SettingError(f"expected a policy's file, got {path}: {error}") from error
    version = metadata.get("observation_version")
    if metadata.get("format") not in (STACK_FORMAT, OWN_FORMAT):
        raise SettingError(f"expected a policy's file, got {path} with {metadata!r}")
    if version != str(OBSERVATION_VERSION):
        raise SettingError(
            f"expected a policy for observation version {OBSERVATION_VERSION}, got {version!r}"
        )
    if not all(bool(tensor.isfinite().all()) for tensor in tensors.values()):
        raise SettingError(f"expected finite numbers in {path}, got others")
    if metadata["format"] == STACK_FORMAT:
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
            f"expected tensors of this network; missing {missing}, foreign {foreign}"
        )
