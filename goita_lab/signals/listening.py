"""Runs exact listeners along a play and records what each action reveals to each of them.

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
    Listener,
    OpponentModel,
    PolicyModel,
)
from goita_env import View
from goita_env.actions import CALL, MESSAGE, hide_block
from goita_env.errors import SettingError
from goita_env.tiles import NUM_KINDS, NUM_SEATS, PARTNER, RELATIVE_SEATS, RelativeSeat
from goita_lab.signals.filters import Where, select
from goita_lab.signals.playing import Play, concatenated, steps
from goita_lab.store import Column

Shapes = dict[str, tuple[int | str, ...]]
Row = dict[str, Any]
"""The entries of one decision, by column."""

ListenerModel = OpponentModel | Mapping[RelativeSeat, OpponentModel]

POLICY: Final = "policy"
"""Name of the model that knows the policy that plays."""
UNIFORM: Final = "uniform"
"""Name of ``UNIFORM_MODEL``: each legal action is equally likely."""
LEGAL: Final = "legal"
"""Name of ``LEGAL_MODEL``: an action reveals only that it was legal."""


def standard_models(agent: str | Policy) -> dict[str, OpponentModel]:
    """Returns the two models that ``information_gain_split`` compares: "policy" and "uniform"."""
    return {POLICY: PolicyModel(agent), UNIFORM: UNIFORM_MODEL}


def cached_model(model: OpponentModel) -> OpponentModel:
    """Returns a model with the same answers, which queries each view once if that saves time."""
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
        """Returns the types, shapes and bounds that stored rows must have."""
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
    def collect(cls, models: Iterable[str], rows: Sequence[Row]) -> Self:
        """Builds the columns from rows, each with its entries by column."""
        names = tuple(models)
        arrays: dict[str, Any] = {}
        for name, axes in cls.SHAPES.items():
            shape: Any = (len(rows), *(len(names) if axis == "K" else axis for axis in axes))
            values = np.array([row[name] for row in rows], np.float64).reshape(shape)
            arrays[name] = values if axes else values.astype(np.int64)  # indices and seats
        return cls(names, **arrays)

    def where(self, selected: Bool) -> Self:
        """Returns the selected rows; ``selected``: bool [n]."""
        return replace(self, **{name: getattr(self, name)[selected] for name in self.SHAPES})

    @classmethod
    def join(cls, parts: Sequence[Self], plays: Sequence[Play] = ()) -> Self:
        """Concatenates rows of several plays, as rows of their ``Play.join``.

        Without ``plays`` all parts are rows of the same play.
        """
        joined = concatenated(parts, cls.SHAPES)
        if plays:
            # In the joined play a decision's index is higher by the decisions of all earlier plays.
            offsets = np.cumsum([0, *(len(play.deal) for play in plays[:-1])])
            joined["row"] += np.repeat(offsets, [len(part.row) for part in parts])
        return replace(parts[0], **joined)


@dataclass(frozen=True)
class ActionInformation(_Rows):
    """The information that n actions revealed, each to one other seat, under K models."""

    SHAPES: ClassVar[Shapes] = {
        **dict.fromkeys(("row", "listener", "speaker"), ()),
        **dict.fromkeys(("content", "revealed", "gain"), ("K",)),
    }

    speaker: Int
    """[n] Seat that acted, relative to the listener: 1 next, 2 partner, 3 previous."""
    content: Float
    """[n, K] Expected information about the speaker's hand, nats: I(H; Y | listener's view); 0 for
    messages that the listener does not observe."""
    revealed: Float
    """[n, K] KL of the belief after the action from the belief before it, nats.

    Its expectation is ``content``."""
    gain: Float
    """[n, K] Change of the log-probability of the speaker's true hand, nats."""


@dataclass(frozen=True)
class ListenerKnowledge(_Rows):
    """The knowledge of listeners at n decisions of their own, under K models."""

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
    """[n, 3] Log-probability of those hands given only the listener's own hand, nats."""
    holds: Float
    """[n, K, 3, 8] Probability that the seats were dealt one tile of each kind or more."""
    prior_holds: Float
    """[n, 3, 8] The same given only the listener's own hand."""


