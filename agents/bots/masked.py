"""Shows an agent something else than its seat sees: a transform wrapped around it.

What is legal stays as it is, and is told to the agent as before. So whatever is hidden from it, it
still chooses among the actions that its true hand allows.
"""

from __future__ import annotations

import numpy as np

from agents.base import Agent, AgentError, Bool, Float, HasTemperature, Int, Policy
from agents.models import check_stateless
from agents.transforms import ObservationFunction, Transform
from agents.transforms.possible import keeps_views_possible
from goita_env.rules import JGA, Rules
from goita_env.views import View


class MaskedAgent:
    """Plays as an agent that is shown transformed views.

    An agent that reads nothing but bits (its ``reads_bits`` is True, as of networks) may be shown
    any bits. Others read fields, so they take only transforms that leave possible views with the
    same legal actions; that is tested in each rule set that is played.

    Raises:
        AgentError: if the agent keeps a memory, or cannot be shown such views.
    """

    def __init__(self, base: Agent, transform: Transform) -> None:
        check_stateless(base)
        self.name, self.base, self.transform = "masked", base, transform
        self.reads_bits = bool(getattr(base, "reads_bits", False))
        self.deterministic = bool(getattr(base, "deterministic", False))
        self._tested: set[Rules] = set()
        self._test(JGA)

    def act(self, view: View, legal: Bool, rng: np.random.Generator) -> Int:
        """Returns the agent's action in each row: int64 [N]."""
        return self.base.act(self._shown(view), legal, rng)

    def _shown(self, view: View) -> View:
        self._test(view.rules)
        return self.transform.view(view)

    def _test(self, rules: Rules) -> None:
        if self.reads_bits or rules in self._tested:
            return
        if not keeps_views_possible(self.transform, rules):
            raise AgentError(
                f"expected a transform after which {self.base.name!r} sees possible views with the "
                f"same legal actions, got {', '.join(self.transform.texts)}: only agents that read "
                "nothing but bits, as networks do, take any other (reads_bits = True declares it)"
            )
        self._tested.add(rules)


class MaskedPolicy(MaskedAgent):
    """Plays as a known policy that is shown transformed views."""

    base: Policy

    def probabilities(self, view: View, legal: Bool) -> Float:
        """Returns the probability of each action: float64 [N, 69]."""
        return self.base.probabilities(self._shown(view), legal)


class MaskedNetwork(MaskedPolicy):
    """Plays as a policy with a temperature that is shown transformed views."""

    base: HasTemperature

    @property
    def temperature(self) -> float:
        return self.base.temperature

    def at(self, temperature: float) -> Policy:
        """Returns the same policy, shown the same, at another temperature."""
        return MaskedPolicy(self.base.at(temperature), self.transform)


def mask(
    base: Agent, hide: tuple[str, ...] = (), transform: ObservationFunction | None = None
) -> Agent:
    """Returns an agent that is shown transformed views.

    Args:
        base: an agent that plays from one view alone.
        hide: names of slices of the observation that are set to zero, or what several names begin
            with: ``own_score``, ``block_2``.
        transform: a function of the observation, applied after it.

    Raises:
        AgentError: if there is nothing to hide or transform, a name is that of no slice, or the
            agent cannot be shown such views.
    """
    made = Transform(hide, transform)
    if not made:
        raise AgentError("expected hide=SLICES or transform=MODULE:FUNCTION, got neither")
    return _wrap(base, made)


def _wrap(base: Agent, transform: Transform) -> MaskedAgent:
    if isinstance(base, HasTemperature):
        return MaskedNetwork(base, transform)
    if isinstance(base, Policy):
        return MaskedPolicy(base, transform)
    return MaskedAgent(base, transform)
