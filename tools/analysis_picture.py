"""Takes the pictures of docs/analysis.md: ``.venv-web/bin/python tools/analysis_picture.py``.

It analyses the round that the site embeds, opens the page in the system's Chromium (``make
test-web`` builds the environment) and photographs a decision, light and dark.
"""

import sys
import tempfile
from io import BytesIO
from pathlib import Path

from chromium import launch
from PIL import Image
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "docs")]

from embedded import analysed  # noqa: E402  (after the path)

MOVE = 12
SIZE = {"width": 1160, "height": 1390}
COLOURS = 64


def main() -> None:
    _, html = analysed()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page = Path(folder, "A deal.html")
        page.write_text(html, encoding="utf-8")
        browser = launch(playwright)
        for theme in ("light", "dark"):
            window = browser.new_page(viewport=SIZE, color_scheme=theme)
            window.goto(f"{page.as_uri()}#1.{MOVE}")
            picture = Image.open(BytesIO(window.screenshot()))
            small = picture.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
            small.save(ROOT / "docs" / "pictures" / f"analysis-{theme}.png", optimize=True)
        browser.close()


if __name__ == "__main__":
    main()
