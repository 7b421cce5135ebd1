"""Begins a run, or goes on with one from its last checkpoint."""

from __future__ import annotations

from goita_lab.learning.policy_file import init_from, policy_bytes
from goita_lab.learning.ppo import SelfPlayPPO
from goita_lab.learning.run import Run
from goita_lab.learning.settings import Training


def start(settings: Training, run: Run, *, new: bool) -> SelfPlayPPO:
    """Returns the model of a run, new or from its last checkpoint; begins a run that is new."""
    pool, model = settings.frozen(), settings.model()
    if pool is not None:
        run.add_pool(model, pool)
    if settings.init is not None:
        init_from(model, settings.init if new else run.files.init)
    if settings.kl:
        model.hold_close(settings.kl, settings.refresh, settings.refresh_share)
    if new:
        policy_bytes(model, settings.rules)  # raises if no file could hold the policy
        run.begin(settings.init)
    else:
        run.restore(model)
    return model
