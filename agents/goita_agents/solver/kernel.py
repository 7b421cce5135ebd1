"""Searches a deal with all hands known: the compiled part of the solver.

A seat's tiles are always a part, a *sub-hand*, of the hand that it was dealt. The sub-hands of a
hand (at most 256) are numbered in mixed radix, with a digit for each kind. So a position is a key
of 41 bits: four such numbers, the seat to move and the engine's public status, by which all rules
are looked up (``goita_env.engine.solver_api``). The search is alpha-beta with a null window ("is
the round worth at least v to seats 0 and 2?") and a table of bounds. It keeps its own stack, so it
can be stopped after any number of nodes and resumed.

All compiled code is in this file, because numba's cache notices changes only in a function's own
file. Values are in tens of points for seats 0 and 2.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from goita_agents.compiling import compiled, inlined

Int = npt.NDArray[np.int64]
Bits = npt.NDArray[np.uint64]
Code = Any  # an integer of 64 bits to numba, signed or not

SUB_HANDS: Final = 256  # Most sub-hands of a dealt hand: eight different kinds, each there or not.
WORST: Final = -10  # Tens of points: no round is worth more than 100 to anybody.
BEST: Final = 10
ACTIONS: Final = 69  # Actions of a status in a key of the rules' tables.
LEAD: Final = 7  # The status under which a seat leads with no king face up; LEAD + 1: with one.
LEADS: Final = 3  # Passes since an attack after which its seat leads anew.
PASSED: Final = 2  # What a pass adds to a status; to look it up takes 2 % longer.
KEY_MASK: Final = (1 << 41) - 1  # The bits of an entry of the table that hold its key.
LOW, HIGH, MOVE, TILES = 41, 46, 51, 58
"""Where an entry of the table keeps its bounds (+ 10), its best move and the pairs left."""

GOLDEN: Final = 0x9E3779B97F4A7C15  # A key times this, shifted, is its place in the table.
NO_MOVE: Final = 127
PAUSED: Final = 99  # In place of a value: the nodes ran out.
MAX_DEPTH: Final = 64  # More than the decisions of a round: at most three for each of 16 plays.

# What a row of Work.frames holds.
IDS, SEAT, STATUS, PLAYS, MOVES, LIMIT, TRIED, VALUE, BEST_MOVE, MADE = range(10)
# What Work.control holds: the place in a paused search, and counts.
DEPTH, STEP, AT_IDS, AT_SEAT, AT_STATUS, AT_PLAYS, NODES, TARGET, GUESS, AIM = range(10)
# What a row of Work.targets holds.
T_IDS, T_SEAT, T_STATUS, T_LOW, T_HIGH = range(5)
# What Work.options holds.
HORIZON, SHIFT = range(2)
# The steps of the search.
ENTER, RETURN, NEXT = range(3)

_ONE: Final = np.uint64(1)
_DE_BRUIJN: Final = np.uint64(0x03F79D71B4CB0A89)
_TOP_SIX: Final = np.uint64(58)
_GOLDEN: Final = np.uint64(GOLDEN)
_KING_COLUMN: Final = np.uint64(0x8080808080808080)
_PLACE: Final = np.zeros(64, np.int64)
"""Place of a single bit by the top six bits of its product with a de Bruijn number."""
for _bit in range(64):
    _PLACE[((int(_DE_BRUIJN) << _bit) % 2**64) >> 58] = _bit

# Move ordering, found by a random climb on the nodes that it takes to solve deals.
_SAFE: Final = 488  # An attack that no opponent can block.

_STOPPED, _STOPPED_LAST = 32, 1_000
"""Subtracted where the next opponent can block it, and where an opponent's block would end the
round."""

_PARTNER, _PARTNER_LAST = -6, 1_318  # The partner can block it, and ends the round by it.

_KING_BLOCK, _PLENTY, _WORTH = 353, 96, 4
"""Blocks: a king is dear; a lead's block should be of a kind with more tiles and fewer points."""

_LOOSE, _DEFENCE = 43, 35
"""A lead's block that no opponent could block as an attack, or whose kind an opponent holds."""

_PASSES: Final = np.array([-1_493, 120, -2_601])
"""Passes of the next opponent, of the partner, of the previous opponent."""

_HISTORY_SHIFT, _HISTORY_CAP = 7, 800


