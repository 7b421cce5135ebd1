"""Photographs a tournament's report in Chromium: ``python tools/report_picture.py``."""

import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import chromium

from goita_lab.commands import evaluate

FILE = Path(__file__).resolve().parents[1] / "docs" / "pictures" / "report.png"
COMMAND = "--agents random greedy heuristic --deals 500 --html"


def main() -> None:
    with TemporaryDirectory() as folder:
        page = Path(folder, "report.html")
        evaluate.main([*COMMAND.split(), str(page)])
        size = ["--window-size=1000,900", "--hide-scrollbars"]
        options = ["--headless", "--no-sandbox", *size, f"--screenshot={FILE}"]
        subprocess.run([chromium.path(), *options, page.as_uri()], check=True)


if __name__ == "__main__":
    main()
