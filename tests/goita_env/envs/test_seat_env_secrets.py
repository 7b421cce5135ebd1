"""One learner among bots: nothing that a bot is given tells a seed that it doesn't know."""

import copy
import secrets
from types import SimpleNamespace

import numpy as np
import pytest

from goita_env import SeatEnv, SeatVectorEnv, seeds
from goita_env.engine import dealing
from goita_env.engine.tables import code_counts
from playing import after_reset
from seat_playing import Drawing, Habits, Watching, step_at_random

MASK = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15
SEATS = 0x626F7473


def unmixed(value):
    """Inverts SplitMix64's finaliser."""
    value ^= value >> 31 ^ value >> 62
    value = value * pow(0x94D049BB133111EB, -1, 1 << 64) & MASK
    value ^= value >> 27 ^ value >> 54
    value = value * pow(0xBF58476D1CE4E5B9, -1, 1 << 64) & MASK
    return value ^ value >> 30 ^ value >> 60


def numbers_in(value):
    """Yields every whole number in what a generator tells of itself."""
    if isinstance(value, dict):
        value = [*value.values()]
    if isinstance(value, list | tuple | np.ndarray):
        for one in value:
            yield from numbers_in(one)
    elif isinstance(value, int | np.integer) and not isinstance(value, bool):
        yield int(value)


