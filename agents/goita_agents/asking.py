"""Builds agents, asks them and checks their answers; no other module of the lab does so.

Agents of this distribution are trusted: tests check their answers about fixed views in each rule
set, and they are not checked while they play. Every answer of any other agent is checked: of a
user's class or object, of another package's agent, of a program (``exec:COMMAND``). Such an agent
is handed copies of views and masks, because it may write into them.

There are two kinds of faults, which mean the same in every command:

- *An action* that is missing or illegal is replaced by a uniformly random legal one, counted and
  reported. ``GuardedAgent`` does so in rounds, ``attempt_actions`` for positions outside rounds.
- *Probabilities or beliefs* that are not valid end the command with an ``AgentError`` before a row
  is printed, because no distribution could replace them.

An exception in the code of an agent, also ``SystemExit``, is of the first kind where the agent was
to act or was notified of a round, and of the second elsewhere.
"""

from __future__ import annotations

import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partialmethod
from typing import Any, Final, Literal, Protocol, TypeVar, runtime_checkable

import numpy as np

from goita_agents.base import (
    Agent,
    AgentError,
    AnswerError,
    Bool,
    Float,
    HasTemperature,
    Int,
    Policy,
    StatefulAgent,
    close,
    copied,
    is_trusted,
    plays,
    raised,
    read_actions,
    read_probabilities,
    uniform,
)
from goita_agents.faults import FAULTS, Fault, FaultTracking, Kind
from goita_agents.identity import Identities
from goita_agents.registry import check_plays, load_agent
from goita_env import View
from goita_env.checks import describe
from goita_env.consistency import find_inconsistency
from goita_env.errors import GoitaError
from goita_env.information import PLAIN, InformationStructure
from goita_env.rules import Rules
from goita_env.text import describe as position_text
from goita_env.tiles import NUM_KINDS, NUM_SEATS

T = TypeVar("T")

FAULT_TEXT: Final = 500
"""Most characters of an error's text that a fault keeps."""

FAULT_TRACEBACK: Final = 4000
"""Last characters of a traceback that a fault keeps."""

BELIEF_TOLERANCE: Final = 1e-6
"""A believed probability may be so far below 0 or above 1."""


@runtime_checkable
class Believes(Protocol):
    """An agent that states its beliefs."""

    def beliefs(self, view: View) -> Float:
        """Returns probabilities that a seat holds a tile of each kind, not lying face up.

        Args:
            view: N positions.

        Returns:
            float64 [N, 3, 8], the seats being next, partner and previous.
        """
        ...


# ----------------------------------------------------------------------------------------- building


def build_agent(
    spec: str | Agent | type,
    rules: Rules | None = None,
    information: InformationStructure = PLAIN,
) -> Agent:
    """Builds an agent, before anything is computed with it.

    Args:
        spec: as ``load_agent`` takes it.
        rules: the rule set of the game in which it is to act: then a program is started once. None:
            the agent is only built.
        information: the options of this game.

    Raises:
        AgentError: if the agent cannot be built, does not play such games, or is a program that
            does not start.
    """
    agent = load_agent(spec)
    if rules is None:
        return agent
    try:
        text = spec if isinstance(spec, str) else agent.name
        with _blamed(agent, "plays"):
            check_plays(agent, text, information)
        check_start = getattr(agent, "check_start", None)
        if callable(check_start):
            check_start(rules, information)
    except BaseException:
        if agent is not spec:
            end_agent(agent)
        raise
    return agent


def check_agents(
    specs: Iterable[str],
    rules: Rules,
    information: InformationStructure = PLAIN,
    identities: Identities | None = None,
) -> Identities:
    """Builds each agent once and starts each program once, before anything is computed.

    Args:
        specs: texts of agents.
        rules: the rule set of the game in which they are to act.
        information: the options of this game.
        identities: to which these agents are added; None: new ones.

    Returns:
        What the agents are made of.

    Raises:
        AgentError: as ``build_agent``, for the first agent that cannot play.
    """
    identities = Identities() if identities is None else identities
    for spec in specs:
        agent = build_agent(spec, rules, information)
        try:
            identities.add(spec, agent)
        finally:
            end_agent(agent)
    return identities


def end_agent(agent: Agent) -> None:
    """Ends what an agent runs; an AgentError if its code raises."""
    with _blamed(agent, "close"):
        close([agent])


# ------------------------------------------------------------------------------------------- asking


