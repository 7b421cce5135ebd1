"""Draws the table of Uke-Shogi in characters, all hands open: a line for each seat."""

from __future__ import annotations

from typing import Final

from goita_env.tiles import CHARACTERS
from goita_env.uke_shogi.game import UkeShogiGame
from goita_env.uke_shogi.rules import PASS

_PASSED: Final = "・"


def table(game: UkeShogiGame) -> str:
    """Returns a drawing of the whole table: what each seat did in order, then its hand.

    A dot stands for a pass.
    """
    done: list[list[str]] = [[] for _ in game.hands]
    for seat, action in game.moves:
        done[seat].append(_PASSED if action == PASS else CHARACTERS[action - 1])
    longest = max(map(len, done))
    lines = [f"Uke-Shogi, {game.rules.players} players, {game.rules.tiles} tiles", ""]
    for seat, hand in enumerate(game.hands):
        name = f"  seat {seat}{_remark(game, seat)}"
        # A tile and a space are three columns wide.
        row = "".join(f"{tile} " for tile in done[seat]) + "   " * (longest - len(done[seat]))
        tiles = "".join(tile * count for tile, count in zip(CHARACTERS, hand, strict=True))
        lines.append(f"{name:<26}{row}| {tiles}".rstrip())
    return "\n".join([*lines, "", _moment(game)])


def _remark(game: UkeShogiGame, seat: int) -> str:
    """Returns what is to be said of a seat beside its name."""
    remarks = {", dealer": game.dealer, ", to move": game.seat, ", wins": game.winner}
    return "".join(remark for remark, one in remarks.items() if one == seat)


def _moment(game: UkeShogiGame) -> str:
    """Returns a line on what is asked now, or on how it ended."""
    if game.winner is not None:
        gains = ", ".join(f"{gain:+g}" for gain in game.rewards())
        return f"seat {game.winner} has played its last tile: {gains}"
    if game.led is None:
        return f"seat {game.seat} leads"
    may = ["pass" if action == PASS else CHARACTERS[action - 1] for action in game.legal_actions()]
    return f"seat {game.seat} is to match {CHARACTERS[game.led]}: {' or '.join(may)}"
