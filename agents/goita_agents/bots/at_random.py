"""Names the agent that plays at random, which is the environments' own."""

from goita_agents.registry import Entry
from goita_env.agent import RandomAgent

ENTRY = Entry(RandomAgent)
"""``random``, as texts name it."""
