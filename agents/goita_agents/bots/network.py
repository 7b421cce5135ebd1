"""Plays a trained policy network with numpy only: without torch, and nothing is unpickled."""

from __future__ import annotations

from copy import copy
from functools import cache
from pathlib import Path
from typing import Self

import numpy as np
import numpy.typing as npt

from goita_agents.base import AgentError, Bool, Float, Int, certain, check_temperature, sample
from goita_agents.bots.network_file import (
    Array,
    NetworkInfo,
    check_shapes,
    digest_network,
    read_network,
)
from goita_agents.bots.transform import Transform
from goita_agents.registry import Entry
from goita_env import View
from goita_env.information import PLAIN, InformationStructure


class LogitAgent:
    """An agent with logits: the base of every policy network, in any library.

    A subclass has ``logits``; the rest follows from them.

    Args:
        name: of the agent; ``load_agent`` replaces it by that of its text.
        temperature: 1 plays as trained, 0 takes the likeliest action.
        information: the options of the games that it plays.
        files: paths of the files that hold the policy, such as weights: they are part of the
            agent's digest (``goita_agents.identity``), as are options that name a file.

    Raises:
        AgentError: if the temperature is not 0 or 0.001 to 1000.
    """

    def __init__(
        self,
        name: str = "policy",
        temperature: float = 0.0,
        information: InformationStructure = PLAIN,
        files: tuple[str | Path, ...] = (),
    ) -> None:
        self.name, self.temperature = name, check_temperature(temperature)
        self.information, self.files = information, files

    def logits(self, view: View) -> Array:
        """Returns the unmasked logits: float32 [N, 69]."""
        raise NotImplementedError

    @property
    def deterministic(self) -> bool:
        """Whether no random number is drawn."""
        return self.temperature == 0

    def act(self, view: View, legal: Bool, rng: np.random.Generator) -> Int:
        """Returns an action in each row: int64 [N]; no random number is drawn at temperature 0."""
        logits = self._masked(view, legal)
        if self.temperature == 0:
            return np.asarray(logits.argmax(axis=1))
        return sample(self._softmax(logits), rng)

    def probabilities(self, view: View, legal: Bool) -> Float:
        logits = self._masked(view, legal)
        if self.temperature == 0:
            return certain(logits.argmax(axis=1), logits.shape[1])
        return self._softmax(logits)

    def plays(self, information: InformationStructure) -> bool:
        """Returns whether the agent plays games with these options: only those of its training."""
        return information == self.information

    def _masked(self, view: View, legal: Bool) -> Float:
        logits = self.logits(view).astype(np.float64)
        if not np.isfinite(logits).all():
            raise AgentError(f"expected finite logits from {self.name!r}, got others")
        return np.where(legal, logits, -np.inf)

    def _softmax(self, logits: Float) -> Float:
        """Returns probabilities of masked logits; at least one in a row is finite."""
        logits = logits / self.temperature
        powers: Float = np.exp(logits - logits.max(axis=1, keepdims=True))
        powers /= powers.sum(axis=1, keepdims=True)
        return powers


