"""Reads and writes what best responses make: the file that regret is measured from.

The responses themselves are not kept: their trainings repeat them (``goita population respond``).
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from goita_agents.files import read_limited, write_whole
from goita_env.errors import SettingError

FORMAT: Final = "goita-responses-1"
FILE: Final = Path(__file__).with_name("responses.json")
MOST_BYTES: Final = 1 << 20

Points = Annotated[float, Meta(ge=-1_000, le=1_000)]


class Response(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """What the best response to a partner makes, points a round."""

    points: dict[str, tuple[Points, Points, Points]]
    """By the opponent's text: the mean over deals with its 95 % interval."""
    deals: Annotated[int, Meta(ge=2)]
    """Of each opponent, after the choice and apart from it."""
    seed: Annotated[int, Meta(ge=0)]
    chosen: str
    """Of the candidates."""
    candidates: dict[str, Points]
    """What each made on the deals by which one was chosen, mean over opponents: agents as they
    are, and those that were trained beside the partner from there."""
    sha256: str
    """Of the chosen network (``NetworkAgent.digest``)."""


class _File(msgspec.Struct, forbid_unknown_fields=True):
    format: Literal["goita-responses-1"]
    responses: dict[str, Response]


def read(path: Path = FILE) -> dict[str, Response]:
    """Returns the responses by the partner's text.

    Raises:
        SettingError: if the file is malformed.
        OSError: if it cannot be read.
    """
    if not path.exists():
        return {}
    try:
        return msgspec.json.decode(read_limited(path, MOST_BYTES), type=_File).responses
    except (msgspec.MsgspecError, RecursionError) as error:
        raise SettingError(f"expected {FORMAT} in {path}: {error}") from error


def add(partner: str, response: Response, path: Path = FILE) -> None:
    """Adds what the best response to a partner makes, in place of what is there."""
    found = dict(sorted((read(path) | {partner: response}).items()))
    data = msgspec.json.format(msgspec.json.encode(_File(FORMAT, found)), indent=1)
    write_whole(path, data + b"\n")


@cache
def shipped() -> dict[str, Response]:
    """Returns the responses of this project."""
    return read()
