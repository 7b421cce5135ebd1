"""Plays a trained policy network in numpy alone: no torch, and nothing is unpickled.

A network file is a safetensors file. Its metadata says what the network is (``NetworkInfo``). Its
tensors are ``layers.0.weight`` [width, 512], ``layers.0.bias`` [width], ``layers.1.weight`` and so
on for the layers that policy and value share, then ``policy.weight`` [69, width], ``policy.bias``,
``value.weight`` [1, width] and ``value.bias``. Nothing in a file is trusted: every name, shape,
size and number is checked before it is used.
"""

from __future__ import annotations

import json
from copy import copy
from dataclasses import dataclass
from itertools import pairwise
from math import inf
from pathlib import Path
from reprlib import repr as shortened
from typing import Any, Final, Self

import numpy as np

from agents.base import AgentError, Bool, Float, Int, certain, sample
from agents.bots.network_file import Array, read_tensors
from goita_env import View
from goita_env.actions import NUM_ACTIONS
from goita_env.rules import Rules, get_rules
from goita_env.views.observation import OBSERVATION_SIZE, OBSERVATION_VERSION

Bits = np.typing.NDArray[np.uint8]

FORMAT: Final = "goita-network-1"
"""Names this kind of file; grows when the meaning of a tensor or of the metadata changes."""

MAX_LAYERS: Final = 64
"""Layers beyond which a file is taken for damaged."""

MAX_DECISIONS: Final = 1 << 53
"""Decisions beyond which it is, too."""


@dataclass(frozen=True)
class NetworkInfo:
    """Says what a network is; the metadata of its file, where every field is a text."""

    layers: int
    """Layers that policy and value share."""
    decisions: int
    """Decisions with a choice that it was trained on."""
    points_per_value: float
    """Points that a value of 1 stands for."""
    rules: Rules
    """Rule set it was trained on; its inputs are the same in all."""
    reward: str = "points"
    """What it was trained for: "points", or "win" with values -1 to 1; older files don't say."""
    activation: str = "relu"
    observation_version: int = OBSERVATION_VERSION
    observation_size: int = OBSERVATION_SIZE
    actions: int = NUM_ACTIONS
    format: str = FORMAT

    def __post_init__(self) -> None:
        """Takes a rule set by its name, too."""
        object.__setattr__(self, "rules", get_rules(self.rules))

    def metadata(self) -> dict[str, str]:
        """Returns the fields as texts; those of a rule set of one's own as JSON."""
        fields = {**vars(self), **self.rules.to_keys()}
        return {k: json.dumps(v) if k == "rules_fields" else str(v) for k, v in fields.items()}

    @classmethod
    def parse(cls, metadata: Any) -> Self:
        """Returns the fields of a file's metadata.

        Raises:
            AgentError: if one is missing or malformed, or the network is not for this layout.
        """
        if not isinstance(metadata, dict) or metadata.get("format") != FORMAT:
            found = metadata.get("format") if isinstance(metadata, dict) else metadata
            raise AgentError(f"expected metadata with format {FORMAT!r}, got {shortened(found)}")
        try:
            info = cls(
                layers=int(metadata["layers"]),
                decisions=int(metadata["decisions"]),
                points_per_value=float(metadata["points_per_value"]),
                rules=Rules.from_keys(
                    {"rules": metadata["rules"]}
                    | {k: json.loads(v) for k, v in metadata.items() if k == "rules_fields"}
                ),
                reward=str(metadata.get("reward", "points")),
                activation=str(metadata["activation"]),
                observation_version=int(metadata["observation_version"]),
                observation_size=int(metadata["observation_size"]),
                actions=int(metadata["actions"]),
            )
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            fields = ", ".join(cls.__dataclass_fields__)
            raise AgentError(
                f"expected metadata with {fields}, got {str(metadata)[:1000]}: {str(error)[:1000]}"
            ) from error
        if not 0 < info.points_per_value < inf or not 0 <= info.decisions < MAX_DECISIONS:
            raise AgentError(
                "expected points_per_value above 0 and a number of decisions, "
                f"got {info.points_per_value!r} and {info.decisions!r}"
            )
        if info.observation_version != OBSERVATION_VERSION:
            raise AgentError(
                f"expected a network for observation version {OBSERVATION_VERSION}, "
                f"got one for version {info.observation_version}"
            )
        if (info.observation_size, info.actions) != (OBSERVATION_SIZE, NUM_ACTIONS):
            raise AgentError(
                f"expected {OBSERVATION_SIZE} inputs and {NUM_ACTIONS} actions, "
                f"got {info.observation_size} and {info.actions}"
            )
        if info.activation != "relu" or not 1 <= info.layers <= MAX_LAYERS:
            raise AgentError(
                f"expected 1 to {MAX_LAYERS} layers with activation 'relu', "
                f"got {info.layers} with {info.activation!r}"
            )
        return info


