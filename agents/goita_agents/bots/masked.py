"""Shows an agent something else than its seat sees: a transform wrapped around it.

What is legal stays as it is, and is told to the agent as before. So whatever is hidden from it, it
still chooses among the actions that its true hand allows.
"""

from __future__ import annotations

from goita_agents.base import Agent, AgentError
from goita_agents.bots.wrapped import Wrapped, wrap
from goita_agents.models import check_stateless
from goita_agents.registry import Entry
from goita_agents.transforms import ObservationFunction, Transform
from goita_agents.transforms.possible import keeps_views_possible
from goita_env.information import PLAIN, Information
from goita_env.rules import JGA, Rules
from goita_env.views import View


class MaskedAgent(Wrapped):
    """Plays as an agent that is shown transformed views.

    An agent that reads nothing but bits (its ``reads_bits`` is True, as of networks) may be shown
    any bits. Others read fields, so they take only transforms that leave possible views with the
    same legal actions; that is tested in each rule set that is played.

    Raises:
        AgentError: if the agent keeps a memory, or cannot be shown such views.
    """

    def __init__(self, base: Agent, transform: Transform) -> None:
        check_stateless(base)
        super().__init__(base)
        self.name, self.transform = "masked", transform
        self._tested: set[Rules] = set()
        self._test(JGA)

    def plays(self, information: Information) -> bool:
        """Tells whether the agent inside plays such games; only plain views are tested."""
        return super().plays(information) and (self.reads_bits or information == PLAIN)

    def shown(self, view: View) -> View:
        """Returns the transformed views."""
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
    return wrap(MaskedAgent, base, made)


ENTRY = Entry(mask)
"""``masked``, as texts name it."""
