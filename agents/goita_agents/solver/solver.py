"""Solves positions: feeds the compiled search and reads its bounds.

A ``Solver`` keeps its table as long as the hands of each position are parts of the hands of the
first one, as all positions of a round are.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from functools import cache
from math import inf
from typing import Final, NamedTuple

import numpy as np

from goita_agents.base import is_whole
from goita_agents.compiling import announced
from goita_agents.solver import kernel
from goita_agents.solver.kernel import BEST, LEAD, PAUSED, WORST, Deal, Int, Work
from goita_agents.solver.position import Position, Solvable, position_of
from goita_agents.solver.rule_arrays import rule_arrays
from goita_agents.solver.solution import Solution
from goita_env import actions
from goita_env.engine.solver_api import CODE_MASK, KING_PERMIT, code_counts
from goita_env.errors import IllegalActionError, SettingError
from goita_env.rules import JGA, Rules
from goita_env.tiles import NUM_SEATS

NO_HORIZON: Final = 99  # More plays than a round has.
TABLE_BITS: Final = 20
"""A table of 2**20 positions, 8 MiB: enough for whole deals, and emptied in half a millisecond."""

_BYTES: Final = 8 * np.arange(NUM_SEATS)

_NODES_PER_LOOK: Final = 100_000
"""Nodes between two looks at the clock, about 10 ms; Ctrl-C works only then, too."""


class Limits:
    """Limits of nodes and seconds, above 0; the clock begins with the object."""

    def __init__(self, nodes: int | None = None, seconds: float | None = None) -> None:
        if nodes is not None and (not is_whole(nodes) or nodes < 1):
            raise SettingError(f"expected a limit of 1 node or more, got {nodes!r}")
        if seconds is not None and not seconds > 0:
            raise SettingError(f"expected a limit above 0 seconds, got {seconds!r}")
        self._nodes = inf if nodes is None else nodes
        self._slice = _NODES_PER_LOOK if seconds is None else _NODES_PER_LOOK // 10
        self._end = inf if seconds is None else time.perf_counter() + seconds

    def reached(self, nodes: int) -> bool:
        return nodes >= self._nodes or time.perf_counter() >= self._end

    def next(self, nodes: int) -> int:
        """Returns the number of nodes at which to look at the clock again."""
        return int(min(nodes + self._slice, self._nodes))


class Solver:
    """A solver of positions; it keeps its table while they belong to one round.

    Args:
        table_bits: the table holds at most 2**table_bits positions of 8 bytes; for late positions
            a part of it is used.
    """

    def __init__(self, table_bits: int = TABLE_BITS) -> None:
        self._table_bits = table_bits
        self._table: Int = np.zeros(1 << table_bits, np.int64)
        # 65 pairs and passes are keys of the history; the lists have a place to spare.
        subs, depth, moves = NUM_SEATS * kernel.SUB_HANDS, kernel.MAX_DEPTH, 66
        self._deal = Deal(
            weight=_zeros(NUM_SEATS, 8),
            pairs=np.zeros((2, subs), np.uint64),
            size=_zeros(subs),
            counts=_zeros(subs),
            kinds=_zeros(subs),
            most=_zeros(subs),
        )
        self._work = Work(
            frames=_zeros(depth, 10),
            moves=_zeros(depth, moves),
            scores=_zeros(depth, moves),
            history=_zeros(NUM_SEATS * 65),
            control=_zeros(10),
            targets=_zeros(moves, 5),
            options=np.array([NO_HORIZON, 0]),
        )
        self._root: tuple[Rules, Int, list[int]] | None = None
        """Of the first position of the round: rules, [4, 8] tiles in hands, KING_PERMIT by seat."""
        self.stop = threading.Event()  #: Ends a search within some milliseconds, unfinished.

    def solve(
        self,
        position: Solvable,
        *,
        nodes: int | None = None,
        seconds: float | None = None,
        rules: str | Rules = JGA,
    ) -> Solution:
        """Solves a position: see ``goita_agents.solver.solve``."""
        limits = Limits(nodes, seconds)
        place = position_of(position, rules)
        load_kernel()
        start = time.perf_counter()
        node = self._enter(place)
        bounds = self._actions(node, limits)
        line = self._line(node, bounds, limits)
        return Solution(
            position=place,
            bounds=bounds,
            line=line,
            nodes=self.nodes,
            seconds=time.perf_counter() - start,
        )

    def evaluate(
        self, rules: Rules, root: Int, legal: Int, nodes: int, horizon: int = NO_HORIZON
    ) -> Int | None:
        """Values the legal actions of a position, searching as far as a horizon.

        Beyond the horizon each seat plays the move that the search would try first, so a position
        there is valued by about one playout. Nothing is kept from one call to the next.

        Args:
            rules: the rule set.
            root: int64 [6] codes of the hands by seat with KING_PERMIT, seat, status.
            legal: int64 [A] its legal actions.
            nodes: most positions to search.
            horizon: number of plays, the first one included.

        Returns:
            int64 [A] points for seats 0 and 2; None: the nodes did not suffice.
        """
        load_kernel()
        self._root = None
        values = np.empty(len(legal), np.int64)
        arrays, work = rule_arrays(rules), self._work
        bits = self._bits(int(code_counts()[root[:NUM_SEATS] & CODE_MASK].sum()))
        work.options[kernel.HORIZON], work.options[kernel.SHIFT] = horizon - 1, 64 - bits
        table = self._table[: 1 << bits]
        is_finished = kernel.value_world(
            arrays, self._deal, work, table, root, legal, values, nodes
        )
        return 10 * values if is_finished else None

    def compare(self, position: Solvable, action: int) -> tuple[int, int]:
        """Returns the points of a position for the acting seat's team, and those after an action.

        Raises:
            IllegalActionError: if the action is not legal there.
        """
        node = self._enter(position)
        legal = self._legal(node)
        if action not in legal:
            names = " ".join(map(actions.name, legal))
            raise IllegalActionError(
                f"expected one of {names} from seat {node.seat}, got {action!r}"
            )
        # Without limits the lower and the upper bound of each position meet.
        (best, _), (value, _) = self._bounds([node, self._after(node, action)], node.seat, Limits())
        return best, value

    def values(self, position: Solvable) -> dict[int, int]:
        """Returns the points of each legal action for the acting team: quicker than ``solve``."""
        bounds = self._actions(self._enter(position), Limits())  # which meet without limits
        return {action: low for action, (low, _) in bounds.items()}

    def legal_actions(self, position: Solvable) -> list[int]:
        """Returns the legal actions of a position in order."""
        return self._legal(self._enter(position))

    @property
    def nodes(self) -> int:
        """Number of positions that the last call searched."""
        return int(self._work.control[kernel.NODES])

    def _enter(self, source: Solvable) -> _Node:
        """Returns a position's node; its rules hold for all methods until the next call."""
        position = position_of(source)
        load_kernel()
        self._arrays = rule_arrays(position.rules)
        codes = np.array(position.codes)
        counts = code_counts()[codes & CODE_MASK].astype(np.int64)
        flags = (codes & KING_PERMIT).tolist()
        root = self._root
        is_same_round = root is not None and root[0] == position.rules and root[2] == flags
        self._work.options[kernel.HORIZON] = NO_HORIZON
        if root is None or not is_same_round or (counts > root[1]).any():
            self._root = None  # until all is in place, should this be interrupted
            kernel.prepare(codes, self._arrays, self._deal)
            bits = self._bits(int(counts.sum()))
            self._table[: 1 << bits] = 0
            self._work.options[kernel.SHIFT] = 64 - bits
            self._work.history[:] = 0
            self._root = position.rules, counts, flags
        self._work.control[kernel.NODES] = 0
        sub_hands = (counts * self._deal.weight).sum(axis=1)
        ids = int((sub_hands << _BYTES).sum())
        return _Node(ids, position.seat, position.status or LEAD)

    def _call_all(self) -> None:
        """Calls every compiled function once."""
        place = Position.set_up(["12", "34", "15", "26"], seat=0)
        arrays, deal, work = rule_arrays(place.rules), self._deal, self._work
        codes, legal = np.array(place.codes), np.array([2, 9])
        kernel.prepare(codes, arrays, deal)
        work.options[kernel.SHIFT] = 63
        root, values = np.array([*codes, place.seat, place.status]), np.zeros(2, np.int64)
        kernel.value_world(arrays, deal, work, self._table, root, legal, values, 100)
        kernel.value_targets(arrays, deal, work, self._table, 0, 100)
        kernel.best_known(work, self._table, 1)
        kernel.after_move(arrays, deal, (0, 0, LEAD), 0)

    def _bits(self, tiles: int) -> int:
        """Returns the bits of the part of the table that ``tiles`` in all hands need."""
        needed = self._table_bits if tiles >= 28 else 10 + max(tiles - 12, 0) // 2
        return min(needed, self._table_bits)

    def _legal(self, node: _Node) -> list[int]:
        arrays, status = self._arrays, node.status
        sub_hand = kernel.SUB_HANDS * node.seat + ((node.ids >> (8 * node.seat)) & 255)
        pairs = int(self._deal.pairs[arrays.king_up[status], sub_hand] & arrays.blocks[status])
        legal = [] if arrays.passes[status] == kernel.LEADS else [actions.PASS]
        while pairs:
            legal.append((pairs & -pairs).bit_length())  # the lowest pair's action: 1 + its place
            pairs &= pairs - 1
        return legal

    def _after(self, node: _Node, action: int) -> _Node | int:
        """Returns the position after an action, or tens of points for seats 0 and 2 at the end."""
        before = (node.ids, node.seat, node.status)
        *moved, ends = kernel.after_move(self._arrays, self._deal, before, action)
        return ends or _Node(*moved)

    def _actions(self, node: _Node, limits: Limits) -> dict[int, tuple[int, int]]:
        """Returns bounds of the points of each legal action for the acting seat's team."""
        legal = self._legal(node)
        nodes = [self._after(node, action) for action in legal]
        return dict(zip(legal, self._bounds(nodes, node.seat, limits), strict=True))

    def _bounds(
        self, nodes: Sequence[_Node | int], seat: int, limits: Limits
    ) -> list[tuple[int, int]]:
        """Returns bounds of the points of positions, or ended rounds, for a seat's team."""
        # From tens of points of seats 0 and 2 to points of the seat's team.
        sign, targets = 10 * (1 - 2 * (seat & 1)), self._work.targets
        searched = [node for node in nodes if not isinstance(node, int)]
        for index, node in enumerate(searched):
            targets[index] = *node, WORST, BEST
        self._search(len(searched), limits)
        target_bounds = iter(targets[:, kernel.T_LOW :].tolist())
        bounds = [(node, node) if isinstance(node, int) else next(target_bounds) for node in nodes]
        # For seats 1 and 3 the sign changes, so the lower bound becomes the upper one.
        return [(min(sign * x, sign * y), max(sign * x, sign * y)) for x, y in bounds]

    def _search(self, targets: int, limits: Limits) -> bool:
        """Narrows the bounds of targets within the limits; returns whether they all meet."""
        control, arrays = self._work.control, self._arrays
        control[kernel.TARGET], control[kernel.GUESS], control[kernel.AIM] = 0, 0, PAUSED
        while not (limits.reached(int(control[kernel.NODES])) or self.stop.is_set()):
            limit = limits.next(int(control[kernel.NODES]))
            if kernel.value_targets(arrays, self._deal, self._work, self._table, targets, limit):
                return True
        return False

    def _line(
        self, node: _Node, bounds: dict[int, tuple[int, int]], limits: Limits
    ) -> tuple[tuple[int, int], ...]:
        """Returns one best line from a position on, as far as the limits allow."""
        value = max(low for low, _ in bounds.values())
        if value != max(high for _, high in bounds.values()):
            return ()
        action: int | None = next(a for a, bound in bounds.items() if bound == (value, value))
        # From points of the acting seat's team to tens of points of seats 0 and 2.
        aim, line = value // 10 * (1 - 2 * (node.seat & 1)), []
        while action is not None:
            line.append((node.seat, action))
            after = self._after(node, action)
            if isinstance(after, int):
                break
            node = after
            action = self._keeping_action(node, aim, limits)
        return tuple(line)

    def _keeping_action(self, node: _Node, aim: int, limits: Limits) -> int | None:
        """Returns an action that keeps a position's value; None: the limits were reached.

        ``aim``: this value, in tens of points for seats 0 and 2.
        """
        legal = self._legal(node)
        key = node.ids | (node.seat << 32) | (node.status << 34)
        best_move = kernel.best_known(self._work, self._table, key)
        legal.sort(key=lambda action: action != best_move)
        # No action does better than the value for the acting seat's team. So of an action that does
        # not keep it, the value is below the aim for seats 0 and 2, and above it for the others: a
        # window of one step on that side is enough.
        window = (aim - 1, aim) if node.seat % 2 == 0 else (aim, aim + 1)
        for action in legal[:-1]:
            after = self._after(node, action)
            if isinstance(after, int):  # the round is over
                if after == aim:
                    return action
                continue
            self._work.targets[0] = *after, *window
            if not self._search(1, limits):
                return None
            if self._work.targets[0, kernel.T_LOW] == aim:
                return action
        return legal[-1]  # some action keeps the value


class _Node(NamedTuple):
    """A position by the numbers of its sub-hands."""

    ids: int
    seat: int
    status: int


def _zeros(*shape: int) -> Int:
    return np.zeros(shape, np.int64)


@cache
def load_kernel() -> None:
    """Loads the search from numba's cache, or compiles it and says so; once."""
    with announced("the solver"):
        Solver(1)._call_all()
