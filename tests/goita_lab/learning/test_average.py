"""Means of the weights of networks, and the files that have none."""

from dataclasses import replace

import numpy as np
import pytest

from goita_agents.bots.network import NetworkAgent
from goita_agents.bots.network_file import write_network
from goita_agents.champion.agent import WEIGHTS, network
from goita_env import GoitaVectorEnv
from goita_env.information import InformationStructure
from goita_lab.learning import average


def written(path, agent, **changes):
    path.write_bytes(write_network(replace(agent.info, **changes), agent.tensors()))
    return str(path)


@pytest.fixture
def two(elsewhere):
    """Returns the files of the champion and of a network of the same shape."""
    other = network().untrained(3)
    return str(WEIGHTS), written(elsewhere / "other.safetensors", other, decisions=7)


def test_every_weight_is_the_mean(two, elsewhere, capsys):
    assert average.main([two[0], two[1], two[1], "-o", "out.safetensors"]) == 0
    assert capsys.readouterr().out == "out.safetensors\n"
    mean = NetworkAgent.load(elsewhere / "out.safetensors")
    parts = [NetworkAgent.load(file).tensors() for file in two]
    for name, found in mean.tensors().items():
        wanted = (parts[0][name] + 2 * parts[1][name].astype(float)) / 3
        np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-7)
    assert mean.info == network().info


def test_the_mean_of_one_network_with_itself_is_that_network(elsewhere):
    assert average.main([str(WEIGHTS)] * 2 + ["-o", "out.safetensors", "--decisions", "12"]) == 0
    mean = NetworkAgent.load(elsewhere / "out.safetensors")
    turn = GoitaVectorEnv(32, seed=1).reset()
    assert np.array_equal(mean.logits(turn.view), network().logits(turn.view))
    assert mean.info.decisions == 12


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rules": "pagat"}, "alike but for their weights"),
        ({"reward_scale": 3.0}, "alike but for their weights"),
        ({"information": InformationStructure(shown="partner")}, "layers.0 of shape"),
    ],
)
def test_networks_of_other_games_have_no_mean(two, elsewhere, capsys, change, message):
    other = written(elsewhere / "changed.safetensors", network(), **change)
    refused(capsys, message, two[0], other)
    assert not (elsewhere / "out.safetensors").exists()


def test_too_few_files_and_wrong_numbers_are_refused(two, capsys):
    refused(capsys, "at least two networks", two[0])
    refused(capsys, "nowhere", two[0], "nowhere")
    for number in (-1, 1 << 60):
        refused(capsys, "decisions, got", *two, "--decisions", str(number))


def test_a_file_that_is_there_is_not_written_over(two, elsewhere, capsys):
    before = (elsewhere / "other.safetensors").read_bytes()
    with pytest.raises(SystemExit):
        average.main([two[0], two[1], "-o", two[1]])
    assert "a new file" in capsys.readouterr().err
    assert (elsewhere / "other.safetensors").read_bytes() == before


def refused(capsys, message, *words):
    with pytest.raises(SystemExit) as ended:
        average.main([*words, "-o", "out.safetensors"])
    assert ended.value.code == 2
    assert message in capsys.readouterr().err
