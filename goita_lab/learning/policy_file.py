"""Reads and writes the files of trained policies, which hold no pickled objects.

A stack of layers with two heads is a network file, which ``goita_agents.bots.network`` plays
without torch. Any other network is a custom file: all its tensors under their own names, with the
class that they belong to; ``SavedPolicy`` plays it. Nothing in a file is trusted.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from pkgutil import resolve_name
from reprlib import repr as shortened
from typing import Annotated, Any, Final, Literal

import msgspec
import numpy as np
import torch as th
from goita_agents.base import AgentError
from goita_agents.bots.network import FORMAT as STACK_FORMAT
from goita_agents.bots.network import (
    INFORMED_FORMAT,
    MAX_DECISIONS,
    TRANSFORMED_FORMAT,
    NetworkInfo,
    check_shapes,
    read_options,
    read_transform,
)
from goita_agents.bots.network_file import read_tensors
from goita_agents.transforms import read_texts
from gymnasium.spaces import Box, Discrete
from msgspec import Meta

from goita_env.errors import SettingError
from goita_env.information import PLAIN, Information
from goita_env.views.observation import OBSERVATION_VERSION
from goita_lab.learning.policy import STACK_NAMES, SelfPlayPolicy
from goita_lab.learning.ppo import SelfPlayPPO
from goita_lab.learning.presets import check_widths

Tensors = dict[str, th.Tensor]

CUSTOM_FORMAT: Final = "goita-policy-1"  # Names a custom file; grows when its meaning changes.
TRANSFORMED_CUSTOM_FORMAT: Final = "goita-policy-2"
"""Names one whose network was trained with a transform of the observation."""

INFORMED_CUSTOM_FORMAT: Final = "goita-policy-3"
"""Names one whose network plays a game with ``Information``."""

STACK_FORMATS: Final = (STACK_FORMAT, TRANSFORMED_FORMAT, INFORMED_FORMAT)
CUSTOM_FORMATS: Final = (CUSTOM_FORMAT, TRANSFORMED_CUSTOM_FORMAT, INFORMED_CUSTOM_FORMAT)

ALIASES: Final = ("pi_features_extractor.", "vf_features_extractor.")
"""Second names of the trunk in a policy of stable-baselines3."""


class CustomInfo(msgspec.Struct):
    """Describes a custom network; the metadata of its file."""

    policy: str  # "MODULE:CLASS"; compared, never imported because a file says so
    settings: dict[str, Any]  # arguments of the class
    points_per_value: Annotated[float, Meta(gt=0, lt=1e30)]
    reward: Literal["points", "win"] = "points"
    decisions: Annotated[int, Meta(ge=0, lt=MAX_DECISIONS)] = 0
    transform: tuple[str, ...] = ()  # of the observation, as in a network file
    information: Information = PLAIN  # likewise

    @property
    def reward_scale(self) -> float:
        """Returns the factor of rewards in training; files hold its inverse."""
        return 1 / self.points_per_value

    @classmethod
    def parse(cls, metadata: dict[str, str]) -> CustomInfo:
        """Returns the description in a file's metadata; a SettingError if it is malformed."""
        try:
            settings = msgspec.json.decode(metadata.get("settings", ""))
            kind = metadata.get("format")
            informed = kind == INFORMED_CUSTOM_FORMAT
            transformed = kind == TRANSFORMED_CUSTOM_FORMAT or (
                informed and "transform" in metadata
            )
            decoded = {
                "settings": settings,
                "transform": read_transform(metadata) if transformed else (),
            }
            texts = {key: text for key, text in metadata.items() if key != "information"}
            found = msgspec.convert({**texts, **decoded}, cls, strict=False)
            if informed:
                found.information = read_options(metadata)
            return found
        except (KeyError, ValueError, RecursionError) as error:
            raise SettingError(f"expected metadata of a policy's file: {error}") from error


@dataclass(frozen=True)
class PolicyFile:
    """Holds a policy's file of either format."""

    info: NetworkInfo | CustomInfo
    tensors: Tensors  # by the names that the network in torch gives them

    @property
    def policy(self) -> str:
        return self.info.policy if isinstance(self.info, CustomInfo) else "a stack of layers"


def read_policy(path: Path) -> PolicyFile:
    """Reads a policy's file; a SettingError if it is none, or for another observation version."""
    try:
        found, arrays = read_tensors(path, dimensions=range(9))
        metadata: dict[str, str] = found or {}
        tensors = {name: th.tensor(array) for name, array in arrays.items()}
        if (version := metadata.get("observation_version")) != str(OBSERVATION_VERSION):
            raise SettingError(
                f"expected a policy for observation version {OBSERVATION_VERSION}, got {version!r}"
            )
        if metadata.get("format") in CUSTOM_FORMATS:
            return PolicyFile(CustomInfo.parse(metadata), tensors)
        if metadata.get("format") not in STACK_FORMATS:
            raise SettingError(f"expected the format of one, got {shortened(metadata)}")
        info = NetworkInfo.parse(metadata)
        check_shapes(info, arrays)
    except (OSError, AgentError, SettingError) as error:
        raise SettingError(f"expected a policy's file, got {path}: {error}") from error
    for torch_name, name in STACK_NAMES.items():
        tensors = {
            torch_name + key.removeprefix(name) if key.startswith(name) else key: tensor
            for key, tensor in tensors.items()
        }
    return PolicyFile(info, tensors)


