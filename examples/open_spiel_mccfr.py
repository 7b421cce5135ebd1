"""Trains an algorithm of OpenSpiel on a small game, and measures it exactly.

    pip install 'goita-env[lab,openspiel]'
    python examples/open_spiel_mccfr.py --seconds 120

External-sampling MCCFR learns for all four seats. Its policy is measured by the best response of
each seat, on the enumerated game.
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
    """Returns the average policy by actions of information sets; uniform at unvisited ones."""
    policy, sums_by_observation = tree.uniform(), {}
    # The last word of an information set's text is the observation in hexadecimal.
    for text, (_, sums) in solver._infostates.items():
        sums_by_observation[text.split()[-1]] = sums
    for index, words in enumerate(tree.words):
        sums = sums_by_observation.get(words.tobytes().hex())
        if sums is not None:
            policy[tree.starts[index] : tree.starts[index + 1]] = sums / sums.sum()
    return policy


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rules", default="mini_3")
    parser.add_argument("--seconds", type=float, default=120)
    args = parser.parse_args()

    np.random.seed(0)  # noqa: NPY002  (OpenSpiel's algorithms draw from it)
    game = pyspiel.load_game(f"python_goita(rules={args.rules})")
    solver, tree = ExternalSamplingSolver(game), enumerate_game(args.rules)
    start, next_report, iterations = time.monotonic(), 0.0, 0
    while (passed := time.monotonic() - start) < args.seconds:
        solver.iteration()
        iterations += 1
        if passed >= next_report:
            next_report += args.seconds / 4
            policy = average(solver, tree)
            gain = max(gains(tree, policy).values())
            points = value(tree, policy)
            print(f"{iterations} iterations: value {points:+.2f}, a seat gains {gain:.2f}")


if __name__ == "__main__":
    main()
