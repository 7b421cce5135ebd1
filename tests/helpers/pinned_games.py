"""The games whose hashes are pinned: a seed's first ones, played by rote.

As a program it prints the hashes as Python, to be pasted into the test of determinism.
"""

import hashlib

import numpy as np

from deals import RULE_SETS
from goita_env import GoitaVectorEnv
from playing import pick

SEED, GAMES, STEPS = 2, 64, 400


def numbers(step, games):
    """Picks actions: whole numbers [games] that depend on step and game alone."""
    return ((step + 1) * 2_654_435_761 + np.arange(games) * 40_503) >> 7


def line(seat, legal, action, points, winner):
    return f"{seat} {' '.join(map(str, legal))} > {action} {points} {winner}\n"


def trajectory(rules, episode):
    """Hashes the first games of a seed as the vector environment plays them."""
    env = GoitaVectorEnv(GAMES, rules, episode, seed=SEED, observe=False)
    turn = env.reset()
    lines = [[] for _ in range(GAMES)]
    for step in range(STEPS):
        chosen = pick(turn.action_mask, numbers(step, GAMES))
        after = env.step(chosen)
        for game in range(GAMES):
            legal = np.flatnonzero(turn.action_mask[game]).tolist()
            result = after.points[game], after.winner[game]
            lines[game].append(line(turn.seat[game], legal, chosen[game], *result))
        turn = after
    return hashlib.sha256("".join(map("".join, lines)).encode()).hexdigest()


def observations(rules):
    """Hashes all observations of the first rounds of a seed."""
    env = GoitaVectorEnv(GAMES, rules, seed=SEED)
    turn, digest = env.reset(), hashlib.sha256()
    for step in range(STEPS):
        digest.update(turn.observation.tobytes())
        turn = env.step(pick(turn.action_mask, numbers(step, GAMES)))
    return digest.hexdigest()


def print_pins():
    """Prints the hashes as Python."""
    both = [(rules, episode) for rules in RULE_SETS for episode in ("round", "match")]
    for name, pins in (
        ("TRAJECTORIES", {key: trajectory(*key) for key in both}),
        ("OBSERVATIONS", {rules: observations(rules) for rules in RULE_SETS}),
    ):
        print(f"{name} = {{")
        for key, value in pins.items():
            print(f'    {key!r}: "{value}",'.replace("'", '"'))
        print("}")


if __name__ == "__main__":
    print_pins()