class NetworkAgent(LogitAgent):
    """An agent with a policy network, by default at temperature 0, which measures stronger.

    Slices that were hidden in its training (``info.transform``) are hidden from it.

    Raises:
        AgentError: if tensors are missing, foreign or of the wrong shape, or the temperature is not
            valid.

    Attributes:
        path: the file from which the weights were read; None: there is none.
    """

    path: Path | None = None

    def __init__(
        self, info: NetworkInfo, tensors: dict[str, Array], temperature: float = 0.0
    ) -> None:
        super().__init__("network", temperature, info.information)
        self.trusted_class = NetworkAgent
        check_shapes(info, tensors)
        self.info = info
        self.transform = Transform(info.transform)
        # Weights lie as [inputs, outputs] in memory: the fastest order for rows of observations.
        self._weights = {
            name: np.ascontiguousarray(array.T if array.ndim == 2 else array)
            for name, array in tensors.items()
        }

    def __eq__(self, other: object) -> bool:
        """Returns whether class, weights and temperature are the same."""
        if type(other) is not type(self):
            return NotImplemented
        return self._weights is other._weights and self.temperature == other.temperature

    def __hash__(self) -> int:
        return hash((id(self._weights), self.temperature))

    @classmethod
    def load(cls, path: str | Path, temperature: float = 0.0) -> Self:
        """Reads a network file; an AgentError if it is not one, or has another layout."""
        info, tensors = read_network(path)
        try:
            agent = cls(info, tensors, temperature)
        except AgentError as error:
            raise AgentError(f"{path}: {error}") from error
        agent.path = Path(path)
        return agent

    @property
    def digest(self) -> str:
        """The SHA-256 of the weights and their description, see ``digest``."""
        return digest_network(self.info, self.tensors())

    def at(self, temperature: float) -> Self:
        """Returns the same network at another temperature; the weights are shared."""
        network = copy(self)
        network.temperature = check_temperature(temperature)
        return network

    @property
    def predicts_points(self) -> bool:
        """Whether its values are points; a network trained only on actions has values of 0."""
        return self.info.reward == "points" and bool(self._weights["value.weight"].any())

    def values(self, view: View) -> Float:
        """Returns the gain that each viewer still expects for its team: float64 [N].

        The gain is in points; with a network trained for wins (``info.reward``) from -1 to 1.
        """
        value = self._layer("value", self.features(view))[:, 0]
        return value.astype(np.float64) * (1 / self.info.reward_scale)

    def logits(self, view: View) -> Array:
        """Returns the unmasked logits: float32 [N, 69]."""
        return self._layer("policy", self.features(view))

    def tensors(self) -> dict[str, Array]:
        """Returns the weights under the names and in the shapes of a network file."""
        return {name: array.T for name, array in self._weights.items()}

    def untrained(self, seed: int) -> Self:
        """Returns a network of the same shape with random weights (He et al. 2015)."""
        rng, tensors = np.random.default_rng(seed), {}
        for name, array in self.tensors().items():
            scale = np.sqrt(2 / array.shape[1]) if array.ndim == 2 else 0.0
            tensors[name] = (scale * rng.standard_normal(array.shape)).astype(array.dtype)
        return type(self)(self.info, tensors, self.temperature)

    def features(self, view: View) -> Array:
        """Returns the outputs of the last shared layer: float32 [N, width]."""
        features = self._first(self.transform.view(view).observation())
        np.maximum(features, 0, out=features)
        for layer in range(1, self.info.layers):
            features = self._layer(f"layers.{layer}", features)
            np.maximum(features, 0, out=features)
        return features

    def _first(self, bits: npt.NDArray[np.uint8]) -> Array:
        """Returns the first layer's outputs before the activation: float32 [N, width].

        Bits that are the same in all rows are summed once; in positions of one round, as in search
        and beliefs, nine in ten are.
        """
        weight, in_all_rows = self._weights["layers.0.weight"], bits.all(axis=0)
        same = weight[in_all_rows].sum(axis=0) + self._weights["layers.0.bias"]
        differ = np.flatnonzero(bits.any(axis=0) & ~in_all_rows)
        outputs: Array = bits[:, differ].astype(np.float32) @ weight[differ]
        outputs += same
        return outputs

    def _layer(self, name: str, features: Array) -> Array:
        outputs: Array = features @ self._weights[f"{name}.weight"]
        outputs += self._weights[f"{name}.bias"]
        return outputs


@cache
def shipped(path: Path) -> NetworkAgent:
    """Returns the network of a file next to the code, always the same object."""
    return NetworkAgent.load(path)


def shipped_entry(path: Path) -> Entry:
    """Returns the entry of a shipped network that imitates players.

    At temperature 1, the default, it plays as they do; at 0 it takes the likeliest action.
    """

    def load(temperature: float = 1.0) -> NetworkAgent:
        return shipped(path).at(temperature)

    return Entry(load, digest=lambda: shipped(path).digest)


def file_digest(path: str | Path) -> str:
    """Returns the digest of a file's network of any design; raises as ``read_network``."""
    return digest_network(*read_network(path))


ENTRY = Entry(NetworkAgent.load, argument="PATH", is_outside=True, digest=file_digest)
"""``file``, as texts name it."""
