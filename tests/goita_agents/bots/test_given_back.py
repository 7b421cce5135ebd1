"""What hidden bits of the observation the other bits give back, as its page says."""

import re
from functools import cache

import numpy as np
import pytest

import given_back
from given_back import FOLLOW, PLAYS, named
from goita_agents.bots.transform import Transform
from goita_env import GoitaVectorEnv, View
from goita_env.actions import CALL
from goita_env.views.observation import SLICES
from programs import ROOT

NAMES = [one.name for one in SLICES]
RULE_SETS = ("jga", pytest.param("pagat", marks=pytest.mark.slow), "nine")


@cache
def positions(rules):
    """Views of acting seats of all phases: words and legal actions; random play, with scores."""
    env = GoitaVectorEnv(12, rules, episode="match", seed=11, observe=False)
    turn, rng, words, legal = env.reset(), np.random.default_rng(11), [], []
    for _ in range(60):
        words.append(turn.view.words)
        legal.append(turn.action_mask)
        turn = env.step(env.sample_legal(rng))
    return View(np.concatenate(words), rules=rules), np.concatenate(legal)


def rows(rules, hide, some=slice(None)):
    """Yields each observation with some slices hidden, and the whole one, as bits by slice."""
    view, _ = positions(rules)
    hidden = Transform(hide).view(view)
    for left, whole in zip(hidden[some].observation(), view[some].observation(), strict=True):
        yield named(left), named(whole)


@pytest.mark.parametrize("rules", RULE_SETS)
def test_the_order_of_play_gives_back_passes_the_attack_kings_and_unseen_tiles(rules):
    for left, whole in rows(rules, (*FOLLOW, "dealer")):
        found = given_back.following(left)
        assert {name: whole[name] for name in found} == found


def test_the_order_of_play_gives_back_the_dealer_once_a_play_was_made():
    known = 0
    for left, whole in rows("jga", ("dealer",)):
        found = given_back.following(left)
        known += "dealer" in found
        assert found.get("dealer", whole["dealer"]) == whole["dealer"]
        asked = whole["asked_call"] + whole["asked_choice"]
        # A seat that is asked to play before any other deals; only questions leave the dealer open.
        assert "dealer" in found or any(asked) or whole["dealer"] == [1, 0, 0, 0]
    assert known


def test_unseen_tiles_and_plays_give_back_the_own_hand():
    for left, whole in rows("jga", ("hand",)):
        assert given_back.hand(left) == whole["hand"]


@pytest.mark.parametrize("seat", range(4))
def test_three_seats_events_give_back_the_fourths(seat):
    for left, whole in rows("jga", (f"events_{seat}",)):
        assert given_back.events(left, seat) == whole[f"events_{seat}"]


@pytest.mark.parametrize("name", PLAYS)
def test_a_single_hidden_block_or_attack_is_the_tile_that_is_missed(name):
    for left, whole in rows("jga", (name,), slice(0, None, 5)):
        assert given_back.play(left, name) == whole[name]


@pytest.mark.parametrize("rules", RULE_SETS)
def test_bits_of_the_end_of_a_round_are_zero_while_a_seat_is_asked(rules):
    view, _ = positions(rules)
    never = [f"{what}_{seat}_3" for what in ("block", "attack") for seat in range(4)]
    never += [f"redeal_{seat}" for seat in range(4)]
    assert not view.observation()[:, Transform(never).hidden].any()


def test_the_mask_gives_back_the_questions():
    view, legal = positions("jga")
    questions = np.stack([view.asked_call, view.asked_choice], axis=1)
    assert questions.any(axis=0).all()
    assert np.array_equal(legal[:, CALL:].any(axis=1), questions.any(axis=1))


def test_the_page_names_these_slices():
    page = (ROOT / "docs" / "observation.md").read_text(encoding="utf-8")
    part = page.split("## Which hidden slices follow from the rest?")[1].split("\n## ")[0]
    table = [line for line in part.splitlines() if line.startswith("| `")]
    told = {name for line in table for name in re.findall(r"`([a-z_0-9]+)`", line.split("|")[1])}
    assert {*FOLLOW, "dealer", "hand", "asked_call", "asked_choice"} <= told
    covered = {one for one in NAMES for name in told if one == name or one.startswith(f"{name}_")}
    assert covered == set(NAMES)
