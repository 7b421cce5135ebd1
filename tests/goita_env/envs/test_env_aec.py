"""The PettingZoo environments: PettingZoo's own tests, rewards, masks, illegal moves, state."""

import warnings
from functools import partial

import numpy as np
import pettingzoo
import pytest
from gymnasium.spaces import Box, Discrete

import conformance
from conformance import random_play
from deals import RULE_SETS, complete
from goita_env import TEAMS, GoitaVectorEnv, InformationStructure, MessageChannel, actions, goita_v0
from goita_env.actions import CALL, PASS, SILENT
from goita_env.views.observation import HAND_COUNTS
from playing import after_reset, pick
from samples import only, slow

SETTINGS = [("jga", "round", "points"), ("pagat", "match", "win"), ("nine", "match", "points")]
SETTINGS += [slow("jga", "match", "points"), slow("pagat", "round", "win")]
AGENTS = [f"player_{seat}" for seat in range(4)]

MAKERS = [goita_v0.env, goita_v0.raw_env]


@pytest.mark.parametrize(("rules", "episode", "reward"), SETTINGS)
@pytest.mark.parametrize("make", MAKERS)
def test_pettingzoos_tests_pass(make, rules, episode, reward, capsys):
    conformance.check_aec(lambda: make(rules, episode, reward), capsys)


@pytest.mark.parametrize(("rules", "episode", "reward"), SETTINGS)
def test_pettingzoos_tests_of_parallel_environments_and_states_pass(rules, episode, reward, capsys):
    one, aec = (
        partial(make, rules, episode, reward) for make in (goita_v0.parallel_env, goita_v0.env)
    )
    conformance.check_parallel(one, capsys, aec)


@pytest.mark.parametrize("make", MAKERS)
def test_pettingzoos_tests_pass_with_flat_observations_and_warn_of_nothing(make, capsys):
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        conformance.own.api_test(make(observation="flat"), num_cycles=300)
    assert "Passed API test" in capsys.readouterr().out
    conformance.own.seed_test(partial(make, observation="flat"), num_cycles=100)


