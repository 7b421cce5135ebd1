"""Ends the episode of a PettingZoo environment on an illegal action, where ``raw_env`` raises."""

from __future__ import annotations

from typing import Any, Protocol, cast

from pettingzoo.utils.wrappers import BaseWrapper

from goita_env.errors import IllegalActionError


class Forfeiting(Protocol):
    """Describes an environment in which the seat that is asked can forfeit."""

    def forfeit(self) -> None:
        """Ends the episode at the cost of the seat that is asked."""


class ForfeitWrapper(BaseWrapper[str, Any, int | None]):
    """Ends the episode on an illegal action: the offender's side pays, the others gain.

    PettingZoo's own wrapper punishes the offender and pays nobody, which breaks the zero sum.
    """

    def last(self, observe: bool = True) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Returns what ``raw_env.last`` does, with its errors."""
        return self.env.last(observe)

    def step(self, action: int | None) -> None:
        """Makes the decision; an illegal one forfeits the episode instead of raising."""
        try:
            self.env.step(action)
        except IllegalActionError:
            cast(Forfeiting, self.env.unwrapped).forfeit()
