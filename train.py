"""Trains a policy by self-play, keeps it in runs/NAME, and measures it against the bots.

python train.py                                  takes about four minutes on two cores
python train.py --resume runs/NAME               goes on with a run that was stopped or killed
python train.py --resume runs/NAME --decisions N goes on until N decisions were made
tensorboard --logdir runs                        shows the curves
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

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

    name: str | None = None
    """name of the run, whose directory is runs/NAME; without one, date and time"""
    resume: Path | None = None
    """directory of a run to go on with; beside it only --decisions and --no-progress are taken"""
    seed: int = 0
    """seed of deals, weights and play; it repeats a run on the same machine and threads"""
    rules: Rules = JGA
    """rule set: jga, pagat, nine, or a JSON file of your own"""

    decisions: int = 0
    """decisions with a choice to learn from, since the beginning; 0 is 12 million, 6 million in
    float32: about four minutes on two cores"""
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
        smallest = self.games * self.steps
        if self.decisions and self.decisions < smallest and self.resume is None:
            raise SettingError(
                f"expected at least {smallest} decisions (games times steps: fewer are over before "
                f"anything is learnt), got {self.decisions!r}"
            )
        if min(self.layers) < 1:
            raise SettingError(f"expected layers of at least 1, got {self.layers!r}")
        if len(self.lr) != 2 or len(self.entropy) != 2:
            found = f"{self.lr!r} and {self.entropy!r}"
            raise SettingError(f"expected two numbers for lr and two for entropy, got {found}")
        if self.name is not None and (not self.name or Path(self.name).name != self.name):
            raise SettingError(f"expected the name of a directory in runs/, got {self.name!r}")
        check_deals(self.deals)
        check_seed(self.seed)
        check_seed(self.eval_seed)


def main(argv: Sequence[str] | None = None) -> int:
    """Trains, measures, and returns the exit code."""
    given = cli.parse(Args, argv, __doc__)
    try:
        if given.resume is not None:
            check_resumed_with(sys.argv[1:] if argv is None else argv)
        args, run = open_run(given)
        learning.use_threads(args.threads)
        model = run.restore() or new_model(args)
        if given.resume is not None and given.decisions:
            args = extend(args, run, model.num_timesteps, given.decisions)
    except SettingError as error:
        cli.fail(error)
    print(f"{run.directory}: {args.decisions:,} decisions, {args.precision}")
    wall, cpu = time.perf_counter(), time.process_time()
    progress = args.progress and given.progress
    if not run.learn(model, args.decisions, save_every=args.save_every, progress=progress):
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
    name = args.name or f"{datetime.now():%Y-%m-%d-%H-%M-%S}"
    args = replace(
        args,
        name=name,
        precision=precision,
        decisions=args.decisions or (12_000_000 if precision == "bfloat16" else 6_000_000),
    )
    return args, learning.Run.begin(Path("runs", name), config_of(args))


def config_of(args: Args) -> dict[str, Any]:
    """Returns the settings as JSON can hold them."""
    return asdict(args) | args.rules.to_keys()


def check_resumed_with(argv: Sequence[str]) -> None:
    """Checks the options given beside --resume: a run keeps the settings that it began with.

    Raises:
        SettingError: if one would have no effect.
    """
    taken = ("--resume", "--decisions", "--no-progress")
    given = [word.partition("=")[0] for word in argv if word.startswith("--")]
    if refused := [option for option in given if option not in taken]:
        raise SettingError(f"expected only {', '.join(taken[1:])} beside --resume, got {refused}")


def extend(args: Args, run: learning.Run, made: int, decisions: int) -> Args:
    """Returns the settings of a run that goes on to another number of decisions, and keeps them.

    Raises:
        SettingError: if there is nothing to go on with.
    """
    if decisions <= made:
        raise SettingError(f"expected more decisions than the {made:,} made, got {decisions:,}")
    before, args = args.decisions, replace(args, decisions=decisions)
    if decisions != before:
        run.configure(config_of(args))
        print(
            f"goes on from {made:,} to {decisions:,} decisions instead of {before:,}: learning "
            f"rate and entropy, now {made / decisions:.0%} of the way, reach their ends there"
        )
    return args


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
