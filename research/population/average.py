"""Averages the weights of networks that descend from one network.

python research/population/average.py A.safetensors B.safetensors -o mean.safetensors

Such networks often lie so near to each other that their mean plays at least as well as the best of
them (Wortsman et al., "Model soups", 2022). Networks from nothing do not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from goita_agents.base import AgentError
from goita_agents.bots.network import NetworkAgent
from goita_agents.bots.network_file import write_network
from goita_agents.files import write_whole
from goita_env.errors import SettingError
from goita_lab import cli


@dataclass(frozen=True)
class Args:
    """Options of the command line."""

    files: tuple[Path, ...] = field(metadata=cli.POSITIONAL)
    """files of networks, as trainings write them"""
    output: Path = field(metadata=cli.short("-o"))
    """file of the mean, a new one"""
    decisions: int | None = None
    """decisions of all trainings that led to these files, as the new file states; without, the
    largest number in the files"""


def main(argv: Sequence[str] | None = None) -> int:
    args = cli.parse(Args, argv, __doc__)
    try:
        if args.output.exists():
            raise SettingError(f"expected a new file for the mean, got {str(args.output)!r}")
        write_whole(args.output, average(args.files, args.decisions))
    except (AgentError, SettingError, OSError) as error:
        cli.fail(error)
    print(args.output)
    return 0


def average(files: Sequence[Path], decisions: int | None = None) -> bytes:
    """Returns the file of a network whose weights are the means of these files' weights."""
    networks = [NetworkAgent.load(file) for file in files]
    if len(networks) < 2:
        raise SettingError(f"expected at least two networks, got {len(networks)}")
    most_decisions = max(network.info.decisions for network in networks)
    info = replace(networks[0].info, decisions=most_decisions if decisions is None else decisions)
    tensors = [network.tensors() for network in networks]
    shapes = [{name: array.shape for name, array in arrays.items()} for arrays in tensors]
    for file, network, shape in zip(files, networks, shapes, strict=True):
        if shape != shapes[0] or replace(network.info, decisions=info.decisions) != info:
            raise SettingError(
                f"expected networks that differ only in weights, got {files[0]} of {shapes[0]} and "
                f"{networks[0].info}, and {file} of {shape} and {network.info}"
            )
    means = {}
    for name in tensors[0]:
        mean = np.mean([arrays[name] for arrays in tensors], axis=0, dtype=float)
        means[name] = np.array(mean, np.float32)
    return write_network(info, means)


if __name__ == "__main__":
    cli.run(main)
