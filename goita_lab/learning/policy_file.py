"""Writes the policies of trainings to files, plays these as agents, and begins trainings with them.

A stack of layers with two heads has a file that ``goita_agents.bots.network`` plays without torch.
The file of any other network names the class that it belongs to; ``SavedPolicy`` plays it.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from pkgutil import resolve_name
from reprlib import repr as shortened
from typing import Any, Final

import numpy as np
import torch as th
from gymnasium.spaces import Box, Discrete

from goita_agents.base import Agent, AgentError, Float
from goita_agents.bots.network import LogitAgent, NetworkAgent
from goita_agents.bots.network_file import Array, NetworkInfo, read_network, write_network
from goita_agents.bots.transform import UNCHANGED, Transform
from goita_agents.files import write_whole
from goita_env import View
from goita_env.errors import SettingError
from goita_env.information import PLAIN, InformationStructure
from goita_env.rules import Rules, get_rules
from goita_lab.learning.policy import STACK_NAMES, SelfPlayPolicy, check_weights
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

    The class "MODULE:CLASS" is named by the caller, never only by the file: naming it runs its
    module.

    Raises:
        AgentError: if the file holds no policy, or a policy of another class or layout.
    """

    def __init__(self, path: str, policy: str, temperature: float = 0.0) -> None:
        info, tensors = read_policy(path)
        try:
            if info.policy != policy:
                raise SettingError(f"expected a policy {policy}, got {named(info)}")
            transform = Transform(info.transform)
            network = build_policy(find_policy(policy), info, tensors)
        except (AgentError, SettingError) as error:
            raise AgentError(f"expected to play {path} with {policy}: {error}") from error
        super().__init__(
            network,
            info.reward_scale,
            temperature,
            transform=transform,
            information=info.information,
        )


def load_frozen(model: SelfPlayPPO, path: Path) -> Agent:
    """Returns a snapshot of a training that plays as it was trained, sampling."""
    info, tensors = read_policy(path)
    info = replace(info, settings=model.policy_kwargs)
    policy = build_policy(type(model.policy), info, tensors).to(model.device)
    return PolicyAgent(
        policy,
        model.reward_scale,
        temperature=1.0,
        bfloat16=model.bfloat16,
        transform=model.transform,
        information=model.information,
    )


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
        policy = resolve_name(name)
    except (ImportError, AttributeError, ValueError) as error:
        raise SettingError(f"expected MODULE:CLASS, got {name!r}: {error}") from error
    if not (isinstance(policy, type) and issubclass(policy, SelfPlayPolicy)):
        raise SettingError(f"expected a subclass of SelfPlayPolicy, got {name!r}: {policy!r}")
    return policy


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


def save_policy(model: SelfPlayPPO, path: str | Path, rules: str | Rules) -> None:
    """Writes a model's policy to a file; where ``policy_bytes`` raises, it writes nothing."""
    data, path = policy_bytes(model, rules), Path(path)
    path.parent.mkdir(exist_ok=True)
    write_whole(path, data)


def policy_bytes(model: SelfPlayPPO, rules: str | Rules) -> bytes:
    """Returns the content of a policy's file.

    A network of a user's class is built anew from it, so ``state_dict`` must hold everything by
    which the network plays.

    Raises:
        SettingError: if the file could not be read back.
        DivergedError: if a weight is not finite.
    """
    check_weights(model.policy, "policy")
    stack = model.policy.is_stack()
    tensors = model.policy.tensors() if stack else _all_tensors(model)
    name, settings = ("", {}) if stack else _own_class(model)
    info = NetworkInfo(
        layers=sum(key.startswith("layers.") for key in tensors) // 2 if stack else 0,
        decisions=model.num_timesteps,
        reward_scale=model.reward_scale,
        rules=get_rules(rules),
        reward=model.reward,
        transform=model.transform.texts,
        information=model.information,
        policy=name,
        settings=settings,
    )
    if not stack:
        copied = {key: th.tensor(array) for key, array in tensors.items()}
        build_policy(type(model.policy), info, copied)
    return write_network(info, tensors)


def _own_class(model: SelfPlayPPO) -> tuple[str, Mapping[str, Any]]:
    """Returns the name and the arguments of a network's class, as a file holds them."""
    policy = type(model.policy)
    name = class_name(policy)
    if policy.__module__ == "__main__" or find_policy(name) is not policy:
        raise SettingError(f"expected a policy in a module that others can import, got {name!r}")
    try:
        settings: dict[str, Any] = json.loads(json.dumps(model.policy_kwargs))
    except TypeError as error:
        raise SettingError(f"expected policy_kwargs that JSON can hold: {error}") from error
    return name, settings


def _all_tensors(model: SelfPlayPPO) -> dict[str, Array]:
    """Returns all tensors of a network by name; a SettingError if one is not of float32."""
    tensors = {
        key: tensor.numpy(force=True)
        for key, tensor in model.policy.state_dict().items()
        if not key.startswith(ALIASES)
    }
    if of_other_types := [key for key, array in tensors.items() if array.dtype != np.float32]:
        raise SettingError(f"expected tensors of float32 numbers, got others in {of_other_types}")
    return tensors


def init_from(model: SelfPlayPPO, path: Path) -> None:
    """Gives an untrained model the weights of a policy's file.

    A stack may be wider than the file's. It then plays as the file does: new units have random
    input weights and zero output weights (a special case of Chen, Goodfellow & Shlens 2016,
    Net2Net). Values are rescaled where both are points, and reset where one is points
    and the other for wins.

    Raises:
        SettingError: if the file holds no policy or another network's, a custom network's with
            values in other units, or was trained with another transform.
    """
    info, tensors = read_policy(path)
    stack = model.policy.is_stack()
    if stack and not info.policy:
        tensors = _widened(tensors, model.policy.state_dict())
    if info.transform != model.transform.texts:
        raise SettingError(
            f"expected a policy with transform {model.transform.texts} in {path}, "
            f"got {shortened(info.transform)}"
        )
    if info.information not in (PLAIN, model.information):
        raise SettingError(
            f"expected a policy of a game with {model.information!r}, or of the plain one, in "
            f"{path}, got one with {info.information!r}"
        )
    try:
        load_tensors(model.policy, tensors)
    except SettingError as error:
        message = f"expected to begin with {path}, which holds {named(info)}: {error}"
        raise SettingError(message) from error
    # Values of the same unit differ by their factors; a factor of 0 resets values of another unit.
    same_unit = info.reward == model.reward
    scale = (1 / info.reward_scale) / (1 / model.reward_scale) if same_unit else 0.0
    if scale == 1.0:
        return
    if not stack:
        raise SettingError(
            f"expected values in the same units in {path}, got {info.reward!r} with "
            f"reward_scale {info.reward_scale}"
        )
    with th.no_grad():
        for parameter in model.policy.value_net.parameters():
            parameter.mul_(scale)


def _widened(tensors: Tensors, wide: Tensors) -> Tensors:
    """Returns a stack's tensors in the shapes of a wider one; what does not fit is unchanged."""
    widened = dict(tensors)
    for name, tensor in tensors.items():
        if name not in wide or tensor.ndim != wide[name].ndim:
            continue
        if all(old <= new for old, new in zip(tensor.shape, wide[name].shape, strict=True)):
            # A row is the input weights of one unit. The file's units come first and take nothing
            # from the new units; the rows of new units keep their random weights.
            widened[name] = wide[name].clone()
            widened[name][: len(tensor)] = 0.0
            widened[name][tuple(slice(size) for size in tensor.shape)] = tensor
    return widened
