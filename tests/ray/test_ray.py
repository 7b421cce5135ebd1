"""Work on a Ray cluster of two nodes: the same results as in one process, to the last digit.

Not collected by the default run, because Ray pins its own gymnasium: ``make test-ray``.
"""

import os
import re
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

# Before Ray is imported, which looks once: the token lies in a home of these tests.
_HOME = TemporaryDirectory()
os.environ |= {"HOME": _HOME.name, "RAY_AUTH_MODE": "token", "RAY_USAGE_STATS_ENABLED": "0"}
ray = pytest.importorskip("ray", reason="needs ray, in an environment of its own: make test-ray")

from goita_env import Rules  # noqa: E402
from goita_lab.arena.tournament.arena import play_blocks  # noqa: E402
from goita_lab.arena.tournament.plan import TournamentPlan, tasks  # noqa: E402
from goita_lab.signals.worth import worth  # noqa: E402
from goita_lab.store import pack  # noqa: E402
from goita_lab.work import Runner, WorkerError, on_workers  # noqa: E402
from programs import ROOT  # noqa: E402
from tournament_plans import played  # noqa: E402

# Ray leaves sockets and files to the end of the process.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]


@pytest.fixture(scope="module")
def recipe():
    """The lines of the page, for two nodes on this machine with their own home."""
    page = Path(ROOT, "docs/tournaments.md").read_text()
    (block,) = re.findall(r"```bash\n(export RAY_AUTH_MODE.*?)\n```", page, re.DOTALL)
    for theirs, mine in {
        "ray start ": "ray start --num-cpus=1 ",
        ".venv-ray/bin/": f"{Path(sys.executable).parent}/",
        "FIRST": "127.0.0.1",
        "A B C": "random greedy heuristic",
        "64": "2 --deals 100",
    }.items():
        assert theirs in block
        block = block.replace(theirs, mine)
    return block.splitlines()


@pytest.fixture(scope="module")
def cluster(recipe):
    """Two nodes, both on this machine."""
    shell(recipe[:-1])
    os.environ["RAY_ADDRESS"] = "127.0.0.1:6379"
    try:
        yield
    finally:
        ray.shutdown()
        shell([f"{Path(sys.executable).parent}/ray stop"])
        del os.environ["RAY_ADDRESS"]


def shell(lines):
    found = subprocess.run(
        ["bash", "-ec", "\n".join(lines)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stderr
    return found.stdout


def test_the_recipe_of_the_page_gives_the_table_of_one_process(recipe, cluster):
    export, *_, evaluate = recipe
    alone = evaluate.replace("--workers 2", "")
    on_ray, alone = (shell([export, line]) for line in (evaluate, alone))

    def figures(text):
        return [re.findall(r"\[.*?\]", line)[:2] for line in text.splitlines() if "[" in line]

    assert len(figures(alone)) > 3
    assert figures(on_ray) == figures(alone)


def plan(**settings):
    return TournamentPlan(
        ("random", "greedy", "random"), deals=150, block_deals=16, seed=3, **settings
    )


def test_one_process_two_processes_and_two_ray_nodes_give_the_same_results(cluster, monkeypatch):
    for settings in ({"cross": True}, {"episode": "match"}):
        alone = played(plan(**settings))
        assert played(plan(**settings), workers=2) == alone  # on the cluster
        with monkeypatch.context() as here:
            here.delenv("RAY_ADDRESS")
            assert played(plan(**settings), workers=2) == alone


def test_workers_are_spread_over_both_nodes_and_no_more_than_there_are(cluster, capfd):
    def node(_):
        time.sleep(0.2)
        return ray.get_runtime_context().get_node_id()

    assert len(set(on_workers(node, range(8), 3))) == 2
    assert "started 2 of 3 workers" in capfd.readouterr().err


def test_a_worker_that_died_on_another_node_is_an_error(cluster):
    with pytest.raises(WorkerError, match="stay alive"):
        list(on_workers(os._exit, [3, 3], 2))
    assert sorted(on_workers(abs, [-5, -6], 2)) == [5, 6]


def test_measures_of_signals_are_the_same_on_a_cluster_and_resume_from_a_file(cluster, tmp_path):
    one, file = Runner(), tmp_path / "parts"
    wanted = worth(["random"], "first_lead", 3, runner=one)
    for _ in range(2):
        assert pack(worth(["random"], "first_lead", 3, runner=Runner(2, file))) == pack(wanted)


def test_an_agents_error_comes_back_from_another_node(cluster):
    from goita_agents import AgentError

    with pytest.raises(AgentError, match=r"^expected to build 'file:no"):
        list(play_blocks(tasks(("greedy", "file:no/such/file"), 32, block_deals=4), 2))


def test_a_class_of_ones_own_and_a_rule_set_of_ones_own_reach_other_nodes(
    cluster, tmp_path, monkeypatch
):
    bot = "class Last:\n    def act(self, view, legal, rng):\n        return legal.argmax(axis=1)\n"
    (tmp_path / "bots_of_the_ray_test.py").write_text(bot)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    agents, rules = ("first=bots_of_the_ray_test:Last", "random"), Rules("mine", last_king=False)
    mine = TournamentPlan(agents, deals=32, block_deals=4, rules=rules)
    found = played(mine, workers=2)
    assert found == played(mine)
    assert found["agents"] == ["first", "random"]
