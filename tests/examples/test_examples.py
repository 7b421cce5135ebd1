"""The examples run: a few decisions of each, as a user would start them.

Those of RLlib and TorchRL need environments of their own: ``make test-frameworks``.
"""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from goita_agents.registry import expand, load_agent
from goita_env import Game
from goita_env.testing import check_agent
from goita_lab.commands import evaluate
from goita_lab.signals import log

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
NEEDS = {"sb3_one_seat.py": "sb3_contrib", "cleanrl_ppo.py": "torch", "uke_shogi.py": "sb3_contrib"}


SAMPLE = EXAMPLES / "population-sample"


def test_the_sample_is_small_and_of_members_of_its_split():
    pytest.importorskip("pyarrow")
    assert sum(file.stat().st_size for file in SAMPLE.rglob("*")) < 4e6
    for split in ("train", "validation"):
        agents = set(log.read(SAMPLE / split).agents)
        assert len(agents) > 18
        assert agents <= {*expand([f"population:{split}"])}


@pytest.mark.pages
def test_players_are_cloned_from_a_data_set(tmp_path):
    for needed in ("torch", "pandas", "pyarrow"):
        pytest.importorskip(needed)
    for split, member in (("train", "population:selfplay-0"), ("validation", "greedy")):
        assert list(log.write(tmp_path / split, [member], 30)) == [30]
    told = run("clone_players.py", f"--data={tmp_path}", "--epochs=2", "--deals=4")
    assert re.search(r"epoch 2: \d+ choices: \d+\.\d% predicted, \d\.\d{3} nats\n", told)
    assert re.search(r"against heuristic: [+-]\d+\.\d\d \[.*\] points\n$", told)


@pytest.mark.pages
def test_a_recurrent_partner_is_trained_and_forgets_what_is_of_another_match(tmp_path, monkeypatch):
    torch = pytest.importorskip("torch")
    file = tmp_path / "recurrent.pt"
    words = ("--decisions=128", "--games=2", "--partners", "greedy", f"--output={file}")
    assert re.match(r"128 decisions, [+-]\d+\.\d points", run("recurrent_partner.py", *words))
    monkeypatch.chdir(EXAMPLES)
    spec = f"recurrent_partner:Recurrent:path={file}"
    match = ["--agents", spec, "greedy", "--episode", "match", "--deals", "2"]
    assert evaluate.main(match) == 0
    agent, view = load_agent(spec), Game(seed=1).view(0)
    view.game, games = np.array([5]), np.array([5])
    agent.states[5] = torch.ones(64)
    agent.begin(games, np.array([0]), Game(seed=1, scores=(10, 0)).view(0))
    assert 5 in agent.states
    agent.begin(games, np.array([0]), view)
    assert 5 not in agent.states


def test_the_rule_bot_takes_a_convention_of_an_example(monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLES)
    check_agent(load_agent("knight_lead:KnightLead"))


@pytest.mark.parametrize("kind", ["cleanrl", "torchrl", "rllib"])
def test_a_network_of_each_example_is_an_agent(kind, tmp_path, monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.syspath_prepend(EXAMPLES)
    sizes = ((256, 512), (256, 256), (69, 256))
    names = {
        "cleanrl": ["actor.0", "actor.2", "actor.4"],
        "torchrl": ["0", "2", "4"],
        "rllib": ["encoder.net.mlp.0", "encoder.net.mlp.2", "pi.net.mlp.0"],
    }[kind]
    saved = {}
    for name, (rows, columns) in zip(names, sizes, strict=True):
        saved[f"{name}.weight"] = torch.randn(rows, columns)
        saved[f"{name}.bias"] = torch.randn(rows)
    critic = {"cleanrl": "critic.0.bias", "rllib": "vf.net.mlp.0.bias"}.get(kind)
    torch.save(saved | ({critic: torch.zeros(1)} if critic else {}), tmp_path / "policy.pt")
    check_agent(load_agent(f"trained_policies:FromFile:path={tmp_path / 'policy.pt'}"))


def run(name: str, *options: str) -> str:
    """Runs an example in another folder and returns what it printed."""
    command = [sys.executable, str(EXAMPLES / name), *options]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=300, cwd=EXAMPLES.anchor
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("command", "told"),
    [
        pytest.param(
            "sb3_one_seat.py --steps 512 --games 16 --rounds 50",
            r"512 decisions, .*: [+-]\d+\.\d\d \+/- \d+\.\d\d points a round\n$",
            marks=pytest.mark.pages,
        ),
        pytest.param(
            "cleanrl_ppo.py --steps 2048 --games 32 --rounds 50",
            r"2,048 decisions, .*\nagainst random play: [+-]\d+\.\d\d \+/- \d+\.\d\d points",
            marks=pytest.mark.pages,
        ),
        ("own_bot.py --steps 100", r"random play with own_bot:.*[+-]\d+\.\d points"),
        pytest.param(
            "uke_shogi.py --steps 1 --games 2 --deals 20",
            r"three random: [+-]\d\.\d{3} .*\n.*three greedy: [+-]\d\.\d{3} .* 2\d deals\n$",
            marks=pytest.mark.pages,
        ),
        pytest.param(
            "open_hands.py --steps 6",
            r"6 worlds.*\n\naction  hands open .*\n *p ",
            marks=pytest.mark.pages,
        ),
    ],
)
def test_an_example_runs(command, told):
    name, *options = command.split()
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    assert re.search(told, run(name, *options))
