"""Takes the picture of docs/analysis.md: ``.venv-web/bin/python tools/analysis_picture.py``.

It analyses a deal, opens the page in the system's Chromium (``make test-web`` builds the
environment) and photographs a decision.
"""

import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from agents import watch

ROOT = Path(__file__).resolve().parents[1]
LINE = "11124559,11122347,13445667,11123358,s3,346,483,194,243,336,4p,1p,2p,351,4p,112,227,374"
MOVE = 10
SIZE = {"width": 1160, "height": 1085}


def main() -> None:
    """Writes the picture."""
    source = watch.read(LINE)
    html = watch.page(source, watch.analyse(source, "champion"))
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page = Path(folder, "A deal.html")
        page.write_text(html, encoding="utf-8")
        chromium = shutil.which("chromium") or shutil.which("chromium-browser")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        window = browser.new_page(viewport=SIZE)
        window.goto(f"{page.as_uri()}#1.{MOVE}")
        window.screenshot(path=ROOT / "docs" / "pictures" / "analysis.png")
        browser.close()


if __name__ == "__main__":
    main()
