"""Several runs, one a seed: each in a process of its own, stopped and resumed by one command."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from goita_env.errors import SettingError
from goita_lab.commands import train
from goita_lab.learning import many
from programs import refusal
from raising import refuses

pytest.importorskip("sb3_contrib")
TINY = "--rules mini_3 --n-envs 64 --n-steps 8 --layers 16 --batch-size 256"
COMMAND = ["--seeds", "3-4", "--name", "a", *TINY.split()]


def test_seeds_are_read_as_ranges_and_numbers():
    assert many.read_seeds("1-3") == (1, 2, 3)
    assert many.read_seeds("7, 2-3,2") == (7, 2, 3)
    for wrong in ("", "3-1", "1-", "x", "-1", "0-5000"):
        refuses(SettingError, "expected seeds such as 1-8", many.read_seeds, wrong)


def test_runs_and_threads_fit_the_cores(monkeypatch):
    monkeypatch.setattr(many, "cores", lambda: 4)
    assert many.share_cores(None, None) == (4, 1)
    assert many.share_cores(None, 3) == (1, 3)
    assert many.share_cores(2, 2) == (2, 2)
    refuses(SettingError, "at most the 4 cores", many.share_cores, 3, 2)


def test_each_seed_is_a_run_and_finished_ones_stay(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    words = [*COMMAND, "--total-timesteps", "2000"]
    assert train.main(words) == 0
    policies = [Path(f"runs/a-{seed}/policy.safetensors") for seed in (3, 4)]
    before = [policy.read_bytes() for policy in policies]
    assert before[0] != before[1]
    assert "a-4: " in capfd.readouterr().out
    assert train.main([*words[:1], "3-5", *words[2:]]) == 0
    assert [policy.read_bytes() for policy in policies] == before
    assert Path("runs/a-5/policy.safetensors").exists()
    assert "a-3: finished before" in capfd.readouterr().out
    changed = [*COMMAND, "--total-timesteps", "3000"]
    assert "was begun, got other total_timesteps" in refusal(capfd, train.main, changed)


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_is_handed_on_so_that_each_run_saves_itself(tmp_path, number):
    words = [*COMMAND, "--workers", "1", "--total-timesteps", "90000000"]
    command = [sys.executable, "-m", "goita_lab", "train", *words]
    child = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    checkpoint, deadline = tmp_path / "runs/a-3/checkpoint.safetensors", time.monotonic() + 60
    while not checkpoint.exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    child.send_signal(number)
    told, _ = child.communicate(timeout=60)
    assert child.returncode == 130
    assert told.endswith("stopped and saved; the same command continues\n")
    assert "a-3: stopped and saved" in told
    assert not (tmp_path / "runs/a-4").exists()


def test_what_several_runs_cannot_have_is_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for words, expected in {
        "--seeds 1-2": "expected --name with --seeds",
        "--seeds 1-2 --name a --seed 3": "expected no --seed with --seeds",
        "--seeds 1-2 --name a --resume=runs/b": "expected no --resume with --seeds",
        "--seeds 1-2 --name a --n-envs 0": "expected another n_envs",
        "--workers 2": "expected --workers only with --seeds",
    }.items():
        assert expected in refusal(capsys, train.main, words.split()), words
    assert not list(tmp_path.iterdir())
