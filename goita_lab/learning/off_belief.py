"""Replaces what decisions of a rollout earned by what they would earn in worlds of the hard facts.

Off-belief learning (Hu et al. 2021), level 1, fitted to this game. For a decision one world is
drawn that its seat cannot rule out, uniformly over the deals that the rules allow; what the others
did says nothing more of it. The action is played there, and all seats go on by the present policy
until the same seat has a choice again, or the round ends. The return is the points of the end, or
the policy's value at that choice. So the policy learns to play well if the past had no meaning
beyond the rules, while its actions in the worlds are answered by players like itself. (Hu et al.
take the posterior of a policy, at level 1 that of a uniformly random one. The hard facts are
another distribution: ``LEGAL_MODEL`` and ``UNIFORM_MODEL`` of ``goita_agents.models`` tell them
apart.)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
import numpy.typing as npt
from goita_agents.base import Bool, Float, Int

from goita_env import View
from goita_env.rounds import Rounds
from goita_env.views.observation import Words
from goita_env.worlds import determinize, sample

CHUNK: Final = 8_192
"""Decisions that are played out side by side."""

Decide = Callable[[Words, Bool], tuple[Int, npt.NDArray[np.float32], npt.NDArray[np.float32]]]
"""Returns sampled actions [n], values [n] and log-probabilities [n] of words [n, 8] and masks."""


def returns_in_worlds(
    view: View, actions: Int, decide: Decide, rng: np.random.Generator, reward_scale: float
) -> npt.NDArray[np.float32]:
    """Returns what each decision earns in a world of its own: float32 [n].

    Args:
        view: n positions, each seen by the seat that decides; nothing else is known of them.
        actions: int64 [n] what the seats choose.
        decide: the policy, which plays all seats from then on.
        rng: of worlds and of deals after redeals.
        reward_scale: factor of the points.
    """
    found = np.zeros(len(view), np.float32)
    for first in range(0, len(view), CHUNK):
        part = slice(first, first + CHUNK)
        found[part] = _play_out(view[part], actions[part], decide, rng, reward_scale)
    return found


def _play_out(
    view: View, actions: Int, decide: Decide, rng: np.random.Generator, reward_scale: float
) -> Float:
    many = len(view)
    found, unfinished = np.zeros(many), np.ones(many, bool)
    positions = determinize(view, sample(view, 1, rng))
    keys = rng.integers(2**64, size=many, dtype=np.uint64)
    rounds = Rounds.from_positions(positions, keys=keys, actions=actions)
    decisions = rounds.decisions
    while True:
        if decisions.ended is not None:
            # A redeal gains nothing, and the game goes on.
            found[decisions.ended.rows] = decisions.ended.gained * reward_scale
            unfinished[decisions.ended.rows[decisions.ended.done]] = False
        rows, chosen = decisions.rows, decisions.rows
        back = decisions.seats == 0  # the seat that decided has a choice again
        if len(rows):
            chosen, values, _ = decide(decisions.view.words, decisions.legal)
            found[rows[back]] = values[back]
            unfinished[rows[back]] = False
        if not unfinished.any():
            return found
        # Games that get no answer wait from now on.
        decisions = rounds.step(chosen[~back], rows[~back])
