"""Measures the value of one signal by replacing it with a signal of a random hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Self

import numpy as np

from goita_agents.base import Bool, Float, Int, Policy, sample_at
from goita_agents.beliefs import UNIFORM_MODEL, DealBelief, Listener, OpponentModel
from goita_agents.beliefs.filtering import RoundStart, SeatFilter
from goita_agents.beliefs.history import events
from goita_agents.beliefs.supports import support
from goita_agents.beliefs.unheard_messages import product_of
from goita_agents.search.action_values import SEARCH_MIN_Z, SEARCH_WORLDS
from goita_env import View, seeds
from goita_env.actions import CALL, NUM_ACTIONS
from goita_env.errors import SettingError
from goita_env.rounds import PendingDecisions, Rounds
from goita_env.tiles import COUNTS, NUM_SEATS, PARTNER
from goita_lab.arena.statistics.intervals import Interval, mean_interval
from goita_lab.signals.filters import Where, select
from goita_lab.signals.listening import cached_model, public_action, seen_by
from goita_lab.signals.playing import Play, load_policy, one_choice_a_deal, positions
from goita_lab.signals.searching import BeliefSearch, play_searching, reweighted
from goita_lab.store import MOST_POINTS, Column

VARIANTS: Final = ("V0", "V1", "V2", "V3", "V4")
"""Names of the ways to play and read the signal: see ``shuffled_signal``."""


@dataclass(frozen=True)
class Shuffled:
    """The points of the speaker's team under the five variants, and their differences."""

    points: Float
    """[5, n] By variant, one signal a deal."""
    changed: float
    """Share of the signals that the partner sees differently when the pooled action is played."""
    used: float
    """Share of the signals after which the partner had a choice."""
    information: Interval
    """V0 - V1: points that the team gains because the partner reads the signal; report this one."""
    material: Interval
    """V0 - V2: points that the pooled action costs as a move, while the partner reads the same."""
    misinformation: Interval
    """V4 - V3: points that it costs to read a pooled signal as a true one."""

    def figures(self) -> dict[str, Interval | None]:
        """Returns the figures that have intervals, by name."""
        return {
            "information": self.information,
            "material": self.material,
            "misinformation": self.misinformation,
        }

    def columns(self) -> dict[str, Column]:
        """Returns the types, shapes and bounds that stored points and shares have."""
        points = Column("f", (len(VARIANTS), "n"), -MOST_POINTS, MOST_POINTS)
        return {"points": points, **dict.fromkeys(("changed", "used"), Column("f", (), 0, 1))}

    @classmethod
    def of(cls, points: Float, changed: float, used: float) -> Self:
        """Derives the values from the points [5, n] of n signals, n at least 2."""
        v0, v1, v2, v3, v4 = points
        return cls(
            points,
            changed,
            used,
            information=mean_interval(v0 - v1),
            material=mean_interval(v0 - v2),
            misinformation=mean_interval(v4 - v3),
        )

    @classmethod
    def join(cls, parts: Sequence[Self]) -> Self:
        shares = [(part.changed, part.used) for part in parts]
        weights = [part.points.shape[1] for part in parts]
        changed, used = np.average(shares, axis=0, weights=weights).tolist()
        return cls.of(np.concatenate([part.points for part in parts], axis=1), changed, used)


