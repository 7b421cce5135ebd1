"""Directories of trainings that somebody else made: going on with one runs nothing it names."""

import json
import os
import shutil
import sys
from pathlib import Path

import pytest
import training
from goita_agents.base import AgentError
from goita_agents.bots.network_file import open_tensors
from programs import refusal
from safetensors.numpy import load, save

from goita_env.errors import SettingError
from goita_lab.commands import train
from goita_lab.learning import SavedPolicy, begin_from, plot, widths
from goita_lab.learning.measuring import read_csv
from goita_lab.learning.policy_file import read_policy
from goita_lab.learning.resume import resume_command

TINY = [*training.TINY, "--decisions", "300", "--deals", "2"]
TINY += ["--snapshot-every", "200", "--measure-deals", "0"]

EVIL = """
from pathlib import Path
Path("PWNED").touch()
from goita_lab.learning import SelfPlayPolicy
class Network(SelfPlayPolicy): pass
class Bot:
    name = "bot"
    def act(self, view, legal, rng): return legal.argmax(axis=1)
"""


@pytest.fixture(autouse=True)
def evil(elsewhere):
    sys.modules.pop("evil", None)
    Path("evil.py").write_text(EVIL)


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    """A run of a few hundred decisions."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("template"))
        assert train.main(["--name", "one", *TINY]) == 0
        return Path("runs").resolve()


@pytest.fixture
def config(evil, template):
    """The settings of a run that was begun and finished."""
    shutil.copytree(template, "runs")
    return Path("runs/one/config.json")


def crafted(config, **changes):
    config.write_text(json.dumps(json.loads(config.read_text()) | changes))


def refused(capsys, *options):
    error = refusal(capsys, train.main, ["--resume", "runs/one", *options])
    assert error.count("error:") == 1
    assert not Path("PWNED").exists()
    return error


BARRED = [
    ("policy", "evil:Network"),
    ("pool", ["evil:Bot"]),
    ("pool", ["greedy", "exec:[shell=on]touch PWNED"]),
    ("opponents", ["mine=evil:Bot"]),
    ("opponents", ["file:/etc/passwd"]),
    ("partner", "exec:touch PWNED"),
    ("partner", "rollout:base=(evil:Bot)"),
    ("against", ["subprocess:Popen:args=touch PWNED"]),
    ("against", ["goita_lab.learning:SavedPolicy:path=x,policy=evil:Network"]),
]


@pytest.mark.parametrize(("name", "value"), BARRED)
def test_what_its_settings_name_is_not_run_unless_it_is_given_again(config, capsys, name, value):
    crafted(config, **{name: value})
    assert f"--{name}" in refused(capsys)
    assert str(config) in refused(capsys, f"--{name}", "greedy")


def test_a_run_goes_on_with_a_bot_of_ones_own_that_is_given_again(capsys):
    named = ["--pool", "evil:Bot", "greedy", "--against", "greedy"]
    assert train.main(["--name", "one", *TINY, "--pool-share", "0.5", *named]) == 0
    Path("PWNED").unlink()
    sys.modules.pop("evil")
    refused(capsys, "--decisions", "600")
    refused(capsys, "--decisions", "600", "--pool", "evil:Bot")
    assert train.main(["--resume", "runs/one", *named, "--decisions", "600"]) == 0
    assert Path("PWNED").exists()


def test_a_run_of_shipped_agents_goes_on_as_it_is():
    named = ["--pool", "heuristic:conventions=off", "--against", "calm=greedy"]
    assert train.main(["--name", "one", *TINY, "--pool-share", "0.5", *named]) == 0
    assert train.main(["--resume", "runs/one", "--decisions", "600"]) == 0
    assert train.main(["--resume", "runs/one", "--pool", "heuristic:conventions=off"]) == 0


def test_the_error_says_how_to_resume_a_run_that_names_ones_own():
    def told(**named):
        return resume_command(vars(train.Args(**named)), Path("runs/one"))

    wanted = "python train.py --resume runs/one --pool evil:Bot 'a b=greedy'"
    assert told(pool=("evil:Bot", "a b=greedy")) == wanted
    assert told(pool=("greedy",), init=Path("x")) == "python train.py --resume runs/one"


def test_the_policy_to_begin_with_is_the_copy_and_no_path_of_the_settings(config, capsys):
    begun_with = "runs/one/policy.safetensors"
    assert train.main(["--name", "two", *TINY, "--init", begun_with]) == 0
    crafted(Path("runs/two/config.json"), init="/dev/stdin")
    assert train.main(["--resume", "runs/two", "--decisions", "600"]) == 0
    again = ["--resume", "runs/two", "--init", begun_with]
    assert "/dev/stdin" in refusal(capsys, train.main, again)


@pytest.mark.parametrize(
    "changes",
    [
        *({"threads": "2"}, {"layers": "16"}, {"layers": [16.5]}, {"device": "meta"}),
        {"layers": [10**9]},
        *({"games": 10**30}, {"rules": "../rules.json"}, {"rules": ["jga"]}, {"preset": "none"}),
        *({"rules_fields": {"last_kong": True}}, {"pool": "greedy"}, {"colour": "red"}),
        *({"points_per_value": 50.0}, {"episode": None}, {"reward_scale": 0}),
    ],
)
def test_settings_of_another_type_are_refused(config, capsys, changes):
    crafted(config, **changes)
    refused(capsys)


@pytest.mark.parametrize("text", ["", "[]", "[" * 100_000, "{" + " " * (1 << 21) + "}", "\udcff"])
def test_settings_that_are_none_are_refused(config, capsys, text):
    config.write_bytes(text.encode("utf-8", "surrogateescape"))
    assert "runs/one" in refused(capsys)


def test_a_run_of_version_0_2_0_is_refused_unread(config, capsys):
    Path("runs/one/checkpoint.zip").write_bytes(b"cos\nsystem\n(S'touch PWNED'\ntR.")
    error = refused(capsys)
    assert "0.2.0" in error
    assert "--init" in error
    assert error.count("\n") == 1


@pytest.mark.parametrize("name", ["snapshots", ".policy.safetensors.part", "progress-2.csv"])
def test_links_in_a_directory_are_refused_and_nothing_behind_them_changes(
    config, capsys, elsewhere, name
):
    path, target = Path("runs/one", name), elsewhere / "mine"
    if name == "snapshots":
        path.rename("old")
        target.mkdir()
        (target / "mine.safetensors").write_text("mine")
    else:
        target.write_text("mine")
    path.symlink_to(target)
    assert name in refused(capsys, "--decisions", "600")
    kept = target / "mine.safetensors" if target.is_dir() else target
    assert kept.read_text() == "mine"


def test_a_pipe_in_a_directory_is_refused_and_not_waited_for(config, capsys):
    config.unlink()
    os.mkfifo("runs/one/config.json")
    assert "config.json" in refused(capsys)


ROW = "5,greedy,,4,1.0,0.0,2.0,0.5,\n"
HEAD = "decisions,opponent,opponent_decisions,deals,points_per_round,low,high,round_win_rate,"
HEAD += "match_win_rate\n"


@pytest.mark.parametrize(
    "text",
    [
        *(ROW.replace("5", "9" * digits, 1) for digits in (400, 5000)),
        *(ROW.replace("1.0", points) for points in ("nan", "1e300")),
        *(
            ROW.replace("0.5", "7"),
            ROW.replace("greedy", "x" * 200_000),
            "\0" + ROW,
            ROW * (1 << 20),
        ),
    ],
)
def test_a_curve_of_impossible_numbers_is_refused(text):
    Path("curve.csv").write_text(HEAD + text)
    with pytest.raises(SettingError, match=r"curve\.csv"):
        read_csv(Path("curve.csv"))


def test_a_name_in_a_curve_is_drawn_as_it_is_and_not_as_a_formula():
    Path("runs/one").mkdir(parents=True)
    Path("runs/one/strength.csv").write_text(HEAD + ROW.replace("greedy", r"$\frac$"))
    assert plot.main(["runs/one"]) == 0
    rows = "".join(ROW.replace("greedy", f"bot{number}") for number in range(99))
    Path("runs/one/strength.csv").write_text(HEAD + rows)
    with pytest.raises(SystemExit, match="2"):
        plot.main(["runs/one"])


def rewritten(changes):
    """Writes the policy's file again, with other metadata."""
    path = Path("runs/one/policy.safetensors")
    with open_tensors(path) as file:
        metadata = file.metadata()
    Path("bad.safetensors").write_bytes(save(load(path.read_bytes()), metadata | changes))
    return Path("bad.safetensors")


