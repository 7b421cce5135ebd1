"""Plays a trained policy network in numpy alone: no torch, and nothing is unpickled.

A network file is a safetensors file. Its metadata describe the network (``NetworkInfo``). Its
tensors are ``layers.0.weight`` [width, 512], ``layers.0.bias`` [width], ``layers.1.weight`` and so
on for the layers that policy and value share, then ``policy.weight`` [69, width], ``policy.bias``,
``value.weight`` [1, width] and ``value.bias``. A game with ``Information`` has other sizes than 512
and 69. Nothing in a file is trusted: every name, shape, size and number is checked before it is
used.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from itertools import pairwise
from math import inf
from pathlib import Path
from reprlib import repr as shortened
from typing import Any, Final, Self

import numpy as np
import numpy.typing as npt

from goita_agents.base import AgentError, Bool, Float, Int, certain, check_temperature, sample
from goita_agents.bots.network_file import Array, read_tensors, tensor_digest
from goita_agents.registry import Entry
from goita_agents.transforms import ObservationFunction, read_texts
from goita_env import View
from goita_env.information import PLAIN, Information
from goita_env.rules import Rules, get_rules
from goita_env.views.observation import OBSERVATION_VERSION

FORMAT: Final = "goita-network-1"
"""Names this kind of file; grows when the meaning of a tensor or of the metadata changes."""

TRANSFORMED_FORMAT: Final = "goita-network-2"
"""Names a file whose network was trained with a transform of the observation; a reader that knows
none would play it wrongly."""

INFORMED_FORMAT: Final = "goita-network-3"
"""Names a file whose network plays a game with ``Information``, perhaps with a transform, too."""

FORMATS: Final = (FORMAT, TRANSFORMED_FORMAT, INFORMED_FORMAT)

LAYOUT: Final = {"activation": "relu", "observation_version": str(OBSERVATION_VERSION)}
"""Metadata that all networks share."""

# Bounds beyond which a file is taken for damaged.
MAX_LAYERS: Final = 64
MAX_DECISIONS: Final = 1 << 53


@dataclass(frozen=True)
class NetworkInfo:
    """Describes a network; the metadata of its file, where every field is a text."""

    layers: int  #: shared by policy and value
    decisions: int  #: with a choice, in training
    reward_scale: float  #: factor of rewards in training; files hold 1 / it, points_per_value
    rules: Rules  #: of the training, or their name; the inputs are the same in all
    reward: str = "points"  #: or "win", with values -1 to 1; older files don't say
    transform: tuple[str, ...] = ()  #: of the observation: slices, MODULE:FUNCTION (``Transform``)
    information: Information = PLAIN  #: who knows and tells what in the game

    def __post_init__(self) -> None:
        object.__setattr__(self, "rules", get_rules(self.rules))

    def metadata(self) -> dict[str, str]:
        """Returns the fields as texts; those of a rule set of one's own as JSON."""
        rules = self.rules.to_keys()
        return {
            "layers": str(self.layers),
            "decisions": str(self.decisions),
            "points_per_value": str(1 / self.reward_scale),
            "rules": rules.pop("rules"),
            "reward": self.reward,
            **LAYOUT,
            "observation_size": str(self.information.observation_size),
            "actions": str(self.information.num_actions),
            "format": FORMAT,
            **{name: json.dumps(value) for name, value in rules.items()},
            **transform_metadata(self.transform, TRANSFORMED_FORMAT),
            **information_metadata(self.information, INFORMED_FORMAT),
        }

    @classmethod
    def parse(cls, metadata: Any) -> Self:
        """Returns a description; an AgentError if it is malformed or for another layout."""
        texts = metadata if isinstance(metadata, dict) else {}
        kind = texts.get("format")
        try:
            information = read_options(texts) if kind == INFORMED_FORMAT else PLAIN
        except (KeyError, ValueError, RecursionError) as error:
            raise AgentError(f"expected options of who knows and tells what: {error}") from error
        sizes = {
            "observation_size": str(information.observation_size),
            "actions": str(information.num_actions),
        }
        for name, wanted in {"format": FORMATS, **LAYOUT, **sizes}.items():
            if texts.get(name) not in (wanted if isinstance(wanted, tuple) else (wanted,)):
                found = shortened(texts.get(name))
                raise AgentError(f"expected a network with {name} {wanted!r}, got {found}")
        try:
            layers, decisions = int(texts["layers"]), int(texts["decisions"])
            inverse_scale = float(texts["points_per_value"])
            if not 1 <= layers <= MAX_LAYERS or not 0 <= decisions < MAX_DECISIONS:
                raise ValueError(f"1 to {MAX_LAYERS} layers, {MAX_DECISIONS:,} decisions at most")
            if not 0 < inverse_scale < inf:
                raise ValueError("points_per_value above 0")
            keys = {"rules": texts["rules"]}
            keys |= {k: json.loads(v) for k, v in texts.items() if k == "rules_fields"}
            reward = texts.get("reward", "points")
            informed = kind == INFORMED_FORMAT and "transform" in texts
            transform = read_transform(texts) if informed or kind == TRANSFORMED_FORMAT else ()
            rules = Rules.from_keys(keys)
            return cls(layers, decisions, 1 / inverse_scale, rules, reward, transform, information)
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            raise AgentError(
                "expected the metadata of a network, "
                f"got {str(metadata)[:1000]}: {str(error)[:1000]}"
            ) from error


