"""Writes the policies of trainings to files that were compared with them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import torch as th
from goita_agents.bots.network import (
    NetworkAgent,
    NetworkInfo,
    information_metadata,
    transform_metadata,
)
from goita_agents.bots.network_file import write_tensors
from goita_agents.files import write_whole

from goita_env import GoitaVectorEnv
from goita_env.errors import SettingError
from goita_env.rules import Rules, get_rules
from goita_env.views.observation import OBSERVATION_VERSION
from goita_lab.learning.optimize import DivergedError
from goita_lab.learning.policy import MASKED
from goita_lab.learning.policy_agent import PolicyAgent
from goita_lab.learning.policy_file import (
    ALIASES,
    CUSTOM_FORMAT,
    INFORMED_CUSTOM_FORMAT,
    TRANSFORMED_CUSTOM_FORMAT,
    build_policy,
    class_name,
    find_policy,
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
    if not model.policy.is_stack():
        return _custom_file(model, get_rules(rules))
    tensors = model.policy.tensors()
    info = NetworkInfo(
        layers=sum(name.startswith("layers.") for name in tensors) // 2,
        decisions=model.num_timesteps,
        reward_scale=model.reward_scale,
        rules=get_rules(rules),
        reward=model.reward,
        transform=model.transform.texts,
        information=model.information,
    )
    _check_agreement(model, NetworkAgent(info, tensors, function=model.transform.function))
    return write_tensors(tensors, info.metadata())


def _custom_file(model: SelfPlayPPO, rules: Rules) -> bytes:
    policy = type(model.policy)
    name = class_name(policy)
    if policy.__module__ == "__main__" or find_policy(name) is not policy:
        raise SettingError(f"expected a policy in a module that others can import, got {name!r}")
    tensors = {
        key: tensor.numpy(force=True)
        for key, tensor in model.policy.state_dict().items()
        if not key.startswith(ALIASES)
    }
    if other := [key for key, array in tensors.items() if array.dtype != np.float32]:
        raise SettingError(f"expected tensors of float32 numbers, got others in {other}")
    try:
        settings = json.dumps(model.policy_kwargs)
    except TypeError as error:
        raise SettingError(f"expected policy_kwargs that JSON can hold: {error}") from error
    metadata = {
        "format": CUSTOM_FORMAT,
        "policy": name,
        "settings": settings,
        "decisions": str(model.num_timesteps),
        "points_per_value": str(1 / model.reward_scale),
        "reward": model.reward,
        "observation_version": str(OBSERVATION_VERSION),
        **{k: v if k == "rules" else json.dumps(v) for k, v in rules.to_keys().items()},
        **transform_metadata(model.transform.texts, TRANSFORMED_CUSTOM_FORMAT),
        **information_metadata(model.information, INFORMED_CUSTOM_FORMAT),
    }
    copied = {key: th.tensor(array) for key, array in tensors.items()}
    network = build_policy(policy, json.loads(settings), copied, model.information)
    played = PolicyAgent(
        network, model.reward_scale, transform=model.transform, information=model.information
    )
    _check_agreement(model, played)
    return write_tensors(tensors, metadata)


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
