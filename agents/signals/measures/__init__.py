"""Offers one function for each measure of what actions tell; each names its formula and source."""

from agents.signals.measures.content import content, content_split, friend_or_foe, misreading
from agents.signals.measures.conventions import convention_table, opening_table
from agents.signals.measures.crossplay import cross_play, cross_play_gap, policy_distance
from agents.signals.measures.probes import activation_probe
from agents.signals.measures.published import (
    causal_influence,
    instantaneous_coordination,
    speaker_consistency,
)
from agents.signals.measures.shuffled import shuffled_signal
from agents.signals.measures.trees import fit_speaker, listener_tree, speaker_tree
from agents.signals.measures.value import (
    ceilings,
    eavesdropping_cost,
    levels,
    misreading_cost,
    play_listening,
    value_of_listening,
)

__all__ = [
    "activation_probe",
    "causal_influence",
    "ceilings",
    "content",
    "content_split",
    "convention_table",
    "cross_play",
    "cross_play_gap",
    "eavesdropping_cost",
    "fit_speaker",
    "friend_or_foe",
    "instantaneous_coordination",
    "levels",
    "listener_tree",
    "misreading",
    "misreading_cost",
    "opening_table",
    "play_listening",
    "policy_distance",
    "shuffled_signal",
    "speaker_consistency",
    "speaker_tree",
    "value_of_listening",
]
