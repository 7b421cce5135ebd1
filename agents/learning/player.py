"""Plays policies of torch as agents: the one that learns, its snapshots, and files."""

from __future__ import annotations

import copy
import os
import sys
from math import inf
from pathlib import Path
from pkgutil import resolve_name
from reprlib import repr as shortened
from typing import Any

import numpy as np
import torch as th
from gymnasium.spaces import Box, Discrete

from agents.base import Agent, AgentError, Bool, Float, Int, certain, sample
from agents.bots.network import FORMAT as STACK_FORMAT
from agents.bots.network import NetworkAgent
from agents.learning.policy import SelfPlayPolicy
from agents.learning.ppo import SelfPlayPPO
from agents.learning.storage import Tensors, load, own_info, read
from goita_env import View
from goita_env.actions import NUM_ACTIONS
from goita_env.errors import SettingError
from goita_env.views.observation import OBSERVATION_SIZE


class PolicyAgent:
    """Plays by a policy of torch.

    Args:
        policy: asked, never trained.
        points_per_value: points that a value of 1 stands for.
        temperature: 1 plays as trained, 0 always takes the likeliest action.
        bfloat16: run the trunk in bfloat16.
    """

    def __init__(
        self,
        policy: SelfPlayPolicy,
        points_per_value: float,
        temperature: float = 0.0,
        bfloat16: bool = False,
    ) -> None:
        self.name = "policy"
        self.policy, self.points_per_value = policy, points_per_value
        self.temperature, self.bfloat16 = temperature, bfloat16
        policy.set_training_mode(False)

    def act(self, view: View, legal: Bool, rng: np.random.Generator) -> Int:
        """Returns an action in each row: int64 [N]; no random number is drawn at temperature 0."""
        if self.temperature == 0:
            return self._best(view, legal)
        return sample(self.probabilities(view, legal), rng)

    def probabilities(self, view: View, legal: Bool) -> Float:
        """Returns the probability of each action: float64 [N, 69]."""
        if self.temperature == 0:
            return certain(self._best(view, legal))
        logits = self._masked(view, legal) / self.temperature
        return th.softmax(logits, dim=1).numpy(force=True).astype(np.float64)

    def values(self, view: View) -> Float:
        """Returns the points that each viewer expects its team to gain yet: float64 [N]."""
        return self._evaluate(view)[1].numpy(force=True).astype(np.float64) * self.points_per_value

    def logits(self, view: View) -> np.typing.NDArray[np.float32]:
        """Returns the unmasked logits: float32 [N, 69]."""
        return self._evaluate(view)[0].numpy(force=True)

    def _best(self, view: View, legal: Bool) -> Int:
        """Returns the likeliest actions: int64 [N]."""
        best: Int = self._masked(view, legal).argmax(dim=1).numpy(force=True)
        return best

    def _masked(self, view: View, legal: Bool) -> th.Tensor:
        """Returns the logits, those of illegal actions out of reach: float32 [N, 69]."""
        logits = self._evaluate(view)[0]
        return logits.masked_fill(~th.as_tensor(legal, device=logits.device), -inf)

    def _evaluate(self, view: View) -> tuple[th.Tensor, th.Tensor]:
        """Returns logits float32 [N, 69] and values float32 [N]."""
        device = self.policy.device
        bits = th.from_numpy(view.observation()).to(device)
        with th.no_grad(), th.autocast(device.type, th.bfloat16, enabled=self.bfloat16):
            logits, values = self.policy.logits_and_values(bits)
        return logits.float(), values.float()


def twin(policy: SelfPlayPolicy) -> SelfPlayPolicy:
    """Returns a copy of a policy without its optimizer; no random numbers are drawn for it."""
    optimizer = policy.optimizer
    del policy.optimizer
    try:
        return copy.deepcopy(policy)
    finally:
        policy.optimizer = optimizer


class SavedPolicy(PolicyAgent):
    """Plays a network of one's own from its file, with the class that it was written from.

    The class is named by whoever plays, never by the file alone: naming it runs its module.

    Args:
        path: of the file.
        policy: "MODULE:CLASS" of the network, as it was trained.
        temperature: 1 plays as trained, 0 always takes the likeliest action.

    Raises:
        AgentError: if the file is none, or one of another class or layout.
    """

    def __init__(self, path: str, policy: str, temperature: float = 0.0) -> None:
        if not temperature >= 0:
            raise AgentError(f"expected a temperature of at least 0, got {temperature!r}")
        try:
            metadata, tensors = read(Path(path))
            if metadata.get("policy") != policy:
                found = metadata.get("policy", "a stack of layers")
                raise SettingError(f"expected a policy {policy}, got {shortened(found)} in {path}")
            info = own_info(metadata)
            network = rebuilt(find_policy(policy), info.settings, tensors)
        except SettingError as error:
            raise AgentError(f"expected to play {path} with {policy}: {error}") from error
        super().__init__(network, info.points_per_value, temperature)


def find_policy(name: str) -> type[SelfPlayPolicy]:
    """Returns the class "MODULE:CLASS"; the working directory is searched, too.

    Raises:
        SettingError: if there is none, or it is no ``SelfPlayPolicy``.
    """
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        found = resolve_name(name)
    except (ImportError, AttributeError, ValueError) as error:
        raise SettingError(f"expected MODULE:CLASS, got {name!r}: {error}") from error
    if not (isinstance(found, type) and issubclass(found, SelfPlayPolicy)):
        raise SettingError(f"expected a subclass of SelfPlayPolicy, got {name!r}: {found!r}")
    return found


def rebuilt(
    policy: type[SelfPlayPolicy], settings: dict[str, Any], tensors: Tensors
) -> SelfPlayPolicy:
    """Returns a network as its file describes it.

    Args:
        policy: its class.
        settings: its arguments, as JSON can hold them.
        tensors: all that it holds.

    Raises:
        SettingError: if the arguments or the tensors are another network's.
    """
    space = Box(0, 1, (OBSERVATION_SIZE,), np.uint8)
    try:
        with th.random.fork_rng():  # its first weights are drawn, then replaced
            network = policy(space, Discrete(NUM_ACTIONS), lambda _: 0.0, **settings)
    except Exception as error:  # whatever a class makes of arguments that somebody else wrote
        raise SettingError(f"expected arguments of {policy.__name__}: {error!r}") from error
    load(network, tensors)
    return network


def frozen(model: SelfPlayPPO, path: Path) -> Agent:
    """Returns a snapshot of a training that plays as it was trained, sampling.

    Raises:
        SettingError, AgentError: if the file is missing or another network's.
    """
    if type(model.policy).tensors is not SelfPlayPolicy.tensors:
        return NetworkAgent.load(path, temperature=1.0)  # the file may lack what only training uses
    policy = twin(model.policy)
    load(policy, read(path)[1])
    return PolicyAgent(policy, model.points_per_value, temperature=1.0, bfloat16=model.bfloat16)


def play(path: Path, policy: type[SelfPlayPolicy]) -> Agent:
    """Returns a policy's file as an agent that takes the likeliest action.

    Args:
        path: of the file.
        policy: its class.
    """
    if read(path)[0]["format"] == STACK_FORMAT:
        return NetworkAgent.load(path)
    return SavedPolicy(str(path), f"{policy.__module__}:{policy.__qualname__}")
