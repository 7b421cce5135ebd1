"""Reads and writes the files of networks, without torch; nothing is unpickled.

There is one format. A file is safetensors; its metadata are "format" and "network", a description
in JSON (``NetworkInfo``), without fields that are not needed. The tensors of a stack of layers are
``layers.0.weight`` [width, 512], ``layers.0.bias`` [width], ``layers.1.weight`` and so on for the
layers that policy and value share, then ``policy.weight`` [69, width], ``policy.bias``,
``value.weight`` [1, width] and ``value.bias``. A game with ``InformationStructure`` has other sizes
than 512 and 69. A network of another class names the class, and has the tensors of the class.

Numbers are float32, or float16, in which a file is half as large; networks compute in float32
either way. A file may be somebody else's, so its size, its types and its shapes are checked.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from reprlib import repr as shortened
from typing import Annotated, Any, Final, Literal, Self

import numpy as np
import numpy.typing as npt

from goita_agents.base import AgentError
from goita_env.errors import GoitaError, naming_extras
from goita_env.information import PLAIN, InformationStructure
from goita_env.rules import Rules, get_rules
from goita_env.views.observation import OBSERVATION_VERSION

with naming_extras():
    import msgspec
    from msgspec import Meta

Array = npt.NDArray[np.float32]

FORMAT: Final = "goita-network-4"
"""Names this kind of file; grows when the meaning of a tensor or of the description changes."""

MAX_BYTES: Final = 1 << 30
MAX_HEADER: Final = 1 << 20
"""Bytes of a network's file, and of its header: names, shapes and metadata."""

# Bounds beyond which a file is taken for damaged.
MAX_LAYERS: Final = 64
MAX_DECISIONS: Final = 1 << 53

KINDS: Final = {"F32": "<f4", "F16": "<f2"}
"""Numbers that a file may hold: the format's name and numpy's."""

HALF_MAX: Final = float(np.finfo(np.float16).max)


@dataclass(frozen=True)
class NetworkInfo:
    """A network: a stack of layers, or a network of another class.

    The bounds of the numbers are checked where a file is read.
    """

    layers: Annotated[int, Meta(ge=0, le=MAX_LAYERS)]  #: shared by policy and value, of a stack
    decisions: Annotated[int, Meta(ge=0, lt=MAX_DECISIONS)]  #: with a choice, in training
    reward_scale: Annotated[float, Meta(gt=0, lt=1e30)]  #: factor of rewards in training
    rules: Rules  #: of the training, or their name; the inputs are the same in all
    reward: Literal["points", "win"] = "points"  #: what values stand for; wins are -1 to 1
    transform: tuple[str, ...] = ()  #: hidden slices of the observation (``Transform``)
    information: InformationStructure = PLAIN  #: shown tiles and messages in the game
    policy: str = ""  #: "MODULE:CLASS" of a network that is not a stack; never imported
    settings: Mapping[str, Any] = field(default_factory=dict, hash=False)  #: the class' arguments

    def __post_init__(self) -> None:
        object.__setattr__(self, "rules", get_rules(self.rules))

    def description(self) -> dict[str, Any]:
        """Returns the fields as JSON can hold them, without those that are not needed."""
        description: dict[str, Any] = {"observation_version": OBSERVATION_VERSION}
        description |= {name: getattr(self, name) for name in _ALWAYS}
        description |= {name: value for name in _OPTIONAL if (value := getattr(self, name))}
        return description | self.rules.to_keys() | self.information.to_keys()

    @classmethod
    def parse(cls, metadata: Mapping[str, str] | None) -> Self:
        """Returns the description in a file's metadata."""
        kind = (metadata or {}).get("format", "")
        if metadata is None or kind != FORMAT:
            raise AgentError(f"expected a network of the format {FORMAT!r}, got {kind!r:.100}")
        try:
            description = msgspec.json.decode(metadata.get("network", ""), type=dict[str, Any])
            if (version := description.pop("observation_version", None)) != OBSERVATION_VERSION:
                raise ValueError(
                    f"this network was made for version {version!r:.100} of the observation, this "
                    f"is version {OBSERVATION_VERSION}: `python tools/widen.py` in a checkout "
                    "widens files of earlier ones"
                )
            description["rules"] = Rules.from_keys(description)
            description["information"] = InformationStructure.from_keys(description)
            description.pop("rules_fields", None)
            if unknown := description.keys() - {known_field.name for known_field in fields(cls)}:
                raise ValueError(f"no fields beside those of this version, got {sorted(unknown)}")
            return msgspec.convert(description, cls)
        except (ValueError, RecursionError) as error:
            raise AgentError(f"expected the description of a network: {error!s:.1000}") from error


_ALWAYS: Final = ("layers", "decisions", "reward_scale", "reward")
_OPTIONAL: Final = ("transform", "policy", "settings")


def read_network(path: str | Path) -> tuple[NetworkInfo, dict[str, Array]]:
    """Reads the description and the tensors of a network's file, as float32."""
    try:
        with open_tensors(path) as file:
            info = NetworkInfo.parse(file.metadata())
            tensors = {name: _read(file, name) for name in file.keys()}  # noqa: SIM118
    except AgentError as error:
        raise AgentError(f"{path}: {error}") from error
    return info, tensors


