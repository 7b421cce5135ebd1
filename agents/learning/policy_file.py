"""Writes trained policies as files that hold no pickled objects, and begins trainings with them.

A stack of layers with two heads is written as a network file, which ``agents.bots.network`` plays
without torch. Any other network is written as all its tensors under their own names, with the class
that they belong to; ``SavedPolicy`` plays it. Either file is compared with the policy first.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Protocol

import numpy as np
import torch as th

from agents.base import Float
from agents.bots.network import NetworkAgent, NetworkInfo
from agents.bots.network_file import write_tensors
from agents.learning.divergence import DivergedError
from agents.learning.player import PolicyAgent, find_policy, rebuilt
from agents.learning.policy import MASKED
from agents.learning.ppo import SelfPlayPPO
from agents.learning.presets import check_widths
from agents.learning.storage import (
    ALIASES,
    OWN_FORMAT,
    Tensors,
    load,
    own_info,
    read,
    write,
)
from goita_env import GoitaVectorEnv, View
from goita_env.errors import SettingError
from goita_env.rules import Rules, get_rules
from goita_env.views.observation import OBSERVATION_VERSION


class Player(Protocol):
    """Is asked for logits and values."""

    def logits(self, view: View) -> np.typing.NDArray[np.float32]:
        """Returns the unmasked logits: float32 [N, 69]."""
        ...

    def values(self, view: View) -> Float:
        """Returns points: float64 [N]."""
        ...


def save_policy(model: SelfPlayPPO, path: str | Path, rules: str | Rules) -> None:
    """Writes a policy; raises as ``policy_bytes`` does, and writes nothing then.

    Args:
        model: trained.
        path: of the file.
        rules: the rule set it was trained on, or its name.
    """
    write(Path(path), policy_bytes(model, rules))


def policy_bytes(model: SelfPlayPPO, rules: str | Rules) -> bytes:
    """Returns the content of a policy's file.

    Args:
        model: trained.
        rules: the rule set it was trained on, or its name.

    Raises:
        SettingError: if the file would play or expect something else than the policy, as where
            ``logits_and_values`` uses layers that ``tensors`` does not name, or could not be read
            back.
    """
    policy = model.policy
    if not policy.is_stack():
        data, agent = _own_file(model, get_rules(rules))
        check_agreement(model, agent)
        return data
    tensors = policy.tensors()
    info = NetworkInfo(
        layers=sum(name.startswith("layers.") for name in tensors) // 2,
        decisions=model.num_timesteps,
        points_per_value=model.points_per_value,
        rules=get_rules(rules),
        reward=_reward(model),
    )
    check_agreement(model, NetworkAgent(info, tensors))
    return write_tensors(tensors, info.metadata())


def _own_file(model: SelfPlayPPO, rules: Rules) -> tuple[bytes, PolicyAgent]:
    """Returns the file of a network of one's own, and an agent that plays its tensors.

    Raises:
        SettingError: if its class cannot be named, or its settings are no JSON.
    """
    policy = type(model.policy)
    name = f"{policy.__module__}:{policy.__qualname__}"
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
        raise SettingError(f"expected a policy's settings to go into a file: {error}") from error
    metadata = {
        "format": OWN_FORMAT,
        "policy": name,
        "settings": settings,
        "decisions": str(model.num_timesteps),
        "points_per_value": str(model.points_per_value),
        "reward": _reward(model),
        "observation_version": str(OBSERVATION_VERSION),
        **{k: v if k == "rules" else json.dumps(v) for k, v in rules.to_keys().items()},
    }
    network = rebuilt(policy, json.loads(settings), {k: th.tensor(v) for k, v in tensors.items()})
    return write_tensors(tensors, metadata), PolicyAgent(network, model.points_per_value)


def widths(path: Path) -> tuple[int, ...]:
    """Returns the widths of the layers of a policy's file.

    Raises:
        SettingError: if it is none, or has no layers.
    """
    metadata, tensors = read(path)
    if metadata["format"] == OWN_FORMAT:
        found = own_info(metadata).settings.get("layers")
    else:
        biases = (f"features_extractor.layers.{layer}.bias" for layer in range(len(tensors)))
        found = [len(tensors[bias]) for bias in biases if bias in tensors]
    if not isinstance(found, list) or not found or not all(type(w) is int for w in found):
        raise SettingError(f"expected a policy with layers, got {path}")
    check_widths("layers", found)
    return tuple(found)


def begin_from(model: SelfPlayPPO, path: Path) -> None:
    """Gives a model that has learnt nothing yet the weights of a policy's file.

    A stack may be wider than the file's: it then plays as the file does, as its further units are
    random and nothing listens to them yet (a special case of Chen, Goodfellow & Shlens 2016,
    Net2Net). Its values are kept where both stand for points (rescaled, if for other units) and
    forgotten where one stands for points and the other for wins.

    Raises:
        SettingError: if the file is none or another network's, or a network's of one's own with
            values in other units.
    """
    metadata, tensors = read(path)
    if metadata["format"] != OWN_FORMAT and model.policy.is_stack():
        tensors = _widened(tensors, model.policy.state_dict())
    try:
        load(model.policy, tensors)
    except SettingError as error:
        kind = metadata.get("policy", "a stack of layers")
        raise SettingError(f"expected to begin with {path}, which holds {kind}: {error}") from error
    same = metadata.get("reward", "points") == _reward(model)
    scale = float(metadata["points_per_value"]) / model.points_per_value if same else 0.0
    if scale != 1.0:
        if not model.policy.is_stack():
            found = f"{metadata['points_per_value']} points for 1"
            raise SettingError(f"expected values in the same units in {path}, got {found}")
        with th.no_grad():
            for parameter in model.policy.value_net.parameters():
                parameter.mul_(scale)


def _widened(tensors: Tensors, wide: Tensors) -> Tensors:
    """Returns a stack's tensors in the shapes of a wider one, whose weights the further units keep.

    Tensors that don't fit into the wider ones are returned as they are.
    """
    widened = dict(tensors)
    for name, block in tensors.items():
        if name not in wide or block.ndim != wide[name].ndim:
            continue
        if all(old <= new for old, new in zip(block.shape, wide[name].shape, strict=True)):
            widened[name] = wide[name].clone()
            widened[name][: len(block)] = 0.0
            widened[name][tuple(slice(size) for size in block.shape)] = block
    return widened


def _reward(model: SelfPlayPPO) -> str:
    """Returns what the values of a model stand for: "points" or "win"."""
    return "points" if model.env is None else str(model.env.get_attr("reward")[0])


def check_agreement(model: SelfPlayPPO, agent: Player) -> None:
    """Checks that an agent plays and expects what the policy does, over positions of random play.

    Compared are the probabilities of the legal actions and the values, since logits may differ by a
    constant; the policy is asked in float32, as a file is played.

    Raises:
        SettingError: if they differ by more than rounding does.
        DivergedError: if the policy's are no numbers.
    """
    policy = PolicyAgent(model.policy, model.points_per_value)
    games = GoitaVectorEnv(64, seed=1)
    rng, turn = np.random.default_rng(1), games.reset()
    for _ in range(8):
        legal = th.from_numpy(turn.action_mask)
        mine, theirs = (
            th.log_softmax(th.from_numpy(asked.logits(turn.view)).masked_fill(~legal, MASKED), 1)
            for asked in (policy, agent)
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
