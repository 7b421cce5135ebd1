"""Draws positions, a file for each kind of drawing; ``envs`` has the render modes."""