def ask_actions(
    agent: Agent, view: View, legal: Bool, rng: np.random.Generator, *, secret: bool = False
) -> Int:
    """Returns the actions that an agent chooses: int64 [N].

    Args:
        agent: the agent.
        view: N positions.
        legal: bool [N, 69], with messages [N, 77].
        rng: consumed.
        secret: the error names neither actions nor the messages of the agent's code, because its
            reader may not know the hand.

    Raises:
        AgentError: if its code raises, or its answer is not legal actions.
    """
    if is_trusted(agent) and not secret:
        return agent.act(view, legal, rng)
    with _blamed(agent, "act", secret=secret):
        answer = agent.act(*copied(view, legal), rng)
        actions, wrong = read_actions(answer, legal, f" from {agent.name!r}")
    for row, error in wrong.items():
        if secret:
            raise AgentError(f"expected a legal action from {agent.name!r}, got another one")
        raise AgentError(f"{error} in game {int(view.game[row])}")
    return actions


def ask_probabilities(agent: Policy, view: View, legal: Bool) -> Float:
    """Returns the probability with which an agent takes each action: float64 [N, 69].

    Args:
        agent: an agent with a known policy.
        view: N positions.
        legal: bool [N, 69], with messages [N, 77].

    Raises:
        AgentError: if its code raises, or its answer is not a distribution over the legal actions;
            the error names agent, seat and position.
    """
    if is_trusted(agent):
        return agent.probabilities(view, legal)
    with _blamed(agent, "probabilities"):
        answer = agent.probabilities(*copied(view, legal))
        try:
            return read_probabilities(answer, legal, f" from {agent.name!r}")
        except AnswerError as error:
            where = "" if error.row is None else _position(view, legal, error.row)
            raise AgentError(f"{error}{where}") from error


def agent_plays(agent: Agent, information: InformationStructure) -> bool:
    """Returns whether an agent plays games with these options; an AgentError if its code raises."""
    with _blamed(agent, "plays"):
        return plays(agent, information)


def at_temperature(agent: HasTemperature, temperature: float) -> Policy:
    """Returns an agent's policy at a temperature; an AgentError if its code raises."""
    with _blamed(agent, "at"):
        policy = agent.at(temperature)
    if not isinstance(policy, Policy):
        raise AgentError(f"expected {_name(agent)} to answer at() by a policy, got {policy!r}")
    return policy


def check_consistent(agent: Policy, rules: Rules) -> None:
    """Raises an AgentError unless the answers of an agent depend only on the views.

    Args:
        agent: an agent with a known policy and without a memory.
        rules: the rule set of the 256 fixed views of the test.
    """
    if is_trusted(agent):
        return
    with _blamed(agent, "probabilities"):
        difference = find_inconsistency(agent, rules)
    if difference is not None:
        raise AgentError(f"{agent.name!r} cannot be a model: {difference}")


def ask_beliefs(agent: Agent, view: View) -> Float | None:
    """Returns the beliefs that an agent states, float64 [N, 3, 8]; None: it has no ``beliefs``.

    Raises:
        AgentError: if its code raises, or its answer is not an array of probabilities; the error
            names agent, seat and position.
    """
    if not isinstance(agent, Believes):
        return None
    legal = view.legal()
    with _blamed(agent, "beliefs"):
        beliefs = np.asarray(agent.beliefs(copied(view, legal)[0]))
    shape = (len(view), NUM_SEATS - 1, NUM_KINDS)
    expected = f"expected probabilities from 0 to 1 of shape {shape} from beliefs() of"
    if beliefs.shape != shape or beliefs.dtype.kind not in "fiu":
        raise AgentError(f"{expected} {agent.name!r}, got {describe(beliefs)}")
    # NaN compares as false, so it is outside, too.
    outside = ~(abs(beliefs - 0.5) <= 0.5 + BELIEF_TOLERANCE)
    for row in np.flatnonzero(outside.any(axis=(1, 2))).tolist():
        wrong = beliefs[row][outside[row]][0]
        raise AgentError(f"{expected} {agent.name!r}, got {wrong}{_position(view, legal, row)}")
    return beliefs.astype(np.float64)


def notify(
    agent: StatefulAgent,
    method: Literal["begin", "redeal", "end"],
    *arguments: Any,
    secret: bool = False,
) -> None:
    """Notifies an agent with a memory of a round; an AgentError if its code raises.

    ``secret`` is as for ``ask_actions``.
    """
    with _blamed(agent, method, secret=secret):
        getattr(agent, method)(*arguments)


