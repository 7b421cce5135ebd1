"""Stops a training that has diverged: the first number that is none ends it."""

from __future__ import annotations

import torch as th

from goita_env.errors import GoitaError


class DivergedError(GoitaError):
    """Reports that a loss, a gradient, a weight or an answer of a network is no finite number."""


def check_step(loss: th.Tensor, gradient: th.Tensor, whose: str = "policy") -> None:
    """Checks a minibatch before a network is moved by it.

    Args:
        loss: [].
        gradient: [] its norm before it was clipped.
        whose: network, for the error.

    Raises:
        DivergedError: if one of them is not finite.
    """
    if not (loss + gradient).isfinite():
        what = "gradient" if loss.isfinite() else "loss"
        number = gradient if loss.isfinite() else loss
        raise DivergedError(f"expected a finite {what} of the {whose}, got {number.item()}")


def check_weights(network: th.nn.Module, whose: str = "policy") -> None:
    """Checks the weights of a network.

    Raises:
        DivergedError: if one is not finite.
    """
    if not all(bool(parameter.isfinite().all()) for parameter in network.parameters()):
        raise DivergedError(f"expected finite weights of the {whose}, got others")
