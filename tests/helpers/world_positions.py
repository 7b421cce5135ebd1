"""Positions for the tests of worlds, and two ways to find their worlds without ``worlds``.

Positions are turned such that the viewer sits on seat 0. What a view implies is left to the core
here: hidden tiles are redealt in any way, the public moves are played again, and a redeal is a
world if every move was legal and the viewer sees the same words at the end.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain, combinations, islice
from math import factorial, prod

import numpy as np

from deals import complete, special_hands, uniform_hands
from goita_env import Game, views
from goita_env.actions import CALL, MESSAGE, PASS, REDEAL, SILENT, decode, parse
from goita_env.engine import core
from goita_env.engine.tables import CALL_CHOICE, CHOOSE, FRESH, WAITING
from goita_env.rules import Rules
from goita_env.tiles import KING
from goita_env.views import View
from goita_env.views.fields import FACE_DOWN, NONE
from playing import deal, legal_mask

CHOOSY_DUTY = Rules(name="choosy_duty", call_five="duty", partners_fives_win="held")
"""Five must be called, six need not be."""


@dataclass(frozen=True)
class Position:
    """A moment of a round as seat 0 knows it, and the moves that led to it."""

    rules: Rules
    dealer: int
    scores: tuple
    moves: list
    hands: np.ndarray
    """[4, 8] Tiles of each kind dealt."""
    view: View

    @property
    def truth(self) -> tuple[np.ndarray, np.ndarray]:
        """Hands now, [4, 8], and tiles under blocks, [4, 4]."""
        hands, face_down = self.hands.copy(), np.full((4, 4), NONE)
        plays, attacker = [0] * 4, None
        for seat, action in self.moves:
            pair = decode(action)
            if pair is None:
                continue
            if attacker in (None, seat):
                face_down[seat, plays[seat]] = pair[0]
            plays[seat] += 1
            attacker = seat
            np.subtract.at(hands[seat], list(pair), 1)
        shown = self.view.blocks[0] != FACE_DOWN  # a doubled finish shows its seventh tile
        shown[0] = False
        face_down[shown] = NONE
        return hands, face_down


def position(game: Game, viewer: int | None = None) -> Position:
    """Turns a game such that the viewer (by default the acting seat) sits on seat 0."""
    viewer = game.seat if viewer is None else viewer
    turned = (np.arange(4) + viewer) % 4
    moves = [((seat - viewer) % 4, action) for seat, action in game.moves]
    scores = game.deals[-1].scores[:: -1 if viewer & 1 else 1]
    dealer = (game.dealer - viewer) % 4
    return Position(game.rules, dealer, scores, moves, game.dealt[turned], game.view(viewer))


def kinds_of(counts: np.ndarray) -> np.ndarray:
    """Lists the tiles of dealt hands: kinds [n, 4, H]."""
    kinds = np.tile(np.arange(8), counts.size // 8)
    return kinds.repeat(counts.reshape(-1)).reshape(counts.size // 32, 4, -1)


Weigh = Callable[[core.State, np.ndarray, np.ndarray], np.ndarray]
"""Tells which of some actions are possible, bool [n], from games, their rows and the actions."""


def are_legal(state: core.State, rows: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    return legal_mask(state)[np.arange(len(rows)), chosen]


def possible(at: Position, hands: np.ndarray, face_down: np.ndarray) -> np.ndarray:
    """Tells which redeals are worlds, by playing the public moves again: bool [n].

    Args:
        at: the position.
        hands: [n, 4, 8] tiles of each kind that each seat holds now.
        face_down: [n, 4, 4] tiles under blocks.
    """
    return possible_deals(at, dealt_hands(at, hands, face_down), face_down, are_legal)


def possible_deals(
    at: Position,
    dealt: np.ndarray,
    face_down: np.ndarray,
    weigh: Weigh,
    messages: Sequence[int] = (),
) -> np.ndarray:
    """Tells of dealt hands, [n, 4, 8], in which the viewer comes to see its view: bool [n].

    ``messages``: with messages, what was sent, in order.
    """
    found, told, count = np.zeros(len(dealt), bool), np.arange(len(dealt)), len(dealt)
    dealers, scores = [at.dealer] * count, [at.scores] * count
    state = deal(at.rules, kinds_of(dealt), dealers, scores, at.view.information)
    for message in messages:
        told, state = stepped(state, told, np.full(len(told), MESSAGE + message), weigh)
    for rows, one in answered(at, state, told, weigh):
        alive, end = replayed(at, one, rows, face_down, weigh)
        same = (views.seat_view(end, 0).words == at.view.words).all(axis=1)
        found[alive[same]] = True
    return found


def public_plays(at: Position) -> list:
    """Lists seat, number of its play, action, and whether the block lies face down."""
    plays, numbers, hidden = [], [0] * 4, at.truth[1] != NONE
    for seat, action in at.moves:
        if decode(action) is not None:
            plays.append((seat, numbers[seat], action, hidden[seat, numbers[seat]]))
            numbers[seat] += 1
        elif action == PASS:
            plays.append((seat, 0, PASS, False))
    return plays


def dealt_hands(at: Position, hands: np.ndarray, face_down: np.ndarray) -> np.ndarray:
    """Returns what each seat was dealt in worlds: [n, 4, 8]."""
    dealt = hands.astype(int).copy()
    for seat, number, action, down in public_plays(at):
        pair = decode(action)
        if pair is not None:
            block = face_down[:, seat, number] if down else np.full(len(dealt), pair[0])
            np.add.at(dealt, (np.arange(len(dealt)), seat, block), 1)
            dealt[:, seat, pair[1]] += 1
    return dealt


def replayed(
    at: Position, state: core.State, rows: np.ndarray, face_down: np.ndarray, weigh: Weigh
) -> tuple[np.ndarray, core.State]:
    """Plays the public moves, other tiles face down; returns the rows and games that allow it."""
    for seat, number, action, down in public_plays(at):
        assert (state.seat[state.seat >= 0] == seat).all()
        chosen = np.full(len(rows), action)
        if down:
            chosen = 1 + 8 * face_down[rows, seat, number].astype(int) + (action - 1) % 8
        rows, state = stepped(state, rows, chosen, weigh)
    return rows, state


def stepped(
    state: core.State, rows: np.ndarray, chosen: np.ndarray, weigh: Weigh
) -> tuple[np.ndarray, core.State]:
    """Makes the actions that are possible; returns the rows and games in which they are."""
    good = weigh(state, rows, chosen)
    state = state.select(good.nonzero()[0])
    core.step(state, chosen[good])
    return rows[good], state


def answered(
    at: Position, state: core.State, rows: np.ndarray, weigh: Weigh
) -> Iterator[tuple[np.ndarray, core.State]]:
    """Answers the pre-play decisions as the position tells; yields the games where they end so.

    They end where the viewer is asked whether it calls, at a choice that hasn't been made, or where
    play begins. A seat that didn't call keeps silent if it may.
    """
    calls = {seat for seat, action in at.moves if action == CALL}
    choices = {seat: action for seat, action in at.moves if action >= REDEAL}
    while len(rows):
        asking = (state.status >= CALL_CHOICE) & (state.status < WAITING)
        ready = state.status == FRESH
        if not public_plays(at):  # else somebody chose, and where nobody did is no world
            ready |= (state.status == CHOOSE) & ~np.isin(state.seat, list(choices))
        if at.view.asked_call[0]:
            ready = asking & (state.seat == 0)
        if ready.any():
            yield rows[ready], state.select(ready.nonzero()[0])
        left = asking & ~ready
        rows, state = rows[left], state.select(left.nonzero()[0])
        chosen = np.zeros(len(rows), int)
        for seat in range(4):
            answer = np.where(
                state.status == CHOOSE, choices.get(seat, 0), CALL if seat in calls else SILENT
            )
            chosen = np.where(state.seat == seat, answer, chosen)
        rows, state = stepped(state, rows, chosen, weigh)


def royal_hands(rng: np.random.Generator, count: int) -> np.ndarray:
    """Deals such that one seat holds both kings: int [count, 4, 8]."""
    hands = uniform_hands(rng, 100 * count)
    return hands[((hands == KING).sum(axis=2) == 2).any(axis=1)][:count]


def random_positions(rules: str | Rules, seed: int, latest: bool = False) -> Iterator[Position]:
    """Plays rounds at random, many with special hands or two kings, and stops each somewhere.

    Args:
        rules: the rule set.
        seed: of the play.
        latest: stop at the last decision of each round, if it came to plays.
    """
    rng, found = np.random.default_rng(seed), 0
    makers = (special_hands, uniform_hands, royal_hands)
    while True:
        hands = makers[found % 3](rng, 1)[0]
        scores = (10 * rng.integers(0, 15, 2)).tolist()
        digits = ["".join(str(kind + 1) for kind in hand) for hand in hands.tolist()]
        begin = partial(
            Game, rules, hands=digits, dealer=int(rng.integers(4)), scores=scores, seed=0
        )
        game, made = begin(), []
        while not game.done and len(game.deals) == 1:
            legal = game.legal_actions()
            kings = [one for one in legal if one and one < CALL and (one - 1) % 8 == KING]
            if legal[0] == PASS and rng.random() < 0.4:
                made.append(PASS)
            else:
                made.append(int(rng.choice(kings if kings and rng.random() < 0.5 else legal)))
            game.play(made[-1])
        if latest and all(decode(action) is None for action in made[:-1]):
            continue
        found += 1
        game = begin()
        for action in made[: -1 if latest else int(rng.integers(len(made)))]:
            game.play(action)
        yield position(game)


def after(
    rules: str | Rules, hands: list | str, dealer: int, moves: str, viewer: int | None = None
):
    """Returns the position after moves by their short names."""
    hands = hands.split() if isinstance(hands, str) else hands
    game = Game(rules, hands=hands, dealer=dealer)
    for name in moves.split():
        game.play(parse(name))
    return position(game, viewer)


KING_FIRST = complete("1234512", "1123456", "13358824", "1")
"""Seat 2 was dealt both kings."""

KING_BETWEEN = "13 p p p 28 p p p 34"
"""Seat 2 lays a tile down, attacks with a king at its second turn, and lays down another tile."""

FIVE = complete("11111234", "12345567", "2345", "23467")
"""Seat 0 was dealt five pawns."""

PARTNERS = complete("11111234", "2345", "11111235", "23467")
OPPONENTS = complete("11111234", "11111235", "2345", "23467")

EARLY = {
    "a king attacks first": ("jga", KING_FIRST, 2, "13 p p p 28"),
    "a king attacks first, both in hand": ("pagat", KING_FIRST, 2, "13 p p p 28"),
    "a king attacks first, later a block": ("jga", KING_FIRST, 2, KING_BETWEEN),
    "a king attacks first, both in hand, later a block": ("nine", KING_FIRST, 2, KING_BETWEEN),
    "a king attacks at once": ("nine", KING_FIRST, 2, "18"),
    "a called five, a choice is asked": ("jga", FIVE, 3, "call"),
    "a called five": ("jga", FIVE, 3, "call continue 23"),
    "a called five, nine": ("nine", FIVE, 0, "call continue 12 p"),
    "a duty to call": ("pagat", complete("2345", "2345", "2345", "2345"), 0, "23 p"),
    "a duty to call five alone": (CHOOSY_DUTY, complete("2345", "2345", "2345", "2345"), 0, "23"),
    "nine, before the first play": ("nine", complete("2345", "2345", "2345", "2345"), 0, ""),
    "nine, the viewer was silent": ("nine", FIVE, 0, "silent"),
    "jga, the viewer was silent": ("jga", FIVE, 0, "silent"),
    "nine, silent opponents": ("nine", OPPONENTS, 0, "silent silent"),
    "the viewer is asked last": ("pagat", FIVE, 1, ""),
    "the viewer is asked between": ("nine", FIVE, 3, ""),
    "the viewer is asked first": ("pagat", FIVE, 0, ""),
    "the viewer is asked between, pagat": ("pagat", FIVE, 3, ""),
    "the viewer is asked after an opponent's call": ("pagat", OPPONENTS, 0, "call"),
    "the viewer is asked after its partner's call": ("nine", PARTNERS, 3, "call"),
    "two callers, a choice is asked": ("jga", OPPONENTS, 0, "call call"),
    "two callers, the second choice": ("jga", OPPONENTS, 0, "call call redeal"),
    "two callers": ("pagat", OPPONENTS, 0, "call call redeal continue"),
}


LATE = [
    (
        *("jga", "51414311 32616272 41357113 18152458", 3),
        "88 p p p 25 54 p 47 p p 76 p p p 26 p p p 13 35 54 41 p 13 p",
    ),
    (
        "jga",
        "15115135 13474112 51184248 62323716",
        2,
        "88 p p p 25 p 51 17 p 73 35 p p p 11 14 44 p p 43 p",
    ),
    ("pagat", "41525313 43731252 56811814 46121117", 2, "16 67 p 75 58 p p p 11 12 24 43 p p 33"),
    (
        "nine",
        "11261333 12441416 15587812 75514231",
        2,
        "15 52 21 12 28 p p p 71 11 11 11 p p p 44 p 43",
    ),
]
"""Rounds in which a king attacked before any was seen, the other is hidden, few tiles are; in the
last two the attacker had laid down a tile before that can't be the other king."""


