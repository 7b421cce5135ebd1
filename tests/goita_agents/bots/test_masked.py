"""Agents that are shown something else than their seat sees."""

import sys

import numpy as np
import pytest

from goita_agents import AgentError, load_agent, registry
from goita_agents.base import HasTemperature
from goita_agents.beliefs import Listener, PolicyModel
from goita_agents.bots.transform import Transform
from goita_agents.models import check_stateless
from goita_env import Game, GoitaVectorEnv
from goita_lab.arena.tournament import arena
from raising import refuses

FUNCTIONS = """
from pathlib import Path
Path("RAN").touch()

def unscored(bits):
    bits[:, 470:498] = 0
    return bits

def upside_down(bits):
    bits[:, 384:414] = bits[:, 384:414][:, ::-1].copy()
    return bits

def neighbours(bits):
    return bits[::-1]

SEVENTEEN = 17
"""

HANDS = ["11122335", "11256678", "11334457", "11124459"]


@pytest.fixture
def functions(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "my_functions.py").write_text(FUNCTIONS)
    yield tmp_path
    sys.modules.pop("my_functions", None)


def turn(scores=40):
    env, rng = GoitaVectorEnv(64, seed=2), np.random.default_rng(2)
    now = env.reset(scores=np.full((64, 2), scores))
    for _ in range(9):
        now = env.step(env.sample_legal(rng))
    return now


def test_a_network_plays_what_it_makes_of_the_bits_that_are_left():
    now, network = turn(), load_agent("champion")
    masked = load_agent("blind=masked:base=champion,hide=(events;attack_2;hand)")
    assert isinstance(masked, HasTemperature)
    assert (masked.name, masked.temperature, masked.deterministic) == ("blind", 0.0, True)
    shown = Transform(("events", "attack_2", "hand")).view(now.view)
    likely = masked.at(1.0).probabilities(now.view, now.action_mask)
    assert np.array_equal(likely, network.at(1.0).probabilities(shown, now.action_mask))
    chosen = masked.act(now.view, now.action_mask, np.random.default_rng(0))
    assert now.action_mask[np.arange(64), chosen].all()
    assert (chosen != network.act(now.view, now.action_mask, np.random.default_rng(0))).any()


def test_an_agent_without_its_scores_plays_as_at_the_first_round():
    searcher = "champion:search=on,carry=off,worlds=2"
    masked = load_agent(f"masked:base=({searcher}),hide=(own_score;other_score)")
    now, first = turn(), turn(0)
    chosen = masked.act(now.view[:4], now.action_mask[:4], np.random.default_rng(0))
    assert now.action_mask[np.arange(4), chosen].all()
    masked = load_agent("masked:base=greedy,hide=(own_score;other_score)")
    found = masked.probabilities(now.view, now.action_mask)
    wanted = load_agent("greedy").probabilities(first.view, first.action_mask)
    assert np.array_equal(found, wanted)


def test_a_function_of_ones_own_transforms_after_what_is_hidden(functions):
    now = turn()
    masked = load_agent("masked:base=greedy,transform=my_functions:unscored")
    first = turn(0)
    wanted = load_agent("greedy").probabilities(first.view, first.action_mask)
    assert np.array_equal(masked.probabilities(now.view, now.action_mask), wanted)
    for wrong, words in {
        "base=greedy,transform=my_functions:SEVENTEEN": "got 17",
        "base=greedy,transform=unscored": "MODULE:FUNCTION",
        "base=greedy": "hide=SLICES or transform=",
        "base=greedy,hide=score": "expected names of slices",
        "base=(champion:search=on,types=(greedy)),hide=own_score": "plays from one view only",
    }.items():
        refuses(AgentError, words, load_agent, f"masked:{wrong}")


def test_a_masked_agent_is_a_model_of_a_listener_if_rows_do_not_mix(functions):
    masked = load_agent("masked:base=champion,hide=(events;attack_2)")
    check_stateless(masked)
    game, plain = Game(hands=HANDS, dealer=0), PolicyModel("champion")
    for move in ("13", "p"):
        game.play(move)
    one, other = (Listener(game.view(0), m).posterior("next") for m in (PolicyModel(masked), plain))
    assert one.entropy() != other.entropy()
    mixing = load_agent("masked:base=champion,transform=my_functions:neighbours")
    refuses(AgentError, "cannot be a model: .* depend on the view alone", PolicyModel, mixing)


def test_tournaments_play_masked_agents_and_hash_their_functions(functions):
    own = "mine=masked:base=champion,transform=my_functions:upside_down"
    assert not (functions / "RAN").exists()
    assert registry.is_own(own)
    assert registry.is_own("rollout:base=(masked:hide=events,transform=never:here,base=champion)")
    assert registry.is_own("file:some/path,transform=never:here")
    assert not registry.is_own("masked:base=champion,hide=events")
    assert not (functions / "RAN").exists()  # nothing was imported to find out
    before = registry.content_hash(own)
    played = arena.play_pair(own, "masked:base=champion,hide=(events;attack_2)", 4)
    assert played.a == "mine"
    (functions / "my_functions.py").write_text(FUNCTIONS + "# changed\n")
    assert registry.content_hash(own) != before
    champion = registry.content_hash("champion")
    assert registry.content_hash("masked:base=champion,hide=events") == champion


def test_a_file_may_name_what_is_hidden_and_no_function():
    text = "masked:base=champion,hide=(events;own_score)"
    assert registry.check_shipped(text, "match.json") == text
    for wrong in (
        "masked:base=champion,transform=os:system",
        "rollout:base=(masked:base=champion,hide=events,transform=os:system)",
        "masked:base=(os:system),hide=events",
    ):
        refuses(AgentError, r"match\.json", registry.check_shipped, wrong, "match.json")


def test_messages_are_hidden_by_name():
    """A network that does not see what its partner sent plays alike whatever that was."""
    network = load_agent("population:token-private-0,temperature=1")
    masked = load_agent("masked:base=(population:token-private-0,temperature=1),hide=messages")
    assert masked.plays(network.information)
    said = []
    for message in range(4):
        game = Game(seed=5, information=network.information)
        for sent in (f"say{message}", "say0", "say0", "say0"):
            game.play(sent)
        view = game.view((game.dealer + 2) % 4)
        assert view.messages[0, 2] == message
        legal = np.ones((1, network.information.num_actions), bool)
        said.append([one.probabilities(view, legal) for one in (network, masked)])
    heard, deaf = zip(*said, strict=True)
    assert all(np.array_equal(deaf[0], one) for one in deaf)
    assert not all(np.allclose(heard[0], one) for one in heard)