def read_network(path: str | Path) -> tuple[NetworkInfo, dict[str, Array]]:
    """Reads a network file; raises an AgentError if it is none, or for another layout."""
    metadata, tensors = read_tensors(path)
    return NetworkInfo.parse(metadata), tensors


def digest(info: NetworkInfo, tensors: Mapping[str, Array]) -> str:
    """Returns a SHA-256 of a network, its weights and its description, see ``tensor_digest``."""
    described = [info.layers, info.decisions, f"{info.reward_scale:.9g}", info.reward]
    described += [info.rules.to_keys(), info.transform, info.information.to_keys()]
    return tensor_digest(described, tensors)


def file_digest(path: str | Path) -> str:
    """Returns the digest of a file's network, or of one of another design, whose metadata count.

    Raises as ``read_network`` does.
    """
    metadata, tensors = read_tensors(path, range(9))
    if isinstance(metadata, dict) and metadata.get("format") in FORMATS:
        return digest(NetworkInfo.parse(metadata), tensors)
    return tensor_digest(metadata, tensors)


def transform_metadata(transform: tuple[str, ...], name: str) -> dict[str, str]:
    """Returns what a file's metadata say of a transform; ``name``: of the format with one."""
    return {"format": name, "transform": json.dumps(transform)} if transform else {}


def read_transform(metadata: Mapping[str, str]) -> tuple[str, ...]:
    """Returns the texts of a file's transform; a ValueError if they are none."""
    texts = json.loads(metadata["transform"])
    if not isinstance(texts, list) or not texts or not all(isinstance(t, str) for t in texts):
        raise ValueError(f"a transform as a list of texts, got {shortened(texts)}")
    return tuple(texts)


def information_metadata(information: Information, name: str) -> dict[str, str]:
    """Returns what a file's metadata say of a game's options; ``name``: of the format with one."""
    keys = {key: json.dumps(value) for key, value in information.to_keys().items()}
    return {"format": name, **keys} if keys else {}


def read_options(metadata: Mapping[str, str]) -> Information:
    """Returns the options in a file's metadata; a ValueError if they are none or change nothing."""
    found = Information.from_keys({"information": json.loads(metadata["information"])})
    if found == PLAIN:
        raise ValueError("options other than those of the plain game, got these")
    return found


