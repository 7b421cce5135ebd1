"""Writes the policies of trainings to files, and begins trainings with the policies of files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from reprlib import repr as shortened
from typing import Any

import numpy as np
import torch as th

from goita_agents.bots.network import NetworkAgent
from goita_agents.bots.network_file import Array, NetworkInfo, write_network
from goita_agents.files import write_whole
from goita_env import GoitaVectorEnv
from goita_env.errors import SettingError
from goita_env.information import PLAIN
from goita_env.rules import Rules, get_rules
from goita_lab.learning.losses import DivergedError
from goita_lab.learning.policy import MASKED
from goita_lab.learning.policy_agent import (
    ALIASES,
    PolicyAgent,
    Tensors,
    build_policy,
    class_name,
    find_policy,
    load_tensors,
    named,
    read_policy,
)
from goita_lab.learning.ppo import SelfPlayPPO


def save_policy(model: SelfPlayPPO, path: str | Path, rules: str | Rules) -> None:
    """Writes a model's policy to a file; where ``policy_bytes`` raises, it writes nothing."""
    data, path = policy_bytes(model, rules), Path(path)
    path.parent.mkdir(exist_ok=True)
    write_whole(path, data)


def policy_bytes(model: SelfPlayPPO, rules: str | Rules) -> bytes:
    """Returns the content of a policy's file, which was compared with the policy.

    Raises:
        SettingError: if the file could not be read back, or would play otherwise, for example
            because ``logits_and_values`` uses layers that ``tensors`` does not name.
    """
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
    agent: NetworkAgent | PolicyAgent
    if stack:
        agent = NetworkAgent(info, tensors)
    else:
        copied = {key: th.tensor(array) for key, array in tensors.items()}
        network = build_policy(type(model.policy), info, copied)
        agent = PolicyAgent(
            network, info.reward_scale, transform=model.transform, information=info.information
        )
    _check_agreement(model, agent)
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
    tensors = {
        key: tensor.numpy(force=True)
        for key, tensor in model.policy.state_dict().items()
        if not key.startswith(ALIASES)
    }
    if other := [key for key, array in tensors.items() if array.dtype != np.float32]:
        raise SettingError(f"expected tensors of float32 numbers, got others in {other}")
    return tensors


def _check_agreement(model: SelfPlayPPO, agent: NetworkAgent | PolicyAgent) -> None:
    """Checks that an agent plays as the policy does, over positions of random play.

    Probabilities and values are compared, since logits may differ by a constant; the policy is
    evaluated in float32, as a file is played.
    """
    policy = PolicyAgent(model.policy, model.reward_scale, transform=model.transform)
    games = GoitaVectorEnv(64, seed=1, information=model.information)
    rng, turn = np.random.default_rng(1), games.reset()
    for _ in range(8):
        legal = th.from_numpy(turn.action_mask)
        mine, theirs = (
            th.log_softmax(th.from_numpy(one.logits(turn.view)).masked_fill(~legal, MASKED), 1)
            for one in (policy, agent)
        )
        expected = policy.values(turn.view)
        if not (mine.isfinite().all() and np.isfinite(expected).all()):
            raise DivergedError("expected finite probabilities and values, got others to write")
        for what, wanted, found in (
            ("log-probabilities", mine.numpy(), theirs.numpy()),
            ("values", expected, agent.values(turn.view)),
        ):
            if not np.allclose(wanted, found, rtol=1e-3, atol=1e-2):
                raise SettingError(
                    f"expected a file with the policy's {what}, got tensors that give others (by "
                    f"{np.abs(wanted - found).max():.3g}): the file must hold all that "
                    "logits_and_values() uses"
                )
        turn = games.step(games.sample_legal(rng))


def init_from(model: SelfPlayPPO, path: Path) -> None:
    """Gives an untrained model the weights of a policy's file.

    A stack may be wider than the file's. It then plays as the file does: new units have random
    input weights and zero output weights (a special case of Chen, Goodfellow & Shlens 2016,
    Net2Net). Values are rescaled where both stand for points, and reset where one stands for points
    and the other for wins.

    Raises:
        SettingError: if the file is none or another network's, a custom network's with values in
            other units, or was trained with another transform.
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
    same = info.reward == model.reward
    scale = (1 / info.reward_scale) / (1 / model.reward_scale) if same else 0.0
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
    for name, block in tensors.items():
        if name not in wide or block.ndim != wide[name].ndim:
            continue
        if all(old <= new for old, new in zip(block.shape, wide[name].shape, strict=True)):
            widened[name] = wide[name].clone()
            widened[name][: len(block)] = 0.0
            widened[name][tuple(slice(size) for size in block.shape)] = block
    return widened
