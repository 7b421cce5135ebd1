"""Turns texts into agents, and finds those that installed packages add."""

from goita_agents.registry.building import (
    Entry,
    expand,
    is_own,
    load_agent,
    prepare,
    short_name,
    unnamed,
)
from goita_agents.registry.checks import (
    check_names,
    check_plays,
    check_shipped,
    content_hash,
    may_share,
    plain_text,
    weights,
)
from goita_agents.registry.entries import ObservationFunction, agent_names, load_function

__all__ = [
    "Entry",
    "ObservationFunction",
    "agent_names",
    "check_names",
    "check_plays",
    "check_shipped",
    "content_hash",
    "expand",
    "is_own",
    "load_agent",
    "load_function",
    "may_share",
    "plain_text",
    "prepare",
    "short_name",
    "unnamed",
    "weights",
]
