"""Plays policies of torch as agents: the one that learns, its snapshots, and files."""

from __future__ import annotations

import copy
from pathlib import Path

import numpy as np
import torch as th
from goita_agents.base import Agent, AgentError, Float
from goita_agents.bots.network import LogitAgent, NetworkAgent
from goita_agents.bots.network_file import Array
from goita_agents.transforms import UNCHANGED, ObservationFunction, Transform, read_texts

from goita_env import View
from goita_env.errors import SettingError
from goita_env.information import PLAIN, Information
from goita_lab.learning.policy import SelfPlayPolicy
from goita_lab.learning.policy_file import (
    CustomInfo,
    build_policy,
    class_name,
    find_policy,
    load_tensors,
    read_policy,
)
from goita_lab.learning.ppo import SelfPlayPPO


class PolicyAgent(LogitAgent):
    """Plays by a policy of torch, perhaps with its trunk in bfloat16."""

    def __init__(
        self,
        policy: SelfPlayPolicy,
        reward_scale: float,
        temperature: float = 0.0,
        bfloat16: bool = False,
        transform: Transform = UNCHANGED,
        information: Information = PLAIN,
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
    """Plays a custom network from its file, with the class that it was written from.

    The class "MODULE:CLASS" and the function that it was trained with, if any, are named by the
    caller, never by the file alone: naming them runs their modules.

    Raises:
        AgentError: if the file is none, or one of another class, function or layout.
    """

    def __init__(
        self,
        path: str,
        policy: str,
        temperature: float = 0.0,
        transform: ObservationFunction | None = None,
    ) -> None:
        try:
            file = read_policy(Path(path))
            if not isinstance(file.info, CustomInfo) or file.policy != policy:
                raise SettingError(f"expected a policy {policy}, got {file.policy!r:.200}")
            shown = read_texts(file.info.transform, transform, "the file")
            information = file.info.information
            kind = find_policy(policy)
            network = build_policy(kind, file.info.settings, file.tensors, information)
        except (AgentError, SettingError) as error:
            raise AgentError(f"expected to play {path} with {policy}: {error}") from error
        super().__init__(
            network, file.info.reward_scale, temperature, transform=shown, information=information
        )


def load_frozen(model: SelfPlayPPO, path: Path) -> Agent:
    """Returns a snapshot of a training that plays as it was trained, sampling."""
    if type(model.policy).tensors is not SelfPlayPolicy.tensors:
        # The file may lack what only training uses.
        return NetworkAgent.load(path, 1.0, model.transform.function)
    policy = _copy(model.policy)
    load_tensors(policy, read_policy(path).tensors)
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


def load_policy(
    path: Path, policy: type[SelfPlayPolicy], transform: ObservationFunction | None = None
) -> Agent:
    """Returns a policy's file, of this class, as an agent that takes the likeliest action.

    ``transform``: the function with which it was trained, if there was one.
    """
    if isinstance(read_policy(path).info, CustomInfo):
        return SavedPolicy(str(path), class_name(policy), transform=transform)
    return NetworkAgent.load(path, transform=transform)
