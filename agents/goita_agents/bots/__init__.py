"""Plays by written rules or by a trained network.

A new bot is a file here, as ``greedy.py`` is, and a line of ``AGENTS`` in ``agents/goita_agents/entries.py``;
what an agent must have is in ``agents/goita_agents/base.py``.
"""