def shuffled_signal(
    play: Play,
    model: OpponentModel,
    policy: str | Policy,
    *,
    seed: int = 0,
    worlds: int = SEARCH_WORLDS,
    min_z: float = SEARCH_MIN_Z,
    where: Where | None = None,
) -> Shuffled:
    """Measures what one signal is worth to the partner, in points.

    In each deal one decision with a choice is drawn, the signal a, among the decisions that
    ``where`` selects (``goita_lab.signals.filters``; None: all). The pooled action

        pibar(y | h) ~ 1[y legal for h] * sum over h' of b_pub(h') pi(y | h')

    is drawn as the policy would play with a random hand; b_pub is the public belief from the tiles
    shown and the speaker's own actions. At its next choice the partner searches in worlds of its
    exact belief, in which this one signal is read in five ways; all other decisions are the
    policy's:

        V0  a is played and read by pi              V1  a is played and read as any legal action
        V2  the pooled action is played, read as if it had been a
        V3  the pooled action is played, read by pi    V4  ... and read by pibar

        information value V0 - V1, material cost V0 - V2, misinformation V4 - V3

    V0 - V1 is the scramble test of Lowe et al. (arXiv:1903.05168): 0 within its interval while the
    content is above 0 says that the channel is not used. Points are those of the speaker's team
    minus the other's per signal, paired. ``model`` is the partner's model of all other seats; with
    an infinite ``min_z`` it ignores the signal.

    Raises:
        SettingError: if fewer than two deals have such a decision, or there is no such filter.
    """
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(4,)))
    chosen = one_choice_a_deal(play, rng, select(play, where))
    if len(chosen) < 2:
        raise SettingError(f"expected two deals with a choice at least, got {len(chosen)}")
    signals = [_Signal(play, row, model, rng) for row in chosen.tolist()]
    # The signals come once for each variant; V0 and V1 play the action, V2 to V4 the pooled one.
    index = np.tile(np.arange(len(signals)), len(VARIANTS))
    keys = seeds.mix(~seeds.game_keys(seed, index))
    actions = [[signal.action] * 2 + [signal.pooled_action] * 3 for signal in signals]
    rounds = Rounds.from_positions(
        positions(play, chosen), index, keys=keys, actions=np.transpose(actions).ravel()
    )
    beliefs = _SignalBeliefs(signals)
    search = BeliefSearch(load_policy(policy), worlds, min_z)
    points = play_searching(rounds, search, keys, beliefs)
    changed = float(np.mean([signal.observed != signal.pooled_observed for signal in signals]))
    used = float(beliefs.searched[: len(signals)].mean())
    return Shuffled.of(points.reshape(len(VARIANTS), -1), changed, used)


class _Signal:
    """One decision of a speaker, and the ways to read it."""

    def __init__(
        self, play: Play, row: int, model: OpponentModel, rng: np.random.Generator
    ) -> None:
        rows, partner = np.array([row]), (int(play.seat[row]) + PARTNER) % NUM_SEATS
        view = next(seen_by(play, int(play.deal[row]), partner, rows))  # of the partner
        self.action = int(play.action[row])
        self.observed = public_action(view, self.action)  # as the partner sees it
        model = cached_model(model)  # the four listeners of this signal share its answers
        self.model: OpponentModel = _UniformAt(model, int(view.decisions().length[0]))
        # [M, 69] Probability of each action by the speaker's hand: of the policy, of a uniformly
        # random player, and pooled over hands but restricted to legal actions.
        self.policy = Listener(view, model).action_probabilities("partner")
        self.uniform = Listener(view, self.model).action_probabilities("partner")
        pooled = _pooled(view, model)
        joint = pooled * (self.uniform > 0)
        self.shuffled = _divided(joint, joint.sum(axis=1, keepdims=True))
        legal = play.legal[rows]
        likely = model.probabilities(play.view(rows), legal)
        chances = _pooled_chances(view, pooled, likely[0], legal[0])
        self.pooled_action = int(sample_at(chances[None], rng.random(1))[0])
        self.pooled_observed = public_action(view, self.pooled_action)

    def belief(self, listener: Listener, variant: str) -> DealBelief:
        """Returns the partner's belief; ``listener`` has the uniform model of the signal."""
        belief = product_of(listener.deals())
        if variant == "V1":
            return belief
        played = self.observed if variant == "V0" else self.pooled_observed
        read_as = self.observed if variant in ("V0", "V2") else self.pooled_observed
        likelihood = (self.shuffled if variant == "V4" else self.policy)[:, read_as]
        # The belief has the uniform likelihood of the action that was played: replace it.
        uniform = self.uniform[:, played]
        of_next, of_partner, of_previous = belief.weights
        weights = of_next, of_partner * _divided(likelihood, uniform), of_previous
        # Without a deal left the signal is not read: no hand that explains the later actions would
        # have sent it.
        return reweighted(belief, weights) or belief