class LogitAgent:
    """Plays by logits at a temperature: 1 plays as trained, 0 takes the likeliest action."""

    reads_bits = True
    """It reads the observation alone, so it may be shown any bits (``bots.masked``)."""

    def __init__(self, name: str, temperature: float, information: Information = PLAIN) -> None:
        self.name, self.temperature = name, check_temperature(temperature)
        self.information = information

    def logits(self, view: View) -> Array:
        """Returns the unmasked logits: float32 [N, 69]."""
        raise NotImplementedError

    @property
    def deterministic(self) -> bool:
        """No random number is drawn."""
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

    def plays(self, information: Information) -> bool:
        """Tells whether the agent plays games with these options: those of its training."""
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
    """Plays by a policy network, by default at temperature 0, which measures stronger.

    It is shown what it was trained on: hidden slices (``info.transform``) are hidden from it. A
    ``function`` of the observation that the file names is code, so the caller must give it.

    Raises:
        AgentError: if tensors are missing, foreign or of the wrong shape, an output might
            overflow, the temperature is none, or the function is not the one that the network was
            trained with.

    Attributes:
        path: the file that the weights were read from; None: they were not.
    """

    path: Path | None = None

    def __init__(
        self,
        info: NetworkInfo,
        tensors: dict[str, Array],
        temperature: float = 0.0,
        function: ObservationFunction | None = None,
    ) -> None:
        super().__init__("network", temperature, info.information)
        check_shapes(info, tensors)
        _check_range(info, tensors)
        self.info = info
        self.transform = read_texts(info.transform, function, "the file")
        # Weights stand [inputs, outputs] in memory: the fastest order for rows of observations.
        self._weights = {
            name: np.ascontiguousarray(array.T if array.ndim == 2 else array)
            for name, array in tensors.items()
        }

    def __eq__(self, other: object) -> bool:
        """Tells whether the weights are the same objects, at the same temperature."""
        if not isinstance(other, NetworkAgent):
            return NotImplemented
        return self._weights is other._weights and self.temperature == other.temperature

    def __hash__(self) -> int:
        return hash((id(self._weights), self.temperature))

    @classmethod
    def load(
        cls,
        path: str | Path,
        temperature: float = 0.0,
        transform: ObservationFunction | None = None,
    ) -> Self:
        """Reads a network file; an AgentError if it is none, or for another layout.

        ``transform`` is the function with which the network was trained, if there was one.
        """
        try:
            agent = cls(*read_network(path), temperature, transform)
        except AgentError as error:
            raise AgentError(f"{path}: {error}") from error
        agent.path = Path(path)
        return agent

    @property
    def digest(self) -> str:
        """The SHA-256 of the weights and their description, see ``digest``."""
        return digest(self.info, self.tensors())

    def at(self, temperature: float) -> Self:
        """Returns the same network at another temperature; the weights are shared."""
        other = copy(self)
        other.temperature = check_temperature(temperature)
        return other

    @property
    def predicts_points(self) -> bool:
        """It was trained for points; one that was learned from actions alone has a value of 0."""
        return self.info.reward == "points" and bool(self._weights["value.weight"].any())

    def values(self, view: View) -> Float:
        """Returns what each viewer expects its team to gain yet: float64 [N].

        Points; of a network trained for wins (``info.reward``) the win, 1, or the loss, -1.
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
        return type(self)(self.info, tensors, self.temperature, self.transform.function)

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
        weight, ones = self._weights["layers.0.weight"], bits.all(axis=0)
        same = weight[ones].sum(axis=0) + self._weights["layers.0.bias"]
        differ = np.flatnonzero(bits.any(axis=0) & ~ones)
        outputs: Array = bits[:, differ].astype(np.float32) @ weight[differ]
        outputs += same
        return outputs

    def _layer(self, name: str, features: Array) -> Array:
        outputs: Array = features @ self._weights[f"{name}.weight"]
        outputs += self._weights[f"{name}.bias"]
        return outputs


def check_shapes(info: NetworkInfo, tensors: dict[str, Array]) -> None:
    """Checks the names of all tensors, and that each layer fits the one before."""
    wanted = [*(f"layers.{layer}" for layer in range(info.layers)), "policy", "value"]
    names = {f"{name}.{part}" for name in wanted for part in ("weight", "bias")}
    if names != tensors.keys():
        foreign = shortened(sorted(tensors.keys() - names))
        raise AgentError(
            f"expected the tensors of {info.layers} layers, policy and value; "
            f"missing {sorted(names - tensors.keys())}, foreign {foreign}"
        )
    biases = {name: tensors[f"{name}.bias"].size for name in wanted}
    size, actions = info.information.observation_size, info.information.num_actions
    widths = [size, *(biases[f"layers.{layer}"] for layer in range(info.layers))]
    shapes = {f"layers.{layer}": (w, v) for layer, (v, w) in enumerate(pairwise(widths))}
    shapes |= {"policy": (actions, widths[-1]), "value": (1, widths[-1])}
    for name, shape in shapes.items():
        weight, bias = tensors[f"{name}.weight"], tensors[f"{name}.bias"]
        if weight.shape != shape or bias.shape != shape[:1]:
            raise AgentError(
                f"expected {name} of shape {list(shape)} with biases {[shape[0]]}, "
                f"got {list(weight.shape)} with {list(bias.shape)}"
            )


def _check_range(info: NetworkInfo, tensors: dict[str, Array]) -> None:
    """Checks that no observation can make an output overflow, from bounds layer by layer."""

    def bound(name: str, inputs: Float) -> Float:
        weight, bias = (np.abs(tensors[f"{name}.{part}"]) for part in ("weight", "bias"))
        return np.asarray(weight @ inputs + bias)

    most = np.ones(info.information.observation_size)  # the inputs are 0 or 1
    for layer in range(info.layers):
        most = bound(f"layers.{layer}", most)
    points = bound("value", most) / info.reward_scale
    if not max(most.max(), bound("policy", most).max(), points.max()) < np.finfo(np.float32).max:
        raise AgentError("expected a network whose outputs are finite, got weights that overflow")


ENTRY = Entry(NetworkAgent.load, argument="PATH", is_outside=True, digest=file_digest)
"""``file``, as texts name it."""
