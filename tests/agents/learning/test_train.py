"""The training as a program: its directory, interruptions and going on, and what it prints."""

import csv
import json
import os
import signal
from dataclasses import asdict
from itertools import pairwise

import pytest
import torch as th
from stable_baselines3.common.logger import configure

import train
from agents.bots.network import NetworkAgent
from agents.learning import GoitaVecEnv, SelfPlayPPO, has_fast_bfloat16
from agents.learning.ppo import DecisionBar
from agents.learning.run import CHECKPOINT, load_checkpoint, save_checkpoint, write
from goita_env import GoitaVectorEnv, Rules
from goita_env.errors import SettingError

TINY = ["--games", "16", "--steps", "4", "--layers", "16", "--batch", "64", "--decisions", "1500"]
TINY += ["--save-every", "300", "--threads", "1", "--deals", "8", "--no-progress"]


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def log(path):
    with path.open() as file:
        return list(csv.DictReader(file))


def policy(directory):
    return (directory / "policy.safetensors").read_bytes()


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
    assert [pair["b"] for pair in pairs] == ["random", "greedy"]
    assert all(pair["ci95"][0] <= pair["points_per_round"] <= pair["ci95"][1] for pair in pairs)
    assert not list(run.glob(".*"))  # nothing half written is left
    out = capsys.readouterr().out
    assert "points per round" in out
    assert "greedy" in out

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
    assert 0 < load_checkpoint(run / CHECKPOINT).num_timesteps < 1500
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
    train.open_run(train.Args(name="one", decisions=100, games=4, steps=2, deals=2, progress=False))
    assert train.main(["--resume", str(run)]) == 0


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
    train.open_run(train.Args(name="one", decisions=100, games=4, steps=2, deals=2, progress=False))
    for option in (["--seed", "0"], ["--lr=1e-3", "1e-4"], ["--name", "two"]):
        with pytest.raises(SystemExit, match="2"):
            train.main(["--resume", "runs/one", *option])
        assert option[0].partition("=")[0] in capsys.readouterr().err


def test_the_same_seed_gives_the_same_weights_and_another_others(elsewhere):
    for name, seed in (("a", "1"), ("b", "1"), ("c", "2")):
        assert train.main(["--name", name, "--seed", seed, *TINY]) == 0
    a, b, c = (policy(elsewhere / "runs" / name) for name in "abc")
    assert a == b != c


def test_a_saved_model_loads_as_any_model_of_stable_baselines3(elsewhere):
    args = train.Args(games=16, steps=4, batch=64, layers=(16,), precision="float32")
    model = train.new_model(args)
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
    path = elsewhere / "checkpoint.zip"
    model = train.new_model(train.Args(games=4, steps=2, layers=(8,), precision="float32"))
    model.set_logger(configure(None, []))
    model.learn(10)
    save_checkpoint(model, path)
    assert load_checkpoint(path).num_timesteps == model.num_timesteps
    for data in (b"", path.read_bytes()[:1000], b"PK"):
        path.write_bytes(data)
        with pytest.raises(SettingError, match="checkpoint"):
            load_checkpoint(path)
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
        (["--layers", "16", "0"], "layers of at least 1"),
        (["--decisions", "-5"], "at least 65536 decisions"),
        (["--decisions", "1000"], "at least 65536 decisions"),
        (["--name", ""], "name of a directory"),
        (["--name", "../up"], "name of a directory"),
        (["--deals", "1"], "number of deals"),
        (["--seed", "-1"], "seed"),
        (["--rules", "chess"], "chess"),
        (["--precision", "float16"], "float16"),
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


@pytest.mark.filterwarnings("ignore::tqdm.TqdmExperimentalWarning")
def test_the_progress_bar_counts_decisions(elsewhere, monkeypatch):
    model = train.new_model(train.Args(games=16, steps=4, layers=(16,), precision="float32"))
    model.set_logger(configure(None, []))
    shown, step = [], DecisionBar._on_step
    monkeypatch.setattr(
        DecisionBar, "_on_step", lambda bar: step(bar) and not shown.append(bar.pbar.n)
    )
    model.learn(200, progress_bar=True)
    assert shown == sorted(shown)
    assert shown[-1] == model.num_timesteps


def test_a_run_keeps_a_rule_set_of_ones_own_and_goes_on_without_its_file(elsewhere, capsys):
    file, mine = elsewhere / "my_rules.json", Rules("mine", last_king=False, call_five="duty")
    file.write_text(json.dumps(asdict(mine)))
    assert train.main(["--name", "one", *TINY, "--rules", str(file)]) == 0
    file.unlink()
    run = elsewhere / "runs" / "one"
    assert Rules.from_keys(json.loads((run / "config.json").read_text())) == mine
    assert NetworkAgent.load(run / "policy.safetensors").info.rules == mine
    assert train.main(["--resume", str(run)]) == 0
