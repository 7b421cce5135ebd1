"""Plays agents against each other over duplicate deals."""
