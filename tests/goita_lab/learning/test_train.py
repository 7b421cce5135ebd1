"""The training as a program: its directory, interruptions and going on, and what it prints."""

import csv
import json
import os
import re
import signal
import warnings
from dataclasses import asdict, replace
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path
from typing import get_args, get_type_hints

import numpy as np
import pytest

import training
from goita_agents import files
from goita_agents.bots.network import NetworkAgent
from goita_agents.bots.network_file import open_tensors
from goita_env import GoitaVectorEnv, Rules
from goita_lab import learning, work
from goita_lab.commands import train
from goita_lab.learning import PRESETS, Training, has_fast_bfloat16, policy_file, saving
from goita_lab.learning import run as run_module
from goita_lab.learning.settings import Origins
from programs import refusal

TINY = [*training.TINY, "--total-timesteps", "900"]
TINY += ["--deals", "4", "--snapshot-every", "300"]
QUICK = [*TINY, "--total-timesteps", "500", "--measure-deals", "0", "--against", "random"]
MEASURED = [*QUICK, "--measure-deals", "4"]


COUNTERS = {"time/iterations", "time/time_elapsed", "time/total_timesteps", "train/n_updates"}
REFERENCE = Path(__file__).resolve().parents[3] / "docs/reference/training.md"


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
    found = Training(name=name, **options).settled()
    return learning.Run(Path("runs", name), found.to_config()).begin()


def new_model(**settings):
    options = {"n_envs": 16, "n_steps": 4, "batch_size": 64, "layers": (16,), **settings}
    return Training(precision="float32", **options).model()


def parsed(*words):
    return train.given(words, Origins.read(words).defaults())


def trained(name, *options, tiny=QUICK):
    """Runs a training to its end; returns its directory."""
    assert training.main(["--name", name, *tiny, *options]) == 0
    return Path("runs", name)


def refused(capsys, *words):
    """Returns what is said of options that end the program with code 2."""
    return refusal(capsys, training.main, [*words])


def test_it_trains_measures_and_leaves_everything_in_its_directory(elsewhere, capsys):
    run = trained("one", "--measure-deals", "4", tiny=TINY)
    config = json.loads((run / "config.json").read_text())
    assert config["layers"] == [16]
    assert config["precision"] == ("bfloat16" if has_fast_bfloat16() else "float32")
    agent = NetworkAgent.load(run / "policy.safetensors")
    assert agent.info.decisions >= 900
    assert len(log(run / "progress.csv")) > 10
    assert list(run.glob("events.out.tfevents.*"))
    pairs = json.loads((run / "result.json").read_text())["pairs"]
    assert [pair["b"] for pair in pairs] == ["random", "greedy", "heuristic", "champion"]
    assert all(pair["ci95"][0] <= pair["points_per_round"] <= pair["ci95"][1] for pair in pairs)
    out = capsys.readouterr().out
    assert "points per round" in out
    assert "greedy" in out

    # The learning curve: every snapshot against both bots and, but for the first, its own past.
    curve = log(run / "strength.csv")
    measured = sorted({int(row["decisions"]) for row in curve})
    assert measured[0] == 0
    assert measured[-1] == agent.info.decisions
    assert [row["opponent"] for row in curve] == (
        ["greedy", "heuristic"] + (len(measured) - 1) * ["greedy", "heuristic", "past"]
    )
    assert f"{measured[1]:,} decisions: " in out
    snapshots = {path.stem: path.read_bytes() for path in (run / "snapshots").iterdir()}
    assert [*map(int, sorted(snapshots))] == measured
    best = NetworkAgent.load(run / "best.safetensors").info.decisions
    assert (run / "best.safetensors").read_bytes() == snapshots[f"{best:012}"]
    assert snapshots[f"{measured[-1]:012}"] == policy(run)

    # A run has its own options alone; one that is finished goes on to more decisions or none.
    for option in (["--seed", "1"], ["--learning-rate=1e-3", "1e-4"], ["--name", "two"]):
        assert option[0].partition("=")[0] in refused(capsys, "--resume", str(run), *option)
    assert "--resume" in refused(capsys, "--name", "one", *TINY)
    wrong = refused(capsys, "--resume", str(run), "--total-timesteps", "700")
    assert "expected more decisions than" in wrong
    before = policy(run)
    assert training.main(["--resume", str(run)]) == 0
    assert policy(run) == before
    capsys.readouterr()
    assert training.main(["--resume", str(run), "--total-timesteps", "1400"]) == 0
    made = agent.info.decisions
    assert f"from {made:,} to 1,400 decisions instead of 900" in capsys.readouterr().out
    rows = log(run / "progress-2.csv")
    for earlier, row in pairwise(rows):  # a row is written between its rollout and the update on it
        way = int(earlier["time/total_timesteps"]) / 1400
        assert float(row["train/learning_rate"]) == pytest.approx(3e-3 + way * (5e-5 - 3e-3))
    (run / "checkpoint.safetensors").unlink()
    assert "checkpoint.safetensors" in refused(capsys, "--resume", str(run))