def _read(file: Any, name: str) -> Array:
    kind = file.get_slice(name).get_dtype()
    if kind not in KINDS:
        raise AgentError(f"expected float32 or float16 numbers in {name!r}, got {kind}")
    tensor: Array = file.get_tensor(name).astype(np.float32, copy=False)
    if not np.isfinite(tensor).all():
        raise AgentError(f"expected finite numbers in {name!r}, got others")
    return tensor


def write_network(info: NetworkInfo, tensors: Mapping[str, Array], *, half: bool = False) -> bytes:
    """Returns the file of a network; the same network gives the same bytes.

    The library writes metadata in another order each time, so the writer is our own.

    Args:
        info: the description.
        tensors: the numbers, by name.
        half: write float16.
    """
    kind = "F16" if half else "F32"
    metadata = {"format": FORMAT, "network": json.dumps(info.description())}
    header: dict[str, Any] = {"__metadata__": metadata}
    parts, end = [], 0
    for name, array in sorted(tensors.items()):
        if half and np.abs(array).max(initial=0) > HALF_MAX:
            raise AgentError(f"expected numbers up to {HALF_MAX:g} for float16 in {name!r}")
        parts.append(array.astype(KINDS[kind]).tobytes())
        start, end = end, end + len(parts[-1])
        header[name] = {"dtype": kind, "shape": array.shape, "data_offsets": (start, end)}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)  # the numbers begin at a multiple of eight
    return b"".join((len(text).to_bytes(8, "little"), text, *parts))


def digest_network(info: NetworkInfo, tensors: Mapping[str, Array]) -> str:
    """Returns a SHA-256 of a network, whatever file it is read from.

    Hashed are its description, then each tensor in the order of their names: name, shape and the
    numbers as little-endian float32.
    """
    described = [info.layers, info.decisions, f"{info.reward_scale:.9g}", info.reward]
    described += [info.rules.to_keys(), info.transform, info.information.to_keys()]
    described += [info.policy, info.settings] if info.policy else []
    digest_so_far = sha256(json.dumps(described, sort_keys=True).encode())
    for name in sorted(tensors):
        digest_so_far.update(f"{name} {tensors[name].shape}".encode())
        digest_so_far.update(np.ascontiguousarray(tensors[name], "<f4").tobytes())
    return digest_so_far.hexdigest()


def check_shapes(info: NetworkInfo, tensors: dict[str, Array]) -> None:
    """Checks the names of all tensors, and that each layer fits the one before."""
    if not info.layers:
        raise AgentError(
            f"expected a stack of layers, got a network of the class {info.policy!r:.200}, which "
            "goita_lab.learning:SavedPolicy:path=FILE,policy=CLASS plays"
        )
    layer_names = [*(f"layers.{layer}" for layer in range(info.layers)), "policy", "value"]
    names = {f"{name}.{part}" for name in layer_names for part in ("weight", "bias")}
    if names != tensors.keys():
        foreign = shortened(sorted(tensors.keys() - names))
        raise AgentError(
            f"expected the tensors of {info.layers} layers, policy and value; "
            f"missing {sorted(names - tensors.keys())}, foreign {foreign}"
        )
    biases = {name: tensors[f"{name}.bias"].size for name in layer_names}
    size, actions = info.information.observation_size, info.information.num_actions
    widths = [size, *(biases[f"layers.{layer}"] for layer in range(info.layers))]
    shapes = {
        f"layers.{layer}": (outputs, inputs)
        for layer, (inputs, outputs) in enumerate(pairwise(widths))
    }
    shapes |= {"policy": (actions, widths[-1]), "value": (1, widths[-1])}
    for name, shape in shapes.items():
        weight, bias = tensors[f"{name}.weight"], tensors[f"{name}.bias"]
        if weight.shape != shape or bias.shape != shape[:1]:
            raise AgentError(
                f"expected {name} of shape {list(shape)} with biases {[shape[0]]}, "
                f"got {list(weight.shape)} with {list(bias.shape)}"
            )


@contextmanager
def open_tensors(
    path: str | Path, max_bytes: int = MAX_BYTES, max_header: int = MAX_HEADER
) -> Iterator[Any]:
    """Opens a safetensors file that may be somebody else's; yields the library's ``safe_open``."""
    from safetensors import SafetensorError, safe_open

    path = Path(path)
    if path.exists() and not path.is_file():
        raise AgentError(f"expected a safetensors file, got {str(path)!r}, which is no file")
    with path.open("rb") as file:
        first_bytes, size = file.read(8), path.stat().st_size
    header_size = int.from_bytes(first_bytes, "little")
    if header_size > size:  # a file of another kind
        raise AgentError("expected a safetensors file, got another")
    if size > max_bytes or header_size > max_header:
        raise AgentError(
            f"expected a safetensors file of at most {max_bytes} bytes, {max_header} of them in "
            f"its header, got {size} and {header_size}"
        )
    try:
        with safe_open(path, framework="numpy") as tensors:
            yield tensors
    except GoitaError:
        raise
    except (SafetensorError, AttributeError, TypeError, ValueError) as error:
        raise AgentError(f"expected a safetensors file, got another: {error}") from error
