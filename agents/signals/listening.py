"""Has exact listeners follow a play, and keeps what each action told each of them.

A *decoder* says what a listener assumes of the other seats: one assumption for all of them or one
for each relative seat. Several decoders listen to the same play side by side, so that what they
understand can be compared decision by decision.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from agents.base import Bool, Float, Int
from agents.beliefs import GROUNDED, Assumed, Assumption, Listener, Remembered, Seat
from agents.signals.log.schema import TURNS, WHO
from agents.signals.playing import Play
from goita_env import View
from goita_env.actions import CALL, PASS
from goita_env.errors import SettingError
from goita_env.tiles import NUM_KINDS, NUM_SEATS
from goita_env.views import Replay

Decoder = Assumption | Mapping[Seat, Assumption]

NAMES: Final[tuple[Seat, ...]] = ("next", "partner", "previous")
"""Names of the relative seats 1 to 3."""

PARTNER: Final = 2
"""The relative seat of the partner."""


@dataclass(frozen=True)
class Heard:
    """Holds what n actions told one other seat each, by decoder; K decoders."""

    decoders: tuple[str, ...]
    """[K] Names of the decoders."""
    row: Int
    """[n] Place of the action among the decisions of the play."""
    listener: Int
    """[n] The seat at the table that heard it."""
    speaker: Int
    """[n] Who acted, relative to the listener: 1 the next seat, 2 the partner, 3 the previous."""
    content: Float
    """[n, K] Information that the action was expected to carry about the speaker's hand, nats:
    I(H; Y | what the listener knew)."""
    told: Float
    """[n, K] Information that it turned out to carry: the divergence KL of the belief after it
    from the belief before it, nats. Its mean under the decoder's assumption is ``content``."""
    gain: Float
    """[n, K] What it added to the log-probability of the hand that the speaker really had, nats;
    below 0 where it misled."""

    def where(self, kept: Bool) -> Heard:
        """Returns some rows; ``kept``: bool [n]."""
        names = ("row", "listener", "speaker", "content", "told", "gain")
        return Heard(self.decoders, *(getattr(self, name)[kept] for name in names))

    def of(self, decoder: str) -> int:
        """Returns the number of a decoder.

        Raises:
            SettingError: if there is none of this name.
        """
        return _place(self.decoders, decoder)


@dataclass(frozen=True)
class Known:
    """Holds what listeners knew as they were to decide themselves, by decoder; m moments."""

    decoders: tuple[str, ...]
    """[K] Names of the decoders."""
    row: Int
    """[m] Place among the decisions of the play of the listener's own."""
    listener: Int
    """[m] Its seat at the table."""
    log_probability: Float
    """[m, K, 3] Of the hands that the relative seats 1 to 3 were dealt, nats."""
    entropy: Float
    """[m, K, 3] Of the beliefs about them, nats."""
    prior: Float
    """[m, 3] Log-probability of those hands given the listener's own hand alone, nats."""
    holds: Float
    """[m, K, 3, 8] Probability that the seats were dealt one tile of each kind or more."""
    prior_holds: Float
    """[m, 3, 8] The same given the listener's own hand alone."""

    def of(self, decoder: str) -> int:
        """Returns the number of a decoder.

        Raises:
            SettingError: if there is none of this name.
        """
        return _place(self.decoders, decoder)


def listen(
    play: Play,
    decoders: Mapping[str, Decoder],
    *,
    deals: Iterable[int] | None = None,
    listeners: Iterable[int] | None = None,
    told: bool = True,
) -> tuple[Heard, Known]:
    """Has seats listen to the deals of a play.

    Plays and passes are heard, forced ones among them: a listener does not know that they are.
    What is answered before play is taken in, but is no row. A deal decided before play has none.

    Args:
        play: the play.
        decoders: what the listeners assume, by name.
        deals: places of the deals that are listened to; None: all.
        listeners: seats that listen in every deal; None: one in each deal, in turn.
        told: say what each action told; False: only what is known at own decisions, faster.

    Raises:
        SettingError: if there is no decoder, or a seat or deal is none.
        UnexplainedError: if something has probability 0 for a decoder.
    """
    if not decoders:
        raise SettingError("expected a decoder at least, got none")
    every = range(len(play.round))
    chosen = list(every if deals is None else deals)
    seats = None if listeners is None else sorted(set(listeners))
    if any(deal not in every for deal in chosen):
        raise SettingError(f"expected deals 0 to {len(every) - 1}, got {chosen!r}")
    if seats is not None and (not seats or any(seat not in range(NUM_SEATS) for seat in seats)):
        raise SettingError(f"expected seats 0 to 3 as listeners, got {seats!r}")
    heard: list[tuple[object, ...]] = []
    known: list[tuple[object, ...]] = []
    starts = play.starts
    remembered, ears = _remembered(decoders)
    for deal in chosen:
        for assumption in remembered:
            assumption.forget()
        rows = np.arange(starts[deal], starts[deal + 1])
        rows = rows[play.action[rows] < CALL]
        own = play.seat[rows]
        for seat in (deal % NUM_SEATS,) if seats is None else seats:
            _follow(play, deal, rows if told else rows[own == seat], seat, ears, heard, known)
    names, many = tuple(decoders), len(decoders)
    columns = _stacked(heard, ((), (), (), (many,), (many,), (many,)))
    shapes = ((), (), (many, 3), (many, 3), (3,), (many, 3, NUM_KINDS), (3, NUM_KINDS))
    moments = _stacked(known, shapes)
    return (
        Heard(names, *(c.astype(np.int64) for c in columns[:3]), *columns[3:]),
        Known(names, *(c.astype(np.int64) for c in moments[:2]), *moments[2:]),
    )