@pytest.mark.parametrize(
    "information", [InformationStructure(), InformationStructure(channel=MessageChannel(bits=2))]
)
def test_flat_observations_are_those_of_the_dict_and_infos_have_its_masks(information):
    flat, full = (
        goita_v0.env(observation=form, information=information) for form in ("flat", "dict")
    )
    for env in (flat, full):
        env.reset(seed=3)
    for agent in AGENTS:
        assert flat.observation_space(agent) == full.observation_space(agent)["observation"]
    while full.agents:
        assert flat.agent_selection == full.agent_selection
        for agent in full.agents:
            told, info = full.observe(agent), flat.infos[agent]
            assert np.array_equal(flat.observe(agent), told["observation"])
            assert np.array_equal(info["action_mask"], told["action_mask"])
        _, _, over, _, info = flat.last()
        legal = np.flatnonzero(info["action_mask"])
        info["action_mask"][:] = 1  # handed out, the caller's to write
        action = None if over else int(legal[len(legal) // 2])
        for env in (flat, full):
            env.step(action)


@pytest.mark.parametrize("make", MAKERS)
def test_pettingzoos_test_of_drawings_passes(make, capsys):
    conformance.check_render(make, capsys)


@conformance.needs_registry
@pytest.mark.parametrize("name", ["goita/goita-v0", "goita/goita"])
def test_the_registry_makes_the_environments(name):
    env = pettingzoo.make("aec", name, rules="nine", episode="match")  # goita_env is imported
    env.reset(seed=1)
    twin = after_reset(goita_v0.env(rules="nine", episode="match"), seed=1)
    assert isinstance(env.unwrapped, goita_v0.raw_env)
    assert np.array_equal(env.state(), twin.state())
    parallel = pettingzoo.make("parallel", name, reward="win")
    observations, _ = parallel.reset(seed=1)
    assert list(observations) == AGENTS


def test_agents_teams_spaces_and_metadata():
    env = goita_v0.env()
    assert env.possible_agents == AGENTS
    assert TEAMS == (("player_0", "player_2"), ("player_1", "player_3"))
    for agent in AGENTS:
        assert env.action_space(agent) == Discrete(69)
        space = env.observation_space(agent)
        assert [*space] == ["action_mask", "observation"]  # the order in which spaces are flattened
        assert space["observation"] == Box(0, 1, (512,), np.uint8)
        assert space["action_mask"] == Box(0, 1, (69,), np.int8)
    assert env.metadata["name"] == "goita_v0" == str(env.unwrapped)
    assert env.metadata["render_modes"] == ["ansi", "human", "svg", "rgb_array"]
    assert env.metadata["is_parallelizable"] is False
    assert env.render_mode is None
    env.reset(seed=1)
    assert env.render() is None


@pytest.mark.parametrize(("make", "rules"), [*zip(MAKERS, ("jga", "nine"), strict=True)])
def test_the_mask_is_zero_for_all_but_the_asked_seat(make, rules):
    env = make(rules)
    for seed in range(4):
        env.reset(seed=seed)
        for agent, (observation, _, terminated, truncated, _) in random_play(env, seed):
            assert observation["action_mask"].any() == (not terminated)
            assert not truncated
            for other in env.possible_agents:
                if other != agent:
                    assert not env.observe(other)["action_mask"].any()


@pytest.mark.parametrize("rules", only(RULE_SETS, "nine"))
def test_the_environment_equals_the_vector_environment(rules):
    for episode, reward in (("round", "points"), ("match", "points"), ("match", "win")):
        vector = GoitaVectorEnv(1, rules, episode, reward, seed=17)
        turn = vector.reset()
        env = after_reset(goita_v0.env(rules, episode, reward), seed=17)
        for step in range(250):
            observation, _, terminated, _, _ = env.last()
            assert not terminated
            assert env.agent_selection == f"player_{turn.seat[0]}"
            assert np.array_equal(observation["observation"], turn.observation[0])
            assert np.array_equal(observation["action_mask"], turn.action_mask[0])
            chosen = pick(turn.action_mask, step * 31)
            turn = vector.step(chosen)
            env.step(chosen[0])
            assert [env.rewards[agent] for agent in AGENTS] == turn.reward[0].tolist()
            assert all(env.terminations.values()) == turn.done[0]
            if turn.done[0]:
                env.reset()


@pytest.mark.parametrize(("reward", "loss"), [("points", 100.0), ("win", 1.0)])
@pytest.mark.parametrize("episode", ["round", "match"])
@pytest.mark.parametrize("dealer", range(4))
def test_for_an_illegal_action_the_team_pays_and_all_end(reward, loss, episode, dealer):
    env = goita_v0.env(episode=episode, reward=reward)
    env.reset(seed=1, options={"hands": complete("", "", "", ""), "dealer": dealer})
    env.step(PASS)
    team = TEAMS[dealer % 2]
    assert env.rewards == {agent: -loss if agent in team else loss for agent in AGENTS}
    assert set(env.terminations.values()) == {True}
    assert set(env.truncations.values()) == {False}
    for agent in AGENTS:
        assert not env.observe(agent)["action_mask"].any()
    seen = {}
    for agent in env.agent_iter():
        _, seen[agent], terminated, truncated, _ = env.last()
        assert (terminated, truncated) == (True, False)
        env.step(None)
    assert seen == {agent: -loss if agent in team else loss for agent in AGENTS}
    env.reset()
    assert env.agents == AGENTS
    assert not any(env.terminations.values())


def test_in_the_parallel_environment_the_asked_seats_action_counts():
    env = goita_v0.parallel_env()
    observations, _ = env.reset(seed=1, options={"hands": complete("", "", "", ""), "dealer": 3})
    action = int(observations["player_3"]["action_mask"].argmax())
    _, rewards, terminations, truncations, _ = env.step(
        {"player_0": 7, "player_1": 68, "player_2": 0, "player_3": action}
    )
    assert not any(rewards.values())
    assert not any((terminations | truncations).values())
    _, rewards, terminations, _, _ = env.step(dict.fromkeys(AGENTS, CALL))
    assert rewards == {"player_0": -100, "player_1": 100, "player_2": -100, "player_3": 100}
    assert all(terminations.values())
    assert env.agents == []


def hands_in(state):
    """Reads the four hands from a state: in each seat's word of tiles, a thermometer a kind."""
    hands = []
    for seat in range(4):
        bits, hand = state[64 * (6 + seat) :], []
        for size in HAND_COUNTS:
            hand.append(int(bits[:size].sum()))
            assert bits[: hand[-1]].all()
            bits = bits[size:]
        hands.append(hand)
    return hands


@pytest.mark.parametrize("rules", RULE_SETS)
def test_the_state_holds_every_seats_hand(rules):
    env = goita_v0.raw_env(rules)
    for seed in range(5):
        env.reset(seed=seed)
        for _ in random_play(env, seed):
            state = env.state()
            assert (state.shape, state.dtype) == ((704,), np.uint8)
            assert env.state_space.contains(state)
            assert hands_in(state) == env._match.state.hand_counts()[0].tolist()
        assert sum(map(sum, hands_in(env.state()))) <= 24


def test_the_state_tells_face_down_blocks_apart_and_who_is_asked_what():
    hands = complete("11111234", "11111235", "", "")
    env = after_reset(goita_v0.raw_env(), options={"hands": hands, "dealer": 0})
    states = [env.state()]
    for action in (SILENT, SILENT):
        env.step(action)
        states.append(env.state())
    assert len({state.tobytes() for state in states}) == 3
    played = []
    for block in (1, 2, 3):  # a lance, a knight or a silver face down
        env.reset(options={"hands": hands, "dealer": 0})
        for action in (SILENT, SILENT, actions.encode(block, 0)):
            env.step(action)
        played.append(env.state().tobytes())
    assert len(set(played)) == 3
