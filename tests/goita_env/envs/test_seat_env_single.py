"""One learner among bots, one game: gymnasium's check, the batch's game 0, drawings, no leak."""

import json
import sys
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from deals import RULE_SETS, digits
from goita_env import Game, SeatEnv, SeatVectorEnv, goita_v0
from goita_env.render import RENDER_MODES
from playing import after_reset
from programs import run
from redrawn_worlds import random_world, redraw
from samples import only

SETTINGS = [
    {},
    {"rules": "nine", "seat": "team"},
    {"rules": "pagat", "episode": "match", "seat": 2, "reward": "win"},
    {"observation": "dict", "keys": ("observations", "action_mask")},
]


@pytest.mark.parametrize("settings", SETTINGS)
def test_gymnasiums_own_check_passes_without_a_warning(settings):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gymnasium.make("goita/Seat-v0", **settings)
        check_env(env.unwrapped, skip_render_check=True)


def test_gymnasiums_check_of_drawings_passes(capsys):
    pytest.importorskip("PIL")
    pytest.importorskip("resvg_py")
    check_env(gymnasium.make("goita/Seat-v0", render_mode="ansi").unwrapped)


def test_one_id_makes_one_game_or_many():
    one = gymnasium.make("goita/Seat-v0", partner="random", opponents="random", seat=1)
    assert isinstance(one.unwrapped, SeatEnv)
    assert json.loads(one.spec.to_json())["kwargs"]["opponents"] == "random"
    assert one.get_wrapper_attr("action_masks") is not None
    many = gymnasium.make_vec("goita/Seat-v0", num_envs=3, partner="random", opponents="random")
    assert isinstance(many, SeatVectorEnv)
    assert many.spec.id == "goita/Seat-v0"
    workers = gymnasium.make_vec("goita/Seat-v0", num_envs=2, vectorization_mode="sync", seat=0)
    workers.reset(seed=0)
    assert workers.step(workers.action_space.sample())[2].shape == (2,)


def making(opponents, cwd, *paths):
    """Makes an environment with a named opponent, in a process, with packages at these paths."""
    code = (
        "import sys\n"
        f"sys.path[:0] = {[str(path) for path in paths]!r}\n"
        "import gymnasium, goita_env\n"
        f"env = gymnasium.make('goita/Seat-v0', opponents={opponents!r}, seat=0)\n"
        "print(env.reset(seed=0)[1]['seat'])\n"
    )
    return run([sys.executable, "-c", code], cwd=cwd, timeout=60)


def test_a_bot_that_another_package_registers_plays_by_its_name(tmp_path):
    told = tmp_path / "theirs-1.dist-info"
    told.mkdir()
    (told / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1\n")
    points = "[goita.agents]\ntheirs = theirs:make\ngreedy = theirs:make\n"
    (told / "entry_points.txt").write_text(points)
    (tmp_path / "theirs.py").write_text(
        "from goita_env.agent import RandomAgent\n"
        "def make(text):\n"
        "    print(f'made of {text!r}')\n"
        "    return RandomAgent()\n"
    )
    done = making("theirs:a=1", tmp_path, tmp_path)
    # One for each seat that it may play: it could remember a hand.
    assert done.stdout.splitlines() == ["made of 'a=1'"] * 4 + ["0"], done.stderr


@pytest.mark.parametrize("settings", SETTINGS)
def test_it_is_the_game_0_of_a_batch(settings):
    one = SeatEnv(**settings)
    many = SeatVectorEnv(3, autoreset_mode="Disabled", **settings)
    rng = np.random.default_rng(0)

    def compare(observation, info, batch, infos):
        if isinstance(observation, dict):
            assert all(np.array_equal(observation[key], batch[key][0]) for key in batch)
        else:
            assert np.array_equal(observation, batch[0])
        for key, value in info.items():
            assert np.array_equal(value, infos[key][0])
            assert infos[f"_{key}"][0]

    compare(*one.reset(seed=6), *many.reset(seed=6))
    for _ in range(40):
        actions = many.sample_legal(rng)
        observation, reward, done, truncated, info = one.step(int(actions[0]))
        batch, rewards, dones, _, infos = many.step(actions)
        compare(observation, info, batch, infos)
        assert (reward, done, truncated) == (rewards[0], dones[0], False)
        assert isinstance(reward, float)
        assert np.array_equal(one.action_masks(), info["action_mask"])
        assert ("points" in info) == done
        if dones.any():
            infos = many.reset(options={"reset_mask": dones})
            if done:
                compare(*one.reset(), *infos)


def test_it_is_drawn_as_the_other_environments_are(capsys):
    assert SeatEnv.metadata["render_modes"] == list(RENDER_MODES)
    hands = ["11235578", "11112333", "11444567", "11224569"]
    options = {"hands": hands, "dealer": 2}
    other = after_reset(goita_v0.env(render_mode="ansi"), options=options)
    env = SeatEnv(seat=2, render_mode="ansi")
    assert env.render() is None
    env.reset(options=options)
    assert env.render() == other.render()
    env = SeatEnv(seat=2, render_mode="human")
    env.reset(seed=0, options=options)  # a seed: a round that ends at once is drawn otherwise
    assert capsys.readouterr().out == other.render() + "\n"
    env.step(int(env.action_masks().argmax()))
    assert capsys.readouterr().out.count("seat 2") == 2
    assert SeatEnv().render() is None


class OverError(Exception):
    """Raised where a script has no more moves."""


class ScriptedAgent:
    """Plays the moves of a world in the order in which they were chosen."""

    def __init__(self, chosen):
        self.chosen = iter(chosen)

    def act(self, view, legal, rng):
        action = next(self.chosen, None)
        if action is None:
            raise OverError
        return np.array([action])


def seen(world, viewer, ends):
    """Returns all that the environment tells a learner in a world, result after result."""
    game = Game(world.rules, hands=digits(world.hands), dealer=world.dealer, scores=world.scores)
    own, others = [], []
    for seat, action in world.moves:
        if len(game.legal_actions()) > 1:
            (own if seat == viewer else others).append(action)
        game.play(action)
    script, results = ScriptedAgent(others), []
    env = SeatEnv(rules=world.rules, seat=viewer, partner=script, opponents=script)
    options = {"hands": digits(world.hands), "dealer": world.dealer, "scores": world.scores}
    try:
        results.append(env.reset(seed=0, options=options))
        results.extend(env.step(action) for action in own)
    except OverError:
        pass
    if world.judge.seat not in (viewer, None):
        return results[: len(own)]  # what comes next is the future, and may differ
    ends += [world] if len(results) > 1 and results[-1][2] else []
    return results


def flat(result):
    """Returns a result of reset or step as bytes and plain values."""
    values = [*result[:-1], *result[-1].values()]
    return [one.tobytes() if isinstance(one, np.ndarray) else one for one in values]


@pytest.mark.parametrize("rules", only(RULE_SETS, "nine"))
def test_the_learner_is_told_nothing_that_its_seat_cannot_know(rules):
    rng, told, ends = np.random.default_rng(2), 0, []
    for _ in range(90):
        world, viewer = random_world(rules, rng), int(rng.integers(4))
        other = redraw(world, viewer, rng)
        if other is None:
            continue
        one, two = seen(world, viewer, ends), seen(other, viewer, ends)
        for mine, others in zip(one, two, strict=True):
            assert flat(mine) == flat(others)
            told += 1
    assert told > 50
    assert ends
