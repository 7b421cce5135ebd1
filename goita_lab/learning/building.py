"""Builds the learner of a training from its settings."""

from __future__ import annotations

from collections.abc import Sequence

from goita_agents.transforms import UNCHANGED, Transform

from goita_env import GoitaVectorEnv
from goita_env.information import PLAIN, Information
from goita_env.rounds import Episode
from goita_env.rules import Rules
from goita_lab.learning.policy import SelfPlayPolicy
from goita_lab.learning.ppo import SelfPlayPPO, linear
from goita_lab.learning.presets import TrainingSettings
from goita_lab.learning.vec_env import GoitaVecEnv


def build_model(
    settings: TrainingSettings,
    *,
    rules: str | Rules,
    seed: int,
    bfloat16: bool,
    reward_scale: float,
    device: str = "cpu",
    episode: Episode = "round",
    critic: Sequence[int] = (),
    policy: type[SelfPlayPolicy] = SelfPlayPolicy,
    transform: Transform = UNCHANGED,
    information: Information = PLAIN,
    mute_share: float = 0.0,
    other_play: bool = False,
    off_belief: bool = False,
    player_kinds: int = 0,
    player_weight: float = 0.0,
) -> SelfPlayPPO:
    """Returns a learner that has learnt nothing yet, with its games.

    Args:
        settings: of the training.
        rules: a rule set or its name.
        seed: of deals, weights and play.
        bfloat16: whether the network computes in bfloat16.
        reward_scale: factor of the points that are learnt from; wins of matches count 1.
        device: "cpu" or "cuda".
        episode: what is rewarded: the points of each round, or wins of matches.
        critic: widths of the layers of a critic that sees all hands; empty: none.
        policy: class of the network.
        transform: of the observations that the network is shown.
        information: who knows and tells what in the games.
        mute_share: share of the games in which one team says nothing.
        other_play: each seat sees the game with tiles of equal rules exchanged, or not.
        off_belief: decisions earn what they would in worlds of the hard facts.
        player_kinds: kinds of players that the network's features shall tell apart; 0: none.
        player_weight: weight of that loss.
    """
    match = episode == "match"
    games = GoitaVectorEnv(
        settings.games,
        rules=rules,
        episode=episode,
        reward="win" if match else "points",
        seed=seed,
        observe=False,
        information=information,
    )
    return SelfPlayPPO(
        policy,
        GoitaVecEnv(games),
        learning_rate=linear(*settings.lr),
        ent_coef=linear(*settings.entropy),
        n_steps=settings.steps,
        batch_size=settings.batch,
        n_epochs=settings.epochs,
        gamma=1.0,
        gae_lambda=settings.gae_lambda,
        clip_range=settings.clip,
        bfloat16=bfloat16,
        reward_scale=1.0 if match else reward_scale,
        critic=tuple(critic),
        transform=transform,
        mute_share=mute_share,
        other_play=other_play,
        off_belief=off_belief,
        player_kinds=player_kinds,
        player_weight=player_weight,
        policy_kwargs={"layers": settings.layers},
        rollout_buffer_kwargs={"sample_fraction": settings.sample_fraction},
        seed=seed,
        device=device,
    )
