"""Seats agents: builds them from their texts, one for each seat, and says which one failed."""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from agents.base import Agent, AgentError, Memory, close
from agents.registry import check_shipped, load_agent


class Seating:
    """Holds the agents of a table.

    Classes of one's own and programs have an instance for each seat, so that none sees two hands.
    Agents of this repository that remember nothing share one.

    Args:
        specs: by seat: agents, or the texts that ``load_agent`` knows; "" where a person sits.

    Raises:
        AgentError: if there is no such agent.

    Attributes:
        agents: the agents by their seats.
    """

    def __init__(self, specs: Sequence[str | Agent]) -> None:
        self._specs = {seat: spec for seat, spec in enumerate(specs) if spec != ""}
        shared: dict[str, Agent] = {}
        self.agents: dict[int, Agent] = {}
        try:
            for seat, spec in self._specs.items():
                agent = shared.get(spec) if isinstance(spec, str) else spec
                self.agents[seat] = agent = _built(spec) if agent is None else agent
                if isinstance(spec, str) and is_shipped(spec) and not isinstance(agent, Memory):
                    shared[spec] = agent
        except BaseException:
            self.close()
            raise

    def memories(self) -> list[tuple[int, Memory]]:
        """Returns those that want to be told where rounds begin and end, and their seats."""
        return [(seat, one) for seat, one in self.agents.items() if isinstance(one, Memory)]

    def renew(self) -> None:
        """Builds agents with a memory anew, those that came as texts.

        Raises:
            AgentError: if that is impossible; nothing has changed.
        """
        new = {
            seat: _built(self._specs[seat])
            for seat, _ in self.memories()
            if isinstance(self._specs[seat], str)
        }
        close(self.agents[seat] for seat in new)
        self.agents |= new

    def close(self) -> None:
        """Ends what agents run that came as texts."""
        close(agent for seat, agent in self.agents.items() if isinstance(self._specs[seat], str))


@contextmanager
def blamed(agent: Agent) -> Iterator[None]:
    """Lets what an agent's code raises come out as an error that names the agent.

    What was raised is named, and where, but not its text: it may tell a hand to who reads it.

    Raises:
        AgentError: if anything was raised but Ctrl-C.
    """
    try:
        yield
    except (Exception, SystemExit) as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        raise AgentError(
            f"expected {agent.name!r} to play, but it raised {type(error).__name__} "
            f"({Path(last.filename).name}, line {last.lineno})"
        ) from error


def _built(spec: str | Agent) -> Agent:
    """Returns an agent.

    Raises:
        AgentError: if there is none, or its code raises as it is built.
    """
    try:
        return load_agent(spec)
    except AgentError:
        raise
    except (Exception, SystemExit) as error:
        raise AgentError(
            f"expected to build {spec!r}, but it raised {type(error).__name__}: {error}"
        ) from error


def is_shipped(spec: str) -> bool:
    """Tells whether an agent is of this repository, and so is all that it is built of."""
    try:
        check_shipped(spec, "")
    except AgentError:
        return False
    return True
