"""The training as a program: its directory, interruptions and going on, and what it prints."""

import csv
import json
import os
import re
import signal
import subprocess
import sys
from dataclasses import asdict, replace
from itertools import pairwise
from pathlib import Path
from typing import get_args, get_type_hints

import numpy as np
import pytest
import torch as th
from stable_baselines3.common.logger import configure

import train
from agents import learning
from agents.bots.network import NetworkAgent
from agents.bots.network_file import open_tensors
from agents.learning import GoitaVecEnv, SelfPlayPPO, has_fast_bfloat16
from agents.learning.bar import DecisionBar
from agents.learning.checkpoint import load_checkpoint, save_checkpoint
from agents.learning.measuring import read_csv
from agents.learning.storage import write
from goita_env import GoitaVectorEnv, Rules
from goita_env.errors import SettingError

TINY = ["--games", "16", "--steps", "4", "--layers", "16", "--batch", "64", "--decisions", "1500"]
TINY += ["--save-every", "300", "--threads", "1", "--deals", "8", "--no-progress"]
TINY += ["--snapshot-every", "400", "--measure-deals", "4"]


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def log(path):
    with path.open() as file:
        return list(csv.DictReader(file))


def policy(directory):
    return (directory / "policy.safetensors").read_bytes()


def decisions_in(checkpoint):
    with open_tensors(checkpoint) as file:
        return json.loads(file.metadata()["standing"])["decisions"]


def begin(name, **settings):
    """Leaves a run that was killed before its first checkpoint."""
    options = {"progress": False, "measure_deals": 0, "threads": 1, **settings}
    args, found = train.settle(train.Args(name=name, **options))
    return learning.Run(Path("runs", name), train.config_of(args, found)).begin()


def new_model(**settings):
    options = {"games": 16, "steps": 4, "batch": 64, "layers": (16,), **settings}
    return train.new_model(*train.settle(train.Args(precision="float32", **options)))


def stop_after(monkeypatch, updates, number=signal.SIGINT):
    """Sends a signal to this process in the middle of the n-th update."""
    original, count = SelfPlayPPO._loss, [0]

    def loss(self, *samples):
        count[0] += 1
        if count[0] == updates:
            os.kill(os.getpid(), number)
        return original(self, *samples)

    monkeypatch.setattr(SelfPlayPPO, "_loss", loss)


def test_it_trains_measures_and_leaves_everything_in_its_directory(elsewhere, capsys):
    assert train.main(["--name", "one", *TINY]) == 0
    run = elsewhere / "runs" / "one"
    config = json.loads((run / "config.json").read_text())
    assert config["layers"] == [16]
    assert config["precision"] == ("bfloat16" if has_fast_bfloat16() else "float32")
    agent = NetworkAgent.load(run / "policy.safetensors")
    assert agent.info.decisions >= 1500
    rows = log(run / "progress.csv")
    assert len(rows) > 10
    assert float(rows[-1]["train/explained_variance"]) <= 1
    assert {"rollout/points_per_round", "train/approx_kl", "time/fps"} <= rows[0].keys()
    assert list(run.glob("events.out.tfevents.*"))
    pairs = json.loads((run / "result.json").read_text())["pairs"]
    assert [pair["b"] for pair in pairs] == ["random", "greedy", "heuristic", "champion"]
    assert all(pair["ci95"][0] <= pair["points_per_round"] <= pair["ci95"][1] for pair in pairs)
    assert not list(run.glob(".*"))  # nothing half written is left
    out = capsys.readouterr().out
    assert "points per round" in out
    assert "greedy" in out

    # The learning curve: every snapshot against both bots and, but for the first, its own past.
    curve = read_csv(run / "strength.csv")
    measured = sorted({row.decisions for row in curve})
    assert measured[0] == 0
    assert measured[-1] == agent.info.decisions
    assert [row.opponent for row in curve] == (
        ["greedy", "heuristic"] + (len(measured) - 1) * ["greedy", "heuristic", "past"]
    )
    assert f"{measured[1]:,} decisions: " in out
    snapshots = {path.stem: path.read_bytes() for path in (run / "snapshots").iterdir()}
    assert [*map(int, sorted(snapshots))] == measured
    best = NetworkAgent.load(run / "best.safetensors").info.decisions
    assert (run / "best.safetensors").read_bytes() == snapshots[f"{best:012}"]
    assert snapshots[f"{measured[-1]:012}"] == policy(run)
    # The deals at the end are others than those that chose the best.
    assert json.loads((run / "config.json").read_text())["eval_seed"] == 1

    # Gone on with when it is finished, it measures again and learns nothing more.
    before = policy(run)
    assert train.main(["--resume", str(run)]) == 0
    assert policy(run) == before
    assert "points per round" in capsys.readouterr().out


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_run_that_was_stopped_goes_on_as_if_it_had_not_been(
    elsewhere, monkeypatch, capsys, number
):
    settings = [*TINY, "--precision", "float32", "--seed", "4"]
    assert train.main(["--name", "whole", *settings]) == 0
    with monkeypatch.context() as patch:
        stop_after(patch, 9, number)
        assert train.main(["--name", "parts", *settings]) == 130
    run = elsewhere / "runs" / "parts"
    assert f"--resume {run.relative_to(elsewhere)}" in capsys.readouterr().out
    assert not (run / "policy.safetensors").exists()
    assert 0 < decisions_in(run / "checkpoint.safetensors") < 1500
    with monkeypatch.context() as patch:
        stop_after(patch, 5, number)
        assert train.main(["--resume", str(run)]) == 130
    assert train.main(["--resume", str(run)]) == 0
    assert policy(run) == policy(elsewhere / "runs" / "whole")
    logs = [log(run / f"progress{part}.csv") for part in ("", "-2", "-3")]
    made = [int(row["time/total_timesteps"]) for rows in logs for row in rows]
    assert made == sorted(set(made))
    assert signal.getsignal(number) in (signal.default_int_handler, signal.SIG_DFL)


