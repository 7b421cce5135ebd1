"""Trains a policy by self-play: ``goita train`` from the checkout."""

import sys

from goita_lab.__main__ import main

if __name__ == "__main__":
    main(["train", *sys.argv[1:]])