def _pooled_chances(view: View, pooled: Float, likely: Float, legal: Bool) -> Float:
    """Returns how likely each action [69] is to be drawn in place of a signal.

    Args:
        view: of the partner, to whom actions that differ only in a hidden block look alike.
        pooled: [69] the pooled probabilities of actions as the partner sees them.
        likely: [69] probabilities of the speaker's policy, which split ``pooled`` among actions
            that look alike.
        legal: [69] the speaker's legal actions.
    """
    public = np.array([public_action(view, a) if a < CALL else a for a in range(NUM_ACTIONS)])
    # For each action, the policy's probability of all actions that look like it.
    totals = np.bincount(public, likely * legal, NUM_ACTIONS)[public]
    chances = np.where(legal, pooled[public], 0.0) * _divided(likely, totals)
    return chances if chances.any() else legal.astype(np.float64)


def _divided(part: Float, whole: Float) -> Float:
    """Returns a part divided by the whole, 0 where the whole is 0."""
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)


class _UniformAt:
    """A model that is replaced by the uniform model at one decision of the round."""

    def __init__(self, model: OpponentModel, moment: int) -> None:
        self.name = f"{model.name}, uniform at decision {moment}"
        self._model, self._moment = model, moment

    def probabilities(self, view: View, legal: Bool) -> Float:
        before_play = bool(view.asked_call[0] or view.asked_choice[0])
        if not before_play and int(view[:1].decisions().length[0]) == self._moment:
            return UNIFORM_MODEL.probabilities(view, legal)
        return self._model.probabilities(view, legal)


class _SignalBeliefs:
    """The partners' beliefs at their first choice; game v * n + i is signal i in variant v."""

    def __init__(self, signals: Sequence[_Signal]) -> None:
        self.signals = signals
        self.searched = np.zeros(len(VARIANTS) * len(signals), bool)
        """[games] Whether the partner has had its choice."""

    def __call__(self, decisions: PendingDecisions) -> tuple[Int, list[DealBelief]]:
        """Returns the decisions that are a partner's first choice, and its beliefs there."""
        rows = decisions.rows
        choices = np.flatnonzero((decisions.seats == PARTNER) & ~self.searched[rows])
        self.searched[rows[choices]] = True
        listeners: dict[tuple[int, bytes], Listener] = {}
        beliefs = []
        for choice in choices.tolist():
            variant, index = divmod(int(rows[choice]), len(self.signals))
            signal, view = self.signals[index], decisions.view[choice : choice + 1]
            key = (index, view.words.tobytes())
            if key not in listeners:
                listeners[key] = Listener(view, signal.model)
            beliefs.append(signal.belief(listeners[key], VARIANTS[variant]))
        return choices, beliefs


def _pooled(view: View, model: OpponentModel) -> Float:
    """Returns the public's probabilities [69] of the speaker's action, as the listener sees it.

    ``view`` is the listener's, whose partner speaks. The public knows no hand: the speaker may hold
    all tiles that no other seat has shown.
    """
    hands = support(np.array(COUNTS))
    start = RoundStart.read(view)
    shown = view.face_up[0].astype(np.int64)
    limits = np.array(COUNTS) - shown.sum(axis=0) + shown[PARTNER]
    speaker = SeatFilter(start, PARTNER, hands.hands, (shown[PARTNER], limits), model)
    for event in events(view):
        speaker.take(event)
    speaker.drop(limits)
    weight = speaker.by_hand() * hands.prior
    return np.asarray(weight @ speaker.action_probabilities() / weight.sum())
