"""Plays by written rules or by a trained network.

A new bot is a file here, as ``greedy.py`` is, and a line of the entry points in ``pyproject.toml``;
what an agent must have is in ``goita_agents.base``.
"""
