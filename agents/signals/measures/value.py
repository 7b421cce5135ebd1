"""Measures in points what listening is worth, on a listener that plays what it believes.

Bits are diagnostics, points are the result: an agent may tell a lot that changes nothing (Lowe et
al., arXiv:1903.05168). The intervention is on the listener's decoder, not on the speaker's move,
for in Goita an action is also a move.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import factorial
from typing import Final, Self

import numpy as np

from agents.base import Float, Int, Policy
from agents.beliefs import Assumption
from agents.search.playout import Keys, Player
from agents.search.rollout import CAUTION
from agents.signals.deciding import SHOWN, Ear, Hearing, check_sources, decide, mixed
from agents.signals.measures.estimates import differences
from agents.signals.playing import load_policy
from agents.statistics.intervals import Interval, mean_interval
from goita_env import View, seeds
from goita_env.errors import SettingError
from goita_env.rounds import Rounds, Tick
from goita_env.rules import JGA, Rules
from goita_env.tiles import NUM_SEATS
from goita_env.worlds import Worlds

SOURCES: Final = ("next", "partner", "previous")
"""Sources that a listener may listen to: the partner, and the opponents after and before it."""


def _lattice() -> tuple[Ear, ...]:
    """Returns an ear for each set of sources; the others are grounded."""
    sets = [some for many in range(4) for some in combinations(SOURCES, many)]
    return tuple(Ear("+".join(some) or "none", **dict.fromkeys(some, "policy")) for some in sets)


LATTICE: Final = _lattice()
"""The eight sets of sources: "none", "next", "partner", ... "next+partner+previous"."""

ALL: Final = LATTICE[-1].name
NOT_PARTNER: Final = "next+previous"

CEILINGS: Final = (
    Ear("partner shown", "policy", SHOWN, "policy"),
    Ear("all shown", SHOWN, SHOWN, SHOWN),
)
"""Ears that are handed hands: the partner's; those of both opponents, which leave one for it."""

HARD_FACTS: Final = "hard facts"
"""Name of the decoder for which an action says no more than that it was legal."""

DEAF_BY_FACTS: Final = Ear("deaf, hard facts", HARD_FACTS, HARD_FACTS, HARD_FACTS)
"""Takes nothing from what others chose; "none" still takes them for uniformly random players."""

BLUEPRINT: Final = "blueprint"
"""In place of an ear: the policy's own choice, unsearched."""


@dataclass(frozen=True)
class Values:
    """Holds the points of a listener's team with each ear, on the same deals."""

    policy: str
    """The policy of the three others, by which rounds are played out, too."""
    decoders: Mapping[str, str]
    """What each decoder assumes."""
    worlds: int
    """Worlds of a decision."""
    points: Mapping[str, Float]
    """[n] By ear: points of the listener's team minus those of the other, deal by deal."""

    @classmethod
    def join(cls, parts: Sequence[Self]) -> Self:
        """Returns what was played in several parts as one."""
        points = {
            ear: np.concatenate([part.points[ear] for part in parts]) for ear in parts[0].points
        }
        return replace(parts[0], points=points)

    def of(self, ear: str) -> Float:
        """Returns the points with an ear: [n].

        Raises:
            SettingError: if it was not played.
        """
        if ear not in self.points:
            raise SettingError(f"expected an ear of {list(self.points)}, got {ear!r}")
        return self.points[ear]

    def gain(self, ear: str, over: str) -> Interval:
        """Returns what one ear gains over another in points a round, deal by deal."""
        return differences(self.of(ear), self.of(over))


def play_listening(
    policy: str | Policy,
    decoders: Mapping[str, Assumption],
    deals: int,
    *,
    ears: Sequence[Ear] = (*LATTICE, *CEILINGS),
    seed: int = 0,
    rules: str | Rules = JGA,
    worlds: int = 32,
    caution: float = CAUTION,
    first: int = 0,
) -> Values:
    """Plays the same deals with each ear: one seat listens and searches, three play the policy.

    The listener's seat changes from deal to deal. Each of its decisions is played out in worlds
    drawn from its exact belief, by the policy at all seats, and the best average is played (the
    policy's own choice unless another is better by ``caution`` standard errors). All ears share
    deals and random numbers, so where two decide alike their difference is 0.

    Args:
        policy: of the three others.
        decoders: what a decoder assumes of the others, by name: "policy", "rules" and more.
        deals: how many.
        ears: what the listener makes of the others; the policy's own choice is played beside them.
        seed: of deals and random numbers.
        rules: a rule set or its name.
        worlds: of a decision.
        caution: as above.
        first: number of the first deal; the listener of deal d sits at seat d modulo 4.

    Raises:
        AgentError: if the policy is none.
        SettingError: if an ear names no decoder, or a number is impossible.
    """
    for ear in ears:
        check_sources(ear, decoders)
    if deals < 2 or worlds < 1:
        raise SettingError(f"expected 2 deals and a world at least, got {deals} and {worlds}")
    numbers = first + np.arange(deals)
    known = load_policy(policy)
    return _Listening(known, decoders, numbers, ears, seed, rules, worlds, caution).play()


