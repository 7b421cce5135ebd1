"""Shows games: replays, analyses, reviews, and play in terminal and browser."""

import goita_lab.installed  # noqa: F401
