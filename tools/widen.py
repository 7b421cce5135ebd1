"""Makes networks of an earlier observation layout play in the present one.

python tools/widen.py agents/goita_agents --bits 511:512

A bit that a network was not trained with gets weights of zero: a column of zeros in the first
layer, in the place of an unused bit's, or a new one where the observation has grown. So the network
plays as it did. Of a folder all networks in it are widened, and the population's manifest gets
their new hashes.
"""

import argparse
from pathlib import Path

import msgspec
import numpy as np

from goita_agents.bots.network import NetworkAgent
from goita_agents.bots.network_file import NetworkInfo, open_tensors, write_network
from goita_agents.files import write_whole
from goita_agents.population.manifest import Population
from goita_env.views.observation import OBSERVATION_VERSION

FIRST = "layers.0.weight"  # [width, bits]


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="+", type=Path, help="network files, or folders of them")
    parser.add_argument("--bits", required=True, action="append", help="START:STOP, a new slice")
    args = parser.parse_args(argv)
    bits = np.concatenate([np.arange(*map(int, text.split(":"))) for text in args.bits])
    for path in args.paths:
        files = sorted(path.rglob("*.safetensors")) if path.is_dir() else [path]
        if not files:
            parser.error(f"expected networks in {path}, got none")
        for file in files:
            print(f"{file}: {widened(file, bits)}")
        for manifest in path.rglob("manifest.json"):
            renew(Population(manifest.parent))


def widened(path: Path, bits: np.ndarray) -> str:
    """Widens a file in place, unless it is of this layout already; returns what was done."""
    with open_tensors(path) as file:
        if FIRST not in file.keys():  # noqa: SIM118
            return "left as it is: a network of a class of its own"
        metadata = dict(file.metadata())
        half = file.get_slice(FIRST).get_dtype() == "F16"
        tensors = {name: file.get_tensor(name).astype(np.float32) for name in file.keys()}  # noqa: SIM118
    described = msgspec.json.decode(metadata["network"])
    if described["observation_version"] == OBSERVATION_VERSION:
        return "as it was"
    described["observation_version"] = OBSERVATION_VERSION
    info = NetworkInfo.parse(metadata | {"network": msgspec.json.encode(described).decode()})
    size, old = info.information.observation_size, tensors[FIRST]
    wide = np.zeros((len(old), size), np.float32)
    old_bits = np.delete(np.arange(size), bits)
    wide[:, old_bits] = old[:, old_bits] if old.shape[1] == size else old
    write_whole(path, write_network(info, tensors | {FIRST: wide}, half=half))
    return NetworkAgent.load(path).digest


def renew(population: Population) -> None:
    """Writes the present hashes of the members' weights into the manifest."""
    for name, member in population.members.items():
        digest = NetworkAgent.load(population.weights(name)).digest
        population.add(msgspec.structs.replace(member, sha256=digest))


if __name__ == "__main__":
    main()
