"""The scripts for SLURM, with stubs for its commands, for Ray and for ``goita``."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

SLURM = Path(__file__).resolve().parents[2] / "examples" / "slurm"

STUB = """#!/usr/bin/env bash
echo "$(basename "$0") $*" >> calls
"""

TRAINING = """#!/usr/bin/env bash
echo "goita $*" >> calls
if [[ $2 == --name ]]; then mkdir -p "runs/$3"; touch "runs/$3/config.json"; fi
trap 'sleep 0.3; echo saved >> calls; exit 130' TERM
while [[ ! -e done ]]; do sleep 0.05; done
"""

pytestmark = pytest.mark.skipif(os.name != "posix", reason="a shell's script")


def start(folder, script, *words, **stubs):
    """Starts a script in a folder where stubs stand for the commands that it calls."""
    for name, text in stubs.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    job = {"SLURM_ARRAY_TASK_ID": "3", "SLURM_JOB_ID": "77", "SLURM_CPUS_PER_TASK": "2"}
    job |= {"SLURM_NNODES": "4", "JOINING_SECONDS": "0.3", "HOME": str(folder)}
    job["PATH"] = f"{folder}:{os.environ['PATH']}"
    return subprocess.Popen([SLURM / script, *words], cwd=folder, env=os.environ | job)


def called(folder):
    file = folder / "calls"
    return file.read_text().splitlines() if file.exists() else []


def test_a_training_whose_time_is_over_saves_and_goes_on_in_the_next_job(tmp_path):
    stubs = {"goita": TRAINING, "scontrol": STUB}
    job = start(tmp_path, "train.sh", "--preset", "standard", **stubs)
    while not (tmp_path / "runs").exists():
        time.sleep(0.02)
    time.sleep(0.1)
    job.send_signal(signal.SIGTERM)
    assert job.wait(timeout=10) == 0
    begun = "goita train --name seed-3 --seed 3 --threads 2 --no-progress --preset standard"
    assert called(tmp_path) == [begun, "saved", "scontrol requeue 77"]
    (tmp_path / "done").touch()
    assert start(tmp_path, "train.sh", "--preset", "standard", **stubs).wait(timeout=10) == 0
    assert called(tmp_path)[3:] == ["goita train --resume runs/seed-3 --no-progress"]


def test_a_command_runs_on_a_cluster_of_all_nodes_which_ends_with_it(tmp_path):
    stubs = {"ray": STUB, "srun": STUB, "goita": STUB, "hostname": "#!/bin/sh\necho one\n"}
    words = ("evaluate", "--agents", "greedy", "random")
    assert start(tmp_path, "ray.sh", *words, **stubs).wait(timeout=10) == 0
    assert called(tmp_path) == [
        "ray get-auth-token --generate",
        "ray start --head --port=6379 --num-cpus=2",
        "srun --nodes=3 --ntasks=3 --exclude=one ray start --address=one:6379 --num-cpus=2 --block",
        "goita evaluate --agents greedy random --workers 8",
        "ray stop",
    ]
