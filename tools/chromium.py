"""Finds the system's Chromium: the tools take pictures with it, ``tests/web`` opens pages in it."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Playwright

NAMES = ("chromium", "chromium-browser")


def find() -> str | None:
    """Returns the path of Chromium; None: there is none on this machine."""
    return next(filter(None, map(shutil.which, NAMES)), None)


def path() -> str:
    """Returns the path of Chromium, and ends the program where there is none."""
    if (executable := find()) is None:
        raise SystemExit(f"no Chromium on this machine (looked for {' and '.join(NAMES)})")
    return executable


def launch(playwright: Playwright) -> Browser:
    """Opens it without a window."""
    return playwright.chromium.launch(executable_path=path(), args=["--no-sandbox"])
