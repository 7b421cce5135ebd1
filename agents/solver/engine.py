"""Solves positions: feeds the compiled search and reads its bounds.

A ``Solver`` keeps its table as long as it is asked about positions whose hands are parts of the
hands of the first one, as all positions of a round are.
"""

from __future__ import annotations

import sys
import threading
import time
from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np

from agents.solver import kernel
from agents.solver.kernel import BEST, LEAD, ORDERINGS, PAUSED, WORST, Deal, Int, Work
from agents.solver.limits import Limits, check_limits, is_whole
from agents.solver.position import Position, Solvable, position_of
from agents.solver.rule_arrays import rule_arrays
from agents.solver.solution import Solution
from goita_env import actions
from goita_env.engine.door import CODE_MASK, KING_PERMIT, code_counts
from goita_env.errors import IllegalActionError, SettingError
from goita_env.rules import JGA, Rules
from goita_env.tiles import NUM_SEATS

NO_HORIZON: Final = 99
TABLE_BITS: Final = 20
"""A table of 2**20 positions, 8 MiB: enough for whole deals, and emptied in half a millisecond."""

_BYTES: Final = 8 * np.arange(NUM_SEATS)


class Solver:
    """Solves positions and keeps what it found while they belong to one round.

    Args:
        table_bits: the table holds at most 2**table_bits positions of 8 bytes; late positions use
            less of it.
        table: use the table.
        ordering: how moves are tried: "best", "plain" (as the actions are numbered) or "reverse".

    Raises:
        SettingError: if an option is impossible.
    """

    def __init__(
        self, table_bits: int = TABLE_BITS, *, table: bool = True, ordering: str = "best"
    ) -> None:
        if not is_whole(table_bits) or not 1 <= table_bits <= 30:
            raise SettingError(f"expected table_bits from 1 to 30, got {table_bits!r}")
        if ordering not in ORDERINGS:
            raise SettingError(f"expected an ordering of {ORDERINGS}, got {ordering!r}")
        self._table_bits = table_bits
        self._table: Int = np.zeros(1 << table_bits, np.int64)
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
            options=np.array([table, ORDERINGS.index(ordering), NO_HORIZON, 0]),
        )
        self._root: tuple[Rules, Int, list[int]] | None = None
        self.stop = threading.Event()
        """Ends a search within some milliseconds, unfinished."""

    def __getstate__(self) -> dict[str, Any]:
        """Pickles without what belongs to this process."""
        return {**self.__dict__, "stop": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Takes on what was pickled."""
        self.__dict__.update({**state, "stop": threading.Event()})

    def solve(
        self,
        position: Solvable,
        *,
        nodes: int | None = None,
        seconds: float | None = None,
        rules: str | Rules = JGA,
    ) -> Solution:
        """Solves a position.

        Args:
            position: a position of play, a game at one, or the record of a deal (or its history
                string) that ends at one.
            nodes: stop after so many; None: no limit.
            seconds: stop after so much time; None: no limit.
            rules: the rule set of a history string.

        Raises:
            SettingError: if a limit is not above 0, or the position is not one of play.
            HandsError, RecordError: if the position or its record is impossible.
        """
        check_limits(nodes, seconds)
        place = position_of(position, rules)
        load_kernel()
        limits, start = Limits(nodes, seconds), time.perf_counter()
        node = self._enter(place)
        bounds = self._actions(place.rules, node, limits)
        line = self._line(place.rules, node, bounds, limits)
        return Solution(place, bounds, line, self.nodes, time.perf_counter() - start)

    def evaluate(
        self, rules: Rules, root: Int, legal: Int, nodes: int, horizon: int = NO_HORIZON
    ) -> Int | None:
        """Values the legal actions of a position, perhaps by a search over a few plays only.

        Beyond the horizon each seat plays the move that the search would try first, so a position
        there is valued by about one playout. Nothing is kept from one call to the next, and nothing
        stops it before its nodes run out.

        Args:
            rules: the rule set.
            root: int64 [6] codes of the hands by seat with KING_PERMIT, seat, status.
            legal: int64 [A] its legal actions.
            nodes: give up after so many.
            horizon: plays, the first one included.

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
        done = kernel.value_world(arrays, self._deal, work, table, root, legal, values, nodes)
        return 10 * values if done else None

    def value(self, position: Solvable) -> int:
        """Returns what a position is worth in points to the mover's team: quicker than solving."""
        return self._best_and(position_of(position), None)[0]

    def compare(self, position: Solvable, action: int) -> tuple[int, int]:
        """Returns what a position is worth to the mover's team, and what it is after an action.

        Args:
            position: as ``solve`` takes it.
            action: a legal action.

        Raises:
            IllegalActionError: if it is not legal there.
        """
        return self._best_and(position_of(position), action)

    def values(self, position: Solvable) -> dict[int, int]:
        """Returns the points of each legal action for the mover's team: ``solve`` without a line.

        Args:
            position: as ``solve`` takes it.
        """
        place = position_of(position)
        load_kernel()
        bounds = self._actions(place.rules, self._enter(place), Limits(None, None))
        return {action: low for action, (low, _) in bounds.items()}

    def legal_actions(self, position: Solvable) -> list[int]:
        """Returns the legal actions of a position in order."""
        place = position_of(position)
        load_kernel()
        return self._legal(place.rules, self._enter(place))

    def forget(self) -> None:
        """Empties the table."""
        self._root = None

    def _best_and(self, position: Position, action: int | None) -> tuple[int, int]:
        """Returns the points of a position, and after an action if there is one."""
        rules, targets = position.rules, self._work.targets
        sign, number, after = 10 * (1 - 2 * (position.seat & 1)), 1, 0
        load_kernel()
        node = self._enter(position)
        targets[0] = *node, WORST, BEST
        if action is not None:
            legal = self._legal(rules, node)
            if action not in legal:
                names = " ".join(actions.name(one) for one in legal)
                raise IllegalActionError(
                    f"expected one of {names} from seat {position.seat}, got {action!r}"
                )
            ends = self._after(rules, node, action)
            if isinstance(ends, int):
                after = ends
            else:
                targets[1] = *ends, WORST, BEST
                number = 2
        self._search(rules, number, Limits(None, None))
        if number == 2:
            after = int(targets[1, kernel.T_LOW])
        return sign * int(targets[0, kernel.T_LOW]), sign * after

    @property
    def nodes(self) -> int:
        """Returns how many positions the last call searched."""
        return int(self._work.control[kernel.NODES])

    def _enter(self, position: Position) -> _Node:
        """Prepares sub-hands and table for a position."""
        codes = np.array(position.codes)
        counts = code_counts()[codes & CODE_MASK].astype(np.int64)
        flags = (codes & KING_PERMIT).tolist()
        kept = self._root
        same = kept is not None and kept[0] == position.rules and kept[2] == flags
        self._work.options[kernel.HORIZON] = NO_HORIZON
        if kept is None or not same or (counts > kept[1]).any():
            self._root = None  # until all is in place, should this be interrupted
            kernel.prepare(codes, rule_arrays(position.rules), self._deal)
            bits = self._bits(int(counts.sum()))
            self._table[: 1 << bits] = 0
            self._work.options[kernel.SHIFT] = 64 - bits
            self._work.history[:] = 0
            self._root = position.rules, counts, flags
        self._work.control[kernel.NODES] = 0
        numbers = (counts * self._deal.weight).sum(axis=1)
        ids = int((numbers << _BYTES).sum())
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
        """Returns the bits of the part of the table that so many tiles in all hands need."""
        needed = self._table_bits if tiles >= 28 else 10 + max(tiles - 12, 0) // 2
        return min(needed, self._table_bits)

    def _legal(self, rules: Rules, node: _Node) -> list[int]:
        """Returns the legal actions of a position."""
        arrays, status = rule_arrays(rules), node.status
        sub_hand = kernel.SUB_HANDS * node.seat + ((node.ids >> (8 * node.seat)) & 255)
        pairs = int(self._deal.pairs[arrays.king_up[status], sub_hand] & arrays.blocks[status])
        found = [] if arrays.passes[status] == kernel.LEADS else [actions.PASS]
        while pairs:
            pair = (pairs & -pairs).bit_length() - 1
            found.append(1 + pair)
            pairs &= pairs - 1
        return found

    def _after(self, rules: Rules, node: _Node, action: int) -> _Node | int:
        """Returns the position after an action, or tens of points for seats 0 and 2 at the end."""
        before = (node.ids, node.seat, node.status)
        *moved, ends = kernel.after_move(rule_arrays(rules), self._deal, before, action)
        return ends or _Node(*moved)

    def _actions(self, rules: Rules, node: _Node, limits: Limits) -> dict[int, tuple[int, int]]:
        """Returns bounds of the points of each legal action for the mover's team."""
        sign, targets = 10 * (1 - 2 * (node.seat & 1)), self._work.targets
        known: dict[int, tuple[int, int]] = {}
        searched: list[int] = []
        for action in self._legal(rules, node):
            after = self._after(rules, node, action)
            if isinstance(after, int):
                known[action] = sign * after, sign * after
            else:
                known[action] = WORST, BEST  # keeps the order of the actions
                targets[len(searched)] = *after, WORST, BEST
                searched.append(action)
        self._search(rules, len(searched), limits)
        for action, target in zip(searched, targets.tolist(), strict=False):
            ends = sign * target[kernel.T_LOW], sign * target[kernel.T_HIGH]
            known[action] = min(ends), max(ends)
        return known

    def _search(self, rules: Rules, targets: int, limits: Limits) -> bool:
        """Narrows the bounds of targets as far as the limits allow; tells whether they all meet."""
        control, arrays = self._work.control, rule_arrays(rules)
        control[kernel.TARGET], control[kernel.GUESS], control[kernel.AIM] = 0, 0, PAUSED
        while not (limits.reached(int(control[kernel.NODES])) or self.stop.is_set()):
            limit = limits.next(int(control[kernel.NODES]))
            if kernel.value_targets(arrays, self._deal, self._work, self._table, targets, limit):
                return True
        return False

    def _line(
        self, rules: Rules, node: _Node, bounds: dict[int, tuple[int, int]], limits: Limits
    ) -> tuple[tuple[int, int], ...]:
        """Returns one best line from a position on, as far as the limits allow."""
        value = max(low for low, _ in bounds.values())
        if value != max(high for _, high in bounds.values()):
            return ()
        action: int | None = next(a for a, bound in bounds.items() if bound == (value, value))
        aim, line = value // 10 * (1 - 2 * (node.seat & 1)), []
        while action is not None:
            line.append((node.seat, action))
            after = self._after(rules, node, action)
            if isinstance(after, int):
                break
            node = after
            action = self._action_worth(rules, node, aim, limits)
        return tuple(line)

    def _action_worth(self, rules: Rules, node: _Node, aim: int, limits: Limits) -> int | None:
        """Returns an action that keeps a position's value; None: the limits were reached."""
        legal = self._legal(rules, node)
        key = node.ids | (node.seat << 32) | (node.status << 34)
        likely = kernel.best_known(self._work, self._table, key)
        legal.sort(key=lambda action: action != likely)
        even = node.seat % 2 == 0
        for action in legal[:-1]:
            after = self._after(rules, node, action)
            if isinstance(after, int):
                if after == aim:
                    return action
                continue
            # No action does better than the value, so a bound on one side is enough.
            self._work.targets[0] = *after, aim - even, aim + (not even)
            if not self._search(rules, 1, limits):
                return None
            if self._work.targets[0, kernel.T_LOW] == aim:
                return action
        return legal[-1]


class _Node(NamedTuple):
    """Holds a position by the numbers of its sub-hands."""

    ids: int
    seat: int
    status: int


def _zeros(*shape: int) -> Int:
    """Returns an array of int64."""
    return np.zeros(shape, np.int64)


@cache
def load_kernel() -> None:
    """Loads the search, as it lies in numba's cache or by compiling it, which it says; once."""
    from numba.core import event

    class Announcement(event.Listener):
        """Says once that the compiler is at work."""

        said = False

        def on_start(self, event: event.Event) -> None:
            """Takes notice of a function that is being compiled, not found in the cache."""
            if not self.said:
                self.said = True
                sys.stderr.write("compiling the solver, once; this takes a few seconds\n")

        def on_end(self, event: event.Event) -> None:
            """Takes notice of the end."""

    with event.install_listener("numba:compile", Announcement()):
        Solver(1)._call_all()
