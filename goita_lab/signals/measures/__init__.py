"""Offers one function for each measure of signals; its docstring has the formula and source."""

from goita_lab.signals.measures.crossplay import cross_play, cross_play_gap, policy_distance
from goita_lab.signals.measures.emergent_communication import (
    causal_influence,
    instantaneous_coordination,
    speaker_consistency,
)
from goita_lab.signals.measures.explain import activation_probe, fit_speaker, speaker_tree
from goita_lab.signals.measures.information_gain import (
    information_gain,
    information_gain_split,
    model_mismatch,
    partner_opponent_gap,
)
from goita_lab.signals.measures.principles import principle_use
from goita_lab.signals.measures.shuffled import shuffled_signal
from goita_lab.signals.measures.value import (
    model_mismatch_cost,
    opponent_information_cost,
    oracle_gain,
    play_listening,
    search_gain,
    value_of_listening,
)

__all__ = [
    "activation_probe",
    "causal_influence",
    "cross_play",
    "cross_play_gap",
    "fit_speaker",
    "information_gain",
    "information_gain_split",
    "instantaneous_coordination",
    "model_mismatch",
    "model_mismatch_cost",
    "opponent_information_cost",
    "oracle_gain",
    "partner_opponent_gap",
    "play_listening",
    "policy_distance",
    "principle_use",
    "search_gain",
    "shuffled_signal",
    "speaker_consistency",
    "speaker_tree",
    "value_of_listening",
]