@dataclass(frozen=True)
class Heard:
    """A play, and what its actions revealed to exact listeners."""

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
    revealed: bool | Collection[str] = True,
    knowledge: bool = True,
    where: Where | None = None,
    speakers: Collection[int] = (1, 2, 3),
) -> tuple[ActionInformation, ListenerKnowledge]:
    """Runs exact listeners along deals of a play.

    Rows are plays and passes, forced ones included: a listener does not know that they are forced.
    Messages have rows, too, except those that the listener sends itself. Answers before play update
    the beliefs without a row. ``deals`` are indices, None all of them;
    ``listeners`` are seats that listen in every deal, None one seat in each deal, in turn.

    Only what is requested costs time. ``revealed`` names the models under which the information in
    other seats' actions is computed (True: all; False: none), ``where`` selects these actions
    (``goita_lab.signals.filters``; None: all), and ``speakers`` the relative seats that take them.
    ``knowledge=False`` leaves out the knowledge at the listeners' own decisions.

    Raises:
        SettingError: if there is no model; if a seat, deal, model or filter does not exist; if
            listeners cannot follow the game (``goita_agents.beliefs.Listener``).
        UnexplainedError: if an action has probability 0 under a model.
    """
    informed = _informed_models(models, revealed)
    followed = list(range(len(play.round)) if deals is None else deals)
    if any(deal not in range(len(play.round)) for deal in followed):
        raise SettingError(f"expected deals 0 to {len(play.round) - 1}, got {followed!r}")
    seats = None if listeners is None else sorted(set(listeners))
    if seats is not None and (not seats or any(seat not in range(NUM_SEATS) for seat in seats)):
        raise SettingError(f"expected seats 0 to 3 as listeners, got {seats!r}")
    moves, messages = play.action < CALL, play.action >= MESSAGE
    # [D] Whether a decision has a row for other seats, and whether it has one for the acting seat.
    heard, own = select(play, where) & (moves | messages) & bool(informed), moves & knowledge
    action_rows, knowledge_rows = list[Row](), list[Row]()
    starts = play.starts
    for deal in followed:
        cached = _cached_models(models)  # the listeners of one deal share answers
        decisions = np.arange(starts[deal], starts[deal + 1])
        for seat in (deal % NUM_SEATS,) if seats is None else seats:
            listener = SeatListener(play, deal, seat, cached, informed)
            turn = (play.seat[decisions] - seat) % NUM_SEATS  # 0: the listener itself acts
            of_speakers = heard[decisions] & np.isin(turn, [*speakers])
            rows = decisions[np.where(turn == 0, own[decisions], of_speakers)]
            for row, view in zip(rows.tolist(), seen_by(play, deal, seat, rows), strict=True):
                if play.seat[row] == seat:
                    knowledge_rows.append(listener.knowledge(row, view))
                else:
                    action_rows.append(listener.information(row, view))
    information = ActionInformation.collect(informed, action_rows)
    return information, ListenerKnowledge.collect(models, knowledge_rows)


def _informed_models(
    models: Mapping[str, ListenerModel], revealed: bool | Collection[str]
) -> tuple[str, ...]:
    """Returns the names of the models under which the information in actions is computed."""
    if not models:
        raise SettingError("expected at least one model, got none")
    if revealed is True:
        names = tuple(models)
    elif revealed is False:
        names = ()
    else:
        names = tuple(revealed)
    if unknown := [name for name in names if name not in models]:
        raise SettingError(f"expected models of {list(models)}, got {unknown[0]!r}")
    return names


def _cached_models(models: Mapping[str, ListenerModel]) -> dict[str, ListenerModel]:
    """Returns the models by name; names that share a model share its answers, too."""
    caches: dict[int, OpponentModel] = {}

    def cached(model: OpponentModel) -> OpponentModel:
        return caches.setdefault(id(model), cached_model(model))

    return {
        name: {seat: cached(seat_model) for seat, seat_model in model.items()}
        if isinstance(model, Mapping)
        else cached(model)
        for name, model in models.items()
    }


def seen_by(play: Play, deal: int, seat: int, rows: Int) -> Iterator[View]:
    """Yields a seat's view before each decision ``rows`` of a deal; they must be ascending."""
    if not len(rows):
        return
    # The deal is played again from its first decision up to the last of the rows.
    first, replay = play.starts[[deal]], play.replay(np.array([deal]))
    for row in steps(replay, first, 1 + rows[-1:], play.action):
        if row in rows:
            yield replay.view(seat)


def public_action(view: View, action: int) -> int:
    """Returns an action as the viewer sees it: a face-down block becomes block 0."""
    if action >= MESSAGE:
        return action
    return hide_block(action) if view.mover_leads[0] else action


