"""The command ``goita exact``, the files that it keeps, and the agent that plays them."""

import io
import json
import zipfile

import numpy as np
import pytest

from goita_agents import load_agent
from goita_agents.base import AgentError
from goita_env import GoitaVectorEnv
from goita_env.errors import SettingError
from goita_env.testing import narrowed
from goita_lab.arena.tournament import arena
from goita_lab.commands import exact
from goita_lab.exact.agent import restore, save
from goita_lab.exact.tree import Channel, enumerate_game
from goita_lab.exact.values import Learner, value
from raising import refuses

TINY = {"name": "tiny", "deck": [10, 2, 0, 0, 4, 0, 0, 0]}


@pytest.fixture
def rules(tmp_path):
    path = tmp_path / "tiny.json"
    path.write_text(json.dumps(TINY))
    return str(path)


def test_a_solution_is_kept_goes_on_and_is_played(rules, tmp_path, capsys, tiny):
    file, told = tmp_path / "tiny.npz", tmp_path / "tiny.json.out"
    command = [rules, "-o", str(file), "--target", "0"]
    assert exact.main([*command, "--rounds", "5"]) == 0
    assert exact.main([*command, "--rounds", "8", "--json", str(told)]) == 0
    said = capsys.readouterr()
    assert "5 rounds" in said.err
    found = json.loads(told.read_text())
    assert found["game"]["histories"] == len(tiny.info)
    learner = Learner(tiny)
    for _ in range(8):
        learner.learn()
    assert found["measured"][0]["value"] == pytest.approx(value(tiny, learner.average()))
    agent = load_agent(f"goita_lab.exact.agent:SolvedAgent:path={file}")
    assert tiny.policy_of([agent] * 4) == pytest.approx(learner.average())
    view = tiny.view()
    for seed in range(5):
        mask = narrowed(view.legal(), seed)
        known = agent.probabilities(view, mask)
        assert not known[~mask].any()
        assert known.sum(axis=1) == pytest.approx(1)
        assert mask[np.arange(len(view)), agent.act(view, mask, np.random.default_rng(0))].all()
    result = arena.play_pair(agent, "random", 200, seed=1, rules=tiny.rules)
    assert result.points_per_round > 0


def test_agents_are_measured(rules, capsys, tmp_path):
    told = tmp_path / "told"
    command = [rules, "--agents", "greedy", "random", "--json", str(told)]
    assert exact.main(command) == 0
    greedy, uniform = json.loads(told.read_text())["measured"]
    assert (greedy["name"], uniform["name"]) == ("greedy", "random")
    assert sum(uniform["seats"]) > sum(greedy["seats"])
    assert greedy["teams"] == []


def test_a_game_with_other_eyes_is_solved(rules, capsys):
    assert exact.main([rules, "--eyes", "partner", "--rounds", "3"]) == 0
    assert "for the dealer's team" in capsys.readouterr().out


def test_a_game_with_a_message_is_solved_and_its_solution_plays_no_other(rules, tmp_path, tiny):
    file, found = tmp_path / "tiny.npz", tmp_path / "found.json"
    words = [rules, "--message", "--rounds", "3", "-o", str(file), "--json", str(found)]
    assert exact.main(words) == 0
    tree = enumerate_game(tiny.rules, channel=Channel())
    learner = Learner(tree)
    for _ in range(3):
        learner.learn()
    content = json.loads(found.read_text())
    assert content["game"]["histories"] == len(tree.info)
    assert content["value"] == pytest.approx(value(tree, learner.average()))
    assert (restore(tree, file).average() == learner.average()).all()
    refuses(SettingError, "expected", restore, tiny, file)
    spec = f"goita_lab.exact.agent:SolvedAgent:path={file}"
    refuses(AgentError, "got .* and a message", load_agent, spec)


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["jga"], "expected a small game"),
        (["mini_3", "--rounds", "0"], "expected a round or more"),
        (["mini_3", "--team", "nan"], "expected 0 or more, and a finite number, got nan"),
        (["mini_3", "--agents", "greedy", "--eyes", "blocks"], "--agents without -o"),
        (["mini_3", "--agents", "greedy", "--message"], "--agents without -o"),
        (["mini_3", "--message", "--team", "0"], "--team without --eyes, --message"),
        (["mini_3", "--agents", "solver"], "as of a known policy"),
    ],
)
def test_wrong_arguments_end_with_code_2(words, error, capsys):
    with pytest.raises(SystemExit) as ended:
        exact.main(words)
    assert ended.value.code == 2
    assert error in " ".join(capsys.readouterr().err.split())


def test_a_file_of_another_game_or_of_none_is_refused(tiny, tmp_path):
    file = tmp_path / "tiny.npz"
    learner = Learner(tiny)
    learner.learn()
    save(learner, file)
    assert (restore(tiny, file).average() == learner.average()).all()
    other = enumerate_game(tiny.rules, "blocks")
    refuses(SettingError, "'eyes': .*'blocks'", restore, other, file)
    agent = load_agent(f"goita_lab.exact.agent:SolvedAgent:path={file}")
    turn = GoitaVectorEnv(4, seed=0).reset()
    refuses(AgentError, "the small game 'tiny'", agent.probabilities, turn.view, turn.action_mask)
    save(Learner(other), file)
    spec = f"goita_lab.exact.agent:SolvedAgent:path={file}"
    refuses(AgentError, "eyes own", load_agent, spec)
    for broken in (b"", b"PK\3\4", file.read_bytes()[:1000]):
        file.write_bytes(broken)
        refuses(SettingError, "expected a file of goita-solution-1 in", restore, tiny, file)
    for about in ("[" * 20_000, "[]", "{}"):
        np.savez(file, about=np.array(about))
        refuses(SettingError, "expected a file", restore, tiny, file)
    huge = io.BytesIO()
    head = {"descr": "<f8", "fortran_order": False, "shape": (10**13,)}
    np.lib.format.write_array_header_1_0(huge, head)
    with zipfile.ZipFile(file, "w") as archive:
        for name in ("about", "rounds", "policy"):
            archive.writestr(f"{name}.npy", huge.getvalue())
    refuses(SettingError, "expected a file", restore, tiny, file)