@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)]
)
def test_a_run_that_was_stopped_goes_on_as_if_it_had_not_been(
    elsewhere, monkeypatch, capsys, number
):
    settings = ["--precision", "float32", "--seed", "4"]
    whole = trained("whole", *settings)
    with monkeypatch.context() as patch:
        training.stop_after(patch, 9, number)
        assert training.main(["--name", "parts", *QUICK, *settings]) == 130
    run = Path("runs", "parts")
    assert f"--resume {run}" in capsys.readouterr().out
    assert not (run / "policy.safetensors").exists()
    assert 0 < decisions_in(run / "checkpoint.safetensors") < 500
    with monkeypatch.context() as patch:
        training.stop_after(patch, 5, number)
        assert training.main(["--resume", str(run)]) == 130
    assert training.main(["--resume", str(run)]) == 0
    assert policy(run) == policy(whole)
    logs = [log(run / f"progress{part}.csv") for part in ("", "-2", "-3")]
    made = [int(row["time/total_timesteps"]) for rows in logs for row in rows]
    assert made == sorted(set(made))
    assert signal.getsignal(number) in (signal.default_int_handler, signal.SIG_DFL)


def test_a_run_that_goes_on_with_an_agent_that_changed_says_so_and_keeps_it(tmp_path, capsys):
    run = run_module.Run(tmp_path, {"provenance": {"digests": {"champion": "0"}}})
    run.note_changes(["champion", "greedy"])
    assert "agents have changed since it began: champion\n" in capsys.readouterr().err
    assert json.loads(run.files.config.read_text())["provenance"]["changed"] == ["champion"]


