"""Runs studies of signalling whose hypotheses were written down before: docs/studies/."""
