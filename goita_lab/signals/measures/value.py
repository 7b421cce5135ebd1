"""Measures in points the value of listening for a seat that searches by its belief.

Information in actions need not change what others do (Lowe et al., arXiv:1903.05168). The
intervention is on the listener's model, not on the speaker's action, for in Goita an action is also
a move.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product, starmap
from math import factorial
from typing import Final, Self

import numpy as np

from goita_agents.base import Float, Int, Policy
from goita_agents.beliefs import DealBelief, OpponentModel
from goita_agents.search.action_values import MAX_UNSEEN_TILES, SEARCH_MIN_Z, SEARCH_WORLDS
from goita_env import seeds
from goita_env.errors import SettingError
from goita_env.rounds import NewDeals, PendingDecisions, Rounds
from goita_env.rules import JGA, Rules
from goita_env.tiles import NUM_KINDS, NUM_SEATS, RELATIVE_SEATS
from goita_lab.arena.statistics.intervals import Interval, mean_interval
from goita_lab.signals.listening import LEGAL, POLICY, UNIFORM
from goita_lab.signals.measures.information_gain import ratio_of_means
from goita_lab.signals.playing import concatenated, load_policy
from goita_lab.signals.searching import (
    SHOWN,
    BeliefCache,
    BeliefSearch,
    InformationSources,
    mixed,
    play_searching,
)
from goita_lab.store import MOST_POINTS, Column

ALL_SEATS: Final = InformationSources(POLICY, POLICY, POLICY)
"""Listens to all three other seats."""
NO_SEAT: Final = InformationSources(UNIFORM, UNIFORM, UNIFORM)
"""Listens to no seat: all others act uniformly at random."""
LEGAL_ONLY: Final = InformationSources(LEGAL, LEGAL, LEGAL)
"""Listens to no seat: an action reveals only that it was legal."""
ONLY_PARTNER: Final = InformationSources(UNIFORM, POLICY, UNIFORM)
NOT_PARTNER: Final = InformationSources(POLICY, UNIFORM, POLICY)
PARTNER_SHOWN: Final = InformationSources(POLICY, SHOWN, POLICY)
"""Knows the partner's hand and listens to the opponents."""
ALL_SHOWN: Final = InformationSources(SHOWN, SHOWN, SHOWN)

DEAF: Final = tuple(
    replace(sources, deaf_opponents=True) for sources in (ALL_SEATS, NOT_PARTNER, NO_SEAT)
)
"""Sources against opponents that search and listen to no seat."""

SUBSETS: Final = tuple(starmap(InformationSources, product((UNIFORM, POLICY), repeat=3)))
"""Listening to each subset of the other seats."""
SOURCES: Final = (*SUBSETS, LEGAL_ONLY, PARTNER_SHOWN, ALL_SHOWN, *DEAF)
"""All sources that the measures compare."""


@dataclass(frozen=True)
class SourcePoints:
    """The points of a listener's team by its sources of information, on the same deals."""

    policy: str
    """Policy of the other three seats, and of the playouts."""
    models: Mapping[str, str]
    """What each model assumes."""
    worlds: int
    """Worlds a decision."""
    sources: tuple[InformationSources, ...]
    points: Float
    """[S, n] Points of the listener's team minus those of the other, deal by deal."""
    unsearched: Float
    """[n] The same where the listener plays the policy itself."""

    def columns(self) -> dict[str, Column]:
        """Returns the types, shapes and bounds that stored points have."""
        bound = -MOST_POINTS, MOST_POINTS
        rows = Column("f", (len(self.sources), "n"), *bound)
        return {"points": rows, "unsearched": Column("f", ("n",), *bound)}

    @classmethod
    def join(cls, parts: Sequence[Self]) -> Self:
        points = np.concatenate([part.points for part in parts], axis=1)
        return replace(parts[0], points=points, **concatenated(parts, ["unsearched"]))

    def of(self, sources: InformationSources) -> Float:
        """Returns the points with the given sources: [n]."""
        if sources not in self.sources:
            raise SettingError(f"expected sources of {list(self.sources)}, got {sources!r}")
        return np.asarray(self.points[self.sources.index(sources)])

    def gain(self, sources: InformationSources, over: InformationSources | None) -> Interval:
        """Returns the points a round that sources gain over other sources; None: over no search."""
        lower = self.unsearched if over is None else self.of(over)
        return mean_interval(self.of(sources) - lower)


