"""Files of results: stopping and going on, bots that changed, files that are something else."""

import json
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from goita_agents.faults import Fault
from goita_agents.identity import Identities
from goita_env.errors import SettingError
from goita_lab.arena.statistics.sequential_test import Sprt
from goita_lab.arena.tournament import arena
from goita_lab.arena.tournament.arena import Tournament
from goita_lab.arena.tournament.block import play_block
from goita_lab.arena.tournament.plan import BlockFigures
from goita_lab.arena.tournament.results import ResultsFile, read_arguments
from goita_lab.arena.tournament.summary import Summary
from goita_lab.commands import evaluate
from goita_lab.store import pack, unpack
from programs import ROOT, refusal, run, run_small
from sqlite_files import edit, refused
from tournament_plans import found, keep, plan, played, unclocked


def counted(path):
    """What a file holds, by key, but what a clock measured."""
    clock = {"seconds": 0.0, "thinking": np.zeros(0)}
    with closing(sqlite3.connect(path)) as db:
        rows = db.execute("SELECT key, value FROM parts").fetchall()
    return {key: pack(replace(unpack(value, BlockFigures), **clock)) for key, value in rows}


def change(path, **figures):
    """Writes other figures into the first block."""
    with closing(sqlite3.connect(path)) as db, db:
        key, value = db.execute("SELECT key, value FROM parts").fetchone()
        other = pack(replace(unpack(value, BlockFigures), **figures))
        db.execute("UPDATE parts SET value = ? WHERE key = ?", (other, key))


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The file of a small tournament."""
    path = tmp_path_factory.mktemp("results") / "results.db"
    keep(path, plan())
    return path


@pytest.fixture
def path(finished, tmp_path):
    """The same, to be changed."""
    return Path(shutil.copy(finished, tmp_path))


def test_a_file_of_results_goes_on_where_it_stopped_and_ends_with_the_same_table(tmp_path):
    path, whole = tmp_path / "results.db", plan(cross=True, deals=40)
    wanted = played(whole)
    tournament, _ = keep(path, whole)
    assert found(tournament) == wanted
    rows = counted(path)
    assert len(rows) == len(tournament.tasks())
    edit(path, "DELETE FROM parts WHERE rowid > 4")
    again, file = keep(path, whole, workers=2)
    assert len(file.blocks) == 4
    assert file.note == ""
    assert found(again) == wanted
    assert counted(path) == rows


def test_a_finished_file_is_read_and_nothing_is_played(tmp_path, monkeypatch):
    path, whole = tmp_path / "results.db", plan(sprt=Sprt(0, 1.5), deals=400)
    first, _ = keep(path, whole)
    monkeypatch.setattr(arena, "play_block", lambda *_, **__: pytest.fail("played"))
    before = path.read_bytes()
    second, _ = keep(path, whole)
    assert found(first) == found(second)
    assert path.read_bytes() == before
    # Even times come from the file.
    assert Summary.of(whole, first.played()).pairs == Summary.of(whole, second.played()).pairs


def test_faults_and_forfeits_survive_in_the_file_field_by_field(tmp_path):
    path, whole = tmp_path / "results.db", plan(("greedy", "random"), deals=16)
    (task,) = Tournament(whole).tasks()
    fault = Fault("raised", 3, 2**50, "expected \udcff 'x'\0", ("oh", "no\n"), "Traceback ...")
    block = replace(play_block(task), faults=((1, fault), (0, fault)), forfeited=(1,))
    with ResultsFile(path, whole, Identities(whole.specs)) as file:
        file.append(block)
    with ResultsFile(path, whole, Identities(whole.specs)) as file:
        (again,) = file.blocks
    assert again.faults == ((1, fault), (0, fault))
    assert again.forfeited == (1,)
    for name in ("points", "rounds", "rounds_won", "won", "decisions", "thinking"):
        np.testing.assert_array_equal(getattr(again, name), getattr(block, name), strict=True)
    assert again.seconds == block.seconds


def test_arguments_are_told_before_a_plan_is_made(tmp_path):
    path, whole = tmp_path / "results.db", plan(seed=2**63 + 5)
    assert read_arguments(path) is None
    keep(path, whole)
    assert read_arguments(path)["seed"] == 2**63 + 5
    with ResultsFile(path, whole, Identities(whole.specs)):
        with pytest.raises(SettingError, match="no other program has open"):
            read_arguments(path)
        with pytest.raises(SettingError, match="no other program has open"):
            ResultsFile(path, whole, Identities(whole.specs))


def test_killed_with_signal_9_at_any_moment_the_command_ends_with_the_same_file(tmp_path):
    command = [sys.executable, "evaluate.py", "--agents", "random", "random"]
    command += ["--deals", "3584"]
    wanted, whole, file, out = (tmp_path / name for name in ("wanted", "whole.db", "file", "out"))
    games, all_games = tmp_path / "games", tmp_path / "all"
    kept = ["--json", str(wanted), "--results", str(whole), "--save-games", str(all_games)]
    assert evaluate.main([*command[2:], *kept]) == 0

    kept = [*command, "--results", file, "--json", out, "--save-games", games]
    counts, rng = [0], random.Random(3)
    for goal, processes in ((3, "2"), (7, "1")):  # the number may change on the way
        words, null = [*kept, "--workers", processes], subprocess.DEVNULL
        with subprocess.Popen(words, cwd=ROOT, stdout=null, start_new_session=True) as process:
            deadline = time.monotonic() + 60
            while len(list(games.glob("[!.]*.jsonl"))) < goal:
                assert process.poll() is None
                assert time.monotonic() < deadline
                time.sleep(0.005)
            time.sleep(rng.random() * 0.05)
            os.killpg(process.pid, signal.SIGKILL)
        counts.append(len(counted(file)))
    assert counts[1] >= 2  # the games of a block are there before it
    assert counts == sorted(counts)
    assert counts[-1] < 14
    assert not out.exists()

    assert run(kept, check=True, timeout=60).stderr == ""
    assert counted(file) == counted(whole)
    assert not list(tmp_path.glob("file-*"))
    saved = [{f.name: f.read_text() for f in path.glob("[!.]*")} for path in (games, all_games)]
    assert saved[0] == saved[1]
    assert len(saved[0]) == 15
    told = [unclocked(json.loads(path.read_text())) for path in (wanted, out)]
    for result in told:
        # A rating's interval is resampled less often in this process.
        del result["command"], result["ratings"]
    assert told[0] == told[1]


def test_a_full_disk_ends_the_command_with_a_line_and_loses_no_block(tmp_path):
    file, out = tmp_path / "file", tmp_path / "out"
    command = [sys.executable, "evaluate.py", "--agents", "greedy", "random", "--deals", "2000"]
    command += ["--results", str(file)]
    done = run_small(command, 60_000)
    assert done.returncode == 1
    error, stopped = done.stderr.strip().splitlines()
    assert str(file) in error
    assert re.fullmatch(r"stopped with [\d,]+ deals left; the same command continues", stopped)
    assert 0 < len(counted(file)) < 8
    assert evaluate.main([*command[2:], "--json", str(out)]) == 0
    whole = plan(("greedy", "random"), deals=2000, seed=0, block_deals=256)
    (pair,) = json.loads(out.read_text())["pairs"]
    assert pair["points_per_round"] == played(whole)["pairs"][0]["points_per_round"]


BOT = """
class Bot:
    name = "bot"

    def act(self, view, legal, rng):
        return legal.{}(axis=1)
