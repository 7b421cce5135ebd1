"""Runs ``python -m agents.play``: a match against agents, in the terminal or on a local page."""

from agents.play import main

if __name__ == "__main__":
    raise SystemExit(main())
