"""Measures what one signal is worth, by a speaker that says what anybody else would have said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Self

import numpy as np

from agents.base import Bool, Float, Int, Policy, sample_at
from agents.beliefs import GROUNDED, Assumption, DealBelief, Listener
from agents.beliefs.filtering import SeatFilter, Table
from agents.beliefs.history import Answers, deeds
from agents.beliefs.summing import sums
from agents.beliefs.supports import support
from agents.search.playout import Keys, Player
from agents.search.rollout import CAUTION
from agents.signals.deciding import decide
from agents.signals.listening import public_action, seen_by
from agents.signals.measures.estimates import differences
from agents.signals.playing import Play, load_policy
from agents.signals.standing import positions
from agents.statistics.intervals import Interval
from goita_env import View, seeds
from goita_env.actions import CALL, NUM_ACTIONS
from goita_env.errors import SettingError
from goita_env.rounds import Rounds
from goita_env.tiles import COUNTS, NUM_SEATS
from goita_env.worlds import Worlds

VARIANTS: Final = ("V0", "V1", "V2", "V3", "V4")
"""What is said, and how it is read: see ``shuffled_signal``."""

_PARTNER: Final = 2


@dataclass(frozen=True)
class Shuffled:
    """Holds the points of the speaker's team under the five variants, and what follows."""

    points: Mapping[str, Float]
    """[n] By variant, one signal a deal."""
    changed: float
    """Share of the signals for which another one was drawn."""
    used: float
    """Share of the signals after which the partner had a choice."""
    information: Interval
    """V0 - V1: what the partner gains by reading the signal; the number to print."""
    material: Interval
    """V0 - V2: what the pooled move costs as a move, the partner none the wiser or duller."""
    misinformation: Interval
    """V4 - V3: what it costs to read a pooled signal as if it were a true one."""

    @classmethod
    def of(cls, points: Mapping[str, Float], changed: float, used: float) -> Self:
        """Returns what follows from the points of each variant: [n], n at least 2."""
        return cls(
            points,
            changed,
            used,
            differences(points["V0"], points["V1"]),
            differences(points["V0"], points["V2"]),
            differences(points["V4"], points["V3"]),
        )

    @classmethod
    def join(cls, parts: Sequence[Self]) -> Self:
        """Returns what was played in several parts as one."""
        points = {v: np.concatenate([part.points[v] for part in parts]) for v in VARIANTS}
        weights = [len(part.points["V0"]) for part in parts]
        changed, used = (
            float(np.average([getattr(part, name) for part in parts], weights=weights))
            for name in ("changed", "used")
        )
        return cls.of(points, changed, used)


class _Signal:
    """Holds one decision of a speaker and what can be read from it.

    Args:
        play: the play.
        row: the decision.
        assumed: how all seats are supposed to play.
        rng: draws the pooled action.
    """

    def __init__(self, play: Play, row: int, assumed: Assumption, rng: np.random.Generator) -> None:
        deal, speaker = int(play.deal[row]), int(play.seat[row])
        rows = np.array([row])
        view = next(seen_by(play, deal, (speaker + _PARTNER) % NUM_SEATS, rows))
        self.action = int(play.action[row])
        self.said = public_action(view, self.action)
        self.moment = int(view.decisions().length[0])
        self.assumed: Assumption = _GroundedAt(assumed, self.moment)
        self.policy = Listener(view, assumed).outlook("partner")
        self.rules = Listener(view, self.assumed).outlook("partner")
        pooled = _pooled(view, assumed)
        self.shuffled = _normalised(pooled * (self.rules > 0))
        own, legal = play.view(rows), play.legal[rows]
        likely = assumed.probabilities(own, legal)[0]
        public = np.array([public_action(view, a) if a < CALL else a for a in range(NUM_ACTIONS)])
        says = np.where(legal[0], pooled[public], 0.0)
        shares = np.bincount(public, likely * legal[0], NUM_ACTIONS)[public]
        says *= np.divide(likely, shares, out=np.zeros(NUM_ACTIONS), where=shares > 0)
        if not says.any():
            says = legal[0].astype(np.float64)
        self.other = int(sample_at(says[None], rng.random(1))[0])
        self.heard = public_action(view, self.other)

    def belief(self, ear: Listener, variant: str) -> DealBelief:
        """Returns what the partner believes; ``ear``: grounded at the signal, right elsewhere."""
        belief = ear.deals()
        if variant == "V1":
            return belief
        said = self.said if variant == "V0" else self.heard
        read = {
            "V0": self.policy[:, self.said],
            "V2": self.policy[:, self.said],
            "V3": self.policy[:, self.heard],
            "V4": self.shuffled[:, self.heard],
        }[variant]
        grounded = self.rules[:, said]
        factor = np.divide(read, grounded, out=np.zeros_like(read), where=grounded > 0)
        one, two, three = belief.weights
        weights = one, two * factor, three
        found = sums(belief.support, weights, belief.apart)
        total = float(found[0].sum())
        if not total > 0:  # nobody with what was shown since would have said it
            return belief
        marginals = found[0] / total, found[1] / total, found[2] / total
        return replace(belief, weights=weights, marginals=marginals, total=total)


