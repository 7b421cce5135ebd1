"""A small network that is taught by a large one."""

import numpy as np
import pytest
import torch as th

from agents import load_agent
from agents.bots.network import NetworkAgent
from agents.learning import distil
from goita_env import GoitaVectorEnv


def taught(tmp_path, name, *options):
    file = tmp_path / name
    given = [str(file), "--layers", "24", "--games", "64", "--threads", "1", *options]
    assert distil.main(given) == 0
    return NetworkAgent.load(file)


def positions():
    turn = GoitaVectorEnv(256, seed=77).reset()
    return turn.view, turn.action_mask


def likeness(pupil):
    """Returns how often a pupil plays as the champion does, and how far its values are off."""
    view, legal = positions()
    teacher, rng = load_agent("champion"), np.random.default_rng(0)
    same = pupil.act(view, legal, rng) == teacher.act(view, legal, rng)
    return same.mean(), np.abs(pupil.values(view) - teacher.values(view)).mean()


def test_a_pupil_comes_to_play_and_to_value_as_its_teacher_does(tmp_path):
    th.set_num_threads(1)
    begun, off = likeness(taught(tmp_path, "begun", "--decisions", "1"))
    alike, near = likeness(taught(tmp_path, "taught", "--decisions", "40000"))
    assert alike > begun + 0.2
    assert near < 0.8 * off


def test_the_same_seed_teaches_the_same(tmp_path):
    view, _ = positions()
    options = ("--decisions", "400", "--seed", "3")
    one, two = (taught(tmp_path, name, *options) for name in ("one", "two"))
    np.testing.assert_array_equal(one.logits(view), two.logits(view))
    assert one.info.decisions >= 400
    assert one.info.points_per_value == load_agent("champion").info.points_per_value


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--teacher", "greedy"], "expected a network as teacher, got 'greedy'"),
        (["--layers", "16", "0"], "expected layers of at least 1, got (16, 0)"),
        (["--threads", "0"], "expected threads of at least 1, got 0"),
        (["--slips", "2"], "from 0 to 1"),
    ],
)
def test_impossible_lessons_are_refused(tmp_path, capsys, options, says):
    with pytest.raises(SystemExit, match="2"):
        distil.main([str(tmp_path / "none"), *options])
    assert says in capsys.readouterr().err
    assert not (tmp_path / "none").exists()
