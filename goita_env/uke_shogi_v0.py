"""Offers Uke-Shogi to PettingZoo: ``env``, ``raw_env`` and ``parallel_env``; registers them.

With a PettingZoo that has a registry, ``pettingzoo.make("aec", "goita/uke_shogi-v0")`` and
``pettingzoo.make("parallel", "goita/uke_shogi-v0")`` work after ``import goita_env``.
"""

from __future__ import annotations

from typing import Any

import pettingzoo
from pettingzoo import ParallelEnv

from goita_env.envs.aec_base import AllAct, Observation
from goita_env.render import RenderMode
from goita_env.uke_shogi.environment import env, raw_env
from goita_env.uke_shogi.rules import IMO_SHOGI, UkeShogiRules

__all__ = ["env", "parallel_env", "raw_env"]


def parallel_env(
    rules: UkeShogiRules = IMO_SHOGI, deals: int = 1, render_mode: RenderMode | None = None
) -> ParallelEnv[str, Observation, Any]:
    """Returns ``env`` behind the parallel API: all act, only the acting seat's action counts."""
    return AllAct(env(rules, deals, render_mode))


if hasattr(pettingzoo, "register"):
    _MODULE = "goita_env.uke_shogi_v0"
    pettingzoo.register("aec", "goita/uke_shogi-v0", entry_point=f"{_MODULE}:env")
    pettingzoo.register("parallel", "goita/uke_shogi-v0", entry_point=f"{_MODULE}:parallel_env")