class NetworkAgent:
    """Plays by a policy network.

    Args:
        info: what the network is.
        tensors: its weights, by name.
        temperature: 1 plays as trained, 0 always takes the likeliest action, as measures stronger.

    Raises:
        AgentError: if tensors are missing, foreign or of the wrong shape, or the temperature is
            negative.
    """

    def __init__(
        self, info: NetworkInfo, tensors: dict[str, Array], temperature: float = 0.0
    ) -> None:
        if not temperature >= 0:
            raise AgentError(f"expected a temperature of at least 0, got {temperature!r}")
        _check_shapes(info, tensors)
        self.name = "network"
        self.info = info
        self.temperature = temperature
        # Weights stand [inputs, outputs] in memory: the fastest order for rows of observations.
        self._weights = {
            name: np.ascontiguousarray(array.T if array.ndim == 2 else array)
            for name, array in tensors.items()
        }

    @classmethod
    def load(cls, path: str | Path, temperature: float = 0.0) -> Self:
        """Reads a network file.

        Raises:
            AgentError: if it is corrupt, truncated, no network, or one for another layout.
            OSError: if it cannot be read.
        """
        try:
            metadata, tensors = read_tensors(path)
            return cls(NetworkInfo.parse(metadata), tensors, temperature)
        except AgentError as error:
            raise AgentError(f"{path}: {error}") from error

    def at(self, temperature: float) -> Self:
        """Returns the same network at another temperature; the weights are shared.

        Raises:
            AgentError: if it is negative.
        """
        if not temperature >= 0:
            raise AgentError(f"expected a temperature of at least 0, got {temperature!r}")
        other = copy(self)
        other.temperature = temperature
        return other

    def act(self, view: View, legal: Bool, rng: np.random.Generator) -> Int:
        """Returns an action in each row: int64 [N]; no random number is drawn at temperature 0."""
        logits = self._masked(view, legal)
        if self.temperature == 0:
            likeliest: Int = logits.argmax(axis=1)
            return likeliest
        return sample(_softmax(logits / self.temperature), rng)

    def probabilities(self, view: View, legal: Bool) -> Float:
        """Returns the probability of each action: float64 [N, 69]."""
        logits = self._masked(view, legal)
        if self.temperature == 0:
            return certain(logits.argmax(axis=1))
        return _softmax(logits / self.temperature)

    def values(self, view: View) -> Float:
        """Returns what each viewer expects its team to gain yet: float64 [N].

        Points; of a network trained for wins (``info.reward``) the win, 1, or the loss, -1.
        """
        return self._values(self.features(view))

    def logits(self, view: View) -> Array:
        """Returns the unmasked logits: float32 [N, 69]."""
        return self._head("policy", self.features(view))

    def evaluate(self, view: View) -> tuple[Array, Float]:
        """Returns what ``logits`` and ``values`` do, at little more than the price of one."""
        features = self.features(view)
        return self._head("policy", features), self._values(features)

    def _masked(self, view: View, legal: Bool) -> Float:
        """Returns the logits, minus infinity where illegal: float64 [N, 69]."""
        return np.where(legal, self.logits(view).astype(np.float64), -np.inf)

    def untrained(self, seed: int) -> Self:
        """Returns a network of the same shape with random weights, for comparison (He et al. 2015).

        Args:
            seed: of the weights.
        """
        rng, tensors = np.random.default_rng(seed), {}
        for name, array in self._weights.items():
            scale = np.sqrt(2 / array.shape[0]) if array.ndim == 2 else 0.0
            tensors[name] = (scale * rng.standard_normal(array.T.shape)).astype(array.dtype)
        return type(self)(self.info, tensors, self.temperature)

    def features(self, view: View) -> Array:
        """Returns what the last shared layer makes of the views: float32 [N, width]."""
        features = self._first(view.observation())
        np.maximum(features, 0, out=features)
        for layer in range(1, self.info.layers):
            features = self._head(f"layers.{layer}", features)
            np.maximum(features, 0, out=features)
        return features

    def _first(self, bits: Bits) -> Array:
        """Returns the first layer's outputs before the activation: float32 [N, width].

        Bits that are the same in all rows are summed once. In positions of one round, as search and
        listeners ask for them, nine in ten are.

        Args:
            bits: uint8 [N, 512].
        """
        weight, ones = self._weights["layers.0.weight"], bits.all(axis=0)
        same = weight[ones].sum(axis=0) + self._weights["layers.0.bias"]
        differ = np.flatnonzero(bits.any(axis=0) & ~ones)
        outputs: Array = bits[:, differ].astype(np.float32) @ weight[differ]
        outputs += same
        return outputs

    def _values(self, features: Array) -> Float:
        """Returns the values that features mean: float64 [N]."""
        value = self._head("value", features)[:, 0]
        return value.astype(np.float64) * self.info.points_per_value

    def _head(self, name: str, features: Array) -> Array:
        """Returns one layer's outputs before the activation."""
        outputs: Array = features @ self._weights[f"{name}.weight"]
        outputs += self._weights[f"{name}.bias"]
        return outputs


