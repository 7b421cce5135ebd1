"""Trains a policy by self-play, keeps it in runs/NAME, and measures it against the bots.

python train.py                       takes about four minutes on two cores
python train.py --resume runs/NAME    goes on with a run that was stopped, by Ctrl-C or otherwise
tensorboard --logdir runs             shows the curves
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Literal

from agents import cli, learning, report
from agents.tournament import arena
from agents.tournament.plan import check_deals
from goita_env import GoitaVectorEnv
from goita_env.checks import check_seed
from goita_env.errors import SettingError
from goita_env.rules import JGA, Rules


@dataclass(frozen=True)
class Args:
    """Options of the command line."""

    name: str = ""
    """name of the run, whose directory is runs/NAME (default: date and time)"""
    resume: Path | None = None
    """directory of a run to go on with; its settings hold, whatever else is given"""
    seed: int = 0
    """seed of deals, weights and play; it repeats a run on the same machine and threads"""
    rules: Rules = JGA
    """rule set: jga, pagat, nine, or a JSON file of your own"""

    decisions: int = 0
    """decisions with a choice to learn from (0: what takes about four minutes on two cores)"""
    games: int = 2048
    """games that are played side by side"""
    steps: int = 32
    """steps of all games between two updates"""
    epochs: int = 2
    """times that an update goes through its decisions"""
    batch: int = 4096
    """decisions in a minibatch"""
    layers: tuple[int, ...] = (256, 256, 256)
    """widths of the layers that policy and value share"""
    lr: tuple[float, ...] = (1.5e-3, 5e-5)
    """learning rate at the beginning and at the end"""
    entropy: tuple[float, ...] = (0.012, 0.001)
    """weight of the entropy at the beginning and at the end"""
    gae_lambda: float = 0.95
    """weight of the decisions further on in advantages, 0 to 1"""
    clip: float = 0.2
    """how far an update may move the ratio of new to old probability from 1"""
    points_per_value: float = 50.0
    """points that count as a reward of 1"""

    threads: int = 2
    """threads of torch"""
    precision: Literal["auto", "bfloat16", "float32"] = "auto"
    """numbers that the network multiplies (auto: bfloat16 where the processor does it fast)"""
    save_every: int = 1_000_000
    """decisions between two checkpoints"""
    progress: bool = True
    """show a progress bar"""

    deals: int = 4000
    """deals of the measurement at the end, each played twice, the teams' seats exchanged"""
    eval_seed: int = 1
    """seed of these deals"""

    def __post_init__(self) -> None:
        """Checks what would otherwise fail late."""
        counts = ("games", "steps", "epochs", "batch", "threads", "save_every")
        for name in counts:
            if getattr(self, name) < 1:
                raise SettingError(f"expected {name} of at least 1, got {getattr(self, name)!r}")
        if self.decisions < 0 or min(self.layers) < 1:
            found = f"{self.decisions!r} and {self.layers!r}"
            raise SettingError(f"expected decisions from 0 and layers from 1, got {found}")
        if len(self.lr) != 2 or len(self.entropy) != 2:
            found = f"{self.lr!r} and {self.entropy!r}"
            raise SettingError(f"expected two numbers for lr and two for entropy, got {found}")
        if Path(self.name).name != self.name:
            raise SettingError(f"expected the name of a directory in runs/, got {self.name!r}")
        check_deals(self.deals)
        check_seed(self.seed)
        check_seed(self.eval_seed)


def main(argv: Sequence[str] | None = None) -> int:
    """Trains, measures, and returns the exit code."""
    args = cli.parse(Args, argv, __doc__)
    try:
        args, run = open_run(args)
        learning.use_threads(args.threads)
        model = run.restore() or new_model(args)
    except SettingError as error:
        cli.fail(error)
    print(f"{run.directory}: {args.decisions:,} decisions, {args.precision}")
    wall, cpu = time.perf_counter(), time.process_time()
    if not run.learn(model, args.decisions, save_every=args.save_every, progress=args.progress):
        print(f"stopped and saved; python train.py --resume {run.directory} goes on")
        return 130
    policy = run.save_policy(model, args.rules)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(f"{model.num_timesteps:,} decisions, {wall:.0f} s ({cpu:.0f} s of CPU): {policy}")

    agent = f"file:{policy}"
    pairs = [
        arena.play_pair(agent, bot, args.deals, seed=args.eval_seed, rules=args.rules)
        for bot in ("random", "greedy")
    ]
    print(report.pairs(pairs))
    run.save_result([pair.to_json() for pair in pairs])
    return 0


def open_run(args: Args) -> tuple[Args, learning.Run]:
    """Returns a run, new or gone on with, and its settings with nothing left open."""
    if args.resume is not None:
        run = learning.Run.resume(args.resume)
        try:
            rules = Rules.from_keys(run.config)
            config = {k: v for k, v in run.config.items() if k != "rules_fields"}
            return Args(**config | {"rules": rules}), run
        except TypeError as error:
            raise SettingError(f"expected the settings of this program, got {error}") from error
    fast = learning.has_fast_bfloat16()
    precision = args.precision if args.precision != "auto" else "bfloat16" if fast else "float32"
    args = replace(
        args,
        name=args.name or f"{datetime.now():%Y-%m-%d-%H-%M-%S}",
        precision=precision,
        decisions=args.decisions or (12_000_000 if precision == "bfloat16" else 6_000_000),
    )
    return args, learning.Run.begin(Path("runs", args.name), asdict(args) | args.rules.to_keys())


def new_model(args: Args) -> learning.SelfPlayPPO:
    """Returns an untrained model with its games."""
    games = GoitaVectorEnv(args.games, rules=args.rules, seed=args.seed, observe=False)
    return learning.SelfPlayPPO(
        learning.SelfPlayPolicy,
        learning.GoitaVecEnv(games),
        learning_rate=learning.linear(*args.lr),
        ent_coef=learning.linear(*args.entropy),
        n_steps=args.steps,
        batch_size=args.batch,
        n_epochs=args.epochs,
        gamma=1.0,
        gae_lambda=args.gae_lambda,
        clip_range=args.clip,
        bfloat16=args.precision == "bfloat16",
        points_per_value=args.points_per_value,
        policy_kwargs={"layers": args.layers},
        seed=args.seed,
        device="cpu",
    )


if __name__ == "__main__":
    sys.exit(main())
