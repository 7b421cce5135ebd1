"""Agents that are shown something else than their seat sees."""

import numpy as np
import pytest

from goita_agents import AgentError, load_agent, registry
from goita_agents.base import HasTemperature
from goita_agents.beliefs import Listener, PolicyModel
from goita_agents.bots.transform import Transform
from goita_agents.identity import digest
from goita_agents.models import check_stateless
from goita_env import Game, GoitaVectorEnv
from goita_env.views.observation import SLICES
from goita_lab.arena.tournament import arena
from raising import refuses

HANDS = ["11122335", "11256678", "11334457", "11124459"]


def turn(scores=40):
    env, rng = GoitaVectorEnv(64, seed=2), np.random.default_rng(2)
    now = env.reset(scores=np.full((64, 2), scores))
    for _ in range(9):
        now = env.step(env.sample_legal(rng))
    return now


def test_hidden_slices_are_zero_and_all_else_stays():
    seen, bits = turn().view, turn().observation
    kept = {one.name for one in SLICES} - {f"block_2_{play}" for play in range(4)} - {"own_score"}
    hidden = Transform(("block_2", "own_score")).view(seen).observation()
    for one in SLICES:
        found, before = (each[:, one.start : one.stop] for each in (hidden, bits))
        assert np.array_equal(found, before if one.name in kept else 0 * before)
    assert np.array_equal(seen.observation(), bits)  # the input was not changed
    assert Transform().view(seen) is seen


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


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("base=greedy", r"hide=\.\.\."),
        ("base=greedy,hide=()", "got none"),
        ("base=greedy,hide=score", "expected names of slices"),
        ("base=(champion:search=on,types=(greedy)),hide=own_score", "plays from one view only"),
    ],
)
def test_what_cannot_be_masked_is_refused(text, words):
    refuses(AgentError, words, load_agent, f"masked:{text}")


def test_a_masked_agent_is_a_model_of_a_listener_and_plays_in_tournaments():
    masked = load_agent("masked:base=champion,hide=(events;attack_2)")
    check_stateless(masked)
    game, plain = Game(hands=HANDS, dealer=0), PolicyModel("champion")
    for move in ("13", "p"):
        game.play(move)
    one, other = (Listener(game.view(0), m).posterior("next") for m in (PolicyModel(masked), plain))
    assert one.entropy() != other.entropy()
    text = "masked:base=champion,hide=(events;attack_2)"
    assert arena.play_pair(f"mine={text}", "champion", 4).a == "mine"
    assert digest(text) == digest("champion")
    assert registry.check_shipped(text, "match.json") == text
    refuses(
        AgentError, r"match\.json", registry.check_shipped, "masked:base=os:system", "match.json"
    )
