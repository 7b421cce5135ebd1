"""Names the agent ``people``, the model of people, with the weights next to this file."""

from pathlib import Path
from typing import Final

from goita_agents.bots.network import shipped_entry

WEIGHTS: Final = Path(__file__).parent / "policy.safetensors"

ENTRY = shipped_entry(WEIGHTS)
"""``people``, as texts name it."""