def _softmax(logits: Float) -> Float:
    """Returns probabilities of masked logits; at least one in a row is finite."""
    powers: Float = np.exp(logits - logits.max(axis=1, keepdims=True))
    powers /= powers.sum(axis=1, keepdims=True)
    return powers


def _check_shapes(info: NetworkInfo, tensors: dict[str, Array]) -> None:
    """Checks the names of all tensors, and that each layer fits the one before.

    Raises:
        AgentError: if not.
    """
    wanted = [*(f"layers.{layer}" for layer in range(info.layers)), "policy", "value"]
    names = {f"{name}.{part}" for name in wanted for part in ("weight", "bias")}
    if names != tensors.keys():
        foreign = shortened(sorted(tensors.keys() - names))
        raise AgentError(
            f"expected the tensors of {info.layers} layers, policy and value; "
            f"missing {sorted(names - tensors.keys())}, foreign {foreign}"
        )
    biases = {name: tensors[f"{name}.bias"].size for name in wanted}
    widths = [OBSERVATION_SIZE, *(biases[f"layers.{layer}"] for layer in range(info.layers))]
    shapes = {f"layers.{layer}": (w, v) for layer, (v, w) in enumerate(pairwise(widths))}
    shapes |= {"policy": (NUM_ACTIONS, widths[-1]), "value": (1, widths[-1])}
    for name, shape in shapes.items():
        weight, bias = tensors[f"{name}.weight"], tensors[f"{name}.bias"]
        if weight.shape != shape or bias.shape != shape[:1]:
            raise AgentError(
                f"expected {name} of shape {list(shape)} with biases {[shape[0]]}, "
                f"got {list(weight.shape)} with {list(bias.shape)}"
            )
