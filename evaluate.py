"""Plays a tournament over duplicate deals: ``goita evaluate`` from the checkout."""

import sys

from goita_lab.__main__ import main

if __name__ == "__main__":
    main(["evaluate", *sys.argv[1:]])
