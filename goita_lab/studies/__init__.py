"""Runs studies of signalling whose hypotheses were written down before: docs/studies/."""

import goita_lab.installed  # noqa: F401