class SeatListener:
    """Listens to one deal from one seat, under several models; it needs the views in order of play.

    Args:
        play: the play.
        deal: the deal's index.
        seat: the seat.
        models: by name.
        informed: names of the models under which the information in other seats' actions is
            computed; the knowledge at the seat's own decisions is computed under all models.
    """

    def __init__(
        self,
        play: Play,
        deal: int,
        seat: int,
        models: Mapping[str, ListenerModel],
        informed: Sequence[str],
    ) -> None:
        self.play, self.seat, self.models, self.informed = play, seat, models, informed
        self._listeners: dict[str, Listener] = {}
        self._dealt = {
            name: play.hands[deal, (seat + turn) % NUM_SEATS]
            for name, turn in RELATIVE_SEATS.items()
        }

    def information(self, row: int, view: View) -> Row:
        """Returns what an action of another seat reveals: a row of ``ActionInformation``.

        ``view`` is what the listener sees before the action. A message that the listener does not
        observe reveals nothing.
        """
        turn, action = (int(self.play.seat[row]) - self.seat) % NUM_SEATS, self.play.action[row]
        channel, is_message = self.play.information.channel, bool(action >= MESSAGE)
        private = channel is not None and channel.audience == "partner"
        nats = np.zeros((3, len(self.informed)))  # content, revealed and gain under each model
        if not (is_message and private and turn != PARTNER):
            # Messages are the first decisions of a deal, so its index says how many came before.
            sent = int(self.play.move[row]) if is_message else None
            name, public = list(RELATIVE_SEATS)[turn - 1], public_action(view, int(action))
            nats_by_model = [
                information_revealed(listener, name, self._dealt[name], public)
                for listener in self._updated(self.informed, view, sent)
            ]
            nats = np.transpose(nats_by_model)
        columns = dict(zip(("content", "revealed", "gain"), nats, strict=True))
        return {"row": row, "listener": self.seat, "speaker": turn, **columns}

    def knowledge(self, row: int, view: View) -> Row:
        """Returns what the listener knows at its own decision: a row of ``ListenerKnowledge``."""
        listeners, hands = self._updated(self.models, view), list(self._dealt.values())
        # A row for each model: the beliefs about the three other seats.
        beliefs = [[listener.posterior(name) for name in self._dealt] for listener in listeners]
        priors = beliefs[0]  # all models have the same prior
        return {
            "row": row,
            "listener": self.seat,
            "log_probability": [
                [belief.log_probability(hand) for belief, hand in zip(seats, hands, strict=True)]
                for seats in beliefs
            ],
            "entropy": [[belief.entropy() for belief in seats] for seats in beliefs],
            "prior": [
                np.log(belief.prior[belief.index(hand)])
                for belief, hand in zip(priors, hands, strict=True)
            ],
            "holds": [[belief.at_least(1) for belief in seats] for seats in beliefs],
            "prior_holds": [belief.prior @ (belief.hands > 0) for belief in priors],
        }

    def _updated(self, names: Iterable[str], view: View, sent: int | None = None) -> list[Listener]:
        """Returns the named models' listeners after a view; ``sent``: number of messages so far."""
        for name in names:
            if name in self._listeners:
                self._listeners[name].update(view, sent=sent)
            else:
                self._listeners[name] = Listener(view, self.models[name], sent=sent)
        return [self._listeners[name] for name in names]


def information_revealed(
    listener: Listener, name: RelativeSeat, hand: Int, action: int
) -> tuple[float, float, float]:
    """Returns ``content``, ``revealed`` and ``gain`` of a public action (``ActionInformation``).

    ``name`` is the acting seat, relative to the listener, and ``hand`` [8] its true hand.
    """
    belief, action_probabilities = listener.posterior(name), listener.action_probabilities(name)
    possible = np.flatnonzero(belief.probability)
    prior = belief.probability[possible]
    likelihood = action_probabilities[possible]  # p(action | hand): a row for each possible hand
    predictive = prior @ likelihood
    reachable = predictive > 0
    with np.errstate(divide="ignore"):
        log_ratio = np.log(likelihood[:, reachable]) - np.log(predictive[reachable])
    joint = prior[:, None] * likelihood[:, reachable]
    # Where the joint is 0 the ratio is -inf; a finite bound makes their product 0, not NaN.
    content = float((joint * np.maximum(log_ratio, -1e3)).sum())
    update = likelihood[:, action] / predictive[action]  # posterior over prior, by hand
    explaining = update > 0
    posterior = prior[explaining] * update[explaining]
    return (
        max(content, 0.0),
        max(float(posterior @ np.log(update[explaining])), 0.0),
        float(np.log(action_probabilities[belief.index(hand), action] / predictive[action])),
    )