class RuleArrays(NamedTuple):
    """What the search reads of a rule set's tables."""

    pairs: Bits  # [2 * 2**18] Pairs that a hand can play.
    blocks: Bits  # [S] Pairs whose block is allowed, by status.
    after: Int  # [K] Status after an action, by key.
    points: Int  # [K] Tens of points of an action that empties the hand, by key.
    attack: Int  # [S] Kind of the attack, by status; -1 where the acting seat leads.
    passes: Int  # [S] Passes since the attack; LEADS where the acting seat leads.
    king_up: Int  # [S] 1 where a king lies face up.
    finish: Int  # [2, 8] Tens of points of a last pair led with this attack: not alike, alike.
    stopped: Int
    """[256] Bits of the attacks that somebody with these kinds in hand (bits) can block."""
    twins: Int  # [3, 3] Two kinds of the same points, and whether a king blocks only one of them.
    twin_pairs: Bits  # [3] All pairs except those that exchanging the twins makes superfluous.
    radix: Int  # [9] Weight of a tile of each kind in a code, and the number of codes.
    permit: Int  # [1] KING_PERMIT.


class Deal(NamedTuple):
    """The sub-hands of four hands; index: 256 * seat + number."""

    weight: Int  # [4, 8] What a tile of a kind adds to the number of a seat's sub-hand.
    pairs: Bits  # [2, 1024] Playable pairs; second row: with a king face up.
    size: Int  # [1024] Tiles.
    counts: Int  # [1024] Tiles of each kind, four bits each.
    kinds: Int  # [1024] Bits of the kinds held.
    most: Int  # [1024] Tens of points of the best last pair that these tiles hold.


class Work(NamedTuple):
    """The arrays that a search writes."""

    frames: Int  # [64, 10] The stack.
    moves: Int  # [64, 66] Actions of each frame.
    scores: Int  # [64, 66] Order of the actions: those with higher scores are tried first.
    history: Int  # [4 * 65] How often each seat's actions have cut the search off, by tiles.
    control: Int  # [10] Place in the search.
    targets: Int  # [66, 5] Positions to be valued, with bounds.
    options: Int
    """[2] Plays from the target on after which only the first move of each position is tried; and
    64 - n for a table of 2**n."""


@inlined
def place(bit: Code) -> Any:
    """Returns the place of a single bit."""
    return _PLACE[(bit * _DE_BRUIJN) >> _TOP_SIX]


@inlined
def sub_hand(ids: Any, seat: Any) -> Any:
    """Returns the index in ``Deal`` of a seat's sub-hand: ``ids`` has eight bits for each seat."""
    return SUB_HANDS * seat + ((ids >> (8 * seat)) & 255)


@inlined
def most_points(points: Int, pairs: Code, status: Any) -> Any:
    """Returns the most tens of points of a last pair, of those in the bits ``pairs``."""
    best = 0
    while pairs != 0:
        # Takes the lowest bit that is set, and clears it.
        bit = pairs & (~pairs + _ONE)
        pairs ^= bit
        best = max(best, points[status * ACTIONS + 1 + place(bit)])
    return best


@inlined
def settle(
    pairs: Bits, blocks: Bits, passes: Int, up: Any, ids: Any, seat: Any, status: Any
) -> Any:
    """Passes for seats that can do nothing else; returns seat, status, passes of the next choice.

    All leads get the same status, whatever attack was passed. ``up``: 1 if a king lies face up,
    the row of ``pairs``.
    """
    passed = passes[status]
    while passed != LEADS and pairs[up, sub_hand(ids, seat)] & blocks[status] == 0:
        status += PASSED
        passed += 1
        seat = (seat + 1) & 3
    if passed == LEADS:
        status = LEAD + up
    return seat, status, passed


@inlined
def run_out(
    counts: Int, kinds: Int, size: Int, stopped: Int, finish: Int, ids: Any, seat: Any, legal: Code
) -> Any:
    """Returns tens of points that a leader makes by attacks that no opponent can stop; 0: none.

    With n plays left it takes n - 1 such attacks; the last attack need not be one of them. A king
    that may attack now may do so later, if the kings attack first.
    """
    mine = sub_hand(ids, seat)
    opponents = kinds[sub_hand(ids, (seat + 1) & 3)] | kinds[sub_hand(ids, (seat + 3) & 3)]
    safe = kinds[mine] & ~stopped[opponents]
    if legal & _KING_COLUMN == 0:  # the king, bit 7, may not attack
        safe &= 127
    hand, needed = counts[mine], size[mine] // 2 - 1
    num_safe = 0
    for kind in range(8):
        num_safe += ((hand >> (4 * kind)) & 15) * ((safe >> kind) & 1)
    best = 0
    if num_safe >= needed:
        # The last attack, and its block if alike, are not among the safe attacks before it.
        for kind in range(8):
            tiles, is_safe = (hand >> (4 * kind)) & 15, (safe >> kind) & 1
            if tiles and (kind != 7 or is_safe):
                if num_safe - is_safe >= needed:
                    best = max(best, finish[0, kind])
                if tiles > 1 and num_safe - 2 * is_safe >= needed:
                    best = max(best, finish[1, kind])
    return best


