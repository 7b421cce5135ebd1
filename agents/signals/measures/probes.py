"""Probes a network: how much of what can be known of the partner's hand do its activations hold?

The exact belief is the ceiling that makes a probe readable: without it a low cross-entropy may mean
a good network or an easy question.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from agents.base import Float, Int
from agents.bots.network import NetworkAgent
from agents.signals.contexts import KINDS
from agents.signals.measures.estimates import over_deals
from agents.signals.measures.trees import cross_entropy
from agents.signals.playing import Play
from agents.statistics.intervals import Interval
from goita_env.errors import SettingError
from goita_env.tiles import NUM_KINDS

HELD_OUT: Final = 0.3
"""Share of the deals on which the probe is measured."""


@dataclass(frozen=True)
class Probe:
    """Says what a network's activations hold, in nats a kind: less is better."""

    network: Interval
    """Cross-entropy of the probe on the network's last shared layer."""
    untrained: Interval
    """Control: the same network with random weights."""
    hand_only: Interval
    """Control: the network sees another listener's history, its own hand kept in the probe."""
    exact: Interval
    """Of the exact belief: what can be known; its gap to ``network`` is what the network loses."""
    prior: Interval
    """Of the belief given the own hand alone."""
    efficiency: float
    """(prior - network) / (prior - exact); not a number where there is nothing to know."""


def activation_probe(
    told: Play,
    rows: Int,
    network: NetworkAgent,
    holds: Float,
    prior: Float,
    truth: Int,
    seed: int = 0,
) -> Probe:
    """Says how much a linear probe reads of the partner's hand in a network, in nats a kind.

        gap = CE(q) - CE(b) >= 0 in expectation,   efficiency = (CE(prior) - CE(q)) / (CE(prior)
        - CE(b)),   CE(q) = mean over kinds of E[ -log q(the partner was dealt one of the kind) ]

    q is a logistic regression for each kind on the activations of the last shared layer and the own
    hand (Alain and Bengio, arXiv:1610.01644), fitted on other deals than those measured; b the
    exact belief. Controls: untrained weights, and histories shuffled among listeners (Hewitt and
    Liang, arXiv:1909.03368, for why).

    Args:
        told: the play.
        rows: [n] decisions of listeners.
        network: the network.
        holds: [n, 8] exact probability that the partner was dealt one of each kind or more.
        prior: [n, 8] the same given the own hand alone.
        truth: [n, 8] tiles of each kind that it was dealt.
        seed: of the held-out deals and the controls.

    Raises:
        SettingError: if there are too few deals, or the agent is no network.
        ImportError: if scikit-learn is missing.
    """
    if not isinstance(network, NetworkAgent):
        raise SettingError(f"expected a network, got {network!r}")
    deal, rng = told.deal[rows], np.random.default_rng(seed)
    every = rng.permutation(np.unique(deal))
    held = np.isin(deal, every[: max(2, round(HELD_OUT * len(every)))])
    if held.all() or len(every) < 4:
        raise SettingError(f"expected four deals at least, got {len(every)}")
    view, right = told.view(rows), truth > 0
    hand = np.asarray(view.hand, np.float64)
    other = view[rng.permutation(len(rows))]
    read = _reader(held, right, hand)
    found = [
        read(network.features(view)),
        read(network.untrained(seed).features(view)),
        read(network.features(other)),
        holds[held],
        prior[held],
    ]
    losses = [
        over_deals(
            np.mean([cross_entropy(q[:, k], right[held, k]) for k in range(NUM_KINDS)], axis=0),
            deal[held],
        )
        for q in found
    ]
    known = losses[4].mean - losses[3].mean
    efficiency = (losses[4].mean - losses[0].mean) / known if known > 0 else float("nan")
    return Probe(losses[0], losses[1], losses[2], losses[3], losses[4], efficiency)


def _reader(held: Any, right: Any, hand: Float) -> Callable[[Any], Float]:
    """Returns what fits probes to activations [n, W] and returns what they read: [held, 8]."""
    try:
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler
    except ImportError as error:
        raise ImportError("probes need scikit-learn: pip install 'goita-env[signals]'") from error

    def read(activations: Any) -> Float:
        inputs = np.column_stack([activations, hand])
        columns = []
        for kind in range(len(KINDS)):
            if len(np.unique(right[~held, kind])) < 2:
                columns.append(np.full(int(held.sum()), right[~held, kind].mean()))
                continue
            probe = make_pipeline(StandardScaler(), LogisticRegression(C=0.01, max_iter=500))
            probe.fit(inputs[~held], right[~held, kind])
            columns.append(probe.predict_proba(inputs[held])[:, 1])
        return np.column_stack(columns)

    return read