def deadly(place, left):
    """Returns a writer of files that kills its process at the n-th: before it, or half done."""
    write = files.write_whole

    def written(path, data):
        nonlocal left
        left -= 1
        if left == 0 and place == "half":
            half = data[: len(data) // 2]
            half = half.encode() if isinstance(half, str) else half
            path.with_name(f".{path.name}.part").write_bytes(half)
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        write(path, data)

    return written


def killed_at(place, left, command):
    """Trains in a process of its own with a deadly writer; returns how it ended."""

    def trains():
        write = deadly(place, left)
        for module in (policy_file, run_module, saving):
            module.write_whole = write
        training.main(command)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of threads, which wait in the tests'
        process = get_context("fork").Process(target=trains)
        process.start()
    process.join()
    return process.exitcode


@pytest.mark.skipif(os.name != "posix", reason="forks")
@pytest.mark.parametrize(
    "killed",
    [[("half", 6)], pytest.param([("before", 6), ("half", 6)], marks=pytest.mark.slow)],
    ids=["once", "twice"],
)
def test_a_run_that_is_killed_anywhere_ends_as_one_that_was_not(elsewhere, killed):
    settings = [
        *MEASURED,
        *["--pool-share", "0.5", "--pool", "random", "--seed", "6", "--critic", "8"],
    ]
    assert training.main(["--name", "whole", *settings]) == 0
    command = ["--name", "parts", *settings]
    # The sixth file is in the middle of the second measurement, and so on.
    for place, written in killed:
        assert killed_at(place, written, command) == -signal.SIGKILL
        command = ["--resume", "runs/parts"]
    assert training.main(command) == 0
    whole, parts = elsewhere / "runs" / "whole", elsewhere / "runs" / "parts"
    for name in ("policy.safetensors", "best.safetensors", "strength.csv"):
        assert (parts / name).read_bytes() == (whole / name).read_bytes(), name
    assert not [*parts.glob(".*")]
    assert sum(int(row["pool/rounds"]) for row in log(whole / "progress.csv")) > 0


def test_a_training_begins_with_a_policys_file_by_rules_of_ones_own(elsewhere, capsys):
    file, mine = elsewhere / "my_rules.json", Rules("mine", last_king=False, call_five="duty")
    file.write_text(json.dumps(asdict(mine)))
    run = trained("one", "--rules", str(file))
    file.unlink()
    assert training.main(["--resume", str(run)]) == 0  # it goes on without the file
    more = ["--init", str(run / "policy.safetensors"), "--reward-scale", "0.04"]
    two = trained("two", *more)
    first = NetworkAgent.load(two / "snapshots" / "000000000000.safetensors")
    last = NetworkAgent.load(run / "policy.safetensors")
    assert last.info.rules == mine
    turn = GoitaVectorEnv(32, seed=3).reset()
    np.testing.assert_allclose(first.logits(turn.view), last.logits(turn.view), atol=1e-5)
    np.testing.assert_allclose(first.values(turn.view), last.values(turn.view), atol=1e-3)
    assert first.info.reward_scale == 0.04
    found = Origins.read(["--init", str(run / "policy.safetensors")]).defaults()
    assert found.layers == (16,)  # the file's where none are given
    (elsewhere / "x.safetensors").write_bytes(b"no policy")
    for wrong in (["--init", "x.safetensors"], [*more, "--layers", "8"]):
        refused(capsys, "--name", "three", *TINY, *wrong)
    assert not (elsewhere / "runs" / "three").exists()


def test_matches_are_learnt_for_their_wins(elsewhere, capsys):
    run = trained("one", "--episode", "match", tiny=MEASURED)
    rows = log(run / "strength.csv")
    assert all(0 <= float(row["match_win_rate"]) <= 1 for row in rows)
    assert "matches" in capsys.readouterr().out
    assert NetworkAgent.load(run / "policy.safetensors").info.reward_scale == 1
    # A policy that was taught on points says nothing of wins, so its values are forgotten.
    model = new_model()
    learning.save_policy(model, Path("points.safetensors"), "jga")
    other = new_model(episode="match")
    learning.init_from(other, Path("points.safetensors"))
    assert not any(parameter.any() for parameter in other.policy.value_net.parameters())


def test_the_presets_hold_every_setting_and_options_change_them():
    quick, standard = (learning.PRESETS[name] for name in ("quick", "standard"))
    assert parsed() == quick
    assert parsed("--preset=standard") == standard
    assert parsed("--layers", "32", "--preset", "standard") == replace(standard, layers=(32,))
    assert [*learning.PRESETS] == [*get_args(get_type_hints(Training)["preset"])]


def test_the_same_seed_gives_the_same_weights_measured_or_not_and_another_others(elsewhere):
    a = trained("a", "--seed", "1", tiny=MEASURED)
    b, c = trained("b", "--seed", "1"), trained("c", "--seed", "2")
    assert policy(a) == policy(b) != policy(c)
    assert not (b / "strength.csv").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        *(("--n-envs 0", "another n_envs, got 0"), ("--layers 16 0", "layers of at least 1")),
        ("--learning-rate 1e-3 1e-4 1e-5", "learning-rate"),
        ("--learning-rate -1", "another learning_rate, got -1.0"),
        *((f"--ent-coef {two}", "another ent_coef") for two in ("nan 0", "1 inf", "1e31")),
        *((f"--reward-scale {one}", "$.reward_scale") for one in ("-3", "0", "1e39")),
        *((f"--clip-range {one}", "another clip_range") for one in ("0", "1e308")),
        ("--layers 1000000000", "layers with at most 268,435,456 weights, got 512,000,000,000"),
        ("--layers" + 65 * " 16", "at most 64 layers, got 65"),
        ("--critic" + 65 * " 16", "at most 64 critic layers, got 65"),
        ("--critic 50000 50000", "critic layers with at most"),
        ("--threads 1025", "another threads"),
        ("--total-timesteps 9007199254740992", "another total_timesteps"),
        *(("--resume nowhere", "nowhere/config.json"), ("--deals 1", "number of deals")),
        ("--total-timesteps 1000", "total_timesteps of at least n_envs times n_steps"),
        *((f"--name={name}", "name of a directory") for name in ("", "../up")),
        ("--prefer p:1e39", "PLAYS:POINTS"),
        *(
            ("--seed -1", "seed"),
            (f"--seed {1 << 64}", "seed"),
            ("--rules chess", "chess"),
            ("--precision float16", "float16"),
        ),
        *(
            ("--pool-share 2", "$.pool_share"),
            ("--mute-share 7", "$.mute_share"),
            ("--opponents nobody", "nobody"),
        ),
        ("--pool random", "pool_share above 0 with pool"),
        ("--opponents greedy --pool-share 0.5", "or a pool"),
        ("--against nobody --measure-deals 0", "nobody"),
        *(("--kl 0.3", "kl with init"), ("--refresh 1000", "refresh with kl")),
        *(("--kl -1", "kl"), ("--init nowhere", "nowhere")),
    ],
)
def test_wrong_options_end_with_code_2_before_anything_is_written(
    elsewhere, capsys, options, message
):
    assert message in refused(capsys, *options.split())
    assert not (elsewhere / "runs").exists()