@inlined
def without_twins(
    counts: Int, kinds: Int, twins: Int, twin_pairs: Bits, ids: Any, attack: Any, pairs: Code
) -> Any:
    """Returns the bits ``pairs`` without pairs that have the same effect as others.

    Two kinds can be exchanged if all four hands hold equally many tiles of both.
    """
    differs, kinds_held = 0, 0
    for seat in range(4):
        tiles = counts[sub_hand(ids, seat)]
        # The four bits of a kind are 0 where the next kind has as many tiles.
        differs |= tiles ^ (tiles >> 4)
        kinds_held |= kinds[sub_hand(ids, seat)]
    for n in range(len(twins)):
        lower, upper = twins[n, 0], twins[n, 1]
        # Twins that a king tells apart can be exchanged if no hand holds a king (bit 7).
        equal = (differs >> (4 * lower)) & 15 == 0 and (twins[n, 2] == 0 or kinds_held < 128)
        if equal and attack not in (lower, upper):
            pairs &= twin_pairs[n]
    return pairs


@inlined
def look_up(table: Int, shift: Code, key: Any) -> Any:
    """Returns the entry of a position, or 0, and the index of its entry, written or not."""
    index = np.int64((np.uint64(key) * _GOLDEN) >> shift)
    entry = table[index]
    if entry & KEY_MASK != key:
        entry = table[index ^ 1]
        if entry & KEY_MASK == key:
            index ^= 1
        else:
            entry = 0
    return entry, index


@compiled
def after_move(
    rules: RuleArrays, deal: Deal, where: tuple[int, int, int], move: int
) -> tuple[int, int, int, int]:
    """Returns sub-hands, seat and status after a move, and the value if it ends the round, else 0.

    The search repeats these lines: with a call of this function it takes a third longer.
    """
    ids, seat, status = where
    key, value = status * ACTIONS + move, 0
    if move:
        if deal.size[sub_hand(ids, seat)] == 2:
            value = rules.points[key] if seat & 1 == 0 else -rules.points[key]
        pair = move - 1
        ids -= (deal.weight[seat, pair >> 3] + deal.weight[seat, pair & 7]) << (8 * seat)
    return ids, (seat + 1) & 3, rules.after[key], value


@compiled
def best_known(work: Work, table: Int, key: int) -> int:
    """Returns the best move that the table holds for a position, NO_MOVE if none."""
    entry, _ = look_up(table, np.uint64(work.options[SHIFT]), key)
    return (entry >> MOVE) & 127 if entry else NO_MOVE


@inlined
def remember(size: Int, table: Int, shift: Code, key: Any, bounds: Any, move: Any) -> None:
    """Writes bounds and best move of a position into the table.

    Two neighbouring places hold the position with the most tiles, and the one written last.
    """
    entry, index = look_up(table, shift, key)
    tiles = 0
    for seat in range(4):
        tiles += size[sub_hand(key, seat)]
    low, high = bounds
    if entry:
        low = max(low, ((entry >> LOW) & 31) - 10)
        high = min(high, ((entry >> HIGH) & 31) - 10)
    elif (table[index] >> TILES) <= (tiles >> 1):
        table[index ^ 1] = table[index]
    else:
        index ^= 1
    packed_bounds = ((low + 10) << LOW) | ((high + 10) << HIGH)
    table[index] = key | packed_bounds | (move << MOVE) | ((tiles >> 1) << TILES)


