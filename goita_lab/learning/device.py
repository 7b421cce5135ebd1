"""Chooses device, precision and threads of torch."""

from __future__ import annotations

from typing import Literal

import torch as th
from threadpoolctl import threadpool_limits

from goita_env.errors import SettingError


def use_threads(threads: int) -> None:
    """Sets the threads of torch for one operation; results depend on their number.

    Numpy, which plays small batches here, is limited to one: its threads would spin.
    """
    th.set_num_threads(threads)
    threadpool_limits(1, user_api="blas")


def has_fast_bfloat16(device: str = "cpu") -> bool:
    """Returns whether the device multiplies bfloat16, several times faster than float32."""
    if device == "cuda":
        return bool(th.cuda.is_bf16_supported())
    able = th.cpu.get_capabilities()
    return bool(able.get("avx512_bf16") or able.get("amx_bf16") or able.get("bf16"))


def find_device(name: str) -> Literal["cpu", "cuda"]:
    """Returns "cpu" or "cuda"; "auto" is a GPU where there is one, "cuda" needs one."""
    able = th.cuda.is_available()
    if name == "cuda" and not able:
        raise SettingError("expected a device that torch can use, got 'cuda' without one")
    return "cuda" if able and name != "cpu" else "cpu"