class _GroundedAt:
    """Assumes a policy, but at one moment of the round any legal action."""

    def __init__(self, policy: Assumption, moment: int) -> None:
        self.name = f"{policy.name}, grounded at decision {moment}"
        self._policy, self._moment = policy, moment

    def probabilities(self, view: View, legal: Bool) -> Float:
        """Returns the probability of each action: float64 [N, 69]."""
        asked = bool(view.asked_call[0] or view.asked_choice[0])
        if not asked and int(view[:1].decisions().length[0]) == self._moment:
            return GROUNDED.probabilities(view, legal)
        return self._policy.probabilities(view, legal)


def shuffled_signal(
    play: Play,
    assumed: Assumption,
    policy: str | Policy,
    *,
    signals: int | None = None,
    seed: int = 0,
    worlds: int = 32,
    caution: float = CAUTION,
) -> Shuffled:
    """Says what one signal is worth to the partner, in points (M4).

    In each deal one decision with a choice is drawn, the signal a. The pooled action

        pibar(y | h) ~ 1[y legal for h] * sum over h' of b_pub(h') pi(y | h')

    says what anybody might say, whatever the hand; b_pub is the public belief from the tiles shown
    and the speaker's own actions (what the others did is left out of it). At the partner's next
    choice the partner searches in worlds of its exact belief, in which the factor of this one
    signal is read in five ways; everybody else, and everybody afterwards, plays the policy:

        V0  a is played and read by pi              V1  a is played and read as any legal action
        V2  the pooled action is played, read as if it had been a
        V3  the pooled action is played, read by pi    V4  ... and read by pibar

        information value V0 - V1, material cost V0 - V2, misinformation V4 - V3

    V0 - V1 is the scramble test of Lowe et al. (arXiv:1903.05168): 0 within its interval while
    the content is above 0 says that the channel is not used. Points of the speaker's team minus
    the other's per signal, paired.

    Args:
        play: deals as the policy plays them.
        assumed: how all seats are supposed to play.
        policy: the policy.
        signals: how many deals; None: all that have a decision with a choice.
        seed: of everything that is random.
        worlds: of the partner's decision.
        caution: standard errors by which the partner's search must be sure to leave the policy;
            infinite for a partner that ignores what it hears.

    Raises:
        SettingError: if fewer than two deals have a decision with a choice.
    """
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(4,)))
    chosen = _chosen_rows(play, rng)[:signals]
    if len(chosen) < 2:
        raise SettingError(f"expected two deals with a choice at least, got {len(chosen)}")
    player = load_policy(policy)
    told = [_Signal(play, row, assumed, rng) for row in chosen.tolist()]
    games = _Games(play, chosen, told, Player(player), seed, worlds, caution)
    points = games.play()
    changed = float(np.mean([one.said != one.heard for one in told]))
    return Shuffled.of(points, changed, games.used)