@inlined
def order_moves(
    tiles: Any, lists: Any, stopped: Int, finish: Int, where: Any, legal: Code, first: Any
) -> Any:
    """Lists the moves of a position with their scores; returns their number.

    Moves with higher scores are tried first.

    Args:
        tiles: counts, kinds and size of the deal.
        lists: moves and scores, which are filled in, and history of the work.
        stopped: of the rules.
        finish: of the rules.
        where: depth, sub-hands, seat, and passes since the attack.
        legal: bits of the pairs.
        first: a move to be tried before all others.
    """
    counts, kinds, size = tiles
    moves, scores, history = lists
    depth, ids, seat, passed = where
    leads = passed == LEADS
    next_hand, partner_hand = sub_hand(ids, (seat + 1) & 3), sub_hand(ids, (seat + 2) & 3)
    previous_hand, counts_held = sub_hand(ids, (seat + 3) & 3), counts[sub_hand(ids, seat)]
    opponents = kinds[next_hand] | kinds[previous_hand]
    next_stops, previous_stops = stopped[kinds[next_hand]], stopped[kinds[previous_hand]]
    partner_stops, loose = stopped[kinds[partner_hand]], ~stopped[opponents]
    next_danger = _STOPPED + _STOPPED_LAST * (size[next_hand] == 2)
    previous_danger = _STOPPED_LAST * (size[previous_hand] == 2)
    num_moves = 0
    while legal != 0:
        bit = legal & (~legal + _ONE)
        legal ^= bit
        pair = place(bit)
        block, attack = pair >> 3, pair & 7
        score = min(history[65 * seat + pair + 1] >> _HISTORY_SHIFT, _HISTORY_CAP)
        score += ((counts_held >> (4 * attack)) & 15) - _KING_BLOCK * (block == 7)
        next_blocks = (next_stops >> attack) & 1
        score -= next_danger * next_blocks + previous_danger * ((previous_stops >> attack) & 1)
        score += _SAFE * ((loose >> attack) & 1)
        if (partner_stops >> attack) & 1:
            ends = size[partner_hand] == 2 and not next_blocks
            score += _PARTNER + _PARTNER_LAST * ends
        if leads:
            score += _PLENTY * ((counts_held >> (4 * block)) & 15) - _WORTH * finish[0, block]
            score += _DEFENCE * ((opponents >> block) & 1) - _LOOSE * ((loose >> block) & 1)
        moves[depth, num_moves] = pair + 1
        scores[depth, num_moves] = score + ((pair + 1 == first) << 40)  # above all scores
        num_moves += 1
    if not leads:
        score = _PASSES[passed] + min(history[65 * seat] >> _HISTORY_SHIFT, _HISTORY_CAP)
        moves[depth, num_moves] = 0
        scores[depth, num_moves] = score + ((first == 0) << 40)
        num_moves += 1
    return num_moves


@inlined
def pick(frames: Int, moves: Int, scores: Int, depth: Any) -> Any:
    """Returns the best move of a frame that was not tried yet, and moves it behind those tried."""
    tried = frames[depth, TRIED]
    best = tried
    for n in range(tried + 1, frames[depth, MOVES]):
        if scores[depth, n] > scores[depth, best]:
            best = n
    move = moves[depth, best]
    moves[depth, best], scores[depth, best] = moves[depth, tried], scores[depth, tried]
    frames[depth, TRIED], frames[depth, MADE] = tried + 1, move
    return move