def play_listening(
    policy: str | Policy,
    models: Mapping[str, OpponentModel],
    deals: int,
    *,
    sources: Sequence[InformationSources] = SOURCES,
    seed: int = 0,
    rules: str | Rules = JGA,
    worlds: int = SEARCH_WORLDS,
    min_z: float = SEARCH_MIN_Z,
    first: int = 0,
) -> SourcePoints:
    """Plays the same deals with each of ``sources``: one seat searches, three play the policy.

    The search is the champion's by default: of decisions with up to ``MAX_UNSEEN_TILES``, in worlds
    of the exact belief, with the policy at all seats of the playouts; the policy's action
    is replaced if another action leads it by ``min_z`` standard errors. Sources share deals and
    random numbers.
    The listener of deal d, from ``first`` on, sits at seat d modulo 4.

    Raises:
        AgentError: if ``load_policy`` refuses the policy.
        SettingError: if a source names no model, or a number is impossible.
    """
    names = [*models, SHOWN]
    if unknown := [name for source in sources for name in source.names if name not in names]:
        raise SettingError(f"expected a source of {names}, got {unknown[0]!r}")
    if deals < 2 or worlds < 1:
        raise SettingError(f"expected 2 deals and a world at least, got {deals} and {worlds}")
    player = load_policy(policy)
    # The deals come once for each source, and a last time without a search.
    deal = np.tile(first + np.arange(deals), len(sources) + 1)
    games = np.arange(len(deal))
    rounds = Rounds(len(deal), rules=rules, seed=seed, games=deal, numbers=games, finals=False)
    keys = seeds.mix(~seeds.game_keys(seed, deal))
    beliefs = _SourceBeliefs(models, sources, deal)
    game_points = play_searching(rounds, BeliefSearch(player, worlds, min_z), keys, beliefs)
    # The listener of an odd deal sits at seat 1 or 3; the points are those of seats 0 and 2.
    by_source = (game_points * np.where(deal % 2 == 0, 1, -1)).reshape(-1, deals)
    points, unsearched = by_source[:-1], by_source[-1]
    model_names = {name: model.name for name, model in models.items()}
    return SourcePoints(player.name, model_names, worlds, tuple(sources), points, unsearched)


class _SourceBeliefs:
    """The listeners' beliefs: game s * n + i plays deal i with source s, the last n games none."""

    def __init__(
        self,
        models: Mapping[str, OpponentModel],
        sources: Sequence[InformationSources],
        deal: Int,
    ) -> None:
        self.sources, self.deal = sources, deal
        self.deals = len(np.unique(deal))
        self.caches: defaultdict[tuple[int, int], BeliefCache]
        """By deal and relative seat."""
        self.caches = defaultdict(lambda: BeliefCache(models))
        self.hands = np.zeros((len(deal), NUM_SEATS, NUM_KINDS), np.int64)
        """[games, 4, 8] Tiles dealt, relative to the listener."""

    def __call__(self, decisions: PendingDecisions) -> tuple[Int, list[DealBelief]]:
        """Returns the decisions that are searched, and the acting seats' beliefs there."""
        if decisions.dealt is not None:
            self._note_hands(decisions.dealt)
        rows = decisions.rows
        source, turn = rows // self.deals, (decisions.seats - self.deal[rows]) % NUM_SEATS
        searched = self._searched(decisions, source, turn)
        beliefs: dict[int, DealBelief] = {}
        # All games in which the same seat of the same deal acts now share its listeners.
        seats = NUM_SEATS * self.deal[rows] + turn
        for seat in np.unique(seats[searched]).tolist():
            indices = searched[seats[searched] == seat].tolist()
            views = [decisions.view[index : index + 1] for index in indices]
            # Only the listener (turn 0) has sources; deaf opponents that search have none.
            sources = [NO_SEAT if turn[index] else self.sources[source[index]] for index in indices]
            names = [{UNIFORM, *choice.names} - {SHOWN} for choice in sources]
            by_model = self.caches[divmod(seat, NUM_SEATS)].beliefs(views, names)
            for index, belief, choice in zip(indices, by_model, sources, strict=True):
                beliefs[index] = mixed(belief, choice, self.hands[rows[index]])
        return searched, [beliefs[index] for index in searched.tolist()]

    def _note_hands(self, dealt: NewDeals) -> None:
        # The listener of deal d sits at seat d modulo 4, and its hand comes first.
        seats = (self.deal[dealt.rows][:, None] + np.arange(NUM_SEATS)) % NUM_SEATS
        self.hands[dealt.rows] = dealt.hands[np.arange(len(dealt.rows))[:, None], seats]

    def _searched(self, decisions: PendingDecisions, source: Int, turn: Int) -> Int:
        """Returns the indices of the searched decisions: of listeners, and of deaf opponents.

        ``source`` and ``turn`` are by decision: the index of the game's source of information, and
        the acting seat relative to the listener.
        """
        # The games without a source have the index after the last one.
        deaf = np.array([*(choice.deaf_opponents for choice in self.sources), False])[source]
        of_listener, of_opponents = (turn == 0) & (source < len(self.sources)), turn % 2 == 1
        searched = of_listener | (deaf & of_opponents)
        if searched.any():
            view = decisions.view
            searched &= ~(view.asked_call | view.asked_choice)
            searched &= view.unseen.sum(axis=1) <= MAX_UNSEEN_TILES
        return np.flatnonzero(searched)


@dataclass(frozen=True)
class SearchGain:
    """Points a round that each step from the policy to a search that listens adds."""

    policy: Interval
    """Points of the listener's team without search: its luck on these deals."""
    uniform: Interval
    """Search that listens to no seat (``NO_SEAT``), over the policy."""
    legal: Interval
    """Search that listens to no seat (``LEGAL_ONLY``), over the policy."""
    listening: Interval
    """Search that listens to all, over the policy."""
    over_uniform: Interval
    """The same over ``NO_SEAT``."""
    over_legal: Interval
    """The same over ``LEGAL_ONLY``."""

    def figures(self) -> dict[str, Interval | None]:
        """Returns the figures that have intervals, by name."""
        return dict(vars(self))


