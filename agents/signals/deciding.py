"""Lets a seat decide by what it believes: worlds from an exact belief, every action played out.

The decision rule is that of the rollout bot (``agents.search``), but its worlds come from a belief
whose sources are switched on and off: of each other seat it uses what a decoder makes of its
actions, or its hand is shown. So the rule is fixed, and what differs is what it listens to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from agents.base import Bool, Float, Int
from agents.beliefs import Assumption, DealBelief, Listener
from agents.beliefs.summing import sums
from agents.search.drawing import join, lay_out
from agents.search.halving import Halving
from agents.search.playout import Keys, Player
from agents.search.race import Race
from agents.search.rollout import CAUTION
from agents.signals.listening import NAMES
from goita_env import View
from goita_env.errors import SettingError
from goita_env.seeds import deal_keys
from goita_env.worlds import Worlds

SHOWN: Final = "shown"
"""In place of a decoder: the hand that the seat was dealt is shown."""

ROWS: Final = 64
"""Positions that are searched side by side."""


@dataclass(frozen=True)
class Ear:
    """Says what a seat makes of each other seat's actions: a decoder's name, or ``SHOWN``."""

    name: str
    next: str = "rules"
    partner: str = "rules"
    previous: str = "rules"

    @property
    def sources(self) -> tuple[str, str, str]:
        """Returns the decoders of the relative seats 1 to 3."""
        return self.next, self.partner, self.previous


class Hearing:
    """Keeps the listeners of one seat in several games of one deal, as long as they go alike.

    Args:
        decoders: what is assumed of all other seats, by name.
    """

    def __init__(self, decoders: Mapping[str, Assumption]) -> None:
        self._decoders = decoders
        self._kept: dict[bytes, dict[str, Listener]] = {}

    def beliefs(
        self, views: Sequence[View], names: Sequence[set[str]]
    ) -> list[dict[str, DealBelief]]:
        """Returns what each decoder of a game believes; games that look alike share it.

        Args:
            views: what the seat sees in each game: one row each.
            names: the decoders wanted in each.
        """
        wanted: dict[bytes, set[str]] = {}
        shown = [view.words.tobytes() for view in views]
        for key, some in zip(shown, names, strict=True):
            wanted.setdefault(key, set()).update(some)
        spare, found = list(self._kept.values()), {}
        self._kept = {}
        for key, some in wanted.items():
            view = views[shown.index(key)]
            ears = next((one for one in spare if _hear(one, view)), {})
            spare = [one for one in spare if one is not ears]
            for name in sorted(some - ears.keys()):
                ears[name] = Listener(view, self._decoders[name])
            self._kept[key] = ears
            found[key] = {name: ears[name].deals() for name in some}
        return [found[key] for key in shown]


def mixed(beliefs: Mapping[str, DealBelief], ear: Ear, hands: Int) -> DealBelief:
    """Returns the belief that takes each other seat's factor from the source that an ear names.

        b(d) ~ prior(d) * product over the other seats p of Lambda_p^source(h_p)

    Args:
        beliefs: those of every decoder that the ear names; with ``SHOWN`` also "rules".
        ear: the sources.
        hands: [4, 8] what the relative seats were dealt, for those that are shown.

    Raises:
        SettingError: if the sources leave no deal.
    """
    first = next(iter(beliefs.values()))
    parts = [beliefs["rules" if source == SHOWN else source] for source in ear.sources]
    weights = [part.weights[seat] for seat, part in enumerate(parts)]
    for seat, source in enumerate(ear.sources):
        if source == SHOWN:
            only = np.zeros_like(weights[seat])
            only[first.support.find(hands[seat + 1].astype(np.int64))] = 1
            weights[seat] = weights[seat] * only
    three = weights[0], weights[1], weights[2]
    found = sums(first.support, three, first.apart)
    total = float(found[0].sum())
    if not total > 0:
        raise SettingError(f"expected sources that explain what happened, got {ear!r}")
    states = parts[0].states[0], parts[1].states[1], parts[2].states[2]
    assumed = ear.sources
    marginals = found[0] / total, found[1] / total, found[2] / total
    return replace(
        first, weights=three, marginals=marginals, total=total, states=states, assumed=assumed
    )


def decide(
    player: Player,
    view: View,
    legal: Bool,
    favourite: Int,
    worlds: Sequence[Worlds],
    keys: Keys,
    caution: float = CAUTION,
) -> Int:
    """Returns the action of each row that does best in its worlds: int64 [R].

    Args:
        player: plays the rounds out.
        view: R positions.
        legal: bool [R, 69].
        favourite: [R] actions that stand unless another is better by more than chance.
        worlds: as many for each row, equally likely.
        keys: [R] of all that is random in a row.
        caution: standard errors by which another action has to be better; infinite: never.
    """
    if np.isinf(caution):
        return favourite
    chosen = np.empty(len(view), np.int64)
    each = len(worlds[0]) if len(worlds) else 0
    for start in range(0, len(view), ROWS):
        part = np.arange(start, min(start + ROWS, len(view)))
        games = lay_out(view[part], join(worlds[start : start + ROWS]))
        random = deal_keys(keys[part].repeat(each), np.tile(np.arange(each), len(part)), 0)
        many = np.full(len(part), each)
        race = Halving(legal[part], favourite[part], np.full((len(part), each), 1 / each), many)

        def play(
            pair: Int, world: Int, race: Race = race, games: object = games, random: Keys = random
        ) -> Float:
            row = race.row[pair]
            place = row * each + world
            return player.finish(games, place, race.action[pair], random[place], row)  # type: ignore[arg-type]

        chosen[part] = race.run(play, caution)
    return chosen


def check_sources(ear: Ear, decoders: Mapping[str, object]) -> None:
    """Checks that an ear names decoders that there are.

    Raises:
        SettingError: if not.
    """
    known = [*decoders, SHOWN]
    for name, source in zip(NAMES, ear.sources, strict=True):
        if source not in known:
            raise SettingError(f"expected a source of {known} for {name}, got {source!r}")


def _hear(ears: dict[str, Listener], view: View) -> bool:
    """Has listeners hear a view if it shows a later moment of their round; tells whether it does.

    The first to refuse refuses before it has taken anything in, as do all the others.
    """
    try:
        for ear in ears.values():
            ear.hear(view)
    except SettingError:
        return False
    return bool(ears)
