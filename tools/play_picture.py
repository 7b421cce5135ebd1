"""Photographs the table in a browser: ``python tools/play_picture.py`` (playwright, Chromium)."""

import re
import signal
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from chromium import launch
from playwright.sync_api import Page, sync_playwright

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "pictures"
LOW = {"x": 60, "y": 40, "width": 1110, "height": 680}
"""The part of the page that README shows."""
SEED = "12"
MOVES = 2


def photograph(page: Page) -> None:
    """Makes some moves, asks for a hint, and writes the picture."""
    for _ in range(MOVES):
        page.locator("#hand button:enabled, #answers button").first.click()
        attack = page.locator("#hand button[aria-pressed=false]:enabled")
        if page.locator("#hand [aria-pressed=true]").count():
            attack.last.click()
        page.wait_for_selector("body:not([aria-busy])")
    page.click("[data-do=hint]")
    page.wait_for_selector("#advice p.best")
    page.wait_for_selector("body:not([aria-busy])")
    page.mouse.move(0, 0)
    page.screenshot(path=FOLDER / "play.png")
    page.screenshot(path=FOLDER / "play-low.png", clip=LOW)


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
                size = {"width": 1180, "height": 860}
                page = browser.new_page(viewport=size, reduced_motion="reduce")
                page.goto(address[0] if address else "")
                page.click("#welcome button")
                page.wait_for_selector("#hand button:enabled")
                photograph(page)
                browser.close()
            finally:
                served.send_signal(signal.SIGTERM)


if __name__ == "__main__":
    main()
