"""The shipped networks: what they are, that they play by their names, how well they fit."""

import os
from pathlib import Path

import numpy as np
import pytest

from goita_agents import load_agent
from goita_agents.base import AgentError, Policy
from goita_agents.champion import agent as champion
from goita_agents.champion import crowd
from goita_agents.people import agent as people
from goita_env.rounds import Rounds
from goita_lab.arena import play_pair
from goita_lab.commands import evaluate
from goita_lab.imitate.reading import read_examples

RECORDS = os.environ.get("GOITA_KIFU")


@pytest.mark.parametrize(
    ("name", "file", "bytes_"),
    [
        ("champion", champion.WEIGHTS, 3_400_000),
        ("people", people.WEIGHTS, 1_700_000),
        ("crowd", crowd.WEIGHTS, 500_000),
    ],
)
def test_a_network_is_small_and_plays_its_likeliest_action_or_by_its_probabilities(
    name, file, bytes_
):
    assert file.stat().st_size <= bytes_
    decisions = Rounds(20, seed=1).decisions
    soft, sure = (load_agent(f"{name}:temperature={t}") for t in (1, 0))
    assert isinstance(soft, Policy)
    assert load_agent(name).temperature == (name != "champion")
    known = soft.probabilities(decisions.view, decisions.legal)
    assert ((known > 0) == decisions.legal).all()
    chosen = sure.act(decisions.view, decisions.legal, None)
    assert (known.argmax(axis=1) == chosen).all()
    certain = sure.probabilities(decisions.view, decisions.legal)
    assert (certain.argmax(axis=1) == chosen).all()
    assert (certain.sum(axis=1) == 1).all()
    assert np.isfinite(sure.values(decisions.view)).all()


def test_the_champion_beats_greedy():
    assert play_pair("champion", "greedy", 200, seed=3).ci95[0] > 12


def test_search_is_an_option_of_the_champion():
    agent = load_agent("champion:search=on,worlds=2,budget=20,max_unseen_tiles=32")
    decisions = Rounds(2, seed=1).decisions
    chosen = agent.act(decisions.view, decisions.legal, np.random.default_rng(0))
    assert decisions.legal[np.arange(2), chosen].all()
    with pytest.raises(AgentError, match="worlds"):
        load_agent("champion:search=on,worlds=0")


def test_the_notice_of_the_records_lies_beside_the_weights_of_people():
    text = (people.WEIGHTS.parent / "LICENSE").read_text(encoding="utf-8")
    assert "Copyright (c) 2017 emaame" in text
    assert "Permission is hereby granted, free of charge" in text


@pytest.mark.skipif(not RECORDS, reason="GOITA_KIFU names no folder of kifu")
def test_people_fits_the_records_that_it_is_learned_from():
    agent, examples = load_agent("people"), read_examples([Path(RECORDS)]).examples
    taken = examples.taken(agent.probabilities(examples.view(), examples.legal))
    assert np.log(taken).mean() > -0.75


def test_the_search_takes_the_crowd_for_opponents_who_are_not_known():
    agent = load_agent("champion:search=on,carry=off")
    opponents = agent._sampler.types.opponents
    assert [one.agent.name for one in opponents[:-1]] == ["network", "heuristic", "network"]
    assert opponents[-1].agent == opponents[-2].agent == load_agent(champion.FIRST_TYPES[-1])
    assert opponents[-1].epsilon > opponents[-2].epsilon


@pytest.mark.parametrize("stranger", ["random", "rollout:worlds=4", "solver:worlds=1,budget=1000"])
def test_the_crowd_predicts_a_stranger_better_than_the_other_types_do(stranger, tmp_path):
    games = tmp_path / "games"
    words = ["--agents", f"p={stranger}", "champion", "--deals", "20", "--save-games", str(games)]
    assert evaluate.main(words) == 0
    examples = read_examples([games], "p").examples
    first = [
        examples.taken(one.probabilities(examples.view(), examples.legal))
        for one in load_agent("champion:search=on,carry=off")._sampler.types.opponents[:-1]
    ]
    of_champion, of_heuristic, of_crowd = np.log(first).mean(axis=1)
    assert of_crowd > max(of_champion, of_heuristic)