def test_a_run_stopped_before_its_first_checkpoint_begins_again(elsewhere):
    run = elsewhere / "runs" / "one"
    begin("one", decisions=100, games=4, steps=2, layers=(8,), deals=2)
    assert train.main(["--resume", str(run)]) == 0


KILLED = """
import os, signal, sys
import train
from agents.learning import bar, checkpoint, files, keeper, policy_file, run, storage

place, left, write = sys.argv[1], int(sys.argv[2]), storage.write

def deadly(path, data):
    # Kills the program when a file is written for the n-th time: before, half done, or after.
    global left
    left -= 1
    if left == 0 and place == "half":
        path.with_name(f".{path.name}.part").write_bytes(data[: len(data) // 2])
    if left == 0 and place != "after":
        os.kill(os.getpid(), signal.SIGKILL)
    write(path, data)
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)

for module in (checkpoint, files, keeper, policy_file, run):
    module.write = deadly
sys.exit(train.main(sys.argv[3:]))
"""


def test_a_run_that_is_killed_anywhere_ends_as_one_that_was_not(elsewhere):
    settings = [*TINY, "--pool-share", "0.5", "--pool", "random", "--seed", "6", "--critic", "8"]
    assert train.main(["--name", "whole", *settings]) == 0
    command, code = ["--name", "parts", *settings], 1
    root = str(Path(train.__file__).parent)
    # The sixth file is in the middle of the second measurement, and so on.
    for place, files in (("after", 6), ("before", 5), ("half", 6), ("", 10**6)):
        words = [sys.executable, "-c", KILLED, place, str(files), *command]
        code = subprocess.run(words, env=os.environ | {"PYTHONPATH": root}, check=False).returncode
        assert code == (0 if files == 10**6 else -signal.SIGKILL)
        command = ["--resume", "runs/parts"]
    whole, parts = elsewhere / "runs" / "whole", elsewhere / "runs" / "parts"
    for name in ("policy.safetensors", "best.safetensors", "strength.csv"):
        assert (parts / name).read_bytes() == (whole / name).read_bytes(), name
    snapshots = [sorted(path.name for path in (r / "snapshots").iterdir()) for r in (whole, parts)]
    assert snapshots[0] == snapshots[1]
    assert not [*parts.glob(".*")]
    rows = log(whole / "progress.csv")
    assert sum(int(row["pool/rounds"]) for row in rows) > 0


