"""Transforms: what they hide, what their functions may return, and what a file may name."""

import numpy as np
import pytest

from goita_agents.base import AgentError
from goita_agents.bots.transform import Transform, read_texts
from goita_agents.registry import ObservationFunction
from goita_env import GoitaVectorEnv
from goita_env.views.observation import SLICES
from raising import refuses


def view():
    env, rng = GoitaVectorEnv(50, seed=3), np.random.default_rng(3)
    turn = env.reset(scores=np.full((50, 2), 40))
    for _ in range(12):
        turn = env.step(env.sample_legal(rng))
    return turn.view


def test_hidden_slices_are_zero_and_all_else_stays():
    seen, bits = view(), view().observation()
    kept = {one.name for one in SLICES} - {f"block_2_{play}" for play in range(4)} - {"own_score"}
    hidden = Transform(("block_2", "own_score")).view(seen).observation()
    for one in SLICES:
        found, before = (each[:, one.start : one.stop] for each in (hidden, bits))
        assert np.array_equal(found, before if one.name in kept else 0 * before)
    assert np.array_equal(seen.observation(), bits)  # the input was not changed
    assert Transform().view(seen) is seen


def test_a_name_is_a_slices_or_what_several_begin_with():
    sizes = {"attack": 8, "attack_1": 32, "events": 52, "passed": 56, "passed_partner_3": 7}
    for name, size in sizes.items():
        assert Transform((name,)).hidden.sum() == size
    for wrong in ("event", ""):
        refuses(AgentError, "expected names of slices", Transform, (wrong,))


def test_a_function_gets_bits_without_what_is_hidden_and_returns_bits():
    seen = view()

    def swapped(bits):
        bits[:, 470:484], bits[:, 484:498] = bits[:, 484:498].copy(), bits[:, 470:484].copy()
        return bits

    made = Transform(("own_score",), ObservationFunction("mine:swapped", swapped))
    assert made.texts == ("own_score", "mine:swapped")
    assert made.view(seen).scores.tolist() == [[40, 0]] * 50
    assert seen.scores.tolist() == [[40, 40]] * 50


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda bits: bits[:-1], "expected 50 rows"),
        (lambda bits: bits[:, :500], "observation of shape"),
        (lambda bits: 2 * bits, "zeros and ones"),
        (lambda bits: bits | 1, "zeros between the slices"),
        (lambda bits: None, "expected 50 rows"),
    ],
)
def test_what_is_no_observation_is_refused_by_the_functions_name(answer, words):
    made = Transform((), ObservationFunction("mine:answer", answer))
    refuses(AgentError, f"transform 'mine:answer': .*{words}", made.view, view())


def test_a_file_names_slices_by_itself_but_a_function_must_be_given_again():
    given = ObservationFunction("mine:swapped", lambda bits: bits)
    assert read_texts(["events", "mine:swapped"], given, "x").function is given
    assert read_texts(["events"], None, "x").hide == ("events",)
    refuses(AgentError, "to be given again", read_texts, ["os:system"], None, "the file")
    refuses(AgentError, "expected the transform os:system", read_texts, ["os:system"], given, "x")
    refuses(AgentError, "expected no transform", read_texts, ["events"], given, "x")
    for wrong in (["a:b", "events"], ["a:b", "c:d"], ["events"] * 200):
        refuses(AgentError, "at most one MODULE:FUNCTION", read_texts, wrong, None, "x")
