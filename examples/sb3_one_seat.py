"""Trains one seat among bots with stock MaskablePPO of stable-baselines3, a thousand games at once.

pip install ".[train]"
python examples/sb3_one_seat.py --steps 1048576

The policy has one seat, drawn for each deal. The printed points include deals that ended before it
decided anything. Without them it would look a quarter of a point better than it is.

With seed 0, a random partner and random opponents: +16.4 +/- 0.7 points a round after 262,144
decisions (28 s of CPU time of one shared core), +19.7 +/- 0.7 after 1,048,576 (102 s); 95 %
intervals of 8,000 rounds (``--rounds 8000``). Rewards are scaled: with ``--reward-scale 1`` it is
+13.8 after 262,144.
"""

import argparse
import time

import gymnasium
import numpy as np
import torch
from sb3_contrib import MaskablePPO

from goita_lab.learning import SeatVecEnv


def make(
    games: int, opponents: str, partner: str, seed: int, reward_scale: float = 1.0
) -> SeatVecEnv:
    batch = gymnasium.make_vec(
        "goita/Seat-v0",
        num_envs=games,
        partner=partner,
        opponents=opponents,
        reward_scale=reward_scale,
    )
    return SeatVecEnv(batch, seed=seed)


def measure(model: MaskablePPO, env: SeatVecEnv, rounds: int) -> tuple[float, float]:
    """Returns points per round with the most likely actions, and half the 95 % interval."""
    points: list[float] = []
    observation = env.reset()
    infos = env.reset_infos
    while True:
        for info in infos:  # deals without a decision count once each, with their average points
            skipped = info.get("skipped", 0)
            points += [info["skipped_points"] / skipped] * skipped if skipped else []
        if len(points) >= rounds:
            return float(np.mean(points)), 1.96 * float(np.std(points)) / len(points) ** 0.5
        masks = env.action_masks()
        actions, _ = model.predict(observation, deterministic=True, action_masks=masks)
        observation, rewards, dones, infos = env.step(actions)
        points += rewards[dones].tolist()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=3_000_000, help="decisions of the learner")
    parser.add_argument("--games", type=int, default=1024, help="games at once")
    parser.add_argument("--opponents", default="random")
    parser.add_argument("--partner", default="random")
    parser.add_argument("--rounds", type=int, default=4000, help="rounds of the measurement")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--reward-scale", type=float, default=0.02, help="makes 50 points a 1")
    parser.add_argument("--save", help="file for the trained model: model.zip")
    args = parser.parse_args()

    torch.set_num_threads(1)  # A second thread gains little here, and waits where cores are busy.
    env = make(args.games, args.opponents, args.partner, args.seed, args.reward_scale)
    model = MaskablePPO(
        "MlpPolicy",
        env,
        n_steps=16,
        batch_size=2048,
        n_epochs=2,
        learning_rate=1e-3,
        gamma=1.0,
        ent_coef=0.01,
        policy_kwargs={"net_arch": [256, 256]},
        seed=args.seed,
    )
    test = make(args.games, args.opponents, args.partner, args.seed + 1)
    clock, cpu = time.perf_counter(), time.process_time()
    while model.num_timesteps < args.steps:
        steps = min(args.steps - model.num_timesteps, max(args.steps // 10, 1))
        model.learn(steps, reset_num_timesteps=False)
        mean, half = measure(model, test, args.rounds)
        print(
            f"{model.num_timesteps:,} decisions, {time.perf_counter() - clock:.0f} s "
            f"({time.process_time() - cpu:.0f} s of CPU): {mean:+.2f} +/- {half:.2f} points a round"
        )
    if args.save:
        model.save(args.save)


if __name__ == "__main__":
    main()
