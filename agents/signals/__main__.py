"""Runs ``python -m agents.signals``: see ``agents.signals.commands``."""

from agents.signals.commands import main

if __name__ == "__main__":
    raise SystemExit(main())
