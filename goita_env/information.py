"""Information options beyond the rules: shown hands, and a message channel before play.

``InformationStructure()`` is the base game. Whatever it changes is kept apart from the rules, so
every option goes with every rule set.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Final, Literal, get_args

from goita_env.actions import MAX_ACTIONS, NUM_ACTIONS
from goita_env.errors import SettingError
from goita_env.rules import read_table

Audience = Literal["partner", "all"]

AUDIENCES: Final = get_args(Audience)
MAX_BITS: Final = 3
"""Most bits of a message; the actions and the observation have room for eight messages."""
MAX_COST: Final = 1000
"""Most points that a message costs."""

_OBSERVATION_WORDS: Final = 8
_SHOWN_SEATS: Final[dict[str | None, tuple[int, ...]]] = {
    None: (),
    "partner": (2,),
    "all": (1, 2, 3),
}


@dataclass(frozen=True)
class MessageChannel:
    """A channel: each seat sends one message before the other pre-play decisions, dealer first.

    Raises:
        SettingError: if a field has an invalid value.
    """

    bits: int
    """1 to 3: the message is a number from 0 to 2**bits - 1. Message 0 is silence."""

    audience: Audience = "partner"
    """The seats that observe the message: only the partner, or all seats."""

    cost: int = 0
    """Points of reward, 0 to 1000, that a message other than 0 costs each seat of the sender's team
    in the step that sends. The other team's seats get them. Points of rounds stay as they are."""

    def __post_init__(self) -> None:
        for name, low, high in (("bits", 1, MAX_BITS), ("cost", 0, MAX_COST)):
            value = getattr(self, name)
            if type(value) is not int or not low <= value <= high:
                raise SettingError(
                    f"expected a whole number from {low} to {high} as {name} of a message "
                    f"channel, got {value!r}"
                )
        if not isinstance(self.audience, str) or self.audience not in AUDIENCES:
            raise SettingError(
                f"expected an audience of {AUDIENCES} for a message channel, got {self.audience!r}"
            )


@dataclass(frozen=True)
class InformationStructure:
    """The information options: shown tiles and messages; the default is the base game.

    Raises:
        SettingError: if a field has an invalid value.
    """

    shown: Audience | None = None
    """The seats whose tiles each seat sees, also under their face-down blocks: its partner, or all
    seats. None: no seat."""

    channel: MessageChannel | None = None
    """The messages that each seat may send before play; None: there are none."""

    def __post_init__(self) -> None:
        if self.shown is not None and self.shown not in AUDIENCES:
            raise SettingError(f"expected shown of {(None, *AUDIENCES)}, got {self.shown!r}")
        if self.channel is not None and not isinstance(self.channel, MessageChannel):
            raise SettingError(
                f"expected a MessageChannel or None as channel, got {self.channel!r}"
            )

    @property
    def bits(self) -> int:
        """Bits of a message, 0 without messages."""
        return 0 if self.channel is None else self.channel.bits

    @property
    def cost(self) -> int:
        """Points that a message other than 0 costs."""
        return 0 if self.channel is None else self.channel.cost

    @property
    def num_actions(self) -> int:
        """Size of the action space: 69, or 77 with messages, of which 2**bits are ever legal."""
        return NUM_ACTIONS if self.channel is None else MAX_ACTIONS

    @property
    def shown_seats(self) -> tuple[int, ...]:
        """Relative seats whose tiles a view shows in addition to the viewer's."""
        return _SHOWN_SEATS[self.shown]

    @property
    def num_words(self) -> int:
        """64-bit words of a packed observation: 8, and two more for each shown seat."""
        return _OBSERVATION_WORDS + 2 * len(self.shown_seats)

    @property
    def observation_size(self) -> int:
        """Bits of an observation: 512, 640 with the partner shown, 896 with all."""
        return 64 * self.num_words

    def to_keys(self) -> dict[str, Any]:
        """Returns the keys of a JSON object that describe the options: none for the base game."""
        if self == PLAIN:
            return {}
        # Files, the bot protocol and logs call the channel "token".
        channel = None if self.channel is None else asdict(self.channel)
        return {"information": {"shown": self.shown, "token": channel}}

    @classmethod
    def from_keys(cls, keys: Mapping[str, Any]) -> InformationStructure:
        """Returns the options that ``to_keys`` wrote.

        Raises:
            SettingError: if the keys describe no information options.
        """
        table = keys.get("information")
        if table is None:
            return PLAIN
        options = _fields(table, ["shown", "token"], "information")
        channel = options.pop("token", None)
        if isinstance(channel, dict):  # ``cls`` refuses any other value except None
            names = [field.name for field in fields(MessageChannel)]
            channel = MessageChannel(**_fields(channel, names, "token", required=("bits",)))
        return cls(**options, channel=channel)


PLAIN: Final = InformationStructure()
"""The base game: no tiles are shown and no messages are sent."""


def read_information(path: str) -> InformationStructure:
    """Returns the options in a JSON file: what ``InformationStructure.to_keys`` writes."""
    return read_table(path, _from_file, "information options")


def _from_file(content: object) -> InformationStructure:
    if not isinstance(content, dict) or not content.keys() <= {"information"}:
        raise SettingError(
            f'expected {{"information": {{...}}}}, or {{}} for the base game, got {content!r:.200}'
        )
    return InformationStructure.from_keys(content)


def check_information(information: InformationStructure) -> InformationStructure:
    """Returns the options; a SettingError if they are not an ``InformationStructure``."""
    if not isinstance(information, InformationStructure):
        raise SettingError(f"expected an InformationStructure value, got {information!r}")
    return information


def _fields(
    table: object, fields: list[str], name: str, *, required: tuple[str, ...] = ()
) -> dict[str, Any]:
    """Returns a table whose keys are some of ``fields`` and all of ``required``, after a check."""
    if not isinstance(table, dict) or not {*required} <= table.keys() <= {*fields}:
        must = f", {', '.join(required)} among them" if required else ""
        raise SettingError(
            f"expected a table as {name!r} with fields of {fields}{must}, got {table!r}"
        )
    return dict(table)
