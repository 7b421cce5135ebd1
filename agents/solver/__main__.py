"""Runs ``python -m agents.solver POSITION``: what each action is worth with all hands known."""

from agents.solver import main

if __name__ == "__main__":
    raise SystemExit(main())