def seen_by(play: Play, deal: int, seat: int, rows: Int) -> Iterator[View]:
    """Yields what a seat saw before each of some decisions of a deal; ``rows``: ascending."""
    hands, dealer, scores = play.hands[[deal]], play.dealer[[deal]], play.scores[[deal]]
    replay = Replay.of_deals(play.rules, hands, dealer, scores)
    first = int(play.starts[deal])
    wanted = set(rows.tolist())
    for row in range(first, int(play.starts[deal + 1])):
        if row in wanted:
            yield replay.view(seat)
        replay.step(int(play.action[row]))


def public_action(view: View, action: int) -> int:
    """Returns an action as the others see it: one whose block lies face down has block 0.

    Args:
        view: what any seat saw before it: one row.
        action: a play or a pass.
    """
    if action == PASS:
        return action
    lead = view.attack[0] < 0 or int(view.passes[0]) == NUM_SEATS - 1
    return 1 + (action - 1) % NUM_KINDS if lead else action


def columns(play: Play, agent: str) -> dict[str, Float]:
    """Returns what deciding seats knew of the others, as columns of a log: [D] each, nats.

    Every seat listens with an exact listener that supposes all others to play as an agent does, by
    the defaults of ``Assumed``. Questions before play and deals decided there have NaN.

    Args:
        play: the play.
        agent: the agent assumed.

    Raises:
        AgentError: if its probabilities are not known.
    """
    _, known = listen(play, {agent: Assumed(agent)}, listeners=range(NUM_SEATS), told=False)
    found = {}
    for name, turn in zip(WHO, TURNS, strict=True):
        for what, values in (
            ("log_probability", known.log_probability),
            ("entropy", known.entropy),
        ):
            column = np.full(len(play.deal), np.nan)
            column[known.row] = values[:, 0, turn - 1]
            found[f"{what}_{name}"] = column
    return found


def standard(
    agent: str, temperature: float | None = None, tremble: float = 0.02
) -> dict[str, Assumption]:
    """Returns the two decoders of the split: "policy" (an agent), "rules" (any legal action)."""
    return {"policy": Assumed(agent, temperature, tremble), "rules": GROUNDED}


def _remembered(
    decoders: Mapping[str, Decoder],
) -> tuple[list[Remembered], dict[str, Decoder]]:
    """Returns decoders that ask what is assumed about each view once, and what remembers that."""
    assumptions = [
        one
        for decoder in decoders.values()
        for one in (decoder.values() if isinstance(decoder, Mapping) else (decoder,))
    ]
    by = {id(one): Remembered(one) for one in assumptions}
    ears: dict[str, Decoder] = {
        name: {seat: by[id(one)] for seat, one in decoder.items()}
        if isinstance(decoder, Mapping)
        else by[id(decoder)]
        for name, decoder in decoders.items()
    }
    return list(by.values()), ears


def _follow(
    play: Play,
    deal: int,
    rows: Int,
    seat: int,
    decoders: Mapping[str, Decoder],
    heard: list[tuple[object, ...]],
    known: list[tuple[object, ...]],
) -> None:
    """Adds what a seat heard and knew in one deal."""
    ears: list[Listener] = []
    dealt = [play.hands[deal, (seat + turn) % NUM_SEATS] for turn in (1, 2, 3)]
    for row, view in zip(rows.tolist(), seen_by(play, deal, seat, rows), strict=True):
        if not ears:
            ears = [Listener(view, decoder) for decoder in decoders.values()]
        else:
            for ear in ears:
                ear.hear(view)
        turn = (int(play.seat[row]) - seat) % NUM_SEATS
        if turn:
            action = public_action(view, int(play.action[row]))
            told = [_told(ear, NAMES[turn - 1], dealt[turn - 1], action) for ear in ears]
            heard.append((row, seat, turn, *np.transpose(told)))
        else:
            beliefs = [[ear.posterior(name) for name in NAMES] for ear in ears]
            log = [
                [belief.log_probability(hand) for belief, hand in zip(three, dealt, strict=True)]
                for three in beliefs
            ]
            entropy = [[belief.entropy() for belief in three] for three in beliefs]
            first = zip(beliefs[0], dealt, strict=True)
            prior = [float(np.log(belief.prior[belief.index(hand)])) for belief, hand in first]
            holds = [[belief.at_least(1) for belief in three] for three in beliefs]
            before = [belief.prior @ (belief.hands > 0) for belief in beliefs[0]]
            known.append((row, seat, log, entropy, prior, holds, before))


def _told(ear: Listener, name: Seat, hand: Int, action: int) -> tuple[float, float, float]:
    """Returns what an action is expected to tell, tells, and adds to the true hand, in nats."""
    belief, outlook = ear.posterior(name), ear.outlook(name)
    place = belief.index(hand)
    possible = np.flatnonzero(belief.probability)
    before = belief.probability[possible]
    likely = outlook[possible]
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
        float(np.log(outlook[place, action] / expected[action])),
    )


def _place(names: tuple[str, ...], name: str) -> int:
    """Returns the place of a name among names."""
    if name not in names:
        raise SettingError(f"expected a decoder of {list(names)}, got {name!r}")
    return names.index(name)


def _stacked(rows: list[tuple[object, ...]], shapes: tuple[tuple[int, ...], ...]) -> list[Any]:
    """Returns rows of notes column by column; ``shapes``: of one entry of each."""
    if not rows:
        return [np.zeros((0, *shape)) for shape in shapes]
    return [np.array(column, np.float64) for column in zip(*rows, strict=True)]
