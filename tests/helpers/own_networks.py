"""Networks of one's own, as docs/training.md has one, good and bad ones."""

import torch as th

from goita_lab.learning import SelfPlayPolicy


class TwoTrunks(SelfPlayPolicy):
    """Keeps the value's layers apart from the policy's."""

    def __init__(self, *args, width=8, **kwargs):
        super().__init__(*args, **kwargs)
        (size,) = self.observation_space.shape
        layers = th.nn.Linear(size, width), th.nn.ReLU(), th.nn.Linear(width, 1)
        self.critic = th.nn.Sequential(*layers)
        self.optimizer.add_param_group({"params": self.critic.parameters()})

    def logits_and_values(self, bits):
        logits, _ = super().logits_and_values(bits)
        return logits, self.critic(bits.float())[:, 0]


class Another(TwoTrunks):
    """Is another class, with the same layers."""
