"""Enters the networks that the other examples save as agents.

goita evaluate --agents trained_policies:FromFile:path=teams.pt greedy     (in this folder)
"""

import numpy as np
import torch
from torch import nn

from goita_agents import LogitAgent
from goita_env import View


class FromFile(LogitAgent):
    """The policy of cleanrl_ppo.py, torchrl_teams.py, rllib_one_seat.py or rllib_teams.py."""

    def __init__(self, path: str, temperature: float = 0.0) -> None:
        super().__init__(temperature=temperature, files=(path,))
        saved = torch.load(path)
        kind: type[nn.Module] = nn.Tanh
        if "actor.0.weight" in saved:  # cleanrl_ppo.py, which has a critic, too
            kind = nn.ReLU
            saved = [saved[name] for name in saved if name.startswith("actor.")]
        elif "0.weight" in saved:  # torchrl_teams.py
            saved = [*saved.values()]
        else:  # RLlib, with a critic, too
            saved = [saved[name] for name in saved if ".mlp." in name and "vf" not in name]
        self.network = nn.Sequential(
            nn.Linear(512, 256), kind(), nn.Linear(256, 256), kind(), nn.Linear(256, 69)
        )
        names = self.network.state_dict()
        self.network.load_state_dict(dict(zip(names, saved, strict=True)))

    def logits(self, view: View) -> np.ndarray:
        with torch.no_grad():
            bits = torch.as_tensor(view.observation()).float()
            logits: np.ndarray = self.network(bits).numpy()
        return logits