def search_gain(values: SourcePoints) -> SearchGain:
    """Measures each step from the policy without search to a search that listens, in points.

    A search without listening, ``NO_SEAT`` or ``LEGAL_ONLY``, may lose points against the policy.
    """
    over_policy = (values.gain(sources, None) for sources in (NO_SEAT, LEGAL_ONLY, ALL_SEATS))
    over = (values.gain(ALL_SEATS, sources) for sources in (NO_SEAT, LEGAL_ONLY))
    return SearchGain(mean_interval(values.unsearched), *over_policy, *over)


@dataclass(frozen=True)
class ListeningValue:
    """The value of listening, in points a round; the three Shapley shares sum to ``total``."""

    total: Interval
    partner: Interval
    total_deaf: Interval
    """``total`` against opponents that search and listen to no seat (``DEAF``)."""
    partner_deaf: Interval
    """``partner`` against such opponents."""
    shapley_next: Interval
    shapley_partner: Interval
    shapley_previous: Interval

    def figures(self) -> dict[str, Interval | None]:
        """Returns the figures that have intervals, by name."""
        return dict(vars(self))


def value_of_listening(values: SourcePoints) -> ListeningValue:
    """Measures what listening to all others, and to each of them, is worth, in points a round.

        V(S) = E[points | the listener plays D(b^S)],
        b^S ~ prior * product over p in S of Lambda_p^policy * product over the rest of Lambda_p^0
        total = V(all) - V(none),   partner = V(all) - V(all but the partner)
        phi_p = sum over S without p of |S|! (2 - |S|)! / 3! * [V(S + p) - V(S)]

    The opponents play the policy; for ``total_deaf`` and ``partner_deaf`` the opponents search by
    b^none. phi is Shapley's split (1953) of the total over next, partner and previous. V(none)
    models the others as uniformly random players; ``search_gain`` has a second baseline.
    """
    shares = dict.fromkeys(RELATIVE_SEATS, 0.0 * values.unsearched)
    for without, seat in product(SUBSETS, RELATIVE_SEATS):
        if getattr(without, seat) == UNIFORM:
            names = [
                POLICY if other == seat else getattr(without, other) for other in RELATIVE_SEATS
            ]
            size, subset = without.names.count(POLICY), InformationSources(*names)
            weight = factorial(size) * factorial(2 - size) / factorial(3)
            shares[seat] = shares[seat] + weight * (values.of(subset) - values.of(without))
    phi = (mean_interval(share) for share in shares.values())
    everyone, no_partner, nobody = DEAF
    return ListeningValue(
        values.gain(ALL_SEATS, NO_SEAT),
        values.gain(ALL_SEATS, NOT_PARTNER),
        values.gain(everyone, nobody),
        values.gain(everyone, no_partner),
        *phi,
    )


@dataclass(frozen=True)
class OracleGain:
    """Points a round that knowing hands adds to a search that listens to all."""

    partner_shown: Interval
    all_shown: Interval
    efficiency: Interval | None
    """Value of listening to the partner over the value of seeing its hand.

    None where the interval of the value of seeing its hand includes 0."""

    def figures(self) -> dict[str, Interval | None]:
        """Returns the figures that have intervals, by name."""
        return dict(vars(self))


def oracle_gain(values: SourcePoints) -> OracleGain:
    """Measures what knowing the true hands would add to listening, in points a round.

        V(partner shown) - V(all),   V(all shown) - V(all)

    This bounds what more information could gain a search against the same play; no agent is
    trained again. The efficiency is the ratio of means
    (V(all) - V(not partner)) / (V(partner shown) - V(not partner)).
    """
    seeing = values.of(PARTNER_SHOWN) - values.of(NOT_PARTNER)
    listening = values.of(ALL_SEATS) - values.of(NOT_PARTNER)
    efficiency = None
    if mean_interval(seeing).low > 0:
        efficiency = ratio_of_means(listening, seeing, mean_interval)
    return OracleGain(
        values.gain(PARTNER_SHOWN, ALL_SEATS), values.gain(ALL_SHOWN, ALL_SEATS), efficiency
    )


def opponent_information_cost(values: SourcePoints) -> Interval:
    """Measures what one listening opponent costs the speakers' team, in points a round.

    V(partner only) - V(all) of a listener against the speakers; negative where being overheard
    costs points. The net value of being read is ``ListeningValue.partner`` plus this.
    """
    return values.gain(ONLY_PARTNER, ALL_SEATS)


def model_mismatch_cost(values: SourcePoints, model: str) -> Interval:
    """Measures what a wrong model of the partner costs, in points a round.

    V(partner by this model) - V(partner uniform), with the right model of the opponents in both. If
    it is below 0, it is better not to listen to the partner (placebo of Lowe et al.,
    arXiv:1903.05168).
    """
    return values.gain(InformationSources(POLICY, model, POLICY), NOT_PARTNER)
