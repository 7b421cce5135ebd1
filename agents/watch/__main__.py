"""Runs ``python -m agents.watch RECORD``: a replay page of recorded games."""

from agents.watch import main

if __name__ == "__main__":
    raise SystemExit(main())