@compiled
def search(  # noqa: PLR0912, PLR0915
    rules: RuleArrays, deal: Deal, work: Work, table: Int, aim: int, limit: int
) -> int:
    """Continues the search at the place in ``control``, until ``limit`` nodes have been counted.

    It is one long function, because so the state of the search stays in registers: several
    functions that pass the state to each other take ten times as long.

    Returns:
        A bound of the value in tens of points. If it is at least the aim, the value is not below
        the bound; else the value is not above it. PAUSED: not finished.
    """
    points, blocks, stopped, finish = rules.points, rules.blocks, rules.stopped, rules.finish
    weight, pairs, size, last_points = deal.weight, deal.pairs, deal.size, deal.most
    counts, kinds, twins, twin_pairs = deal.counts, deal.kinds, rules.twins, rules.twin_pairs
    frames, moves, scores, history = work.frames, work.moves, work.scores, work.history
    after, control, options = rules.after, work.control, work.options
    attacks, passes, king_up = rules.attack, rules.passes, rules.king_up
    shift, horizon = np.uint64(options[SHIFT]), options[HORIZON]
    depth, step, nodes, value = control[DEPTH], control[STEP], control[NODES], 0
    ids, seat, status = control[AT_IDS], control[AT_SEAT], control[AT_STATUS]
    plays = control[AT_PLAYS]
    while True:
        if step == ENTER:
            if nodes >= limit:
                control[DEPTH], control[STEP], control[NODES] = depth, step, nodes
                control[AT_IDS], control[AT_SEAT], control[AT_STATUS] = ids, seat, status
                control[AT_PLAYS] = plays
                return PAUSED
            nodes += 1
            step = RETURN  # unless neither the tiles nor the table decide about the aim
            up = king_up[status]
            seat, status, passed = settle(pairs, blocks, passes, up, ids, seat, status)
            even = seat & 1 == 0
            value = max(last_points[sub_hand(ids, 0)], last_points[sub_hand(ids, 2)])
            if value < aim:
                continue
            value = -max(last_points[sub_hand(ids, 1)], last_points[sub_hand(ids, 3)])
            if value >= aim:
                continue
            mine, leads = sub_hand(ids, seat), passed == LEADS
            legal = pairs[up, mine] & blocks[status]
            if size[mine] == 2 or leads:
                # ``leads`` says from here on whether the value is exact, as that of a leader with
                # two tiles is, who must play them. Other seats may do better than the value.
                if size[mine] == 2:
                    value = most_points(points, legal, status)
                else:
                    value = run_out(counts, kinds, size, stopped, finish, ids, seat, legal)
                    leads = False
                if value:
                    value = value if even else -value
                    if leads or (value >= aim) == even:
                        continue
            first = NO_MOVE
            entry, _ = look_up(table, shift, ids | (seat << 32) | (status << 34))
            if entry:
                value = ((entry >> LOW) & 31) - 10
                if value >= aim:
                    continue
                value = ((entry >> HIGH) & 31) - 10
                if value < aim:
                    continue
                first = (entry >> MOVE) & 127
            step = NEXT
            depth += 1
            attack = attacks[status]
            legal = without_twins(counts, kinds, twins, twin_pairs, ids, attack, legal)
            where = (depth, ids, seat, passed)
            tiles, lists = (counts, kinds, size), (moves, scores, history)
            num_moves = order_moves(tiles, lists, stopped, finish, where, legal, first)
            frames[depth, IDS], frames[depth, SEAT], frames[depth, STATUS] = ids, seat, status
            frames[depth, PLAYS], frames[depth, TRIED] = plays, 0
            frames[depth, MOVES] = num_moves
            frames[depth, LIMIT] = 1 if plays >= horizon else num_moves
            frames[depth, VALUE] = WORST - 1 if even else BEST + 1
            frames[depth, BEST_MOVE] = NO_MOVE
        elif step == RETURN:
            if depth < 0:
                control[NODES] = nodes
                return value
            ids, seat, best = frames[depth, IDS], frames[depth, SEAT], frames[depth, VALUE]
            even = seat & 1 == 0
            if value != best and (value > best) == even:
                best = value
                frames[depth, VALUE], frames[depth, BEST_MOVE] = value, frames[depth, MADE]
            cut = (value >= aim) == even
            if not cut and frames[depth, TRIED] < frames[depth, LIMIT]:
                step = NEXT
                continue
            if cut:
                history[65 * seat + frames[depth, MADE]] += size[sub_hand(ids, seat)] ** 2
            key = ids | (seat << 32) | (frames[depth, STATUS] << 34)
            bounds = (best, BEST) if best >= aim else (WORST, best)
            remember(size, table, shift, key, bounds, frames[depth, BEST_MOVE])
            value = best
            depth -= 1
        else:
            move = pick(frames, moves, scores, depth)
            ids, seat, plays = frames[depth, IDS], frames[depth, SEAT], frames[depth, PLAYS]
            key = frames[depth, STATUS] * ACTIONS + move
            step = ENTER
            if move:
                if size[sub_hand(ids, seat)] == 2:
                    value = points[key] if seat & 1 == 0 else -points[key]
                    step = RETURN
                pair = move - 1
                ids -= (weight[seat, pair >> 3] + weight[seat, pair & 7]) << (8 * seat)
                plays += 1
            status = after[key]
            seat = (seat + 1) & 3


@inlined
def tiles_of_sub_hand(radix: Int, hand: Int, index: int) -> tuple[int, int, int, int]:
    """Returns code, size, counts (four bits a kind) and kinds (one bit each) of a sub-hand.

    ``index``: its number among the sub-hands of ``hand``, [8] tiles of each kind.
    """
    digits, code, size, counts, kinds = index, 0, 0, 0, 0
    for kind in range(8):
        tiles = digits % (hand[kind] + 1)
        digits //= hand[kind] + 1
        code += tiles * radix[kind]
        size += tiles
        counts |= tiles << (4 * kind)
        kinds |= (tiles > 0) << kind
    return code, size, counts, kinds


