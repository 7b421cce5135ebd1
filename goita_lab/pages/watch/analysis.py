"""Analyses recorded deals: what every decision was worth, and what it told the others.

For each decision an analysis sets side by side what an agent's policy would do; what its search
makes of every legal action under every type (``goita_agents.search.typed_search``); what perfect
play makes of it with all hands open; and what the other seats could infer of the mover's hand
before and after. ``goita_lab.pages.watch.verdicts`` decides which decisions were errors.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext, suppress
from dataclasses import asdict, dataclass
from functools import partial
from hashlib import blake2b
from pathlib import Path

from goita_agents.base import Float
from goita_agents.beliefs.people import PEOPLE
from goita_agents.registry import content_hash
from goita_agents.search.match_priors import MatchPriors
from goita_agents.solver.solver import load_kernel
from goita_env import Game, __version__
from goita_env.errors import RecordError, SettingError
from goita_env.records import DealRecord
from goita_lab.pages.watch.analyst import WORLDS, AnalysisSettings, Analyst, TypeInfo
from goita_lab.pages.watch.decisions import Decision
from goita_lab.pages.watch.reading import Source
from goita_lab.record_files import check_plain
from goita_lab.store import Parts, pack
from goita_lab.work import on_workers

DealDecisions = tuple[Decision, ...]


@dataclass(frozen=True)
class Analysis:
    """The analysis of the deals of a page."""

    settings: AnalysisSettings
    policy: str
    """The policy whose probabilities are shown, in words."""
    mover_model: str
    """The model of the mover by which the others infer its hand, in words."""
    types: tuple[TypeInfo, ...]
    deals: tuple[DealDecisions, ...]


def analyse(
    source: Source,
    agent: str,
    *,
    worlds: int = WORLDS,
    seed: int = 0,
    types: tuple[str, ...] = PEOPLE,
    workers: int = 1,
    keep: Path | None = None,
    progress: Callable[[int, int], object] = lambda *_: None,
) -> Analysis:
    """Analyses the decisions of a record.

    Args:
        source: the record.
        agent: whose policy is shown, searched with and inferred with.
        worlds: most worlds of a decision under each type.
        seed: of worlds and playouts.
        types: policies that the others may play like; a fallback type is added.
        workers: processes, each a deal at a time; they change no result.
        keep: a file to which each deal is added as it ends. A stopped analysis with the same
            settings continues from it; with other settings it is begun anew.
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
    if workers < 1:
        raise SettingError(f"expected 1 worker or more, got {workers!r}")
    check_plain((one.deal for one in source.deals), "an analysis")
    settings = AnalysisSettings(agent, worlds, seed, tuple(types))
    analyst = Analyst(settings)
    wanted = {key_of(one.deal, one.earlier): one for one in source.deals}
    # All that parts must have in common to be of one analysis.
    files = [content_hash(text) for text in (agent, *settings.types)]
    arguments = {"version": __version__, **asdict(settings), "files": files}
    kind = "parts of an analysis"
    with Parts(keep, kind, arguments) if keep is not None else nullcontext() as parts:
        kept = parts.found.keys() & wanted.keys() if parts else set()
        found = {key: parts.value(key, DealDecisions) for key in kept} if parts else {}
        known = MatchPriors(analyst.others)
        missing = [
            (key, one.deal, known.after(one.earlier))
            for key, one in wanted.items()
            if key not in found
        ]
        progress(len(found), len(wanted))
        if missing:
            load_kernel()  # compiled once, not in every process
        work = partial(_keyed, settings)
        for key, decisions in on_workers(work, missing, workers):
            found[key] = decisions
            if parts is not None:
                parts.add(key, pack(decisions))
            progress(len(found), len(wanted))
    deals = tuple(found[key_of(one.deal, one.earlier)] for one in source.deals)
    return Analysis(settings, analyst.policy, analyst.mover_model, analyst.types, deals)


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
    analyst, key = Analyst(settings, priors), key_of(deal)
    return tuple(
        analyst.decide(game, number, seat, action, decision_seed(settings.seed, key, number))
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


def decision_seed(seed: int, key: str, move: int) -> int:
    """Returns the seed of a decision's worlds."""
    digest = blake2b(f"{seed} {key} {move}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little")


def _keyed(
    settings: AnalysisSettings, work: tuple[str, DealRecord, Float]
) -> tuple[str, DealDecisions]:
    key, deal, priors = work
    return key, analyse_deal(deal, settings, priors)


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
