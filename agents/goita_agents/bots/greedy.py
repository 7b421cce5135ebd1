"""The bot of six rules that a beginner could play by. Frozen: a changed one gets a new name.

1. It calls every special hand. As a caller's partner it chooses a redeal unless it holds a king.
2. It never receives its partner's attack unless that empties its hand.
3. It receives an opponent's attack whenever it can, with the attack's own kind before a king.
4. Emptying its hand, it takes the pair that scores most.
5. Otherwise it attacks with the kind it will hold most of after the block, ties to more points then
   the lower index, with a king only if no other attack is legal.
6. Face down it lays the cheapest kind of which it holds one, else the cheapest kind, a king only if
   it must.

Where the rules leave room, they are read like this:

- The last pair comes first: with two tiles in hand and a legal pair, only rule 4 decides. So it
  does receive its partner's attack then (rule 2's "unless"), and lays a king face down if the rule
  set forbids it to attack. Of pairs that score the same it takes the lower action number.
- A turn is one action, but rules 3 and 6 choose the block first, and rule 5 then looks at the hand
  without it. The attacking tile still counts: two golds left are two, of which one attacks.
- Rule 6 looks for kinds of which it holds exactly one, before the block is laid. A single king is
  not a candidate: without another single kind it lays the cheapest kind of all, a king last.
- "Cheapest" is by points, ties to the lower index. A king attacks "only if no other attack is
  legal" behind the chosen block; with more than two tiles in hand another attack always is.
- A mask may be narrower than the rules of the game. Where it forbids the action of the rules above,
  the cheapest block of a pair in the mask decides, then rule 5; without a pair the lowest action.
- "Unless it holds a king": as a caller's partner it continues with one king or two. It calls
  whatever the score is, with five pawns and with more.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from goita_agents.base import Bool, Float, Int, certain
from goita_agents.registry import Entry
from goita_env import View
from goita_env.actions import CALL, CONTINUE, PASS, REDEAL
from goita_env.tiles import COUNTS, KING, NUM_KINDS, PARTNER, POINTS

_KINDS: Final = range(NUM_KINDS)
_PAIRS: Final = slice(1, 1 + NUM_KINDS * NUM_KINDS)  # the actions that play a pair


def _block_cost(kind: int, count: int) -> int:
    """Returns the cost of a kind as a block face down with ``count`` of it in hand (rule 6)."""
    if count == 0:
        return 10_000
    return 1_000 * (kind == KING) + 100 * (count > 1) + POINTS[kind]


def _attack_worth(kind: int, count: int) -> int:
    """Returns the worth of an attack with ``count`` of its kind in hand after the block (rule 5).

    It is above 0, the worth of an illegal attack.
    """
    return 1 if kind == KING else 100 * count + POINTS[kind]


_BLOCK_COST: Final = np.array(
    [[_block_cost(kind, count) for kind in _KINDS] for count in range(COUNTS[0] + 1)], np.int16
)
_ATTACK_WORTH: Final = np.array(
    [[_attack_worth(kind, count) for kind in _KINDS] for count in range(COUNTS[0] + 1)], np.int16
)
_PAIR_POINTS: Final = np.tile(np.array(POINTS, np.int16), NUM_KINDS)
"""[64] Points of a last pair that is not alike: those of its attack, whatever the block."""


class GreedyAgent:
    """An agent that plays by the six rules above; it never draws a random number."""

    deterministic: Final = True

    def __init__(self) -> None:
        self.name, self.trusted_class = "greedy", GreedyAgent

    def act(self, view: View, legal: Bool, rng: np.random.Generator) -> Int:
        return self._choose(view, legal)

    def probabilities(self, view: View, legal: Bool) -> Float:
        return certain(self._choose(view, legal))

    def _choose(self, view: View, legal: Bool) -> Int:
        """[N] The actions of the rules; a pass where none of the cases below applies."""
        chosen = np.full(len(view), PASS, np.int64)
        may_pass, may_play = legal[:, PASS], legal[:, _PAIRS].any(axis=1)
        last_pair = view.hand_sizes[:, 0] == 2
        plays = may_play & (~may_pass | (view.attacker != PARTNER) | last_pair)

        rows = np.flatnonzero(plays & last_pair)
        if len(rows):
            # Two tiles alike make a single pair, so a doubled pair never competes with another.
            chosen[rows] = 1 + np.where(legal[rows, _PAIRS], _PAIR_POINTS, -1).argmax(axis=1)
        rows = np.flatnonzero(plays & ~last_pair)
        if len(rows):
            chosen[rows] = _pair(view.hand[rows], view.attack[rows], legal[rows])
        rows = np.flatnonzero(~may_pass & ~may_play)
        if len(rows):
            choice = np.where(view.hand[rows, KING] > 0, CONTINUE, REDEAL)
            chosen[rows] = np.where(legal[rows, CALL], CALL, choice)
            chosen[rows] = _within(view.hand[rows], legal[rows], chosen[rows])
        return chosen


def _within(hand: npt.NDArray[np.int8], legal: Bool, chosen: Int) -> Int:
    """Returns the chosen actions, other actions where a narrowed mask forbids them: int64 [n].

    Of the legal pairs the cheapest block decides (rule 6), then the attack of rule 5. Where no pair
    is legal, it is the first legal action.
    """
    is_legal = legal[np.arange(len(legal)), chosen]
    if is_legal.all():
        return chosen
    kinds = np.arange(NUM_KINDS)
    # [n, block, kind] The tiles left in hand after each block.
    after = np.repeat(hand[:, None], NUM_KINDS, axis=1)
    after[:, kinds, kinds] -= 1
    # [n, block, 1] and [n, block, attack]; any difference of costs outweighs all worths of attacks.
    cost = _BLOCK_COST[hand, kinds].astype(np.int64)[:, :, None]
    score = _ATTACK_WORTH[after.clip(0), kinds] - 10_000 * cost
    pairs = legal[:, _PAIRS]
    best = np.where(pairs, score.reshape(len(hand), -1), np.iinfo(np.int64).min).argmax(axis=1)
    fallback = np.where(pairs.any(axis=1), 1 + best, legal.argmax(axis=1))
    return np.where(is_legal, chosen, fallback)


def _pair(hand: npt.NDArray[np.int8], attack: npt.NDArray[np.int8], legal: Bool) -> Int:
    """Returns the pair of rules 3, 5 and 6 where it does not empty the hand: int64 [n].

    ``hand``: [n, 8]; ``attack``: [n] kind of the last attack; ``legal``: [n, 69], some pair is.
    """
    # Flat indices into arrays [n, 8] and tables are twice as fast as pairs of index arrays.
    first, kinds = np.arange(0, hand.size, NUM_KINDS), np.arange(NUM_KINDS)
    cheapest = _BLOCK_COST.take(NUM_KINDS * hand + kinds).argmin(axis=1)
    own_kind = np.where(hand.take(first + attack) > 0, attack, KING)
    block: Int = np.where(legal[:, PASS], own_kind, cheapest)

    after, blocks = hand.copy(), first + block
    after.reshape(-1)[blocks] -= 1
    # Pairs are numbered block by block: of 8 n blocks the chosen ones, with a column an attack.
    may_attack = legal[:, _PAIRS].reshape(-1, NUM_KINDS)[blocks]
    worth = np.where(may_attack, _ATTACK_WORTH.take(NUM_KINDS * after + kinds), 0)
    new_attack: Int = worth.argmax(axis=1)
    chosen: Int = 1 + NUM_KINDS * block + new_attack
    all_legal = np.count_nonzero(worth.take(first + new_attack)) == len(chosen)
    return chosen if all_legal else _within(hand, legal, chosen)


ENTRY = Entry(GreedyAgent)
"""``greedy``, as texts name it."""