@contextmanager
def _blamed(agent: object, method: str, *, secret: bool = False) -> Iterator[None]:
    """Turns exceptions in the code of an agent into an AgentError with name, type and place."""
    try:
        yield
    except (AnswerError, KeyboardInterrupt):
        raise
    except BaseException as error:  # an agent may raise whatever it likes
        if isinstance(error, GoitaError) and not secret:
            raise
        cause = raised(error, text=not secret)
        raise AgentError(
            f"expected {_name(agent)} to answer {method}(), but it raised {cause}"
        ) from error


def _name(agent: object) -> str:
    return repr(getattr(agent, "name", agent))


def _position(view: View, legal: Bool, row: int) -> str:
    """Describes the seat and the position of a wrong answer on one line."""
    seat = -int(view.dealer[row]) % NUM_SEATS
    (text,) = position_text(view[row : row + 1], legal[row : row + 1])
    position = "; ".join(text.splitlines())
    return f" at seat {seat} (the dealer is seat 0) in the position: {position}"


# ---------------------------------------------------------------------------- positions of no round


@dataclass(frozen=True)
class Attempt:
    """The actions of an agent in N positions, and its faults."""

    actions: Int  #: [N] The action of each position; 0 where no action is legal.
    answered: Bool  #: [N] Whether the agent chose a legal action.
    faults: tuple[Fault, ...]
    forfeited: bool = False  #: It failed too often, and was not asked about the last positions.

    def policy(self, legal: Bool) -> Float:
        """Returns the probabilities of the actions, float64 [N, 69], uniform without an answer.

        ``legal``: bool [N, 69].
        """
        chances = np.eye(legal.shape[1])[self.actions]
        missing = legal[~self.answered]
        chances[~self.answered] = missing / missing.sum(axis=1, keepdims=True)
        return chances


def attempt_actions(agent: Agent, view: View, legal: Bool, seed: int) -> Attempt:
    """Asks an agent for its actions in positions outside rounds.

    A batch that fails as a whole is tried again position by position, and so is a program.

    Args:
        agent: an agent without a memory, or a program.
        view: N positions.
        legal: bool [N, 69].
        seed: of the agent's random numbers.

    Raises:
        AgentError: if the agent failed so often that it forfeits; the error has the last fault.
    """
    attempt = _attempt_batch(agent, view, legal, seed) or _attempt_rows(agent, view, legal, seed)
    if attempt.forfeited:
        last = attempt.faults[-1]
        raise AgentError(
            f"expected {agent.name!r} to answer, but it forfeits after {len(attempt.faults)} "
            f"faults, the last ({last.kind}): {last.text}"
        )
    return attempt


def _attempt_batch(agent: Agent, view: View, legal: Bool, seed: int) -> Attempt | None:
    """Asks about all positions at once; None where that fails, or for a program."""
    if isinstance(agent, FaultTracking):
        return None
    rng = np.random.default_rng(seed)
    if is_trusted(agent):
        chosen = agent.act(view, legal, rng)
        return Attempt(chosen, answered=np.ones(len(view), bool), faults=())
    try:
        actions, wrong = read_actions(agent.act(*copied(view, legal), rng), legal, "")
    except KeyboardInterrupt:
        raise
    except BaseException:
        return None
    answered = np.ones(len(view), bool)
    answered[list(wrong)] = False
    faults = [
        Fault("illegal", seat=-1, game=-1, text=str(error)[:FAULT_TEXT]) for error in wrong.values()
    ]
    return Attempt(actions, answered, tuple(faults))


def _attempt_rows(agent: Agent, view: View, legal: Bool, seed: int) -> Attempt:
    """Asks about one position after another, until the agent forfeits."""
    rng, tracker = np.random.default_rng(seed), agent
    if not isinstance(tracker, FaultTracking):
        tracker = GuardedAgent(agent.name, lambda: agent, seat=-1, chance=rng)  # in no seat
    actions, answered = np.zeros(len(view), np.int64), np.zeros(len(view), bool)
    for row in range(len(view)):
        if tracker.forfeited:
            break
        before = len(tracker.faults)
        actions[row] = tracker.act(view[row : row + 1], legal[row : row + 1], rng)[0]
        # After a fault the action is a random one, which stands for all legal actions.
        answered[row] = len(tracker.faults) == before
    return Attempt(actions, answered, tuple(tracker.faults), tracker.forfeited)


