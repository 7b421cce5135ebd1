"""Plays policies of torch as agents: the one that learns, its snapshots, and files.

A stack of layers with two heads has a file that ``goita_agents.bots.network`` plays without torch.
The file of any other network names the class that it belongs to; ``SavedPolicy`` plays it.
"""

from __future__ import annotations

import copy
import os
import sys
from pathlib import Path
from pkgutil import resolve_name
from reprlib import repr as shortened
from typing import Final

import numpy as np
import torch as th
from gymnasium.spaces import Box, Discrete

from goita_agents.base import Agent, AgentError, Float
from goita_agents.bots.network import LogitAgent, NetworkAgent
from goita_agents.bots.network_file import Array, NetworkInfo, read_network
from goita_agents.bots.transform import UNCHANGED, Transform
from goita_env import View
from goita_env.errors import SettingError
from goita_env.information import PLAIN, InformationStructure
from goita_lab.learning.policy import STACK_NAMES, SelfPlayPolicy
from goita_lab.learning.ppo import SelfPlayPPO

Tensors = dict[str, th.Tensor]

ALIASES: Final = ("pi_features_extractor.", "vf_features_extractor.")
"""Second names of the trunk in a policy of stable-baselines3."""


class PolicyAgent(LogitAgent):
    """An agent that plays by a policy of torch, perhaps with its trunk in bfloat16."""

    def __init__(
        self,
        policy: SelfPlayPolicy,
        reward_scale: float,
        temperature: float = 0.0,
        bfloat16: bool = False,
        transform: Transform = UNCHANGED,
        information: InformationStructure = PLAIN,
    ) -> None:
        super().__init__("policy", temperature, information)
        self.transform = transform
        self.policy, self.reward_scale, self.bfloat16 = policy, reward_scale, bfloat16
        policy.set_training_mode(False)

    def values(self, view: View) -> Float:
        """Returns the points that each viewer expects its team to gain yet: float64 [N]."""
        values: Float = self._evaluate(view)[1].numpy(force=True).astype(np.float64)
        return values * (1 / self.reward_scale)

    def logits(self, view: View) -> Array:
        return self._evaluate(view)[0].numpy(force=True)

    def _softmax(self, logits: Float) -> Float:
        tensor = th.from_numpy(logits.astype(np.float32)) / self.temperature
        return th.softmax(tensor, dim=1).numpy().astype(np.float64)

    def _evaluate(self, view: View) -> tuple[th.Tensor, th.Tensor]:
        """Returns logits float32 [N, 69] and values float32 [N]."""
        device = self.policy.device
        bits = th.from_numpy(self.transform.view(view).observation()).to(device)
        with th.no_grad(), th.autocast(device.type, th.bfloat16, enabled=self.bfloat16):
            logits, values = self.policy.logits_and_values(bits)
        return logits.float(), values.float()


class SavedPolicy(PolicyAgent):
    """A policy of a network class of its own, from its file.

    The class "MODULE:CLASS" is named by the caller, never by the file alone: naming it runs its
    module.

    Raises:
        AgentError: if the file is none, or one of another class or layout.
    """

    def __init__(self, path: str, policy: str, temperature: float = 0.0) -> None:
        info, tensors = read_policy(path)
        try:
            if info.policy != policy:
                raise SettingError(f"expected a policy {policy}, got {named(info)}")
            shown = Transform(info.transform)
            network = build_policy(find_policy(policy), info, tensors)
        except (AgentError, SettingError) as error:
            raise AgentError(f"expected to play {path} with {policy}: {error}") from error
        super().__init__(
            network, info.reward_scale, temperature, transform=shown, information=info.information
        )


def load_frozen(model: SelfPlayPPO, path: Path) -> Agent:
    """Returns a snapshot of a training that plays as it was trained, sampling."""
    policy = _copy(model.policy)
    load_tensors(policy, read_policy(path)[1])
    return PolicyAgent(
        policy, model.reward_scale, 1.0, model.bfloat16, model.transform, model.information
    )


def _copy(policy: SelfPlayPolicy) -> SelfPlayPolicy:
    """Returns a copy without the optimizer; unlike a new policy, it draws no random numbers."""
    optimizer = policy.optimizer
    del policy.optimizer
    try:
        return copy.deepcopy(policy)
    finally:
        policy.optimizer = optimizer


def load_policy(path: Path, policy: type[SelfPlayPolicy]) -> Agent:
    """Returns a policy's file, of this class, as an agent that takes the likeliest action."""
    if read_network(path)[0].policy:
        return SavedPolicy(str(path), class_name(policy))
    return NetworkAgent.load(path)


def read_policy(path: str | Path) -> tuple[NetworkInfo, Tensors]:
    """Reads a policy's file, its tensors by the names of the network in torch.

    Raises as ``read_network`` does.
    """
    info, arrays = read_network(path)
    return info, {
        name if info.policy else _torch_name(name): th.tensor(array)
        for name, array in arrays.items()
    }


def _torch_name(name: str) -> str:
    for torch_name, prefix in STACK_NAMES.items():
        if name.startswith(prefix):
            return torch_name + name.removeprefix(prefix)
    return name


def named(info: NetworkInfo) -> str:
    """Returns in words what network a file holds."""
    return f"{info.policy:.200}" if info.policy else "a stack of layers"


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
    policy: type[SelfPlayPolicy], info: NetworkInfo, tensors: Tensors
) -> SelfPlayPolicy:
    """Builds a network of a class; a SettingError if arguments or tensors are another's."""
    space = Box(0, 1, (info.information.observation_size,), np.uint8)
    actions = Discrete(info.information.num_actions)
    try:
        with th.random.fork_rng():  # its first weights are drawn, then replaced
            network = policy(space, actions, lambda _: 0.0, **info.settings)
    except Exception as error:  # a class may raise anything for arguments from somebody's file
        raise SettingError(f"expected arguments of {policy.__name__}: {error!r}") from error
    load_tensors(network, tensors)
    return network