class _Games:
    """Plays each signal's deal on in five variants, side by side: game v * n + i is signal i."""

    def __init__(
        self,
        play: Play,
        rows: Int,
        signals: Sequence[_Signal],
        player: Player,
        seed: int,
        worlds: int,
        caution: float,
    ) -> None:
        self.signals, self.player, self.worlds, self.caution = signals, player, worlds, caution
        many = len(signals)
        self.which = np.tile(np.arange(many), len(VARIANTS))
        self.variant = np.repeat(np.arange(len(VARIANTS)), many)
        said = np.array([(one.action, one.other) for one in signals])
        first = np.where(self.variant < 2, said[self.which, 0], said[self.which, 1])
        self.keys = seeds.mix(~seeds.game_keys(seed, self.which))
        self.rounds = Rounds.from_positions(
            positions(play, rows), self.which, keys=self.keys, actions=first
        )
        self.heard = np.zeros(len(self.which), bool)
        self.used = 0.0

    def play(self) -> dict[str, Float]:
        """Plays to the end and returns the points by variant."""
        points, tick = np.zeros(len(self.which)), self.rounds.tick
        while True:
            if tick.ended is not None:
                gained = tick.ended.points * (1 - 2 * (tick.ended.winner & 1))
                points[tick.ended.rows] = gained
            if self.rounds.over:
                break
            chosen = tick.rows
            if len(chosen):
                view, legal, time = tick.view, tick.legal, self.rounds.time
                owners = np.arange(len(chosen))
                chosen = self.player.choose(view, legal, self.keys[tick.rows], owners, time)
                self._listen(tick.rows, tick.seats, view, legal, chosen)
            tick = self.rounds.step(chosen)
        self.used = float(self.heard[: len(self.signals)].mean())
        return dict(zip(VARIANTS, points.reshape(len(VARIANTS), -1), strict=True))

    def _listen(self, rows: Int, seats: Int, view: View, legal: Bool, chosen: Int) -> None:
        """Lets the partners decide that have their first choice; in place."""
        mine = np.flatnonzero((seats == _PARTNER) & ~self.heard[rows])
        if len(mine) == 0:
            return
        self.heard[rows[mine]] = True
        keys: Keys = seeds.deal_keys(self.keys[rows[mine]], np.ones(len(mine), np.int64), 1)
        ears: dict[tuple[int, bytes], Listener] = {}
        worlds: list[Worlds] = []
        for place, key in zip(mine.tolist(), keys.tolist(), strict=True):
            signal = self.signals[self.which[rows[place]]]
            seen = view[place : place + 1]
            known = (int(self.which[rows[place]]), seen.words.tobytes())
            if known not in ears:
                ears[known] = Listener(seen, signal.assumed)
            variant = VARIANTS[self.variant[rows[place]]]
            belief = signal.belief(ears[known], variant)
            worlds.append(belief.sample(self.worlds, np.random.default_rng(key)))
        chosen[mine] = decide(
            self.player, view[mine], legal[mine], chosen[mine], worlds, keys, self.caution
        )


def _chosen_rows(play: Play, rng: np.random.Generator) -> Int:
    """Draws one play or pass with a choice in each deal that has one: int64 [n]."""
    fit = np.flatnonzero(play.choice & (play.action < CALL))
    order = rng.permutation(fit)
    _, first = np.unique(play.deal[order], return_index=True)
    chosen: Int = order[first]
    return chosen


def _pooled(view: View, assumed: Assumption) -> Float:
    """Returns how likely the partner is to act in each way, as the public sees it: [69].

    Args:
        view: what the listener sees as its partner is to decide.
        assumed: how the partner is supposed to play.
    """
    own, other = view.scores[0].tolist()
    every = support(np.array(COUNTS))
    table = Table(view.rules, int(view.dealer[0]), (own, other), Answers.read(view))
    shown = view.face_up[0].astype(np.int64)
    most = np.array(COUNTS) - shown.sum(axis=0) + shown[_PARTNER]
    speaker = SeatFilter(table, _PARTNER, every.hands, (shown[_PARTNER], most), assumed)
    for deed in deeds(view):
        if deed.seat == _PARTNER:
            speaker.decide(deed)
        else:
            speaker.see(deed)
    speaker.drop(most)
    weight = speaker.by_hand() * every.prior
    pooled: Float = weight @ speaker.outlook() / weight.sum()
    return pooled


def _normalised(values: Float) -> Float:
    """Returns rows that sum to 1, or are 0."""
    total = values.sum(axis=1, keepdims=True)
    found: Float = np.divide(values, total, out=np.zeros_like(values), where=total > 0)
    return found
