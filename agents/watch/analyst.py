"""Looks at one decision after another as an agent does: its policy, its search, its listeners."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from agents.base import AgentError, Bool, Float, Memory, Policy, Tempered
from agents.beliefs import Assumed, Assumption, HandBelief, Listener, Seat
from agents.faults import Accountable
from agents.registry import load_agent
from agents.search.drawing import TREMBLE
from agents.search.hearing import Hearing
from agents.search.pricing import Prices, price
from agents.watch.decisions import Heard
from goita_env import Game, View
from goita_env.tiles import NUM_SEATS


@runtime_checkable
class Valued(Protocol):
    """Tells what a seat may expect: a network does."""

    def values(self, view: View) -> Float:
        """Returns what each viewer expects its team to gain yet: float64 [N]."""
        ...


class Analyst:
    """Judges decisions by an agent's policy.

    A policy that is asked at temperature 0 is sure of every action. Its search plays so; what is
    shown of it, and what a partner is supposed to expect, are its probabilities at temperature 1.

    Args:
        spec: the agent, as ``load_agent`` takes it.
        tremble: how often the mover is supposed to slip, for a partner who listens; opponents slip
            as often as for the search.

    Raises:
        AgentError: if there is no such agent, its probabilities are not known, or it remembers more
            than its view shows.
    """

    def __init__(self, spec: str, tremble: float) -> None:
        agent = load_agent(spec)
        if not isinstance(agent, Policy) or isinstance(agent, Memory | Accountable):
            raise AgentError(
                "expected an agent with known probabilities and no memory, such as champion, "
                f"heuristic or file:PATH, got {agent.name!r} (of a search bot: its base)"
            )
        self._base: Policy = agent
        cold = isinstance(agent, Tempered) and agent.temperature == 0
        self._shown = agent.at(1.0) if isinstance(agent, Tempered) and cold else agent
        rival = Assumed(self._shown, tremble=TREMBLE[1])
        self._partner = Assumed(self._shown, tremble=tremble)
        self._assumed: dict[Seat, Assumption] = {
            "next": rival,
            "partner": self._partner,
            "previous": rival,
        }
        self._hearings = [Hearing(agent, TREMBLE) for _ in range(NUM_SEATS)]

    @property
    def policy(self) -> str:
        """Returns the policy that is shown, in words."""
        warm = self._shown.temperature if isinstance(self._shown, Tempered) else None
        return self._base.name if warm is None else f"{self._base.name} at temperature {warm:g}"

    @property
    def assumed(self) -> str:
        """Returns as what a partner hears the mover, in words."""
        return self._partner.name

    def probabilities(self, view: View, legal: Bool) -> Float:
        """Returns the policy's probabilities at a decision: float64 [69]; ``view``: one row."""
        known: Float = self._shown.probabilities(view, legal)[0]
        return known

    def value(self, view: View) -> float | None:
        """Returns the points that the policy's network expects; None: it knows no points."""
        trained_for = getattr(getattr(self._base, "info", None), "reward", "points")
        if not isinstance(self._base, Valued) or trained_for != "points":
            return None
        return float(self._base.values(view)[0])

    def prices(
        self, view: View, seat: int, legal: Bool, played: int, *, worlds: int, seed: int
    ) -> Prices:
        """Returns what the legal actions are worth by search: see ``agents.search.pricing``.

        Args:
            view: what the seat that is asked sees: one row.
            seat: the seat, whose listener is kept from decision to decision.
            legal: bool [1, 69] with two actions at least.
            played: the action that was chosen.
            worlds: most worlds, drawn from the exact posterior of what the seat could know.
            seed: of these and of all that is random in playouts.
        """
        hearing = self._hearings[seat]
        return price(self._base, view, legal, played, worlds=worlds, seed=seed, hearing=hearing)

    def listen(self, game: Game) -> Listeners:
        """Returns the four listeners of a round that is under way, nothing being asked."""
        return Listeners(game, self._assumed)


class Listeners:
    """Follow a round at all four seats, each to know its partner's hand.

    Args:
        game: the round; nobody is asked a question.
        assumed: how the others are supposed to play.
    """

    def __init__(self, game: Game, assumed: Mapping[Seat, Assumption]) -> None:
        self._ears = [Listener(game.view(seat), assumed) for seat in range(NUM_SEATS)]

    def belief(self, game: Game, seat: int) -> HandBelief:
        """Returns what a seat's partner believes of its hand now."""
        partner = (seat + 2) % NUM_SEATS
        self._ears[partner].hear(game.view(partner))
        return self._ears[partner].posterior("partner")


def heard(before: HandBelief, after: HandBelief, hand: npt.NDArray[np.int8]) -> Heard:
    """Says what a move changed in what is believed of the mover's hand; ``hand``: [8] as dealt."""
    return Heard(
        after.divergence(before),
        (before.entropy(), after.entropy()),
        (before.log_probability(hand), after.log_probability(hand)),
        (_floats(before.expected()), _floats(after.expected())),
        (_floats(before.at_least(1)), _floats(after.at_least(1))),
    )


def _floats(array: Float) -> tuple[float, ...]:
    """Returns numbers as JSON knows them."""
    return tuple(array.tolist())
