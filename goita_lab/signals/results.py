"""The results of a study's pieces of work, by kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Self

from goita_lab.signals.listening import ActionInformation, ListenerKnowledge
from goita_lab.signals.measures.shuffled import Shuffled
from goita_lab.signals.measures.value import SourcePoints
from goita_lab.signals.playing import Play


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