class Attacker(Habits):
    """Keeps all that it is given, and rebuilds deals from whatever of it might be the seed."""

    def __init__(self, *guesses):
        self.words, self.deals = {*guesses}, []
        self.rows, self.dealt, self.next = {}, {}, {}

    def begin(self, games, seats, view):
        for game, seat, hand in zip(games.tolist(), seats.tolist(), view.hand, strict=True):
            row = self.rows.setdefault(game // 4, len(self.rows))  # told in the games' order
            episode, number = self.next.pop(game, (0, 0))
            self.dealt[game] = row, episode, number, seat, hand.tolist()
            self.words |= {game, game // 4}

    def end(self, games, results, hands):
        for game, told in zip(games.tolist(), hands.tolist(), strict=True):
            row, episode, number, seat, hand = self.dealt[game]
            self.next[game] = episode + 1, 0
            self.deals.append((row, episode, number, seat, hand, told[(seat + 2) % 4]))

    def redeal(self, games, view):
        for game in games.tolist():
            _, episode, number, _, _ = self.dealt[game]
            self.next[game] = episode, number + 1
            self.words.add(game)

    def act(self, view, legal, rng):
        bits, other = rng.bit_generator, copy.deepcopy(rng.bit_generator)
        self.words |= {*numbers_in(bits.seed_seq.entropy), *numbers_in(bits.seed_seq.spawn_key)}
        self.words |= {*numbers_in(bits.seed_seq.pool), *numbers_in(bits.state)}
        other.advance(-2)
        self.words |= {*numbers_in(other.random_raw(4)), *view.game.tolist()}
        return super().act(view, legal, rng)

    def seeds(self):
        """Returns what may be the seed: words and their halves, and what the hash made them of."""
        halves = {part & MASK for word in self.words for part in (word, word >> 64)}
        once = {unmixed(word) for word in halves}
        twice = {unmixed(word) for word in once}
        found = halves | once | twice
        found |= {word - GOLDEN & MASK for word in found} | {word ^ SEATS for word in found}
        return sorted(found)

    def rebuilt(self):
        """Returns the share of its partner's hands that the best of these seeds gives."""
        told = map(np.array, zip(*self.deals, strict=True))
        rows, episodes, numbers, seats, own, partners = told
        every, best = np.arange(len(rows)), (-1.0, 0.0)
        for seed in self.seeds():
            keys = seeds.game_keys(seed, rows)
            hands = code_counts()[dealing.hand_codes(seeds.deal_keys(keys, episodes, numbers))]
            fits = (hands[every, seats] == own).all(axis=1).mean()
            right = (hands[every, (seats + 2) % 4] == partners).all(axis=1).mean()
            best = max(best, (fits, right))
        return best[1]


def attacked(make, bot, seed, steps):
    """Lets an attacker play all other seats and returns what it rebuilds."""
    env = after_reset(make(partner=bot, opponents=bot), seed=seed)
    for _ in range(steps):
        over = env.step(env.action_masks().argmax(axis=-1))[2]
        if env.action_masks().ndim == 1 and over:
            env.reset()
    return bot.rebuilt()


def many(**bots):
    return SeatVectorEnv(24, seat=0, **bots)


def one(**bots):
    return SeatEnv(seat=0, **bots)


@pytest.mark.parametrize(("make", "steps"), [(many, 12), (one, 60)])
def test_a_bot_that_is_not_told_the_seed_rebuilds_no_deal(make, steps):
    seed = secrets.randbits(63)
    assert attacked(make, Attacker(), seed, steps) < 0.1  # by chance some one hand in a thousand
    assert attacked(make, Attacker(seed), seed, steps) > 0.9  # so it would if it were told


def test_what_was_drawn_for_bots_cannot_be_traced_to_the_seed():
    seed, attacker = secrets.randbits(63), Attacker()
    env = after_reset(SeatVectorEnv(1, partner=Drawing(), opponents="random"), seed=seed)
    state = int(env._games.bots._streams[0])
    for drawn in range(200):
        attacker.words.add(unmixed(unmixed(state - drawn * GOLDEN & MASK)) ^ SEATS)
        attacker.words.add(unmixed(state - drawn * GOLDEN & MASK))
    assert seed not in attacker.seeds()


def test_each_bot_has_a_generator_of_its_own_and_a_seed_gives_it_again():
    def generators(seed):
        bots = [Watching() for _ in range(4)]
        env = SeatVectorEnv(8, partner=bots[0], opponents=(bots[1], bots[2]))
        env.reset(seed=seed)
        step_at_random(env, 1)
        env.set_opponents(bots[3])
        env.reset()
        step_at_random(env, 1)
        return [next(iter(bot.generators)) for bot in bots if len(bot.generators) == 1]

    first = generators(5)
    assert len(set(first)) == 4
    assert generators(5) == first
    assert not {*first} & {*generators(6)}


def test_games_have_the_same_numbers_in_a_batch_of_any_size_and_others_under_another_seed():
    def numbers(games, seed):
        bot = Watching()
        env = SeatVectorEnv(games, seat=1, partner=bot, opponents=bot, episode="match")
        env.reset(seed=seed)
        step_at_random(env, 5)
        return bot.games

    few, many = numbers(2, 3), numbers(9, 3)
    assert len(few) == 6  # three seats of two games, whatever rounds they are in
    assert few <= many
    assert {game % 4 for game in few} == {0, 2, 3}
    assert max(many) < 1 << 53
    assert not few & numbers(2, 4)


class StatefulAgent(Habits):
    """Keeps the games that it was told of, and notes when it is closed."""

    made = ()

    def __init__(self):
        type(self).made = (*self.made, self)
        self.games, self.closed = set(), False

    def begin(self, games, seats, view):
        self.games |= set(games.tolist())

    def act(self, view, legal, rng):
        assert set(view.game.tolist()) <= self.games
        return super().act(view, legal, rng)

    def end(self, games, results, hands):
        assert set(games.tolist()) <= self.games

    def close(self):
        self.closed = True


def read_texts_by(monkeypatch, load):
    """Puts a function where the environments find what builds agents of texts."""
    point = SimpleNamespace(load=lambda: load, dist=SimpleNamespace(name="goita-env"))
    monkeypatch.setattr("goita_env.envs.bots.entry_points", lambda **_: [point])


def test_a_bot_with_a_memory_that_a_text_names_is_another_one_in_each_seat(monkeypatch):
    read_texts_by(monkeypatch, lambda text: StatefulAgent())
    monkeypatch.setattr(StatefulAgent, "made", ())
    env = after_reset(SeatVectorEnv(30, partner="mine", opponents=("random", "mine")), seed=0)
    step_at_random(env)
    assert [{game % 4 for game in bot.games} for bot in StatefulAgent.made] == [{0}, {1}, {2}, {3}]
    for bot in StatefulAgent.made:  # partner and opponent of a game have two memories
        assert len(bot.games) <= 30
    env.set_opponents("random", "random")
    env.reset()
    env.set_opponents("random")
    assert all(bot.closed for bot in StatefulAgent.made)


def test_an_object_with_a_memory_stays_one_and_is_not_closed():
    bot = StatefulAgent()
    env = after_reset(SeatVectorEnv(30, seat=0, partner=bot, opponents=("random", bot)), seed=0)
    assert {game % 4 for game in bot.games} == {2, 3}
    assert len(bot.games) == 60
    env.close()
    assert not bot.closed
