"""Teaches a small network to play as a large one does, so that playouts cost less.

This is distillation (Hinton, Vinyals and Dean 2015), in positions of the teacher's self-play.

    python -m agents.learning.distil small.safetensors --layers 128 128
    python -m agents.learning.distil small.safetensors --teacher file:runs/NAME/policy.safetensors
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch as th
from tqdm import tqdm

from agents import cli, learning
from agents.base import Bool, sample
from agents.bots.network import NetworkAgent
from agents.learning.policy import MASKED
from agents.registry import load_agent
from goita_env import GoitaVectorEnv
from goita_env.errors import GoitaError, SettingError


@dataclass(frozen=True)
class Args:
    """Options of the command line."""

    file: Path = field(metadata=cli.POSITIONAL)
    """where the small network goes"""
    teacher: str = "champion"
    """a network, by its text"""
    layers: tuple[int, ...] = (128, 128)
    """widths of the small network's layers"""
    decisions: int = 10_000_000
    """decisions with a choice to learn from, each once"""
    games: int = 4096
    """games that are played side by side; a minibatch holds those of their decisions that are
    choices"""
    slips: float = 0.05
    """share of the decisions that are played at random, so that the small network sees positions
    beside the teacher's road, too"""
    lr: tuple[float, float] = (2e-3, 1e-5)
    """learning rate at the beginning and at the end"""
    seed: int = 0
    """of deals, weights and play"""
    threads: int = 2
    """threads of torch"""

    def __post_init__(self) -> None:
        """Checks the ranges."""
        for name in ("decisions", "games", "threads"):
            if getattr(self, name) < 1:
                raise SettingError(f"expected {name} of at least 1, got {getattr(self, name)!r}")
        learning.check_widths("layers", self.layers)
        if not 0 <= self.slips <= 1:
            raise SettingError(f"expected a share of slips from 0 to 1, got {self.slips!r}")


@dataclass(frozen=True)
class Lesson:
    """Holds what the teacher makes of B decisions."""

    bits: th.Tensor
    """uint8 [B, 512] Observations."""
    legal: th.Tensor
    """bool [B, 69]."""
    log_probs: th.Tensor
    """float32 [B, 69] The teacher's, at temperature 1."""
    values: th.Tensor
    """float32 [B] The teacher's points."""


def main(argv: Sequence[str] | None = None) -> int:
    """Teaches, writes the small network's file, and returns the exit code."""
    args = cli.parse(Args, argv, __doc__)
    try:
        teacher = load_agent(args.teacher)
        if not isinstance(teacher, NetworkAgent):
            raise SettingError(f"expected a network as teacher, got {args.teacher!r}")
        learning.use_threads(args.threads)
        model = distil(teacher, args)
        learning.save_policy(model, args.file, teacher.info.rules)
    except GoitaError as error:
        cli.fail(error)
    print(args.file)
    return 0


def distil(teacher: NetworkAgent, args: Args) -> learning.SelfPlayPPO:
    """Returns a model whose policy and values are close to a teacher's.

    The loss is the Kullback-Leibler divergence from the teacher's probabilities at temperature 1,
    in nats, plus half the squared error of the values, in (points / 50)².
    """
    games = GoitaVectorEnv(args.games, rules=teacher.info.rules, seed=args.seed)
    model = learning.SelfPlayPPO(
        learning.SelfPlayPolicy,
        learning.GoitaVecEnv(games),
        reward_scale=1 / teacher.info.points_per_value,
        policy_kwargs={"layers": args.layers},
        seed=args.seed,
        device="cpu",
    )
    policy, optimizer = model.policy, model.policy.optimizer
    policy.set_training_mode(True)
    shown, told = np.zeros(3), 0
    with tqdm(total=args.decisions, unit=" decisions", unit_scale=True) as bar:
        for lesson in lessons(teacher, games, args):
            done = model.num_timesteps / args.decisions
            for group in optimizer.param_groups:
                group["lr"] = args.lr[0] + (args.lr[1] - args.lr[0]) * min(done, 1.0)
            logits, values = policy.logits_and_values(lesson.bits)
            log_probs = th.log_softmax(logits.masked_fill(~lesson.legal, MASKED), dim=1)
            lost = (lesson.log_probs.exp() * (lesson.log_probs - log_probs)).sum(dim=1).mean()
            off = (values - lesson.values / model.points_per_value).square().mean()
            optimizer.zero_grad()
            (lost + 0.5 * off).backward()  # type: ignore[no-untyped-call]
            th.nn.utils.clip_grad_norm_(policy.parameters(), 0.5)
            optimizer.step()
            same = (log_probs.argmax(dim=1) == lesson.log_probs.argmax(dim=1)).float().mean()
            shown += [same.item(), lost.item(), off.item()]
            told += 1
            bar.update(len(lesson.bits))
            model.num_timesteps += len(lesson.bits)
            if told == 100:
                agreed, nats, squares = shown / told
                bar.set_postfix_str(f"{agreed:.1%} alike, {nats:.4f} nats, value {squares:.4f}")
                shown, told = np.zeros(3), 0
            if model.num_timesteps >= args.decisions:
                break
    return model


def lessons(teacher: NetworkAgent, games: GoitaVectorEnv, args: Args) -> Iterator[Lesson]:
    """Yields the decisions with a choice of self-play, a step of all games at a time."""
    rng, turn = np.random.default_rng(args.seed), games.reset()
    while True:
        legal: Bool = turn.action_mask
        chosen = games.sample_legal(rng)
        rows = np.flatnonzero(np.count_nonzero(legal, axis=1) > 1)
        if len(rows):
            logits, values = teacher.evaluate(turn.view[rows])
            mask = th.from_numpy(legal[rows])
            log_probs = th.log_softmax(th.from_numpy(logits).masked_fill(~mask, MASKED), dim=1)
            played = sample(log_probs.double().exp().numpy(), rng)
            kept = rng.random(len(rows)) >= args.slips
            chosen[rows[kept]] = played[kept]
            bits = th.from_numpy(turn.observation[rows])
            yield Lesson(bits, mask, log_probs, th.from_numpy(values.astype(np.float32)))
        turn = games.step(chosen)


if __name__ == "__main__":
    sys.exit(main())