def load_tensors(policy: SelfPlayPolicy, tensors: Tensors) -> None:
    """Gives a policy the tensors of a file; a SettingError if they are another network's."""
    try:
        missing, foreign = policy.load_state_dict(tensors, strict=False)
    except RuntimeError as error:
        raise SettingError(f"expected tensors of this network: {error}") from error
    missing = [name for name in missing if not name.startswith(ALIASES)]
    if missing or foreign:
        raise SettingError(
            f"expected tensors of this network; missing {missing}, foreign {shortened(foreign)}"
        )


def class_name(policy: type[SelfPlayPolicy]) -> str:
    """Returns "MODULE:CLASS"."""
    return f"{policy.__module__}:{policy.__qualname__}"


def find_policy(name: str) -> type[SelfPlayPolicy]:
    """Imports the ``SelfPlayPolicy`` "MODULE:CLASS"; the working directory is searched, too."""
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        found = resolve_name(name)
    except (ImportError, AttributeError, ValueError) as error:
        raise SettingError(f"expected MODULE:CLASS, got {name!r}: {error}") from error
    if not (isinstance(found, type) and issubclass(found, SelfPlayPolicy)):
        raise SettingError(f"expected a subclass of SelfPlayPolicy, got {name!r}: {found!r}")
    return found


def build_policy(
    policy: type[SelfPlayPolicy],
    settings: dict[str, Any],
    tensors: Tensors,
    information: Information = PLAIN,
) -> SelfPlayPolicy:
    """Builds a network of a class; a SettingError if arguments or tensors are another's."""
    space = Box(0, 1, (information.observation_size,), np.uint8)
    actions = Discrete(information.num_actions)
    try:
        with th.random.fork_rng():  # its first weights are drawn, then replaced
            network = policy(space, actions, lambda _: 0.0, **settings)
    except Exception as error:  # a class may raise anything for arguments from somebody's file
        raise SettingError(f"expected arguments of {policy.__name__}: {error!r}") from error
    load_tensors(network, tensors)
    return network


def widths(path: Path) -> tuple[int, ...]:
    """Returns the widths of the layers of a policy's file; a SettingError if there are none."""
    file = read_policy(path)
    if isinstance(file.info, CustomInfo):
        found = file.info.settings.get("layers")
    else:
        names = [f"features_extractor.layers.{n}.bias" for n in range(file.info.layers)]
        found = [len(file.tensors[name]) for name in names]
    if not isinstance(found, list) or not all(type(width) is int for width in found):
        raise SettingError(f"expected a policy with layers, got {shortened(found)} in {path}")
    check_widths("layers", found)
    return tuple(found)


def begin_from(model: SelfPlayPPO, path: Path) -> None:
    """Gives an untrained model the weights of a policy's file.

    A stack may be wider than the file's. It then plays as the file does: new units have random
    input weights and zero output weights (a special case of Chen, Goodfellow & Shlens 2016,
    Net2Net). It may also be shown what was hidden from the file's: those bits begin with zero
    weights. Values are rescaled where both stand for points, and reset where one stands for points
    and the other for wins.

    Raises:
        SettingError: if the file is none or another network's, a custom network's with values in
            other units, or was trained with a transform that this training lacks.
    """
    file, stack = read_policy(path), model.policy.is_stack()
    tensors = file.tensors
    if stack and not isinstance(file.info, CustomInfo):
        tensors = _widened(_unhidden(tensors, file.info, model), model.policy.state_dict())
    elif file.info.transform != model.transform.texts:
        raise _other_transform(file.info, model)
    if file.info.information not in (PLAIN, model.information):
        raise SettingError(
            f"expected a policy of a game with {model.information!r}, or of the plain one, in "
            f"{path}, got one with {file.info.information!r}"
        )
    try:
        load_tensors(model.policy, tensors)
    except SettingError as error:
        message = f"expected to begin with {path}, which holds {file.policy}: {error}"
        raise SettingError(message) from error
    same = file.info.reward == model.reward
    scale = (1 / file.info.reward_scale) / (1 / model.reward_scale) if same else 0.0
    if scale == 1.0:
        return
    if not stack:
        raise SettingError(
            f"expected values in the same units in {path}, got {file.info.reward!r} with "
            f"reward_scale {file.info.reward_scale}"
        )
    with th.no_grad():
        for parameter in model.policy.value_net.parameters():
            parameter.mul_(scale)


def _other_transform(info: NetworkInfo | CustomInfo, model: SelfPlayPPO) -> SettingError:
    return SettingError(
        f"expected --transform {shortened(' '.join(info.transform))} as the policy to begin with, "
        f"got {model.transform.texts}"
    )


def _unhidden(tensors: Tensors, info: NetworkInfo, model: SelfPlayPPO) -> Tensors:
    """Returns a stack's tensors that play alike where bits that were hidden are shown."""
    if not info.transform or info.transform == model.transform.texts:
        return tensors
    try:
        hidden = read_texts(info.transform, None, "the file").hidden
    except AgentError as error:
        raise _other_transform(info, model) from error
    name = "features_extractor.layers.0.weight"
    weight = tensors[name].clone()
    weight[:, np.flatnonzero(hidden)] = 0.0
    return tensors | {name: weight}


def _widened(tensors: Tensors, wide: Tensors) -> Tensors:
    """Returns a stack's tensors in the shapes of a wider one; what does not fit is unchanged."""
    widened = dict(tensors)
    for name, block in tensors.items():
        if name not in wide or block.ndim != wide[name].ndim:
            continue
        if all(old <= new for old, new in zip(block.shape, wide[name].shape, strict=True)):
            widened[name] = wide[name].clone()
            widened[name][: len(block)] = 0.0
            widened[name][tuple(slice(size) for size in block.shape)] = block
    return widened
