"""Plays agents against each other over duplicate deals and measures who is how much better."""
