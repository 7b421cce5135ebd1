"""Runs ``python -m agents.external NAME``: hosts one of our bots behind the bot protocol."""

from agents.external.host import main

if __name__ == "__main__":
    raise SystemExit(main())
