"""Analyses recorded deals: what every decision was worth.

For each decision an analysis sets side by side what an agent's policy would do; what its search
makes of every legal action, the others being of types that are inferred
(``goita_agents.search.typed_search``); and what perfect play makes of it with all hands open.
``decisions`` decides which of them were errors.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

from goita_agents.asking import (
    ask_probabilities,
    at_temperature,
    build_agent,
    check_consistent,
)
from goita_agents.base import AgentError, Float, HasTemperature, Policy, is_stateless
from goita_agents.beliefs.match_priors import MatchPriors
from goita_agents.beliefs.people import PEOPLE, people
from goita_agents.identity import Identities
from goita_agents.principles import speaking
from goita_agents.search.playout_budget import check_search
from goita_agents.search.typed_search import TypedSearch
from goita_agents.solver.solver import Solver, load_kernel
from goita_env import Game, View, actions
from goita_env.errors import RecordError
from goita_env.records import DealRecord, from_game
from goita_env.rules import JGA
from goita_lab.pages.watch.decisions import FORMAT, ActionGrade, Decision
from goita_lab.pages.watch.reading import Source
from goita_lab.phases import PHASES, phases_of
from goita_lab.provenance import provenance
from goita_lab.record_files import check_plain
from goita_lab.work import Runner

WORLDS: Final = 1024
"""Worlds that a decision is searched in under each type: a quarter of them for every action, all of
them for the one that was played and the two or more that did best."""

DealDecisions = tuple[Decision, ...]


@dataclass(frozen=True)
class AnalysisSettings:
    """How deals are analysed; results depend on these and on the deal alone."""

    agent: str
    """The agent, as ``load_agent`` takes it; its probabilities must be known."""
    worlds: int = WORLDS
    """Most worlds that a decision is searched in under each type."""
    seed: int = 0
    types: tuple[str, ...] = PEOPLE
    """Policies that the others may play like, as ``load_agent`` takes them."""

    def __post_init__(self) -> None:
        check_search(self.worlds)


@dataclass(frozen=True)
class Analysis:
    """The analysis of the deals of a page."""

    settings: AnalysisSettings
    policy: str
    """The policy whose probabilities are shown, in words."""
    models: tuple[str, ...]
    """How the others may play, in words."""
    deals: tuple[DealDecisions, ...]
    origin: Mapping[str, Any]
    """What ``provenance`` says of the agents."""


def analyse(
    source: Source,
    agent: str,
    *,
    worlds: int = WORLDS,
    seed: int = 0,
    types: tuple[str, ...] = PEOPLE,
    workers: int = 1,
    keep: Path | None = None,
    anew: bool = False,
    progress: Callable[[int, int], object] = lambda *_: None,
) -> Analysis:
    """Analyses the decisions of a record.

    Args:
        source: the record.
        agent: whose policy is shown and searched with.
        worlds: most worlds of a decision under each type.
        seed: of worlds and playouts.
        types: policies that the others may play like; a fallback type is added.
        workers: processes, each a deal at a time; they change no result.
        keep: a file to which each deal is added as it ends. A stopped analysis continues from it.
        anew: begin this file anew, whatever its settings.
        progress: called with the number of deals that are done, and of all.

    Raises:
        AgentError: if the agent cannot analyse, or the others cannot be of a type.
        RecordError: if a deal is not of the base game.
        SettingError: if a number is not above 0, or the file holds something else or is open in
            another program.
        WorkerError: if a process died.
        ImportError: if numba is missing (extra ``goita-env[agents]``).
        OSError: if the file cannot be read or written.
    """
    check_plain((one.deal for one in source.deals), "an analysis")
    settings = AnalysisSettings(agent, worlds, seed, tuple(types))
    identities = Identities((agent, *settings.types))
    analyst = Analyst(settings)
    wanted = {key_of(one.deal, one.earlier): one for one in source.deals}
    priors = MatchPriors(analyst.others)
    todo = {key: (one.deal, priors.after(one.earlier)) for key, one in wanted.items()}
    load_kernel()  # compiled once, not in every process
    runner = Runner(workers, keep, lambda _, done, of: progress(done, of), anew, identities)
    found = runner.run(
        partial(_analysed, settings),
        todo,
        lambda _: DealDecisions,
        {"format": FORMAT, **asdict(settings)},
        agents=lambda _: identities.specs,
    )
    deals = tuple(found[key_of(one.deal, one.earlier)] for one in source.deals)
    models = tuple(one.name for one in analyst.others.opponents)
    return Analysis(settings, analyst.policy, models, deals, provenance(identities))


class Analyst:
    """An analyst of the decisions of one deal, one after another.

    A policy at temperature 0 is sure of every action. Its search plays so; the probabilities that
    are shown are those at temperature 1.
    """

    def __init__(self, settings: AnalysisSettings, priors: Float | None = None) -> None:
        agent = build_agent(settings.agent)
        if not (isinstance(agent, Policy) and is_stateless(agent)):
            raise AgentError(
                "expected an agent with known probabilities and no memory, such as champion, "
                f"heuristic or file:PATH, got {agent.name!r} (of a search bot: its base)"
            )
        check_consistent(agent, JGA)
        self._base: Policy = agent
        self._shown, self.policy = agent, agent.name
        if isinstance(agent, HasTemperature):
            warm = agent.temperature or 1.0
            self._shown = at_temperature(agent, warm)
            self.policy = f"{agent.name} at temperature {warm:g}"
        self._solver, self.others = Solver(), people(settings.types)
        known = MatchPriors(self.others).after(()) if priors is None else priors
        self._search = TypedSearch(agent, self.others, settings.worlds, known)

    def decide(self, game: Game, number: int, seat: int, action: int, seed: int) -> Decision:
        """Returns the analysis of a decision, and plays its action."""
        view, before_play = game.view(seat), action >= actions.CALL
        values = {} if before_play else self._solver.values(game)
        open_value = max(values.values(), default=None)
        valued = self._search.value(view, seat, action, seed) if view.legal().sum() > 1 else None
        points = {one.action: one.points for one in valued.options} if valued else {}
        told = valued and not 0 < valued.loss <= valued.loss_error  # a level choice proves nothing
        principle = speaking(view, points, valued.best, action) if valued and told else None
        chances = ask_probabilities(self._shown, view, view.legal())[0]
        game.play(action)
        graded = [
            ActionGrade(
                action=actions.name(one.action),
                probability=float(chances[one.action]),
                points=one.points,
                error=one.error,
                worlds=one.worlds,
                open=values.get(one.action),
            )
            for one in (valued.options if valued else ())
        ]
        return Decision(
            move=number,
            seat=seat,
            action=actions.name(action),
            phase=PHASES[phases_of(view)[0]],
            options=tuple(graded),
            best=actions.name(valued.best if valued else action),
            loss=valued.loss if valued else 0.0,
            loss_error=valued.loss_error if valued else 0.0,
            rival=actions.name(valued.rival) if valued else "",
            deciding=valued.deciding if valued else (),
            principle=principle.key if principle else "",
            value=self._expected(view),
            open_value=open_value,
            open_loss=0 if open_value is None else open_value - values[action],
        )

    def _expected(self, view: View) -> float | None:
        values = getattr(self._base, "values", None)
        predicts = getattr(self._base, "predicts_points", True)
        return float(values(view)[0]) if values and predicts else None


def analyse_deal(
    deal: DealRecord, settings: AnalysisSettings, priors: Float | None = None
) -> DealDecisions:
    """Analyses every decision of a deal, as far as its moves are legal.

    Answers before play that the record leaves out are decisions: see ``DealRecord.answered``.

    Args:
        deal: the deal.
        settings: how.
        priors: [4, K, J] probabilities of the pairs of types when the round began, as each seat
            knew them (``MatchPriors``); None: those at the beginning of a match.
    """
    analyst = Analyst(settings, priors)
    return tuple(
        analyst.decide(game, number, seat, action, decision_seed(settings.seed, game))
        for number, seat, action, game in _moments(deal)
    )


def key_of(deal: DealRecord, earlier: Sequence[DealRecord] = ()) -> str:
    """Returns a text that deals have in common if they are analysed alike.

    ``earlier``: the rounds of the same match before it.
    """
    told = (deal.rules.to_keys(), deal.hands, deal.dealer, deal.scores, deal.moves)
    before = tuple(key_of(one) for one in earlier)
    return blake2b(
        repr((*told, deal.second_king_first, *before)).encode(), digest_size=12
    ).hexdigest()


def decision_seed(seed: int, game: Game) -> int:
    """Returns the seed of a decision's worlds, from the deal and the moves before the decision.

    Moves after it must not change what the analysis says about it.
    """
    key = key_of(from_game(game).deals[0])
    return int.from_bytes(blake2b(f"{seed} {key}".encode(), digest_size=8).digest(), "little")


def _analysed(settings: AnalysisSettings, work: tuple[DealRecord, Float]) -> DealDecisions:
    deal, priors = work
    return analyse_deal(deal, settings, priors)


def _moments(deal: DealRecord) -> Iterator[tuple[int, int, int, Game]]:
    """Yields number, seat and action of each legal move, and the one game, before the move.

    The caller plays the move. Answers before play that the record leaves out are moves.
    """
    last: deque[Game] = deque(maxlen=1)
    with suppress(RecordError):  # the page says what is wrong
        last.extend(deal.replay())
    moves = last[0].deals[0].moves if last else []
    game = deal.begin()
    for number, move in enumerate(moves, 1):
        yield number, *move, game