def test_a_runs_own_settings_repeat_it_and_a_file_stands_between_preset_and_options(elsewhere):
    run = trained("one", "--preset", "standard", "--critic", "0", "--precision", "float32")
    config = ["--config", str(run / "config.json"), "--no-progress"]
    assert train.main(["--name", "two", *config]) == 0
    assert policy(Path("runs/two")) == policy(run)
    Path("some.json").write_text('{"gae_lambda": 0.5, "clip_range": 0.1, "preset": "standard"}')
    found = parsed("--config", "some.json", "--clip-range", "0.3")
    assert (found.gae_lambda, found.clip_range) == (0.5, 0.3)
    assert found.layers == PRESETS["standard"].layers


def test_a_file_of_settings_in_toml_is_that_in_json(elsewhere, capsys):
    Path("some.json").write_text('{"gae_lambda": 0.5, "pool": ["greedy"], "pool_share": 0.25}')
    Path("some.toml").write_text('gae_lambda = 0.5\npool = ["greedy"]\npool_share = 0.25\n')
    of_toml, of_json = (
        replace(parsed("--config", file), config=None) for file in ("some.toml", "some.json")
    )
    assert of_toml == of_json
    for text, words in (("gae_lambda: 0.5", "line 1"), ("gae_lamda = 0.5", "'gae_lambda'")):
        Path("some.toml").write_text(text)
        message = refusal(capsys, train.main, ["--config", "some.toml"])
        assert "some.toml" in message
        assert words in message


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"learning_rat": 0.1}', "'learning_rat'; the nearest is 'learning_rate'"),
        ('{"colour": 1}', "got 'colour'\n"),
        ('{"kl": 1, "refresh": 5, "kl": 0}', "expected each key once, got 'kl' twice"),
        ('{"gae_lambda": 1.5}', "Expected `float` <= 1.0 - at `$.gae_lambda`"),
        ('{"learning_rate": [1e-3]}', "learning_rate"),
        ('{"n_envs": 9007199254740992}', "n_envs"),
    ],
)
def test_what_is_wrong_in_a_file_of_settings_is_named_with_the_file(elsewhere, capsys, text, words):
    Path("some.json").write_text(text)
    message = refusal(capsys, train.main, ["--config", "some.json"])
    assert message.count("\n") == 1
    assert "some.json" in message
    assert words in message
    assert not Path("runs").exists()


