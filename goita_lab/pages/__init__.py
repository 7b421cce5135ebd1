"""Shows games: replays, analyses, reviews, and play in terminal and browser."""
