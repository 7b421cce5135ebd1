"""Asks policies and models about each view once.

The games of one deal that are played with several sources of information, and the listeners to
them, come to the same positions again and again.
"""

from __future__ import annotations

import numpy as np

from goita_agents.base import Bool, Float, Int, Policy
from goita_agents.beliefs import LEGAL_MODEL, UNIFORM_MODEL, CachedModel, OpponentModel
from goita_env import View


def cached_policy(policy: Policy) -> Policy:
    """Returns a policy that acts the same and is asked about each view once.

    One that draws random numbers, or does not declare that it draws none, is returned itself.
    """
    return CachedPolicy(policy) if getattr(policy, "deterministic", False) else policy


def cached_model(model: OpponentModel) -> OpponentModel:
    """Returns a model that answers the same, and asks about each view once if that saves time."""
    return model if model in (UNIFORM_MODEL, LEGAL_MODEL) else CachedModel(model)


class CachedPolicy:
    """Keeps the actions of a policy that draws no random number."""

    deterministic = True

    def __init__(self, policy: Policy) -> None:
        self.name, self._policy = policy.name, policy
        self._known: dict[int, int] = {}

    def act(self, view: View, legal: Bool, rng: np.random.Generator) -> Int:
        """Returns an action in each row: int64 [N]; no random number is drawn."""
        keys = view.digest()
        found = np.array([self._known.get(key, -1) for key in keys.tolist()], np.int64)
        unknown = np.flatnonzero(found < 0)
        if len(unknown):
            new, first, which = np.unique(keys[unknown], return_index=True, return_inverse=True)
            rows = unknown[first]
            actions = self._policy.act(view[rows], legal[rows], rng)
            self._known.update(zip(new.tolist(), actions.tolist(), strict=True))
            found[unknown] = actions[which]
        return found

    def probabilities(self, view: View, legal: Bool) -> Float:
        """Returns the probability of each action: float64 [N, 69]."""
        return self._policy.probabilities(view, legal)
