"""Takes gradient steps, and stops a training at the first number that is not finite."""

from __future__ import annotations

import torch as th

from goita_env.errors import GoitaError


class DivergedError(GoitaError):
    """Reports a loss, gradient, weight or network output that is not finite."""


def gradient_step(
    loss: th.Tensor,
    network: th.nn.Module,
    optimizer: th.optim.Optimizer,
    max_grad_norm: float,
    name: str,
) -> None:
    """Moves a network down the gradient of a loss [], clipped by its norm.

    Where loss or gradient is not finite it raises a DivergedError and changes no weight.
    """
    optimizer.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    norm = th.nn.utils.clip_grad_norm_(network.parameters(), max_grad_norm)
    if not (loss.detach() + norm).isfinite():
        what, number = ("gradient", norm) if loss.isfinite() else ("loss", loss)
        raise DivergedError(f"expected a finite {what} of the {name}, got {number.item()}")
    optimizer.step()


def check_weights(network: th.nn.Module, name: str) -> None:
    """Checks that all weights of a network are finite, or raises ``DivergedError``."""
    if not all(bool(parameter.isfinite().all()) for parameter in network.parameters()):
        raise DivergedError(f"expected finite weights of the {name}, got others")
