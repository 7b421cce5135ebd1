"""Members of the population are what the manifest says, and nobody trains with those held out."""

import json
import shutil
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from goita_agents import load_agent, registry
from goita_agents.base import AgentError
from goita_agents.beliefs.people import PEOPLE
from goita_agents.population import Population
from goita_agents.population.manifest import FOLDER, VALIDATION_BOTS, shipped
from goita_agents.registry import expand
from goita_env import Game
from goita_env.errors import SettingError
from goita_env.information import PLAIN
from goita_lab.commands import population as command
from goita_lab.learning import PRESETS
from raising import refuses
from research.population.methods import METHODS
from research.population.train import measure

ROOT = Path(__file__).resolve().parents[3]
MEMBERS = shipped().members
SOME = MEMBERS["selfplay-0"]


@pytest.mark.parametrize("name", METHODS)
def test_members_are_what_the_manifest_says(name):
    for member in MEMBERS.values():
        if member.method == name:
            check(member)


def check(member):
    method = METHODS[member.method]
    network = load_agent(f"{member.agent},temperature=1")
    assert (member.split, network.info.decisions) == (method.split, member.decisions)
    assert member.options == METHODS[method.snapshot_of or method.name].options_of(member.seed)
    assert network.info.information == method.information
    assert method.decisions <= member.decisions < 1.1 * method.decisions
    if member.split == "test":
        assert member.strength is None
    else:
        assert member.strength.low < member.strength.points < member.strength.high
    assert shipped().weights(member.name).stat().st_size < 240_000
    if method.information == PLAIN:
        game = Game(seed=1)
        view = game.view(game.seat)
        assert view.legal()[0, network.act(view, view.legal(), np.random.default_rng(0))[0]]


def test_what_was_measured_is_what_is_shipped():
    """The points to the bit; the intervals of shipped members are bootstrap percentiles."""
    found, wanted = measure(shipped().network(SOME.name), METHODS[SOME.method]), SOME.strength
    assert (found.against, found.deals, found.seed) == (wanted.against, wanted.deals, wanted.seed)
    assert found.points == wanted.points
    assert (found.low, found.high) == pytest.approx((wanted.low, wanted.high), abs=0.02)


def test_sets_stand_for_their_agents():
    train, held = expand(["population:train"]), expand(["population:validation"])
    assert set(train) == {one.agent for one in MEMBERS.values() if one.split == "train"}
    assert set(held) >= {*VALIDATION_BOTS.values(), "population:beside-heuristic-0"}
    assert not set(train) & set(held)
    assert expand(["greedy", "population:train", SOME.agent]) == ("greedy", *train)
    assert expand(["greedy", "greedy"]) == ("greedy", "greedy")
    assert shipped().names(method="selfplay", seeds=[0]) == ("population:selfplay-0",)


def test_others_are_refused_and_a_file_may_name_members_alone():
    for text, said in (
        ("population:nobody-1", "expected a member of the population, METHOD-SEED of "),
        ("population:../champion", "expected a member"),
        ("population:train", "expected one agent, got the set population:train"),
        ("population", "expected population:METHOD-SEED"),
        ("population:selfplay-0,heat=1", r"a member|expected options \(temperature=0.0\)"),
    ):
        refuses(AgentError, said, load_agent, text)
    assert registry.check_shipped("population:selfplay-0", "match.json")
    refuses(AgentError, "may not name", registry.check_shipped, "file:selfplay-0", "match.json")


def copy(folder: Path) -> dict:
    """Copies one member; returns its manifest, to be changed and written."""
    (folder / "weights").mkdir()
    shutil.copy(shipped().weights(SOME.name), folder / "weights")
    manifest = json.loads((FOLDER / "manifest.json").read_bytes())
    manifest["members"] = [one for one in manifest["members"] if one["sha256"] == SOME.sha256]
    return manifest


def test_a_manifest_from_somebody_else_is_checked(tmp_path):
    manifest = copy(tmp_path)
    path, member = tmp_path / "manifest.json", manifest["members"][0]
    path.write_text(json.dumps(manifest))
    assert Population(tmp_path).network(SOME.name).info.decisions == SOME.decisions
    for wrong in (
        {**manifest, "format": "goita-population-1"},
        {**manifest, "members": [member, member]},
        {**manifest, "members": [{**member, "method": "../selfplay"}]},
        {**manifest, "members": [{**member, "file": "/etc/passwd"}]},
    ):
        path.write_text(json.dumps(wrong))
        with pytest.raises(SettingError, match="expected"):
            Population(tmp_path)
    member["sha256"] = sha256(b"").hexdigest()
    path.write_text(json.dumps(manifest))
    with pytest.raises(AgentError, match="expected the weights of the manifest"):
        Population(tmp_path).network(SOME.name)


def test_nothing_names_those_held_out():
    """Presets, pools, sets of types and methods that may be trained with.

    An exam measures with players of the validation split, as anybody may.
    """
    trained = [one for one in METHODS.values() if one.split == "train"]
    named = [*PEOPLE, *(word for one in trained for word in one.options), *map(str, PRESETS)]
    named += [str(one) for one in PRESETS.values()]
    secret = (
        *VALIDATION_BOTS.values(),
        *(f"population:{s}" for s in ("validation", "test", "offbelief", "beside")),
    )
    files = [ROOT / "train.py", ROOT / "Makefile", *(ROOT / "benchmarks").glob("*.py")]
    files += [
        file
        for folder in ("agents", "goita_lab")
        for file in (ROOT / folder).rglob("*.py")
        if file.parent.name not in ("population", "coordination", "exam")
    ]
    assert len(files) > 100
    named += [file.read_text(encoding="utf-8") for file in files]
    assert not [one for one in secret for text in named if one in text]


def test_the_command_lists_the_members(capsys):
    assert command.main([]) == 0
    told = capsys.readouterr().out
    assert all(f"`{one.agent}` | {one.split}" in told for one in MEMBERS.values())
