"""Plays by looking ahead: worlds that a seat cannot rule out, solved or played out."""
