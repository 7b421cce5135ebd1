"""Worlds that a seat cannot tell apart: a deal played to some moment, and the same one redrawn.

A position is redrawn by dealing the tiles that the seat cannot place anew, into the others' hands
and under their face-down blocks, and playing the same public moves again. Where the redrawn deal
asks another seat about a special hand, it keeps silent unless it called; where the rules don't let
it, or a public move becomes illegal, the redraw is no world that the seat could be in, and another
is tried.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deals import special_hands, uniform_hands
from goita_env.actions import CALL, PASS, SILENT, decode, encode
from goita_env.tiles import PAWN
from oracle import Referee

TRIES = 150


@dataclass(frozen=True)
class World:
    """A deal and the moves made so far: all that there is to know."""

    rules: str
    hands: list
    dealer: int
    scores: list
    moves: list

    @cached_property
    def judge(self) -> Referee:
        """The oracle at the end of the moves."""
        judge = Referee(self.rules, self.hands, self.dealer, self.scores)
        for _, action in self.moves:
            judge.play(action)
        return judge

    def hidden_from(self, viewer: int) -> tuple:
        """What the viewer cannot know: the others' tiles in hand and face down, and silences."""
        others = [seat for seat in range(4) if seat != viewer]
        hands = [sorted(self.judge.hands[seat]) for seat in others]
        down = [self.judge.face_down[seat] for seat in others]
        silent = [seat for seat, action in self.moves if action == SILENT and seat != viewer]
        return hands, down, silent, None if self.judge.seat == viewer else self.judge.phase


def random_world(rules: str, rng: np.random.Generator) -> World:
    """Plays a deal at random, and back to some moment of it."""
    special = rng.random() < 0.5
    hands = (special_hands if special else uniform_hands)(rng, 1)[0].tolist()
    dealer, scores = int(rng.integers(4)), (10 * rng.integers(0, 15, 2)).tolist()
    judge = Referee(rules, hands, dealer, scores)
    while judge.seat is not None:
        legal = judge.legal_actions()
        passes = legal[0] == PASS and rng.random() < 0.3
        judge.play(PASS if passes else int(rng.choice(legal)))
    moves = judge.log
    last = len(moves) - (judge.phase == "redeal")  # after a redeal there is a new deal to see
    answers = sum(action >= CALL for _, action in moves)
    stop = int(rng.integers(0, (min(answers, last) if special else last) + 1))
    return World(rules, hands, dealer, scores, moves[:stop])


def lies_down(moves: list) -> list[bool]:
    """Tells of each move whether it is a play with its block face down."""
    down, attacker = [], None
    for seat, action in moves:
        plays = decode(action) is not None
        down.append(plays and attacker in (None, seat))
        attacker = seat if plays else attacker
    return down


def redraw(world: World, viewer: int, rng: np.random.Generator) -> World | None:
    """Returns another world that the viewer cannot tell from this one; None if none was found."""
    hidden = world.hidden_from(viewer)
    for number in range(TRIES):
        other = propose(world, viewer, rng, swaps=0 if number % 3 == 0 else 1 + number % 4)
        for candidate in (other and relived(world, viewer, *other)) or ():
            if candidate.hidden_from(viewer) != hidden:
                return candidate
    return None


def propose(world: World, viewer: int, rng: np.random.Generator, swaps: int) -> tuple:
    """Deals the tiles that the viewer cannot place anew: all of them, or a few swapped.

    Returns:
        The hands dealt, and the face-down block of each move.
    """
    judge, down = world.judge, lies_down(world.moves)
    shown = judge.winner if world.moves and world.moves[-1][1] == CALL else None
    shown = shown if judge.points != 150 else None  # only a call of six or more shows the hand
    blocks = [None] * len(down)
    for n in np.flatnonzero(down).tolist():
        blocks[n] = decode(world.moves[n][1])[0]
    places = [("block", n) for n, (seat, _) in enumerate(world.moves) if down[n] and seat != viewer]
    places += [
        (seat, n)
        for seat in range(4)
        if seat not in (viewer, shown)
        for n in range(len(judge.hands[seat]))
    ]
    hands = [list(hand) for hand in judge.hands]
    tiles = [blocks[n] if where == "block" else hands[where][n] for where, n in places]
    if swaps == 0:
        tiles = rng.permutation(tiles).tolist()
    for _ in range(swaps if len(tiles) > 1 else 0):
        one, two = rng.choice(len(tiles), 2, replace=False)
        tiles[one], tiles[two] = tiles[two], tiles[one]
    for (where, n), tile in zip(places, tiles, strict=True):
        if where == "block":
            blocks[n] = tile
        else:
            hands[where][n] = tile
    for n, (seat, action) in enumerate(world.moves):
        pair = decode(action)
        if pair is not None:
            hands[seat] += [blocks[n] if down[n] else pair[0], pair[1]]
    return hands, blocks


def relived(world: World, viewer: int, hands: list, blocks: list) -> list[World]:
    """Replays what is public in other hands; returns the worlds that look alike at its end."""
    judge = Referee(world.rules, hands, world.dealer, world.scores)
    for (seat, action), block in zip(world.moves, blocks, strict=True):
        if action == SILENT and seat != viewer:
            continue  # nobody knows
        while judge.phase == "question" and not (judge.seat == seat and action in (CALL, SILENT)):
            if not keep_silent_unless(judge, viewer):
                return []
        if action == CALL and hands[seat].count(PAWN) != world.hands[seat].count(PAWN):
            return []
        new = action if block is None else encode(block, decode(action)[1])
        if judge.seat != seat or new not in judge.legal_actions():
            return []
        judge.play(new)
    found = []
    while True:
        if alike(judge, world.judge, viewer):
            found.append(World(world.rules, hands, world.dealer, world.scores, list(judge.log)))
        if not (judge.phase == "question" and keep_silent_unless(judge, viewer)):
            return found


def keep_silent_unless(judge: Referee, viewer: int) -> bool:
    """Lets the acting seat keep silent if it may and is not the viewer, who knows its answers."""
    if judge.seat == viewer or SILENT not in judge.legal_actions():
        return False
    judge.play(SILENT)
    return True


def alike(one: Referee, other: Referee, viewer: int) -> bool:
    """Tells whether the viewer is asked the same, or nothing, and the round has ended or not."""
    if (one.seat is None) != (other.seat is None):
        return False
    if one.seat is None:
        return (one.phase, one.winner, one.points) == (other.phase, other.winner, other.points)
    if (one.seat == viewer) != (other.seat == viewer):
        return False
    return one.seat != viewer or one.legal_actions() == other.legal_actions()
