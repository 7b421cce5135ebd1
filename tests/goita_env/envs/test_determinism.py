"""Determinism: the same seed gives the same games, in any batch, process or copy.

The pinned hashes are printed anew by ``.venv/bin/python tests/helpers/pinned_games.py``.
"""

import copy
import hashlib
import os
import pickle
import sys
from pathlib import Path

import numpy as np
import pytest

import pinned_games
from deals import RULE_SETS, TILES, complete
from goita_env import Game, GoitaVectorEnv, goita_v0, seeds
from goita_env.engine.episodes import Match
from goita_env.views.observation import OBSERVATION_VERSION
from oracle import Referee
from pinned_games import GAMES, SEED, STEPS, line, numbers, observations, trajectory
from playing import after_reset, deal, legal_mask, pick
from programs import run
from samples import rotating

TRAJECTORIES = {
    ("jga", "round"): "2b8bdef97c3dbe3e0c3800dbd62367e88b53d4d3793a900abfc7dfe707c02998",
    ("jga", "match"): "349155e03245f0456846e4d36d2452da1e295d59c16d88d1a27be5a4182e365a",
    ("pagat", "round"): "baa6cde9bfb3273b74e5fc1875ac3d8c6e4a3328c0cf45b5acaee88b94f815e8",
    ("pagat", "match"): "ffd8324d7d2a0df25d7428c55480371bf6cc7756f0d3084660a0acf38cd1c5fa",
    ("nine", "round"): "d697a5816ceafa7a30f4466a6ecf882597ee38d9a3107f6eeab2369c8ead21d3",
    ("nine", "match"): "72ac02843d31cfdc240c7e3dca90ddb9dd11a63dadc3c1fe0b95be2a5ffb756c",
}
"""By rule set and episode: who is asked, what is legal, what is done, the points."""

OBSERVATIONS = {
    "jga": "1e038a57966848033e3e040173b61c076ad52e42dfac3208ff9e4bc160fc7796",
    "pagat": "e96f24a5edabbb3977f138530ac250053ab158213d1181fc72b8684185f93870",
    "nine": "6648e425a3f9733b089cc6f9b35857701898973801d91facef67c91179e52158",
}
"""By rule set, for version 1 of the layout: all observations of the rounds."""


EPISODES = ["round", "match"]
MASK = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15


def mix(value):
    """The finaliser of SplitMix64 (Steele, Lea and Flood 2014), in plain integers."""
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    value = (value ^ (value >> 27)) * 0x94D049BB133111EB & MASK
    return value ^ (value >> 31)


def plain_key(seed, game, episode, number):
    key = mix(mix(seed + GOLDEN & MASK) + game * GOLDEN & MASK)
    return mix(key + ((episode << 20) + number) * GOLDEN & MASK)


def plain_deal(seed, game, episode, number):
    """Deals as the package says it does, in plain integers: four hands of kinds."""
    key = plain_key(seed, game, episode, number)
    words = [mix(key + n * GOLDEN & MASK) for n in range(16)]
    halves = [half for word in words for half in (word & 0xFFFFFFFF, word >> 32)]
    order = sorted(range(32), key=lambda tile: (halves[tile] & ~31, tile))
    return [sorted(TILES[tile] for tile in order[8 * seat : 8 * seat + 8]) for seat in range(4)]


def plain_counts(*deal):
    """Counts the tiles of each kind in the four hands of a deal."""
    return [[hand.count(kind) for kind in range(8)] for hand in plain_deal(*deal)]


def plain_dealer(seed, game, episode):
    return mix(plain_key(seed, game, episode, 0) ^ GOLDEN) >> 62


def plain_trajectory(rules, episode):
    """Hashes the same games as the oracle plays them with the plain deals."""
    lines = []
    for game in range(GAMES):
        number, count = 0, 0
        judge = Referee(rules, plain_deal(SEED, game, 0, 0), plain_dealer(SEED, game, 0))
        for step in range(STEPS):
            seat, legal = judge.seat, judge.legal_actions()
            action = legal[int(numbers(step, GAMES)[game]) % len(legal)]
            judge.play(action)
            winner = -1 if judge.winner is None else judge.winner
            lines.append(line(seat, legal, action, judge.points, winner))
            if judge.phase == "over" and (episode == "round" or judge.match_over):
                number, count = number + 1, 0
                hands = plain_deal(SEED, game, number, 0)
                judge = Referee(rules, hands, plain_dealer(SEED, game, number))
            elif judge.seat is None:
                count += 1
                judge.deal(plain_deal(SEED, game, number, count))
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def test_the_hash_of_deals_is_splitmix64():
    # The first outputs of the published generator from state 0.
    outputs = [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]
    states = np.array([GOLDEN * (n + 1) & MASK for n in range(3)], np.uint64)
    assert [mix(int(state)) for state in states] == outputs
    assert seeds.mix(states).tolist() == outputs


