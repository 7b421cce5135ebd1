"""A result says which weights and versions made it, and weights have one name in any file."""

import json
import subprocess
from datetime import date
from importlib.metadata import version
from types import SimpleNamespace

import numpy as np
import pytest

import goita_env
from goita_agents import load_agent
from goita_agents.bots.network import NetworkAgent
from goita_agents.bots.network_file import write_network
from goita_agents.identity import weights
from goita_lab import provenance
from goita_lab.arena.statistics.intervals import ratio_interval
from goita_lab.commands import evaluate


def test_networks_anywhere_in_an_agents_text_are_named(tmp_path):
    path = tmp_path / "mine.safetensors"
    champion = load_agent("champion")
    path.write_bytes(write_network(champion.info, champion.tensors()))
    found = weights(
        [
            "greedy",
            "short=champion:search=on,types=(people;heuristic)",
            f"masked:base=(file:{path},temperature=1),hide=events",
            "population:selfplay-0,temperature=1",
        ]
    )
    assert found == {
        "champion": champion.digest,
        "people": load_agent("people").digest,
        f"file:{path}": champion.digest,
        "population:selfplay-0": load_agent("population:selfplay-0").digest,
    }
    assert len({*found.values()}) == 3


def test_the_digest_is_of_what_a_network_is_and_not_of_its_file(tmp_path):
    network = load_agent("champion").untrained(3)
    whole, half = tmp_path / "whole", tmp_path / "half"
    tensors = {k: v.astype(np.float16).astype(np.float32) for k, v in network.tensors().items()}
    turned = dict(reversed(tensors.items()))
    whole.write_bytes(write_network(network.info, turned))
    half.write_bytes(write_network(network.info, tensors, half=True))
    assert whole.read_bytes() != half.read_bytes()
    found = NetworkAgent.load(whole).digest
    assert found == NetworkAgent.load(half).digest
    for name, tensor in tensors.items():
        changed = tensor.copy()
        changed.flat[-1] += 1
        assert NetworkAgent(network.info, tensors | {name: changed}).digest != found


def test_versions_name_the_code_the_processor_and_the_date(tmp_path, monkeypatch):
    package = tmp_path / "goita_lab"
    package.mkdir()
    (package / "a.py").write_text("")
    monkeypatch.setattr(
        provenance, "import_module", lambda name: SimpleNamespace(__path__=[package])
    )
    digests = []
    for code in ("rounds = 1", "rounds = 2"):
        (package / "a.py").write_text(code)
        provenance.code_digest.cache_clear()
        digests.append(provenance.code_digest())
    provenance.code_digest.cache_clear()
    assert len(set(digests)) == 2
    assert {len(digest) for digest in digests} == {12}
    assert provenance.versions()["processor"]
    assert date.fromisoformat(provenance.versions()["date"])


def test_versions_name_the_commit_of_a_checkout_alone(tmp_path, monkeypatch):
    package = tmp_path / "goita_env"
    package.mkdir()
    monkeypatch.setattr(goita_env, "__file__", str(package / "__init__.py"))
    uncached = provenance.versions.__wrapped__
    assert "commit" not in uncached()
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "first"]):
        subprocess.run([*git, *words], check=True)
    head = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True, check=True)
    found = uncached()
    assert found["commit"] == head.stdout.strip()
    assert found["goita_env"] == goita_env.__version__
    assert found["numpy"] == version("numpy")
    (tmp_path / "a").write_text("a")
    subprocess.run([*git, "add", "a"], check=True)
    assert uncached()["commit"] == f"{head.stdout.strip()}-dirty"


def test_a_tournament_writes_what_its_intervals_are_computed_from(tmp_path):
    file, words = tmp_path / "it.json", ["--episode", "match", "--deals", "3"]
    assert evaluate.main(["--agents", "greedy", "random", *words, "--json", str(file)]) == 0
    (pair,) = json.loads(file.read_bytes())["pairs"]
    with np.load(tmp_path / "it.npz") as deals:
        totals, counts = deals["greedy against random/points_per_round"]
        won, games = deals["greedy against random/match_win_rate"]
    again = ratio_interval(totals, counts)
    assert again.mean == pair["points_per_round"]
    assert [again.low, again.high] == pair["ci95"]
    assert won.sum() / games.sum() == pytest.approx(pair["match_win_rate"])
