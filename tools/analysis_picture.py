"""Makes the pages that the site embeds: ``.venv-web/bin/python tools/analysis_picture.py``.

It analyses a deal, writes its analysis and its replay into docs/static, opens the analysis in the
system's Chromium (``make test-web`` builds the environment) and photographs a decision for
docs/analysis.md.
"""

import shutil
from dataclasses import replace
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from agents import watch

ROOT = Path(__file__).resolve().parents[1]
STATIC = ROOT / "docs" / "static"
HANDS = "11113445,22334689,11122357,11145567"
MOVES = "s3,317,475,1p,2p,352,4p,1p,223,332,4p,1p,228,3p,4p,1p,249,3p,4p,1p,236"
MOVE = 12
SIZE = {"width": 1160, "height": 1390}
COLOURS = 64


def main() -> None:
    source = replace(watch.read(f"{HANDS},{MOVES}"), title="A round")
    page = STATIC / "analysis.html"
    page.write_text(watch.page(source, watch.analyse(source, "champion")), encoding="utf-8")
    (STATIC / "replay.html").write_text(watch.page(source), encoding="utf-8")
    with sync_playwright() as playwright:
        chromium = shutil.which("chromium") or shutil.which("chromium-browser")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        window = browser.new_page(viewport=SIZE)
        window.goto(f"{page.as_uri()}#1.{MOVE}")
        picture = Image.open(BytesIO(window.screenshot()))
        browser.close()
    small = picture.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    small.save(ROOT / "docs" / "pictures" / "analysis.png", optimize=True)


if __name__ == "__main__":
    main()
