"""Trains an algorithm of OpenSpiel on a small game, and measures it exactly.

    pip install 'goita-env[lab,openspiel]'
    python examples/open_spiel_mccfr.py --seconds 120

External-sampling MCCFR learns for all four seats. What it has learned is measured by the best
response of each seat, on the enumerated game.
"""

import argparse
import time

import numpy as np
import pyspiel
from open_spiel.python.algorithms.external_sampling_mccfr import ExternalSamplingSolver

import goita_env.open_spiel  # noqa: F401  (registers python_goita)
from goita_lab.exact.tree import Tree, enumerate_game
from goita_lab.exact.values import gains, value


def average(solver: ExternalSamplingSolver, tree: Tree) -> np.ndarray:
    """Returns the average policy by actions of information sets; uniform where none was met."""
    found, hands = tree.uniform(), {}
    for text, (_, sums) in solver._infostates.items():
        hands[text.split()[-1]] = sums
    for sets, words in enumerate(tree.words):
        sums = hands.get(words.tobytes().hex())
        if sums is not None:
            found[tree.starts[sets] : tree.starts[sets + 1]] = sums / sums.sum()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rules", default="mini_3")
    parser.add_argument("--seconds", type=float, default=120)
    args = parser.parse_args()

    np.random.seed(0)  # noqa: NPY002  (OpenSpiel's algorithms draw from it)
    game = pyspiel.load_game(f"python_goita(rules={args.rules})")
    solver, tree = ExternalSamplingSolver(game), enumerate_game(args.rules)
    start, shown, rounds = time.monotonic(), 0.0, 0
    while (passed := time.monotonic() - start) < args.seconds:
        solver.iteration()
        rounds += 1
        if passed >= shown:
            shown += args.seconds / 4
            policy = average(solver, tree)
            most = max(gains(tree, policy).values())
            print(f"{rounds} iterations: value {value(tree, policy):+.2f}, a seat gains {most:.2f}")


if __name__ == "__main__":
    main()
