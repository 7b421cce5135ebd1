"""The shipped model of people: what it is, what it is learned from, how well it fits."""

import os
from pathlib import Path

import numpy as np
import pytest

from goita_agents import load_agent
from goita_agents.base import Policy
from goita_agents.people.agent import WEIGHTS
from goita_env.rounds import Rounds
from goita_lab.imitate.reading import read_examples

RECORDS = os.environ.get("GOITA_KIFU")


def test_the_notice_of_the_records_lies_beside_the_small_weights():
    assert WEIGHTS.stat().st_size <= 1_700_000
    text = (WEIGHTS.parent / "LICENSE").read_text(encoding="utf-8")
    assert "Copyright (c) 2017 emaame" in text
    assert "Permission is hereby granted, free of charge" in text


def test_it_plays_with_its_own_probabilities_unless_told_otherwise():
    agent, decisions = load_agent("people"), Rounds(20, seed=1).decisions
    assert isinstance(agent, Policy)
    assert not agent.deterministic
    assert ((agent.probabilities(decisions.view, decisions.legal) > 0) == decisions.legal).all()
    sure = load_agent("people:temperature=0")
    chosen = sure.act(decisions.view, decisions.legal, None)
    assert (agent.probabilities(decisions.view, decisions.legal).argmax(axis=1) == chosen).all()


@pytest.mark.skipif(not RECORDS, reason="GOITA_KIFU names no folder of kifu")
def test_it_fits_the_records_that_it_is_learned_from():
    agent, examples = load_agent("people"), read_examples([Path(RECORDS)]).examples
    taken = examples.taken(agent.probabilities(examples.view(), examples.legal))
    assert np.log(taken).mean() > -0.75