def test_a_training_that_does_not_fit_the_memory_is_refused_in_a_line(
    elsewhere, capsys, monkeypatch
):
    def allocate(self):
        raise RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory\nframe 0")

    monkeypatch.setattr(Training, "model", allocate)
    assert "a training that fits the memory" in refused(capsys, *QUICK)
    assert not Path("runs").exists()


def test_one_learning_rate_is_that_of_the_whole_training(elsewhere):
    run = trained("one", "--learning-rate", "2e-3", "--ent-coef", "0.02")
    assert {float(row["train/learning_rate"]) for row in log(run / "progress.csv")[1:]} == {2e-3}
    assert {float(row["train/ent_coef"]) for row in log(run / "progress.csv")[1:]} == {0.02}
    two = trained("two", "--learning-rate", "2e-3", "2e-3", "--ent-coef", "0.02", "0.02")
    assert policy(run) == policy(two)
    assert parsed("--config", str(run / "config.json")).learning_rate == 2e-3


def test_a_seed_has_64_bits():
    weights = [
        new_model(seed=seed).policy.action_net.weight.detach().numpy()
        for seed in (3, 3 + (1 << 32), (1 << 64) - 1)
    ]
    assert all((one != other).any() for one, other in pairwise(weights))


def test_the_time_left_of_a_training_is_known_after_its_first_snapshot(
    elsewhere, monkeypatch, capsys
):
    monkeypatch.setattr(work, "PROGRESS_INTERVAL", 0.0)
    words = [word for word in QUICK if word != "--no-progress"]
    assert training.main(["--name", "one", *words]) == 0
    told = [line for line in capsys.readouterr().err.splitlines() if "decisions: " in line]
    assert len(told) > 5
    assert [line for line in told if "not known" in line] == told[:1]


@pytest.mark.parametrize(
    "text",
    ["", "[1]", '{"colour": 1}', '{"resume": "x"}', '{"kl": "much"}', '{"rules": "../rules.json"}'],
)
def test_a_file_that_holds_no_settings_is_refused_in_a_line(elsewhere, capsys, text):
    Path("some.json").write_text(text)
    assert refusal(capsys, train.main, ["--config", "some.json"]).count("\n") == 1
    assert not Path("runs").exists()
    config = begin("one").files.config
    known = json.loads(config.read_text())
    config.write_text(json.dumps(known | json.loads(text)) if text.startswith("{") else text)
    assert refused(capsys, "--resume", "runs/one").count("\n") == 1


def test_the_reference_lists_every_logged_value_and_no_other(elsewhere):
    accumulators = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    run = trained("one", "--pool-share", "0.5", "--pool", "random", "--critic", "8", tiny=TINY)
    events = accumulators.EventAccumulator(str(run)).Reload()
    table = REFERENCE.read_text(encoding="utf-8").split("## Logged values")[1].split("\n## ")[0]
    rows = [line.split(" | ")[0] for line in table.splitlines() if line.startswith("| `")]
    documented = {name for row in rows for name in re.findall(r"`([\w/]+)`", row)}
    # What the table says of greedy holds of each opponent; the share of matches is of matches.
    documented |= {name.replace("greedy", "heuristic") for name in documented}
    documented |= {f"eval/past_{end}" for end in ("low", "high")}
    documented -= {name for name in documented if name.endswith("_matches_won")}
    assert set(events.Tags()["scalars"]) == documented
    columns = {name for name in documented if not name.startswith("eval/")}
    assert set(log(run / "progress.csv")[0]) == columns | COUNTERS
