"""Offers the PettingZoo environments: ``env``, ``raw_env`` and ``parallel_env``; registers them.

With a PettingZoo that has a registry, ``pettingzoo.make("aec", "goita/goita-v0")`` and
``pettingzoo.make("parallel", "goita/goita-v0")`` work after ``import goita_env``.
"""

from __future__ import annotations

from typing import Any

import pettingzoo
from pettingzoo import ParallelEnv

from goita_env.engine.episodes import Episode, Reward
from goita_env.envs.aec import env, raw_env
from goita_env.envs.aec_base import AllAct
from goita_env.envs.seat_vector_env import Form
from goita_env.information import PLAIN, InformationStructure
from goita_env.render import RenderMode
from goita_env.rules import Rules

__all__ = ["env", "parallel_env", "raw_env"]


def parallel_env(
    rules: str | Rules = "jga",
    episode: Episode = "round",
    reward: Reward = "points",
    render_mode: RenderMode | None = None,
    information: InformationStructure = PLAIN,
    observation: Form = "dict",
) -> ParallelEnv[str, Any, Any]:
    """Returns ``env`` behind the parallel API: all act, only the acting seat's action counts."""
    return AllAct(env(rules, episode, reward, render_mode, information, observation))


if hasattr(pettingzoo, "register"):
    pettingzoo.register("aec", "goita/goita-v0", entry_point="goita_env.goita_v0:env")
    pettingzoo.register("parallel", "goita/goita-v0", entry_point="goita_env.goita_v0:parallel_env")