@pytest.mark.parametrize(("rules", "episode"), rotating(RULE_SETS, EPISODES))
def test_the_environment_gives_the_pinned_trajectories(rules, episode):
    assert trajectory(rules, episode) == TRAJECTORIES[rules, episode]


@pytest.mark.parametrize(("rules", "episode"), rotating(["nine", "jga", "pagat"], EPISODES))
def test_the_oracle_gives_the_pinned_trajectories(rules, episode):
    assert plain_trajectory(rules, episode) == TRAJECTORIES[rules, episode]


@pytest.mark.parametrize("rules", RULE_SETS)
def test_a_fixed_seed_gives_the_pinned_observations(rules):
    assert OBSERVATION_VERSION == 1, "a new version has new pins"
    assert observations(rules) == OBSERVATIONS[rules]


def test_another_process_gives_the_pinned_hashes():
    environment = os.environ | {"PYTHONHASHSEED": "1"}
    code = "from pinned_games import *; print(trajectory('jga', 'match'), observations('nine'))"
    folder = Path(pinned_games.__file__).parent
    done = run([sys.executable, "-c", code], check=True, env=environment, cwd=folder)
    assert done.stdout.split() == [TRAJECTORIES["jga", "match"], OBSERVATIONS["nine"]]


def turns(env, first=None, steps=150, start=0):
    """Plays a vector environment on and returns all that it handed out."""
    turn = env.reset() if first is None else first
    seen = []
    for step in range(start, start + steps):
        shown = turn.observation, turn.action_mask, turn.seat
        turn = env.step(pick(turn.action_mask, numbers(step, env.num_games)))
        seen.append((*shown, turn.reward, turn.done, turn.points, turn.winner))
    return seen


def assert_same(one, other, rows=slice(None)):
    assert len(one) == len(other) > 0
    for before, after in zip(one, other, strict=True):
        for first, second in zip(before, after, strict=True):
            assert np.array_equal(first, second[rows])


@pytest.mark.parametrize(("rules", "episode"), rotating(RULE_SETS, EPISODES))
def test_batches_of_1_7_and_4096_give_the_same_games(rules, episode):
    seven = turns(GoitaVectorEnv(7, rules, episode, seed=3))
    assert any(after[4].any() for after in seven) or episode == "match"
    assert_same(turns(GoitaVectorEnv(1, rules, episode, seed=3)), seven, slice(0, 1))
    many = turns(GoitaVectorEnv(4096, rules, episode, seed=3), steps=40)
    assert_same(seven[:40], many, slice(0, 7))


def deals_of(rules, episode, policy, games=32, steps=300):
    """Returns every deal that came up: hands by game, episode and number."""
    match = after_reset(Match(games, rules, episode, seed=6))
    found = {}
    for step in range(steps):
        hands = match.state.hand_counts()
        for game in range(games):
            key = game, int(match.episodes[game]), int(match.deals[game])
            found.setdefault(key, hands[game].tolist())
        match.step(policy(legal_mask(match.state), step))
    return found


def patient(mask, step):
    """Calls and redeals, and passes when it may."""
    return mask.argmax(axis=1)


def eager(mask, step):
    """Calls and redeals, and plays when it may, each time another pair."""
    mask = mask.copy()
    mask[:, 0] &= ~mask[:, 1:].any(axis=1)
    return pick(mask, numbers(step, len(mask)) * ~mask[:, 65:].any(axis=1))


def silent(mask, step):
    """Keeps silent and continues, and plays the last legal pair."""
    return 68 - mask[:, ::-1].argmax(axis=1)


@pytest.mark.parametrize(("rules", "episode"), rotating(RULE_SETS, EPISODES))
def test_the_deals_are_the_same_whatever_the_play(rules, episode):
    slow, fast, quiet = (deals_of(rules, episode, play) for play in (patient, eager, silent))
    common = slow.keys() & fast.keys()
    assert len(common) > 150
    assert max(number for _, _, number in common) >= 2, "redeals or rounds"
    assert all(slow[key] == fast[key] for key in common)
    assert len(quiet.keys() & fast.keys()) > 150
    assert all(quiet[key] == fast[key] for key in quiet.keys() & fast.keys())
    for game, number, count in sorted(common)[::25]:
        assert slow[game, number, count] == plain_counts(6, game, number, count - 1)


