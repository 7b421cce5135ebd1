"""Holds the subcommands of ``goita``, one a file: options, what they call, and the exit code."""