"""


def test_with_one_bot_changed_its_blocks_alone_are_played_again(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    source = tmp_path / "results_bot.py"
    source.write_text(BOT.format("argmax"))
    path, own = tmp_path / "results.db", "mine=results_bot:Bot"
    whole = plan((own, "greedy", "random"), deals=48)
    keep(path, whole)
    rows = counted(path)

    source.write_text(BOT.format("argmax") + "# another file\n")
    again = []
    whole = plan((own, "greedy", "random"), deals=48)  # which has not looked at the class yet
    before = path.read_bytes()
    with ResultsFile(path, whole, Identities(whole.specs)) as file:
        assert len(file.blocks) == 3
        assert file.note == (
            f"{path}: 3 tasks kept, 6 done again, because their agents have changed\n"
        )
    assert path.read_bytes() == before  # until a new one comes
    keep(path, whole, progress=again.append)
    assert {one.task.agents for one in again} == {(own, "greedy"), (own, "random")}
    assert len(again) == 6
    assert rows.items() < counted(path).items()


ORDERED = """
import numpy as np

class Ordered:
    name = "ordered"

    def __init__(self, path, other=""):
        self.path, self.other, self.order = path, other, np.load(path)

    def act(self, view, legal, rng):
        if self.other:
            with open(self.other, "rb") as source, open(self.path, "wb") as target:
                target.write(source.read())
        return np.where(legal, self.order, -1).argmax(axis=1)