def test_a_run_goes_on_to_another_number_of_decisions_and_its_schedules_end_there(
    elsewhere, capsys
):
    assert train.main(["--name", "one", *TINY]) == 0
    run = elsewhere / "runs" / "one"
    made = NetworkAgent.load(run / "policy.safetensors").info.decisions
    capsys.readouterr()
    assert train.main(["--resume", str(run), "--decisions", "3000"]) == 0
    out = capsys.readouterr().out
    assert f"from {made:,} to 3,000 decisions instead of 1,500" in out
    assert NetworkAgent.load(run / "policy.safetensors").info.decisions >= 3000
    assert json.loads((run / "config.json").read_text())["decisions"] == 3000
    rows = log(run / "progress-2.csv")
    assert {row["time/planned_decisions"] for row in rows} == {"3000"}
    for before, row in pairwise(rows):  # a row is written between its rollout and the update on it
        way = int(before["time/total_timesteps"]) / 3000
        assert float(row["train/learning_rate"]) == pytest.approx(1.5e-3 + way * (5e-5 - 1.5e-3))
    with pytest.raises(SystemExit, match="2"):
        train.main(["--resume", str(run), "--decisions", "2000"])
    assert "expected more decisions than" in capsys.readouterr().err


def test_options_that_a_resumed_run_cannot_honour_are_refused(elsewhere, capsys):
    begin("one", decisions=100, games=4, steps=2, layers=(8,), deals=2)
    for option in (["--seed", "0"], ["--lr=1e-3", "1e-4"], ["--name", "two"]):
        with pytest.raises(SystemExit, match="2"):
            train.main(["--resume", "runs/one", *option])
        assert option[0].partition("=")[0] in capsys.readouterr().err


def test_a_training_begins_with_a_policys_file(elsewhere):
    assert train.main(["--name", "one", *TINY]) == 0
    run = elsewhere / "runs" / "one"
    more = ["--init", str(run / "policy.safetensors"), "--reward-scale", "0.04"]
    assert train.main(["--name", "two", *TINY, *more]) == 0
    first = NetworkAgent.load(elsewhere / "runs" / "two" / "snapshots" / "000000000000.safetensors")
    last = NetworkAgent.load(run / "policy.safetensors")
    turn = GoitaVectorEnv(32, seed=3).reset()
    np.testing.assert_allclose(first.logits(turn.view), last.logits(turn.view), atol=1e-5)
    np.testing.assert_allclose(first.values(turn.view), last.values(turn.view), atol=1e-3)
    assert first.info.points_per_value == 25
    settled = train.settle(train.Args(init=run / "policy.safetensors"))
    assert settled[1].layers == (16,)  # the file's where none are given
    (elsewhere / "x.safetensors").write_bytes(b"no policy")
    for wrong in (["--init", "x.safetensors"], [*more, "--layers", "8"]):
        with pytest.raises(SystemExit, match="2"):
            train.main(["--name", "three", *TINY, *wrong])
    assert not (elsewhere / "runs" / "three").exists()


def test_matches_are_learnt_for_their_wins(elsewhere, capsys):
    assert train.main(["--name", "one", *TINY, "--episode", "match", "--deals", "16"]) == 0
    rows = read_csv(elsewhere / "runs" / "one" / "strength.csv")
    assert all(0 <= row.match_win_rate <= 1 for row in rows)
    assert "matches" in capsys.readouterr().out
    agent = NetworkAgent.load(elsewhere / "runs" / "one" / "policy.safetensors")
    assert agent.info.points_per_value == 1
    resumed = train.settings_of(learning.Run.resume(elsewhere / "runs" / "one"))
    assert resumed[0].episode == "match"
    # A policy that was taught on points says nothing of wins, so its values are forgotten.
    model = new_model()
    learning.save_policy(model, Path("points.safetensors"), "jga")
    other = new_model(episode="match")
    learning.begin_from(other, Path("points.safetensors"))
    assert not any(parameter.any() for parameter in other.policy.value_net.parameters())


def test_a_run_keeps_a_rule_set_of_ones_own_and_goes_on_without_its_file(elsewhere, capsys):
    file, mine = elsewhere / "my_rules.json", Rules("mine", last_king=False, call_five="duty")
    file.write_text(json.dumps(asdict(mine)))
    assert train.main(["--name", "one", *TINY, "--rules", str(file)]) == 0
    file.unlink()
    run = elsewhere / "runs" / "one"
    assert Rules.from_keys(json.loads((run / "config.json").read_text())) == mine
    assert NetworkAgent.load(run / "policy.safetensors").info.rules == mine
    assert train.main(["--resume", str(run)]) == 0