@compiled
def prepare(codes: Int, rules: RuleArrays, deal: Deal) -> int:
    """Lists the sub-hands of four hands in ``deal``; returns the numbers of the hands themselves.

    ``codes``: [4] hands by seat, with KING_PERMIT where a seat has it.
    """
    permit, ids = rules.permit[0], 0
    hand = np.zeros(8, np.int64)
    for seat in range(4):
        flag, hand_code = codes[seat] & permit, codes[seat] & (permit - 1)
        # Sub-hands are numbered in mixed radix: of a kind there are 0 to ``hand[kind]`` tiles.
        num_sub_hands = 1
        for kind in range(8):
            hand[kind] = hand_code % rules.radix[kind + 1] // rules.radix[kind]
            deal.weight[seat, kind] = num_sub_hands
            num_sub_hands *= hand[kind] + 1
        ids |= (num_sub_hands - 1) << (8 * seat)  # a whole hand is the last of its sub-hands
        for index in range(num_sub_hands):
            place = SUB_HANDS * seat + index
            code, size, counts, kinds = tiles_of_sub_hand(rules.radix, hand, index)
            deal.pairs[0, place] = rules.pairs[code | flag]
            deal.pairs[1, place] = rules.pairs[code | permit]
            deal.size[place], deal.counts[place], deal.kinds[place] = size, counts, kinds
            deal.most[place] = most_points(rules.points, deal.pairs[1, place], LEAD)
    return ids


@compiled
def value_targets(
    rules: RuleArrays, deal: Deal, work: Work, table: Int, num_targets: int, limit: int
) -> bool:
    """Narrows the bounds of the first targets until they meet; returns whether they all do.

    A null window is moved to where the value seems to be (MTD(f): Plaat and others, 1996). The
    search stops when ``control[NODES]`` reaches the limit; a later call resumes it.
    """
    control = work.control
    while control[TARGET] < num_targets:
        target = work.targets[control[TARGET]]
        if target[T_LOW] >= target[T_HIGH]:
            control[TARGET] += 1
            control[GUESS] = target[T_LOW]
            continue
        if control[AIM] == PAUSED:
            control[AIM] = min(max(control[GUESS], target[T_LOW] + 1), target[T_HIGH])
            control[DEPTH], control[STEP], control[AT_PLAYS] = -1, ENTER, 0
            control[AT_IDS], control[AT_SEAT] = target[T_IDS], target[T_SEAT]
            control[AT_STATUS] = target[T_STATUS]
        bound = search(rules, deal, work, table, control[AIM], limit)
        if bound == PAUSED:
            return False
        if bound >= control[AIM]:
            target[T_LOW], control[GUESS] = bound, bound + 1
        else:
            target[T_HIGH], control[GUESS] = bound, bound
        control[AIM] = PAUSED
    return True


@compiled
def value_world(
    rules: RuleArrays,
    deal: Deal,
    work: Work,
    table: Int,
    root: Int,
    legal: Int,
    values: Int,
    limit: int,
) -> bool:
    """Values the legal actions of a position from scratch; returns whether the nodes sufficed.

    Args:
        rules: of the position.
        deal: is filled in.
        work: holds the options; ``control[NODES]`` holds the nodes afterwards.
        table: int64 [2**n]; is emptied.
        root: [6] codes of the hands by seat with KING_PERMIT, seat, status.
        legal: [A] the actions.
        values: [A] is filled in: tens of points for seats 0 and 2.
        limit: nodes at which to give up.
    """
    before, num_targets = (prepare(root[:4], rules, deal), root[4], root[5]), 0
    table[:] = 0
    work.history[:] = 0
    for n in range(len(legal)):
        ids, seat, status, end_value = after_move(rules, deal, before, legal[n])
        values[n] = end_value if end_value else PAUSED  # a round that ends is never worth 0
        if end_value == 0:
            target = work.targets[num_targets]
            target[T_IDS], target[T_SEAT], target[T_STATUS] = ids, seat, status
            target[T_LOW], target[T_HIGH] = WORST, BEST
            num_targets += 1
    work.control[NODES] = 0
    work.control[TARGET], work.control[GUESS], work.control[AIM] = 0, 0, PAUSED
    is_finished = value_targets(rules, deal, work, table, num_targets, limit)
    # Actions that do not end the round have the targets, in order.
    target_index = 0
    for n in range(len(legal)):
        if values[n] == PAUSED:
            values[n] = work.targets[target_index, T_LOW]
            target_index += 1
    return is_finished