"""


@pytest.fixture
def ordered(tmp_path, monkeypatch):
    """A class that plays by a file, and two such files."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "ordered_bot.py").write_text(ORDERED)
    np.save("low.npy", np.arange(69.0))
    np.save("high.npy", np.arange(69.0)[::-1])
    yield "mine=ordered_bot:Ordered:path=order.npy"
    sys.modules.pop("ordered_bot", None)


def points_of(*words):
    assert evaluate.main(["--deals", "24", "--seed", "1", "--json", "out.json", *words]) == 0
    result = json.loads(Path("out.json").read_text())
    return result["pairs"][0]["points_per_round"], result["digests"]


def test_other_weights_behind_the_same_text_are_another_agent(ordered):
    words = ["--agents", ordered, "random", "--results", "kept.db"]
    shutil.copy("low.npy", "order.npy")
    first = points_of(*words)
    assert points_of(*words) == first
    shutil.copy("high.npy", "order.npy")
    fresh = points_of(*words[:-2])
    assert fresh != first
    assert points_of(*words) == fresh
    assert fresh[1].keys() == first[1].keys() == {ordered}
    shutil.copy("low.npy", "order.npy")
    assert points_of(*words) == first


def test_another_seed_is_refused_and_with_anew_the_file_is_of_that_seed(tmp_path, capsys):
    words = ["--agents", "greedy", "random", "--deals", "4", "--results", str(tmp_path / "r.db")]
    games = ["--save-games", str(tmp_path / "games")]
    assert evaluate.main([*words, *games, "--seed", "1"]) == 0
    error = refusal(capsys, evaluate.main, [*words, *games, "--seed", "2"])
    assert "seed 1, now 2; name another file, or begin this one anew with --anew" in error
    assert read_arguments(tmp_path / "r.db")["seed"] == 1
    assert evaluate.main([*words, *games, "--seed", "2", "--anew"]) == 0
    assert read_arguments(tmp_path / "r.db")["seed"] == 2
    assert evaluate.main([*words, *games, "--seed", "random", "--anew"]) == 0
    assert read_arguments(tmp_path / "r.db")["seed"] not in (1, 2)


def test_an_agent_that_changes_while_it_plays_is_marked_and_none_of_its_blocks_is_kept(
    ordered, capsys
):
    shutil.copy("low.npy", "order.npy")
    text = f"{ordered},other=high.npy"
    words = ["--agents", text, "greedy", "random", "--deals", "8", "--results", "kept.db"]
    assert evaluate.main([*words, "--json", "out.json", "--html", "out.html"]) == 1
    assert json.loads(Path("out.json").read_text())["changed"] == [text]
    assert "changed while it played" in " ".join(capsys.readouterr().out.split())
    assert "changed while it played" in Path("out.html").read_text()
    ((name, digests),) = map(json.loads, counted(Path("kept.db")))
    assert (json.loads(name)[:2], digests) == (["greedy", "random"], {})


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        *(({"seed": 4}, "seed 3, now 4"), ({"deals": 101}, "deals 100, now 101")),
        ({"episode": "match"}, "episode 'round', now 'match'"),
        ({"sprt": Sprt(0, 1)}, r"sprt None, now \[0, 1\]"),
        *(
            ({"agents": ("random", "greedy")}, "agents"),
            ({"fewer_deals": ((50, "greedy"),)}, "fewer_deals"),
        ),
        ({"cross": True}, "cross None, now 'random'"),
    ],
)
def test_a_file_of_other_arguments_is_an_error_that_says_which(path, settings, words):
    with refused(path, f"{words}.*; name another file, or begin this one anew with --anew"):
        keep(path, plan(**settings))


@pytest.mark.parametrize(
    "figures",
    [{"points": np.zeros((2, 15), np.int32)}, {"seconds": "long"}, {"faults": ((0, "late"),)}],
)
def test_figures_of_other_types_or_games_are_refused_in_a_sentence(path, figures):
    change(path, **figures)
    with refused(path, "damaged file"):
        keep(path, plan())
