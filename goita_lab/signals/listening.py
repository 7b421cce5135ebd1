"""Runs exact listeners along a play and keeps what each action told each of them.

A listener's *model* says how the other seats play: one ``OpponentModel`` for all of them, or one
for each relative seat.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final, Self

import numpy as np

from goita_agents.base import Bool, Float, Int, Policy
from goita_agents.beliefs import (
    LEGAL_MODEL,
    UNIFORM_MODEL,
    CachedModel,
    DealBelief,
    Listener,
    OpponentModel,
    PolicyModel,
)
from goita_agents.beliefs.summing import Three, sums
from goita_env import View
from goita_env.actions import CALL, MESSAGE, hide_block
from goita_env.errors import SettingError
from goita_env.tiles import NUM_KINDS, NUM_SEATS, PARTNER, RELATIVE_SEATS, RelativeSeat
from goita_env.views import Replay
from goita_lab.signals.filters import Where, select
from goita_lab.signals.playing import Play, concatenated
from goita_lab.store import Column

Shapes = dict[str, tuple[int | str, ...]]

ListenerModel = OpponentModel | Mapping[RelativeSeat, OpponentModel]

POLICY: Final = "policy"
"""Name of the model that knows the policy that plays."""
UNIFORM: Final = "uniform"
"""Name of ``UNIFORM_MODEL``: each legal action is equally likely."""
LEGAL: Final = "legal"
"""Name of ``LEGAL_MODEL``: an action says no more than that it was legal."""


def standard_models(agent: str | Policy) -> dict[str, OpponentModel]:
    """Returns the two models that split knowledge: "policy" (an agent's) and "uniform"."""
    return {POLICY: PolicyModel(agent), UNIFORM: UNIFORM_MODEL}


def cached_model(model: OpponentModel) -> OpponentModel:
    """Returns a model that answers the same, and asks about each view once if that saves time."""
    return model if model in (UNIFORM_MODEL, LEGAL_MODEL) else CachedModel(model)


@dataclass(frozen=True)
class _Rows:
    SHAPES: ClassVar[Shapes]
    """Columns, and the shapes of their entries; K is the number of models."""

    models: tuple[str, ...]
    """[K] Names of the models."""
    row: Int
    """[n] Index of the action, or of the listener's own decision, among those of the play."""
    listener: Int
    """[n] Seat of the listener."""

    def columns(self) -> dict[str, Column]:
        """Returns what kept rows may be."""
        columns = {}
        for name, axes in self.SHAPES.items():
            lengths = (len(self.models) if axis == "K" else axis for axis in axes)
            columns[name] = Column("f" if axes else "i", ("n", *lengths))
        return columns

    def of(self, model: str) -> int:
        if model not in self.models:
            raise SettingError(f"expected a model of {list(self.models)}, got {model!r}")
        return self.models.index(model)

    @classmethod
    def collect(cls, models: Iterable[str], rows: Sequence[tuple[Any, ...]]) -> Self:
        """Builds the columns from rows of entries."""
        names = tuple(models)
        arrays: dict[str, Any] = {}
        for number, (name, axes) in enumerate(cls.SHAPES.items()):
            shape: Any = (len(rows), *(len(names) if axis == "K" else axis for axis in axes))
            values = np.array([row[number] for row in rows], np.float64).reshape(shape)
            arrays[name] = values if axes else values.astype(np.int64)
        return cls(names, **arrays)

    def where(self, kept: Bool) -> Self:
        """Returns some rows; ``kept``: bool [n]."""
        return replace(self, **{name: getattr(self, name)[kept] for name in self.SHAPES})

    @classmethod
    def join(cls, parts: Sequence[Self], plays: Sequence[Play] = ()) -> Self:
        """Concatenates rows of some plays, as rows of their ``Play.join``; by default of one."""
        joined = concatenated(parts, cls.SHAPES)
        if not plays:
            return replace(parts[0], **joined)
        before = np.cumsum([0, *(len(one.deal) for one in plays[:-1])])
        joined["row"] += np.repeat(before, [len(part.row) for part in parts])
        return replace(parts[0], **joined)


@dataclass(frozen=True)
class ActionInformation(_Rows):
    """What n actions told one other seat each, under K models."""

    SHAPES: ClassVar[Shapes] = {
        **dict.fromkeys(("row", "listener", "speaker"), ()),
        **dict.fromkeys(("content", "told", "gain"), ("K",)),
    }

    speaker: Int
    """[n] Seat that acted, relative to the listener: 1 next, 2 partner, 3 previous."""
    content: Float
    """[n, K] Expected information about the speaker's hand, nats: I(H; Y | listener's view); 0 for
    messages that the listener doesn't hear."""
    told: Float
    """[n, K] KL of the belief after the action from that before it, nats; its mean: ``content``."""
    gain: Float
    """[n, K] Change of the log-probability of the speaker's true hand, nats."""


@dataclass(frozen=True)
class ListenerKnowledge(_Rows):
    """What listeners knew at n decisions of their own, under K models."""

    SHAPES: ClassVar[Shapes] = {
        **dict.fromkeys(("row", "listener"), ()),
        **dict.fromkeys(("log_probability", "entropy"), ("K", 3)),
        "prior": (3,),
        "holds": ("K", 3, NUM_KINDS),
        "prior_holds": (3, NUM_KINDS),
    }

    log_probability: Float
    """[n, K, 3] Of the hands dealt to the relative seats 1 to 3, nats."""
    entropy: Float
    """[n, K, 3] Of the beliefs about them, nats."""
    prior: Float
    """[n, 3] Log-probability of those hands given the listener's own hand alone, nats."""
    holds: Float
    """[n, K, 3, 8] Probability that the seats were dealt one tile of each kind or more."""
    prior_holds: Float
    """[n, 3, 8] The same given the listener's own hand alone."""


@dataclass(frozen=True)
class Heard:
    """A play and what exact listeners heard of it."""

    play: Play
    actions: ActionInformation
    knowledge: ListenerKnowledge

    @classmethod
    def join(cls, parts: Sequence[Self]) -> Self:
        plays = [part.play for part in parts]
        actions = ActionInformation.join([part.actions for part in parts], plays)
        knowledge = ListenerKnowledge.join([part.knowledge for part in parts], plays)
        return cls(Play.join(plays), actions, knowledge)


def listen(
    play: Play,
    models: Mapping[str, ListenerModel],
    *,
    deals: Iterable[int] | None = None,
    listeners: Iterable[int] | None = None,
    told: bool | Collection[str] = True,
    known: bool = True,
    where: Where | None = None,
    speakers: Collection[int] = (1, 2, 3),
) -> tuple[ActionInformation, ListenerKnowledge]:
    """Runs exact listeners along deals of a play.

    Rows are plays and passes, forced ones included: a listener does not know that they are forced.
    Messages have rows, too, but where the listener sends them itself. Answers before play update
    the beliefs without a row. ``deals`` are indices, None all of them;
    ``listeners`` are seats that listen in every deal, None one seat in each deal, in turn.

    What is not asked for takes no time: ``told`` names the models under which it is kept what
    actions tell (True: all; False: none), ``where`` selects these actions
    (``goita_lab.signals.filters``; None: all), ``speakers`` the relative seats that do them, and
    ``known=False`` leaves out the knowledge at own decisions.

    Raises:
        SettingError: if there is no model, or a seat, deal, model or filter is none; if listeners
            cannot follow the game (``goita_agents.beliefs.Listener``).
        UnexplainedError: if something has probability 0 under a model.
    """
    if not models:
        raise SettingError("expected at least one model, got none")
    telling = {True: tuple(models), False: ()}[told] if isinstance(told, bool) else tuple(told)
    if unknown := [name for name in telling if name not in models]:
        raise SettingError(f"expected models of {list(models)}, got {unknown[0]!r}")
    every = range(len(play.round))
    chosen = list(every if deals is None else deals)
    seats = None if listeners is None else sorted(set(listeners))
    if any(deal not in every for deal in chosen):
        raise SettingError(f"expected deals 0 to {len(every) - 1}, got {chosen!r}")
    if seats is not None and (not seats or any(seat not in range(NUM_SEATS) for seat in seats)):
        raise SettingError(f"expected seats 0 to 3 as listeners, got {seats!r}")
    each = {
        n: m if isinstance(m, Mapping) else dict.fromkeys(RELATIVE_SEATS, m)
        for n, m in models.items()
    }
    meant, heard_of = select(play, where), [*speakers] if telling else []
    caches = {id(m): cached_model(m) for its in each.values() for m in its.values()}
    cached = {n: {s: caches[id(m)] for s, m in its.items()} for n, its in each.items()}
    starts = play.starts
    heard: list[tuple[Any, ...]] = []
    knowledge: list[tuple[Any, ...]] = []
    for deal in chosen:
        for cache in caches.values():
            if isinstance(cache, CachedModel):
                cache.forget()
        rows = np.arange(starts[deal], starts[deal + 1])
        rows = rows[(play.action[rows] < CALL) | (play.action[rows] >= MESSAGE)]
        for seat in (deal % NUM_SEATS,) if seats is None else seats:
            turn = (play.seat[rows] - seat) % NUM_SEATS
            knows = known & (play.action[rows] < CALL)
            kept = rows[np.where(turn == 0, knows, meant[rows] & np.isin(turn, heard_of))]
            _follow(play, deal, kept, seat, cached, telling, heard, knowledge)
    found = ListenerKnowledge.collect(models, knowledge)
    return ActionInformation.collect(telling, heard), found


def seen_by(play: Play, deal: int, seat: int, rows: Int) -> Iterator[View]:
    """Yields a seat's view before each of some decisions of a deal; ``rows``: ascending."""
    hands, dealer, scores = play.hands[[deal]], play.dealer[[deal]], play.scores[[deal]]
    replay = Replay.of_deals(play.rules, hands, dealer, scores, information=play.information)
    first = int(play.starts[deal])
    wanted = set(rows.tolist())
    for row in range(first, int(play.starts[deal + 1])):
        if row in wanted:
            yield replay.view(seat)
        replay.step(int(play.action[row]))


def public_action(view: View, action: int) -> int:
    """Returns an action as the viewer sees it: a face-down block becomes block 0."""
    if action >= MESSAGE:
        return action
    return hide_block(action) if view.mover_leads[0] else action


def reweighted(belief: DealBelief, weights: Three) -> DealBelief | None:
    """Returns a belief with other weights [M] of seats 1 to 3; None if no deal has a weight."""
    one, two, three = sums(belief.support, weights, belief.apart)
    total = float(one.sum())
    if not total > 0:
        return None
    marginals = one / total, two / total, three / total
    return replace(belief, weights=weights, marginals=marginals, total=total)


def _follow(
    play: Play,
    deal: int,
    rows: Int,
    seat: int,
    models: Mapping[str, ListenerModel],
    telling: Sequence[str],
    heard: list[tuple[Any, ...]],
    known: list[tuple[Any, ...]],
) -> None:
    """Appends a row to ``heard`` per action of another seat, to ``known`` per own decision.

    Only the models ``telling`` follow the former.
    """
    listeners: dict[str, Listener] = {}
    dealt = [play.hands[deal, (seat + turn) % NUM_SEATS] for turn in (1, 2, 3)]
    for row, view in zip(rows.tolist(), seen_by(play, deal, seat, rows), strict=True):
        turn = (int(play.seat[row]) - seat) % NUM_SEATS
        names, action = telling if turn else list(models), int(play.action[row])
        channel, sent = play.information.channel, None
        if channel is not None and action >= MESSAGE:
            if channel.audience == "partner" and turn != PARTNER:
                heard.append((row, seat, turn, *np.zeros((3, len(names)))))
                continue
            sent = int(play.move[row])  # messages are the first decisions of a deal
        for one in names:
            if one in listeners:
                listeners[one].update(view, sent=sent)
            else:
                listeners[one] = Listener(view, models[one], sent=sent)
        now = [listeners[one] for one in names]
        if turn:
            action = public_action(view, action)
            name, hand = list(RELATIVE_SEATS)[turn - 1], dealt[turn - 1]
            told = [information_told(one, name, hand, action) for one in now]
            heard.append((row, seat, turn, *np.transpose(told)))
        else:
            known.append((row, seat, *_knowledge(now, dealt)))


def information_told(
    listener: Listener, name: RelativeSeat, hand: Int, action: int
) -> tuple[float, float, float]:
    """Returns content, KL and gain of a public action, in nats; ``hand`` [8]: of its seat."""
    belief, action_probabilities = listener.posterior(name), listener.action_probabilities(name)
    possible = np.flatnonzero(belief.probability)
    before = belief.probability[possible]
    likely = action_probabilities[possible]
    expected = before @ likely
    used = expected > 0
    with np.errstate(divide="ignore"):
        ratio = np.log(likely[:, used]) - np.log(expected[used])
    content = float((before[:, None] * likely[:, used] * np.maximum(ratio, -1e3)).sum())
    now = likely[:, action] / expected[action]
    told = now > 0
    after = before[told] * now[told]
    return (
        max(content, 0.0),
        max(float(after @ np.log(now[told])), 0.0),
        float(np.log(action_probabilities[belief.index(hand), action] / expected[action])),
    )


def _knowledge(listeners: Sequence[Listener], dealt: Sequence[Int]) -> tuple[object, ...]:
    """Returns the columns of ``ListenerKnowledge`` from ``log_probability`` on."""
    beliefs = [[listener.posterior(name) for name in RELATIVE_SEATS] for listener in listeners]
    log = [[b.log_probability(h) for b, h in zip(three, dealt, strict=True)] for three in beliefs]
    entropy = [[belief.entropy() for belief in three] for three in beliefs]
    prior = [np.log(b.prior[b.index(hand)]) for b, hand in zip(beliefs[0], dealt, strict=True)]
    holds = [[belief.at_least(1) for belief in three] for three in beliefs]
    before = [belief.prior @ (belief.hands > 0) for belief in beliefs[0]]
    return log, entropy, prior, holds, before