class _Listening:
    """Plays every deal with every ear, side by side: game e * n + d is deal d with ear e."""

    def __init__(
        self,
        policy: Policy,
        decoders: Mapping[str, Assumption],
        numbers: Int,
        ears: Sequence[Ear],
        seed: int,
        rules: str | Rules,
        worlds: int,
        caution: float,
    ) -> None:
        self.policy, self.player, self.decoders = policy, Player(policy), decoders
        self.deals, self.ears = len(numbers), ears
        self.worlds, self.caution = worlds, caution
        many = (len(ears) + 1) * self.deals
        self.deal = np.tile(numbers, len(ears) + 1)
        self.rounds = Rounds(
            many, rules=rules, seed=seed, games=self.deal, numbers=np.arange(many), finals=False
        )
        self.keys = seeds.mix(~seeds.game_keys(seed, self.deal))
        self.hands = np.zeros((many, NUM_SEATS, 8), np.int64)
        self.hearing = {deal: Hearing(decoders) for deal in numbers.tolist()}

    def play(self) -> Values:
        """Plays to the end."""
        points = np.zeros(len(self.deal))
        self._note(self.rounds.tick)
        while not self.rounds.over:
            tick = self.rounds.tick
            tick = self.rounds.step(self._choose(tick) if len(tick.rows) else tick.rows)
            self._note(tick)
            if tick.ended is not None:
                rows = tick.ended.rows
                won = (tick.ended.winner - self.deal[rows]) % 2 == 0
                points[rows] = np.where(won, tick.ended.points, -tick.ended.points)
        names = [*(ear.name for ear in self.ears), BLUEPRINT]
        return Values(
            self.policy.name,
            {name: decoder.name for name, decoder in self.decoders.items()},
            self.worlds,
            dict(zip(names, points.reshape(len(names), self.deals), strict=True)),
        )

    def _note(self, tick: Tick) -> None:
        """Takes notice of new deals; the listener is seat deal modulo 4."""
        if tick.dealt is not None:
            rows = tick.dealt.rows
            turned = (self.deal[rows][:, None] + np.arange(NUM_SEATS)) % NUM_SEATS
            self.hands[rows] = tick.dealt.hands[np.arange(len(rows))[:, None], turned]

    def _choose(self, tick: Tick) -> Int:
        """Returns an action in each asked row."""
        view, legal, rows = tick.view, tick.legal, tick.rows
        time = self.rounds.time
        owners = np.arange(len(rows))
        chosen = self.player.choose(view, legal, self.keys[rows], owners, time)
        question = view.asked_call | view.asked_choice
        listens = (tick.seats == self.deal[rows] % NUM_SEATS) & ~question
        listens &= rows < len(self.ears) * self.deals
        mine = np.flatnonzero(listens)
        if len(mine):
            keys = seeds.deal_keys(self.keys[rows[mine]], np.full(len(mine), time), 1)
            worlds = self._draw(view[mine], rows[mine], keys)
            chosen[mine] = decide(
                self.player, view[mine], legal[mine], chosen[mine], worlds, keys, self.caution
            )
        return chosen

    def _draw(self, view: View, rows: Int, keys: Keys) -> list[Worlds]:
        """Returns worlds of each row from the belief of its ear."""
        ears = [self.ears[row // self.deals] for row in rows.tolist()]
        names = [{"rules", *ear.sources} - {SHOWN} for ear in ears]
        found: list[Worlds | None] = [None] * len(rows)
        deal = self.deal[rows]
        for one in np.unique(deal).tolist():
            here = np.flatnonzero(deal == one).tolist()
            beliefs = self.hearing[one].beliefs(
                [view[row : row + 1] for row in here], [names[row] for row in here]
            )
            for row, belief in zip(here, beliefs, strict=True):
                rng = np.random.default_rng(int(keys[row]))
                hands = self.hands[rows[row]]
                found[row] = mixed(belief, ears[row], hands).sample(self.worlds, rng)
        return [worlds for worlds in found if worlds is not None]


def levels(values: Values) -> dict[str, Interval]:
    """Says what each step from the policy alone to a search that listens adds, in points a round.

    A search that does not listen still needs some belief. Two baselines stand for it: the others
    are taken for uniformly random players (``GROUNDED``), or what they did was legal and no more
    (``FACTS``). Either may lose points against the policy alone, which listening then makes up for.

    Args:
        values: played with ``LATTICE`` and ``DEAF_BY_FACTS``.

    Returns:
        "policy alone", the points of the listener's team without search (its luck on these deals);
        over that "deaf, uniform player", "deaf, hard facts" and "listening"; and what listening
        adds to either deaf search, "listening over uniform player" and "listening over hard facts".

    Raises:
        SettingError: if an ear was not played.
    """
    return {
        "policy alone": mean_interval(values.of(BLUEPRINT)),
        "deaf, uniform player": values.gain("none", BLUEPRINT),
        "deaf, hard facts": values.gain(DEAF_BY_FACTS.name, BLUEPRINT),
        "listening": values.gain(ALL, BLUEPRINT),
        "listening over uniform player": values.gain(ALL, "none"),
        "listening over hard facts": values.gain(ALL, DEAF_BY_FACTS.name),
    }


def value_of_listening(values: Values) -> dict[str, Interval]:
    """Says what listening is worth, and to whom, in points a round (M3).

        V(S) = E[points | the listener plays D(b^S)],
        b^S ~ prior * product over p in S of Lambda_p^policy * product over the rest of Lambda_p^0
        VoL_partner = V(all) - V(all but the partner)
        phi_p = sum over S without p of |S|! (2 - |S|)! / 3! * [V(S + p) - V(S)]

    the last being Shapley's split (1953) of V(all) - V(none) over partner, next and previous
    opponent. V(none) takes the others for uniformly random players; ``levels`` has another
    baseline. Paired deal by deal, so the intervals are those of the differences.

    Returns:
        "listening" (V(all) - V(none)), "partner" (VoL), and "shapley next", "shapley partner",
        "shapley previous", which sum to "listening".
    """
    found = {
        "listening": values.gain(ALL, "none"),
        "partner": values.gain(ALL, NOT_PARTNER),
    }
    for source in SOURCES:
        rest = [one for one in SOURCES if one != source]
        total = np.zeros_like(values.of(ALL))
        for many in range(3):
            weight = factorial(many) * factorial(2 - many) / factorial(3)
            for some in combinations(rest, many):
                with_it = "+".join(one for one in SOURCES if one in some or one == source)
                total += weight * (values.of(with_it) - values.of("+".join(some) or "none"))
        found[f"shapley {source}"] = mean_interval(total)
    return found


def ceilings(values: Values) -> dict[str, Interval]:
    """Says what is left to be told, in points a round (M5, by search, nothing trained again).

        V(partner shown) - V(all),   V(all shown) - V(all)

    where search is handed the partner's hand, or all hands, as dealt. These bound what this
    listener could gain from being told more, without other play. "efficiency" is
    VoL_partner / (V(partner shown) - V(all but the partner)), a ratio of means without an interval
    of its own where the ceiling is not above 0 for sure.
    """
    shown = values.of("partner shown") - values.of(NOT_PARTNER)
    heard = values.of(ALL) - values.of(NOT_PARTNER)
    found = {
        "partner shown": values.gain("partner shown", ALL),
        "all shown": values.gain("all shown", ALL),
    }
    ceiling = mean_interval(shown)
    if ceiling.low > 0:
        ratio = float(heard.mean() / shown.mean())
        left = mean_interval((heard - ratio * shown) / shown.mean())
        found["efficiency"] = Interval(ratio, ratio + left.low, ratio + left.high)
    return found


def eavesdropping_cost(values: Values) -> Interval:
    """Says what one listening opponent costs the speakers' team, in points a round (M6).

    V(the opponent decodes both of us by our policy) - V(it grounds us), seen from our side, the
    opponent's own partner being decoded in both: minus the listener's V(all) - V(partner). Negative
    where being overheard costs. The net value of being read is ``value_of_listening``'s "partner"
    plus this.
    """
    return values.gain("partner", ALL)


def misreading_cost(values: Values, ear: str) -> Interval:
    """Says what a wrong decoder of the partner costs, in points a round.

    V(partner decoded by another agent's policy) - V(partner grounded), the opponents decoded
    rightly in both; below 0 it is better not to listen (placebo of Lowe et al., arXiv:1903.05168).

    Args:
        values: played with an ear for it.
        ear: its name.
    """
    return values.gain(ear, NOT_PARTNER)
