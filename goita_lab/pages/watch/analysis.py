"""Analyses recorded deals: what every decision was worth.

An analysis gives, for each decision, the probabilities of an agent's policy; the points of each
legal action by the agent's search, which infers the types of the other seats
(``goita_agents.search.typed_search``); and the points of each action with perfect play, all hands
open. ``decisions`` decides which decisions were errors.
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

ANALYSIS_WORLDS: Final = 1024
"""Worlds in which a decision is searched under each type: every action in a quarter of the worlds,
the chosen action and the two or more best ones in all of them."""

DealDecisions = tuple[Decision, ...]


@dataclass(frozen=True)
class AnalysisSettings:
    """How deals are analysed; an analysis depends only on these settings and on the deal."""

    agent: str
    """The agent, as ``load_agent`` takes it; its probabilities must be known."""
    worlds: int = ANALYSIS_WORLDS
    """Most worlds in which a decision is searched under each type."""
    seed: int = 0
    types: tuple[str, ...] = PEOPLE
    """Types: policies that the other seats may play by, as ``load_agent`` takes them."""

    def __post_init__(self) -> None:
        check_search(self.worlds)


@dataclass(frozen=True)
class Analysis:
    """The analysis of the deals of a page."""

    settings: AnalysisSettings
    policy: str
    """Description of the policy whose probabilities are shown."""
    models: tuple[str, ...]
    """Descriptions of the types that the other seats may be of."""
    deals: tuple[DealDecisions, ...]
    origin: Mapping[str, Any]
    """What ``provenance`` says of the agents."""
    missing: frozenset[int] = frozenset()
    """Indices of the deals that are not analysed yet. They have no decisions."""


def analyse(
    source: Source,
    agent: str,
    *,
    worlds: int = ANALYSIS_WORLDS,
    seed: int = 0,
    types: tuple[str, ...] = PEOPLE,
    workers: int = 1,
    keep: Path | None = None,
    anew: bool = False,
    progress: Callable[[int, int], object] = lambda *_: None,
    partial_analysis: Callable[[Analysis], object] | None = None,
) -> Analysis:
    """Analyses the decisions of a record.

    Args:
        source: the record.
        agent: the agent whose policy is shown and used by the search.
        worlds: most worlds of a decision under each type.
        seed: of worlds and playouts.
        types: policies that the other seats may play by; a fallback type is added.
        workers: processes, each of which analyses a deal at a time; their number changes no result.
        keep: a file to which each analysed deal is added. A stopped analysis continues from it.
        anew: begin this file anew, whatever its settings.
        progress: called with the number of analysed deals, and the number of all deals.
        partial_analysis: called with the analysis so far when a deal is analysed and others are
            missing.

    Raises:
        AgentError: if the agent cannot analyse, or the others cannot be of a type.
        RecordError: if a deal is not of the base game.
        SettingError: if a number is not above 0, or the file holds something else or is open in
            another program.
        WorkerError: if a process died.
        ImportError: if numba is missing (extra ``goita-env[agents]``).
        OSError: if the file cannot be read or written.
    """
    check_plain((watched.deal for watched in source.deals), "an analysis")
    settings = AnalysisSettings(agent, worlds, seed, tuple(types))
    identities = Identities((agent, *settings.types))
    analyst = Analyst(settings)
    keys = [key_of(watched.deal, watched.earlier) for watched in source.deals]
    priors = MatchPriors(analyst.others)
    # Deals with the same key, which are analysed alike, are one task.
    tasks = {
        key: (watched.deal, priors.after(watched.earlier))
        for key, watched in dict(zip(keys, source.deals, strict=True)).items()
    }
    load_kernel()  # compiled once, not in every process
    models = tuple(model.name for model in analyst.others.opponents)

    def analysis_of(decisions: Mapping[str, DealDecisions]) -> Analysis:
        return Analysis(
            settings,
            analyst.policy,
            models,
            deals=tuple(decisions.get(key, ()) for key in keys),
            origin=provenance(identities),
            missing=frozenset(index for index, key in enumerate(keys) if key not in decisions),
        )

    finished_deals: dict[str, DealDecisions] = {}

    def finished(key: str, decisions: DealDecisions) -> None:
        finished_deals[key] = decisions
        if partial_analysis is not None and len(finished_deals) < len(tasks):
            partial_analysis(analysis_of(finished_deals))

    runner = Runner(workers, keep, lambda _, deals, total: progress(deals, total), anew, identities)
    decisions = runner.run(
        partial(_analysed, settings),
        tasks,
        lambda _: DealDecisions,
        {"format": FORMAT, **asdict(settings)},
        agents=lambda _: identities.specs,
        finished=finished,
    )
    return analysis_of(decisions)


class Analyst:
    """An analyst of the decisions of one deal, one after another.

    A policy at temperature 0 gives one action the probability 1. The search plays so; the
    probabilities that are shown are those at temperature 1.
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
        priors = MatchPriors(self.others).after(()) if priors is None else priors
        self._search = TypedSearch(agent, self.others, settings.worlds, priors)

    def decide(self, game: Game, move: int, seat: int, action: int, seed: int) -> Decision:
        """Returns the analysis of the deal's ``move``-th decision, and plays its action."""
        view, before_play = game.view(seat), action >= actions.CALL
        values = {} if before_play else self._solver.values(game)
        open_value = max(values.values(), default=None)
        valued = self._search.value(view, seat, action, seed) if view.legal().sum() > 1 else None
        principle = None
        # A loss within one standard error ("level") is no evidence for or against a principle.
        if valued and not 0 < valued.loss <= valued.loss_error:
            points = {option.action: option.points for option in valued.options}
            principle = speaking(view, points, valued.best, action)
        chances = ask_probabilities(self._shown, view, view.legal())[0]
        game.play(action)
        grades = [
            ActionGrade(
                action=actions.name(option.action),
                probability=float(chances[option.action]),
                points=option.points,
                error=option.error,
                worlds=option.worlds,
                open=values.get(option.action),
            )
            for option in (valued.options if valued else ())
        ]
        return Decision(
            move=move,
            seat=seat,
            action=actions.name(action),
            phase=PHASES[phases_of(view)[0]],
            options=tuple(grades),
            best=actions.name(valued.best if valued else action),
            loss=valued.loss if valued else 0.0,
            loss_error=valued.loss_error if valued else 0.0,
            rival=actions.name(valued.rival) if valued else "",
            deciding=valued.compared_with(valued.rival).deciding if valued else (),
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
    """Analyses every decision of a deal up to its first illegal move.

    Answers before play that the record leaves out are decisions: see ``DealRecord.answered``.

    Args:
        deal: the deal.
        settings: how it is analysed.
        priors: [4, K, J] each seat's probabilities of the pairs of types when the round began
            (``MatchPriors``); None: those at the beginning of a match.
    """
    analyst = Analyst(settings, priors)
    return tuple(
        analyst.decide(game, move, seat, action, decision_seed(settings.seed, game))
        for move, seat, action, game in _moves(deal)
    )


def key_of(deal: DealRecord, earlier: Sequence[DealRecord] = ()) -> str:
    """Returns a digest of all that the analysis of a deal depends on.

    ``earlier``: the rounds of the same match before it.
    """
    play = (deal.rules.to_keys(), deal.hands, deal.dealer, deal.scores, deal.moves)
    text = repr((*play, deal.second_king_first, *map(key_of, earlier)))
    return blake2b(text.encode(), digest_size=12).hexdigest()


def decision_seed(seed: int, game: Game) -> int:
    """Returns the seed of a decision's worlds, from the deal and the moves before the decision.

    Later moves must not change what the analysis says about the decision.
    """
    key = key_of(from_game(game).deals[0])
    return int.from_bytes(blake2b(f"{seed} {key}".encode(), digest_size=8).digest(), "little")


def _analysed(settings: AnalysisSettings, task: tuple[DealRecord, Float]) -> DealDecisions:
    deal, priors = task
    return analyse_deal(deal, settings, priors)


def _moves(deal: DealRecord) -> Iterator[tuple[int, int, int, Game]]:
    """Yields each legal move: its number from 1, its seat and action, and the game before it.

    The game is the same object each time, and the caller plays the move. Answers before play that
    the record leaves out are moves.
    """
    # The whole replay, of which the queue keeps the last position: its game lists all legal moves.
    last: deque[Game] = deque(maxlen=1)
    with suppress(RecordError):  # the page says what is wrong
        last.extend(deal.replay())
    moves = last[0].deals[0].moves if last else []
    game = deal.begin()
    for index, (seat, action) in enumerate(moves, 1):
        yield index, seat, action, game
