"""Runs ``python -m agents.grading``: what people and bots lose against perfect play."""

from agents.grading.losses import main

if __name__ == "__main__":
    raise SystemExit(main())