def fault_lines(name: str, faults: tuple[Fault, ...]) -> list[str]:
    """Returns a line for each kind of fault of an agent: the number and the last fault."""
    counts = Counter(fault.kind for fault in faults)
    last: dict[Kind, str] = {fault.kind: fault.text for fault in faults}
    return [
        f"{name}: {count:,} faults ({kind}), for which any legal action stands; the last: "
        f"{last[kind]}"
        for kind, count in counts.items()
    ]


# ------------------------------------------------------------------------------------------- rounds


class GuardedAgent:
    """An agent that plays one seat of one seating by a user's class.

    The class may raise, exit with ``SystemExit``, answer nonsense or change its arguments: each is
    a recorded fault, and a random legal action is played instead.

    Args:
        name: of the agent.
        build: builds the user's agent.
        seat: the seat that it plays.
        chance: draws the actions that replace missing ones; the class never sees it.
    """

    def __init__(
        self, name: str, build: Callable[[], Agent], seat: int, chance: np.random.Generator
    ) -> None:
        self.name, self.faults, self.forfeited = name, list[Fault](), False
        self.trusted_class = GuardedAgent  # its answers are checked here
        self._seat, self._chance = seat, chance
        self._agent: Any = self._call("__init__", build)
        self.forfeited = self._agent is None
        # Even to look for its methods may run the class's code.
        is_stateful = self._call("begin", lambda: isinstance(self._agent, StatefulAgent))
        self.is_stateful = bool(is_stateful)

    def _notify(self, method: str, *arguments: Any) -> None:
        def notify_agent() -> None:
            if (callback := getattr(self._agent, method, None)) is not None:
                callback(*arguments)

        if self.is_stateful or method == "close":
            self._call(method, notify_agent, arguments[0] if arguments else None)

    begin = partialmethod(_notify, "begin")
    redeal = partialmethod(_notify, "redeal")
    end = partialmethod(_notify, "end")

    def act(self, view: View, legal: Bool, rng: np.random.Generator) -> Int:
        """Returns the class's actions, random legal ones where it fails: int64 [N]."""
        games, agent = view.game.copy(), self._agent
        source = f" from {self.name!r}"
        # Reading an answer may run the class's code, too.
        answer = self._call(
            "act", lambda: read_actions(agent.act(*copied(view, legal), rng), legal, source), games
        )
        if answer is None:
            return self._random(legal)
        actions, wrong = answer
        for row, error in wrong.items():
            self._fault("illegal", int(games[row]), str(error))
        if wrong:
            rows = list(wrong)
            actions[rows] = self._random(legal[rows])
        return actions

    def close(self) -> None:
        self._notify("close")
        self._agent = None

    def forfeit(self) -> None:
        self.forfeited = True

    def _call(self, method: str, work: Callable[[], T], games: Int | None = None) -> T | None:
        """Runs the class's code; returns None after a fault, or if it has forfeited."""
        if self.forfeited:
            return None
        rows = 1 if games is None else len(games)
        first = -1 if games is None or not rows else int(games[0])
        try:
            return work()
        except KeyboardInterrupt:
            raise
        except AnswerError as error:
            self._fault("nonsense", first, str(error))
        except BaseException as error:  # SystemExit among them: a class may not end a tournament
            where = f" for {rows} positions at once, this game the first" if rows > 1 else ""
            self._fault("raised", first, f"{method}{where}: {raised(error)}", _trace(error))
        return None

    def _fault(self, kind: Kind, game: int, text: str, trace: str = "") -> None:
        if len(self.faults) < FAULTS:
            self.faults.append(Fault(kind, self._seat, game, text[:FAULT_TEXT], traceback=trace))
        self.forfeited |= len(self.faults) >= FAULTS

    def _random(self, legal: Bool) -> Int:
        return uniform(legal, self._chance.random(len(legal)))


def _trace(error: BaseException) -> str:
    """Returns the last lines of a traceback, writable as UTF-8; empty if it cannot be shown."""
    try:
        lines = "".join(traceback.format_exception(error, limit=-10))
    except Exception:  # the exception is the user's object, too
        return ""
    return lines[-FAULT_TRACEBACK:].encode("utf-8", "replace").decode()
