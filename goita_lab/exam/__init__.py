"""Asks agents about positions in which the points of every action and every belief are known."""