def aec_trace(env, steps=40):
    """Plays an AEC environment on, through resets, and returns all that it handed out."""
    seen = []
    for step in range(steps):
        if not env.agents:
            env.reset()
        agent = env.agent_selection
        observation, *rest = env.last()
        seen.append((agent, observation["observation"].tolist(), rest, env.state().tolist()))
        legal = np.flatnonzero(observation["action_mask"])
        env.step(int(legal[step % len(legal)]) if len(legal) else None)
    return seen


def parallel_trace(env, steps=10):
    """Plays a parallel environment on in the same way."""
    seen = []
    for step in range(steps):
        observations = {agent: env.aec_env.observe(agent) for agent in env.agents}
        chosen = {}
        for agent, observation in observations.items():
            legal = np.flatnonzero(observation["action_mask"])
            chosen[agent] = int(legal[step % len(legal)]) if len(legal) else 0
        observations, *rest = env.step(chosen)
        seen.append((str(observations), rest))
        if not env.agents:
            env.reset()
    return seen


def game_trace(game, steps=10_000):
    """Plays a game on, to its end at the latest."""
    seen = []
    while not game.done and len(seen) < steps:
        legal = game.legal_actions()
        seen.append((game.seat, legal, game.scores, repr(game)))
        game.play(legal[len(seen) % len(legal)])
    return [*seen, game.winner, game.points, game.scores]


def vector_trace(env, steps=150):
    first = env.step(pick(legal_mask(env._match.state), numbers(0, env.num_games)))
    return [[part.tobytes() for part in turn] for turn in turns(env, first, steps)]


TRACES = {"vector": vector_trace, "raw_env": aec_trace, "env": aec_trace}
TRACES |= {"parallel_env": parallel_trace, "Game": game_trace}


def begun(kind):
    """Returns an environment or a game after 37 steps of a match."""
    if kind == "vector":
        env = after_reset(GoitaVectorEnv(30, "jga", "match", seed=4))
    elif kind == "Game":
        env = Game("jga", episode="match", seed=4)
    else:
        env = getattr(goita_v0, kind)("jga", "match")
        env.reset(seed=4)
    TRACES[kind](env, 37)
    return env


COPIES = [lambda env: pickle.loads(pickle.dumps(env)), copy.deepcopy]


@pytest.mark.parametrize(("kind", "how"), rotating(TRACES, COPIES))
def test_a_pickled_or_copied_environment_goes_on_identically_and_apart(kind, how):
    env, trace = begun(kind), TRACES[kind]
    twin = how(env)
    ahead = trace(how(twin))
    assert trace(env) == ahead
    assert trace(twin) == ahead


def dealt(env):
    state = env.unwrapped._match.state
    return state.hand_counts()[0].tolist(), int(state.dealer[0])


@pytest.mark.parametrize("kind", ["raw_env", "env", "parallel_env"])
def test_reset_without_a_seed_goes_on_to_the_next_episode(kind):
    env = after_reset(getattr(goita_v0, kind)(), seed=21)
    for number in range(5):
        hands, dealer = dealt(env)
        assert hands == plain_counts(21, 0, number, 0)
        assert dealer == plain_dealer(21, 0, number)
        if number == 2 and kind != "parallel_env":
            aec_trace(env, 5)  # a break in mid-round changes nothing
        env.reset()
    env.reset(seed=21)
    assert dealt(env)[0] == plain_counts(21, 0, 0, 0)


def test_a_game_without_a_seed_draws_one_that_repeats_it():
    games = [Game() for _ in range(8)]
    assert len({repr(game) for game in games}) == 8
    for game in games:
        assert repr(Game(seed=game.seed)) == repr(game)
    assert Game(seed=np.int64(7)).seed == 7


def test_given_hands_apply_to_the_first_deal_alone():
    hands = complete("88223344", "", "", "")
    env = goita_v0.raw_env(episode="match")
    env.reset(seed=5, options={"hands": hands, "dealer": 0})
    for name in [1 + 8 * 1 + 1, 0, 0, 0, 1 + 8 * 2 + 2, 0, 0, 0, 64, 0, 0, 0, 1 + 8 * 3 + 3]:
        env.step(name)
    assert dealt(env) == (plain_counts(5, 0, 0, 1), 0)
    fresh = deal("jga", np.array([plain_deal(5, 0, 0, 1)]), [0], np.array([[60, 0]]))
    assert env.agent_selection == f"player_{fresh.seat[0]}"
