"""Photographs the table in a browser: ``python tools/play_picture.py`` (playwright, Chromium).

It writes both columns of the page, each in both themes: ``board-light.png`` and ``board-dark.png``
with the table and the hand, ``hint-light.png`` and ``hint-dark.png`` with a hint. README shows them
next to each other. On a narrow screen the hint is below the board.
"""

import re
import signal
import subprocess
import sys
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from chromium import launch
from PIL import Image
from playwright.sync_api import Browser, FloatRect, Page, sync_playwright

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "pictures"
SEED = "18"
MOVES = 3
"""How many hints are followed before the picture. The network then prefers what the hint suggests,
so that the picture needs no explanation."""
WINDOW = {"width": 870, "height": 860}
COLUMNS = {
    "board": ("section.table", "#hand", 12, 423),
    "hint": ("#advice", "#advice table", 451, 392),
}
"""The elements with which each picture begins and ends, and the left edge and the width of the
picture in the window. Together the pictures are as wide as README."""
MARGIN = 6
SCALE = 2
COLOURS = 64


def follow_hint(page: Page) -> None:
    """Makes the move that the page suggests."""
    ask_for_hint(page)
    action = page.inner_text("#advice tr.best td:first-child").strip()
    if action == "pass":
        page.click("#answers button:has-text('pass')")
    else:
        for tile in action.split(" then "):
            unused = "#hand button[aria-pressed=false]:enabled"
            page.locator(f"{unused}[aria-label^='{tile}' i]").first.click()
    page.wait_for_selector("body:not([aria-busy])")


def ask_for_hint(page: Page) -> None:
    page.click("[data-do=hint]")
    page.wait_for_selector("#advice details")
    page.wait_for_selector("body:not([aria-busy])")
    page.click("#advice summary:has-text('All actions')")


def save(picture: bytes, name: str) -> None:
    """Writes a photograph with few colours."""
    small = Image.open(BytesIO(picture)).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    small.save(FOLDER / name, optimize=True)


def open_page(browser: Browser, address: str, theme: Literal["light", "dark"]) -> Page:
    """Opens the match in a window of its own."""
    page = browser.new_page(
        viewport=WINDOW, device_scale_factor=SCALE, color_scheme=theme, reduced_motion="reduce"
    )
    page.goto(address)
    page.click("#welcome button")
    page.wait_for_selector("#hand button:enabled")
    return page


def box(page: Page, part: str) -> FloatRect:
    """Returns where an element lies that the page shows."""
    rectangle = page.locator(part).bounding_box()
    assert rectangle, part
    return rectangle


def photograph_columns(page: Page, theme: str) -> None:
    """Writes both pictures: the table down to the hand, and the hint."""
    page.click("#lesson button")  # the explanation of a rule leaves
    page.mouse.move(0, 0)
    for name, (first, last, left, width) in COLUMNS.items():
        top = box(page, first)["y"] - MARGIN
        end = box(page, last)
        height = end["y"] + end["height"] - top + MARGIN
        clip: FloatRect = {"x": left, "y": top, "width": width, "height": height}
        save(page.screenshot(clip=clip), f"{name}-{theme}.png")


def photograph(browser: Browser, address: str) -> None:
    """Follows some hints, and writes the pictures of the next one."""
    page = open_page(browser, address, "light")
    for _ in range(MOVES):
        follow_hint(page)
    for theme in ("light", "dark"):
        page = open_page(browser, address, theme)
        ask_for_hint(page)
        photograph_columns(page, theme)


def main() -> None:
    words = ["--web", "--port", "0", "--seed", SEED, "--output"]
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        command = [sys.executable, "-m", "goita_lab", "play", *words, f"{folder}/match.json"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as served:
            try:
                address = re.search(
                    r"http://\S+", served.stdout.readline() if served.stdout else ""
                )
                browser = launch(playwright)
                photograph(browser, address[0] if address else "")
                browser.close()
            finally:
                served.send_signal(signal.SIGTERM)


if __name__ == "__main__":
    main()