@pytest.mark.parametrize(
    "changes",
    [
        *({"points_per_value": "nan"}, {"points_per_value": "-5"}, {"decisions": "9" * 5000}),
        *({"rules_fields": "[" * 100_000}, {"rules": "../rules.json"}, {"layers": "99"}),
        {"format": "goita-policy-1"},
        *(
            {"format": "goita-policy-1", "policy": "evil:Network", "settings": settings}
            for settings in ("[" * 100_000, "[]")
        ),
    ],
)
def test_a_policys_file_with_other_metadata_is_refused_and_runs_nothing(config, changes):
    path = rewritten(changes)
    for reader in (read_policy, widths, lambda path: begin_from(None, path)):
        with pytest.raises(SettingError, match="bad") as error:
            reader(path)
        assert len(str(error.value)) < 4000
    with pytest.raises(AgentError):
        SavedPolicy(str(path), "goita_lab.learning:SelfPlayPolicy")
    assert not Path("PWNED").exists()


@pytest.mark.parametrize(
    "settings",
    [
        *({"layers": "abc"}, {"layers": [0]}, {"observation_space": 1}),
        *(
            {"layers": [16], name: "evil.Network"}
            for name in ("activation_fn", "optimizer_class", "features_extractor_class")
        ),
    ],
)
def test_arguments_in_a_policys_file_are_values_and_run_nothing(config, settings):
    name = "goita_lab.learning:SelfPlayPolicy"
    more = {"format": "goita-policy-1", "policy": name, "settings": json.dumps(settings)}
    path = rewritten(more)
    with pytest.raises(AgentError, match="bad"):
        SavedPolicy(str(path), name)
    assert not Path("PWNED").exists()
