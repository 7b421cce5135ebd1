"""The results of a study's pieces of work, and checks of those that a file has kept.

A file of pieces may be somebody else's: ``goita_lab.parts`` checks types, ``check`` shapes and
bounds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self

from goita_env.actions import NUM_ACTIONS
from goita_env.errors import SettingError
from goita_env.tiles import NUM_SEATS
from goita_lab.signals.listening import ActionInformation, ListenerKnowledge
from goita_lab.signals.measures.shuffled import VARIANTS, Shuffled
from goita_lab.signals.measures.value import SourcePoints
from goita_lab.signals.playing import BY_DEAL, BY_DECISION, Play, Shapes


@dataclass(frozen=True)
class Heard:
    """Holds a play and what exact listeners heard of it."""

    play: Play
    actions: ActionInformation
    knowledge: ListenerKnowledge

    @classmethod
    def join(cls, parts: Sequence[Self]) -> Self:
        plays = [part.play for part in parts]
        actions = ActionInformation.join([part.actions for part in parts], plays)
        knowledge = ListenerKnowledge.join([part.knowledge for part in parts], plays)
        return cls(Play.join(plays), actions, knowledge)


WORK: Final[dict[str, Any]] = {
    "value": SourcePoints,
    "shuffle": Shuffled,
    "listen": Heard,
    "overhear": Heard,
}
"""Kinds of work that is done in pieces, and the types of their results; long pieces come first."""


BOUNDS: Final[Mapping[str, tuple[int, int]]] = {
    **dict.fromkeys(("dealer", "seat", "listener"), (0, NUM_SEATS)),
    "hands": (0, 11),
    "winner": (-1, NUM_SEATS),
    "action": (0, NUM_ACTIONS),
    "speaker": (1, NUM_SEATS),
}
"""Lowest value and the bound above it."""


def check(piece: Heard | SourcePoints | Shuffled, deals: int) -> None:
    """Checks that the arrays of a piece of work fit each other; ``deals``: of the piece."""
    if isinstance(piece, SourcePoints):
        _check_array("unsearched", piece.unsearched, (deals,))
        _check_array("points", piece.points, (len(piece.sources), deals))
        if piece.searched.size:
            _check_array("searched", piece.searched, (deals,))
    elif isinstance(piece, Shuffled):
        _check_array("points", piece.points, (len(VARIANTS), piece.points.size // len(VARIANTS)))
    else:
        play, actions, knowledge = piece.play, piece.actions, piece.knowledge
        if not set(actions.models) <= set(knowledge.models):
            raise SettingError(f"expected models of {knowledge.models!r}, got {actions.models!r}")
        rounds, decisions = play.round.size, play.deal.size
        bounds = {**BOUNDS, "deal": (0, rounds), "row": (0, decisions)}
        tables: list[tuple[Any, int, Shapes, int]] = [(play, rounds, BY_DEAL, 0)]
        tables += [(play, decisions, BY_DECISION, 0)]
        for heard in (actions, knowledge):
            tables += [(heard, heard.row.size, heard.SHAPES, len(heard.models))]
        for table, rows, shapes, models in tables:
            for name, axes in shapes.items():
                shape = (rows, *(models if axis == "K" else axis for axis in axes))
                _check_array(name, getattr(table, name), shape, bounds.get(name))


def _check_array(
    name: str, array: Any, shape: tuple[int | str, ...], bounds: tuple[int, int] | None = None
) -> None:
    if array.shape != shape:
        raise SettingError(f"expected {name} of shape {shape}, got {array.shape}")
    if bounds is not None and array.size:
        low, below = bounds
        if not (array.min() >= low and array.max() < below):
            raise SettingError(f"expected {name} from {low} to below {below}, got others")