def test_the_presets_hold_every_setting_and_options_change_them():
    quick, standard = (learning.PRESETS[name] for name in ("quick", "standard"))
    assert train.settle(train.Args(precision="bfloat16"))[1] == quick
    assert train.settle(train.Args(precision="float32"))[1].decisions == quick.decisions // 2
    args = train.Args(preset="standard", layers=(32,), precision="bfloat16")
    assert train.settle(args)[1] == replace(standard, layers=(32,))
    assert [*learning.PRESETS] == [*get_args(get_type_hints(train.Args)["preset"])]


def test_a_gpu_that_is_not_there_is_refused(monkeypatch, capsys):
    monkeypatch.setattr(th.cuda, "is_available", lambda: False)
    with pytest.raises(SystemExit, match="2"):
        train.main(["--device", "cuda"])
    assert "cuda" in capsys.readouterr().err
    assert train.settle(train.Args())[0].device == "cpu"


def test_the_disk_that_a_run_takes_is_said_and_kept_to(elsewhere, capsys):
    assert train.main(["--name", "one", *TINY]) == 0
    said = float(re.search(r"at most about ([\d,.]+) MB", capsys.readouterr().out)[1])
    run = elsewhere / "runs" / "one"
    assert sum(path.stat().st_size for path in run.rglob("*") if path.is_file()) < said * 1e6


def test_the_same_seed_gives_the_same_weights_and_another_others(elsewhere):
    for name, seed in (("a", "1"), ("b", "1"), ("c", "2")):
        assert train.main(["--name", name, "--seed", seed, *TINY]) == 0
    a, b, c = (policy(elsewhere / "runs" / name) for name in "abc")
    assert a == b != c


def test_measuring_leaves_the_training_as_it_is(elsewhere):
    for name, more in (("a", []), ("b", ["--measure-deals", "0"])):
        assert train.main(["--name", name, *TINY, *more]) == 0
    assert policy(elsewhere / "runs" / "a") == policy(elsewhere / "runs" / "b")
    assert not (elsewhere / "runs" / "b" / "strength.csv").exists()


@pytest.mark.parametrize(
    "options",
    [["--opponents", "random", "greedy"], ["--partner", "greedy"], ["--pool-share", "0"]],
)
def test_it_learns_against_and_beside_fixed_players(elsewhere, options):
    short = [*TINY, "--decisions", "300", "--measure-deals", "0", "--deals", "2"]
    assert train.main(["--name", "one", *short, *options]) == 0
    rows = log(elsewhere / "runs" / "one" / "progress.csv")
    assert (int(rows[-1].get("pool/rounds", 0)) > 0) == ("--opponents" in options)


def test_a_best_response_is_measured_against_what_it_answers(elsewhere):
    options = ["--name", "one", *TINY, "--decisions", "200", "--deals", "2"]
    assert train.main([*options, "--opponents", "random"]) == 0
    rows = read_csv(elsewhere / "runs" / "one" / "strength.csv")
    assert {row.opponent for row in rows} == {"random", "past"}


def test_a_run_without_a_snapshot_that_it_needs_says_so(elsewhere, capsys):
    assert train.main(["--name", "one", *TINY]) == 0
    for path in (elsewhere / "runs" / "one" / "snapshots").iterdir():
        path.unlink()
    with pytest.raises(SystemExit, match="2"):
        train.main(["--resume", "runs/one", "--decisions", "4000"])
    assert "snapshots" in capsys.readouterr().err


def test_a_run_whose_checkpoint_is_gone_is_left_as_it_is(elsewhere, capsys):
    assert train.main(["--name", "one", *TINY]) == 0
    run = elsewhere / "runs" / "one"
    (run / "checkpoint.safetensors").unlink()
    before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    with pytest.raises(SystemExit, match="2"):
        train.main(["--resume", "runs/one"])
    assert (
        "expected runs/one/checkpoint.safetensors beside runs/one/policy" in capsys.readouterr().err
    )
    assert {path: path.read_bytes() for path in run.rglob("*") if path.is_file()} == before