@cache
def many_positions(rules: str | Rules, count: int = 30) -> list:
    """Returns positions anywhere in rounds."""
    return list(islice(random_positions(rules, seed=0), count))


def hidden_places(at: Position) -> tuple[list, list]:
    """Lists the seats of the others' hidden tiles in hand, and (seat, play) of hidden blocks."""
    hands, face_down = at.truth
    held = [seat for seat in (1, 2, 3) for _ in range(hands[seat].sum())]
    return held, [(seat, n) for seat in (1, 2, 3) for n in range(4) if face_down[seat, n] != NONE]


def placed(at: Position, kinds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lays kinds [n, U] into the hidden places; returns hands [n, 4, 8], face-down [n, 4, 4]."""
    held, downs = hidden_places(at)
    hands, face_down = (part[None].repeat(len(kinds), axis=0) for part in at.truth)
    hands[:, 1:] = 0
    for place, seat in enumerate(held):
        hands[np.arange(len(kinds)), seat, kinds[:, place]] += 1
    for place, (seat, play) in enumerate(downs, start=len(held)):
        face_down[:, seat, play] = kinds[:, place]
    return hands, face_down


def arrangements_count(at: Position) -> float:
    """Tells how many ways there are to lay the unseen kinds into the places."""
    unseen = at.view.unseen[0].tolist()
    return factorial(sum(unseen)) / prod(map(factorial, unseen))


def arrangements(at: Position) -> np.ndarray:
    """Lists all ways to lay the kinds into the places: [n, U], each as often in distinct tiles."""
    size = int(at.view.unseen.sum())
    rows = np.full((1, size), NONE)
    for kind in np.flatnonzero(at.view.unseen[0]).tolist():
        count = int(at.view.unseen[0, kind])
        free = (rows != NONE).argsort(axis=1, kind="stable")[:, :size]
        chosen = np.array(list(combinations(range(size), count)), int)
        places = free[:, chosen].reshape(-1, count)
        rows = rows.repeat(len(chosen), axis=0)
        rows[np.arange(len(rows))[:, None], places] = kind
        size -= count
    return rows


def keys(hands: np.ndarray, face_down: np.ndarray) -> np.ndarray:
    """Writes worlds as one row of numbers each: [n, 48]."""
    parts = hands.reshape(len(hands), -1), face_down.reshape(len(hands), -1)
    return np.concatenate(parts, axis=1).astype(np.int8)


def distinct(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns the different rows, and how many there are of each; rows: [n, m]."""
    # Sums with random weights tell rows apart a hundred times as fast as sorting them does.
    mixed = rows @ np.random.default_rng(0).integers(-(2**56), 2**56, rows.shape[1])
    _, first, counts = np.unique(mixed, return_index=True, return_counts=True)
    return rows[first], counts


def brute_force(at: Position) -> tuple[dict[bytes, float], int]:
    """Lists all worlds with their probability by trying every arrangement; tells how many."""
    found, ways = distinct(keys(*placed(at, arrangements(at))))
    good = possible(at, found[:, :32].reshape(-1, 4, 8), found[:, 32:].reshape(-1, 4, 4))
    weight = ways * good / ways[good].sum()
    worlds = {key.tobytes(): one for key, one in zip(found[good], weight[good], strict=True)}
    return worlds, len(found)


@cache
def late_positions(rules: str | Rules) -> list:
    """Returns positions so late that all arrangements can be tried, each with ``brute_force``."""
    found = []
    random = islice(random_positions(rules, seed=5, latest=True), 250)
    for at in chain((after(*late) for late in LATE if late[0] == rules), random):
        if arrangements_count(at) < 100_000:
            found.append((at, *brute_force(at)))
        if len(found) == 5:
            break
    return found
