"""Offers one function for each measure of what actions tell; each names its formula and source."""

from agents.signals.measures.content import content, content_split, friend_or_foe, misreading
from agents.signals.measures.shuffled import shuffled_signal
from agents.signals.measures.value import (
    ceilings,
    eavesdropping_cost,
    misreading_cost,
    play_listening,
    value_of_listening,
)

__all__ = [
    "ceilings",
    "content",
    "content_split",
    "eavesdropping_cost",
    "friend_or_foe",
    "misreading",
    "misreading_cost",
    "play_listening",
    "shuffled_signal",
    "value_of_listening",
]
