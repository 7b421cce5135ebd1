"""Reads and writes the manifest of the population, and names its members and sets.

The manifest is JSON of the format ``goita-population-4``. It names no file: the weights of member
METHOD-SEED are weights/METHOD-SEED.safetensors next to it. The manifest states the SHA-256 of their
tensors.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from goita_agents.base import AgentError
from goita_agents.bots.network import NetworkAgent
from goita_agents.files import locked, write_whole
from goita_env.checks import read_limited
from goita_env.errors import SettingError
from goita_env.information import InformationStructure, MessageChannel

FORMAT: Final = "goita-population-4"
FOLDER: Final = Path(__file__).parent
MANIFEST_BYTES: Final = 1 << 20  # Most bytes of a manifest.
MOST_SEED: Final = 9_999

PREFIX: Final = "population:"
SETS: Final[tuple[Split, ...]] = ("train", "validation", "test")
"""Names of sets behind the prefix."""

Split = Literal["train", "validation", "test", "messages"]
"""Use of a member: for training; for measurements while agents are made; for a single measurement
at the end; for training, and it plays with messages.
"""

VALIDATION_BOTS: Final = {
    "no-pass-partner": "heuristic:pass_partner=off",
    "no-reading": "heuristic:reading=off",
    "no-hold-back": "heuristic:hold_back=off,bury=off",
}
"""Rule bots that lack a convention, by short names; they belong to the validation set, too."""


def _with_messages(bits: int, private: bool) -> InformationStructure:
    return InformationStructure(channel=MessageChannel(bits, "partner" if private else "all"))


INFORMATION: Final = {
    "token-private": _with_messages(2, True),
    "token-public": _with_messages(2, False),
    "private-1": _with_messages(1, True),
    "private-3": _with_messages(3, True),
    "public-1": _with_messages(1, False),
    "public-3": _with_messages(3, False),
    "test-private-1": _with_messages(1, True),
    "test-private-2": _with_messages(2, True),
    "test-private-3": _with_messages(3, True),
    "test-public-1": _with_messages(1, False),
    "test-public-2": _with_messages(2, False),
    "test-public-3": _with_messages(3, False),
}
"""Options of a method's game: who sends messages to whom; other methods play the base game."""

Points = Annotated[float, Meta(ge=-1_000, le=1_000)]


