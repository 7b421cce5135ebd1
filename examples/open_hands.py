"""Shows where search with open hands goes wrong: it assumes that all hands are known.

python examples/open_hands.py

A seat can end the round for 20 points, or pass. The solver opens all hands in each world. In most
worlds passing wins more, because a partner that sees all hands plays the attack that is needed.
In play the partner does not see them, and passing is worth less than the 20 points.
"""

import argparse

import numpy as np

from goita_agents import choose_action, load_agent, solver
from goita_agents.base import Agent
from goita_env import actions, records
from goita_env.rounds import Rounds
from goita_env.worlds import Positions, determinize, enumerate_worlds, sample

HISTORY = (
    "11112458,11334668,11122357,12344557,s1,112,2p,322,424,141,216,"
    "3p,4p,1p,234,3p,4p,1p,216,3p,4p,181,2p,315,454,1p"
)
CONTINUED_BY = ("greedy", "heuristic", "solver:worlds=16,budget=35000")


def play_out(positions: Positions, action: int, agent: Agent) -> np.ndarray:
    """Plays on, each seat by its own view; returns points of seats 0 and 2: [N]."""
    rng, points = np.random.default_rng(0), np.zeros(len(positions))
    rounds = Rounds.from_positions(positions, actions=np.full(len(positions), action))
    while True:
        decisions = rounds.decisions
        if decisions.ended is not None:
            points[decisions.ended.rows] = decisions.ended.points * (
                1 - 2 * (decisions.ended.winner & 1)
            )
        if rounds.over:
            return points
        rounds.step(agent.act(decisions.view, decisions.legal, rng) if len(decisions.rows) else [])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=1_000, help="most worlds to search")
    args = parser.parse_args()
    *_, game = records.history.loads(HISTORY).replay()
    print(game)
    view = game.view(game.seat)
    worlds = enumerate_worlds(view, args.steps)
    if worlds is None:
        worlds = sample(view, args.steps, np.random.default_rng(0))
    positions = determinize(view, worlds)
    solutions = solver.solve_many(positions)
    print(f"\nSeat {game.seat} acts. Mean points over {len(worlds)} worlds:\n")
    print("action  hands open  " + "  ".join(CONTINUED_BY))
    for action in game.legal_actions():
        open_hands = worlds.weight @ [solution.values[action] for solution in solutions]
        row = f"{actions.name(action):>6}  {open_hands:10.1f}"
        for name in CONTINUED_BY:
            points = worlds.weight @ play_out(positions, action, load_agent(name))
            row += f"  {points:{len(name)}.1f}"
        print(row)
    chosen = choose_action(load_agent("solver"), view.observation(), np.random.default_rng(0))
    print(f"\nthe solver bot plays {actions.name(chosen)}")


if __name__ == "__main__":
    main()
