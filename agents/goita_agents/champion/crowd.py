"""Names the agent ``crowd``, the model of an unknown bot: it imitates the champion's library."""

from pathlib import Path
from typing import Final

from goita_agents.bots.network import shipped_entry

WEIGHTS: Final = Path(__file__).parent / "crowd.safetensors"

ENTRY = shipped_entry(WEIGHTS)
"""``crowd``, as texts name it."""