class Strength(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The strength of a member against a bot, in points a round on duplicate deals."""

    against: str
    """Agent of the other team."""
    deals: Annotated[int, Meta(ge=2)]
    seed: Annotated[int, Meta(ge=0)]
    points: Points
    low: Points
    """With ``high`` the 95 % interval over deals."""
    high: Points


class Member(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A member of the population."""

    method: Annotated[str, Meta(pattern="^[a-z][a-z0-9-]*$")]
    seed: Annotated[int, Meta(ge=0, le=MOST_SEED)]
    split: Split
    decisions: Annotated[int, Meta(ge=0)]
    options: tuple[str, ...]
    """Options of ``goita train``, apart from the seed."""
    version: str
    """Version of this project that trained it."""
    strength: Strength | None
    """None for a test partner, with which nothing is measured before the final table."""
    sha256: Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
    """Digest of the network, not of its file: see ``NetworkAgent.digest``."""

    @property
    def name(self) -> str:
        return f"{self.method}-{self.seed}"

    @property
    def agent(self) -> str:
        """The agent's text."""
        return f"{PREFIX}{self.name}"


class _Manifest(msgspec.Struct, forbid_unknown_fields=True):
    format: Literal["goita-population-4"]
    members: tuple[Member, ...]


class Population:
    """The members of the population in a folder.

    Args:
        folder: of the manifest and the weights; None: the shipped one.

    Raises:
        SettingError: if the manifest is malformed, or names a member twice.
        OSError: if the manifest cannot be read.

    Attributes:
        members: by name, METHOD-SEED.
    """

    def __init__(self, folder: Path = FOLDER) -> None:
        self.folder = folder
        path = folder / "manifest.json"
        self.members: dict[str, Member] = {}
        if not path.exists():
            return
        try:
            manifest = msgspec.json.decode(read_limited(path, MANIFEST_BYTES), type=_Manifest)
        except (msgspec.MsgspecError, RecursionError) as error:
            raise SettingError(f"expected a manifest of {FORMAT} in {path}: {error}") from error
        for member in manifest.members:
            if member.name in self.members:
                raise SettingError(f"expected each member once in {path}, got {member.name!r}")
            self.members[member.name] = member

    def names(
        self,
        split: Split | None = None,
        method: str | None = None,
        seeds: Iterable[int] | None = None,
    ) -> tuple[str, ...]:
        """Returns the agents' texts of some members, in the order of the manifest.

        Args:
            split: of the members; None: any.
            method: of the members; None: any.
            seeds: of the members; None: any.
        """
        chosen_seeds = None if seeds is None else set(seeds)
        return tuple(
            member.agent
            for member in self.members.values()
            if split in (None, member.split)
            and method in (None, member.method)
            and (chosen_seeds is None or member.seed in chosen_seeds)
        )

    def network(self, name: str) -> NetworkAgent:
        """Reads the network of a member.

        Raises:
            AgentError: if there is no such member, or its weights are not those of the manifest.
            OSError: if the file cannot be read.
        """
        member = self.members.get(name)
        if member is None:
            methods = ", ".join(dict.fromkeys(entry.method for entry in self.members.values()))
            raise AgentError(
                f"expected a member of the population, METHOD-SEED of {methods}; got {name!r}"
            )
        path = self.weights(name)
        network = NetworkAgent.load(path)
        if network.digest != member.sha256:
            raise AgentError(f"expected the weights of the manifest in {path}, got others")
        return network

    def weights(self, name: str) -> Path:
        """Returns the file of a member's weights."""
        return self.folder / "weights" / f"{name}.safetensors"

    def add(self, member: Member) -> None:
        """Adds a member, whose weights are there, in place of an earlier member of its name.

        Members that other processes have added since the manifest was read stay, and are read.
        """
        path = self.folder / "manifest.json"
        with locked(path, "a manifest", wait=True):
            members = Population(self.folder).members | {member.name: member}
            methods = list(dict.fromkeys(entry.method for entry in members.values()))
            ordered = sorted(
                members.values(), key=lambda entry: (methods.index(entry.method), entry.seed)
            )
            self.members = {entry.name: entry for entry in ordered}
            data = msgspec.json.encode(_Manifest(FORMAT, tuple(ordered)))
            write_whole(path, msgspec.json.format(data, indent=1) + b"\n")


@cache
def shipped() -> Population:
    """Returns the population of this project."""
    return Population()


def origin(agent: str) -> tuple[str, str]:
    """Returns the method and the split of the member that a text names; else two empty strings.

    A rule bot that is held out has its short name as method.
    """
    bots = {text: name for name, text in VALIDATION_BOTS.items()}
    if agent in bots:
        return bots[agent], "validation"
    member = shipped().members.get(agent.removeprefix(PREFIX).split(",")[0])
    return (member.method, member.split) if member and agent.startswith(PREFIX) else ("", "")


def members_of(argument: str) -> tuple[str, ...] | None:
    """Returns the agents of a set; None: the argument is that of one agent.

    "train" are the members of the base game for training. "validation" are members of the base game
    for measurements while agents are made, and rule bots that lack a convention. "test" are the
    members for a single measurement at the end; some of these play with messages.
    """
    if argument not in SETS:
        return None
    names = shipped().names(argument)
    if argument != "validation":
        return names
    plain = tuple(name for name in names if origin(name)[0] not in INFORMATION)
    return (*plain, *VALIDATION_BOTS.values())
