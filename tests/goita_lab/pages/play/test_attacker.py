"""An attacker at the table: from all that it is given it rebuilds no hand that it cannot see."""

import numpy as np
import pytest

from goita_agents.bots.greedy import GreedyAgent
from goita_env import Game
from goita_env.hands import format_hand
from goita_lab.pages.play import table as tables
from goita_lab.pages.play.seating import MatchSettings
from goita_lab.pages.play.table import PlayTable
from play_tables import any_move, play_on


def numbers(value) -> set[int]:
    """Every whole number in something, those of 128 bits in halves, too."""
    if isinstance(value, dict):
        return set().union(*map(numbers, value.values()))
    if isinstance(value, list | tuple | np.ndarray):
        return set().union(*map(numbers, value))
    if not isinstance(value, int | np.integer) or isinstance(value, bool):
        return set()
    whole = int(value)
    parts = {whole, whole // 4, *(whole >> 32 * shift for shift in range(8))}
    return {abs(part) % 2**64 for part in parts}


class Attacker(GreedyAgent):
    """Tries every number that it is given as the seed of the deals; plays on as ``greedy``."""

    def __init__(self):
        super().__init__()
        self.given, self.guesses, self.deals = set(), [], 0
        self.open: list[list[str]] = []

    def begin(self, games, seats, view):
        self.deals += 1
        self.given |= numbers(games) | numbers(view.game)

    def end(self, games, results, hands):
        self.given |= numbers(games)
        # What was open at the end is part of what it knows: guesses are judged by it.
        self.open.append([format_hand(hand) for hand in hands[0]])

    def act(self, view, legal, rng):
        bits = rng.bit_generator
        seen = bits.seed_seq
        self.given |= numbers(seen.state) | numbers(seen.generate_state(8)) | numbers(bits.state)
        self.given |= numbers(view.game) | numbers(rng.integers(2**63, size=4))
        self.guesses.append((len(self.open), self.rebuilt(view)))
        return super().act(view, legal, rng)

    def rebuilt(self, view) -> list[list[str]]:
        """The deals of all seeds that it tries, as far as they hold its own hand."""
        own = format_hand(view.hand[0] + view.own_face_down[0] + view.face_up[0, 0])
        found = []
        for seed in self.given:
            for number in range(2):  # the first deal of a match, and that of a round
                game = Game(seed=seed, episode=("match", "round")[number])
                hands = [format_hand(hand) for hand in game.dealt]
                found += [hands] if own in hands else []
        return found


def attack() -> tuple[int, int]:
    """Plays first rounds of matches with seeds that nobody is told; returns guesses, and hits."""
    guesses = hits = 0
    for one in np.random.default_rng(11).integers(2**60, 2**61, size=4).tolist():
        attacker = Attacker()
        table = PlayTable(MatchSettings(("", "greedy", attacker, "greedy"), one))
        list(play_on(table, any_move(0), rounds=1))
        for number, rebuilt in attacker.guesses:
            guesses += number == 0
            hits += number == 0 and attacker.open[0] in rebuilt
    return guesses, hits


def test_an_agent_rebuilds_no_hidden_hand_from_what_it_is_given():
    guesses, hits = attack()
    assert guesses >= 3
    assert hits == 0


def test_the_attack_succeeds_where_generators_are_those_of_the_seed(monkeypatch):
    def plain(seed: int, purpose: str, *parts: int) -> np.random.Generator:
        return np.random.default_rng((seed, parts[0]))

    monkeypatch.setattr(tables, "bot_generator", plain)
    guesses, hits = attack()
    assert hits == guesses >= 3


def test_the_attack_succeeds_where_the_number_of_the_match_is_its_seed(monkeypatch):
    class Plain:
        def __init__(self, seed: int, *_: str) -> None:
            self.seed = seed

        def numbers(self, games):
            return games + self.seed

    monkeypatch.setattr(tables, "GameNumbers", Plain)
    guesses, hits = attack()
    assert hits == guesses >= 3


@pytest.mark.parametrize("seat", [1, 2, 3])
def test_generators_differ_by_moment_and_seat_and_are_the_same_again(seat):
    drawn = []

    class Noting(GreedyAgent):
        def act(self, view, legal, rng):
            drawn.append(int(rng.integers(2**62)))
            return super().act(view, legal, rng)

    for _ in range(2):
        agents = tuple("" if place == 0 else Noting() if place == seat else "greedy"
                       for place in range(4))  # fmt: skip
        list(play_on(PlayTable(MatchSettings(agents, 5)), any_move(0), rounds=4))
    half = len(drawn) // 2
    assert drawn[:half] == drawn[half:]
    assert len(set(drawn)) == half > 3