def test_a_saved_model_loads_as_any_model_of_stable_baselines3(elsewhere):
    model = new_model()
    model.learn(300)
    model.save("model")
    env = GoitaVecEnv(GoitaVectorEnv(16, seed=5, observe=False))
    loaded = SelfPlayPPO.load("model", env=env)
    assert loaded.num_timesteps == model.num_timesteps
    assert loaded.n_steps == 4
    for mine, theirs in zip(model.policy.parameters(), loaded.policy.parameters(), strict=True):
        assert th.equal(mine, theirs)
    loaded.learn(200, reset_num_timesteps=False)
    assert loaded.num_timesteps >= model.num_timesteps + 200


def test_a_checkpoint_is_replaced_whole_or_not_at_all(elsewhere, monkeypatch):
    path = elsewhere / "file"
    write(path, b"old")
    monkeypatch.setattr(os, "fsync", lambda number: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        write(path, b"new and longer")
    assert path.read_bytes() == b"old"


def test_a_broken_checkpoint_or_run_is_refused(elsewhere):
    path = elsewhere / "checkpoint.safetensors"
    model = new_model(games=4, steps=2, layers=(8,))
    model.set_logger(configure(None, []))
    model.learn(10)
    save_checkpoint(model, path)
    again = new_model(games=4, steps=2, layers=(8,))
    load_checkpoint(again, path)
    assert again.num_timesteps == model.num_timesteps
    for data in (b"", path.read_bytes()[:1000], b"PK"):
        path.write_bytes(data)
        with pytest.raises(SettingError, match="checkpoint"):
            load_checkpoint(new_model(games=4, steps=2, layers=(8,)), path)
    with pytest.raises(SystemExit, match="2"):
        train.main(["--resume", str(elsewhere / "nowhere")])
    (elsewhere / "config.json").write_text('{"colour": "red"}')
    with pytest.raises(SystemExit, match="2"):
        train.main(["--resume", str(elsewhere)])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--games", "0"], "games of at least 1"),
        (["--lr", "1e-3"], "two numbers"),
        (["--lr", "1e-3", "-1e-3"], "lr of at least 0"),
        (["--entropy", "nan", "0"], "entropy of at least 0"),
        (["--clip", "0"], "clip above 0"),
        (["--gae-lambda", "1.5"], "gae_lambda from 0 to 1"),
        (["--reward-scale", "-3"], "reward_scale above 0"),
        (["--points-per-value", "25"], "--reward-scale"),
        (["--layers", "16", "0"], "layers of at least 1"),
        (["--decisions", "-5"], "at least 65536 decisions"),
        (["--decisions", "1000"], "at least 65536 decisions"),
        (["--name", ""], "name of a directory"),
        (["--name", "../up"], "name of a directory"),
        (["--deals", "1"], "number of deals"),
        (["--seed", "-1"], "seed"),
        (["--rules", "chess"], "chess"),
        (["--precision", "float16"], "float16"),
        (["--pool-share", "2"], "share"),
        (["--opponents", "nobody"], "nobody"),
        (["--opponents", "greedy", "--pool", "random"], "opponents or a pool"),
        (["--opponents", "greedy", "--pool-share", "0.5"], "opponents or a pool"),
        (["--against", "nobody", "--measure-deals", "0"], "nobody"),
    ],
)
def test_wrong_options_end_with_code_2_before_anything_is_written(
    elsewhere, capsys, options, message
):
    with pytest.raises(SystemExit, match="2"):
        train.main(options)
    assert message in capsys.readouterr().err
    assert not (elsewhere / "runs").exists()


def test_a_second_run_of_the_same_name_is_refused(elsewhere, capsys):
    (elsewhere / "runs" / "one").mkdir(parents=True)
    (elsewhere / "runs" / "one" / "config.json").write_text("{}")
    with pytest.raises(SystemExit, match="2"):
        train.main(["--name", "one", *TINY])
    assert "--resume" in capsys.readouterr().err


def test_the_progress_bar_counts_decisions(elsewhere, monkeypatch):
    model = new_model()
    model.set_logger(configure(None, []))
    shown, step = [], DecisionBar._on_step
    monkeypatch.setattr(
        DecisionBar,
        "_on_step",
        lambda bar: step(bar) and not shown.append(bar.progress.tasks[0].completed),
    )
    model.learn(200, progress_bar=True)
    assert shown == sorted(shown)
    assert shown[-1] == model.num_timesteps
